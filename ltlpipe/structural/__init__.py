"""Structural reductions of place/transition nets, with a way back for runs.

In come a net and the places that a property observes; out comes a smaller net that
violates the property iff the net does.  Each of its transitions stands for a sequence
of the net's.  `reduction` has the rules and the draft that they change, applies them
and leads runs back.
"""
