"""Sets of markings of symmetric nets, and emptiness checks that use their inclusion.

In comes a symmetric net with the colours that can be exchanged, and a property.  Read
`powerset_search` first (what an automaton over sets offers), then `inclusion_checks`
(the kernels) and `runs`; of nets `layout` (what a row is), `product` (the successors of
a set), and from there `firing`, `markings` and `canonical`.  `tables` puts it together.
"""
