"""What people read of result tables.

In come DataFrames of `ltlpipe.batch`; out comes text laid out for a page, or a plot
(`ltlpipe.report.scatter`).  Read `ltlpipe.report.table1` first.
"""
