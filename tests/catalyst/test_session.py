"""`configure` adds the jar and keeps all of the user's settings. No Spark is started here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from sparkrules.catalyst import session
from sparkrules.catalyst.session import configure, require_plugin
from sparkrules.errors import PluginMissing
from tests.cli import process


class Builder:
    """What `configure` uses of a SparkSession.Builder, classic or Connect."""

    def __init__(self, **options: str) -> None:
        self._options: dict[str, object] = {key.replace("_", "."): value for key, value in options.items()}

    def config(self, key: str, value: str) -> Builder:
        self._options[key] = value
        return self


@pytest.fixture(autouse=True)
def _plain_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    monkeypatch.setattr(session, "jar_path", lambda: "/ours.jar")


def options(builder: Builder, **arguments: str) -> dict[str, object]:
    assert configure(builder, **arguments) is builder  # type: ignore[type-var]
    return builder._options


def test_the_jar_is_set() -> None:
    assert options(Builder()) == {"spark.jars": "/ours.jar", "spark.pyspark.driver.python": sys.executable}


def test_the_real_builder_has_what_is_used_of_it() -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.config("spark.jars", "a.jar")
    assert configure(builder)._options["spark.jars"] == "a.jar,/ours.jar"


def test_jars_of_the_builder_are_kept_and_ours_is_added_once() -> None:
    builder = Builder(spark_jars="a.jar,b.jar")
    options(builder)
    assert options(builder)["spark.jars"] == "a.jar,b.jar,/ours.jar"


def test_jars_of_the_submit_arguments_are_kept_and_ours_is_added_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--jars 'a b.jar' --master local pyspark-shell")
    for _ in range(2):
        assert options(Builder())["spark.jars"] == "a b.jar,/ours.jar"
        assert os.environ["PYSPARK_SUBMIT_ARGS"] == "--jars 'a b.jar,/ours.jar' --master local pyspark-shell"


def test_jars_of_the_defaults_are_kept(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text("spark.master local\nspark.jars  a.jar\n")
    assert options(Builder())["spark.jars"] == "a.jar,/ours.jar"
    assert options(Builder(spark_jars="b.jar"))["spark.jars"] == "b.jar,/ours.jar"


def test_store_and_rule_set_are_set_if_given() -> None:
    made = options(Builder(), store="/rules", ruleset="alerts")
    assert made["spark.sparkrules.store"] == "/rules"
    assert made["spark.sparkrules.ruleset"] == "alerts"


def test_a_local_connect_server_gets_the_jar_and_a_remote_one_is_left_alone() -> None:
    assert options(Builder(spark_remote="local[2]"))["spark.jars"] == "/ours.jar"
    remote = options(Builder(spark_remote="sc://host:15002"), ruleset="alerts")
    assert remote == {"spark.remote": "sc://host:15002", "spark.sparkrules.ruleset": "alerts"}


def test_under_spark_submit_the_jars_given_to_it_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "12345")
    assert options(Builder()) == {}


class Session:
    """A session that knows some functions."""

    def __init__(self, *functions: str) -> None:
        self.functions = functions
        self.asked = 0

    @property
    def catalog(self) -> Session:
        return self

    def functionExists(self, name: str) -> bool:  # noqa: N802
        self.asked += 1
        return name in self.functions


def test_a_session_without_the_plugin_gets_the_exact_fix() -> None:
    with pytest.raises(PluginMissing) as caught:
        require_plugin(Session())  # type: ignore[arg-type]
    assert "sparkrules.configure(SparkSession.builder)" in str(caught.value)
    assert "--jars $(sparkrules jar-path)" in str(caught.value)


def test_a_session_with_the_plugin_is_asked_once() -> None:
    spark = Session("match_subscriptions")
    require_plugin(spark)  # type: ignore[arg-type]
    require_plugin(spark)  # type: ignore[arg-type]
    assert spark.asked == 1


CONFIGURE = "import sparkrules; from pyspark.sql import SparkSession; sparkrules.configure(SparkSession.builder)"


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    ended = process.run("-c", CONFIGURE, PATH=str(tmp_path), JAVA_HOME="")
    assert "SetupError: Spark needs Java and none was found" in ended.stderr
    assert "apt-get install" in ended.stderr


def test_a_java_that_is_too_old_is_refused(tmp_path: Path) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_401\"' >&2\n")
    java.chmod(0o755)
    ended = process.run("-c", CONFIGURE, PATH=f"{tmp_path}:/usr/bin:/bin", JAVA_HOME="")
    assert "SetupError: Java 8" in ended.stderr
    assert "is too old for Spark 4" in ended.stderr
