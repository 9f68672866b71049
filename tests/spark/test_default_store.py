"""The default store is the same for Python and for the plugin."""

from __future__ import annotations

import ntpath
import os
import posixpath
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sparkrules.catalyst.jar import cache_directory
from sparkrules.errors import StoreError
from sparkrules.store import default_store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAM = """
import sparkrules
from pyspark.sql import SparkSession

rules = sparkrules.RuleSet("alerts")
rules.subscribe("one", "id = 1")
rules.publish()
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
spark = sparkrules.configure(builder).getOrCreate()
print(spark.sql("SELECT match_subscriptions('alerts', *).ids FROM range(1, 2)").first()[0])
"""


@pytest.mark.programs
@pytest.mark.skipif(os.name != "posix", reason="the home directory of Windows is not that of $HOME")
def test_a_rule_set_that_is_published_without_a_store_is_found(tmp_path: Path) -> None:
    assert Path.home() != tmp_path
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SPARKRULES_")}
    environment |= {"HOME": str(tmp_path), "SPARKRULES_CACHE": str(cache_directory()), "SPARKRULES_STORE": ""}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout.splitlines()[-1:] == ["['one']"], done.stderr[-2000:]
    assert (tmp_path / ".sparkrules" / "store" / "alerts" / "versions" / "1.json").exists()


ENVIRONMENTS: list[dict[str, str]] = [
    {"HOME": "/home/ann", "USERPROFILE": "C:\\Users\\ann"},
    {"HOME": "/home/ann/", "HOMEDRIVE": "D:", "HOMEPATH": "\\ann"},
    {"HOME": "", "HOMEPATH": "\\ann"},
    {"HOME": "relative", "USERPROFILE": "C:\\Users\\ann", "HOMEDRIVE": "D:", "HOMEPATH": "\\ann"},
]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_home_directory_is_the_one_that_python_finds(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    jvm: Any = spark.sparkContext._jvm
    given = jvm.java.util.HashMap()
    for name in ("HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
        given.put(name, value)
    found = jvm.scala.jdk.javaapi.CollectionConverters.asScala(given)
    for is_windows, expanduser in ((False, posixpath.expanduser), (True, ntpath.expanduser)):
        home = jvm.sparkrules.conf.Home.of(found, is_windows, "listed")
        assert (home.rstrip("/") or "/") == expanduser("~")
    nothing = jvm.scala.jdk.javaapi.CollectionConverters.asScala(jvm.java.util.HashMap())
    assert jvm.sparkrules.conf.Home.of(nothing, False, "/listed") == "/listed"


def test_the_tilde_is_the_home_directory(spark: SparkSession) -> None:
    home: Any = spark.sparkContext._jvm.sparkrules.conf.Home  # type: ignore[union-attr]
    assert home.expanded("~/rules") == f"{Path.home()}/rules"
    assert home.expanded("/data/~x") == "/data/~x"
    assert home.expanded("s3a://bucket/~") == "s3a://bucket/~"


def test_without_a_home_directory_the_error_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("SPARKRULES_STORE", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(StoreError, match="set SPARKRULES_STORE"):
        default_store()
