"""The Scala source of the plugin: which files belong to a Spark minor, and their fingerprint.

jars/src/main/scala/            for every Spark
jars/src/main/scala-4.0/        for Spark 4.0 only
jars/src/main/scala-4.0-4.1/    for 4.0 and 4.1
jars/src/main/scala-4.2+/       for 4.2 and newer
jars/src/main/resources/        copied into the jar
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparkrules.catalyst.spark_home import parse_minor
from sparkrules.errors import SetupError

_PACKAGE = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class JarSource:
    """The plugin's source for one Spark minor."""

    root: Path
    minor: str

    def scala(self) -> list[Path]:
        """The Scala files to compile: the shared ones and those of this minor."""
        folders = [self.root / "main" / "scala", *self._folders_of_minor()]
        return sorted(file for folder in folders for file in folder.rglob("*.scala"))

    def resources(self) -> dict[str, Path]:
        """The other files of the jar, by their name in it."""
        folder = self.root / "main" / "resources"
        return {f.relative_to(folder).as_posix(): f for f in sorted(folder.rglob("*")) if f.is_file()}

    def fingerprint(self, options: tuple[str, ...] = ()) -> str:
        """A hash of everything the jar is built from; `options` are the compiler options."""
        digest = hashlib.sha256(repr(options).encode())
        for file in (*self.scala(), *self.resources().values()):
            content = file.read_bytes()
            digest.update(f"\0{file.relative_to(self.root).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
        return digest.hexdigest()[:16]

    def _folders_of_minor(self) -> Iterator[Path]:
        for folder in sorted((self.root / "main").glob("scala-*")):
            if covers(folder.name.removeprefix("scala-"), self.minor):
                yield folder


def covers(span: str, minor: str) -> bool:
    """Whether a span of Spark minors contains a minor.

    >>> [covers(span, "4.1") for span in ("4.1", "4.0-4.1", "4.0+", "4.0", "4.2-4.3", "4.2+")]
    [True, True, True, False, False, False]
    """
    found = re.fullmatch(r"(\d+\.\d+)(?:-(\d+\.\d+)|(\+))?", span)
    if not found:
        raise SetupError(f"scala-{span} is not the name of a source folder: use scala-4.1, scala-4.0-4.1 or scala-4.2+")
    first, last, open_end = found.groups()
    low, at = parse_minor(first), parse_minor(minor)
    return low <= at and (open_end is not None or at <= parse_minor(last or first))


def find_jar_source(minor: str) -> JarSource:
    """The source in the installed package, or in the source checkout that contains the package."""
    for root in (_PACKAGE / "_jar" / "src", _PACKAGE.parent / "jars" / "src"):
        source = JarSource(root, minor)
        if source.scala():
            return source
    raise SetupError(f"the plugin's Scala source is missing below {_PACKAGE}: install sparkrules again")
