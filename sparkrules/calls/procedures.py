"""The procedures that need Python, by name: what each does to a rule set, and the rows that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from sparkrules.calls.exchange import Plugin
from sparkrules.errors import PublishConflict, RuleSetError, UnknownId
from sparkrules.local import explain
from sparkrules.rules.restricted import predicates_of
from sparkrules.rules.sources import FIELDS, PATTERN_FIELDS, RuleRow, check_columns, table_row
from sparkrules.rules.sync import sync
from sparkrules.rules.validity import check_instant, instant_of
from sparkrules.ruleset import RuleSet
from sparkrules.sql import DEFAULT_POLICY, Policy
from sparkrules.sql.predicate_sql import predicate_sql
from sparkrules.store import Store

Call = Mapping[str, Any]
Arguments = dict[str, Any]
_Result = TypeVar("_Result")
_ATTEMPTS = 8  # each time, somebody else has changed the same in between
_MOST_ROWS = 100_000


def _subscribe(_plugin: Plugin, call: Call, arguments: Arguments) -> object:
    replace = arguments.pop("replace", False)
    for name in ("valid_from", "valid_until"):
        if name in arguments:
            arguments[name] = check_instant(arguments[name], name)

    def add(rules: RuleSet) -> str | None:
        id = arguments["id"]
        if replace and id in rules:
            rules.unsubscribe(id)
        elif id in rules:
            raise RuleSetError(
                f"rule set {rules.name!r} already has a rule {id!r}; to change it, add replace => true, or unsubscribe "
                "it first"
            )
        return rules.subscribe(**arguments)

    return _changed(call, arguments, add, is_new=True)


def _renew(_plugin: Plugin, call: Call, arguments: Arguments) -> object:
    until = check_instant(arguments["until"], "until")
    if until is None:
        raise RuleSetError("until is an instant in the future")
    return _changed(call, arguments, lambda rules: rules.renew(arguments["id"], arguments["ticket"], until))


def _advertise(_plugin: Plugin, call: Call, arguments: Arguments) -> object:
    return _changed(call, arguments, lambda rules: rules.advertise(arguments["id"], arguments["where"]), is_new=True)


def _unadvertise(_plugin: Plugin, call: Call, arguments: Arguments) -> object:
    return _changed(call, arguments, lambda rules: rules.unadvertise(arguments["id"]))


def _publish(plugin: Plugin, call: Call, arguments: Arguments) -> object:
    columns = check_columns(call["columns"], f"the table {arguments['table']}")
    wanted = {field: columns[field] for field in (*FIELDS, *PATTERN_FIELDS) if field in columns}
    rows = plugin.rows(list(wanted.values()))
    given: list[RuleRow] = [table_row({field: row.get(name) for field, name in wanted.items()}) for row in rows]
    rules = RuleSet(arguments.pop("rule_set"), arguments.get("dialect", "spark"), _policy(call))
    done = sync(
        rules._collection,
        Store(call["store"]),
        given,
        has_patterns=not wanted.keys().isdisjoint(PATTERN_FIELDS),
        empty=arguments.get("empty", False),
        strict=arguments.get("strict", False),
    )
    rows_of: list[tuple[object, ...]] = [
        (done.version, "rejected", own.id, own.reason, own.line, own.column) for own in done.rejected
    ]
    patterns = done.changes.patterns
    for action in ("added", "changed", "removed"):
        rows_of += [(done.version, action, id, None, None, None) for id in getattr(done.changes, action)]
        rows_of += [(done.version, action, id, "a pattern", None, None) for id in patterns[action]]
    rows_of += [(done.version, "expired", id, "its valid_until has passed", None, None) for id in done.expired]
    more = len(rows_of) - _MOST_ROWS
    if more > 0:
        rows_of[_MOST_ROWS:] = [(done.version, "more", None, f"and {more:,} more rows", None, None)]
    return rows_of or [(done.version, "none", None, "nothing has changed", None, None)]


def _lint(_plugin: Plugin, call: Call, arguments: Arguments) -> object:
    schema = None
    if call.get("schema") is not None:
        from pyspark.sql.types import StructType

        schema = StructType.fromJson(call["schema"])
    rules = RuleSet.load(arguments["rule_set"], call["store"], policy=_policy(call))
    return [
        (own.severity, own.kind, list(own.ids), own.message, own.suggestion or None)
        for own in list(rules.lint(schema))[:_MOST_ROWS]
    ]


def _explain(plugin: Plugin, call: Call, arguments: Arguments) -> object:
    rules = RuleSet.load(arguments["rule_set"], call["store"], arguments.get("version"))
    if "id" in arguments and arguments["id"] not in rules:
        raise UnknownId(f"rule set {rules.name!r} has no rule {arguments['id']!r}")
    segment, instant = rules._segment, instant_of(None)
    chosen = [arguments["id"]] if "id" in arguments else segment.rules.id[segment.rules.valid_at(instant)].tolist()
    wanted = predicates_of(segment, chosen)
    truth = np.zeros(len(segment.forest.predicates.operator), bool)
    truth[wanted] = plugin.truth([predicate_sql(segment.forest.predicate(number)) for number in wanted])
    return [(own.id, own.matched, str(own)) for own in explain(segment, truth, chosen, at=instant)][:_MOST_ROWS]


def _changed(
    call: Call, arguments: Arguments, change: Callable[[RuleSet], str | None], *, is_new: bool = False
) -> object:
    """Change the newest version and publish; if others have changed the same at that time, do it again.

    With `is_new`, the rule set need not exist.
    """
    name, dialect = arguments.pop("rule_set"), arguments.pop("dialect", "spark")
    store = Store(call["store"])
    for attempt in range(_ATTEMPTS):
        exists = not is_new or bool(store.versions(name))
        rules = RuleSet(name, dialect, _policy(call), store=store)
        if exists:
            rules = RuleSet.load(name, store, dialect=dialect, policy=_policy(call))
        secret = change(rules)
        try:
            version = rules._publication.publish(store, first=not exists)
            return [(name, version, len(rules), secret)]
        except PublishConflict:
            if attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError("the last attempt returns or raises")


def _policy(call: Call) -> Policy:
    return Policy(extra_functions=set(call["functions"])) if call.get("functions") else DEFAULT_POLICY


PROCEDURES: Mapping[str, Callable[[Plugin, Call, Arguments], object]] = {
    "advertise": _advertise,
    "explain": _explain,
    "lint": _lint,
    "publish": _publish,
    "renew": _renew,
    "subscribe": _subscribe,
    "unadvertise": _unadvertise,
}
