"""The parts of other dialects that mean the same in Spark. Everything else is rejected.

sqlglot translates nearly everything, even where Spark gives another result: `7 / 2` is 3 in Postgres and 3.5 in Spark,
`CAST(1.5 AS INT)` is 2 there and 1 here, `LIKE '[a-c]%'` is a pattern in T-SQL only, and a Snowflake regular expression
must match the whole string. A rule that silently changes its meaning is worse than a rejected one.

Contract: an accepted rule is true for the same rows, given values of the same types and no errors on either side.
Types, collations (whether `'a' = 'A'`) and errors follow the Spark table and session that the rule is matched on.
`docs/dialects.md` lists what was examined; `spark_rewrite` rewrites accepted nodes for Spark.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from sparkrules.sql.dialect_node import (
    IGNORE_NULL,
    Refusal,
    added_by_sqlglot,
    listed,
    shown,
    sides,
    text_of,
    whole_number,
)
from sparkrules.sql.dialect_strings import (
    refusal_of_escape,
    refusal_of_joined,
    refusal_of_length,
    refusal_of_like,
    refusal_of_position,
    refusal_of_regex,
    refusal_of_similar,
    refusal_of_split_part,
    refusal_of_start,
    refusal_of_substring,
    refusal_of_trim,
)
from sparkrules.sql.dialect_times import (
    refusal_of_added_to_dates,
    refusal_of_date_add,
    refusal_of_date_diff,
    refusal_of_extract,
    refusal_of_interval,
    refusal_of_trunc,
)
from sparkrules.sql.division import refusal_of_division
from sparkrules.sql.policy import Policy
from sparkrules.sql.row_functions import AGGREGATES, ROW_FUNCTIONS

_SAME = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Paren,
    exp.Column,
    exp.Identifier,
    exp.Boolean,
    exp.Null,
    exp.National,
    exp.RawString,
    exp.Var,
    exp.Neg,
    exp.Case,
    exp.If,
    exp.Nullif,
    exp.Nvl2,
    exp.Lower,
    exp.Upper,
    exp.Reverse,
    exp.Abs,
    exp.Sign,
    exp.StartsWith,
    exp.EndsWith,
    exp.CurrentDate,
    exp.CurrentTimestamp,
    exp.TsOrDsToDate,
    exp.Year,
    exp.Month,
    exp.Day,
    exp.DataType,
    exp.DataTypeParam,
)
_COMPARISONS = (
    exp.EQ,
    exp.NEQ,
    exp.GT,
    exp.GTE,
    exp.LT,
    exp.LTE,
    exp.NullSafeEQ,
    exp.NullSafeNEQ,
    exp.EqualNull,
    exp.Is,
    exp.In,
    exp.Between,
    exp.Like,
    exp.ILike,
    exp.RegexpLike,
    exp.RegexpILike,
    exp.SimilarTo,
)
_SAME_NAMES = {
    "postgres": frozenset({"octet_length", "bit_length"}),
    "mysql": frozenset({"now", "octet_length", "bit_length"}),
}
# sqlglot reads them as functions. `sum` and the like it takes for aggregates.
_ROW_FUNCTIONS = ROW_FUNCTIONS - AGGREGATES
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
_BOOLEANS = frozenset({"true", "false", "t", "f", "yes", "no", "y", "n", "1", "0"})


def refusal(node: exp.Expr, dialect: str, policy: Policy) -> Refusal:
    """Why this node is not certain to have an equivalent in Spark, or None if it has one."""
    if isinstance(node, _COMPARISONS):
        for operand in (node.this, node.args.get("expression")):
            if isinstance(operand, (*_COMPARISONS, exp.Not, exp.Escape)):
                return "dialects differ in which of these comparisons comes first: add brackets"
    if _doubles(node, dialect) and _inside_of_doubled(node, dialect):
        return f"{shown(node, dialect)} inside another function or predicate that has to be expanded: write them apart"
    if isinstance(node, exp.Placeholder) and policy.operators and node.name:
        return None
    check = _CHECKS.get(type(node))
    if check is not None:
        return check(node, dialect)
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name in _ROW_FUNCTIONS and policy.reads_row_function(name):
            return None
        known = name in policy.extra_functions or name in policy.operators
        if known or (name in _SAME_NAMES.get(dialect, ()) and (name != "now" or _bare(node))):
            return None
        return f"{node.name} is not a function that means the same in Spark"
    if isinstance(node, (*_SAME, *_COMPARISONS)):
        return None
    return f"{shown(node, dialect)} is not known to mean the same in Spark"


def _doubles(node: exp.Expr | None, dialect: str) -> bool:
    """Whether translation copies the operands of a node, in our code or in sqlglot's."""
    if isinstance(node, (exp.Greatest, exp.Least)):
        return dialect not in IGNORE_NULL
    if isinstance(node, exp.ConcatWs):
        return dialect == "snowflake"
    if isinstance(node, exp.Between):
        return bool(node.args.get("symmetric"))
    return isinstance(node, (exp.Ceil, exp.Floor))


def _inside_of_doubled(node: exp.Expr, dialect: str) -> bool:
    """Nested copying would grow exponentially."""
    parent = node.parent
    while parent is not None and not _doubles(parent, dialect):
        parent = parent.parent
    return parent is not None


def _bare(node: exp.Expr) -> bool:
    return not node.expressions


def _only(*dialects: str, why: str) -> Callable[[exp.Expr, str], Refusal]:
    return lambda _node, dialect: None if dialect in dialects else why


def _literal(node: exp.Expr, dialect: str) -> Refusal:
    if node.is_string:
        return None
    number = re.fullmatch(r"[0-9.]+([eE][+-]?[0-9]{1,3})?", node.name)
    # Spark reads a number with an exponent as a double. PostgreSQL reads a decimal, so it is written as one.
    return "a number that Spark writes otherwise" if number is None or (number[1] and dialect == "snowflake") else None


def _byte_string(_node: exp.Expr, dialect: str) -> Refusal:
    return None if dialect == "postgres" else "bytes are not known to mean the same in Spark"


def _parameter(_node: exp.Expr, _dialect: str) -> Refusal:
    return "a parameter or variable has no value in a rule: write the value itself"


# --- arithmetic


def _add(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "tsql" and not any(isinstance(side, exp.Literal) and side.is_number for side in sides(node)):
        return "+ may join strings in T-SQL: use CONCAT, or dialect='spark'"
    return _arithmetic(node, dialect)


def _arithmetic(node: exp.Expr, dialect: str) -> Refusal:
    if any(isinstance(side, exp.DPipe) for side in sides(node)):
        return "dialects differ in whether || or arithmetic comes first: add brackets"
    if dialect == "bigquery" and any(isinstance(n, exp.Literal) and not n.is_int for n in sides(node)):
        return "a fraction is a floating point number there, and a decimal in Spark"
    return None


def _bits(node: exp.Expr, dialect: str) -> Refusal:
    if dialect not in ("postgres", "tsql", "bigquery"):
        return f"{shown(node, dialect)} is not known to mean the same in Spark"
    simple = (exp.Column, exp.Literal, exp.Paren)
    if not isinstance(node.parent, exp.Paren) or not all(isinstance(side, simple) for side in sides(node)):
        return "dialects differ in whether & and | come before other operators: add brackets"
    return None


def _rounded(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "postgres" and whole_number(node.args.get("decimals"), 0) and not node.args.get("truncate"):
        return None
    return "doubles are rounded otherwise in Spark" + (": say how many digits" if dialect == "postgres" else "")


def _ceil(node: exp.Expr, _dialect: str) -> Refusal:
    plain = not node.args.get("decimals") and not node.args.get("to")
    return None if plain else "CEIL and FLOOR to a number of digits are not known to mean the same in Spark"


def _extreme(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "bigquery" and isinstance(node, exp.Least):
        return "LEAST of a NaN is not Spark's"
    return None if node.expressions else "GREATEST and LEAST take two values or more"


# --- predicates


def _in(node: exp.Expr, _dialect: str) -> Refusal:
    return "IN takes a list of values" if node.args.get("query") or not node.expressions else None


def _quantified(node: exp.Expr, dialect: str) -> Refusal:
    """`a = ANY (ARRAY[1, 2])`, which is IN, and `a <> ALL (ARRAY[1, 2])`, which is NOT IN."""
    if isinstance(node.parent, (exp.Like, exp.ILike)):
        return "LIKE ANY and LIKE ALL: write them with OR and AND"
    if dialect == "postgres" and isinstance(node.parent, exp.EQ) and node.arg_key == "expression" and listed(node):
        return None
    return f"{shown(node, dialect)} is not known to mean the same in Spark"


def _array(node: exp.Expr, dialect: str) -> Refusal:
    around = node.parent.parent if isinstance(node.parent, exp.Paren) else node.parent
    return None if isinstance(around, exp.Any) else f"{shown(node, dialect)} is not known to mean the same in Spark"


# --- conversions


def _cast(node: exp.Expr, dialect: str) -> Refusal:
    to = node.args["to"]
    kind, literal = to.this.name if hasattr(to.this, "name") else str(to.this), text_of(node.this)
    if isinstance(node.this, exp.Null) and kind not in ("CHAR", "VARCHAR", "NCHAR", "NVARCHAR"):
        return None
    if kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME", "DATETIME2"):
        if literal is not None and not _ISO.fullmatch(literal):
            return "a date or time that is not written as 2020-01-31 or 2020-01-31 12:00:00"
        return None
    if kind == "DOUBLE":
        return None
    if kind == "DECIMAL":
        return None if len(to.expressions) == 2 else "DECIMAL without its two numbers is DECIMAL(10, 0) in Spark"
    if kind in ("INT", "BIGINT", "SMALLINT", "TINYINT"):
        if literal is None:
            return None if dialect == "tsql" else "a cast to a whole number rounds there and cuts off in Spark"
        return None if re.fullmatch(r"-?[0-9]{1,19}", literal) else "a string that is not a whole number"
    if kind == "TEXT" and not to.expressions and (literal is not None or added_by_sqlglot(node, dialect)):
        return None
    if kind == "BOOLEAN" and literal is not None and literal.lower() in _BOOLEANS and dialect != "mysql":
        return None
    return f"a cast to {to.sql(dialect)} may give another value in Spark"


def _coalesce(node: exp.Expr, _dialect: str) -> Refusal:
    return "ISNULL gives the type of its first argument: use COALESCE" if node.args.get("is_null") else None


_CHECKS: dict[type[exp.Expr], Callable[[exp.Expr, str], Refusal]] = {
    exp.Literal: _literal,
    exp.ByteString: _byte_string,
    exp.Add: _add,
    exp.Sub: _arithmetic,
    exp.Mul: _arithmetic,
    exp.Mod: _arithmetic,
    exp.Div: refusal_of_division,
    exp.IntDiv: _only("mysql", "bigquery", why="a whole division that is not Spark's"),
    exp.BitwiseAnd: _bits,
    exp.BitwiseOr: _bits,
    exp.Round: _rounded,
    exp.Ceil: _ceil,
    exp.Floor: _ceil,
    exp.Greatest: _extreme,
    exp.Least: _extreme,
    exp.Contains: _only("snowflake", why="a search that ignores more than Spark's does"),
    exp.Xor: _only("mysql", why="XOR is not known to mean the same in Spark"),
    exp.In: _in,
    exp.Parameter: _parameter,
    exp.SessionParameter: _parameter,
    exp.Placeholder: _parameter,
    exp.Any: _quantified,
    exp.Array: _array,
    exp.Like: refusal_of_like,
    exp.ILike: refusal_of_like,
    exp.Escape: refusal_of_escape,
    exp.RegexpLike: refusal_of_regex,
    exp.RegexpILike: refusal_of_regex,
    exp.SimilarTo: refusal_of_similar,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Coalesce: _coalesce,
    exp.Concat: refusal_of_joined,
    exp.ConcatWs: refusal_of_joined,
    exp.DPipe: refusal_of_joined,
    exp.Length: refusal_of_length,
    exp.Trim: refusal_of_trim,
    exp.Left: refusal_of_start,
    exp.Right: refusal_of_start,
    exp.Substring: refusal_of_substring,
    exp.StrPosition: refusal_of_position,
    exp.SplitPart: refusal_of_split_part,
    exp.Translate: _only("postgres", "snowflake", why="TRANSLATE is not known to mean the same in Spark"),
    exp.Replace: _only("postgres", "mysql", "snowflake", "bigquery", why="REPLACE follows the collation in T-SQL"),
    exp.Extract: refusal_of_extract,
    exp.DayOfWeek: _only("mysql", why="the days of the week are counted otherwise in Spark"),
    exp.TimestampTrunc: refusal_of_trunc,
    exp.DateTrunc: refusal_of_trunc,
    exp.Interval: refusal_of_interval,
    exp.DateAdd: refusal_of_date_add,
    exp.DateSub: refusal_of_date_add,
    exp.DateDiff: refusal_of_date_diff,
    exp.TimeStrToTime: refusal_of_added_to_dates,
}
