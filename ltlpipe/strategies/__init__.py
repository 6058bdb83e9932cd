"""The ways to an answer, one module each.

A `Question` comes in; a job goes out that ends in an `Answer`.  `registry` has the
interface, and lists the strategies in the order in which the portfolio
(`ltlpipe.verdict.portfolio`) begins them, `state_search` and `instant` are what
several of them share.  No module here imports Numba before a job needs it.
"""
