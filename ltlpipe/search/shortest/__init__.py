"""Shortest accepting lassos of a product.

`recording` stores a product breadth first, with its transitions; `lassos` looks for a
lasso of least length in what has been stored.
"""
