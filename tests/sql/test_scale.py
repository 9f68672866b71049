"""The work for a long rule is proportional to its length."""

from __future__ import annotations

from sparkrules.sql import Junction, Node, Policy, Predicate, parse_rule
from tests.counted import growth


def alternatives(count: int) -> Node:
    return parse_rule(" OR ".join(f"a = {i}" for i in range(count)))


def constants(count: int) -> Node:
    return parse_rule(f"a NOT IN ({', '.join(map(str, range(count)))})")


def test_fifty_thousand_alternatives() -> None:
    tree = alternatives(50_000)
    assert isinstance(tree, Junction)
    assert len(tree.children) == 50_000


def test_a_hundred_thousand_constants() -> None:
    tree = constants(100_000)
    assert isinstance(tree, Predicate)
    assert len(tree.constants) == 100_000


def test_twice_the_length_is_twice_the_work() -> None:
    assert growth(alternatives, 1_000) < 2.1
    assert growth(constants, 1_000) < 2.1


def test_a_chain_of_xors_is_a_small_graph() -> None:
    tree = parse_rule(" XOR ".join(f"c{i}" for i in range(60)), policy=Policy(max_xors=100))
    seen: set[int] = set()
    stack = [tree]
    while stack:
        node = stack.pop()
        if id(node) not in seen:
            seen.add(id(node))
            stack.extend(node.children if isinstance(node, Junction) else ())
    assert len(seen) < 60 * 8


def test_comparisons_of_conditions_beyond_the_limit_are_opaque() -> None:
    tree = parse_rule("(a > 1) = (b > 1) AND (c > 1) = (d > 1)", policy=Policy(max_xors=1))
    assert str(tree) == "((a > 1 and b > 1) or (a <= 1 and b <= 1)) and (c > 1) = (d > 1) is true"
