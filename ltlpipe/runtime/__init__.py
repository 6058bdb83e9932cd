"""The base layer, which every room imports; nothing in it knows formulas.

`jobs` is the room's idea: whatever takes time is a generator, and one loop advances it
under limits.  `workers` runs what cannot yield in supervised processes; `kernels` is
Numba, its cache and the compilation of kernels; `files` opens files, `errors` are what
callers catch.  Read `jobs` first.
"""
