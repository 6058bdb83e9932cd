"""Numba as the kernels use it: `jit` compiles, `cache` says where machine code is kept.

Only `jit` imports Numba, which takes half a second.
"""
