"""The rules of the maintenance benchmark are what they say, though nobody has parsed them."""

from __future__ import annotations

from benchmarks.maintain import synthetic
from sparkrules import RuleSet
from sparkrules.index import from_tables, to_tables


def test_the_synthetic_segment_is_the_one_of_its_texts() -> None:
    made = from_tables(to_tables(synthetic("a", 2_345)))
    rules = RuleSet("same")
    rules.subscribe_all(zip(made.subscription_id.tolist(), made.where.tolist(), strict=True))
    built = rules.segment
    assert set(made.predicates()) == set(built.predicates())
    for row in (0, 1_234, 2_344):
        nodes = (segment.tree(int(segment.subscription_node[row])) for segment in (made, built))
        assert len({frozenset(node.children) for node in nodes}) == 1  # type: ignore[union-attr]
    assert sorted(made.use_count.tolist()) == sorted(built.use_count.tolist())
