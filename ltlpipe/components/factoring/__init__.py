"""Factoring (``--reduce factoring``): products become their factors.

In comes a network; out comes one in which a component that is the parallel composition
of smaller ones, over disjoint sets of labels, has been replaced by these.  Read
`factors` first; docs/factoring.md has the theorems.
"""
