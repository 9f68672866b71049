"""Measures patterns over several rows: python -m benchmarks.patterns

Events that are matched against rules, and patterns over the rules: in a batch, and in a stream that reads the same
files, one in a micro-batch; compared with matching alone, and with a query per pattern. Batch and stream, and patterns
and queries, must give the same detections. Cold is the first run of a way in a session, with planning and compiling.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.patterns.measuring import Measured, measure
from benchmarks.patterns.workload import QUICK, Size
from benchmarks.results import environment
from benchmarks.session import bench_session
from sparkrules.cli.whole_file import whole_file


def main() -> None:
    """Print the figures as Markdown, and write them as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.patterns", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the events and a tenth of the patterns")
    for name in Size.__dataclass_fields__:
        parser.add_argument(f"--{name}", type=int, help=f"default: {getattr(Size, name):,}")
    parser.add_argument("--runs", type=int, default=2, help="warm runs of each way, of which the shortest counts")
    parser.add_argument("--sampled", type=int, default=9, help="patterns that are also asked for by a query each")
    parser.add_argument("--id", action="store_true", help="detections name their rows, and the state keeps the names")
    parser.add_argument("--memory", default="4g")
    parser.add_argument("--cache", type=Path, default=Path("build/bench"))
    parser.add_argument("--output", type=Path, default=Path("build/bench/patterns.json"), help="the results")
    options = parser.parse_args()
    given = {name: getattr(options, name) for name in Size.__dataclass_fields__ if getattr(options, name) is not None}
    size = replace(QUICK if options.quick else Size(), **given)
    cache = options.cache.resolve()
    rows = cache / f"patterns-{size.events}-{size.keys}-{size.actions}-{size.files}"
    with TemporaryDirectory() as directory:
        home = Path(directory)
        if rows.exists():
            (home / "rows").symlink_to(rows)
        more = {
            "spark.sparkrules.store": str(home / "store"),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.streaming.numRecentProgressUpdates": str(2 * size.files + 10),
        }
        with bench_session(cache, options.memory, more) as spark:
            found = measure(spark, size, home, runs=options.runs, sampled=options.sampled, with_id=options.id)
            results = {"environment": environment(spark), **asdict(found)}
        if not rows.exists():
            shutil.move(home / "rows", rows)
    print(table(found))
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(options.output) as unfinished:
        unfinished.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def table(found: Measured) -> str:
    """The figures as Markdown."""
    size, state = found.size, found.state
    per_thousand = [
        f"{found.matches_per_thousand:.1f} matches",
        f"{found.events_per_thousand:.1f} events",
        f"{found.detections_per_thousand:.2f} detections ({_counted(found.detections)})",
    ]
    kept = [
        f"{state.rows:,} rows",
        f"{state.memory_bytes / 1e6:.1f} MB of memory",
        f"{state.file_bytes / 1e6:.1f} MB of files",
    ]
    lines = [
        f"{size.patterns:,} patterns over {size.rules:,} rules, {size.events:,} events, {size.keys:,} users.",
        f"{found.rows_that_are_events:.1%} of the rows are events, of {found.groups:,} patterns and keys.",
        f"Per 1,000 rows: {', '.join(per_thousand)}.",
        f"State, at most: {', '.join(kept)}, in {state.batches} micro-batches.",
        f"Detections that equal those of a query: {_counted(found.checked)}.",
        "",
        "| | cold s | warm s | CPU s | events/s, warm | x matching |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    matching = found.ways[0].warm_seconds
    for way in found.ways:
        name = way.name
        if way.extrapolated_from is not None:
            name += f" ({way.extrapolated_from} measured, the rest extrapolated)"
        seconds = f"{way.cold_seconds:.1f} | {way.warm_seconds:.1f} | {way.cpu_seconds:.1f}"
        lines.append(f"| {name} | {seconds} | {way.events_per_second:,.0f} | {way.warm_seconds / matching:.2f} |")
    return "\n".join(lines)


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items())) or "none"


if __name__ == "__main__":
    main()
