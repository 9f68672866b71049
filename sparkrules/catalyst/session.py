"""A Spark session with the sparkrules plugin: configured before it starts, checked when it is used."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakSet

from sparkrules.catalyst.jar import jar_path
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.spark_defaults import spark_defaults
from sparkrules.catalyst.user_jars import add_to_submit_arguments, jars_of_defaults, join_jars, split_jars
from sparkrules.errors import PluginMissing
from sparkrules.rules.arguments import a_builder, a_path, a_text, checked
from sparkrules.store.location import default_store, path_in_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STORE_SETTING = "spark.sparkrules.store"
RULE_SET_SETTING = "spark.sparkrules.ruleset"
FIXED_STORE_SETTING = "spark.sparkrules.fixedStore"
PYTHON_SETTING = "spark.pyspark.driver.python"
ALLOWED_SETTING = "spark.sparkrules.allowedRulesets"

_Builder = TypeVar("_Builder", bound="SparkSession.Builder")
_sessions_with_plugin: WeakSet[SparkSession] = WeakSet()


@checked(builder=a_builder, store=a_path, ruleset=a_text)
def configure(builder: _Builder, store: str | os.PathLike[str] | None = None, ruleset: str | None = None) -> _Builder:
    """Add the plugin to a session that is about to be built, and return the builder.

    The plugin's jar is appended to `spark.jars`. Jars already set on the builder, in `PYSPARK_SUBMIT_ARGS` or in
    `spark-defaults.conf` are kept. `store` is the directory of published rule sets, by default `$SPARKRULES_STORE` or
    `~/.sparkrules/store`; `ruleset` is the rule set for calls that name none.

        spark = sparkrules.configure(SparkSession.builder.master("local[2]")).getOrCreate()

    If another process starts Spark, a jar cannot be added here, and only the settings are made. This is the case under
    `spark-submit` (give it `--jars $(sparkrules jar-path)`) and for a Spark Connect server (start it with the jar).
    With `.remote("local[2]")`, PySpark starts that server here, with the jar. It then warns needlessly that
    `spark.jars` cannot also be set in its session.
    """
    options: dict[str, object] = builder._options
    if not _starts_elsewhere(options):
        _require_java()
        builder.config("spark.jars", _with_plugin(options))
        if not (options.get(PYTHON_SETTING) or spark_defaults().get(PYTHON_SETTING)):
            builder.config(PYTHON_SETTING, sys.executable)  # CALL runs this one, not the first python3 of the path
    if store is not None:
        builder.config(STORE_SETTING, path_in_spark(store))
    if ruleset is not None:
        builder.config(RULE_SET_SETTING, ruleset)
    return builder


def require_plugin(spark: SparkSession) -> None:
    """Raise `PluginMissing`, with the fix, unless the session has the plugin. Asks each session object once."""
    if spark in _sessions_with_plugin:
        return
    if not spark.catalog.functionExists("match_subscriptions"):
        raise PluginMissing(
            "This Spark session has no sparkrules plugin: its jar has to be there before Spark starts.\n"
            "  in Python:     spark = sparkrules.configure(SparkSession.builder).getOrCreate()\n"
            "                 (in a fresh process: stopping a session does not unload its JVM)\n"
            "  spark-submit:  spark-submit --jars $(sparkrules jar-path) ...\n"
            "  Spark Connect: start the server with --jars $(sparkrules jar-path)\n"
            '  no jars at all: sparkrules.match(df, rules, engine="python"), which is slower'
        )
    _sessions_with_plugin.add(spark)


def store_of(spark: SparkSession) -> str:
    """The store of a session: its setting `spark.sparkrules.store`, else the default."""
    return spark.conf.get(STORE_SETTING, None) or default_store()


def _require_java() -> None:
    """Raise `SetupError`, with what to install, if Java is missing: Spark would only report that its gateway exited."""
    from pyspark import SparkContext

    if SparkContext._gateway is None:
        find_java()


def _starts_elsewhere(options: dict[str, object]) -> bool:
    remote = options.get("spark.remote") or os.environ.get("SPARK_REMOTE") or ""
    return str(remote).startswith("sc://") or "PYSPARK_GATEWAY_PORT" in os.environ


def _with_plugin(options: dict[str, object]) -> str:
    jar = jar_path()
    arguments, submitted = add_to_submit_arguments(os.environ.get("PYSPARK_SUBMIT_ARGS", ""), jar)
    if submitted:
        # This variable overrides the builder's option, so the jar must be in it as well.
        os.environ["PYSPARK_SUBMIT_ARGS"] = arguments
    own = split_jars(str(options.get("spark.jars") or "")) + submitted
    return join_jars([*(own or jars_of_defaults()), jar])
