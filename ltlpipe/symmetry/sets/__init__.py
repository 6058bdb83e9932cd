"""Automata whose states are sets of states, and emptiness checks that use inclusion.

Read `automaton` first (what such an automaton offers), then `checks` (the kernels, and
which visited sets include or are included), `searching`, and `runs` (accepting runs).
The automata that symmetry gives are in `ltlpipe.symmetry.sets.networks`.
"""
