"""Tests of `ltlpipe.search.symbolic`."""
