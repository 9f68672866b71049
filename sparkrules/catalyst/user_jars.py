"""The user's existing `spark.jars`, wherever Spark reads them, so that our jar is added to them.

Spark uses the first of: `--jars` or `--conf spark.jars=` in `PYSPARK_SUBMIT_ARGS`, the builder's own option,
`spark-defaults.conf`. So setting `spark.jars` on the builder hides the third, and the first hides the builder's.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from sparkrules.catalyst.spark_defaults import spark_defaults

_CONF = "spark.jars="


def split_jars(value: str | None) -> list[str]:
    """The entries of a `spark.jars` value.

    >>> split_jars("a.jar, b.jar,")
    ['a.jar', 'b.jar']
    """
    return [entry.strip() for entry in (value or "").split(",") if entry.strip()]


def join_jars(entries: Iterable[str]) -> str:
    """A `spark.jars` value, each entry once, in order.

    >>> join_jars(["a.jar", "b.jar", "a.jar"])
    'a.jar,b.jar'
    """
    return ",".join(dict.fromkeys(entries))


def add_to_submit_arguments(arguments: str, jar: str) -> tuple[str, list[str]]:
    """`PYSPARK_SUBMIT_ARGS` with the jar added wherever it names jars, and the jars it named.

    >>> add_to_submit_arguments("--jars a.jar pyspark-shell", "ours.jar")
    ('--jars a.jar,ours.jar pyspark-shell', ['a.jar'])
    >>> add_to_submit_arguments("--conf spark.jars=a.jar pyspark-shell", "ours.jar")
    ('--conf spark.jars=a.jar,ours.jar pyspark-shell', ['a.jar'])
    >>> add_to_submit_arguments("--master local pyspark-shell", "ours.jar")
    ('--master local pyspark-shell', [])
    """
    words = shlex.split(arguments)
    named: list[str] = []
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        if before == "--jars":
            prefix = ""
        elif word.startswith("--jars="):
            prefix = "--jars="
        elif before in ("--conf", "-c") and word.startswith(_CONF):
            prefix = _CONF
        else:
            continue
        own = split_jars(word.removeprefix(prefix))
        named += [entry for entry in own if entry != jar]
        words[at] = prefix + join_jars([*own, jar])
    return (shlex.join(words) if named else arguments), named


def jars_of_defaults() -> list[str]:
    """The `spark.jars` of `spark-defaults.conf`."""
    return split_jars(spark_defaults().get("spark.jars"))
