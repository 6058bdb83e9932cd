"""Decoupled search: one state stands for all that internal steps reach.

In comes a network of Büchi automata.  A decoupled state has a set of local states per
component and is closed under internal transitions; only labels of two components or
more lead from one to the next.  Read `tables` and `construction`, then
`dominance` and `members` (which states need not be visited), `composition`,
`monitors` (what accepts; `valuations` for models), the two searches `decoupled_ndfs`
(with `splits` and `worklist`) and `decoupled_scc` (with `scc_steps`), and `lassos`
(with `local_runs` and `shortest_trace`).

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking
omega-Regular Properties with Decoupled Search", CAV 2021.
"""
