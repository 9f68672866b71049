"""How fast it is, against what else one could do: `python -m benchmarks --help`, explained in docs/benchmarks.md."""
