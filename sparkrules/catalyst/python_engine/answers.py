"""`sparkrules.match` and `matches` without the plugin: what is asked for, made of the matches of live and shadow rules.

Shadow rules are matched in a second pass over the rows, so that they cost nothing unless they are asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparkrules.catalyst.asked import Asked
from sparkrules.catalyst.python_engine.engine import matched_rows
from sparkrules.index import Segment
from sparkrules.index.chosen import check_known_tags, chosen_segment
from sparkrules.index.rule import LIVE, SHADOW
from sparkrules.index.rule_fields import field_type
from sparkrules.local.reference_list import Lists
from sparkrules.sql.predicate_sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LIVE = "sparkrules live"  # no name that a rule would have
_COLUMNS = ("subscription_id", "priority", "overlap")


def python_match(
    df: DataFrame, segment: Segment, rule_set: str, version: int | None, lists: Lists, output: str, asked: Asked
) -> DataFrame:
    """See `sparkrules.match`."""
    rules = _Chosen(segment, rule_set, lists, asked)
    found = matched_rows(df, rules.of(LIVE), rule_set, rules.lists, "struct", asked.top, rules.fields)
    if not asked.fields and not asked.shadow:
        return found.toDF(*df.columns, output)
    answers = ["ids", "overlaps", *["matches"] * bool(asked.fields)]
    values = [f"{_quoted_live}.{name} AS {name}" for name in answers]
    values += [f"{_number(version)} AS version"] * bool(asked.fields) + ["found.ids AS shadow"] * asked.shadow
    live = found.toDF(*df.columns, _LIVE)
    both = _carrying(live, rules, rule_set, "struct", asked) if asked.shadow else live.toDF(*_numbered(df), _LIVE)
    return both.selectExpr(*_numbered(df), f"struct({', '.join(values)}) AS found").toDF(*df.columns, output)


def python_matches(
    df: DataFrame, segment: Segment, rule_set: str, version: int | None, lists: Lists, asked: Asked
) -> DataFrame:
    """See `sparkrules.matches`."""
    rules = _Chosen(segment, rule_set, lists, asked)
    found = matched_rows(df, rules.of(LIVE), rule_set, rules.lists, "list", asked.top, rules.fields)
    names = [*_COLUMNS, *asked.fields]
    added = {"version": _number(version)} if asked.fields else {}
    if asked.shadow:
        both = _carrying(found.toDF(*df.columns, _LIVE), rules, rule_set, "list", asked)
        arrays = [
            _elements(array, names, {**added, "status": f"'{status}'"})
            for array, status in ((_quoted_live, LIVE), ("found", SHADOW))
        ]
        found = both.selectExpr(*_numbered(df), f"concat({', '.join(arrays)}) AS found")
        return found.selectExpr(*_numbered(df), "inline(found)").toDF(*df.columns, *names, *added, "status")
    rows = found.selectExpr(*_numbered(df), "inline(found)", *added.values())
    return rows.toDF(*df.columns, *names, *added)


class _Chosen:
    """The rules of a segment that a call asks for, and the types of the fields."""

    def __init__(self, segment: Segment, rule_set: str, lists: Lists, asked: Asked) -> None:
        self.lists = lists
        check_known_tags(segment.rules, asked.tags, rule_set)
        self._segment, self._tags = segment, asked.tags or None
        self.fields: Mapping[str, Any] = {name: field_type(segment.rules, name, rule_set) for name in asked.fields}

    def of(self, status: str) -> Segment:
        return chosen_segment(self._segment, status, self._tags)


def _carrying(live: DataFrame, rules: _Chosen, rule_set: str, shape: Any, asked: Asked) -> DataFrame:
    """The columns, those of the live rules among them, and what shadow rules match."""
    fields = rules.fields if shape == "list" else {}
    found = matched_rows(live, rules.of(SHADOW), rule_set, rules.lists, shape, asked.top, fields)
    return found.toDF(*(f"c{number}" for number in range(len(live.columns) - 1)), _LIVE, "found")


def _elements(array: str, names: list[str], added: Mapping[str, str]) -> str:
    """The matches of an array with values added."""
    values = [f"m.{quoted(name)} AS {quoted(name)}" for name in names]
    values += [f"{value} AS {name}" for name, value in added.items()]
    return f"transform({array}, m -> struct({', '.join(values)}))"


def _number(version: int | None) -> str:
    return f"CAST({'NULL' if version is None else version} AS BIGINT)"


def _numbered(df: DataFrame) -> list[str]:
    return [f"c{number}" for number in range(len(df.columns))]


_quoted_live = quoted(_LIVE)
