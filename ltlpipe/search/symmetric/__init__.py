"""The product of a symmetric network and a property, as an automaton over sets.

Read `tables` first (the layout), then `members` (colours, exchanges, blocks),
`arranging`, `product` (successors), `inclusion`, `decomposition`, and `underlying` (the
states that sets are made of).
"""
