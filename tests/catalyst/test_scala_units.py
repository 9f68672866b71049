"""The plugin's own unit tests: Scala, in jars/src/test, compiled and run on a plain JVM without a Spark session.

Each `*Suite.scala` there is a test here. The environment variable `SEED` is the seed of random cases, and `TIMES`
multiplies their number.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import sparkrules
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.scala_compiler import class_path, compile_once
from sparkrules.catalyst.spark_home import find_spark_home
from tests.java import QUICK

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "jars" / "src" / "test" / "scala"
SUITES = [
    ".".join(file.relative_to(SOURCES).with_suffix("").parts)
    for file in sorted(SOURCES.rglob("*Suite.scala"))
    if file.name != "Suite.scala"
]
pytestmark = pytest.mark.slow
HUNG = 600
"""Seconds: many times what the suites take."""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """Per suite: what it says. All run in one JVM."""
    home = find_spark_home()
    plugin = Path(sparkrules.jar_path())
    files = sorted(SOURCES.rglob("*.scala"))
    tests = compile_once("scala-tests", files, ROOT / "build" / "scala", home, plugin, root=SOURCES, strict=True)
    # Better compiled code pays only where there are many random cases. The last is what Arrow asks for.
    compiled = [] if "TIMES" in os.environ else QUICK.split()
    options = ["-Xmx1g", "-Xss4m", "-XX:+UseSerialGC", *compiled, "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    ran = subprocess.run(
        [find_java(), *options, "-cp", class_path(home, [tests, plugin]), "sparkrules.RunSuites", *SUITES],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=HUNG,
        check=False,
    )
    sections = re.split(rf"(?m)^(?=(?:{'|'.join(map(re.escape, SUITES))}): \d+ passed)", ran.stdout)
    assert re.search(r"(?m)^\d+ passed, \d+ failed$", ran.stdout), f"The suites did not run to the end:\n{ran.stdout}"
    return {section.partition(":")[0]: section for section in sections}


@pytest.mark.parametrize("suite", SUITES)
def test_suite(suite: str, said: dict[str, str]) -> None:
    assert re.match(r"[^\n]*: [1-9]\d* passed, 0 failed", said[suite]), said[suite]


def test_suites_are_in_the_folder_of_their_package() -> None:
    for file in SOURCES.rglob("*.scala"):
        package = ".".join(file.relative_to(SOURCES).parent.parts)
        assert file.read_text(encoding="utf-8").splitlines()[0] == f"package {package}", file
