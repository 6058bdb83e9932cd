"""Stepping through a system: enabled steps, the run, the obligations of a formula.

Input: a system, a formula, optionally a lasso to follow. Output: a `Simulation`, which
both interfaces of ``ltlpipe simulate`` drive.  Read `simulation.py` first, then
`records.py` (lassos of files), `session.py` (commands) and `screen.py` (the terminal
application).
"""
