"""Other programs that search strings or evaluate Sigma's rules, on the same rules and rows: `make bench-peers`."""
