"""Petri nets: place/transition nets from PNML files, and their successor function.

In come PNML files or family names; out come `PetriNet` objects, which interpret
themselves in plain Python, and packed nets for the searches.  Read
`ltlpipe.systems.nets.net` first, then `reading` (files) and `packing` (tables).
"""
