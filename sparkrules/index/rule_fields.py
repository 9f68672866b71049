"""Fields of the metadata of rules, as columns of one type.

| what rules have | type |
|---|---|
| strings | string |
| whole numbers of 64 bits | int64 |
| numbers, some of them not whole | double |
| true, false | bool |
| anything else, or several of these | string: strings as they are, the rest as JSON |

The plugin has the same table (`version/RuleField.scala`).

>>> from sparkrules.index.rule_columns import RuleColumns
>>> from sparkrules.index.rule import Rule
>>> from sparkrules.sql.tree import Predicate
>>> sold = Predicate("sold", "is true")
>>> rules = RuleColumns.of([Rule("a", "sold", sold, metadata={"level": 3}), Rule("b", "sold", sold)])
>>> field_values(rules, "level", field_type(rules, "level", "alerts")).to_pylist()
[3, None]
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

from sparkrules.errors import RuleSetError, listed
from sparkrules.index.rule_columns import RuleColumns

_SHOWN = 20


def field_type(rules: RuleColumns, name: str, of: str) -> pa.DataType:
    """The type of a field. An error if no rule has it, unless there are no rules."""
    kinds = {_kind(value) for value in _values(rules, name) if value is not None}
    if not kinds and len(rules):
        known = sorted(
            {field for text in set(rules.metadata.tolist()) if text is not None for field in json.loads(text)}
        )
        others = f"there are: {listed(known, _SHOWN)}" if known else "no rule has metadata"
        raise RuleSetError(f"no rule of {of} has a field {name!r} in its metadata; {others}")
    if len(kinds) == 1:
        return kinds.pop()
    return pa.float64() if kinds == {pa.int64(), pa.float64()} else pa.string()


def field_values(rules: RuleColumns, name: str, kind: pa.DataType) -> pa.Array:
    """What each rule has in a field; NULL if it has none, or one that is not of this type."""
    return pa.array([_converted(value, kind) for value in _values(rules, name)], kind)


def _values(rules: RuleColumns, name: str) -> list[Any]:
    parsed: dict[str | None, Any] = {None: None}
    for text in rules.metadata.tolist():
        if text not in parsed:
            found = json.loads(text)
            parsed[text] = found.get(name) if isinstance(found, dict) else None
    return [parsed[text] for text in rules.metadata.tolist()]


def _kind(value: object) -> pa.DataType:
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return pa.int64()
    return pa.float64() if isinstance(value, float) else pa.string()


def _converted(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if kind == pa.string():
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    own = _kind(value)
    if kind == pa.float64() and own == pa.int64():
        return float(value)
    return value if own == kind else None
