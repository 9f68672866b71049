"""Lint finds patterns that never find anything, and names that do not exist; a strict publish refuses them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from sparkrules import RuleSet, StrictPublishError

SCHEMA = pa.schema([("t", pa.int32()), ("user", pa.string()), ("site", pa.struct([("room", pa.string())]))])


@pytest.fixture
def rules() -> RuleSet:
    rules = RuleSet("alerts")
    rules.subscribe_all({"hot": "t > 30", "cold": "t < 0", "never": "t > 5 AND t < 3"})
    return rules


def found(rules: RuleSet, schema: pa.Schema | None = None) -> list[tuple[str, str, str, str]]:
    """What lint says about patterns: not about the rule that is never true."""
    return [(own.severity, own.kind, own.ids[0], own.message) for own in rules.lint(schema) if own.ids[0] not in rules]


def test_good_patterns_have_no_findings(rules: RuleSet) -> None:
    rules.sequence("p", ["hot", "hot", ["cold", {"where": "t = 5"}]], by=["user", "site.room"], within="1 h")
    rules.count("q", "hot", by="USER", within="1 h", at_least=2, distinct="t")
    rules.subscribe("r", "t > 4", on_change=["user"])
    rules.absence("s", after="hot", without="hot", within="1 h")
    assert found(rules, SCHEMA) == []


def test_a_rule_that_does_not_exist(rules: RuleSet) -> None:
    rules.sequence("p", ["hott", ["cold", "warm"]], within="1 h")
    messages = [own for own in found(rules) if own[1] == "unknown rule"]
    assert messages == [
        ("error", "unknown rule", "p", "step 1 names the rule `hott`, which does not exist"),
        ("error", "unknown rule", "p", "step 2 names the rule `warm`, which does not exist"),
    ]
    suggestions = [own.suggestion for own in rules.lint().of("unknown rule")]
    assert suggestions == ["Did you mean `hot`?", "Subscribe the rule, or correct the step."]
    assert [own[3] for own in found(rules) if own[1] == "impossible pattern"] == [
        "no row can fulfil step 1: there is no rule `hott`"
    ]


def test_a_step_that_is_never_fulfilled(rules: RuleSet) -> None:
    rules.sequence("p", ["hot", "never"], within="1 h")
    rules.sequence("q", ["hot", ["never", "cold"]], within="1 h")
    rules.count("r", {"where": "t > 5 AND t < 3"}, within="1 h", at_least=2)
    rules.absence("s", after="never", without="hot", within="1 h")
    rules.absence("t", after="hot", without="never", within="1 h")
    rules.subscribe("u", "t > 5 AND t < 3", suppress="1 h")
    assert [own for own in found(rules) if own[1] != "contradiction"] == [
        ("error", "impossible pattern", "p", "no row can fulfil step 2: `never` is never true"),
        ("error", "impossible pattern", "r", "no row can fulfil step 1: `t > 5 AND t < 3` is never true"),
        ("error", "impossible pattern", "s", "no row can fulfil step 1: `never` is never true"),
        ("warning", "constant pattern", "t", "no row can fulfil step 2, so it is always absent: `never` is never true"),
    ]
    assert [own.ids for own in rules.lint().of("contradiction")] == [("never",), ("r, step 1",), ("u",)]
    assert [own.ids[0] for own in rules.lint().of("impossible pattern")] == ["p", "r", "s", "u"]


def test_values_that_are_the_same_in_all_rows_of_a_key(rules: RuleSet) -> None:
    for number in (1, 2):
        rules.count(f"p{number}", "hot", by=["t", "user"], within="1 h", at_least=number, distinct="User")
    assert found(rules) == [
        ("error", "impossible pattern", "p2", "rows with the same user have one value of User, and 2 are counted")
    ]


def test_the_same_step_twice(rules: RuleSet) -> None:
    rules.together("p", ["hot", "cold", "hot"], within="1 h")
    assert found(rules) == [
        ("warning", "constant pattern", "p", "steps 1 and 3 are the same, and so one row fulfils both")
    ]


def test_columns_that_the_table_lacks(rules: RuleSet) -> None:
    rules.count("p", {"where": "tt > 3"}, by=["users", "site.rom"], within="1 h", at_least=2, distinct="ip")
    rules.subscribe("q", "t > 4", on_change=["usr"])
    own = [finding for finding in rules.lint(SCHEMA) if finding.kind == "unknown column"]
    assert [(finding.ids[0], finding.message) for finding in own] == [
        ("p", "`by` names the column `users`, which does not exist"),
        ("p", "`by` names the column `site.rom`, which does not exist"),
        ("p", "`distinct` names the column `ip`, which does not exist"),
        ("p, step 1", "there is no column `tt`"),
        ("q", "`by` names the column `usr`, which does not exist"),
    ]
    assert own[0].suggestion == "Did you mean `user`?"


def test_a_strict_publish_refuses_them(rules: RuleSet, tmp_path: Path) -> None:
    rules.store = tmp_path
    rules.unsubscribe("never")
    rules.together("same", ["hot", "hot"], within="1 h")
    rules.sequence("p", ["hot", "cold"], by="usr", within="1 h")
    rules.publish(strict=True)
    with pytest.raises(StrictPublishError, match=r"(?s)error unknown column: p.*Did you mean `user`"):
        rules.publish(strict=True, schema=SCHEMA)
    rules.sequence("q", ["hot", "warm"], within="1 h")
    with pytest.raises(StrictPublishError, match=r"(?s)error unknown rule: q"):
        rules.publish(strict=True)
    rules.publish()
