"""Exemptions of rules: checked, and compiled into the rule; see `sparkrules.sql.exemption`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sparkrules.errors import RuleSetError
from sparkrules.rules.validity import check_instant
from sparkrules.sql import Policy, RuleError
from sparkrules.sql.exemption import Exemption, exempted_text, exemptions_json
from sparkrules.sql.policy import AnyFunction
from sparkrules.sql.rule import read_rule, read_spark_sql
from sparkrules.sql.tree import Node

MOST = 100
LONGEST_REASON = 1_000
_FIELDS = ("where", "until", "reason")


def check_exemption(where: Any, until: Any = None, reason: Any = None) -> Exemption:
    """An exemption with valid fields; its condition has not been parsed yet.

    >>> check_exemption("host = 'lab-7'", "2030-01-01T00:00:00Z", "ticket 7")
    Exemption(where="host = 'lab-7'", until=datetime.datetime(2030, 1, 1, 0, 0, tzinfo=datetime.timezone.utc), \
reason='ticket 7', sql=None)
    """
    if not isinstance(where, str) or not where.strip():
        raise RuleSetError(f"an exemption needs a condition, such as host = 'lab-7', not {where!r:.60}")
    if reason is not None and (not isinstance(reason, str) or len(reason) > LONGEST_REASON):
        raise RuleSetError(f"the reason of an exemption is a string of at most {LONGEST_REASON:,} characters")
    return Exemption(where, check_instant(until, "until"), reason or "")


def check_exemptions(given: Any) -> tuple[Exemption, ...]:
    """The exemptions of a rule from a file or table: a list of conditions, or of mappings with where, until, reason.

    Or as the store keeps them, from another rule set or the catalog; their conditions are checked as any.

    >>> check_exemptions('[{"where": "a = 1", "reason": "known"}]')
    (Exemption(where='a = 1', until=None, reason='known', sql=None),)
    """
    if given is None or (isinstance(given, str) and not given.strip()):
        return ()
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise RuleSetError(f"exemptions are not JSON: {error}") from None
        if isinstance(given, dict) and set(given) == {"text", "exemptions"}:
            given = (
                [_without_sql(own) for own in given["exemptions"]] if isinstance(given["exemptions"], list) else given
            )
    if isinstance(given, (Mapping, str, bytes)) or not isinstance(given, Iterable):
        raise RuleSetError(f"exemptions are a list of conditions, each with where, until and reason, not {given!r:.60}")
    found: list[Exemption] = []
    for own in given:
        if len(found) == MOST:
            raise RuleSetError(f"a rule has at most {MOST} exemptions")
        fields = {"where": own} if isinstance(own, str) else own
        if not isinstance(fields, Mapping) or not set(fields) <= set(_FIELDS):
            raise RuleSetError(f"an exemption has the fields {', '.join(_FIELDS)}, not {own!r:.60}")
        found.append(check_exemption(*(fields.get(name) for name in _FIELDS)))
    return tuple(found)


def _without_sql(stored: Any) -> Any:
    """An exemption of the store without its translation, which nobody has checked here."""
    return {name: own for name, own in stored.items() if name != "sql"} if isinstance(stored, dict) else stored


def exempted_rule(
    text: str, exemptions: Iterable[Exemption], dialect: str, policy: Policy
) -> tuple[Node, str, str | None]:
    """The tree of a rule with its exemptions, its Spark SQL, and the exemptions as the store keeps them.

    `text` is the rule without exemptions, in the Spark dialect. Raises `RuleError` for a condition that no rule may
    have; its position is that in the condition.
    """
    known = []
    for own in exemptions:
        try:
            read = read_rule(own.where, dialect=dialect, policy=policy) if own.sql is None else None
        except RuleError as error:
            error.reason = f"exemption: {error.reason}"
            raise
        known.append(own if read is None else replace(own, sql=read.sql))
    if len(known) > MOST:
        raise RuleSetError(f"a rule has at most {MOST} exemptions")
    whole = exempted_text(text, known) if known else text
    read = read_spark_sql(whole, AnyFunction.within(policy))
    return read.tree, read.sql or whole, exemptions_json(text, known)
