"""Tests of `ltlpipe.symmetry.sets.nets`."""
