"""What a predicate compares on a column of a given type, where that is certain.

Contract: the same answer as Spark under its default settings, or `Unsupported` with the reason; never a guess. A
predicate becomes a base operator in a *domain* of totally ordered values, plus its answer for NULL:

| predicate | base | negated | on NULL |
|---|---|---|---|
| `=`, `<`, `>`, `in`, `like`, ... | itself | | not true |
| `<>`, `>=`, `<=`, `not in`, `not like`, ... | `=`, `<`, `>`, `in`, `like`, ... | yes | not true |
| `<=>` c, `not <=>` c | `=` | no, yes | not true, true |
| `is null`, `<=> NULL`; `is not null`, `not <=> NULL` | present | yes, no | true, not true |
| `is true`, `is not true`; `is false`, `is not false` | `=` true; `=` false | no, yes | not true, true |
| anything else with NULL; `not in` with a NULL in the list | never | | not true |
| integers compared with a number beyond 64 bits by `<`, `<=`, `>`, `>=` | never, always | | not true, true |

| column | constants | domain |
|---|---|---|
| integers | integers of 64 bits | integer |
| integers, decimals | integers, decimals, if Spark's common decimal keeps every digit (at most 38) | exact |
| integers, decimals | a double (in IN: any of them) | double, with the column cast |
| float, double | numbers; for a float, integers that a float holds exactly | double |
| boolean | booleans | integer |
| date | `DATE '...'`, a string that is an ISO date | integer, days |
| timestamp | timestamps, strings; with an offset if and only if the column has a zone | integer, microseconds |
| string (UTF8_BINARY, not CHAR(n); see `spark_string`) | strings | string |

NaN equals NaN and is greater than everything; -0.0 equals 0.0. No constant here is NaN, so sorting NaN last suffices.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from sparkrules.logic.columns import Unsupported
from sparkrules.sql.tree import Constant, Predicate

Domain = Literal["presence", "integer", "double", "exact", "string", "address", "list"]

_NEGATIVE = {"<>": "=", ">=": "<", "<=": ">", "is not null": "is null", "is not true": "is true"}
_NEGATIVE |= {"is not false": "is false"}
_NUMBERS = {"integer", "decimal", "double"}
_LONG = (-(2**63), 2**63 - 1)
_FAMILIES: dict[str, Any] = {"null": "void", "bool": "boolean", "float": "float", "double": "double"}
_FAMILIES |= {"string": "string", "large_string": "string", "string_view": "string", "date32[day]": "date"}
_PATTERNS = ("like", "ilike", "contains", "startswith", "endswith")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?(Z|[+-](?:0\d|1[0-7]):[0-5]\d)?")
_TYPED = re.compile(r"(DATE|TIMESTAMP|TIMESTAMP_LTZ|TIMESTAMP_NTZ)\s*'([^'\\]*)'", re.IGNORECASE)


@dataclass(frozen=True)
class ColumnType:
    """The relevant facts about an Arrow type. `digits` before and after the point, if a Spark decimal can hold it."""

    family: Literal["void", "boolean", "integer", "decimal", "float", "double", "string", "date", "timestamp", "other"]
    arrow: Any
    digits: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        return str(self.arrow)


def column_type(arrow: Any, text: str | None = None) -> ColumnType:
    """The family of an Arrow type. Values of family `other` support only NULL checks.

    `text` is the Spark type of a string that is not compared by bytes.

    >>> column_type(pa.int32())
    ColumnType(family='integer', arrow=DataType(int32), digits=(10, 0))
    """
    if text is not None:
        return ColumnType("other", text)
    if pa.types.is_dictionary(arrow):
        arrow = arrow.value_type
    if pa.types.is_decimal128(arrow) and 0 <= arrow.scale <= arrow.precision:
        return ColumnType("decimal", arrow, (arrow.precision - arrow.scale, arrow.scale))
    if pa.types.is_signed_integer(arrow):
        return ColumnType("integer", arrow, ({8: 3, 16: 5, 32: 10, 64: 20}[arrow.bit_width], 0))
    if pa.types.is_timestamp(arrow) and arrow.unit != "ns":  # Spark has microseconds
        return ColumnType("timestamp", arrow)
    return ColumnType(_FAMILIES.get(str(arrow), "other"), arrow)


class Comparison(NamedTuple):
    """A base operator over values of a domain; see the module."""

    domain: Domain
    operator: Literal[
        "present", "=", "<", ">", "in", "within", "in list", "like", "ilike", "contains", "startswith", "endswith"
    ]
    values: tuple[Any, ...] = ()
    negated: bool = False
    on_null: bool = False


NEVER = Comparison("presence", "in")
ALWAYS = Comparison("presence", "in", negated=True, on_null=True)


def certain_comparison(predicate: Predicate, column: ColumnType) -> Comparison:
    """The comparison that a predicate makes on a column of a given type.

    >>> five = Constant("decimal", "5.5")
    >>> certain_comparison(Predicate("i", ">=", (five,)), column_type(pa.int32()))
    Comparison(domain='exact', operator='<', values=(Decimal('5.5'),), negated=True, on_null=False)
    >>> certain_comparison(Predicate("i", "=", (Constant("string", "5"),)), column_type(pa.int32()))
    Traceback (most recent call last):
    ...
    sparkrules.logic.columns.Unsupported: Spark casts implicitly to compare int32 with '5'
    """
    operator, constants = predicate.operator, predicate.constants
    negated = operator.startswith("not ") or operator in _NEGATIVE
    base = _NEGATIVE.get(operator, operator.removeprefix("not "))
    if base == "rlike":
        raise Unsupported("RLIKE is a regular expression of Java")
    if base == "in network":
        raise Unsupported("a network is a range of addresses, not of strings")
    if base == "in list":
        raise Unsupported("what is in a list is known only when rows are matched")
    if base == "is null":
        return Comparison("presence", "present", negated=not negated, on_null=not negated)
    if base in ("is true", "is false"):
        if column.family not in ("boolean", "void"):
            raise Unsupported(f"{operator.upper()} needs a boolean column, not {column}")
        return Comparison("integer", "=", (int(base == "is true"),), negated, on_null=negated)
    if not constants or (base != "in" and len(constants) != 1):
        raise Unsupported(f"{operator.upper()} with {len(constants)} constants")
    present = tuple(constant for constant in constants if constant.kind != "null")
    if base == "<=>" and not present:
        return Comparison("presence", "present", negated=not negated, on_null=not negated)
    on_null = base == "<=>" and negated
    if not present:
        return NEVER
    if column.family == "void":
        return Comparison("presence", "in", on_null=on_null)
    if base in _PATTERNS:
        if column.family != "string" or present[0].kind != "string":
            raise _implicit_cast(column, present[0])
        return Comparison("string", base, (present[0].text,), negated)  # type: ignore[arg-type]
    if column.family == "integer" and base in ("<", ">"):
        beyond = _beyond(present[0])
        if beyond:
            # Spark's analyzer replaces the comparison by TRUE or FALSE without reading the column.
            return ALWAYS if (beyond > 0) == operator.startswith("<") else NEVER
    domain, values = _common(column, present, listed=base == "in")
    if negated and len(present) < len(constants):
        return NEVER
    return Comparison(domain, "=" if base == "<=>" else base, values, negated, on_null)  # type: ignore[arg-type]


def _beyond(constant: Constant) -> int:
    """1 for a number above the range of 64-bit integers, -1 for one below, else 0."""
    if constant.kind not in ("integer", "decimal"):
        return 0
    try:
        number = Decimal(constant.text)
    except InvalidOperation:
        return 0
    return int(number > _LONG[1]) - int(number < _LONG[0])


def _common(column: ColumnType, constants: Sequence[Constant], listed: bool) -> tuple[Domain, tuple[Any, ...]]:
    """The domain in which Spark compares the column with these constants, and the constants in that domain."""
    kinds = {constant.kind for constant in constants}
    family = column.family
    if family in ("integer", "decimal", "float", "double") and kinds <= _NUMBERS:
        return _numbers(column, constants, kinds)
    if family == "string" and kinds == {"string"}:
        return "string", tuple(constant.text for constant in constants)
    if family == "boolean" and kinds == {"boolean"}:
        return "integer", tuple(int(constant.text.lower() == "true") for constant in constants)
    if family == "date":
        return "integer", tuple(_days(column, constant) for constant in constants)
    if family == "timestamp":
        return "integer", tuple(_microseconds(column, constant, listed) for constant in constants)
    raise _implicit_cast(column, next((c for c in constants if c.kind not in _NUMBERS), constants[0]))


def _numbers(column: ColumnType, constants: Sequence[Constant], kinds: Set[str]) -> tuple[Domain, tuple[Any, ...]]:
    try:
        if kinds == {"integer"} and column.family == "integer":
            integers = tuple(int(constant.text) for constant in constants)
            if all(_LONG[0] <= integer <= _LONG[1] for integer in integers):
                return "integer", integers
        numbers = tuple(Decimal(constant.text) for constant in constants)
        doubles = tuple(float(constant.text) for constant in constants)
    except (InvalidOperation, ValueError):
        raise Unsupported(f"not a plain number among {', '.join(map(str, constants))}") from None
    if not all(number.is_finite() for number in numbers):
        raise Unsupported(f"not a finite number among {', '.join(map(str, constants))}")
    if column.family == "float" and kinds == {"integer"}:
        # ANSI mode compares these as doubles, otherwise as floats. They agree only where a float is exact.
        for number in numbers:
            if abs(number) > _LONG[1] or int(np.float32(int(number))) != number:
                raise Unsupported(f"whether {number} becomes a float or a double depends on ANSI mode")
    if "double" in kinds or column.family in ("float", "double"):
        return "double", doubles
    before, after = zip(column.digits, *map(_constant_digits, constants, numbers), strict=True)
    if max(before) + max(after) > 38:
        raise Unsupported(f"no decimal of 38 digits holds both {column} and {', '.join(map(str, constants))}")
    return "exact", numbers


def _constant_digits(constant: Constant, number: Decimal) -> tuple[int, int]:
    _, digits, exponent = number.as_tuple()
    after = max(0, -int(exponent))
    before = max(0, len(digits) + int(exponent))
    if constant.kind == "integer":
        before = max(10 if abs(number) < 2**31 else 20 if abs(number) <= _LONG[1] else 0, before)
    return before, after


def _days(column: ColumnType, constant: Constant) -> int:
    typed = _TYPED.fullmatch(constant.text) if constant.kind == "sql" else None
    text = typed[2] if typed and typed[1].upper() == "DATE" else constant.text if constant.kind == "string" else ""
    if not _DATE.fullmatch(text):
        raise _implicit_cast(column, constant)
    try:
        return (date.fromisoformat(text) - date(1970, 1, 1)).days
    except ValueError:
        raise Unsupported(f"{constant} is not a date") from None


def _microseconds(column: ColumnType, constant: Constant, listed: bool) -> int:
    """Without an offset, an instant depends on the session's zone. With one, it is not a local time."""
    typed = _TYPED.fullmatch(constant.text) if constant.kind == "sql" else None
    names = ("TIMESTAMP_NTZ",) if column.arrow.tz is None else ("TIMESTAMP", "TIMESTAMP_LTZ")
    if typed and typed[1].upper() in names:
        text = typed[2]
    elif constant.kind == "string" and not listed:  # in an IN list, Spark may compare as strings
        text = constant.text
    else:
        raise _implicit_cast(column, constant)
    written = _TIMESTAMP.fullmatch(text)
    if not written or (written[1] is None) != (column.arrow.tz is None):
        raise Unsupported(f"which instant {constant} is depends on the session's time zone")
    try:
        moment = datetime.fromisoformat(_padded(text))
    except ValueError:
        raise Unsupported(f"{constant} is not a timestamp") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def _padded(text: str) -> str:
    """`...01.5Z -> ...01.500000+00:00`: the form that Python 3.10 can parse."""
    text = text.replace("Z", "+00:00")
    return re.sub(r"\.(\d+)", lambda fraction: "." + fraction[1].ljust(6, "0"), text)


def _implicit_cast(column: ColumnType, constant: Constant) -> Unsupported:
    if isinstance(column.arrow, str):
        return Unsupported(f"only Spark knows how {column} compares with {constant}")
    return Unsupported(f"Spark casts implicitly to compare {column} with {constant}")
