"""Public functions reject any bad argument with a sparkrules error that names it, never with a Python error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sparkrules
from sparkrules import RuleSet, SparkRulesError
from sparkrules.errors import RuleSetError
from sparkrules.rules.arguments import checked

ODD: list[Any] = [
    None,
    5,
    5.5,
    float("nan"),
    True,
    "",
    "x",
    b"x",
    [],
    [1],
    ["a"],
    {},
    {"a": 1},
    object(),
    datetime(2024, 1, 1),  # noqa: DTZ001
    pd.DataFrame({"a": [1]}),
    pl.DataFrame({"a": [1]}),
    pa.table({"a": [1]}),
    pd.Series([1]),
    np.int64(3),
    Path("/nonexistent/x.csv"),
    int,
    len,
    "s3a://bucket/x",
    "/proc/none/x",
    "a\0b",
    "\ud800",
]


def rules() -> RuleSet:
    made = RuleSet("r")
    made.subscribe("a", "x > 1")
    made.advertise("ad", "x > 2")
    return made


ROW = pa.table({"x": [1]})
UNTIL = datetime(2099, 1, 1, tzinfo=timezone.utc)
CALLS: dict[str, Callable[[Any], object]] = {
    "name": RuleSet,
    "dialect": lambda odd: RuleSet("r", odd).subscribe("a", "x > 1"),
    "policy": lambda odd: RuleSet("r", policy=odd).subscribe("a", "x > 1"),
    "default_validity": lambda odd: RuleSet("r", default_validity=odd),
    "subscribe id": lambda odd: rules().subscribe(odd, "x > 1"),
    "subscribe where": lambda odd: rules().subscribe("b", odd),
    "subscribe priority": lambda odd: rules().subscribe("b", "x > 1", odd),
    "subscribe metadata": lambda odd: rules().subscribe("b", "x > 1", 0, odd),
    "subscribe valid_from": lambda odd: rules().subscribe("b", "x > 1", valid_from=odd),
    "subscribe ticket": lambda odd: rules().subscribe("b", "x > 1", ticket=odd),
    "subscribe_all": lambda odd: rules().subscribe_all(odd),
    "subscribe_all of a list": lambda odd: rules().subscribe_all([odd]),
    "subscribe_all of a mapping": lambda odd: rules().subscribe_all({"z": odd}),
    "unsubscribe": lambda odd: rules().unsubscribe(odd),
    "unsubscribe ticket": lambda odd: rules().unsubscribe("a", ticket=odd),
    "unsubscribe_all": lambda odd: rules().unsubscribe_all(odd),
    "renew id": lambda odd: rules().renew(odd, "ticket", UNTIL),
    "renew until": lambda odd: (made := rules()).renew("q", made.subscribe("q", "x > 1", ticket=True), odd),
    "advertise id": lambda odd: rules().advertise(odd, "x > 1"),
    "advertise where": lambda odd: rules().advertise("b", odd),
    "unadvertise": lambda odd: rules().unadvertise(odd),
    "subscribe on_change": lambda odd: rules().subscribe("b", "x > 1", on_change=odd),
    "subscribe suppress": lambda odd: rules().subscribe("b", "x > 1", suppress=odd),
    "subscribe by": lambda odd: rules().subscribe("b", "x > 1", suppress="1 h", by=odd),
    "sequence id": lambda odd: rules().sequence(odd, ["a", "b"], within="1 h"),
    "sequence steps": lambda odd: rules().sequence("p", odd, within="1 h"),
    "sequence step": lambda odd: rules().sequence("p", ["a", odd], within="1 h"),
    "sequence term": lambda odd: rules().sequence("p", ["a", ["b", odd]], within="1 h"),
    "sequence condition": lambda odd: rules().sequence("p", ["a", {"where": odd}], within="1 h"),
    "sequence by": lambda odd: rules().sequence("p", ["a", "b"], within="1 h", by=odd),
    "sequence column": lambda odd: rules().sequence("p", ["a", "b"], within="1 h", by=[odd]),
    "sequence within": lambda odd: rules().sequence("p", ["a", "b"], within=odd),
    "sequence after": lambda odd: rules().sequence("p", ["a", "b"], within="1 h", after=odd),
    "sequence overlapping": lambda odd: rules().sequence("p", ["a", "b"], within="1 h", overlapping=odd),
    "sequence metadata": lambda odd: rules().sequence("p", ["a", "b"], within="1 h", metadata=odd),
    "together steps": lambda odd: rules().together("p", odd, within="1 h"),
    "count step": lambda odd: rules().count("p", odd, within="1 h", at_least=2),
    "count at_least": lambda odd: rules().count("p", "a", within="1 h", at_least=odd),
    "count distinct": lambda odd: rules().count("p", "a", within="1 h", at_least=2, distinct=odd),
    "absence after": lambda odd: rules().absence("p", after=odd, without="a", within="1 h"),
    "remove_pattern": lambda odd: rules().remove_pattern(odd),
    "pattern of a source": lambda odd: rules().subscribe_all([{"id": "p", "sequence": odd, "within": odd, "by": odd}]),
    "detect": lambda odd: rules().detect(odd, time="x"),
    "detect time": lambda odd: rules().detect(ROW, time=odd),
    "detect id": lambda odd: rules().detect(ROW, time="x", id=odd),
    "match": lambda odd: rules().match(odd),
    "match unsupported": lambda odd: rules().match(ROW, unsupported=odd),
    "match at": lambda odd: rules().match(ROW, at=odd),
    "explain row": lambda odd: rules().explain(odd),
    "explain spark": lambda odd: rules().explain({"x": 1}, odd),
    "explain ids": lambda odd: rules().explain({"x": 1}, ids=odd),
    "draw id": lambda odd: rules().draw(odd),
    "draw row": lambda odd: rules().draw("a", odd),
    "analyze": lambda odd: rules().analyze(odd),
    "sharing": lambda odd: rules().sharing(odd),
    "overlapping": lambda odd: rules().advertisements.overlapping(odd),
    "overlapping where": lambda odd: rules().advertisements.overlapping(where=odd),
    "overlapping schema": lambda odd: rules().advertisements.overlapping("ad", schema=odd),
    "sources": lambda odd: rules().advertisements.sources(odd),
    "sources where": lambda odd: rules().advertisements.sources(where=odd),
    "overlaps schema": lambda odd: rules().advertisements.overlaps(schema=odd),
    "overlapping_all": lambda odd: rules().advertisements.overlapping_all(odd, "a"),
    "overlapping_all column": lambda odd: rules().advertisements.overlapping_all(pa.table({"a": ["x > 1"]}), odd),
    "restrict": lambda odd: rules().restrict(odd),
    "restrict name": lambda odd: rules().restrict("ad", name=odd),
    "breaking": lambda odd: rules().advertisements.breaking(odd, "ad"),
    "lint": lambda odd: rules().lint(odd),
    "report path": lambda odd: rules().report(odd, lint=False),
    "report df": lambda odd: rules().report("r.html", odd, lint=False),
    "publish spark": lambda odd: rules().publish(odd),
    "store": lambda odd: RuleSet("r", store=odd),
    "store set": lambda odd: setattr(rules(), "store", odd),
    "publish merge": lambda odd: rules().publish(merge=odd),
    "publish overlaps": lambda odd: rules().publish(overlaps=odd),
    "publish schema": lambda odd: rules().publish(schema=odd),
    "publish strict": lambda odd: rules().publish(strict=odd),
    "rollback": lambda odd: RuleSet("r").rollback(odd),
    "diff before": lambda odd: RuleSet("r").diff(odd),
    "diff after": lambda odd: RuleSet("r").diff(1, odd),
    "collect_garbage keep": lambda odd: RuleSet("r").collect_garbage(odd),
    "collect_garbage older_than": lambda odd: RuleSet("r").collect_garbage(10, odd),
    "load name": RuleSet.load,
    "load store": lambda odd: RuleSet.load("r", odd),
    "load version": lambda odd: RuleSet.load("r", version=odd),
    "sparkrules.match": lambda odd: sparkrules.match(odd, "r"),
    "sparkrules.match exchanged": lambda odd: sparkrules.match(rules(), odd),  # type: ignore[arg-type]
    "sparkrules.matches": lambda odd: sparkrules.matches(odd, "r"),
    "sparkrules.rule_errors": lambda odd: sparkrules.rule_errors(odd, "r"),
    "sparkrules.configure": sparkrules.configure,
    "in": lambda odd: odd in rules(),
    "subscriptions": lambda odd: rules().subscriptions[odd],
}


@pytest.mark.parametrize("call", CALLS)
def test_any_argument_is_taken_or_refused_in_words(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPARKRULES_STORE", str(tmp_path / "store"))
    rules().publish()
    for odd in ODD:
        try:
            CALLS[call](odd)
        except SparkRulesError as error:
            assert len(str(error)) < 2_000  # noqa: PT017 that is the point


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sparkrules.match("t", rules()),  # type: ignore[arg-type]
            r"sparkrules\.match: df must be a DataFrame of Spark, not the string 't': spark\.table\('t'\)",
        ),
        (lambda: sparkrules.match(rules(), "t"), "not a RuleSet: swap the two, the DataFrame comes first"),  # type: ignore[arg-type]
        (
            lambda: sparkrules.matches(pd.DataFrame(), "r"),
            "a DataFrame of pandas: convert it with",
        ),
        (lambda: sparkrules.match(pl.DataFrame(), "r"), "a DataFrame of polars: .* without Spark"),  # type: ignore[arg-type]
        (lambda: sparkrules.match([{"x": 1}], "r"), "not a list: make one with spark.createDataFrame"),  # type: ignore[arg-type]
        (lambda: rules().match([{"x": 1}]), r"not a list: convert .*pyarrow\.Table\.from_pylist"),  # type: ignore[arg-type]
        (lambda: rules().publish("/data/rules"), r"name a store with RuleSet\(name, store="),  # type: ignore[arg-type]
        (lambda: rules().report("none/r.html"), "there is no directory"),
        (lambda: rules().match(pd.DataFrame({"x": [1, "a"]})), "the column 'x' of pandas cannot become"),
    ],
)
def test_what_people_try(call: Callable[[], object], message: str) -> None:
    with pytest.raises(RuleSetError, match=message):
        call()


def test_a_check_of_an_argument_that_there_is_not_is_a_mistake_of_ours() -> None:
    with pytest.raises(AssertionError):
        checked(wrong=lambda value: None)(len)


class TestStrictPublishing:
    def test_findings_that_are_errors_are_refused_with_a_list(self, tmp_path: Path) -> None:
        made = RuleSet("strict")
        made.subscribe_all({"a": "kind = login", "b": "price > 'cheap'", "c": "price > 5", "d": "price >"})
        schema = pa.schema([("kind", pa.string()), ("price", pa.int32())])
        made.store = tmp_path
        with pytest.raises(RuleSetError, match="is not published") as refused:
            made.publish(schema=schema, strict=True)
        for word in ("there is no column `login`", "'cheap' is not a number", "error rejected: d"):
            assert word in str(refused.value)
        assert [found.ids for found in refused.value.report] == [("a",), ("b",)]  # type: ignore[attr-defined]
        assert made.version is None
        for id in "ab":
            made.unsubscribe(id)
        made.rejected = []
        assert made.publish(schema=schema, strict=True) == 1

    def test_without_strict_they_are_logged(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        made = RuleSet("lenient")
        made.subscribe("a", "kind = login")
        made.store = tmp_path
        assert made.publish(schema=pa.schema([("kind", pa.string())])) == 1
        assert "there is no column `login`" in caplog.text
