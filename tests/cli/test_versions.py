"""`sparkrules versions`, `diff` and `rollback`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkrules import RuleSet, cli
from tests.store.resealed import unverified


@pytest.fixture
def store(tmp_path: Path) -> list[str]:
    rules = RuleSet("alerts")
    rules.subscribe_all({"hot": "t > 30", "same": "t = 1", "text": "t > 5", "rank": "t > 6"})
    rules.store = tmp_path / "own"
    rules.publish()
    rules.unsubscribe_all(["hot", "text", "rank"])
    rules.subscribe_all({"cold": "t < 0", "mild": "t = 20", "text": "t > 7"})
    rules.subscribe("rank", "t > 6", priority=2)
    rules.publish()
    return ["--store", str(tmp_path / "own")]


def test_versions_are_listed(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["versions", "--ruleset", "alerts", *store]) == 0
    headings, first, second = (line.split() for line in capsys.readouterr().out.splitlines())
    assert headings == ["version", "created", "subscriptions", "action", "publisher"]
    assert (first[0], first[2], first[3]) == ("1", "4", "publish")
    assert (second[0], second[2], second[3]) == ("2", "5", "publish")
    assert cli.main(["versions", "--ruleset", "alerts", "--json", *store]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [(own["version"], own["subscriptions"]) for own in listed] == [(1, 4), (2, 5)]


def test_without_a_name_rule_sets_are_listed(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["versions", *store]) == 0
    assert [line.split()[:2] for line in capsys.readouterr().out.splitlines()] == [["rule", "set"], ["alerts", "2"]]
    assert cli.main(["versions", "--json", *store]) == 0
    assert [own["rule_set"] for own in json.loads(capsys.readouterr().out)] == ["alerts"]
    assert cli.main(["versions"]) == 0
    assert "sparkrules publish --rules FILE makes one" in capsys.readouterr().out


def test_two_versions_are_compared(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", "--ruleset", "alerts", "1", *store]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "change   id    where",
        "added    cold  t < 0",
        "added    mild  t = 20",
        "removed  hot   t > 30",
        "changed  rank  priority 0 → 2",
        "changed  text  t > 5 → t > 7",
        "",
        "2 added, 1 removed, 2 changed",
    ]
    assert cli.main(["diff", "--ruleset", "alerts", "2", "1", "--json", *store]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert changes == {"added": ["hot"], "removed": ["cold", "mild"], "changed": ["rank", "text"]}


def test_a_long_difference_is_cut_and_says_so(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", "--ruleset", "alerts", "1", "--limit", "2", *store]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[-1] == "2 added, 1 removed, 2 changed; the first 2 are shown, --limit 0 shows all"


def test_no_difference(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["diff", "--ruleset", "alerts", "2", *store]) == 0
    assert capsys.readouterr().out == "0 added, 0 removed, 0 changed\n"


def test_an_old_version_is_published_again(store: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["rollback", "--ruleset", "alerts", "1", *store]) == 0
    assert capsys.readouterr().out == "published alerts version 3: the content of version 1\n"
    assert sorted(RuleSet.load("alerts", store[1]).subscriptions) == ["hot", "rank", "same", "text"]
    assert cli.main(["rollback", "--ruleset", "alerts", "2", "--json", *store]) == 0
    assert json.loads(capsys.readouterr().out) == {"rule_set": "alerts", "version": 4, "content_of": 2}


@pytest.mark.parametrize(
    ("command", "known"),
    [
        (["versions", "--ruleset", "none"], "there are: alerts"),
        (["diff", "--ruleset", "none", "1"], "there are: alerts"),
        (["rollback", "--ruleset", "alerts", "9"], "there are: 1, 2"),
        (["diff", "--ruleset", "alerts", "1", "9"], "there are: 1, 2"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(
    command: list[str], known: str, store: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*command, *store]) == 1
    said = capsys.readouterr().err
    assert said.startswith("sparkrules: there is no ")
    assert known in said


def test_versions_without_checksums_are_marked(
    store: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unverified(tmp_path / "own" / "alerts")
    assert cli.main(["rollback", "--ruleset", "alerts", "1", *store]) == 0
    capsys.readouterr()
    assert cli.main(["versions", "--ruleset", "alerts", *store]) == 0
    headings, *versions = (line.split() for line in capsys.readouterr().out.splitlines())
    assert headings[-1] == "verified"
    assert [own[-1] for own in versions] == ["no", "no", "yes"]
    assert cli.main(["versions", "--ruleset", "alerts", "--json", *store]) == 0
    assert [own["verified"] for own in json.loads(capsys.readouterr().out)] == [False, False, True]


def test_a_rollback_and_tickets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = ["--store", str(tmp_path)]
    rules = RuleSet("alerts")
    rules.subscribe("free", "t > 1")
    rules.store = tmp_path
    rules.publish()
    ticket = rules.subscribe("mine", "t > 2", ticket=True)
    rules.publish()
    for wrong in ([], ["--ticket", "guessed"]):
        assert cli.main(["rollback", "--ruleset", "alerts", "1", *wrong, *store]) == 1
        assert "give all their tickets" in capsys.readouterr().err
    assert cli.main(["rollback", "--ruleset", "alerts", "1", "--ticket", ticket, *store]) == 0
    assert cli.main(["rollback", "--ruleset", "alerts", "2", *store]) == 1
    assert cli.main(["rollback", "--ruleset", "alerts", "2", "--force", *store]) == 0
    file = tmp_path / "alerts.csv"
    file.write_text("id,where\nfree,t > 1\n")
    assert cli.main(["publish", "--rules", str(file), *store]) == 1
    assert "rules with a ticket would be lost" in capsys.readouterr().err
    assert cli.main(["publish", "--rules", str(file), "--force", *store]) == 0
