"""Compares what two versions of rules match, in one pass over the rows of a DataFrame."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sparkrules.errors import RuleSetError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Samples are the least rows of so many groups by hash: a bounded number is kept for each rule, and always the same.
_GROUPS = 64
_CHANGES = {"gained": ("after", "before", "array_except"), "lost": ("before", "after", "array_except")}
_CHANGES["kept"] = ("after", "before", "array_intersect")


@dataclass(frozen=True)
class ChangedRule:
    """How many rows a rule newly matches, no longer matches and still matches, with samples of the first two."""

    id: str
    gained: int = 0
    lost: int = 0
    kept: int = 0
    gained_rows: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    lost_rows: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        lines = [f"{self.id}: {self.gained:,} gained, {self.lost:,} lost, {self.kept:,} kept"]
        for sign, rows in (("+", self.gained_rows), ("-", self.lost_rows)):
            lines += [f"  {sign} {json.dumps(row, ensure_ascii=False)}" for row in rows]
        return "\n".join(lines)


@dataclass(frozen=True)
class Backtest:
    """The answer of `RuleSet.backtest`: the rules that gain or lose rows, those with the most first.

    `against` is the version that is compared with. `unchanged` is how many rules match the same rows as there, and at
    least one. `str()` prints all of it.

    >>> print(Backtest("alerts@12", (ChangedRule("hot", 1, 0, 7, ({"temperature": 31},)),), 5))
    1 rule gains or loses rows against alerts@12; 5 match the same rows
    hot: 1 gained, 0 lost, 7 kept
      + {"temperature": 31}
    """

    against: str
    rules: tuple[ChangedRule, ...]
    unchanged: int

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[ChangedRule]:
        return iter(self.rules)

    def __getitem__(self, id: str) -> ChangedRule:
        return next((own for own in self.rules if own.id == id), ChangedRule(id))

    @property
    def summary(self) -> str:
        """In one line."""
        said = "rule gains or loses" if len(self) == 1 else "rules gain or lose"
        same = "matches" if self.unchanged == 1 else "match"
        return f"{len(self):,} {said} rows against {self.against}; {self.unchanged:,} {same} the same rows"

    def __str__(self) -> str:
        return "\n".join([self.summary, *map(str, self.rules)])


def check_backtest(df: DataFrame, samples: int) -> None:
    """Raise unless such a DataFrame can be compared."""
    if df.isStreaming:
        raise RuleSetError("a backtest needs all rows, and this DataFrame is a stream: read the table that it writes")
    if samples < 0:
        raise RuleSetError(f"samples={samples} is not a number of rows: samples=0 gives none")


def backtest(df: DataFrame, after: str, before: str, samples: int) -> Backtest:
    """Match every row against two published versions, and compare. Samples have the values of rows as JSON has them."""
    found: dict[str, dict[str, tuple[int, list[str]]]] = {}
    for row in _changes(df, after, before, samples).collect():
        found.setdefault(row["id"], {})[row["change"]] = (row["rows"], row["samples"])
    rules = [_changed(id, own) for id, own in found.items() if own.keys() != {"kept"}]
    rules.sort(key=lambda own: (-own.gained - own.lost, own.id))
    return Backtest(before, tuple(rules), len(found) - len(rules))


def _changes(df: DataFrame, after: str, before: str, samples: int) -> DataFrame:
    """For each rule and change: `id`, `change`, `rows`, and `samples` of them as JSON."""
    from pyspark.sql import functions as f

    matched = df.selectExpr(
        "struct(*) AS row",
        f"match_subscriptions('{after}', *).ids AS after",
        f"match_subscriptions('{before}', *).ids AS before",
    )
    pairs = ", ".join(
        f"transform({compare}({one}, {other}), id -> struct(id AS id, '{change}' AS change))"
        for change, (one, other, compare) in _CHANGES.items()
    )
    text = "to_json(row, map('ignoreNullFields', 'false'))" if samples else "CAST(NULL AS STRING)"
    changed = matched.selectExpr("row", f"inline(concat({pairs}))").selectExpr(
        "id", "change", f"CASE WHEN change <> 'kept' THEN {text} END AS text"
    )
    groups = max(_GROUPS, 4 * samples)
    by_group = changed.groupBy("id", "change", f.expr(f"pmod(xxhash64(text), {groups}) AS part")).agg(
        f.expr("count(*) AS rows"), f.expr("min(text) AS text")
    )
    return by_group.groupBy("id", "change").agg(
        f.expr("sum(rows) AS rows"), f.expr(f"slice(array_sort(collect_list(text)), 1, {samples}) AS samples")
    )


def _changed(id: str, found: Mapping[str, tuple[int, list[str]]]) -> ChangedRule:
    gained, lost, kept = (found.get(change, (0, [])) for change in ("gained", "lost", "kept"))
    rows = (tuple(map(json.loads, texts)) for _, texts in (gained, lost))
    return ChangedRule(id, gained[0], lost[0], kept[0], *rows)
