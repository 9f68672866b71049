"""The jar with `KernelBench`, compiled by the Scala compiler that PySpark has, and kept by what it is made of."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import sparkrules
from sparkrules.catalyst.java import find_java
from sparkrules.catalyst.spark_home import find_spark_home
from sparkrules.errors import SetupError

SOURCE = Path(__file__).with_name("KernelBench.scala")


def kernel_jar(directory: Path) -> Path:
    """The jar, in `directory`; built first if there is none of this source, this plugin and this Spark."""
    plugin = Path(sparkrules.jar_path())
    hashed = hashlib.sha256(SOURCE.read_bytes() + plugin.read_bytes() + find_spark_home().version.encode())
    jar = directory / f"kernel-{hashed.hexdigest()[:12]}.jar"
    if not jar.exists():
        print("compiling KernelBench.scala, once", file=sys.stderr, flush=True)
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=directory, prefix=".building-") as scratch:
            made = Path(scratch, jar.name)
            _compile(plugin, made)
            made.replace(jar)
    return jar


def _compile(plugin: Path, target: Path) -> None:
    classpath = os.pathsep.join([str(plugin), str(find_spark_home().jars / "*")])
    compiler = [find_java(), "-Xss8m", "-Xmx1g", "-cp", classpath, "scala.tools.nsc.Main", "-usejavacp", "-nowarn"]
    ran = subprocess.run([*compiler, "-d", str(target), str(SOURCE)], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise SetupError(f"{SOURCE.name} does not compile against {plugin.name}:\n{ran.stdout}{ran.stderr}")
