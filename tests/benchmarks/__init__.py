"""The scripts in benchmarks/ that have tests of their own."""
