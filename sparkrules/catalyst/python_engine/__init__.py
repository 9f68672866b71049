"""Matching without the plugin: Spark computes what only Spark can; numpy does the rest in Spark's Python workers."""

from sparkrules.catalyst.python_engine.engine import matched_rows

__all__ = ["matched_rows"]
