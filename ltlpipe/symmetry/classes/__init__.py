"""Symmetry of networks: components that can be exchanged, and the group they span.

A *member* is a component, or several that always change places together; the members of
a *class* can be permuted at will.  Read `group` first, which says what comes out; then
`detection` (or `declaration`), `structure` and `colour_refinement` (what is compared),
`exchange` (one swap), `class_action` (one class), and `assembly` (all classes).
"""
