"""Quotients of packed systems by groups of permutations, and runs of the systems."""
