"""Symmetric nets: coloured Petri nets from PNML files, and their unfolding.

In comes the XML of a net of type ``symmetricnet``; out comes an `UnfoldedNet`, a
place/transition net with a place for each place and colour, and a transition for each
transition and binding.  Read `ltlpipe.systems.pnml.coloured.net` (the data model)
first, then `unfolding`.
"""
