"""Reports and plots of result tables, and the display of objects in Jupyter.

In come DataFrames of `ltlpipe.batch`; out come text laid out for a page and plots
(`ltlpipe.report.plots`).  Verdicts, systems and automata become HTML for notebooks
(`ltlpipe.report.notebook`).  Read `ltlpipe.report.layouts` first.
"""
