"""Tests of the public API, in Python and in SQL. They run twice: in a classic session, like all others, and again over
Spark Connect, by `tests/servers/test_connect.py`. So they use only what both kinds of session support."""
