"""Automorphisms of systems of every kind that keep a property.

A system is drawn as a coloured graph, whose automorphisms are those of the system:
exchanges of components, the rotations of a ring, reflections, wreath products.  Read
`group` first, then `factors`; `systems` and `models` draw.
"""
