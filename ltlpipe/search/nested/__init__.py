"""Depth-first searches that keep a few bits per state.

Nested ones look for a cycle through an accepting state by a second search;
simple ones do without where the property automaton is weak.  A module each.
"""
