"""Explain which steps of a pattern a row fulfils, and why: each step, its rules and conditions, and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sparkrules.local.drawing import Drawing
from sparkrules.local.explain import ExplainedNode, Explanation
from sparkrules.local.timeline import timeline
from sparkrules.patterns import Pattern, Term


@dataclass(frozen=True, eq=False)
class PatternExplanation(Explanation):
    """One pattern and one row. The root has a child for each step; it `matched` if one of these is fulfilled."""

    pattern: Pattern | None = None

    @property
    def verdict(self) -> str:
        steps = [number for number, step in enumerate(self.root.children, start=1) if step.truth]
        if not steps:
            return "takes no notice of the row"
        return f"takes the row as step {' and '.join(map(str, steps))} of {len(self.root.children)}"

    def draw(self) -> Drawing:
        """The pattern as a timeline, with the steps that the row fulfils."""
        assert self.pattern is not None
        return timeline(self.pattern, [step.truth for step in self.root.children])


def explain_pattern(
    pattern: Pattern, rules: Mapping[str, Explanation], conditions: Mapping[str, Explanation]
) -> PatternExplanation:
    """The explanation of a pattern, from those of the rules that it names, and of its conditions by their hidden ids.

    >>> fulfilled = Explanation("hot", True, ExplainedNode("t > 30", True))
    >>> pattern = Pattern("rise", "sequence", ((Term("hot"),), (Term("hotter"),)), within=5)
    >>> print(explain_pattern(pattern, {"hot": fulfilled}, {}))
    rise takes the row as step 1 of 2
      ✓ sequence
        ✓ step 1
          ✓ hot
            ✓ t > 30
        ✗ step 2
          ✗ hotter (there is no such rule)
    """
    steps = tuple(
        _any(f"step {number}", tuple(_term(term, rules, conditions) for term in step))
        for number, step in enumerate(pattern.steps, start=1)
    )
    root = _any(pattern.kind, steps)
    return PatternExplanation(pattern.id, root.truth, root, pattern=pattern)


def _any(text: str, children: tuple[ExplainedNode, ...]) -> ExplainedNode:
    return ExplainedNode(text, any(child.truth for child in children), children)


def _term(term: Term, rules: Mapping[str, Explanation], conditions: Mapping[str, Explanation]) -> ExplainedNode:
    if term.rule is None:
        return conditions[term.condition or ""].root
    own = rules.get(term.rule)
    if own is None:
        return ExplainedNode(f"{term.rule} (there is no such rule)", False)
    invalid = "" if own.valid else " (not valid at that time)"
    return ExplainedNode(f"{term.rule}{invalid}", own.matched, (own.root,))
