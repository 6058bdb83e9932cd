"""Symmetry of networks: components that can be exchanged, and the group they span.

A *member* is a component, or several that always change places together; the members of
a *class* can be permuted at will.  Read `group` first, which says what comes out; then
`finding` (or `declaring`), `structure` and `refining` (what is compared), `matching`
(one swap), `acting` (one class), `roles`, and `assembling` (all classes).
"""
