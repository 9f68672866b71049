"""Rules with their trees in the order of their texts.

In the index, rules share equal parts, so the order inside an AND or OR depends on the other rules. The findings about a
rule must not: lint compares rules of the same form, and a baseline keeps its findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sparkrules.index import Rule
from sparkrules.sql import Node, Policy, RuleError, parse_rule
from sparkrules.sql.policy import AnyFunction
from sparkrules.sql.written import text_in_spark_dialect


def as_written(rules: Iterable[Rule], policy: Policy) -> Iterator[Rule]:
    """The rules, each with the tree of its text. A rule that exceeds the limits of the policy keeps its tree.

    >>> from sparkrules.sql import DEFAULT_POLICY
    >>> rule = Rule("r", "b > 1 AND a > 1", parse_rule("a > 1 AND b > 1"))
    >>> print(*(rule.tree for rule in as_written([rule], DEFAULT_POLICY)))
    b > 1 and a > 1
    """
    accepted = AnyFunction.within(policy)
    trees: dict[str, Node] = {}
    for rule in rules:
        if rule.where not in trees:
            text = text_in_spark_dialect(rule.where, rule.sql, accepted)
            try:
                trees[rule.where] = rule.tree if text is None else parse_rule(text, policy=accepted)
            except RuleError:
                trees[rule.where] = rule.tree
        yield replace(rule, tree=trees[rule.where])
