"""Partial-order reduction: component-based ample sets and stubborn sets.

`independence` and `tables` say what may be left out, `component_sets` and
`stubborn_sets` choose the transitions of a state, `models` has the static analysis for
guarded commands.  The searches apply the provisos (`ltlpipe.search.reduced`).
"""
