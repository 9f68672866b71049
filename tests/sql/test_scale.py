"""Long rules take time in proportion to their length."""

import time

from sparkrules.sql import Junction, Policy, Predicate, parse_rule


def test_fifty_thousand_alternatives() -> None:
    start = time.perf_counter()
    tree = parse_rule(" OR ".join(f"a = {i}" for i in range(50_000)))
    assert time.perf_counter() - start < 10
    assert isinstance(tree, Junction)
    assert len(tree.children) == 50_000


def test_a_hundred_thousand_constants() -> None:
    start = time.perf_counter()
    tree = parse_rule(f"a NOT IN ({', '.join(map(str, range(100_000)))})")
    assert time.perf_counter() - start < 10
    assert isinstance(tree, Predicate)
    assert len(tree.constants) == 100_000


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
