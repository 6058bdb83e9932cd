"""Permutations of the colours of a symmetric net that leave the net as it is.

In comes a symmetric net as it was read, out go static subclasses and rotations.  Read
`group` first; `images` says what a permutation makes of propositions, `reached` which
cells are ever marked.
"""
