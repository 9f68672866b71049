"""A process with its own Spark that answers one question after another, each with a deadline.

The asker survives whatever a question does to the process: a child that hangs or dies is killed and replaced, and the
stacks of its threads are kept. Questions and answers are lines of JSON.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from tests.java import archived

_ROOT = Path(__file__).resolve().parents[2]
_START_SECONDS = 300  # the plugin's jar may have to be compiled first
_DUMP_SECONDS = 3.0
_LOOK_SECONDS = 0.5
_BUSY = 0.8  # of a core
_STANDSTILL = 5  # times the deadline: on a busy machine a child waits for its turn


@dataclass(frozen=True)
class Lost:
    """A child that did not answer: it `hung` or it `died`, and the end of what it wrote, stacks of threads included."""

    how: str
    seconds: float
    said: str

    def stack(self) -> str:
        """The stack of the thread that was at it, or the last lines of the log."""
        for block in self.said.split("\n\n"):
            if block.startswith('"') and "RUNNABLE" in block and "org.apache.spark.sql" in block:
                lines = block.splitlines()[2:]
                return "\n".join(lines[:6] + [line for line in lines[6:] if "sparkrules" in line][:8])
        return "\n".join(self.said.splitlines()[-10:])


class Child:
    """`python -m <module> <arguments>`, started when first asked, and again after each loss."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        # The compiler and the collector are those that users have: what a question costs is counted.
        java = {"SPARK_SUBMIT_OPTS": archived()}
        self._environment = {**os.environ, **java, "PYSPARK_PYTHON": sys.executable, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self._jvm = 0
        self._pending = b""
        self._log = Path(tempfile.mkstemp(prefix="hostile-", suffix=".log")[1])
        self.starts = 0

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()
        self._log.unlink(missing_ok=True)

    def ask(self, question: Mapping[str, Any], seconds: float) -> dict[str, Any] | Lost:
        """What the child answers, or how it was lost: by so many seconds of its JVM's work, or of standstill."""
        process = self._started()
        start = time.monotonic()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._lost("died", start)
        worked = self._cpu_seconds()
        answer = None
        while answer is None and process.poll() is None and time.monotonic() < start + _STANDSTILL * seconds:
            answer = self._line(process, time.monotonic() + 0.5)
            if answer is None and self._cpu_seconds() > worked + seconds:
                break
        if answer is None:
            return self._lost("hung" if process.poll() is None else "died", start)
        found: dict[str, Any] = json.loads(answer)
        return found

    def keeps_busy(self, seconds: float = 15.0) -> bool:
        """Whether its JVM goes on using most of a core for so long while nothing is asked of it.

        A thread that was left behind does. A compiler that catches up after a start, or a collector, comes to rest.
        """
        until = time.monotonic() + seconds
        while self._process is not None and time.monotonic() < until:
            before = self._cpu_seconds()
            time.sleep(_LOOK_SECONDS)
            if self._cpu_seconds() - before < _BUSY * _LOOK_SECONDS:
                return False
        return self._process is not None

    def _cpu_seconds(self) -> float:
        try:
            fields = Path(f"/proc/{self._jvm}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except FileNotFoundError:  # it has died
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self) -> None:
        """End the child and its JVM."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self.starts += 1
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    self._command,
                    cwd=_ROOT,
                    env=self._environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    start_new_session=True,
                )
            self._pending = b""
            first = self._line(self._process, time.monotonic() + _START_SECONDS)
            if first is None:
                self.end()
                raise RuntimeError(f"the child did not start:\n{self._said()}")
            self._jvm = json.loads(first)["jvm"]
        return self._process

    def _line(self, process: subprocess.Popen[bytes], until: float) -> bytes | None:
        assert process.stdout is not None
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while b"\n" not in self._pending:
                left = until - time.monotonic()
                if left <= 0 or not selector.select(left):
                    return None
                read = os.read(process.stdout.fileno(), 1 << 16)
                if not read:
                    process.wait()
                    return None
                self._pending += read
        line, _, self._pending = self._pending.partition(b"\n")
        return line

    def _lost(self, how: str, start: float) -> Lost:
        seconds = time.monotonic() - start
        if how == "hung":
            try:  # a JVM writes the stacks of its threads when it is asked to quit
                os.kill(self._jvm, signal.SIGQUIT)
                until = time.monotonic() + _DUMP_SECONDS
                while time.monotonic() < until and "Heap" not in self._said():
                    time.sleep(0.1)
            except ProcessLookupError:
                how = "died"
        self.end()
        return Lost(how, seconds, self._said())

    def _said(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-200_000:]


def claimed_answers() -> TextIO:
    """The child's side, before anything else: standard output is for answers alone, a JVM's words go to the log."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return answers


def answer_questions(answer: Callable[[dict[str, Any]], dict[str, Any]], jvm: int, answers: TextIO) -> None:
    """The child's side: one answer to each question."""
    print(json.dumps({"jvm": jvm}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), file=answers, flush=True)
