"""Date and time functions of other dialects that mean the same in Spark."""

from __future__ import annotations

from sqlglot import exp

from sparkrules.sql.dialect_node import Refusal, shown

_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"})
_FIELDS = {
    "postgres": _UNITS | {"SECOND", "DOW", "ISODOW", "DOY", "WEEK"},
    "bigquery": _UNITS | {"DAYOFWEEK", "DAYOFYEAR"},
}
INTERVAL_UNITS = _UNITS - {"QUARTER"} | {"SECOND", "WEEK"}


def refusal_of_extract(node: exp.Expr, dialect: str) -> Refusal:
    if node.name.upper() in _FIELDS.get(dialect, _UNITS):
        return None
    return f"{node.name} is counted otherwise in Spark"


def refusal_of_trunc(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    # Spark has one function for dates and one for times. The one for dates does not support days.
    units = _UNITS - {"DAY", "HOUR", "MINUTE"} if isinstance(node, exp.DateTrunc) else _UNITS
    if node.args.get("zone") or unit is None or unit.name.upper() not in units:
        return f"only a truncation to {', '.join(sorted(units))} is the same in Spark"
    return None


def refusal_of_interval(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    amount = node.this.name if isinstance(node.this, exp.Literal) else ""
    if not isinstance(unit, exp.Var) or not amount.isdigit() or unit.name.upper().rstrip("S") not in INTERVAL_UNITS:
        return "an interval is one number and one unit, INTERVAL '3' DAY"
    return None


def refusal_of_date_add(node: exp.Expr, _dialect: str) -> Refusal:
    unit, amount = node.args.get("unit"), node.expression
    number = amount.this if isinstance(amount, exp.Neg) else amount
    if not isinstance(unit, exp.Var) or unit.name.upper() not in INTERVAL_UNITS:
        return f"only {', '.join(sorted(INTERVAL_UNITS))} are added in the same way in Spark"
    if not isinstance(number, exp.Literal) or not number.name.isdigit():
        return "the number added to a date must be a literal integer"
    return None


def refusal_of_date_diff(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    return None if unit is None or unit.name.upper() == "DAY" else "only DAY is counted in the same way in Spark"


def refusal_of_added_to_dates(node: exp.Expr, dialect: str) -> Refusal:
    """sqlglot wraps the dates of T-SQL's DATEDIFF in it."""
    return None if isinstance(node.parent, exp.DateDiff) else f"{shown(node, dialect)} is not known to mean the same"
