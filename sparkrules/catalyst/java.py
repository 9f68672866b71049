"""Finds the Java runtime that Spark will use, the way Spark finds it, and rejects one that is too old."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from sparkrules.errors import SetupError

OLDEST_JAVA = 17

_INSTALL = (
    f"Install a Java runtime, version {OLDEST_JAVA} or newer (Debian/Ubuntu: apt-get install openjdk-17-jre-headless; "
    "macOS: brew install openjdk@17; others: https://adoptium.net), and set JAVA_HOME if it is not on the PATH."
)


def find_java() -> str:
    """The `java` program that Spark will start: from `JAVA_HOME`, else from the `PATH`.

    Raises `SetupError`, with what to install, if there is none or if it is older than Spark 4 needs.
    """
    java, origin = _locate_java()
    version = _major_version(java)
    if version < OLDEST_JAVA:
        raise SetupError(f"Java {version} ({java}, found through {origin}) is too old for Spark 4. {_INSTALL}")
    return java


def parse_major_version(banner: str) -> int | None:
    """The major version in the output of `java -version`, if any.

    >>> parse_major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> parse_major_version('java version "1.8.0_401"')
    8
    >>> parse_major_version('openjdk version "21" 2023-09-19')
    21
    """
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found.group(1)) if found else None


def _locate_java() -> tuple[str, str]:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = shutil.which("java", path=str(Path(home) / "bin"))
        if java is None:
            raise SetupError(f"JAVA_HOME is {home}, but there is no bin/java in it. {_INSTALL}")
        return java, "JAVA_HOME"
    java = shutil.which("java")
    if java is None:
        raise SetupError(f"Spark needs Java and none was found: JAVA_HOME is not set, no java on the PATH. {_INSTALL}")
    return java, "PATH"


def java_version(java: str) -> str:
    """The full version that a `java` program reports: `17.0.15`."""
    found = re.search(r'version "([^"]+)"', _banner(java))
    return found.group(1) if found else "unknown"


def _major_version(java: str) -> int:
    banner = _banner(java)
    version = parse_major_version(banner)
    if version is None:
        # macOS has a /usr/bin/java that only reports that there is no Java.
        raise SetupError(f"{java} is not a working Java: {banner.strip()[:200]}. {_INSTALL}")
    return version


def _banner(java: str) -> str:
    """The output of `java -version`."""
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{java} cannot be run: {error}. {_INSTALL}") from error
    return ran.stderr + ran.stdout
