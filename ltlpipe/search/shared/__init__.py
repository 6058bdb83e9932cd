"""Searches of one product by several workers, threads that share what they know.

In come a product and a number of workers; out come a verdict and a lasso.  Read
`ltlpipe.search.store` first (states), then `ltlpipe.search.union_find`
(SCCs), then the searches.
"""
