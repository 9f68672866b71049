"""Rules with their trees in the order of their texts.

In the index equal parts of all rules are one, so that the order of what stands in an AND or OR there depends on the
other rules. What is said about a rule should not: lint compares rules of the same form, and what it says is kept in a
baseline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sparkrules.index import Rule
from sparkrules.sql import Node, Policy, RuleError, parse_rule
from sparkrules.sql.policy import AnyFunction


def as_written(rules: Iterable[Rule], policy: Policy) -> Iterator[Rule]:
    """The rules, each with the tree of its text. One that is beyond the bounds of the policy keeps what it has.

    >>> from sparkrules.sql import DEFAULT_POLICY
    >>> rule = Rule("r", "b > 1 AND a > 1", parse_rule("a > 1 AND b > 1"))
    >>> print(*(rule.tree for rule in as_written([rule], DEFAULT_POLICY)))
    b > 1 and a > 1
    """
    accepted = AnyFunction.within(policy)
    trees: dict[str, Node] = {}
    for rule in rules:
        text = rule.where if rule.sql is None else rule.sql
        if text not in trees:
            try:
                trees[text] = parse_rule(text, policy=accepted)
            except RuleError:
                trees[text] = rule.tree
        yield replace(rule, tree=trees[text])
