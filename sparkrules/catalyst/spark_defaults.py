"""The user's settings for every Spark: the configuration directory, and `spark-defaults.conf` in it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sparkrules.catalyst.spark_home import find_spark_home


def spark_defaults() -> dict[str, str]:
    """The settings of `spark-defaults.conf`; none if the file does not exist."""
    try:
        text = (conf_directory() / "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    return _properties(text)


def conf_directory() -> Path:
    """Where Spark looks for `spark-defaults.conf` and `hive-site.xml`."""
    return Path(os.environ.get("SPARK_CONF_DIR") or find_spark_home().path / "conf")


def _properties(text: str) -> dict[str, str]:
    """The entries of a properties file that Spark uses; the last entry of a name wins.

    >>> _properties("# spark.jars x.jar" + chr(10) + "spark.jars   a.jar,b.jar" + chr(10) + "spark.master=local[2]")
    {'spark.jars': 'a.jar,b.jar', 'spark.master': 'local[2]'}
    """
    return dict(
        re.findall(r"^[ \t]*(spark\.[^\s=:]+)(?:[ \t]*[=:][ \t]*|[ \t]+)(.*?)[ \t]*$", text, flags=re.MULTILINE)
    )
