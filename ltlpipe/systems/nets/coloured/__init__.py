"""Symmetric nets: coloured Petri nets from PNML files, and their unfolding.

In comes the XML of a net of type ``symmetricnet``; out comes a `SymmetricNet`, whose
markings are of colours and whose steps are under bindings.  What needs a
place/transition net unfolds it: an `UnfoldedNet` has a place for each place and colour,
and a transition for each transition and binding.  Read
`ltlpipe.systems.nets.coloured.net` (the data model) first, then `symmetric` and
`unfolding`.
"""
