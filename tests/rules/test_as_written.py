"""Trees in the order of their texts equal those of the parser, though most texts are not parsed."""

from __future__ import annotations

import random
import sys

import pytest

from sparkrules.index import Rule
from sparkrules.rules.as_written import as_written
from sparkrules.sql import DEFAULT_POLICY, RuleError, parse_rule
from sparkrules.sql.tree import Junction, Node
from tests.rules.test_compile_texts import SHAPES, filled


def parts(tree: Node) -> list[Node]:
    """The objects of a tree, children first, each once."""
    found: dict[int, Node] = {}

    def visit(node: Node) -> None:
        if id(node) not in found:
            for child in node.children if isinstance(node, Junction) else ():
                visit(child)
            found[id(node)] = node

    visit(tree)
    return list(found.values())


@pytest.mark.parametrize("shape", [*SHAPES, "(a = {} AND b = {}) OR (a = {} AND b = {}) OR c = {}"])
def test_every_shape_with_every_literal(shape: str) -> None:
    pick = random.Random(shape)
    expected: dict[str, Node] = {}
    rules = []
    for number in range(300):
        text = filled(shape, pick)
        try:
            expected[str(number)] = parse_rule(text)
        except RuleError:
            continue
        rules.append(Rule(str(number), text, Junction("or", ())))
    for rule in as_written(rules, DEFAULT_POLICY):
        assert rule.tree == expected[rule.id], rule.where
        assert parts(rule.tree) == parts(expected[rule.id]), "as many objects, so equal parts are one"


def test_most_texts_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed: list[str] = []

    def counting(text: str, **options: object) -> Node:
        parsed.append(text)
        return parse_rule(text)

    monkeypatch.setattr(sys.modules[as_written.__module__], "parse_rule", counting)
    texts = [f"(a = {n % 5} AND b < {n}) OR (a = {n % 3} AND b > {n})" for n in range(1_000)]
    list(as_written([Rule(str(n), text, Junction("or", ())) for n, text in enumerate(texts)], DEFAULT_POLICY))
    assert len(parsed) < 30
