"""Reading Sigma: metadata, filters, correlations, keywords, pipelines, and what is rejected while the others go on."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

import sparkrules
from sparkrules import sigma
from tests.sigma_rules.files import rule, subscribed, written

ID = "5c84856b-55a5-45f1-826f-13f37250cf4e"


def correlation(kind: str, **fields: Any) -> dict[str, Any]:
    found = {"type": kind, "rules": ["failed"], "group-by": ["User"], "timespan": "5m", **fields}
    return {"title": kind, "name": kind, "correlation": found}


def test_rules_have_their_id_and_metadata(tmp_path: Path) -> None:
    known = {"level": "high", "status": "test", "author": "somebody", "tags": ["attack.execution", "attack.t1059"]}
    written(tmp_path, rule("a", {"Image": "x"}, id=ID, **known), name="deep.yml")
    (tmp_path / "notes.txt").write_text("no rule")
    rules = subscribed(tmp_path)
    own = rules.subscriptions[ID]
    assert own.where == "lower(Image) = 'x'"
    assert own.metadata == {"title": "a", "logsource": {"category": "test"}, **known}


def test_conditions_of_several_selections_and_texts(tmp_path: Path) -> None:
    detection = {
        "one_a": {"A": ["x", "y"], "B|contains": "z"},
        "one_b": [{"A": "p"}, {"C": 1}],
        "not_this": {"A|endswith": ["q", "r"], "C": None},
    }
    two = {**rule("two", {}), "detection": {**detection, "condition": ["1 of one_* and not not_this", "all of one_*"]}}
    assert subscribed(written(tmp_path, two)).subscriptions["two"].where == (
        "((((lower(A) = 'x' OR lower(A) = 'y') AND contains(lower(B), 'z')) OR lower(A) = 'p' OR C = '1') AND "
        "((A IS NULL OR NOT (endswith(lower(A), 'q') OR endswith(lower(A), 'r'))) OR NOT C IS NULL)) OR "
        "((lower(A) = 'x' OR lower(A) = 'y') AND contains(lower(B), 'z') AND (lower(A) = 'p' OR C = '1'))"
    )


def test_filters_apply_to_the_rules_that_they_name(tmp_path: Path) -> None:
    logsource = {"category": "test"}
    own = {"rules": ["a"], "selection": {"User|startswith": "adm_"}, "condition": "not selection"}
    written(tmp_path, {"title": "admins", "logsource": logsource, "filter": own}, name="filter.yml")
    written(tmp_path, rule("a", {"Image": "x"}), rule("b", {"Image": "x"}))
    rules = subscribed(tmp_path)
    assert (
        rules.subscriptions["a"].where == "lower(Image) = 'x' AND (User IS NULL OR NOT startswith(lower(User), 'adm_'))"
    )
    assert rules.subscriptions["b"].where == "lower(Image) = 'x'"


def test_correlations_are_patterns(tmp_path: Path) -> None:
    both = {"rules": ["failed", "admin"], "generate": True}
    written(
        tmp_path,
        correlation("event_count", condition={"gt": 9}, generate=True),
        correlation("value_count", condition={"gte": 3, "field": "Ip"}, generate=True, timespan="1h"),
        {**correlation("temporal", **both), "level": "high"},
        correlation("temporal_ordered", **both),
        rule("failed", {"EventID": 4625}),
        rule("admin", {"EventID": 4728}),
    )
    rules = subscribed(tmp_path)
    assert rules.rejected == []
    assert {id: str(own) for id, own in rules.patterns.items()} == {
        "event_count": "failed 10 times, by User, within 5 minutes",
        "value_count": "failed with 3 different values of Ip, by User, within 1 hour",
        "temporal": "failed and admin together, by User, within 5 minutes",
        "temporal_ordered": "failed, then admin, by User, within 5 minutes",
    }
    assert rules.patterns["temporal"].metadata == {"title": "temporal", "level": "high"}


def test_a_rule_that_is_only_correlated_does_not_match_by_itself(tmp_path: Path) -> None:
    rules = subscribed(
        written(tmp_path, rule("failed", {"EventID": 1}), correlation("event_count", condition={"gte": 2}))
    )
    assert len(rules) == 0
    assert str(rules.patterns["event_count"]) == "(EventID = '1') 2 times, by User, within 5 minutes"


def test_keywords_are_searched_in_a_column(tmp_path: Path) -> None:
    file = written(tmp_path, rule("a", ["Error", "a*b", 42]))
    assert "keywords='message'" in subscribed(file).rejected[0].reason
    assert subscribed(file, keywords="message").subscriptions["a"].where == (
        "contains(lower(message), 'error') OR lower(message) LIKE '%a%b%' OR contains(lower(message), '42')"
    )


def test_a_pipeline_renames_fields_also_those_of_correlations(tmp_path: Path) -> None:
    pipeline = tmp_path / "ecs.yaml.txt"
    names = "{Image: process.executable, User: user-name}"
    pipeline.write_text(f"transformations: [{{id: names, type: field_name_mapping, mapping: {names}}}]")
    count = correlation("event_count", condition={"gte": 2}, generate=True)
    rules = subscribed(written(tmp_path, rule("failed", {"Image": "x", "User": None}), count), pipeline=pipeline)
    assert rules.subscriptions["failed"].where == "lower(process.executable) = 'x' AND `user-name` IS NULL"
    assert rules.patterns["event_count"].by == ("user-name",)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (rule("a", {"F|expand": "%admins%"}), "has a placeholder. Give a processing pipeline"),
        (rule("a", {"F|re": "(?=a)"}), "Regular expression '(?=a)' is invalid"),
        (rule("a", {"F|re": "[[:alpha:]]"}), "Java has no [:"),
        (rule("a", {"F|re": "("}), "Regular expression '(' is invalid"),
        (rule("a", {"F|gt": 2**53}), "too large to be compared exactly"),
        (rule("a", {"F|hour": 3}), "a part of a time depends on"),
        (rule("a", {"F|nonsense": 3}), "nonsense"),
        (rule("a", {"F|cidr": "10.0.0.1/8"}), "host bits set"),
        (rule("a", {"F": "x"}, "selection and missing"), "missing"),
        ({**rule("a", {}), "detection": None}, "etection"),
        ({"title": "a"}, "log source"),
        (correlation("event_count", condition={"lt": 3}), "a pattern counts at least so many, not lt"),
        (correlation("event_count", condition={"gte": 3}, rules=["nobody"]), "nobody"),
        (correlation("value_avg", condition={"gte": 3, "field": "x"}), "value_avg is no pattern"),
        (correlation("temporal", rules=["good", "failed"], aliases={"u": {"good": "A", "failed": "B"}}), "same name"),
        (correlation("event_count", condition={"gte": 3}, rules=["broken"]), "'broken', which was rejected"),
        (correlation("temporal", condition="good and not failed", rules=None), "is no pattern"),
    ],
)
def test_what_cannot_be_expressed_is_rejected_and_the_others_go_on(
    tmp_path: Path, document: dict[str, Any], reason: str
) -> None:
    written(tmp_path, rule("broken", {"F|hour": 1}), rule("good", {"F": 1}), rule("failed", {"F": 2}), name="a.yml")
    file = written(tmp_path, document, rule("last", {"F": 1}), name="b.yml")
    rules = subscribed(tmp_path)
    assert "last" in rules.subscriptions
    [rejected] = [own for own in rules.rejected if own.id != "broken"]
    assert reason in rejected.reason
    assert rejected.source == f"{file}, rule 1"
    assert rejected.id == document["title"]


@pytest.mark.parametrize(
    "content", [b"a: [", b"- 1\n", b"just text", b"\xff\xfe", b"action: nonsense\n", b"detection: 1\n"]
)
def test_a_file_that_is_no_rule_is_rejected_and_the_others_go_on(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.yml").write_bytes(content)
    written(tmp_path, rule("good", {"F": 1}))
    rules = subscribed(tmp_path)
    assert list(rules.subscriptions) == ["good"]
    [rejected] = rules.rejected
    assert rejected.reason
    assert rejected.source == f"{tmp_path / 'a.yml'}, rule 1"


def test_paths_must_exist() -> None:
    with pytest.raises(sparkrules.RuleSetError, match="at least one"):
        sigma.read()
    with pytest.raises(sparkrules.RuleSetError, match=r"nowhere: there is no such file"):
        list(sigma.read("nowhere"))


def test_without_pysigma_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without_pysigma(name: str, *arguments: Any) -> Any:
        if name.split(".")[0] == "sigma":
            raise ImportError("No module named 'sigma'")
        return imported(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", without_pysigma)
    with pytest.raises(sparkrules.SetupError, match=r'pip install "sparkrules-engine\[sigma\]"'):
        sigma.read("rules")
