"""What a predicate on a column of a given type compares, when that is certain.

Contract: the same answer as Spark under its default settings, or `Unsupported` with the reason; never a guess. A test
becomes a base operator in a *domain* of values with a total order, and what it says for NULL:

| test | base | negated | on NULL |
|---|---|---|---|
| `=`, `<`, `>`, `in`, `like`, ... | itself | | not true |
| `<>`, `>=`, `<=`, `not in`, `not like`, ... | `=`, `<`, `>`, `in`, `like`, ... | yes | not true |
| `<=>` c, `not <=>` c | `=` | no, yes | not true, true |
| `is null`, `<=> NULL`; `is not null`, `not <=> NULL` | present | yes, no | true, not true |
| `is true`, `is not true`; `is false`, `is not false` | `=` true; `=` false | no, yes | not true, true |
| anything else with NULL; `not in` with a NULL in the list | never | | not true |

| column | constants | domain |
|---|---|---|
| integers | integers of 64 bits | integer |
| integers, decimals | integers, decimals, if Spark's common decimal keeps every digit (38 at most) | exact |
| integers, decimals | a double (in IN: any of them) | double, the column is cast |
| float, double | numbers; against a float, integers that a float holds | double |
| boolean | booleans | integer |
| date | `DATE '...'`, a string that is an ISO date | integer, days |
| timestamp | timestamps, strings; with an offset if and only if the column has a zone | integer, microseconds |
| string (UTF8_BINARY) | strings | text |

NaN equals NaN and is greater than everything, -0.0 equals 0.0: no constant here is NaN, so sorting NaN last does it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from sparkrules.index.columns import Unsupported
from sparkrules.sql.tree import Constant, Predicate

Domain = Literal["presence", "integer", "double", "exact", "text"]

_NEGATIVE = {"<>": "=", ">=": "<", "<=": ">", "is not null": "is null", "is not true": "is true"}
_NEGATIVE |= {"is not false": "is false"}
_PATTERNS = ("like", "ilike", "contains", "startswith", "endswith")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d{1,6})?(Z|[+-](?:0\d|1[0-7]):[0-5]\d)?")
_TYPED = re.compile(r"(DATE|TIMESTAMP|TIMESTAMP_LTZ|TIMESTAMP_NTZ)\s*'([^'\\]*)'", re.IGNORECASE)


@dataclass(frozen=True)
class Test:
    """A base operator over values of a domain; see the module."""

    __test__ = False  # not a test of pytest's

    domain: Domain
    operator: Literal["present", "=", "<", ">", "in", "like", "ilike", "contains", "startswith", "endswith"]
    values: tuple[Any, ...] = ()
    negated: bool = False
    on_null: bool = False


NEVER = Test("presence", "in")


def certain_test(predicate: Predicate, column: Any) -> Test:
    """The test that a predicate makes on a column of an Arrow type.

    >>> five = Constant("decimal", "5.5")
    >>> certain_test(Predicate("i", ">=", (five,)), pa.int32())
    Test(domain='exact', operator='<', values=(Decimal('5.5'),), negated=True, on_null=False)
    >>> certain_test(Predicate("i", "=", (Constant("string", "5"),)), pa.int32())
    Traceback (most recent call last):
    ...
    sparkrules.index.columns.Unsupported: Spark casts implicitly to compare int32 with '5'
    """
    operator, constants = predicate.operator, predicate.constants
    negated = operator.startswith("not ") or operator in _NEGATIVE
    base = _NEGATIVE.get(operator, operator.removeprefix("not "))
    if base == "rlike":
        raise Unsupported("RLIKE is a regular expression of Java")
    if base == "is null":
        return Test("presence", "present", negated=not negated, on_null=not negated)
    if base in ("is true", "is false"):
        if not (pa.types.is_boolean(column) or pa.types.is_null(column)):
            raise Unsupported(f"{operator.upper()} needs a boolean column, not {column}")
        return Test("integer", "=", (int(base == "is true"),), negated, on_null=negated)
    if not constants or (base != "in" and len(constants) != 1):
        raise Unsupported(f"{operator.upper()} with {len(constants)} constants")
    present = tuple(constant for constant in constants if constant.kind != "null")
    if base == "<=>" and not present:
        return Test("presence", "present", negated=not negated, on_null=not negated)
    on_null = base == "<=>" and negated
    if not present:
        return NEVER
    if pa.types.is_null(column):
        return Test("presence", "in", on_null=on_null)
    if base in _PATTERNS:
        if not _is_text(column) or present[0].kind != "string":
            raise _implicit_cast(column, present[0])
        return Test("text", base, (present[0].text,), negated)  # type: ignore[arg-type]
    domain, values = _common(column, present, listed=base == "in")
    if negated and len(present) < len(constants):
        return NEVER
    return Test(domain, "=" if base == "<=>" else base, values, negated, on_null)  # type: ignore[arg-type]


def _common(column: Any, constants: Sequence[Constant], listed: bool) -> tuple[Domain, tuple[Any, ...]]:
    """The domain in which Spark compares the column with these constants, and the constants in it."""
    kinds = {constant.kind for constant in constants}
    if pa.types.is_boolean(column) and kinds == {"boolean"}:
        return "integer", tuple(int(constant.text.lower() == "true") for constant in constants)
    if _is_text(column) and kinds == {"string"}:
        return "text", tuple(constant.text for constant in constants)
    if pa.types.is_date32(column):
        return "integer", tuple(_days(column, constant) for constant in constants)
    if pa.types.is_timestamp(column) and column.unit != "ns":
        return "integer", tuple(_microseconds(column, constant, listed) for constant in constants)
    if _digits(column) or pa.types.is_float32(column) or pa.types.is_float64(column):
        for constant in constants:
            if constant.kind not in ("integer", "decimal", "double"):
                raise _implicit_cast(column, constant)
        return _numbers(column, constants)
    raise _implicit_cast(column, constants[0])


def _numbers(column: Any, constants: Sequence[Constant]) -> tuple[Domain, tuple[Any, ...]]:
    try:
        numbers = [Decimal(constant.text) for constant in constants]
        doubles = tuple(float(constant.text) for constant in constants)
    except (InvalidOperation, ValueError):
        raise Unsupported(f"not a plain number among {', '.join(map(str, constants))}") from None
    kinds = {constant.kind for constant in constants}
    if not all(number.is_finite() for number in numbers):
        raise Unsupported("a constant that is not a finite number")
    if pa.types.is_float32(column) and kinds == {"integer"}:
        # ANSI compares these as doubles, without ANSI as floats: the same only for what a float holds exactly.
        for number, double in zip(numbers, doubles, strict=True):
            if abs(number) >= 2**63 or int(np.float32(double)) != number:
                raise Unsupported(f"whether {number} becomes a float or a double depends on ANSI mode")
    if "double" in kinds or not _digits(column):
        return "double", doubles
    if kinds == {"integer"} and pa.types.is_integer(column) and all(-(2**63) <= n < 2**63 for n in numbers):
        return "integer", tuple(int(number) for number in numbers)
    before, after = zip(_digits(column), *map(_constant_digits, constants, numbers), strict=True)
    if max(before) + max(after) > 38:
        raise Unsupported(f"no decimal of 38 digits holds both {column} and {', '.join(map(str, constants))}")
    return "exact", tuple(numbers)


def _digits(column: Any) -> tuple[int, int] | tuple[()]:
    """Digits before and after the point of the decimal that holds the type (`DecimalType.forType`); () for others."""
    if pa.types.is_decimal128(column) and 0 <= column.scale <= column.precision:
        return column.precision - column.scale, column.scale
    if pa.types.is_signed_integer(column):
        return {8: 3, 16: 5, 32: 10, 64: 20}[column.bit_width], 0
    return ()


def _constant_digits(constant: Constant, number: Decimal) -> tuple[int, int]:
    _, digits, exponent = number.as_tuple()
    after = max(0, -int(exponent))
    before = max(0, len(digits) + int(exponent))
    if constant.kind == "integer":
        before = max(10 if -(2**31) <= number < 2**31 else 20 if -(2**63) <= number < 2**63 else 0, before)
    return before, after


def _days(column: Any, constant: Constant) -> int:
    typed = _TYPED.fullmatch(constant.text) if constant.kind == "sql" else None
    text = typed[2] if typed and typed[1].upper() == "DATE" else constant.text if constant.kind == "string" else ""
    if not _DATE.fullmatch(text):
        raise _implicit_cast(column, constant)
    try:
        return (date.fromisoformat(text) - date(1970, 1, 1)).days
    except ValueError:
        raise Unsupported(f"{constant} is not a date") from None


def _microseconds(column: Any, constant: Constant, listed: bool) -> int:
    """Without an offset, a timestamp is an instant only in some session's zone; with one, it is no local time."""
    typed = _TYPED.fullmatch(constant.text) if constant.kind == "sql" else None
    names = ("TIMESTAMP_NTZ",) if column.tz is None else ("TIMESTAMP", "TIMESTAMP_LTZ")
    if typed and typed[1].upper() in names:
        text = typed[2]
    elif constant.kind == "string" and not listed:  # in an IN list, Spark may compare strings instead
        text = constant.text
    else:
        raise _implicit_cast(column, constant)
    written = _TIMESTAMP.fullmatch(text)
    if not written or (written[1] is None) != (column.tz is None):
        raise Unsupported(f"which instant {constant} is depends on the session's time zone")
    try:
        moment = datetime.fromisoformat(_padded(text))
    except ValueError:
        raise Unsupported(f"{constant} is not a timestamp") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - datetime(1970, 1, 1, tzinfo=timezone.utc)) // timedelta(microseconds=1)


def _padded(text: str) -> str:
    """`...01.5Z -> ...01.500000+00:00`: what Python 3.10 can read."""
    text = text.replace("Z", "+00:00")
    return re.sub(r"\.(\d+)", lambda fraction: "." + fraction[1].ljust(6, "0"), text)


def _is_text(column: Any) -> bool:
    return str(column) in ("string", "large_string", "string_view")


def _implicit_cast(column: Any, constant: Constant) -> Unsupported:
    return Unsupported(f"Spark casts implicitly to compare {column} with {constant}")
