"""Rules and rows to measure with. They are seeded, so every run and every machine has the same ones."""
