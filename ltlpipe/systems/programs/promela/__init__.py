"""Promela models, as Spin reads them.

In comes text: it is preprocessed, split into tokens and parsed, and its names are
resolved (`reading`) to a checked tree (`syntax`).  Out goes a program: `planning` finds
the processes, `flow` the places between statements, and `lowering` makes transitions
of the statements.  `model` is what checking sees.
"""
