"""The product of a symmetric network and a property, as an automaton over sets.

Read `layout` and `tables` first, then `members` (colours, exchanges, blocks),
`arranging`, `product` (successors), `inclusion`, `decomposition`, and `concretise`
(the states that sets are made of), `starts` (the first set).  `orbits` and
`orbit_runs` are the quotient by the permutations that a property never sees, for
searches of states.
"""
