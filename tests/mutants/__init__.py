"""One-line mutants of kernels and reductions: what the quick tests must notice.

python -m tests.mutants [NAME ...]
"""
