"""Repeats an operation on a store, killing itself one step later each time: a program for test_crashes.

    python crash_points.py SCENARIO PRISTINE DIRECTORY

`DIRECTORY/<k>` is the store PRISTINE after the scenario was killed before its k-th file system step. The last one is
not killed. A step is opening, making, linking, renaming, removing or syncing something in the store.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

from sparkrules import RuleSet

STEPS = {"open", "os.mkdir", "os.link", "os.rename", "os.utime"}
RELATIVE_STEPS = {"os.remove", "os.rmdir"}  # their path may be relative to a directory that is open


def delta(store: Path) -> None:
    rules = RuleSet.load("alerts", store)
    rules.subscribe("new", "b = 1", ticket=True)
    rules.subscribe_all({"bad": "a >"})
    rules.unsubscribe("r7")
    rules.publish()


def merge(store: Path) -> None:
    rules = RuleSet.load("alerts", store)
    rules.subscribe("new", "b = 1")
    rules.unsubscribe("r7")
    rules.publish(merge="all")


def replace(store: Path) -> None:
    rules = RuleSet("alerts")
    rules.subscribe("new", "b = 1")
    rules.store = store
    rules.publish()


def advertise(store: Path) -> None:
    rules = RuleSet.load("alerts", store)
    rules.advertise("source", "a > 1490")
    rules.publish(overlaps=True)


def rollback(store: Path) -> None:
    RuleSet.load("alerts", store).rollback(1)


def collect(store: Path) -> None:
    RuleSet.load("alerts", store).collect_garbage(keep=1, older_than=timedelta(0))


SCENARIOS: dict[str, Callable[[Path], None]] = {
    scenario.__name__: scenario for scenario in (delta, merge, replace, advertise, rollback, collect)
}


def die_before_step(number: int, store: Path) -> None:
    left = count(number, -1)

    def step() -> None:
        if next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in RELATIVE_STEPS or (event in STEPS and str(arguments[0]).startswith(str(store))):
            step()

    fsync = os.fsync

    def counted_fsync(descriptor: int) -> None:
        step()
        fsync(descriptor)

    os.fsync = counted_fsync
    sys.addaudithook(hook)


def import_everything() -> None:
    """Modules that are imported when they are first needed: once here, not in each of the children."""
    rules = RuleSet("first")
    rules.subscribe("rule", "a = 1", ticket=True)
    rules.advertise("source", "a > 1")
    rules.advertisements.overlaps()


def main() -> None:
    scenario, pristine, directory = SCENARIOS[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3])
    import_everything()
    for number in count():
        store = directory / str(number)
        shutil.copytree(pristine, store)
        child = os.fork()
        if child == 0:
            die_before_step(number, store)
            scenario(store)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main()
