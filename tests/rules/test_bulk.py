"""Many rules at once: what is added, what is rejected, and the cost."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sparkrules.rules.alike
import sparkrules.rules.compile
import sparkrules.rules.cut_predicates
from sparkrules import Policy, RuleSet
from sparkrules.index import to_tables
from sparkrules.rules.sources import RuleRow


def test_rules_that_differ_in_constants_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counting(text: str, policy: Policy) -> object:
        parsed.append(text)
        return original(text, policy)

    original = sparkrules.rules.compile.read_spark_sql
    for module in (sparkrules.rules.alike, sparkrules.rules.cut_predicates, sparkrules.rules.compile):
        monkeypatch.setattr(module, "read_spark_sql", counting)
    rules = RuleSet("alerts")
    assert rules.subscribe_all((f"r{n}", f"price < {n} AND name = 'n{n % 7}' OR sold") for n in range(5_000)) == 5_000
    assert len(parsed) == 1, "to be sure of the template"


@pytest.mark.parametrize("many", [1, pytest.param(3_000, marks=pytest.mark.slow)])
def test_all_at_once_is_the_same_as_one_by_one(many: int) -> None:
    rows = [
        RuleRow(f"r{n}", f"price < {n % 50} AND (name = 'x{n}' OR NOT sold)", n % 3, {"owner": f"o{n % 2}"})
        for n in range(many)
    ]
    rows += [RuleRow("odd", "rand() > 0"), RuleRow("r0", "again = 1"), RuleRow("late", "price <"), RuleRow("", "a")]
    rows += [RuleRow("late", "price < 7"), RuleRow("late", "price < 8"), RuleRow("p", "a", "high")]
    together, single = RuleSet("alerts"), RuleSet("alerts")
    assert together.subscribe_all(rows) == many + 1
    for row in rows:
        single.subscribe_all([row])
    assert to_tables(together._segment) == to_tables(single._segment)
    assert together.rejected == single.rejected
    assert [found.id for found in together.rejected] == ["odd", "r0", "late", "", "late", "p"]


def test_taken_ids_are_rejected_in_order() -> None:
    rules = RuleSet("alerts")
    rules.subscribe_all((f"r{n}", f"a = {n}") for n in range(2_000))
    rules.subscribe("one", "b = 1")
    assert rules.subscribe_all([("r5", "c = 1"), ("x", "c ="), ("one", "c = 2"), ("new", "c = 3")]) == 1
    assert [found.id for found in rules.rejected] == ["r5", "x", "one"]
    assert rules.match(pa.table({"a": [5], "b": [1], "c": [1]})).ids.to_pylist() == [["one", "r5"]]


def test_a_source_that_breaks_off_adds_nothing() -> None:
    def source() -> object:
        yield ("a", "x = 1")
        raise OSError("gone")

    rules = RuleSet("alerts")
    with pytest.raises(OSError, match="gone"):
        rules.subscribe_all(source())
    assert len(rules) == 0
    assert rules.rejected == []
