"""Everything that needs Spark: the plugin's jar, the session, DataFrames, and `python_engine`, without the plugin."""

from sparkrules.catalyst.analyze import Counted, count_ranges, counted_values, predicate_positions
from sparkrules.catalyst.backtest import Backtest, ChangedRule
from sparkrules.catalyst.dataframe import Rules, left_out
from sparkrules.catalyst.detection import detect
from sparkrules.catalyst.embedded import embedded_spark
from sparkrules.catalyst.jar import build_jar, cache_directory, cached_jar, found_jar, jar_path, write_prebuilt
from sparkrules.catalyst.java import find_java, java_version
from sparkrules.catalyst.job_progress import timed
from sparkrules.catalyst.session import require_plugin, store_of
from sparkrules.catalyst.spark_home import NEWEST_SPARK, find_spark_home, parse_minor
from sparkrules.catalyst.thrift_server import DEFAULT_PORT, ThriftServer, free_port, serve

__all__ = [
    "DEFAULT_PORT",
    "NEWEST_SPARK",
    "Backtest",
    "ChangedRule",
    "Counted",
    "Rules",
    "ThriftServer",
    "build_jar",
    "cache_directory",
    "cached_jar",
    "count_ranges",
    "counted_values",
    "detect",
    "embedded_spark",
    "find_java",
    "find_spark_home",
    "found_jar",
    "free_port",
    "jar_path",
    "java_version",
    "left_out",
    "parse_minor",
    "predicate_positions",
    "require_plugin",
    "serve",
    "store_of",
    "timed",
    "write_prebuilt",
]
