"""Equivalence reductions of one component: fewer states, the same behaviour.

In comes an LTS and the labels to hide, out comes an equivalent LTS over the other
labels.  Read `equivalences` first, which says what is kept by which equivalence; then
`transition_arrays` (what all work on), `silent_sccs`, `signatures` (strong and
branching bisimulation, with its kernel in `refinement`) and `determinise`.
"""
