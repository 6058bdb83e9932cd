"""Structural reductions of place/transition nets, with a way back for runs.

In come a net and the places that a property observes; out comes a smaller net that
violates the property iff the net does.  Each of its transitions stands for a sequence
of the net's.  `draft` is a net that rules change, `rules` has the rules, `reduction`
applies them and leads runs back.
"""
