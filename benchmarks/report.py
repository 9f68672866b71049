"""The tables: on the terminal during a run, and as Markdown from the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from benchmarks.measurement import FLOOR, OURS, Measurement, Preparation
from benchmarks.results import Results

KERNEL_HEAD = (
    "workload",
    "rules",
    "rows/s",
    "rows/s in order",
    "matches/row",
    "matches/s",
    "bytes/rule",
    "tests/row",
    "candidates/row",
)
SPARK_HEAD = (
    "workload",
    "rules",
    "engine",
    "rows",
    "rows/s",
    "CPU µs/row",
    "matches/row",
    "x floor",
    "x sparkrules",
    "note",
)
PREPARATION_HEAD = ("workload", "rules", "predicates", "nodes", "parse s", "publish s", "bind s", "traits")

GROWTH_HEAD = ("rules", "rows/s", "matches/row", "time per row, x fewer rules")

Table = list[tuple[str, ...]]


def sections(results: Results) -> list[tuple[str, Sequence[str], Table]]:
    """Title, header and rows of each table that is not empty."""
    measurements = sorted(results.measurements, key=lambda m: (m.workload, m.rules))
    preparations = sorted(results.preparations, key=lambda p: (p.workload, p.rules))
    tables: list[tuple[str, Sequence[str], Table]] = [
        ("Kernel alone, one thread, rows in memory", KERNEL_HEAD, kernel_table(measurements)),
        ("Growth: ten times the rules, as many matches", GROWTH_HEAD, growth_table(measurements)),
        ("Through Spark SQL, Parquet, two cores", SPARK_HEAD, spark_table(measurements)),
        ("Before the first row", PREPARATION_HEAD, preparation_table(preparations)),
    ]
    return [section for section in tables if section[2]]


def kernel_table(measurements: Iterable[Measurement]) -> Table:
    """The kernel alone."""
    return [
        (
            m.workload,
            f"{m.rules:,}",
            number(m.rows_per_second),
            number(m.rows_per_second_in_order),
            number(m.matches_per_row),
            number(m.matches_per_second),
            number(m.bytes_per_rule),
            number(m.tests_per_row),
            number(m.candidates_per_row),
        )
        for m in measurements
        if m.level == "kernel"
    ]


def growth_table(measurements: Iterable[Measurement]) -> Table:
    """The cost of more rules at constant matches per row: each size compared with the previous one."""
    found = [(m.rules, m.rows_per_second, m.matches_per_row) for m in measurements if m.workload == "growth"]
    speeds = [None, *(speed for _, speed, _ in found)]
    return [
        (f"{rules:,}", number(speed), number(matches), number(before / speed) if before and speed else "")
        for (rules, speed, matches), before in zip(found, speeds, strict=False)
    ]


def spark_table(measurements: Sequence[Measurement]) -> Table:
    """Through Spark SQL. The ratios are of the time per row."""
    through = [m for m in measurements if m.level == "spark"]
    speeds = {(m.workload, m.rules, m.engine): m.rows_per_second for m in through}

    def times(m: Measurement, other: str) -> str:
        speed = speeds.get((m.workload, m.rules, other))
        return "" if not speed or not m.rows_per_second or m.engine == other else number(speed / m.rows_per_second)

    return [
        (
            m.workload,
            f"{m.rules:,}",
            m.engine,
            f"{m.rows:,}",
            number(m.rows_per_second),
            number(m.cpu_seconds and 1e6 * m.cpu_seconds / m.rows),
            number(m.matches_per_row),
            times(m, FLOOR),
            times(m, OURS),
            m.note,
        )
        for m in through
    ]


def preparation_table(preparations: Iterable[Preparation]) -> Table:
    """The cost before the first row."""
    return [
        (
            p.workload,
            f"{p.rules:,}",
            f"{p.predicates:,}",
            f"{p.nodes:,}",
            number(p.parse_seconds),
            number(p.publish_seconds),
            number(p.bind_seconds),
            ", ".join(f"{name}: {value}" for name, value in p.traits.items()),
        )
        for p in preparations
    ]


def plain(head: Sequence[str], table: Table) -> str:
    """A table for the terminal: figures aligned right, everything else left."""
    rows = [tuple(head), *table]
    widths = [max(len(row[at]) for row in rows) for at in range(len(head))]
    right = [all(_is_figure(row[at]) for row in table) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        cells = (
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        )
        return "  ".join(cells).rstrip()

    return "\n".join([line(rows[0]), "  ".join("-" * width for width in widths), *map(line, table)])


def markdown(head: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """A table for a page.

    >>> print(markdown(["a", "b"], [("x", "1.5")]))
    | a | b |
    |---|--:|
    | x | 1.5 |
    """
    right = [all(_is_figure(row[at]) for row in table) for at in range(len(head))]
    rule = "|" + "|".join("--:" if to_right else "---" for to_right in right) + "|"
    return "\n".join([_cells(head), rule, *map(_cells, table)])


def number(value: float | None) -> str:
    """A number with a few significant digits.

    >>> [number(value) for value in (1234567.8, 56.78, 3.456, 0.0123, None)]
    ['1,234,568', '57', '3.5', '0.012', '']
    """
    if value is None:
        return ""
    if value >= 10:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def _cells(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"


def _is_figure(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").isdecimal() or not cell
