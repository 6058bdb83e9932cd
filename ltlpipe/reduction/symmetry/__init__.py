"""Symmetry of networks: components that can be exchanged, and the group they span.

A *member* is a component, or several that always change places together; the members of
a *class* can be permuted at will.
"""
