"""LTL formulas and systems in, trustworthy verdicts out."""
