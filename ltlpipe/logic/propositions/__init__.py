"""Propositions about states: comparisons of integer expressions, in formulas and HOA.

In comes text such as ``P_1=="CS"``, ``t[1]+t[2] <= 3`` or ``fireable(t7)``; out go
expressions with names, which a system binds to its variables
(`ltlpipe.systems.propositions`).  Read `ltlpipe.logic.propositions.syntax` first,
then `ltlpipe.logic.propositions.parsing`.
"""
