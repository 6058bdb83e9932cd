"""Programs: guarded commands over bounded integers, with processes and channels.

In comes the text of a model in DVE (`syntax`, `reading`) or Promela (`promela`), out
goes what checking needs: an interpreter in plain Python and a successor function
compiled from generated source.  Begin with `program`, what both languages become;
`eca` reads the programs of the RERS challenge.
"""
