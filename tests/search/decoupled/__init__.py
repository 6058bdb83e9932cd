"""Decoupled search."""
