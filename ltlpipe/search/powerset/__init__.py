"""Automata whose states are sets of states, and emptiness checks that use inclusion.

Read `automaton` first (what such an automaton offers), then `checks` (the searches),
`index` (which visited sets include or are included), `runs` (accepting runs).
`explicit` has automata whose sets are listed; those that symmetry gives are in
`ltlpipe.search.symmetric`.
"""
