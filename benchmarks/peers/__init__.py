"""The alternatives to sparkrules, each implemented as well as possible."""
