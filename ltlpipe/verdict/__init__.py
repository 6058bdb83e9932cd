"""From a question to a verdict: the portfolio, the lasso and its replay.

In come a system, a property and options; out comes a `Verdict`.  Read `checking` first,
then `portfolio`, which conducts the strategies, and `replay`, which trusts no other
code.
"""
