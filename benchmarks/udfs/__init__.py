"""Calls of Python functions, against other ways to evaluate the same rules: `python -m benchmarks.udfs`."""
