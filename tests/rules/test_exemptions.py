"""Exemptions without Spark: semantics, the store, sources, explanations."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError, UnknownId, UnknownOrOwned
from sparkrules.sql import RuleError
from sparkrules.sql.exemption import Exemption, exemptions_of

SOON = datetime(2030, 1, 1, tzinfo=timezone.utc)
ROWS = pa.table(
    {"n": [9, 9, 9, 1, None], "host": ["lab-7", "web-1", None, "lab-7", "lab-7"], "ok": [None, True, False, True, True]}
)


@pytest.fixture
def rules(tmp_path: Path) -> RuleSet:
    made = RuleSet("alerts", store=tmp_path)
    made.subscribe_all({"hot": "n > 5", "any": "n IS NOT NULL OR host = 'lab-7'"})
    return made


def matched(rules: RuleSet, id: str, at: datetime | None = None) -> list[bool]:
    return [id in ids for ids in rules.match(ROWS, at=at).ids.to_pylist()]


@pytest.mark.parametrize(
    ("condition", "hot"),
    [
        ("host = 'lab-7'", [False, True, True, False, False]),
        ("host <> 'lab-7'", [True, False, True, False, False]),
        ("host LIKE 'lab%'", [False, True, True, False, False]),
        ("NOT host LIKE 'lab%'", [True, False, True, False, False]),
        ("host IN ('lab-7', NULL)", [False, True, True, False, False]),
        ("host NOT IN ('x', NULL)", [True, True, True, False, False]),
        ("host IS NULL", [True, True, False, False, False]),
        ("ok", [True, False, True, False, False]),
        ("NOT ok", [True, True, False, False, False]),
        ("ok IS NOT TRUE", [False, True, False, False, False]),
        ("host <=> NULL", [True, True, False, False, False]),
        ("host = 'lab-7' AND ok", [True, True, True, False, False]),
        ("host = 'lab-7' OR ok", [False, False, True, False, False]),
        ("cidr_contains('10.0.0.0/8', host)", [True, True, True, False, False]),
        ("NOT cidr_contains('10.0.0.0/8', host)", [False, False, True, False, False]),
        ("n > 100", [True, True, True, False, False]),
        ("TRUE", [False, False, False, False, False]),
        ("FALSE", [True, True, True, False, False]),
    ],
)
def test_an_exemption_applies_where_it_is_true(rules: RuleSet, condition: str, hot: list[bool]) -> None:
    before = matched(rules, "any")
    rules.exempt("hot", condition)
    assert matched(rules, "hot") == hot
    assert matched(rules, "any") == before
    assert rules.subscriptions["hot"].where == "n > 5"
    assert rules.unexempt("hot") == 1
    assert matched(rules, "hot") == [True, True, True, False, False]
    assert rules.subscriptions["hot"].exemptions is rules.subscriptions["hot"].sql is None


def test_an_exemption_ends_by_the_clock(rules: RuleSet) -> None:
    rules.exempt("hot", "host = 'lab-7'", until=SOON, reason="a load test")
    assert matched(rules, "hot", SOON - timedelta(microseconds=1)) == [False, True, True, False, False]
    assert matched(rules, "hot", SOON) == [True, True, True, False, False]
    row = {"n": 9, "host": "lab-7"}
    (explained,) = rules.explain(row, ids=["hot"], at=SOON - timedelta(days=1))
    assert str(explained).splitlines()[:2] == [
        "hot does not match",
        "  exempt where host = 'lab-7' until 2030-01-01T00:00:00+00:00: a load test",
    ]
    (explained,) = rules.explain(row, ids=["hot"], at=SOON)
    assert (explained.matched, explained.exemptions) == (True, ())


def test_several_rules_and_a_tag(rules: RuleSet) -> None:
    rules.exempt(["hot", "any"], "ok")
    rules.exempt("hot", "host = 'x'")
    assert [own.where for own in rules.exemptions("hot")] == ["ok", "host = 'x'"]
    rules.unexempt("hot", "ok")
    assert rules.exemptions("hot") == (Exemption("host = 'x'"),)
    rules.subscribe("tagged", "n > 7", tags=["lab"])
    rules.exempt(tags="lab", where="ok")
    assert matched(rules, "tagged") == [True, False, True, False, False]


def test_what_is_wrong_is_said(rules: RuleSet) -> None:
    with pytest.raises(RuleError, match="exemption: expected a value") as caught:
        rules.exempt("hot", "host = ")
    assert (caught.value.id, caught.value.column) == ("hot", 7)
    with pytest.raises(RuleError, match="not allowed"):
        rules.exempt("hot", "rand() > 0.5")
    with pytest.raises(UnknownId):
        rules.exempt(["hot", "cold"], "ok")
    assert rules.exemptions("hot") == ()
    for arguments in ({"ids": "hot", "tags": "x"}, {}, {"tags": "none"}):
        with pytest.raises(RuleSetError, match=r"by their ids, or by tags|none"):
            rules.exempt(where="ok", **arguments)  # type: ignore[arg-type]
    with pytest.raises(RuleSetError, match="needs a condition"):
        rules.exempt("hot", "  ")
    with pytest.raises(RuleSetError, match="has no time zone"):
        rules.exempt("hot", "ok", until="2030-01-01T00:00:00")
    with pytest.raises(RuleSetError, match="no exemption where ok"):
        rules.unexempt("hot", "ok")
    rules.subscribe("owned", "n > 1", ticket=True)
    with pytest.raises(UnknownOrOwned):
        rules.exempt("owned", "ok")
    rules.exempt("owned", "ok", force=True)


def test_exemptions_are_published_compared_and_loaded(rules: RuleSet) -> None:
    first = rules.publish()
    rules.exempt("hot", "host = 'lab-7'", until=SOON, reason="x")
    second = rules.publish()
    assert [manifest.format for manifest in rules.versions()] == [3, 5]
    assert rules.diff(first, second).changed == ("hot",)
    again = RuleSet.load("alerts", store=rules.store)
    assert again.exemptions("hot") == (Exemption("host = 'lab-7'", SOON, "x"),)
    assert matched(again, "hot", SOON - timedelta(1)) == [False, True, True, False, False]
    again.unexempt("hot")
    again.publish(merge="all")
    assert again.versions()[-1].format == 3
    assert again.diff(first).changed == ()


def test_other_dialects_and_row_functions(tmp_path: Path) -> None:
    rules = RuleSet("alerts", "postgres", store=tmp_path)
    rules.subscribe("hot", "n > 5 AND host != 'x'")
    rules.exempt("hot", "host ~ '^lab' OR host != 'web-1'")
    assert "RLIKE" in str(rules.subscriptions["hot"].sql)
    rules.publish()
    again = RuleSet.load("alerts", store=tmp_path)
    assert again.unexempt("hot") == 1
    assert matched(again, "hot") == [True, True, False, False, False]
    counted = RuleSet("counted", store=tmp_path)
    counted.subscribe("two", "at_least(2, n > 5, host = 'lab-7', ok)")
    counted.exempt("two", "NOT ok")
    assert matched(counted, "two") == [True, True, False, True, True]


def test_files_have_exemptions(tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(
        """
- id: hot
  where: n > 5
  exemptions:
    - where: host = 'lab-7'
      until: 2030-01-01T00:00:00Z
      reason: a load test
    - ok
- id: broken
  where: n > 5
  exemptions: [{where: "host ="}]
- id: odd
  where: n > 5
  exemptions: [{when: "ok"}]
- id: plain
  where: n > 5
"""
    )
    rules = RuleSet("alerts")
    assert rules.subscribe_all(tmp_path / "rules.yaml") == 2
    assert rules.exemptions("hot") == (Exemption("host = 'lab-7'", SOON, "a load test"), Exemption("ok"))
    assert {own.id: own.reason[:26] for own in rules.rejected} == {
        "broken": "exemption: expected a value"[:26],
        "odd": "an exemption has the field",
    }
    assert matched(rules, "hot", SOON - timedelta(1)) == [False, False, True, False, False]
    (tmp_path / "rules.csv").write_text('id,where,exemptions\nhot,n > 5,"[""ok""]"\nplain,n > 5,\n')
    listed = RuleSet("listed")
    assert listed.subscribe_all(tmp_path / "rules.csv") == 2
    assert matched(listed, "hot") == [True, False, True, False, False]


def test_damaged_exemptions_are_errors() -> None:
    for text in ("", "5", "{}", '{"text": 5, "exemptions": []}', '{"text": "a", "exemptions": [{"where": "b"}]}'):
        with pytest.raises(ValueError, match=r"damaged|Expecting"):
            exemptions_of(text)


def test_a_rule_with_an_exemption_is_no_duplicate(rules: RuleSet) -> None:
    rules.subscribe("same", "n > 5")
    assert "duplicate" in str(rules.lint())
    rules.exempt("same", "ok")
    assert "duplicate" not in str(rules.lint())
