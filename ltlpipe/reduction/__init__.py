"""What makes the searched space smaller.

A module per reduction: tables and rewritten systems for the searches.  A reduction
knows systems and property automata, and no search.
"""
