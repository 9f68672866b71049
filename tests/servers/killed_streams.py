"""Kills the driver of a stream of patterns, with SIGKILL and at random moments, and starts it again.

    python -m tests.servers.killed_streams --kills 20

Rows arrive as files all the while. The sink is Spark's of files, which has every row exactly once: so the detections at
the end must be those of a batch over the same files, none lost and none doubled. Prints what was counted as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from types import TracebackType

import sparkrules
from tests.servers.processes import Program, started

RULE_SET = "watch"
COLUMNS = "n BIGINT, at TIMESTAMP, user STRING, action STRING, heat INT"
START = datetime(2026, 1, 1, tzinfo=timezone.utc)
ROWS = 20  # of a file
EVERY = 0.25  # seconds between files
JITTER = 10.0  # seconds by which rows of a file are earlier than those of others
LONGEST = 6.0  # seconds that a stream runs before it is killed
SHOWN = 20


@dataclass(frozen=True)
class Places:
    """Where things are."""

    home: Path

    @property
    def store(self) -> Path:
        return self.home / "store"

    @property
    def incoming(self) -> Path:
        return self.home / "incoming"

    @property
    def checkpoint(self) -> Path:
        return self.home / "checkpoint"

    @property
    def detections(self) -> Path:
        return self.home / "detections"


@dataclass(frozen=True)
class Outcome:
    """What was counted. A micro-batch is unfinished if it was planned, and not committed, at the moment of a kill."""

    kills: int
    unfinished: int
    batches: int
    rows: int
    kinds: dict[str, int]
    detections: int
    lost: list[str]
    doubled: list[str]


class Arriving:
    """Files of rows that arrive during the block: each as a whole, and with later times than the ones before."""

    def __init__(self, places: Places, draw: random.Random) -> None:
        self.incoming, self.draw = places.incoming, draw
        self.files = 0
        self._end = Event()
        self._thread = Thread(target=self._arrive)

    @property
    def rows(self) -> int:
        return self.files * ROWS

    def _arrive(self) -> None:
        while not self._end.wait(EVERY):
            self.file([self._row() for _ in range(ROWS)])

    def _row(self) -> dict[str, object]:
        late = timedelta(seconds=round(self.draw.uniform(0, JITTER), 1))  # so that some times are equal
        return {
            "at": (START + timedelta(seconds=self.files * 2) - late).isoformat(),
            "user": f"u{self.draw.randrange(12)}" if self.draw.random() < 0.95 else None,
            "action": self.draw.choice(["fail", "admin", "start", "beat", "none", "none"]),
            "heat": self.draw.choice([None, 10, 20, 31, 40]),
        }

    def file(self, rows: list[dict[str, object]]) -> None:
        lines = [json.dumps({"n": self.files * ROWS + place, **row}) for place, row in enumerate(rows)]
        hidden = self.incoming / f".{self.files:06}.json"
        hidden.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        hidden.rename(self.incoming / hidden.name[1:])
        self.files += 1

    def __enter__(self) -> Arriving:
        self.incoming.mkdir()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        # Time ends for both: all deadlines have passed, and the watermark of the stream has passed all rows.
        self.file([{"at": (START + timedelta(days=30)).isoformat(), "user": "end", "action": "none", "heat": None}])


def run(home: Path, kills: int, seed: int = 1) -> Outcome:
    """Kill a stream so many times, let it end, and compare."""
    places, draw = Places(home), random.Random(seed)
    publish(places)
    command = [sys.executable, "-m", "tests.servers.stream_driver", str(home)]
    unfinished = 0
    with Arriving(places, random.Random(seed + 1)) as arriving:
        for number in range(kills):
            with started(f"driver-{number}", [*command, "forever"], home) as driver:
                driver.wait_until_it_says("the stream has started")
                # At first it is planned and compiled; the third of them reaches over several micro-batches.
                time.sleep(draw.uniform(0, LONGEST * (1 + number % 3)))
                kill(driver)
            unfinished += newest(places, "offsets") > newest(places, "commits")
    result = home / "result.json"
    with started("driver-last", [*command, str(result)], home) as driver:
        driver.wait_until_it_ends(seconds=600)
    found = json.loads(result.read_text(encoding="utf-8"))
    stream, batch = Counter(found["stream"]), Counter(found["batch"])
    return Outcome(
        kills=kills,
        unfinished=unfinished,
        batches=newest(places, "commits") + 1,
        rows=arriving.rows,
        kinds=dict(Counter(json.loads(text)["kind"] for text in found["batch"])),
        detections=batch.total(),
        lost=sorted((batch - stream).elements()),
        doubled=sorted((stream - batch).elements()),
    )


def publish(places: Places) -> None:
    rules = sparkrules.RuleSet(RULE_SET)
    rules.subscribe_all({f"is {action}": f"action = '{action}'" for action in ("fail", "admin", "start", "beat")})
    rules.sequence("breach", ["is fail", "is admin"], by="user", within="20 seconds")
    rules.sequence("breaches", ["is fail", "is fail", "is admin"], by="user", within="60 seconds", overlapping=True)
    rules.together("both", ["is start", {"where": "heat > 30"}], by="user", within="5 seconds", overlapping=True)
    rules.count("brute", "is fail", by="user", within="30 seconds", at_least=4)
    rules.count("heats", "is fail", by="user", within="60 seconds", at_least=3, distinct="heat", overlapping=True)
    rules.absence("silent", after="is start", without="is beat", by="user", within="10 seconds")
    rules.subscribe("hot", "heat > 30", on_change="user")
    rules.subscribe("noisy", "action = 'beat'", suppress="30 seconds", by="user")
    rules.store = places.store
    rules.publish()


def kill(driver: Program) -> None:
    """Python and the Java that it has started, at once."""
    if driver.process.poll() is not None:
        raise AssertionError(f"{driver.name} ended by itself:\n{driver.said()[-6_000:]}")
    os.killpg(driver.process.pid, signal.SIGKILL)
    driver.process.wait()


def newest(places: Places, log: str) -> int:
    """The number of the last micro-batch in a log of the checkpoint; -1 if there is none."""
    numbers = [-1]
    with suppress(FileNotFoundError):
        numbers += [int(file.name) for file in (places.checkpoint / log).iterdir() if file.name.isdigit()]
    return max(numbers)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.servers.killed_streams", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with TemporaryDirectory() as directory:
        outcome = run(Path(directory), options.kills, options.seed)
    counts = asdict(outcome) | {"lost": len(outcome.lost), "doubled": len(outcome.doubled)}
    sys.stdout.write(f"{json.dumps(counts, indent=1)}\n")
    for what, texts in (("lost", outcome.lost), ("doubled", outcome.doubled)):
        for text in texts[:SHOWN]:
            sys.stdout.write(f"{what}: {text}\n")
    sys.exit(bool(outcome.lost or outcome.doubled))


if __name__ == "__main__":
    main()
