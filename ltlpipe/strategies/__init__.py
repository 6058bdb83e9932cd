"""The ways to an answer, one module each."""
