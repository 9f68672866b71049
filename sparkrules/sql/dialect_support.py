"""Which parts of another dialect mean the same in Spark: a list of what does, and a refusal of everything else.

sqlglot translates nearly everything, also where Spark means something else by it: `7 / 2` is 3 in Postgres and 3.5 in
Spark, `CAST(1.5 AS INT)` is 2 there and 1 here, `LIKE '[a-c]%'` is a pattern in T-SQL only, a regular expression of
Snowflake has to match the whole text. A rule that silently means something else is worse than a rule that is refused.

Contract: on values of the same types, and where neither side raises an error, what is accepted is true for the same
rows. Types, collations (whether `'a' = 'A'`) and errors are those of the Spark table and session that the rule is
matched on. `docs/dialects.md` lists what was looked at; `spark_rewrite` writes what is accepted in Spark's words.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from sparkrules.sql.concatenation import NOT_A_TEXT, is_joinable
from sparkrules.sql.dialect_regex import DIFFERS, java_regex_of_similar, refusal_of_pattern
from sparkrules.sql.division import refusal_of_division
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
# Where CONCAT, GREATEST and LEAST leave NULL out; elsewhere they are NULL if one value is.
IGNORE_NULL = frozenset({"postgres", "tsql"})
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_SAME_NAMES = {
    "postgres": frozenset({"octet_length", "bit_length"}),
    "mysql": frozenset({"now", "octet_length", "bit_length"}),
}
_UNITS = frozenset({"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE"})
_FIELDS = {
    "postgres": _UNITS | {"SECOND", "DOW", "ISODOW", "DOY", "WEEK"},
    "bigquery": _UNITS | {"DAYOFWEEK", "DAYOFYEAR"},
}
INTERVAL_UNITS = _UNITS - {"QUARTER"} | {"SECOND", "WEEK"}
_ISO = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)
_BOOLEANS = frozenset({"true", "false", "t", "f", "yes", "no", "y", "n", "1", "0"})

Refusal = str | None
"""Why a node cannot be taken over, or None if it can."""


def refusal(node: exp.Expr, dialect: str, policy: Policy) -> Refusal:
    """Why this node of a tree of another dialect cannot be said in Spark with certainty; None if it can."""
    if isinstance(node, _COMPARISONS):
        for operand in (node.this, node.args.get("expression")):
            if isinstance(operand, (*_COMPARISONS, exp.Not, exp.Escape)):
                return "dialects differ in which of these comparisons comes first: add brackets"
    if _doubles(node, dialect) and _inside_of_doubled(node, dialect):
        return f"{shown(node, dialect)} inside of another function or test that is written out: write them apart"
    check = _CHECKS.get(type(node))
    if check is not None:
        return check(node, dialect)
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        if name in policy.extra_functions or (name in _SAME_NAMES.get(dialect, ()) and (name != "now" or _bare(node))):
            return None
        return f"{node.name} is not a function that means the same in Spark"
    if isinstance(node, (*_SAME, *_COMPARISONS)):
        return None
    return f"{shown(node, dialect)} is not known to mean the same in Spark"


def _doubles(node: exp.Expr | None, dialect: str) -> bool:
    """Whether a node is written out with a copy of its operands, by us or by sqlglot."""
    if isinstance(node, (exp.Greatest, exp.Least)):
        return dialect not in IGNORE_NULL
    if isinstance(node, exp.ConcatWs):
        return dialect == "snowflake"
    if isinstance(node, exp.Between):
        return bool(node.args.get("symmetric"))
    return isinstance(node, (exp.Ceil, exp.Floor))


def _inside_of_doubled(node: exp.Expr, dialect: str) -> bool:
    """One inside of the other would double and double."""
    parent = node.parent
    while parent is not None and not _doubles(parent, dialect):
        parent = parent.parent
    return parent is not None


def shown(node: exp.Expr, dialect: str) -> str:
    """A node as its dialect writes it: the name of a function, or the beginning of any other expression."""
    try:
        text = node.sql(dialect, comments=False)
    except Exception:  # sqlglot cannot write everything that it reads
        return "this"
    call = re.match(r"[A-Za-z_][\w.$]*(?=\()", text)
    if call is not None and isinstance(node, exp.Func):
        return call[0]
    return text if len(text) <= 40 else text[:40] + "..."


def text_of(node: exp.Expr | None) -> str | None:
    """The value of a string literal."""
    if isinstance(node, exp.Literal) and node.is_string:
        return str(node.this)
    return str(node.this) if isinstance(node, (exp.RawString, exp.National, exp.ByteString)) else None


def whole_number(node: exp.Expr | None, at_least: int) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_int) and int(node.name) >= at_least


def _bare(node: exp.Expr) -> bool:
    return not node.expressions


def _sides(node: exp.Expr) -> tuple[exp.Expr, exp.Expr]:
    return node.this, node.expression


def _only(*dialects: str, why: str) -> Callable[[exp.Expr, str], Refusal]:
    return lambda _node, dialect: None if dialect in dialects else why


def _literal(node: exp.Expr, dialect: str) -> Refusal:
    if node.is_string:
        return None
    number = re.fullmatch(r"[0-9.]+([eE][+-]?[0-9]{1,3})?", node.name)
    # A number with an exponent is a double to Spark; PostgreSQL's is a decimal, and is written as one.
    return "a number that Spark writes otherwise" if number is None or (number[1] and dialect == "snowflake") else None


def _byte_string(_node: exp.Expr, dialect: str) -> Refusal:
    return None if dialect == "postgres" else "bytes are not known to mean the same in Spark"


def _parameter(_node: exp.Expr, _dialect: str) -> Refusal:
    return "a parameter or variable has no value in a rule: write the value itself"


# --- arithmetic


def _add(node: exp.Expr, dialect: str) -> Refusal:
    if dialect == "tsql" and not any(isinstance(side, exp.Literal) and side.is_number for side in _sides(node)):
        return "+ may join texts in T-SQL: use CONCAT, or dialect='spark'"
    return _arithmetic(node, dialect)


def _arithmetic(node: exp.Expr, dialect: str) -> Refusal:
    if any(isinstance(side, exp.DPipe) for side in _sides(node)):
        return "dialects differ in whether || or arithmetic comes first: add brackets"
    if dialect == "bigquery" and any(isinstance(n, exp.Literal) and not n.is_int for n in _sides(node)):
        return "a fraction is a floating point number there, and a decimal in Spark"
    return None


def _bits(node: exp.Expr, dialect: str) -> Refusal:
    if dialect not in ("postgres", "tsql", "bigquery"):
        return f"{shown(node, dialect)} is not known to mean the same in Spark"
    simple = (exp.Column, exp.Literal, exp.Paren)
    if not isinstance(node.parent, exp.Paren) or not all(isinstance(side, simple) for side in _sides(node)):
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


# --- tests


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


def listed(node: exp.Expr) -> list[exp.Expr]:
    """The members of the array in `ANY (ARRAY[...])`; none if it is something else."""
    array = node.this.unnest() if isinstance(node.this, exp.Paren) else node.this
    return list(array.expressions) if isinstance(array, exp.Array) else []


def _like(node: exp.Expr, dialect: str) -> Refusal:
    pattern = text_of(node.expression)
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
    escape = text_of(node.expression)
    if not isinstance(node.this, (exp.Like, exp.ILike)) or escape is None or len(escape) != 1 or escape in "%_":
        return "ESCAPE takes one character"
    pattern = text_of(node.this.expression)
    if pattern is None:
        return "LIKE with ESCAPE takes a text here"
    at = 0
    while (at := pattern.find(escape, at)) >= 0:
        if pattern[at + 1 : at + 2] not in ("%", "_", escape):
            return f"Spark's LIKE accepts {escape} only before %, _ and {escape}"
        at += 2
    return None


def _regex(node: exp.Expr, dialect: str) -> Refusal:
    if node.args.get("flag"):
        return "a regular expression that is not a plain text"
    any_case = isinstance(node, exp.RegexpILike)
    return refusal_of_pattern(text_of(node.expression), dialect, any_case=any_case)


def _similar(node: exp.Expr, dialect: str) -> Refusal:
    pattern = text_of(node.expression)
    if dialect != "postgres" or pattern is None or isinstance(node.parent, exp.Escape):
        return "SIMILAR TO takes a text here"
    return DIFFERS if java_regex_of_similar(pattern) is None else None


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
        return None if re.fullmatch(r"-?[0-9]{1,19}", literal) else "a text that is not a whole number"
    if kind == "TEXT" and not to.expressions and (literal is not None or added_by_sqlglot(node, dialect)):
        return None
    if kind == "BOOLEAN" and literal is not None and literal.lower() in _BOOLEANS and dialect != "mysql":
        return None
    return f"a cast to {to.sql(dialect)} may give another value in Spark"


def added_by_sqlglot(node: exp.Expr, dialect: str) -> bool:
    """Whether this is the cast that sqlglot puts into LEN, LEFT and RIGHT of T-SQL, and nobody wrote."""
    return dialect == "tsql" and isinstance(node.parent, (exp.Length, exp.Left, exp.Right)) and node.arg_key == "this"


def _coalesce(node: exp.Expr, _dialect: str) -> Refusal:
    return "ISNULL gives the type of its first argument: use COALESCE" if node.args.get("is_null") else None


# --- texts


def _joined(node: exp.Expr, _dialect: str) -> Refusal:
    if isinstance(node, exp.DPipe):
        if any(isinstance(side, _ARITHMETIC) for side in _sides(node)):
            return "dialects differ in whether || or arithmetic comes first: add brackets"
        return None if all(map(is_joinable, _sides(node))) else NOT_A_TEXT
    operands = node.expressions
    if isinstance(node, exp.ConcatWs):
        if text_of(operands[0] if operands else None) is None or len(operands) < 2:
            return "CONCAT_WS takes a separator that is written out, and values"
        operands = operands[1:]
    return None if all(map(is_joinable, operands)) else NOT_A_TEXT


def _length(node: exp.Expr, dialect: str) -> Refusal:
    return "LENGTH counts bytes there: use CHAR_LENGTH" if dialect == "mysql" and node.args.get("binary") else None


def _trim(node: exp.Expr, dialect: str) -> Refusal:
    if node.expression is None:
        return "TRIM takes away more than spaces there" if dialect == "bigquery" else None
    characters = text_of(node.expression)
    if not characters:
        return "what TRIM takes away has to be written out"
    if len(characters) > 1 and dialect not in ("postgres", "snowflake", "bigquery"):
        return "TRIM of several characters takes away any of them in Spark"
    return None


def _start(node: exp.Expr, _dialect: str) -> Refusal:
    if whole_number(node.expression, 0):
        return None
    return "LEFT and RIGHT are the same only where their number is written out and not negative"


def _substring(node: exp.Expr, _dialect: str) -> Refusal:
    length = node.args.get("length")
    if whole_number(node.args.get("start"), 1) and (length is None or whole_number(length, 0)):
        return None
    return "SUBSTRING is the same only where its numbers are written out and positive"


def _position(node: exp.Expr, dialect: str) -> Refusal:
    if node.args.get("position") or node.args.get("occurrence"):
        return "only a search from the start is the same in Spark"
    if dialect == "tsql" and not text_of(node.args.get("substr")):
        return "what CHARINDEX looks for has to be written out: an empty text is found in Spark"
    return None


def _split_part(node: exp.Expr, dialect: str) -> Refusal:
    if text_of(node.args.get("delimiter")) and whole_number(node.args.get("part_index"), 1):
        return None if dialect in ("postgres", "snowflake") else "SPLIT_PART is not known to mean the same in Spark"
    return "SPLIT_PART is the same only where its separator and its number are written out"


# --- dates


def _extract(node: exp.Expr, dialect: str) -> Refusal:
    if node.name.upper() in _FIELDS.get(dialect, _UNITS):
        return None
    return f"{node.name} is counted otherwise in Spark"


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
    if not isinstance(unit, exp.Var) or not amount.isdigit() or unit.name.upper().rstrip("S") not in INTERVAL_UNITS:
        return "an interval is one number and one unit, INTERVAL '3' DAY"
    return None


def _date_add(node: exp.Expr, _dialect: str) -> Refusal:
    unit, amount = node.args.get("unit"), node.expression
    number = amount.this if isinstance(amount, exp.Neg) else amount
    if not isinstance(unit, exp.Var) or unit.name.upper() not in INTERVAL_UNITS:
        return f"only {', '.join(sorted(INTERVAL_UNITS))} are added in the same way in Spark"
    if not isinstance(number, exp.Literal) or not number.name.isdigit():
        return "how much is added to a date has to be written out, as a whole number"
    return None


def _date_diff(node: exp.Expr, _dialect: str) -> Refusal:
    unit = node.args.get("unit")
    return None if unit is None or unit.name.upper() == "DAY" else "only DAY is counted in the same way in Spark"


def _added_to_dates(node: exp.Expr, dialect: str) -> Refusal:
    """sqlglot adds it to the dates in T-SQL's DATEDIFF."""
    return None if isinstance(node.parent, exp.DateDiff) else f"{shown(node, dialect)} is not known to mean the same"


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
    exp.Like: _like,
    exp.ILike: _like,
    exp.Escape: _escape,
    exp.RegexpLike: _regex,
    exp.RegexpILike: _regex,
    exp.SimilarTo: _similar,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Coalesce: _coalesce,
    exp.Concat: _joined,
    exp.ConcatWs: _joined,
    exp.DPipe: _joined,
    exp.Length: _length,
    exp.Trim: _trim,
    exp.Left: _start,
    exp.Right: _start,
    exp.Substring: _substring,
    exp.StrPosition: _position,
    exp.SplitPart: _split_part,
    exp.Translate: _only("postgres", "snowflake", why="TRANSLATE is not known to mean the same in Spark"),
    exp.Replace: _only("postgres", "mysql", "snowflake", "bigquery", why="REPLACE follows the collation in T-SQL"),
    exp.Extract: _extract,
    exp.DayOfWeek: _only("mysql", why="the days of the week are counted otherwise in Spark"),
    exp.TimestampTrunc: _trunc,
    exp.DateTrunc: _trunc,
    exp.Interval: _interval,
    exp.DateAdd: _date_add,
    exp.DateSub: _date_add,
    exp.DateDiff: _date_diff,
    exp.TimeStrToTime: _added_to_dates,
}
