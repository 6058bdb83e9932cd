"""Reductions: what makes the searched space smaller without changing a verdict.

In come a network and what is known of the property; out comes a network, or an
automaton, with less to explore, over the same states and actions, so that
formulas and lassos keep their meaning.  Read `ltlpipe.reduction.alphabet` first.
"""
