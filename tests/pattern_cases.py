"""Random patterns and rows, and the detections that they must give: for detection without Spark, and for the plugin.

A row is a dictionary with the columns `ts` (datetime in UTC), `k` (string), `k2` and `v` (integers), `id` (string) and
the flags `a`, `b`, `c`, `d`; each may be NULL. The rules "a" to "d" are these flags, so which rules match is plain. A
definition is a dictionary as in a file of rules, with spans in microseconds. Times are few and near, so that many are
equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, TypeAlias

from hypothesis import strategies as st

from sparkrules import RuleSet
from sparkrules.patterns import Pattern, Term
from tests.specification.patterns import Event, in_order, reported

Row: TypeAlias = dict[str, Any]
Definition: TypeAlias = dict[str, Any]
Plain: TypeAlias = tuple[Any, ...]
"""A detection: pattern, kind, key as pairs, start, end, count, rows as (step, time, id); microseconds since `BEGIN`."""

BEGIN = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
FLAGS = ("a", "b", "c", "d")
COLUMNS = {"ts": "timestamp", "k": "string", "k2": "int", "v": "int", "id": "string"} | dict.fromkeys(FLAGS, "boolean")
"""The columns, with their types in Spark."""

# What a term says of a row, as SQL and in Python: True, False or None for unknown.
CONDITIONS: dict[str, Callable[[Row], bool | None]] = {
    "NOT b": lambda row: None if row["b"] is None else not row["b"],
    "c AND v > 1": lambda row: bool(row["c"]) and row["v"] is not None and row["v"] > 1,
    "k2 = 2": lambda row: row["k2"] == 2,
}
TICK = 1_000_000
"""The microseconds that generated times and spans are multiples of, give or take one."""


def _some(values: Sequence[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


# Most values are alike, so that patterns find something: of plain choices, one in ten would.
FLAG = _some([True, True, False, None])
TIMES = [*range(12), *range(12), *range(4, 9), 5.000001, 4.999999, None]
ROW = st.fixed_dictionaries(
    {
        "ts": _some([None if time is None else BEGIN + timedelta(seconds=time) for time in TIMES]),
        "k": _some([*["x"] * 12, "y", "y", "é", None]),
        "k2": _some([*[1] * 12, 2, None]),
        "v": _some([1, 2, 3, 4, None]),
        "id": _some(["1", "2", "10", "", None]),
        **dict.fromkeys(FLAGS, FLAG),
    }
)
ROWS: st.SearchStrategy[list[Row]] = _some([0, 1, 3, *range(6, 15)]).flatmap(
    lambda size: st.lists(ROW, min_size=size, max_size=size)
)
CONDITION = _some([{"where": text} for text in CONDITIONS])
TERM = st.one_of(*[_some(FLAGS)] * 8, CONDITION, CONDITION, st.just("missing rule"))
STEP = st.one_of(TERM, TERM, st.lists(TERM, min_size=1, max_size=2, unique_by=str))
BY = _some([[], [], ["k"], ["k", "k2"]])
SPAN = st.one_of(*[_some([n * TICK for n in range(2, 13)])] * 3, _some([1, TICK - 1, TICK + 1, 3 * TICK + 1]))
SHORT = _some([1, TICK - 1, TICK, 2 * TICK, 3 * TICK])


@st.composite
def definitions(draw: st.DrawFn, number: int = 0) -> Definition:
    """A definition of any kind, with the id `p` and a number. Spans are in microseconds."""
    kind = draw(_some(["sequence", "sequence", "together", "count", "count", "absence", "change", "match"]))
    made: Definition = {"id": f"p{number}"}
    suppress = draw(st.one_of(st.none(), st.none(), SHORT))
    if kind in ("change", "match"):
        made["where"] = draw(_some(FLAGS))
        if kind == "change":
            return made | {"on_change": draw(BY)} | _given(suppress=suppress)
        return made | {"by": draw(BY), "suppress": suppress or draw(SHORT)}
    made |= {"by": draw(BY), "within": draw(SHORT if kind == "absence" else SPAN)} | _given(suppress=suppress)
    if kind == "absence":
        return made | {"absence": {"after": draw(STEP), "without": draw(STEP)}}
    made["overlapping"] = draw(st.booleans())
    if kind == "count":
        made |= {"count": draw(STEP), "at_least": draw(st.integers(1, 4))}
        return made | _given(distinct=draw(_some([None, "v"])))
    made[kind] = draw(st.lists(STEP, min_size=2, max_size=draw(_some([2, 3, 3, 4]))))
    if kind == "sequence" and draw(st.booleans()):
        made["after"] = min(draw(st.one_of(SHORT, SPAN)), made["within"])
    return made


@st.composite
def several_definitions(draw: st.DrawFn, most: int = 4) -> list[Definition]:
    """Up to so many definitions with different ids."""
    return [draw(definitions(number)) for number in range(draw(st.integers(1, most)))]


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def rule_set(definitions: Iterable[Definition], name: str = "cases", **options: Any) -> RuleSet:
    """The rules "a" to "d", and patterns."""
    rules = RuleSet(name, **options)
    rules.subscribe_all({flag: flag for flag in FLAGS})
    spans = ("within", "after", "suppress")
    rules.subscribe_all(
        [
            {field: timedelta(microseconds=own[field]) if field in spans else own[field] for field in own}
            for own in definitions
        ]
    )
    assert rules.rejected == []
    return rules


def expected(rules: RuleSet, rows: Sequence[Row], *, with_id: bool = True) -> list[Plain]:
    """What must be detected, sorted, according to the specification."""
    times = [micros(row["ts"]) for row in rows if row["ts"] is not None]
    flags = {rule.id: rule.where for rule in rules}
    found: list[Plain] = []
    for pattern in rules.patterns.values():
        found += _of_pattern(pattern, flags, rows, max(times, default=0), with_id)
    return sorted(found)


def micros(time: datetime) -> int:
    """The microseconds since `BEGIN`. A time without a zone is in UTC."""
    return (time.replace(tzinfo=time.tzinfo or timezone.utc) - BEGIN) // timedelta(microseconds=1)


def plain(detection: Mapping[str, Any]) -> Plain:
    """A row of the answer, from Arrow or as the dictionary of a Row of Spark."""
    rows = tuple((own["step"], micros(own["time"]), _shown(own["id"])) for own in detection["rows"])
    key = tuple(sorted(dict(detection["key"]).items()))
    start, end = micros(detection["start"]), micros(detection["end"])
    return detection["pattern"], detection["kind"], key, start, end, detection["count"], rows


def _shown(id: str | None) -> str:
    return "NULL" if id is None else id  # so that tuples can be sorted


def _of_pattern(
    pattern: Pattern, flags: Mapping[str, str], rows: Sequence[Row], last: int, with_id: bool
) -> Iterable[Plain]:
    keys: dict[tuple[str, ...], list[Event]] = {}
    for row in rows:
        steps = sum(
            1 << number for number, step in enumerate(pattern.steps) if any(_fulfils(row, term, flags) for term in step)
        )
        key = tuple(row[name] for name in pattern.by)
        if steps and row["ts"] is not None and None not in key:
            id = row["id"] if with_id else None
            value = None if pattern.distinct is None or row["v"] is None else str(row["v"])
            keys.setdefault(tuple(map(str, key)), []).append(Event(micros(row["ts"]), id, steps, value))
    for key, events in keys.items():
        for kind, own in reported(pattern, in_order(events), last):
            pairs = tuple(sorted(zip(pattern.by, key, strict=True)))
            shown = tuple((step, event.time, _shown(event.id)) for step, event in own.rows)
            yield pattern.id, kind, pairs, own.start, own.end, own.count, shown


def _fulfils(row: Row, term: Term, flags: Mapping[str, str]) -> bool:
    """Whether a row fulfils a term; `flags` has the flag that each rule is."""
    if term.rule is not None:
        return term.rule in flags and row[flags[term.rule]] is True
    assert term.where is not None
    if term.where in CONDITIONS:
        return CONDITIONS[term.where](row) is True
    return row[term.where.removeprefix("NOT (").removesuffix(")")] is False
