"""The packages of the plugin have an order: a lower one never imports a higher one."""

from __future__ import annotations

import re
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "jars" / "src" / "main" / "scala" / "sparkrules"
ORDER = [
    "conf",
    "value",
    "store",
    "text",
    "guard",
    "bind",
    "program",
    "compile",
    "kernel",
    "overlap",
    "version",
    "answer",
    "region",
    "catalog",
    "plan",
]
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
            for used in re.findall(r"\bsparkrules\.(\w+)\.", line):
                if used in ORDER and ORDER.index(used) > ORDER.index(room):
                    broken.append(f"{room}/{path.name}:{number} uses {used}, which is above {room}")
    assert not broken, "The order is " + " < ".join(ORDER) + ":\n" + "\n".join(broken)


def test_a_file_is_in_the_folder_of_its_package() -> None:
    for path in sorted(SOURCES.glob("*/*.scala")):
        first = path.read_text(encoding="utf-8").splitlines()[0]
        assert first == f"package sparkrules.{path.parent.name}", path


def test_rooms_are_small() -> None:
    for room in ORDER:
        assert len(list((SOURCES / room).glob("*.scala"))) < MOST_FILES, room
