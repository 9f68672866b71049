"""Rules that are the same, and rules contained in another.

| finding | the rules | found by |
|---|---|---|
| duplicate | have the same tree, in any written order | the shared-subexpression index: one node |
| equivalent | are true for the same rows | the canonical form; covering in both directions |
| covered | one is true whenever the other is | witnesses (`logic.covering`), then proof |

Each rule is reported once, with one other rule: the first of its twins by id, or a rule that covers it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sparkrules.index.builder import build_segment
from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding
from sparkrules.logic.canonical import FALSE, TRUE, canonical
from sparkrules.logic.covering import Coverings
from sparkrules.logic.regions import Regions
from sparkrules.logic.relations import covers_in
from sparkrules.logic.satisfiable import Formula, formula

_SAME = "Keep one of them, unless their priorities, metadata or owners matter."
_COVERED = "Remove it, unless its id, priority or metadata matter; or check whether the other is too general."


@dataclass
class Twins:
    """The findings about some rules. `skipped`: ids of rules that never or always match, which are not compared."""

    rules: Sequence[Rule]
    regions: Regions
    skipped: frozenset[str] = frozenset()
    notes: list[str] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """See the module."""
        groups = self._grouped(self.rules, self._nodes())
        for group in groups:
            if len(group) > 1:
                ids = tuple(rule.id for rule in group)
                yield Finding("duplicate", ids, f"{len(ids)} rules are the same condition", suggestion=_SAME)
        different = [group[0] for group in groups if group[0].id not in self.skipped]
        formulas = {rule.id: formula(rule.tree, self.regions) for rule in different}
        forms = [canonical(formulas[rule.id]) for rule in different]
        groups = self._grouped(different, forms)
        for group in groups:
            for rule in group[1:]:
                yield _equivalent(rule, group[0])
        kept = [(group[0], form) for group, form in zip(groups, dict.fromkeys(forms), strict=True)]
        yield from self._covered([rule for rule, form in kept if form not in (TRUE, FALSE)], formulas)

    def _nodes(self) -> list[Hashable]:
        segment = build_segment(self.rules)
        node_of = dict(zip(segment.rules.id, segment.forest.roots.tolist(), strict=True))
        return [node_of[rule.id] for rule in self.rules]

    def _grouped(self, rules: Sequence[Rule], keys: Sequence[Hashable]) -> list[list[Rule]]:
        groups: dict[Hashable, list[Rule]] = {}
        for rule, key in zip(rules, keys, strict=True):
            groups.setdefault(key, []).append(rule)
        return list(groups.values())

    def _covered(self, rules: Sequence[Rule], formulas: Mapping[str, Formula]) -> Iterator[Finding]:
        own = [formulas[rule.id] for rule in rules]
        found = Coverings([rule.tree for rule in rules], regions=self.regions, formulas=own)
        for a, b in found.pairs(max_checks=10_000 + 10 * len(rules)):
            general, special = rules[a], rules[b]
            if found.may_cover(b, a) and covers_in(self.regions, special.tree, general.tree) == "yes":
                if general.id < special.id:
                    yield _equivalent(special, general)
                continue
            message = f"{general.id} matches every row that {special.id} matches"
            yield Finding("covered", (special.id, general.id), message, suggestion=_COVERED)
        if found.is_bounded:
            self.notes.append("Not all rules were compared for covering: some are too large, or too many are alike.")


def _equivalent(rule: Rule, other: Rule) -> Finding:
    message = f"{rule.id} matches the same rows as {other.id}, written in another way"
    return Finding("equivalent", (rule.id, other.id), message, suggestion=_SAME)
