"""Exemptions: where a rule does not match although it is true.

An exemption applies where its condition is TRUE, and until an instant, if it has one. So a rule with exemptions is

    (rule) AND (condition) IS NOT TRUE

with an OR of the clock, if it ends. `IS NOT TRUE` is pushed down to the predicates: for an AND it is the OR of theirs,
for an OR the AND.

>>> own = Exemption("host = 'lab-7' AND user IS NOT NULL", datetime(2030, 1, 1, tzinfo=timezone.utc))
>>> print(exempted_text("failures > 5", [own]).replace(CLOCK, "clock"))
(failures > 5) AND ((host = 'lab-7') IS NOT TRUE OR user IS NULL OR (clock) >= 1893456000000000)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.tree import Constant, Junction, Node, Predicate
from sparkrules.sql.tree_sql import readable_predicate, tree_sql

CLOCK = "unix_micros(current_timestamp())"
"""The instant of a query, as an attribute."""

_TWO_VALUED = {"is true": "is not true", "is false": "is not false", "is null": "is not null", "<=>": "not <=>"}
_TWO_VALUED |= {negated: operator for operator, negated in _TWO_VALUED.items()}
_UNKNOWN_FOR_NULL = {"in list": "not in list", "in network": "not in network"}
_UNKNOWN_FOR_NULL |= {negated: operator for operator, negated in _UNKNOWN_FOR_NULL.items()}


@dataclass(frozen=True, slots=True)
class Exemption:
    """A condition, until when it exempts (with a time zone; None: always), and why. `sql` is the condition as Spark
    SQL, if `where` is not."""

    where: str
    until: datetime | None = None
    reason: str = ""
    sql: str | None = None

    def __str__(self) -> str:
        until = "" if self.until is None else f" until {self.until.isoformat()}"
        return f"exempt where {self.where}{until}{f': {self.reason}' if self.reason else ''}"


def exempted_text(text: str, exemptions: Iterable[Exemption]) -> str:
    """The text of a rule, in the Spark dialect, with its exemptions."""
    return " AND ".join([f"({text})", *(f"({tree_sql(_kept(own))})" for own in exemptions)])


def _kept(exemption: Exemption) -> Node:
    """Where an exemption does not apply."""
    kept = not_true(read_spark_sql(exemption.sql or exemption.where, ANYTHING).tree)
    if exemption.until is None:
        return kept
    micros = clock_micros(exemption.until)
    children = kept.children if isinstance(kept, Junction) and kept.operator == "or" else (kept,)
    return Junction("or", (*children, Predicate(CLOCK, ">=", (Constant("integer", str(micros)),))))


def clock_micros(instant: datetime) -> int:
    """An instant as `CLOCK` has it."""
    return (instant - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def applying(stored: str | None, truths: Mapping[Predicate, bool]) -> list[Exemption]:
    """The exemptions that apply to a row, given the truth of the predicates of the rule."""
    return [own for own in exemptions_of(stored)[1] if not _holds(_kept(own), truths)]


def _holds(tree: Node, truths: Mapping[Predicate, bool]) -> bool:
    if isinstance(tree, Predicate):
        return truths.get(tree, False)
    children = (_holds(child, truths) for child in tree.children)
    return all(children) if tree.operator == "and" else any(children)


def not_true(tree: Node) -> Node:
    """Where a tree is false or unknown.

    >>> from sparkrules.sql.rule import parse_rule
    >>> print(not_true(parse_rule("a = 1 AND (b IS NULL OR NOT c OR in_list('x', d))")))
    a = 1 is not true or (b is not null and c is not false and (d not in list 'x' or d is null))
    """
    if isinstance(tree, Junction):
        return Junction("or" if tree.operator == "and" else "and", tuple(map(not_true, tree.children)))
    if tree.operator in _TWO_VALUED:
        return Predicate(tree.attribute, _TWO_VALUED[tree.operator], tree.constants)
    if tree.operator in _UNKNOWN_FOR_NULL:
        false = Predicate(tree.attribute, _UNKNOWN_FOR_NULL[tree.operator], tree.constants)
        return Junction("or", (false, Predicate(tree.attribute, "is null")))
    # Only Spark knows when it is unknown: a string that is compared with a number may be no number.
    return Predicate(readable_predicate(tree), "is not true")


def exemptions_json(text: str, exemptions: Iterable[Exemption]) -> str | None:
    """Exemptions as the store keeps them, with the text of the rule without them, in the Spark dialect."""
    fields = [
        {
            "where": own.where,
            "until": None if own.until is None else own.until.isoformat(),
            "reason": own.reason,
            "sql": own.sql,
        }
        for own in exemptions
    ]
    return json.dumps({"text": text, "exemptions": fields}, ensure_ascii=False) if fields else None


def exemptions_of(stored: str | None) -> tuple[str | None, tuple[Exemption, ...]]:
    """The text and the exemptions of a rule, from the store. `ValueError` if they are damaged.

    >>> own = Exemption("a = 1", datetime(2030, 1, 1, tzinfo=timezone.utc), "known")
    >>> exemptions_of(exemptions_json("b > 2", [own])) == ("b > 2", (own,))
    True
    """
    if stored is None:
        return None, ()
    try:
        read = json.loads(stored)
        text, found = read["text"], read["exemptions"]
        known = tuple(
            Exemption(
                str(own["where"]),
                None if own["until"] is None else datetime.fromisoformat(own["until"]),
                str(own["reason"]),
                None if own["sql"] is None else str(own["sql"]),
            )
            for own in found
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"exemptions are damaged: {error!r}") from error
    if not isinstance(text, str) or any(own.until is not None and own.until.tzinfo is None for own in known):
        raise ValueError("exemptions are damaged")
    return text, known
