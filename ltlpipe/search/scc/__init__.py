"""Searches that find the strongly connected components (SCCs) of the product.

They keep a number per state.  A module each.
"""
