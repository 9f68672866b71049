"""Rules and rows to measure with: seeded, so that every run and every machine has the same ones."""
