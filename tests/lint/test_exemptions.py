"""Lint and exemptions: those that make no difference, those that leave nothing of a rule, those that are over."""

from __future__ import annotations

from datetime import datetime, timezone

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules import RuleSet, StrictPublishError
from sparkrules.index.rule import Rule
from sparkrules.lint import Report, lint, lint_errors
from sparkrules.sql import parse_rule
from sparkrules.sql.exemption import Exemption, exempted_text, exemptions_json
from sparkrules.sql.tree import Node
from sparkrules.sql.tree_sql import tree_sql
from tests.logic import small_worlds as world

PAST, FUTURE = datetime(2020, 1, 1, tzinfo=timezone.utc), datetime(2099, 1, 1, tzinfo=timezone.utc)
SCHEMA = pa.schema([("t", pa.int32()), ("host", pa.string()), ("ok", pa.bool_())])


def rules(where: str, *exemptions: str, until: datetime | None = None, dialect: str = "spark") -> RuleSet:
    made = RuleSet("alerts", dialect)
    made.subscribe("hot", where)
    for own in exemptions:
        made.exempt("hot", own, until=until)
    return made


def said(report: Report) -> list[tuple[str, str]]:
    return [(finding.kind, finding.message) for finding in report]


@pytest.mark.parametrize(
    ("where", "exemption"),
    [
        ("t > 30", "t < 10"),
        ("t > 30", "t IS NULL"),
        ("t > 30", "host = 'a' AND host = 'b'"),
        ("t > 30 AND host = 'a'", "host IN ('b', 'c') AND ok"),
        ("t > 30", "FALSE"),
        ("host LIKE 'ab%'", "host LIKE 'cd%'"),
        ("at_least(2, t > 30, t > 40, ok)", "t <= 30 AND NOT ok"),
    ],
)
def test_one_that_never_applies(where: str, exemption: str) -> None:
    never = f"the exemption where `{exemption}` never applies: the rule is not true there"
    for until in (None, FUTURE):
        report = rules(where, exemption, until=until).lint(SCHEMA)
        assert said(report) == [("constant exemption", never)]
        assert report.worst == "warning"


@pytest.mark.parametrize(
    ("where", "exemptions"),
    [
        ("t > 30", ["t > 20"]),
        ("t > 30", ["t IS NOT NULL"]),
        ("t > 30", ["TRUE"]),
        ("t > 30 AND host = 'a'", ["ok", "host = 'a' OR ok"]),
        ("t > 30", ["t < 50", "t >= 50"]),
        ("t > 30", ["ok", "NOT ok", "ok IS NULL"]),
    ],
)
def test_those_that_leave_nothing(where: str, exemptions: list[str]) -> None:
    made = rules(where, *exemptions)
    report = made.lint(SCHEMA)
    assert [own.kind for own in report] == ["contradiction"]
    assert "nothing of the rule" in report.findings[0].message
    with pytest.raises(StrictPublishError, match="nothing of the rule"):
        made.publish(strict=True, schema=SCHEMA)
    ending = rules(where, *exemptions, until=FUTURE)
    assert {own.severity for own in ending.lint(SCHEMA)} <= {"warning"}
    assert len(ending.lint(SCHEMA)) == (0 if len(exemptions) > 2 or "50" in exemptions[0] else 1)


@pytest.mark.parametrize(
    ("where", "exemption"),
    [
        ("t > 30", "host = 'lab-7'"),
        ("t > 30", "t > 40"),
        ("t > 30", "t NOT IN (1, 40)"),
        ("t > 30", "ok"),
        ("t > 30", "ok OR NOT ok"),  # unknown is not exempt
        ("host IS NULL OR t > 3", "t <= 3 OR t > 3"),
        ("t > 30 AND lower(host) = 'a'", "host = 'b'"),  # undecided
        ("host = 'a' OR ok", "host = 'a'"),
        ("TRUE", "host = 'a'"),
        ("host = 'a'", "host IS NULL OR host = 'a' AND ok"),
    ],
)
def test_others_are_no_finding(where: str, exemption: str) -> None:
    for until in (None, FUTURE):
        assert said(rules(where, exemption, until=until).lint(SCHEMA)) == []


def test_one_that_has_ended() -> None:
    made = rules("t > 30", "host = 'lab-7'", "t > 0", until=PAST)
    report = made.lint(SCHEMA)
    assert [(own.kind, own.severity, own.ids) for own in report] == [("expired exemption", "info", ("hot",))] * 2
    assert report.findings[0].message == "the exemption where `host = 'lab-7'` ended at 2020-01-01T00:00:00+00:00"


def test_a_rule_that_is_never_true_says_so_once() -> None:
    assert [own.kind for own in rules("t > 30 AND t < 10", "host = 'a'", "ok").lint(SCHEMA)] == ["contradiction"]


def test_conditions_are_looked_at_as_rules_are() -> None:
    found = [
        (own.kind, own.ids, own.places[0].fragment) for own in rules("t > 30", "hots = 'a' OR t = 'x'").lint(SCHEMA)
    ]
    assert found == [
        ("unknown column", ("hot",), "hots = 'a'"),
        ("impossible predicate", ("hot",), "t = 'x'"),
    ]
    assert len(lint_errors(rules("t > 30", "hots = 'a' OR t = 'x'"), SCHEMA)) == 2


def test_other_dialects_and_types_that_only_others_show() -> None:
    assert [own.kind for own in rules("t != 3", "t = 3", dialect="postgres").lint()] == ["constant exemption"]
    made = rules("t > 30", "t < 10")
    made.subscribe("text", "t = 'x'")  # so nobody knows what `t` is
    assert "constant exemption" not in str(made.lint())


def test_a_rule_with_damaged_exemptions_is_looked_at_as_a_whole() -> None:
    tree = parse_rule("t > 30 AND t < 10")
    for stored in ("{}", "no JSON", '{"text": "t >", "exemptions": []}'):
        assert [own.kind for own in lint([Rule("r", "t > 30", tree, exemptions=stored)])] == ["contradiction"]


@settings(max_examples=150, deadline=None)
@given(world.trees(world.decided), st.lists(world.trees(world.decided), min_size=1, max_size=2))
def test_what_it_claims_is_so_in_a_finite_world(tree: Node, conditions: list[Node]) -> None:
    text, own = tree_sql(tree), [Exemption(tree_sql(condition)) for condition in conditions]
    whole = parse_rule(exempted_text(text, own))
    schema = pa.schema([("i", pa.int8()), ("e", pa.string()), ("b", pa.bool_())])
    report = lint([Rule("r", text, whole, exemptions=exemptions_json(text, own))], schema)
    rows = world.true_rows(tree)
    exempt = [world.true_rows(condition) for condition in conditions]
    if report.of("contradiction"):
        assert rows <= exempt[0] | exempt[-1]
    never = [finding for finding in report.of("constant exemption") if "never applies" in finding.message]
    assert len(never) <= sum(rows.isdisjoint(others) for others in exempt)
