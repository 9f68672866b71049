"""Thousands of SQL WHERE expressions, matched against every row of a Spark table in one pass."""

__version__ = "0.1.0"
