"""Promela models: text to a checked tree (`syntax`), which is lowered to a program."""
