"""Many questions at once: problem folders, the run over them, the result table.

In come folders of problems or (system, formula) pairs; out comes one row per
task.  Read `ltlpipe.batch.solving` first.
"""
