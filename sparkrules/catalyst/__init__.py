"""Spark as sparkrules meets it: the plugin's jar, the session, DataFrames. Knows nothing of how matching works."""
