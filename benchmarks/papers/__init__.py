"""The experiments of the five papers: one command, one page (docs/papers.md)."""
