"""What users call, in Python and in SQL. These tests run twice: in a classic session, as all others, and once more by
`tests/servers/test_connect.py` over Spark Connect. So they use nothing of a session that only one of the two has."""
