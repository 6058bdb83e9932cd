"""Verdicts: the plan, the search, the lasso and its replay.

In come a system and a property; out comes a `Verdict`.  Read
`ltlpipe.verdict.checking` first, then `ltlpipe.verdict.task`.
"""
