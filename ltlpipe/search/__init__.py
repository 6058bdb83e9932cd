"""The emptiness checks, and what they stand on.

In comes a product (`ltlpipe.search.product`); out come EMPTY, FOUND with a lasso, or
the limit that was hit.  Read `ltlpipe.search.registers`, then `store`, `product` and
`driver`; each emptiness check has a module of its name, built on `emptiness`.
"""
