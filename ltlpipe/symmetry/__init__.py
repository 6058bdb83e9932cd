"""Symmetry reduction: groups, orbits, and sets of symmetric states (Baarir et al.).

`classes`, `groups` and `colours` find the symmetries of a system, `orbits` stores one
state of each orbit, `sets` searches the products with sets of states.
"""
