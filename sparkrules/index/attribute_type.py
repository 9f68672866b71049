"""The type of an attribute: declared by a schema or a mapping, else guessed from the constants it is compared with.

Contract: a declared type decides; a guess is made only from constants of one family, and is `MIXED` else.

>>> from sparkrules.sql.tree import Constant
>>> three = Predicate("x", "=", (Constant("integer", "3"),)), Predicate("x", "=", (Constant("string", "3"),))
>>> attribute_types({"x": [three[0]]}, None)["x"].column.family, attribute_types({"x": [*three]}, None)["x"] == MIXED
('decimal', True)
>>> attribute_types({"x": [*three]}, {"X": pa.int32()})["x"].column.family
'integer'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa

from sparkrules.errors import RuleSetError
from sparkrules.index.atom import folded
from sparkrules.index.columns import Unsupported, find_column
from sparkrules.index.comparison import ColumnType, column_type
from sparkrules.index.value_space import Anything, Number, Text, ValueSpace, value_space
from sparkrules.sql.tree import Predicate

_DATE = re.compile(r"DATE\s*'\d{4}-\d\d-\d\d'", re.IGNORECASE)
_TEXT_TESTS = ("like", "ilike", "rlike", "contains", "startswith", "endswith")
_TRUTH_TESTS = ("is true", "is false", "is not true", "is not false")
_NUMBERS = ("integer", "decimal", "double")


@dataclass(frozen=True)
class Enumeration:
    """A declared type: the attribute has one of these values (all text, all Boolean or all numbers), or is NULL.

    >>> Enumeration("new", "used").values
    ('new', 'used')
    """

    values: tuple[Any, ...]
    nullable: bool

    def __init__(self, *values: str | bool | int | float | Decimal, nullable: bool = True) -> None:
        if len({_family(value) for value in values}) != 1:
            raise RuleSetError(f"an enumeration needs values of one kind, not {values!r}")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "nullable", nullable)


Types = Mapping[str, "pa.DataType | Enumeration"]


@dataclass(frozen=True)
class AttributeType:
    """What is known of an attribute; `column` is None if its comparisons cannot be decided."""

    column: ColumnType | None
    space: ValueSpace
    nullable: bool = True
    values: tuple[Any, ...] | None = None
    is_guessed_number: bool = False

    @property
    def presence(self) -> ColumnType:
        """A type of which NULL can be asked and nothing else."""
        return ColumnType("other", "unknown")


MIXED = AttributeType(None, Anything())
_NUMBER = AttributeType(ColumnType("decimal", "a number"), Number(), is_guessed_number=True)
_GUESSED = {
    "double": AttributeType(column_type(pa.float64()), value_space(column_type(pa.float64()))),
    "number": _NUMBER,
    "text": AttributeType(column_type(pa.string()), Text()),
    "boolean": AttributeType(column_type(pa.bool_()), value_space(column_type(pa.bool_()))),
    # The column may be a timestamp, which has values between two dates.
    "date": AttributeType(column_type(pa.date32()), Number()),
}


def attribute_types(
    tests: Mapping[str, Sequence[Predicate]], types: Types | pa.Schema | None
) -> dict[str, AttributeType]:
    """The type of each attribute, given the predicates on it."""
    if isinstance(types, pa.Schema):
        return {name: _of_schema(name, types) or _guess(found) for name, found in tests.items()}
    declared = {name.lower(): type_ for name, type_ in (types or {}).items()}
    return {
        name: _declared(declared[name.lower()]) if name.lower() in declared else _guess(found)
        for name, found in tests.items()
    }


def _of_schema(name: str, schema: pa.Schema) -> AttributeType | None:
    try:
        column = find_column(name, schema)
    except Unsupported:
        return None
    nullable = len(column.path) > 1 or schema.field(column.path[0]).nullable
    return _declared(column.type, nullable)


def _declared(declared: Any, nullable: bool = True) -> AttributeType:
    if isinstance(declared, Enumeration):
        guessed = _GUESSED[_family(declared.values[0])]
        values = tuple(map(_as_constant, declared.values))
        return AttributeType(guessed.column, guessed.space, declared.nullable, values)
    column = column_type(declared)
    return AttributeType(None if column.family == "other" else column, value_space(column), nullable)


def _guess(tests: Sequence[Predicate]) -> AttributeType:
    families = {family for predicate in tests for family in _families(predicate)}
    if families == {"number", "double"}:
        return _NUMBER
    return _GUESSED[families.pop()] if len(families) == 1 else MIXED


def _families(predicate: Predicate) -> set[str]:
    """What a predicate's constants and operator say about the attribute; SQL of unknown type says nothing."""
    if predicate.operator.removeprefix("not ") in _TEXT_TESTS:
        return {"text"}
    if predicate.operator in _TRUTH_TESTS:
        return {"boolean"}
    found = set()
    for constant in map(folded, predicate.constants):
        if constant.kind in _NUMBERS:
            found.add("double" if constant.kind == "double" else "number")
        elif constant.kind in ("string", "boolean"):
            found.add("text" if constant.kind == "string" else "boolean")
        elif constant.kind == "sql" and _DATE.fullmatch(constant.text):
            found.add("date")
    return found


def _family(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "boolean" if isinstance(value, bool) else "number"


def _as_constant(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return int(value) if isinstance(value, (bool, int)) else Decimal(str(value))
