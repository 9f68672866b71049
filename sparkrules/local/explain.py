"""Explain why a rule matched a row or not: its tree, with the truth of every part.

Contract: given the truth of each predicate of the segment for the row, every node has the same truth as in the matcher.
The explanation of a rule is its tree in the segment. Children are in the segment's order; sharing loses the order in
which they were written. A rule with `at_least` and the like is explained as it is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from sparkrules.errors import UnknownId
from sparkrules.index.forest import AND, NODE_OPERATORS, PREDICATE
from sparkrules.index.segment import Segment
from sparkrules.local.drawing import Drawing
from sparkrules.sql.exemption import Exemption, applying
from sparkrules.sql.tree import Predicate
from sparkrules.sql.written import Threshold, Written, written_tree

_MOST_DRAWN = 20


@dataclass(frozen=True, eq=False)
class ExplainedNode:
    """A predicate, or AND / OR over `children`, and whether it is true."""

    text: str
    truth: bool
    children: tuple[ExplainedNode, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    """One rule and one row. `str()` prints the tree, a notebook draws it. A rule that is not `valid` does not match."""

    id: str
    matched: bool
    root: ExplainedNode
    valid: bool = True
    exemptions: tuple[Exemption, ...] = ()
    """Those that apply to the row."""

    @property
    def verdict(self) -> str:
        """Whether it matches, in words."""
        return "matches" if self.matched else "does not match" if self.valid else "is not valid at that time"

    def __str__(self) -> str:
        exempt = [f"  {own}" for own in self.exemptions]
        return "\n".join([f"{self.id} {self.verdict}", *exempt, *_lines(self.root, 1, set())])

    def draw(self) -> Drawing:
        """The tree as a picture."""
        return Drawing.of_branch(self.id, f"{self.id} {self.verdict}", self.root)

    def _repr_svg_(self) -> str:
        return self.draw().svg


class Explanations(list[Explanation]):
    """Explanations in output order: a list that a notebook draws."""

    def _repr_html_(self) -> str:
        """Matching rules come first: usually they are few."""
        drawn = sorted(self, key=lambda explained: not explained.matched)[:_MOST_DRAWN]
        pictures = "".join(f'<div style="margin: 0 0 12px">{explained.draw().svg}</div>' for explained in drawn)
        left = len(self) - len(drawn)
        matched = sum(explained.matched for explained in self)
        said = f"{matched:,} of {len(self):,} rules match" + (f"; {left:,} are not drawn" if left else "")
        return f"<p>{said}</p>{pictures}"


def explain(
    segment: Segment,
    predicate_truth: Sequence[bool] | NDArray[np.bool_],
    ids: Iterable[str] | None = None,
    *,
    at: datetime | None = None,
) -> Explanations:
    """An explanation for each rule, or for the given ids, in output order.

    `predicate_truth` has one value per predicate of the segment. If `at` is given, a rule that is not valid at that
    time does not match.

    >>> from sparkrules.index.builder import build_segment
    >>> from sparkrules.index.rule import Rule
    >>> from sparkrules.sql.tree import Junction, Predicate
    >>> warm, dry = Predicate("warm", "is true"), Predicate("rain", "is null")
    >>> segment = build_segment([Rule("picnic", "warm AND rain IS NULL", Junction("and", (warm, dry)))])
    >>> print(*explain(segment, [False, True]))
    picnic does not match
      ✗ and
        ✗ rain is null
        ✓ warm is true
    """
    wanted = None if ids is None else set(ids)
    if wanted is not None and (unknown := wanted - set(segment.rules.id.tolist())):
        raise UnknownId(f"no subscription has the id {', '.join(map(repr, sorted(unknown)))}")
    valid = np.ones(len(segment.rules.priority), bool) if at is None else segment.rules.valid_at(at)
    explained: dict[int, ExplainedNode] = {}
    explanations = Explanations()
    for subscription in segment.rules.output_order.tolist():
        name = segment.rules.id[subscription]
        if wanted is None or name in wanted:
            root = _as_written(segment, subscription, predicate_truth)
            if root is None:
                root = _explain(segment, int(segment.forest.roots[subscription]), predicate_truth, explained)
            is_valid = bool(valid[subscription])
            exempt = _exemptions(segment, subscription, predicate_truth)
            explanations.append(Explanation(name, root.truth and is_valid, root, is_valid, exempt))
    return explanations


def _exemptions(
    segment: Segment, rule: int, predicate_truth: Sequence[bool] | NDArray[np.bool_]
) -> tuple[Exemption, ...]:
    stored = segment.rules.exemptions[rule]
    return () if stored is None else tuple(applying(stored, _truths(segment, rule, predicate_truth)))


def _truths(segment: Segment, rule: int, predicate_truth: Sequence[bool] | NDArray[np.bool_]) -> dict[Predicate, bool]:
    """The truth of the predicates of a rule."""
    forest = segment.forest
    numbers = forest.nodes.predicate[forest.descendants(int(forest.roots[rule]))]
    return {forest.predicate(number): bool(predicate_truth[number]) for number in numbers[numbers >= 0].tolist()}


def _as_written(
    segment: Segment, rule: int, predicate_truth: Sequence[bool] | NDArray[np.bool_]
) -> ExplainedNode | None:
    """The explanation of a rule with counts; None if it has none."""
    has_exemptions = segment.rules.exemptions[rule] is not None
    tree = None if has_exemptions else written_tree(segment.rules.where[rule], segment.rules.sql[rule])
    if tree is None:
        return None
    truths = _truths(segment, rule, predicate_truth)
    explained: dict[int, ExplainedNode] = {}

    def part(node: Written) -> ExplainedNode:
        if id(node) not in explained:
            explained[id(node)] = made(node)
        return explained[id(node)]

    def made(node: Written) -> ExplainedNode:
        if isinstance(node, Predicate):
            return ExplainedNode(str(node), truths[node])
        children = tuple(map(part, node.children))
        true = sum(child.truth for child in children)
        if isinstance(node, Threshold):
            return ExplainedNode(node.text, true >= node.needed, children)
        truth = true == len(children) if node.operator == "and" else true > 0
        return ExplainedNode(node.operator if children else str(truth).lower(), truth, children)

    return part(tree)


def _explain(
    segment: Segment,
    root: int,
    predicate_truth: Sequence[bool] | NDArray[np.bool_],
    explained: dict[int, ExplainedNode],
) -> ExplainedNode:
    """Bottom up: children have smaller numbers. `explained` is shared, so that a shared node is one object."""
    for node in segment.forest.descendants(root):
        if node in explained:
            continue
        operator = segment.forest.nodes.operator[node]
        if operator == PREDICATE:
            number = int(segment.forest.nodes.predicate[node])
            explained[node] = ExplainedNode(str(segment.forest.predicate(number)), bool(predicate_truth[number]))
            continue
        children = tuple(explained[child] for child in segment.forest.nodes.children.row(node).tolist())
        truths = [child.truth for child in children]
        truth = all(truths) if operator == AND else any(truths)
        explained[node] = ExplainedNode(NODE_OPERATORS[operator] if children else str(truth).lower(), truth, children)
    return explained[root]


def _lines(node: ExplainedNode, depth: int, drawn: set[int]) -> Iterator[str]:
    """A repeated part is printed once: an expanded XOR would double at every nesting level."""
    again = bool(node.children) and id(node) in drawn
    yield f"{'  ' * depth}{'✓' if node.truth else '✗'} {node.text}{' (as above)' if again else ''}"
    if not again:
        drawn.add(id(node))
        for child in node.children:
            yield from _lines(child, depth + 1, drawn)
