"""Symmetry reduction: groups, orbits, and sets of symmetric markings (Baarir et al.).

`groups` finds the permutations of a system that keep a property, `orbits` stores one
state of each orbit under them.  `colours` reads off a symmetric net which colours can
be exchanged, `sets` searches its product with sets of markings.
"""
