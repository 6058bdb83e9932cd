"""Decoupled search: one state stands for all that internal steps reach.

In comes a network of Büchi automata.  A decoupled state has a set of local states per
component and is closed under internal transitions; only labels of two components or
more lead from one to the next.  Read `composition` (sets as words, successors) and
`construction` (their tables), then `dominance` and `boxes` (which states need not be
visited, and which comes first), `monitors` (what accepts; for models, too), the two
searches `decoupled_ndfs` and `decoupled_scc` (which takes turns with `mark_counts`),
and `lassos`.  `stars` makes networks of models, from their `star_parts`.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021.
"""
