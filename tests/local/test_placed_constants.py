"""New constants among counted ranges: what is certain is true, and what is true is possible."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from math import isnan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkrules.local.placed_constants import CountedSlot
from sparkrules.sql.tree import Constant

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "=": lambda a, b: a == b,
    "<=>": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "not <=>": lambda a, b: a != b,
}


def ordered(value: Any) -> Any:
    """Spark's order: NaN is above all others."""
    return (isnan(value), 0 if isnan(value) else value) if isinstance(value, float) else value


def slot_of(type_: str, values: list[Any], constants: list[Any], text: Callable[[Any], str]) -> CountedSlot:
    """The slot as an analysis with these constants counts it; None is NULL."""
    keys = sorted({ordered(constant) for constant in constants})
    texts = {ordered(constant): text(constant) for constant in constants}

    def position(value: Any) -> int:
        if value is None:
            return 0
        place = bisect_left(keys, ordered(value))
        return 2 * place + 2 if place < len(keys) and keys[place] == ordered(value) else 2 * place + 1

    slot = CountedSlot(type_, 2 * len(keys) + 2)
    for found, rows in sorted(Counter(map(position, values)).items()):
        lower = texts[keys[found // 2 - 1]] if found > 1 else None
        upper = lower if found % 2 == 0 else texts[keys[found // 2]] if found // 2 < len(keys) else None
        slot.add(found, lower, upper, rows)
    return slot


def rows_in(slot: CountedSlot, intervals: list[tuple[int, int]]) -> int:
    assert all(0 <= first <= last < slot.positions for first, last in intervals)
    return int(sum(slot.counts[first : last + 1].sum() for first, last in intervals))


WORLDS: dict[str, tuple[str, str, st.SearchStrategy[Any], Callable[[Any], str]]] = {
    "INT": ("integer", "INT", st.integers(-6, 6), str),
    "DECIMAL": ("decimal", "DECIMAL(10,1)", st.integers(-30, 30).map(lambda n: Decimal(n) / 10), str),
    "DOUBLE": ("double", "DOUBLE", st.sampled_from([-1e9, -1.5, -0.0, 0.0, 2.5, 1e300, float("inf")]), repr),
    "STRING": ("string", "STRING", st.text("abÿ😀", max_size=2), str),
    "DATE": ("sql", "DATE", st.integers(1, 28).map(lambda day: f"2024-02-{day:02}"), str),
}


@pytest.mark.parametrize("world", list(WORLDS))
@given(data=st.data())
def test_bounds_contain_the_rows(world: str, data: st.DataObject) -> None:
    kind, type_, value, text = WORLDS[world]
    seen = value | st.just(float("nan")) if world == "DOUBLE" else value
    values = data.draw(st.lists(st.none() | seen, min_size=1, max_size=12), label="values")
    slot = slot_of(type_, values, data.draw(st.lists(value, max_size=4), label="old constants"), text)
    operator = data.draw(st.sampled_from([*OPERATORS, "in", "not in"]), label="operator")
    count = 3 if operator.endswith("in") else 1
    new = data.draw(st.lists(value, min_size=count, max_size=count), label="new constants")
    written = [Constant(kind, f"DATE'{c}'" if world == "DATE" else text(c)) for c in new]  # type: ignore[arg-type]
    placed = slot.placed(operator, written)
    assert placed is not None
    if operator.endswith("in"):
        true = [v for v in values if v is not None and (v in new) == (operator == "in")]
    else:
        true = [v for v in values if v is not None and OPERATORS[operator](ordered(v), ordered(new[0]))]
        true += [v for v in values if v is None and operator == "not <=>"]
    assert rows_in(slot, placed[0]) <= len(true) <= rows_in(slot, placed[1])


def test_a_constant_of_the_analysis_is_exact() -> None:
    slot = slot_of("INT", [1, 2, 3, 3, None], [2, 3], str)
    for operator, rows in {"<": 1, "<=": 2, "=": 1, ">": 2, ">=": 3, "<>": 3, "not <=>": 4}.items():
        placed = slot.placed(operator, [Constant("integer", "2")])
        assert placed is not None
        assert [rows_in(slot, own) for own in placed] == [rows, rows], operator
    assert slot.placed("is null", []) == ([(0, 0)], [(0, 0)])


@pytest.mark.parametrize(
    ("type_", "operator", "constant"),
    [
        ("INT", "=", Constant("string", "5")),
        ("INT", "<", Constant("double", "5e0")),
        ("INT", "<", Constant("integer", "1234567890123456")),
        ("INT", "is true", None),
        ("DECIMAL(38,18)", "<", Constant("integer", "5")),
        ("STRING", "<", Constant("integer", "5")),
        ("STRING", "like", Constant("string", "a%")),
        ("STRING COLLATE UTF8_LCASE", "=", Constant("string", "a")),
        ("TIMESTAMP", "<", Constant("sql", "TIMESTAMP'2024-01-01'")),
        ("DATE", "<", Constant("string", "2024-01-01")),
        ("INT", "=", Constant("null")),
    ],
)
def test_what_spark_may_compare_in_another_way_is_not_placed(
    type_: str, operator: str, constant: Constant | None
) -> None:
    assert CountedSlot(type_, 2).placed(operator, [] if constant is None else [constant]) is None
