"""Programs that tests start: their output is kept, waiting is bounded, and none outlives its test."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkrules.catalyst.spark_home import find_spark_home
from tests.java import java_options

_ROOT = Path(__file__).resolve().parents[2]
_SHOWN = 6_000  # characters of a log, from its end
_GRACE = 20  # seconds from asking a program to end to ending it

_running: list[Program] = []


@dataclass(frozen=True)
class Program:
    """A program that was started, with everything it writes in one file."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_until_it_says(self, pattern: str, seconds: float = 180) -> re.Match[str]:
        """The first match of `pattern` in what it writes. Fails if it ends, or says no such thing in time."""
        until = time.monotonic() + seconds
        while True:
            ended = self.process.poll()
            found = re.search(pattern, self.said(), re.MULTILINE)
            if found:
                return found
            if ended is not None or time.monotonic() > until:
                state = f"ended with {ended}" if ended is not None else f"ran for {seconds} s"
                raise AssertionError(f"{self.name} {state} without saying {pattern!r}:\n{self.said()[-_SHOWN:]}")
            time.sleep(0.1)

    def wait_until_it_ends(self, seconds: float) -> None:
        """Fails unless it ends in time, and well."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} still ran after {seconds} s:\n{self.said()[-_SHOWN:]}") from None
        if code != 0:
            raise AssertionError(f"{self.name} ended with {code}:\n{self.said()[-_SHOWN:]}")


@contextmanager
def started(
    name: str, command: Sequence[str], directory: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Program]:
    """Run a command in a directory, until the end of the block."""
    log = directory / f"{name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=own_environment() | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that what it starts itself, such as executors, can be ended with it
        )
    program = Program(name, process, log)
    _running.append(program)
    try:
        yield program
    finally:
        _running.remove(program)
        _stop(process)


def spark_command(script: str) -> str:
    """The path of a script of the installed Spark: `spark-submit`, `spark-class`."""
    return str(find_spark_home().path / "bin" / script)


def run_script(module: str, arguments: Sequence[str], directory: Path, **environment: str) -> Any:
    """What a script of these tests has written as JSON to the file that is its first argument.

    In a process of its own: one can have only one Spark, either classic or Connect.
    """
    name = module.rpartition(".")[2]
    result = directory / f"{name}.json"
    command = [sys.executable, "-m", module, str(result), *arguments]
    with started(name, command, directory, environment) as script:
        script.wait_until_it_ends(seconds=300)
    return json.loads(result.read_text(encoding="utf-8"))


@contextmanager
def connect_server(directory: Path, *options: str) -> Iterator[str]:
    """The address of a Spark Connect server, started with these options of spark-submit."""
    command = [
        *(spark_command("spark-submit"), "--master", "local[2]", *options),
        *("--conf", "spark.driver.memory=1g", "--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.sql.shuffle.partitions=2", "--conf", f"spark.sql.warehouse.dir={directory / 'warehouse'}"),
        *("--conf", "spark.connect.grpc.binding.port=0"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    with started("connect-server", command, directory) as server:
        said = server.wait_until_it_says(r"Spark Connect server started at: \S*:(\d+)")
        yield f"sc://127.0.0.1:{said.group(1)}"


@contextmanager
def logs_shown_on_failure() -> Iterator[None]:
    """Prints what running programs have said during the block: pytest shows it for a test that failed."""
    before = {program.log: len(program.said()) for program in _running}
    yield
    for program in _running:
        said = program.said()[before.get(program.log, 0) :]
        if said:
            sys.stdout.write(f"--- {program.name}:\n{said[-_SHOWN:]}\n")


def own_environment() -> dict[str, str]:
    """What programs of tests are started with."""
    # Not the caller's Spark settings. On the loopback, so that no firewall nor host name is in the way.
    own = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return own | {
        "JAVA_TOOL_OPTIONS": java_options(),  # of executors and daemons, too
        "SPARK_HOME": str(find_spark_home().path),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(_ROOT),
    }


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE)
    # And whatever it has started and not ended: their group has the process id of its first member.
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
