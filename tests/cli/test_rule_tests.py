"""`sparkrules test`: whether a test passes is what Spark's WHERE says of its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparkrules import cli

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RULES = """
- id: hot
  where: temperature > 30 AND NOT indoors
  tests:
    - {row: {temperature: 35, indoors: false}, matches: true}
    - {row: {temperature: 35.5, indoors: true}, matches: false, name: a sauna}
- {id: cold, where: temperature < 0}
"""
PATTERN = """
- {id: failed login, where: "action = 'login' AND NOT ok"}
- {id: new admin, where: "action = 'grant'"}
- id: breach
  sequence: [failed login, new admin]
  by: user
  within: 10 minutes
  tests:
    - rows:
        - {at: "2026-01-31 12:00:00", user: ann, action: login, ok: false}
        - {at: "2026-01-31 12:05:00", user: ann, action: grant}
      time: at
      detections: 1
    - rows:
        - {at: 2026-01-31 12:00:00, user: ann, action: login, ok: false}
        - {at: 2026-01-31 12:10:01, user: ann, action: grant, ok: true}
      time: at
      detections: 0
"""


def said(capsys: pytest.CaptureFixture[str], text: str, *words: str, code: int) -> tuple[str, str]:
    Path("alerts.yaml").write_text(text)
    capsys.readouterr()
    assert cli.main(["test", "alerts.yaml", *words]) == code
    read = capsys.readouterr()
    return read.out, read.err


def statuses(capsys: pytest.CaptureFixture[str], rules: list[dict[str, Any]], *words: str, code: int) -> list[Any]:
    Path("alerts.json").write_text(json.dumps(rules))
    capsys.readouterr()
    assert cli.main(["test", "alerts.json", "--json", *words]) == code
    return [own["status"] for own in json.loads(capsys.readouterr().out)]


def test_tests_that_pass(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, RULES, code=0)
    assert out == "2 tests of 1 rule: 2 passed, 0 failed; 1 rule without tests\n"
    assert err == "sparkrules: testing without Spark\n"


def test_a_failure_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, RULES.replace("AND", "OR"), code=1)
    assert out.splitlines() == [
        "failed: 'hot', test 2 (a sauna), alerts.yaml, rule 1: matches, but should not",
        '    row: {"temperature": 35.5, "indoors": true}',
        "    hot matches",
        "      ✓ or",
        "        ✗ indoors is false",
        "        ✓ temperature > 30",
        "",
        "2 tests of 1 rule: 1 passed, 1 failed; 1 rule without tests",
    ]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{temperature: 35,", "{temprature: 35,", "there is no column `temperature`; the row has: temprature, indoors"),
        ("matches: true", "matches: maybe", "matches is true or false, not 'maybe'"),
        ("{row:", "{rows:", "a test of a pattern has the fields rows, time, detections and perhaps name"),
        ("{temperature: 35,", "{temperature: 99999999999999999999,", "the column `temperature` cannot hold 999"),
        ("where: temperature > 30 AND", "where: temperature > 30 AND AND", "the rule is rejected"),
    ],
)
def test_invalid_tests_fail_with_id_and_place(
    old: str, new: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = said(capsys, RULES.replace(old, new, 1), code=1)
    assert out.startswith(f"invalid: 'hot', test 1, alerts.yaml, rule 1: {reason}")


def test_a_second_rule_with_the_same_id_is_not_tested_as_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    tests = [{"row": {"t": 1}, "matches": True}]
    rules = [{"id": "a", "where": "t > 0", "tests": tests}, {"id": "a", "where": "t > 1", "tests": tests}]
    assert statuses(capsys, rules, code=1) == ["passed", "invalid"]


def test_a_rejected_rule_fails_even_without_tests(capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, f"{RULES}- {{id: odd, where: 't >'}}\n", code=1)
    assert "2 passed, 0 failed" in out
    assert "rejected: 'odd', alerts.yaml, rule 3" in err


def test_what_cannot_run_is_told_from_what_fails(capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "- {id: cold, where: temperature < 0}\n", code=2)
    assert "no rule of alerts.yaml has tests; write them beside it: tests: [{row:" in err
    assert cli.main(["test", "absent.yaml"]) == 2
    assert "there is no such file" in capsys.readouterr().err


def test_an_expired_rule_is_tested_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    tests = [{"row": {"t": 1}, "matches": True}]
    rules = [{"id": "old", "where": "t > 0", "valid_until": "2001-01-01T00:00:00Z", "tests": tests}]
    assert statuses(capsys, rules, code=0) == ["passed"]


def test_with_a_schema_rows_have_the_types_of_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    fields = [("day", pa.date32()), ("price", pa.decimal128(9, 2)), ("at", pa.timestamp("us", "UTC")), ("n", pa.int8())]
    pq.write_table(pa.schema(fields).empty_table(), "table.parquet")
    rows: list[tuple[str, dict[str, Any], bool]] = [
        ("day > DATE '2024-01-01'", {"day": "2024-05-01"}, True),
        ("price = 1.5", {"Price": 1.5}, True),
        ("at < TIMESTAMP '2024-01-01 00:00:00Z'", {"at": "2023-12-31T23:59:59Z"}, True),
        ("n IS NULL AND day IS NOT NULL", {"day": "2024-05-01"}, True),
        ("n IS NULL", {"n": 300}, True),
        ("n IS NULL", {"m": None}, True),
    ]
    rules = [
        {"id": str(number), "where": where, "tests": [{"row": row, "matches": matches}]}
        for number, (where, row, matches) in enumerate(rows)
    ]
    found = statuses(capsys, rules, "--schema", "table.parquet", "--engine", "python", code=1)
    assert found == ["passed"] * 4 + ["invalid"] * 2


def test_patterns(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, PATTERN, code=0)
    assert out == "2 tests of 1 rule: 2 passed, 0 failed; 2 rules without tests\n"
    out, _ = said(capsys, PATTERN.replace("detections: 1", "detections: 3"), code=1)
    assert "failed: 'breach', test 1, alerts.yaml, rule 3: has 1 detection, not 3\n" in out
    assert '{"key": {"user": "ann"}, "start": "2026-01-31T12:00:00", ' in out
    for old, new, reason in (
        ("time: at", "time: when", "there is no column `when`; the rows have: at, user, action, ok"),
        ('"2026-01-31 12:00:00"', "noon", "`at` has no times, such as 2026-01-31 12:00:00, but 'noon'"),
        ("sequence: [failed login, new admin]", "where: user = 'ann'", "the rule is rejected"),
    ):
        out, _ = said(capsys, PATTERN.replace(old, new, 1), code=1)
        assert f"invalid: 'breach', test 1, alerts.yaml, rule 3: {reason}" in out


def test_tests_of_the_wrong_kind(capsys: pytest.CaptureFixture[str]) -> None:
    of_pattern = {"rows": [{"at": "2026-01-31 12:00:00", "a": 1}], "time": "at", "detections": 0}
    of_rule = {"row": {"a": 1}, "matches": True}
    rules: list[dict[str, Any]] = [
        {"id": "rule", "where": "a = 1", "tests": [of_rule, of_pattern]},
        {"id": "pattern", "count": "rule", "within": "1 hour", "at_least": 2, "tests": [of_rule, of_pattern]},
    ]
    assert statuses(capsys, rules, code=1) == ["passed", "invalid", "invalid", "passed"]


def test_junit(capsys: pytest.CaptureFixture[str]) -> None:
    tests = [{"row": {"t": "\x00<&\ud800"}, "matches": matches} for matches in (True, False)]
    Path("odd.json").write_text(json.dumps([{"id": "a\x01", "where": "t IS NOT NULL", "tests": [*tests, 5]}]))
    Path("alerts.yaml").write_text(RULES)
    words = ["test", "alerts.yaml", "odd.json", "--junit", "out.xml"]
    assert cli.main(words) == 1
    suites = ElementTree.parse("out.xml").getroot().findall("testsuite")
    assert [(own.get("name"), own.get("tests"), own.get("failures"), own.get("errors")) for own in suites] == [
        ("alerts.yaml", "2", "0", "0"),
        ("odd.json", "3", "0", "3"),  # no string of Spark has half a surrogate pair
    ]
    assert [case.get("name") for case in suites[0]] == ["test 1", "test 2: a sauna"]
    assert suites[1][0].get("classname") == "odd.a\N{REPLACEMENT CHARACTER}"
    assert "\x01" not in capsys.readouterr().out
    assert cli.main([*words[:1], "alerts.yaml", "--junit", "absent/out.xml"]) == 2


class TestSpark:
    def test_outcomes_are_those_of_where(self, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
        """All pass where Spark's own answer is expected, all fail where the opposite is, with both engines."""
        rows: list[dict[str, Any]] = [
            {"t": 35, "place": "Cellar"},
            {"t": None, "place": "attic"},
            {"t": -1.5, "place": None},
        ]
        simple = ["t > 30", "NOT (t > 30)", "t IS NULL OR t < 0", "place IN ('attic', NULL)", "t <> 35 AND place = 'x'"]
        derived = ["lower(place) = 'cellar'", "t * 2 = 70", "NOT lower(place) = 'cellar'", "length(place) IS NULL"]
        expected: dict[str, list[bool]] = {where: [] for where in simple + derived}
        for row in rows:
            frame = spark.createDataFrame([row], "t double, place string" if row["t"] != 35 else "t long, place string")
            for where, known in expected.items():
                known.append(frame.where(where).count() == 1)
        for wheres, words in ((simple, ["--engine", "python"]), (simple, ["--engine", "spark"]), (derived, [])):
            for turned, status in ((False, "passed"), (True, "failed")):
                rules = [
                    {
                        "id": where,
                        "where": where,
                        "tests": [
                            {"row": row, "matches": own != turned}
                            for row, own in zip(rows, expected[where], strict=True)
                        ],
                    }
                    for where in wheres
                ]
                assert set(statuses(capsys, rules, *words, code=int(turned))) == {status}
        assert any(True in own and False in own for own in expected.values())

    def test_only_what_needs_spark_is_tested_with_it(
        self, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        text = f"""{RULES}
- id: cellar
  where: lower(place) = 'cellar'
  tests:
    - {{row: {{place: Attic}}, matches: true}}
    - {{row: {{plaice: Cellar}}, matches: true}}
"""
        out, err = said(capsys, text, code=1)
        assert err == "sparkrules: testing with Spark: 1 rule needs it: cellar\n"
        assert "failed: 'cellar', test 1, alerts.yaml, rule 3: does not match, but should\n" in out
        assert "      ✗ lower(place) = 'cellar'\n" in out
        assert "invalid: 'cellar', test 2, alerts.yaml, rule 3: there is no column `place`" in out
        assert "4 tests of 2 rules: 2 passed, 1 failed, 1 invalid" in out
        _, err = said(capsys, text, "--engine", "python", code=2)
        assert "some rules need Spark (--engine spark):\n  cellar: " in err

    def test_a_rule_that_spark_rejects_is_an_invalid_test(
        self, spark: SparkSession, capsys: pytest.CaptureFixture[str]
    ) -> None:
        out, _ = said(capsys, RULES.replace("{temperature: 35,", "{temprature: 35,"), "--engine", "spark", code=1)
        assert "invalid: 'hot', test 1, alerts.yaml, rule 1: there is no column" in out
        assert "1 passed, 0 failed, 1 invalid" in out


def test_drafts_are_tested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    for status, passes in (("draft", True), ("shadow", True), ("draft", False)):
        text = RULES.replace("id: hot", f"id: hot\n  status: {status}")
        text = text if passes else text.replace("temperature > 30", "temperature > 40")
        Path("alerts.yaml").write_text(text)
        assert (cli.main(["test", "alerts.yaml"]) == 0) is passes
    capsys.readouterr()
