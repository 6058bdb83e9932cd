"""Stepping through a system: its enabled steps, a run, what is left of a formula.

A system and a formula come in, maybe a lasso to walk along; a `Simulation` comes out,
which both interfaces of ``ltlpipe simulate`` drive.  Read `simulation.py` first, then
`walkers.py` (the steps of each kind of system, by names), `tracks.py` (lassos to
follow), `session.py` (commands) and `screen.py` (the terminal application).
"""
