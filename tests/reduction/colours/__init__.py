"""Tests of `ltlpipe.reduction.colours`."""
