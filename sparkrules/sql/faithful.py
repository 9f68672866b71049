"""Which parts of another dialect mean the same in Spark: a list of what does, and a refusal of everything else.

sqlglot translates nearly everything, also where Spark means something else by it: `7 / 2` is 3 in Postgres and 3.5 in
Spark, `CAST(1.5 AS INT)` is 2 there and 1 here, `LIKE '[a-c]%'` is a pattern in T-SQL only, a regular expression of
Snowflake has to match the whole text. A rule that silently means something else is worse than a rule that is refused.

Contract: on values of the same types, and where neither side raises an error, what is accepted is true for the same
rows. Types, collations (whether `'a' = 'A'`) and errors are those of the Spark table and session that the rule is
matched on. `docs/dialects.md` lists what was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from sparkrules.sql.policy import Policy

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
    exp.Tuple,
    exp.Sub,
    exp.Mul,
    exp.Mod,
    exp.Neg,
    exp.Case,
    exp.If,
    exp.Nullif,
    exp.Lower,
    exp.Upper,
    exp.Abs,
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
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"})
_INTERVAL_UNITS = _UNITS - {"QUARTER"} | {"SECOND", "WEEK"}
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)

Refusal = str | None
"""Why a node cannot be taken over, or None if it can."""


def refusal(node: exp.Expr, dialect: str, policy: Policy) -> Refusal:
    """Why this node of a tree of another dialect cannot be said in Spark with certainty; None if it can."""
    if isinstance(node, _COMPARISONS):
        for operand in (node.this, node.args.get("expression")):
            if isinstance(operand, (*_COMPARISONS, exp.Not, exp.Escape)):
                return "dialects differ in which of these comparisons comes first: add brackets"
    check = _CHECKS.get(type(node))
    if check is not None:
        return check(node, dialect)
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if dialect == "mysql" and name == "now" and not node.expressions:
            return None
        return None if name in policy.extra_functions else f"{node.name} is not a function that means the same in Spark"
    if isinstance(node, (*_SAME, *_COMPARISONS)):
        return None
    return f"{node.key.upper()} may mean something else in Spark"


def _literal(node: exp.Expr, _dialect: str) -> Refusal:
    if node.is_string or re.fullmatch(r"[0-9.]+([eE][+-]?[0-9]+)?", node.name):
        return None
    return "a number that Spark writes otherwise"


def _text(node: exp.Expr | None) -> str | None:
    """The value of a string literal."""
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    return str(node.this) if isinstance(node, (exp.RawString, exp.National)) else None


def _add(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "tsql" and not any(isinstance(side, exp.Literal) and side.is_number for side in _sides(node)):
        return "+ may join texts in T-SQL: use CONCAT, or dialect='spark'"
    return _no_mixture(node, dialect)


def _no_mixture(node: exp.Expr, _dialect: str) -> Refusal:
    inside = _ARITHMETIC if isinstance(node, exp.DPipe) else (exp.DPipe,)
    if any(isinstance(side, inside) for side in _sides(node)):
        return "dialects differ in whether || or arithmetic comes first: add brackets"
    return None


def _sides(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return node.this, node.expression


def _div(_node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "bigquery":
        return None
    return "/ of whole numbers is not Spark's, which gives a fraction"


def _only(*dialects: str, why: str) -> Callable[[exp.Expr, str], Refusal]:
    return lambda _node, dialect: None if dialect in dialects else why


def _in(node: exp.Expr, _dialect: str) -> Refusal:
    return "IN takes a list of values" if node.args.get("query") or not node.expressions else None


def _like(node: exp.Expr, dialect: str) -> Refusal:
    pattern = _text(node.expression)
    escaped = isinstance(node.parent, exp.Escape)
    if pattern is None:
        if isinstance(node.expression, (exp.Any, exp.All)):
            return "LIKE ANY and LIKE ALL: write them with OR and AND"
        return "LIKE takes a text here" if dialect in ("snowflake", "tsql") else None
    if dialect == "tsql" and "[" in pattern:
        return "[ is a wildcard of T-SQL's LIKE"
    if escaped:
        return None
    if dialect in ("snowflake", "tsql") and "\\" in pattern:
        return "\\ in LIKE is an ordinary character there, and an escape in Spark: add ESCAPE"
    if any(escape[1] not in ("%", "_", "\\") for escape in _ESCAPE.finditer(pattern)):
        return "Spark's LIKE accepts \\ only before %, _ and \\"
    return None


def _escape(node: exp.Expr, _dialect: str) -> Refusal:
    escape = _text(node.expression)
    if not isinstance(node.this, (exp.Like, exp.ILike)) or escape is None or len(escape) != 1 or escape in "%_":
        return "ESCAPE takes one character"
    pattern = _text(node.this.expression)
    if pattern is None:
        return "LIKE with ESCAPE takes a text here"
    at = 0
    while (at := pattern.find(escape, at)) >= 0:
        if pattern[at + 1 : at + 2] not in ("%", "_", escape):
            return f"Spark's LIKE accepts {escape} only before %, _ and {escape}"
        at += 2
    return None


def _regex(node: exp.Expr, dialect: str) -> Refusal:
    pattern = _text(node.expression)
    if dialect not in _REGEX or node.args.get("flag") or pattern is None:
        return "a regular expression that is not a plain text"
    if not _PLAIN_REGEX.fullmatch(pattern):
        return (
            "a regular expression with parts that dialects understand differently. The same everywhere are letters, "
            "[a-z], ., ^, $, groups, |, *, +, ?, {2,3} and \\ before a sign"
        )
    return None


# Unicode, POSIX classes, word boundaries, flags and look-around are not the same everywhere.
_PLAIN_REGEX = re.compile(
    r"""(?: [^\\\[\](){}*+?|^$.&] | & | \\[^A-Za-z0-9\s] | \. | \^ | \$ | \((?:\?:)? | \) | \|
          | \[\^?(?:[A-Za-z0-9_ ,;:/@%=~!'"<>#-]|\\[^A-Za-z0-9\s])+\]
          | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\?? )*""",
    re.VERBOSE,
)
# What stands before and after, and what the end of the text is: Java's $ also matches before a last newline.
_REGEX = {
    "postgres": ("(?s)", "", r"\z"),
    "mysql": ("", "", "$"),
    "snowflake": (r"\A(?:", r")\z", r"\z"),
    "bigquery": ("", "", r"\z"),
}


def java_regex(pattern: str, dialect: str) -> str:
    r"""The pattern in Java's words, for one that `refusal` has accepted.

    >>> print(java_regex("a.c$", "postgres"), java_regex("a|b", "snowflake"))
    (?s)a.c\z \A(?:a|b)\z
    """
    before, after, end = _REGEX[dialect]
    return before + re.sub(r"\\.|\[[^\]]*\]|\$", lambda m: end if m[0] == "$" else m[0], pattern) + after


def _cast(node: exp.Expr, dialect: str) -> Refusal:
    to = node.args["to"]
    kind, literal = to.this.name if hasattr(to.this, "name") else str(to.this), _text(node.this)
    if kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME", "DATETIME2"):
        if literal is not None and not _ISO.fullmatch(literal):
            return "a date or time that is not written as 2020-01-31 or 2020-01-31 12:00:00"
        return None
    if kind == "DOUBLE":
        return None
    if kind == "DECIMAL":
        return None if len(to.expressions) == 2 else "DECIMAL without its two numbers is DECIMAL(10, 0) in Spark"
    if literal is None and kind in ("INT", "BIGINT", "SMALLINT", "TINYINT"):
        return None if dialect == "tsql" else "a cast to a whole number rounds there and cuts off in Spark"
    return f"a cast to {to.sql(dialect)} may give another value in Spark"


def _coalesce(node: exp.Expr, _dialect: str) -> Refusal:
    return "ISNULL gives the type of its first argument: use COALESCE" if node.args.get("is_null") else None


def _length(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "mysql" and node.args.get("binary"):
        return "LENGTH counts bytes there: use CHAR_LENGTH"
    return "LEN leaves out spaces at the end" if dialect == "tsql" else None


def _trim(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "bigquery" or node.expression is not None or node.args.get("position"):
        return "TRIM is the same for spaces on both sides only, and BigQuery's trims more than spaces"
    return None


def _substring(node: exp.Expr, _dialect: str) -> Refusal:
    for name in ("start", "length"):
        number = node.args.get(name)
        if number is not None and not (isinstance(number, exp.Literal) and number.is_int and int(number.name) > 0):
            return "SUBSTRING is the same only where its numbers are written out and positive"
    return None


def _position(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "tsql" or node.args.get("position") or node.args.get("occurrence"):
        return "only a search from the start is the same in Spark"
    return None


def _extract(node: exp.Expr, _dialect: str) -> Refusal:
    return None if node.name.upper() in _UNITS else f"{node.name} is counted otherwise in Spark"


def _trunc(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    # Spark has one function for dates and another for times, and the one for dates knows no days.
    units = _UNITS - {"DAY", "HOUR", "MINUTE"} if isinstance(node, exp.DateTrunc) else _UNITS
    if node.args.get("zone") or unit is None or unit.name.upper() not in units:
        return f"only a truncation to {', '.join(sorted(units))} is the same in Spark"
    return None


def _interval(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    amount = node.this.name if isinstance(node.this, exp.Literal) else ""
    if not isinstance(unit, exp.Var) or not amount.isdigit() or unit.name.upper().rstrip("S") not in _INTERVAL_UNITS:
        return "an interval is one number and one unit, INTERVAL '3' DAY"
    return None


def _concat(node: exp.Expr, dialect: str) -> Refusal:
    return None if not node.args.get("coalesce") or dialect in ("postgres", "tsql") else "CONCAT of NULL differs"


_CHECKS: dict[type[exp.Expr], Callable[[exp.Expr, str], Refusal]] = {
    exp.Literal: _literal,
    exp.Add: _add,
    exp.Sub: _no_mixture,
    exp.Mul: _no_mixture,
    exp.DPipe: _no_mixture,
    exp.Div: _div,
    exp.IntDiv: _only("mysql", "bigquery", why="a whole division that is not Spark's"),
    exp.Contains: _only("snowflake", why="a search that ignores more than Spark's does"),
    exp.Xor: _only("mysql", why="XOR is MySQL's"),
    exp.In: _in,
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.RegexpLike: _regex,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Coalesce: _coalesce,
    exp.Length: _length,
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.Replace: _only("postgres", "mysql", "snowflake", "bigquery", why="REPLACE follows the collation in T-SQL"),
    exp.Greatest: _only("postgres", why="Spark's GREATEST skips NULL"),
    exp.Least: _only("postgres", why="Spark's LEAST skips NULL"),
    exp.Extract: _extract,
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.Interval: _interval,
    exp.Concat: _concat,
}
