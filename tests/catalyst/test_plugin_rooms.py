"""The packages of the plugin are ordered: a lower one never imports a higher one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkrules.catalyst.jar_source import find_jar_source
from sparkrules.catalyst.spark_home import NEWEST_SPARK, OLDEST_SPARK

SOURCES = Path(__file__).resolve().parents[2] / "jars" / "src" / "main" / "scala" / "sparkrules"
_LOWER = "conf value store label text guard lists bind program compile kernel overlap version"
_UPPER = "answer metrics python region scan pattern call catalog plan"
ORDER = [*_LOWER.split(), *_UPPER.split()]
"""From the bottom to the top. The extension itself, in the root package, may use all of them."""
MOST_FILES = 20


def test_every_room_is_in_the_order() -> None:
    assert sorted(path.name for path in SOURCES.iterdir() if path.is_dir()) == sorted(ORDER)
    assert [path.name for path in SOURCES.glob("*.scala")] == ["SparkRulesExtension.scala"]


def test_no_room_uses_a_higher_one() -> None:
    broken = []
    for path in sorted(SOURCES.glob("*/*.scala")):
        room = path.parent.name
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            broken += [
                f"{room}/{path.name}:{number} uses {used}, which is above {room}"
                for used in re.findall(r"\bsparkrules\.(\w+)\.", line)
                if used in ORDER and ORDER.index(used) > ORDER.index(room)
            ]
    assert not broken, "The order is " + " < ".join(ORDER) + ":\n" + "\n".join(broken)


def test_a_file_is_in_the_folder_of_its_package() -> None:
    for path in sorted(SOURCES.glob("*/*.scala")):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first == f"package sparkrules.{path.parent.name}", path


def test_rooms_are_small() -> None:
    for room in ORDER:
        assert len(list((SOURCES / room).glob("*.scala"))) < MOST_FILES, room


MINORS = [f"4.{minor}" for minor in range(OLDEST_SPARK[1], NEWEST_SPARK[1] + 1)]


@pytest.mark.parametrize("minor", MINORS)
def test_what_depends_on_a_minor_of_spark_lies_in_one_file(minor: str) -> None:
    shims = [path for path in find_jar_source(minor).scala() if SOURCES.parent not in path.parents]
    assert [path.name for path in shims] == ["SparkMinor.scala"]
    assert not re.search(r"^import sparkrules\.", shims[0].read_text(encoding="utf-8"), re.MULTILINE)


def test_no_class_is_known_by_its_name() -> None:
    named = [path.name for path in SOURCES.rglob("*.scala") if "getSimpleName" in path.read_text(encoding="utf-8")]
    assert named == []
