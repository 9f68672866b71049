"""Hyperscan and RE2, which find all expressions of a column in one pass, called from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

from benchmarks.text.searches import COLUMNS, Searches

Find = Callable[[bytes], Sequence[int]]


@dataclass(frozen=True)
class SearchFigures:
    """Seconds of the thread's processor time: to compile, for a row, and for a row without telling what was found."""

    engine: str
    compile_seconds: float
    seconds_per_row: float
    bare_seconds_per_row: float | None
    matches: int
    note: str = ""


def hyperscan_finds(expressions: Sequence[str]) -> tuple[Find, Callable[[bytes], object]]:
    """What finds expressions, and the same without a callback: the first is the price of one in Python."""
    import hyperscan

    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    flags = hyperscan.HS_FLAG_SINGLEMATCH | hyperscan.HS_FLAG_DOTALL
    database.compile(
        expressions=[one.encode() for one in expressions],
        ids=list(range(len(expressions))),
        flags=[flags] * len(expressions),
    )
    found: list[int] = []

    def note(id: int, _start: int, _end: int, _flags: int, _context: object) -> None:
        found.append(id)

    def find(text: bytes) -> Sequence[int]:
        found.clear()
        database.scan(text, match_event_handler=note)
        return found

    return find, database.scan


def re2_finds(expressions: Sequence[str], megabytes: int = 1024) -> tuple[Find, None]:
    """RE2's set. It answers with nothing if its automaton outgrows its memory, so it gets plenty."""
    import re2

    options = re2.Options()
    options.max_mem, options.dot_nl, options.never_capture = megabytes << 20, True, True
    searched = re2.Set.SearchSet(options)
    for one in expressions:
        searched.Add(one)
    searched.Compile()
    return lambda text: searched.Match(text) or (), None


def measure(
    engine: str, searches: Searches, rows: Sequence[dict[str, str]], make: Callable[[Sequence[str]], Any]
) -> SearchFigures:
    """Search all columns of the rows twice, the second time on the clock; the matches are counted off the clock."""
    start = thread_time()
    finds = {column: make(searches.expressions[column]) for column in COLUMNS}
    compiled = thread_time() - start
    texts = {column: [row[column].encode() for row in rows] for column in COLUMNS}
    matches = 0
    for i, row in enumerate(rows):
        matches += searches.matches(row["level"], {c: list(finds[c][0](texts[c][i])) for c in COLUMNS})

    def seconds(which: int) -> float:
        start = thread_time()
        for column in COLUMNS:
            find = finds[column][which]
            for text in texts[column]:
                find(text)
        return (thread_time() - start) / len(rows)

    bare = seconds(1) if finds[COLUMNS[0]][1] else None
    return SearchFigures(engine, compiled, seconds(0), bare, matches)


ENGINES: dict[str, Callable[[Sequence[str]], Any]] = {"Hyperscan": hyperscan_finds, "RE2": re2_finds}
