"""The checks of `sparkrules doctor`: each says what it found and, if that is wrong, what to do."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sparkrules.catalyst import (
    NEWEST_SPARK,
    cache_directory,
    find_java,
    find_spark_home,
    found_jar,
    java_version,
    parse_minor,
)
from sparkrules.cli.text_table import counted
from sparkrules.errors import SparkRulesError, listed
from sparkrules.store import STORE_VARIABLE, ObjectPath, Store, read_key

Status = Literal["ok", "note", "broken", "skipped"]

_OLDEST_PYTHON = (3, 10)
_REQUIRED = ("numpy", "pyarrow", "sqlglot", "tqdm")
_OPTIONAL = {
    "obstore": ("stores in S3, Azure and Google Cloud Storage", 'pip install "obstore>=0.9,<1"'),
    "pyyaml": ("rules in YAML files", 'pip install "pyyaml>=6"'),
    "grpcio": ("Spark Connect", 'pip install "pyspark[connect]>=4.0,<4.4"'),
    "pandas": ("Spark Connect", 'pip install "pyspark[connect]>=4.0,<4.4"'),
}
_SHOWN = 3


@dataclass(frozen=True)
class Check:
    """A result. `note`: it works, but there is something to know. `fix` says what to do."""

    name: str
    status: Status
    found: str
    fix: str = ""


def all_checks(store: str | None, *, spark: bool) -> Iterator[Check]:
    """All checks; each needs only what the earlier ones have checked."""
    needed = [_python(), _pyspark(), _java(), _jar()]
    yield from needed
    yield from _packages()
    yield from _store(Store(store), store)
    if not spark:
        yield Check("Spark", "skipped", "not started")
    elif any(check.status == "broken" for check in needed):
        yield Check("Spark", "skipped", "not started: fix the above first")
    else:
        yield _guarded("Spark", _spark)


def _guarded(name: str, check: Callable[[], Check]) -> Check:
    """Run a check; if it fails, the error says what to do."""
    try:
        return check()
    except SparkRulesError as error:
        return Check(name, "broken", str(error))


def _python() -> Check:
    found = f"{platform.python_version()}, {sys.executable}"
    if sys.version_info < _OLDEST_PYTHON:
        return Check("Python", "broken", found, "Use Python 3.10 or newer.")
    return Check("Python", "ok", found)


def _pyspark() -> Check:
    def check() -> Check:
        home = find_spark_home()
        package = _version("pyspark")
        found = f"{home.version}, {home.path}"
        if package is not None and parse_minor(package) != parse_minor(home.version):
            fix = f"Unset SPARK_HOME, or install the same: pip install pyspark=={home.version}"
            return Check("PySpark", "broken", f"{found}; but the Python package is {package}", fix)
        if parse_minor(home.version) > NEWEST_SPARK:
            fix = 'If something fails: pip install "pyspark>=4.0,<4.4"'
            return Check("PySpark", "note", f"{found}; newer than any version that sparkrules was tested with", fix)
        return Check("PySpark", "ok", found)

    return _guarded("PySpark", check)


def _java() -> Check:
    def check() -> Check:
        java = find_java()
        home = os.environ.get("JAVA_HOME")
        return Check("Java", "ok", f"{java_version(java)}, {java}, {f'JAVA_HOME={home}' if home else 'on the PATH'}")

    return _guarded("Java", check)


def _jar() -> Check:
    def check() -> Check:
        jar = found_jar()
        if jar is not None:
            return Check("plugin", "ok", str(jar))
        place = _existing(cache_directory())
        if not os.access(place, os.W_OK):
            fix = "Set SPARKRULES_CACHE to a writable directory, and run: sparkrules build-jar"
            return Check("plugin", "broken", f"not built yet, and {place} is not writable", fix)
        return Check("plugin", "note", "not built yet: takes about 15 s when Spark first starts", "sparkrules jar-path")

    return _guarded("plugin", check)


def _packages() -> Iterator[Check]:
    for name in _REQUIRED:
        version = _version(name)
        if version is None:
            yield Check(name, "broken", "not installed", f"pip install {name}")
        else:
            yield Check(name, "ok", version)
    if sys.version_info >= (3, 11) and _version("sqlglotc") is None:
        yield Check("sqlglotc", "note", "not installed: rules are parsed more slowly", 'pip install "sqlglot[c]"')
    for name, (use, fix) in _OPTIONAL.items():
        version = _version(name)
        yield Check(name, "ok", version) if version else Check(name, "note", f"not installed, needed for {use}", fix)


def _store(store: Store, named: str | None) -> Iterator[Check]:
    origin = "--store" if named else f"${STORE_VARIABLE}" if os.environ.get(STORE_VARIABLE) else "the default"
    found = f"{store.path} ({origin})"
    if isinstance(store.path, ObjectPath):
        yield from _object_store(store, found)
        return
    place = _existing(store.path)
    if not store.path.exists():
        if os.access(place, os.W_OK):
            yield Check("store", "ok", f"{found}: does not exist yet, sparkrules publish creates it")
        else:
            fix = f"Choose another with --store or {STORE_VARIABLE}, or let this user write to {place}."
            yield Check("store", "broken", f"{found}: does not exist and cannot be created", fix)
        return
    if not store.path.is_dir():
        yield Check("store", "broken", f"{found} is a file", f"Choose a directory with --store or {STORE_VARIABLE}.")
        return
    if not os.access(store.path, os.R_OK | os.X_OK):
        yield Check("store", "broken", f"{found} cannot be read", f"Let this user read it: chmod -R u+rX {store.path}")
        return
    try:
        names = store.rule_sets()
    except OSError as error:
        yield Check("store", "broken", f"{found}: {error}", f"Let this user read it: chmod -R u+rX {store.path}")
        return
    if os.access(store.path, os.W_OK):
        yield Check("store", "ok", f"{found}: {counted(len(names), 'rule set')}")
    else:
        yield Check("store", "note", f"{found}: {counted(len(names), 'rule set')}, read only", "Publish as its owner.")
    for name in names:
        yield _rule_set(store, name)


def _object_store(store: Store, found: str) -> Iterator[Check]:
    try:
        names = store.rule_sets()
    except SparkRulesError as error:
        yield Check("store", "broken", f"{found}: {error}", "See docs/operating.md for how its access is configured.")
        return
    yield Check("store", "ok", f"{found}: {counted(len(names), 'rule set')}")
    for name in names:
        yield _rule_set(store, name)


def _rule_set(store: Store, name: str) -> Check:
    """All manifests of a rule set, and the files of its newest version."""
    versions = store.versions(name)
    damaged = []
    for version in versions:
        try:
            if version == versions[-1]:
                store.verify(store.load(name, version)[0])
                store.statistics(name)
                read_key(store.path / name)
            else:
                store.manifest(name, version)
        except SparkRulesError as error:
            damaged.append(str(error))
    if damaged:
        good = f"go back to a good version (sparkrules rollback --ruleset {name} N), or publish the rules again"
        return Check(f"rule set {name}", "broken", listed(damaged, _SHOWN, "; "), f"Restore a backup, {good}.")
    newest = store.manifest(name)
    rules = counted(newest.subscriptions, "rule")
    found = f"{counted(len(versions), 'version')}, the newest {newest.version}: {rules}"
    if not newest.verified:
        unverified = f"{found}; unverified: an older sparkrules wrote it, without checksums"
        return Check(f"rule set {name}", "note", unverified, "Publish again: the new version has checksums.")
    return Check(f"rule set {name}", "ok", found)


def _spark() -> Check:
    """Start Spark and match two rows."""
    import sparkrules
    from sparkrules.catalyst import embedded_spark
    from sparkrules.cli.engine import MEMORY

    begun = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="sparkrules-", ignore_cleanup_errors=True) as scratch:
        directory = Path(scratch)
        with embedded_spark(directory, directory / "store", MEMORY) as spark:
            rules = sparkrules.RuleSet("doctor")
            rules.subscribe("one", "id = 1")
            found = sparkrules.match(spark.range(2), rules).selectExpr("id", "matches.ids").collect()
            version = spark.version
    if sorted((row["id"], *row["ids"]) for row in found) != [(0,), (1, "one")]:
        return Check("Spark", "broken", f"Spark {version} starts, but matches {found}", "Please report this.")
    return Check("Spark", "ok", f"{version} starts with the plugin and matches, in {time.perf_counter() - begun:.0f} s")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _existing(path: Path) -> Path:
    """The path, or the nearest existing directory above it."""
    return next((place for place in (path, *path.parents) if place.exists()), path)
