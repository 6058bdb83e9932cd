"""Tests of `ltlpipe.symmetry.colours`."""
