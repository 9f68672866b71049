"""The type of an attribute: declared by a schema or a mapping, or guessed from the constants it is compared with.

Contract: a declared type decides. A guess needs constants of a single family; otherwise the type is `MIXED`. String
constants do not prove a string column: `a > '5' AND a < '10'` is true for the number 7. Where they could also be
numbers, dates or Booleans, the guess is a string only if that makes no difference:

| strings that the attribute is compared with | a string? |
|---|---|
| `'Rome'`, `'abc'` | yes |
| dates, all like `'2024-01-31'` | yes: dates and strings have the same order |
| `'5'`, `'10'`; `'true'`, `'false'` | if compared only by `=`, `<>`, IN, and all distinct as numbers or Booleans |
| other dates and times: `'2024-1-31'`, `'2024-01-31 12:00:00'` | no |
| any, if also used with LIKE, `contains` or similar, or inside `lower(...)`, `upper(...)`, `trim(...)` | yes |

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
from sparkrules.logic.atom import folded
from sparkrules.logic.columns import Unsupported, find_column
from sparkrules.logic.comparison import ColumnType, column_type
from sparkrules.logic.value_space import Anything, Number, Strings, ValueSpace, value_space
from sparkrules.sql.tree import Predicate

_DATE = re.compile(r"DATE\s*'\d{4}-\d\d-\d\d'", re.IGNORECASE)
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LOOSE_DATE = re.compile(r"[+-]?\d{4,7}-\d|\d+:\d")
# Strings that Spark may cast to another type: a number, a date or time, a Boolean, NaN and infinity.
_OTHER_TYPE = re.compile(r"\s*(?:[-+.]*\d|(?:true|t|yes|y|false|f|no|n|nan|[+-]?inf(?:inity)?)\s*$)", re.IGNORECASE)
_TRUE_WORDS, _FALSE_WORDS = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_TEXT_CALL = re.compile(r"(?:lower|upper|lcase|ucase|trim|ltrim|rtrim|concat|substring|substr)\(", re.IGNORECASE)
_TEXT_TESTS = ("like", "ilike", "rlike", "contains", "startswith", "endswith", "in network")
_TRUTH_TESTS = ("is true", "is false", "is not true", "is not false")
_NUMBERS = ("integer", "decimal", "double")


@dataclass(frozen=True)
class Enumeration:
    """A declared type: the attribute has one of these values (all strings, all Booleans or all numbers), or is NULL.

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
    """What is known about an attribute. `column` is None if its comparisons cannot be decided."""

    column: ColumnType | None
    space: ValueSpace
    nullable: bool = True
    values: tuple[Any, ...] | None = None
    is_guessed_number: bool = False
    is_guessed_text: bool = False

    @property
    def presence(self) -> ColumnType:
        """A type that supports only NULL checks."""
        return ColumnType("other", "unknown")


MIXED = AttributeType(None, Anything())
_NUMBER = AttributeType(ColumnType("decimal", "a number"), Number(), is_guessed_number=True)
_LIKELY_TEXT = AttributeType(column_type(pa.string()), Strings(), is_guessed_text=True)
_GUESSED = {
    "double": AttributeType(column_type(pa.float64()), value_space(column_type(pa.float64()))),
    "number": _NUMBER,
    "string": AttributeType(column_type(pa.string()), Strings()),
    "boolean": AttributeType(column_type(pa.bool_()), value_space(column_type(pa.bool_()))),
    # The column may be a timestamp, which has values between two dates.
    "date": AttributeType(column_type(pa.date32()), Number()),
}


def attribute_types(
    tests: Mapping[str, Sequence[Predicate]], types: Types | pa.Schema | None
) -> dict[str, AttributeType]:
    """The type of each attribute, given its predicates."""
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
    return _declared(column.type, nullable, column.text)


def _declared(declared: Any, nullable: bool = True, text: str | None = None) -> AttributeType:
    if isinstance(declared, Enumeration):
        guessed = _GUESSED[_family(declared.values[0])]
        values = tuple(map(_as_constant, declared.values))
        return AttributeType(guessed.column, guessed.space, declared.nullable, values)
    column = column_type(declared, text)
    return AttributeType(None if column.family == "other" else column, value_space(column), nullable)


def _guess(tests: Sequence[Predicate]) -> AttributeType:
    families = {family for predicate in tests for family in _families(predicate)}
    if families == {"number", "double"}:
        return _NUMBER
    if families == {"string"} and not _has_text_tests(tests):
        return _LIKELY_TEXT if _are_texts(tests) else MIXED
    return _GUESSED[families.pop()] if len(families) == 1 else MIXED


def is_doubtful(predicate: Predicate) -> bool:
    """Whether a predicate compares with strings that would mean something else if the column is not a string."""
    if predicate.operator in ("in list", "not in list"):
        return False
    texts = [constant.text for constant in map(folded, predicate.constants) if constant.kind == "string"]
    return any(_OTHER_TYPE.match(text) and not _ISO_DATE.fullmatch(text) for text in texts)


def _has_text_tests(tests: Sequence[Predicate]) -> bool:
    operators = {predicate.operator.removeprefix("not ") for predicate in tests}
    return bool(operators & set(_TEXT_TESTS) or _TEXT_CALL.match(tests[0].attribute))


def _are_texts(tests: Sequence[Predicate]) -> bool:
    """Whether the constants can be compared as strings, whatever the column's type is."""
    operators = {predicate.operator for predicate in tests}
    constants = {folded(constant) for predicate in tests for constant in predicate.constants}
    texts = {constant.text for constant in constants if constant.kind == "string"}
    other = {text for text in texts if _OTHER_TYPE.match(text)}
    if all(_ISO_DATE.fullmatch(text) for text in other):
        return True
    if operators & {"<", "<=", ">", ">="}:
        return False
    values = [_other_value(text) for text in other]
    return None not in values and len(set(values)) == len(values)


def _other_value(text: str) -> object:
    """A string as a number or a Boolean. None if it may be a date or time."""
    word = text.strip().lower()
    if word in _TRUE_WORDS or word in _FALSE_WORDS:
        return word in _TRUE_WORDS
    if _LOOSE_DATE.match(word):
        return None
    try:
        return "nan" if "nan" in word else float(word)
    except ValueError:
        return text  # `127.0.0.1` can only be a string


def _families(predicate: Predicate) -> set[str]:
    """What a predicate's constants and operator reveal about the attribute. SQL of unknown type reveals nothing."""
    if predicate.operator.removeprefix("not ") == "in list":
        return set()  # the constant is the name of a list
    if predicate.operator.removeprefix("not ") in _TEXT_TESTS:
        return {"string"}
    if predicate.operator in _TRUTH_TESTS:
        return {"boolean"}
    found = set()
    for constant in map(folded, predicate.constants):
        if constant.kind in _NUMBERS:
            found.add("double" if constant.kind == "double" else "number")
        elif constant.kind in ("string", "boolean"):
            found.add("string" if constant.kind == "string" else "boolean")
        elif constant.kind == "sql" and _DATE.fullmatch(constant.text):
            found.add("date")
    return found


def _family(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    return "boolean" if isinstance(value, bool) else "number"


def _as_constant(value: Any) -> Any:
    if isinstance(value, str):
        return value
    return int(value) if isinstance(value, (bool, int)) else Decimal(str(value))
