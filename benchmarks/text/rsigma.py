"""rsigma, in Rust, on Sigma's files and the events as JSON; sparkrules on the same files and events."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from benchmarks.workloads.sigma import DATA

FILES = DATA / "files"
"""The files of the repository SigmaHQ/sigma that `source` names in rules.jsonl."""


@dataclass(frozen=True)
class RsigmaFigures:
    """Seconds of the thread's processor time, for all events."""

    rules: int
    rejected: int
    events: int
    matches: int
    load_seconds: float
    parse_seconds: float
    match_seconds: float


def sigma_files() -> list[Path]:
    """The files of all rules."""
    with (DATA / "rules.jsonl").open(encoding="utf-8") as lines:
        return [FILES / json.loads(line)["source"] for line in lines]


def write_events(events: pa.Table, path: Path) -> None:
    """A JSON object a line; what is NULL is left out, as logs do."""
    with path.open("w", encoding="utf-8") as out:
        for batch in events.to_batches(10_000):
            for row in batch.to_pylist():
                own = {key: value for key, value in row.items() if value is not None}
                out.write(json.dumps(own, ensure_ascii=False) + "\n")


def run(program: Path, directory: Path) -> tuple[RsigmaFigures, set[tuple[int, str]]]:
    """Its figures, and the pairs of event and rule that match; the directory has `events.jsonl`."""
    listed, found = directory / "rules.txt", directory / "matches.tsv"
    listed.write_text("".join(f"{file}\n" for file in sigma_files()), encoding="utf-8")
    said = subprocess.run(
        [program, listed, directory / "events.jsonl", found], check=True, capture_output=True, text=True
    ).stdout
    lines = found.read_text(encoding="utf-8").splitlines()
    pairs = {(int(event), id) for event, _, id in (line.partition("\t") for line in lines)}
    return RsigmaFigures(**json.loads(said)), pairs
