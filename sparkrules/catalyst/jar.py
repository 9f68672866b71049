"""The plugin's jar: the wheel's jar if it fits the installed Spark, else built from source once and cached.

PySpark contains the Scala compiler, so building needs only the Java runtime that Spark needs anyway, and the jar is
always built against the user's own Spark.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

from sparkrules.catalyst.jar_source import JarSource, find_jar_source
from sparkrules.catalyst.scala_compiler import SCALAC_OPTIONS, compile_scala
from sparkrules.catalyst.spark_home import SparkHome, find_spark_home
from sparkrules.errors import SetupError

_PREBUILT = Path(__file__).resolve().parent.parent / "_jar"


def jar_path() -> str:
    """The path of the plugin's jar for the installed Spark, for `spark.jars` or `spark-submit --jars`.

    Uses the wheel's jar if it was built for this Spark minor from this source. Otherwise builds the jar once (about 15
    s, with a notice on stderr) and keeps it in the cache directory: `SPARKRULES_CACHE`, or `~/.cache/sparkrules`.

    Raises `SetupError`, with what to install, if Java or PySpark is missing or too old.
    """
    home = find_spark_home()
    source = find_jar_source(home.minor)
    jar = found_jar(home, source)
    if jar is None:
        print(f"sparkrules: building the plugin for Spark {home.version}, once", file=sys.stderr)  # noqa: T201
        jar = build_jar(cached_jar(home, source), home, source)
    return str(jar)


def found_jar(home: SparkHome | None = None, source: JarSource | None = None) -> Path | None:
    """The jar for this Spark, in the wheel or the cache; None if it must be built."""
    home = home or find_spark_home()
    source = source or find_jar_source(home.minor)
    prebuilt = _prebuilt_jar(home.minor, source.fingerprint(SCALAC_OPTIONS))
    if prebuilt is not None:
        return prebuilt
    jar = cached_jar(home, source)
    return jar if jar.exists() else None


def build_jar(
    target: Path, home: SparkHome | None = None, source: JarSource | None = None, *, strict: bool = False
) -> Path:
    """Build the jar at `target`, which appears whole or not at all; `strict` treats warnings as errors."""
    home = home or find_spark_home()
    source = source or find_jar_source(home.minor)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # In the target's own directory, so that the last step is a rename within one file system.
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".building-") as scratch:
            classes = Path(scratch, "classes")
            classes.mkdir()
            compile_scala("the plugin", source.scala(), classes, home, root=source.root, strict=strict)
            content = {f.relative_to(classes).as_posix(): f for f in classes.rglob("*") if f.is_file()}
            made = Path(scratch, target.name)
            _write_jar(made, content | source.resources())
            _move(made, target)
    except OSError as error:
        raise SetupError(
            f"the plugin's jar cannot be written to {target.parent}: {error}. "
            "Set SPARKRULES_CACHE to a directory that can be written to."
        ) from error
    return target


def write_prebuilt(directory: Path) -> Path:
    """Build the jar for a wheel, and record the Spark minor and the source that it was built for."""
    home = find_spark_home()
    source = find_jar_source(home.minor)
    jar = build_jar(directory / "sparkrules.jar", home, source)
    note = {"spark": home.minor, "source": source.fingerprint(SCALAC_OPTIONS)}
    (directory / "built.json").write_text(json.dumps(note) + "\n", encoding="utf-8")
    return jar


def cached_jar(home: SparkHome | None = None, source: JarSource | None = None) -> Path:
    """The path of the cached jar for this Spark and this source, whether or not it exists."""
    home = home or find_spark_home()
    source = source or find_jar_source(home.minor)
    return cache_directory() / f"sparkrules-spark{home.version}-{source.fingerprint(SCALAC_OPTIONS)}.jar"


def cache_directory() -> Path:
    """The directory of built jars."""
    named = os.environ.get("SPARKRULES_CACHE")
    return Path(named).expanduser().absolute() if named else Path.home() / ".cache" / "sparkrules"


def _prebuilt_jar(minor: str, fingerprint: str) -> Path | None:
    jar, note = _PREBUILT / "sparkrules.jar", _PREBUILT / "built.json"
    if not (jar.exists() and note.exists()):
        return None
    built = json.loads(note.read_text(encoding="utf-8"))
    return jar if built == {"spark": minor, "source": fingerprint} else None


def _write_jar(target: Path, content: dict[str, Path]) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as jar:
        for name, data in _entries(content):
            # A fixed time, so that the same source gives the same jar.
            jar.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


def _entries(content: dict[str, Path]) -> Iterable[tuple[str, bytes]]:
    yield "META-INF/MANIFEST.MF", b"Manifest-Version: 1.0\r\nCreated-By: sparkrules\r\n\r\n"
    for name in sorted(content):
        yield name, content[name].read_bytes()


def _move(made: Path, target: Path) -> None:
    try:
        made.replace(target)
    except PermissionError:
        # Windows cannot replace an open file. In that case another process has built the same jar.
        if not target.exists():
            raise
