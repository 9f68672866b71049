"""Lint and the status of rules: all are looked at, and a pattern that waits for one that is not live is reported."""

from __future__ import annotations

from sparkrules import RuleSet


def test_a_step_that_names_a_rule_that_is_not_live() -> None:
    rules = RuleSet("alerts")
    rules.subscribe("hot", "t > 30", status="shadow", suppress="1 hour")
    rules.subscribe("cold", "t < 0 AND t > 5", status="draft")
    rules.subscribe("mild", "t = 20")
    rules.sequence("breach", ["hot", ["cold", "mild"]], within="1 hour")
    found = [(own.kind, own.severity, own.ids) for own in rules.lint()]
    assert ("inactive rule", "warning", ("breach", "hot")) in found
    assert ("inactive rule", "warning", ("breach", "cold")) in found
    assert ("contradiction", "error", ("cold",)) in found
    assert sum(kind == "inactive rule" for kind, _, _ in found) == 2
    rules.set_status("live", ["hot", "cold"])
    assert not [own for own in rules.lint() if own.kind == "inactive rule"]
