"""Measures the speed of sparkrules and its alternatives: `python -m benchmarks --help`, explained in
docs/benchmarks.md."""
