"""Equivalence reductions of one component: fewer states, the same behaviour.

In comes an LTS and the labels to hide, out comes an equivalent LTS over the other
labels.  Read `reducing` first, which says what is kept by which equivalence; then
`steps` (the arrays that all work on), `silent` (silent SCCs), `signatures` (strong
and branching bisimulation, with its kernel in `splitting`) and `subsets`
(determinising).
"""
