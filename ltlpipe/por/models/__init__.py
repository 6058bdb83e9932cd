"""Ample sets of models that are decided before the search, by tables.

In come a model and the propositions of a property; out comes a number per action,
from which a successor function knows which steps of a state may wait.  Read
`ltlpipe.por.models.groups` first; docs/models-por.md says why this is sound.

Source: R. Kurshan, V. Levin, M. Minea, D. Peled and H. Yenigün, "Static Partial Order
Reduction", TACAS 1998, LNCS 1384, pp. 345-357.
"""
