"""Partial-order reduction: component-based ample sets and stubborn sets.

`tables` says what may be left out, `component_sets` and `stubborn_sets` choose the
transitions of a state.  Of models that is decided before the search: `groups` gives
each action a number, from which a successor function knows which steps of a state may
wait; `statements` says by the same in which places processes do not even stop.  The
searches apply the provisos (`ltlpipe.search.reduced`).
"""
