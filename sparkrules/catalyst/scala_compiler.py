"""The Scala compiler in PySpark: no sbt, no Maven, no JDK, only the Java runtime that Spark needs anyway."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.spark_home import SparkHome
from sparkrules.errors import SetupError

# No `-release 17`: it needs the symbols of a full JDK, which a JRE does not have.
SCALAC_OPTIONS = ("-usejavacp", "-encoding", "UTF-8")
STRICT_OPTIONS = ("-deprecation", "-feature", "-unchecked", "-Xlint", "-Werror")

# The compiler runs briefly, so the first-tier JIT alone is fastest. A deep tree needs a deep stack.
_JAVA_OPTIONS = ("-Xss8m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


def compile_scala(
    what: str,
    files: Iterable[Path],
    target: Path,
    home: SparkHome,
    *,
    root: Path,
    beside: Sequence[Path] = (),
    strict: bool = False,
) -> None:
    """Compile `files` to `target`, an existing directory or a new jar.

    Compiles against the jars of `home` and those in `beside`. `strict` treats warnings as errors. Raises `SetupError`
    with the compiler's messages, in which files are relative to `root`.
    """
    java = find_java()
    options = [*SCALAC_OPTIONS, *(STRICT_OPTIONS if strict else ("-nowarn",)), "-d", str(target)]
    # An argument file, because many file names can exceed the length of a Windows command line.
    with tempfile.TemporaryDirectory() as scratch:
        arguments = Path(scratch, "scalac.args")
        arguments.write_text("\n".join(f'"{file}"' for file in files), encoding="utf-8")
        start = [java, *_JAVA_OPTIONS, "-cp", class_path(home, beside), "scala.tools.nsc.Main"]
        ran = subprocess.run(
            [*start, *options, f"@{arguments}"],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    if ran.returncode != 0:
        said = (ran.stdout + ran.stderr).replace(str(root) + os.sep, "").strip()
        raise SetupError(f"{what} does not compile against Spark {home.version} with {java}:\n{said}")


def compile_once(
    what: str,
    files: Sequence[Path],
    directory: Path,
    home: SparkHome,
    plugin: Path,
    *,
    root: Path,
    strict: bool = False,
) -> Path:
    """The jar of Scala code that uses the plugin's classes, in `directory`. Compiled unless it already exists."""
    options = STRICT_OPTIONS if strict else ()
    digest = hashlib.sha256(repr((SCALAC_OPTIONS, options, home.version)).encode())
    for file in (*files, plugin):
        content = file.read_bytes()
        digest.update(f"\0{file.name}\0{len(content)}\0".encode())
        digest.update(content)
    jar = directory / f"{what}-{digest.hexdigest()[:16]}.jar"
    if not jar.exists():
        directory.mkdir(parents=True, exist_ok=True)
        # Renamed when complete, so that no one sees a partial jar.
        with tempfile.TemporaryDirectory(dir=directory, prefix=".building-") as scratch:
            made = Path(scratch, jar.name)
            compile_scala(what, files, made, home, root=root, beside=[plugin], strict=strict)
            made.replace(jar)
    return jar


def class_path(home: SparkHome, beside: Sequence[Path] = ()) -> str:
    """A Java class path: these jars, and all of Spark's."""
    return os.pathsep.join([*map(str, beside), str(home.jars / "*")])
