"""Models in the DVE language of DiVinE, as the BEEM benchmarks are written.

In comes the text of a model, out goes what checking needs: an interpreter in plain
Python and a successor function compiled from generated source.  Begin with `syntax`
(the tree), `reading` (text to a checked `Program`) and `program` (what that is).
"""
