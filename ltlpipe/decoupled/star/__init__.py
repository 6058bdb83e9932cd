"""Models as stars: a centre, and leaves that interact with the centre alone.

In comes a DVE model or a Petri net with the propositions of a property; out goes a
network of LTSs, its first component the centre, for decoupled search.  Read
`footprints` (what an action reads and writes, and what it does to either side), then
`exploration` (which variables are the centre, and the local states of all parts) and
`networks` (centres that are tried, labels, deadlocks included, and the way back).
docs/decoupled.md has the proofs.
"""
