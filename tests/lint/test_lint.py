from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules import RuleSet
from sparkrules.errors import DuplicateId, RuleSetError
from sparkrules.index.rule import Rule
from sparkrules.lint import Baseline, Finding, Report, lint
from sparkrules.sql import Policy, parse_rule
from sparkrules.sql.tree import Node
from tests.logic import small_worlds as world

SCHEMA = pa.schema([("price", pa.float64()), ("name", pa.string()), ("used", pa.bool_()), ("at", pa.date32())])


def rules(**texts: str) -> list[Rule]:
    return [Rule(id, text, parse_rule(text)) for id, text in texts.items()]


def only(report: Report) -> Finding:
    [finding] = report.findings
    return finding


def said(report: Report) -> list[tuple[str, tuple[str, ...]]]:
    return [(finding.kind, finding.ids) for finding in report]


@pytest.mark.parametrize(
    ("text", "message", "fragments"),
    [
        ("a > 5 AND b = 1 AND a < 3", "never true: `a > 5` and `a < 3` exclude each other", ["a > 5", "a < 3"]),
        ("b = 1 AND a = NULL", "never true: `a = NULL` never is", ["a = NULL"]),
        ("a NOT IN (1, NULL)", "never true: `a not in (1, NULL)` never is", ["a NOT IN (1, NULL)"]),
        ("(a > 5 OR a < 3) AND a = 4", "never true", []),
        ("x LIKE 'ab%' AND x LIKE 'cd%'", "never true: `x like 'ab%'` and `x like 'cd%'` exclude each other", None),
    ],
)
def test_contradictions(text: str, message: str, fragments: list[str] | None) -> None:
    found = only(lint(rules(r=text)))
    assert (found.kind, found.severity, found.message) == ("contradiction", "error", message)
    assert fragments is None or [place.fragment for place in found.places] == fragments


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("event = 30 AND NOT (event = 30 AND name = 'x')", 21),
        ("event = 30 AND ((event <> 30) OR (name = 'x'))", 18),
        ("a > 1 AND NOT (b > 1 AND c > 1 OR b > 1 AND a IS NULL)", 45),
    ],
)
def test_of_tests_that_look_alike_the_place_is_that_of_the_one_that_can_go(text: str, column: int) -> None:
    found = only(lint([Rule("r", text, parse_rule(text))]))
    assert (found.kind, [place.column for place in found.places]) == ("redundant", [column])


def test_a_place_has_line_and_column_of_the_text_as_written() -> None:
    found = only(lint(rules(r="price > 5\n  AND NOT (price <= 3 OR used)")))
    assert [(place.line, place.column, place.fragment) for place in found.places] == [(2, 12, "price <= 3")]
    assert found.message == "`price > 3` follows from the rest of its AND"


def test_tautologies_are_those_for_null_as_well() -> None:
    assert only(lint(rules(r="a > 5 OR a <= 5 OR a IS NULL"))).kind == "tautology"
    assert only(lint(rules(r="TRUE"))).kind == "tautology"
    assert said(lint(rules(r="a > 5 OR a <= 5"))) == []


def test_a_schema_makes_more_tautologies_and_contradictions() -> None:
    never_null = pa.schema([pa.field("a", pa.int32(), nullable=False)])
    assert only(lint(rules(r="a > 5 OR a <= 5"), never_null)).kind == "tautology"
    assert only(lint(rules(r="a > 5 AND a < 6"), never_null)).kind == "contradiction"


def test_twins() -> None:
    report = lint(rules(a="x = 1 AND y > 2", b="y > 2 AND x = 1", c="NOT (x <> 1 OR y <= 2)", d="x IN (1) AND y > 2"))
    assert said(report) == [("duplicate", ("a", "b", "c")), ("equivalent", ("d", "a"))]


def test_equivalence_beyond_the_canonical_form() -> None:
    report = lint(rules(a="(x = 1 OR y = 1) AND (x = 1 OR z = 1)", b="x = 1 OR y = 1 AND z = 1"))
    assert said(report) == [("equivalent", ("b", "a"))]


def test_covered_rules() -> None:
    report = lint(
        rules(all="x > 1", some="x > 5 AND y = 2", other="z = 1", text="contains(n, 'b')", longer="n LIKE 'abc%'")
    )
    assert said(report) == [("covered", ("longer", "text")), ("covered", ("some", "all"))]


@settings(max_examples=60, deadline=None)
@given(st.lists(world.trees(world.decided), min_size=1, max_size=6))
def test_what_it_claims_is_so_in_a_finite_world(trees: list[Node]) -> None:
    rows = {str(number): world.true_rows(tree) for number, tree in enumerate(trees)}
    schema = pa.schema([("i", pa.int8()), ("e", pa.string()), ("b", pa.bool_())])
    report = lint([Rule(str(number), "", tree) for number, tree in enumerate(trees)], schema)
    for finding in report:
        own = rows[finding.ids[0]]
        if finding.kind == "contradiction":
            assert not own
        elif finding.kind == "tautology":
            assert len(own) == len(world.ROWS)
        elif finding.kind in ("duplicate", "equivalent"):
            assert all(rows[id] == own for id in finding.ids)
        elif finding.kind == "covered":
            assert own <= rows[finding.ids[1]]
    without_rows = {finding.ids[0] for finding in report.of("contradiction")}
    # The world has three values for e and a text has more, so brute force may find more contradictions.
    assert without_rows <= {id for id, own in rows.items() if not own}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("price > '10'", "`price > '10'` compares with a string, but the column is double"),
        ("name = 5", "`name = 5` compares with a number, but the column is string"),
        ("used = 'true'", "`used = 'true'` compares with a string, but the column is bool"),
        ("price LIKE '1%'", "`price like '1%'` compares with a string, but the column is double"),
    ],
)
def test_type_surprises_with_a_schema(text: str, message: str) -> None:
    found = lint(rules(r=text), SCHEMA).of("type surprise")
    assert [finding.message for finding in found] == [message]
    assert found[0].places[0].fragment == text


@pytest.mark.parametrize("text", ["price > 10", "name = '5'", "at > '2024-01-01'", "used = true", "price IS NULL"])
def test_no_surprise(text: str) -> None:
    assert said(lint(rules(r=text), SCHEMA)) == []


def test_type_surprises_by_majority() -> None:
    report = lint(rules(a="q > 10", b="q > 20", c="q > '30'", d="p = 1", e="p = '1'"))
    assert [finding.ids for finding in report.of("type surprise")] == [("c",)]


def test_unknown_columns_with_the_name_that_is_near() -> None:
    found = lint(rules(a="prise > 3", b="prise > 5 AND name = 'x'", c="city = 'Rome'", d="lower(name) = 'x'"), SCHEMA)
    unknown = found.of("unknown column")
    assert [(finding.ids, finding.suggestion) for finding in unknown] == [
        (("a", "b"), "Did you mean `price`?"),
        (("c",), "Add the column to the table, or correct the name."),
    ]
    assert found.worst == "error"


def test_slow_tests() -> None:
    report = lint(rules(r="a RLIKE 'x' AND b LIKE '%y' AND c + d > e AND f LIKE 'z%' AND NOT g RLIKE 'w'"))
    assert [finding.message for finding in report] == [
        "1 opaque condition, which Spark computes for every row",
        "2 regular expressions",
        "1 pattern with a wildcard in front",
    ]
    assert only(lint(rules(r="b LIKE '%y' OR lower(c) LIKE '%z'"))).message == "2 patterns with a wildcard in front"


@pytest.mark.parametrize("text", ["score(img) > 5 OR lower(s) = 'a'", "upper(score(img)) LIKE 'x%'", "NOT score(img)"])
def test_functions_that_are_not_of_spark(text: str) -> None:
    tree = parse_rule(text, policy=Policy(extra_functions={"score"}))
    found = only(lint([Rule("r", text, tree)]))
    assert (found.kind, found.severity) == ("costly", "info")
    assert found.message.startswith("1 test of a function that is not Spark's")
    assert "score(img)" in found.places[0].fragment


def test_a_number_far_from_those_of_rules_of_the_same_form() -> None:
    texts = {f"r{i}": f"title = 'T{i}' AND price < {10 + i % 7}" for i in range(20)}
    assert said(lint(rules(**texts))) == []
    found = lint(rules(**texts, odd="title = 'T' AND price < 1500"))
    assert said(found) == [("near duplicate", ("odd",))]
    assert found.findings[0].places[0].fragment == "price < 1500"
    # Two of them are a group of their own.
    assert said(lint(rules(**texts, odd="title = 'T' AND price < 1500", b="title = 'U' AND price < 1400"))) == []


def test_a_baseline_accepts_what_is_known_until_the_rule_changes(tmp_path: Path) -> None:
    before = lint(rules(a="x > 5 AND x < 3", b="y RLIKE 'z'"))
    Baseline.of(before).write(tmp_path / "baseline.json")
    baseline = Baseline.read(tmp_path / "baseline.json")
    assert len(before.without(baseline)) == 0
    after = lint(rules(a="x > 6 AND x < 3", b="y RLIKE 'z'")).without(baseline)
    assert said(after) == [("contradiction", ("a",))]


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"accepted": 3, "format": 1}', '{"accepted": [], "format": 2}'])
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "baseline.json").write_text(content, encoding="utf-8")
    with pytest.raises(RuleSetError, match=r"baseline\.json"):
        Baseline.read(tmp_path / "baseline.json")


def test_json_has_everything() -> None:
    report = lint(rules(a="x > 5 AND x < 3"))
    content = json.loads(report.to_json())
    assert content["rules"] == 1
    assert content["counts"] == {"contradiction": 1}
    [found] = content["findings"]
    assert found["places"][1] == {"id": "a", "line": 1, "column": 11, "fragment": "x < 3"}
    assert found["severity"] == "error"


def test_a_translated_rule_has_no_places() -> None:
    tree = parse_rule("a > 5 AND a < 3")
    assert only(lint([Rule("r", "a > 5 and a < 3", tree, sql="a > 5 AND a < 3")])).places == ()


def test_rules_with_functions_of_a_deployment_are_located() -> None:
    text = "my_udf(x) > 5 AND my_udf(x) > 3"
    tree = parse_rule(text, policy=Policy(extra_functions={"my_udf"}))
    found = {finding.kind: finding for finding in lint([Rule("r", text, tree)])}
    assert found.keys() == {"redundant", "costly"}
    assert found["redundant"].places[0].column == 19


def test_nothing_and_nothing_wrong() -> None:
    assert str(lint([])) == "no findings in 0 rules"
    assert str(lint(rules(a="x = 1", b="y = 2"))) == "no findings in 2 rules"


def test_ids_are_unique() -> None:
    with pytest.raises(DuplicateId):
        lint([*rules(a="x = 1"), *rules(a="x = 2")])


class TestOfARuleSet:
    def test_what_is_said_does_not_depend_on_the_other_rules(self) -> None:
        texts = {"never": "t > 30 AND u = 1 AND t < 10", "twice": "a IN (1, 2) AND (a = 1 OR a = 2) AND b = 1"}
        said = []
        for others in ({}, {"a": "t < 10 AND b = 1", "b": "(a = 1 OR a = 2) AND u = 1"}, {"z": "b = 1 OR t < 10"}):
            rules = RuleSet("alerts")
            rules.subscribe_all({**others, **texts})
            report = rules.lint()
            found = [*report.of("contradiction"), *report.of("redundant")]
            said.append([finding.fingerprint(report.texts) for finding in found if finding.ids[0] in texts])
        assert len(said[0]) == 2
        assert said[0] == said[1] == said[2]

    def test_a_constant_that_is_far_away_is_found_whatever_the_order_in_the_index(self) -> None:
        rules = RuleSet("alerts")
        rules.subscribe_all({"first": "price < 11 AND title = 't9'"})
        rules.subscribe_all({f"r{n}": f"title = 't{n}' AND price < {10 + n}" for n in range(20)})
        rules.subscribe("typo", "title = 't3' AND price < 15000")
        assert [finding.ids for finding in rules.lint().of("near duplicate")] == [("typo",)]

    def test_a_translated_rule(self) -> None:
        rules = RuleSet("alerts", dialect="postgres")
        rules.subscribe("never", "name ~ 'x' AND t > 5 AND t < 3")
        (finding,) = rules.lint().of("contradiction")
        assert finding.message == "never true: `t > 5` and `t < 3` exclude each other"
