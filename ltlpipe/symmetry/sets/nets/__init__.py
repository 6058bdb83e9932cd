"""Sets of markings of symmetric nets, without unfolded transitions.

In comes a symmetric net with the colours that can be exchanged, and a property; out
goes an automaton over sets of markings for `ltlpipe.symmetry.sets`.  Read `layout`
first (what a row is), then `product` (successors of a set), and from there `firing`,
`twins` and `canonical`; `tables` puts it together, `walks` leads back to markings.
"""
