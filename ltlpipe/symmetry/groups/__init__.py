"""Automorphisms of systems of every kind: groups that no product of classes makes.

`ltlpipe.symmetry.classes` knows components that can be exchanged two by two.  Here a
system is drawn as a coloured graph, whose automorphisms are those of the system: the
rotations of a ring, reflections, wreath products, pairs that change places together.
"""
