"""Translate rules from other SQL dialects to Spark SQL with sqlglot, before any other step.

Only what `dialect_support` knows to mean the same in Spark is translated. The rest is rejected with a reason.

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> to_spark("STRPOS(name, 'x') > 0 AND \\"Order\\" ~ 'a'", "postgres", DEFAULT_POLICY)
"LOCATE('x', name) > 0 AND `Order` RLIKE '(?s)a'"
"""

from __future__ import annotations

import re
from itertools import islice

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from sparkrules.sql.dialect_support import refusal
from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import Policy
from sparkrules.sql.row_values import RowRefused, with_rows_written_out
from sparkrules.sql.spark_rewrite import spark_rewrite
from sparkrules.sql.sqlglot_messages import captured_warnings, plain_message

SPARK_DIALECTS = frozenset({"spark", "spark2", "databricks"})
DIALECTS = ("bigquery", "mysql", "postgres", "snowflake", "tsql")
_REMEDY = "Write the rule in Spark SQL, with dialect='spark'."
# The maximum number of nodes per character. Each comparison of rows is as long as both rows.
_MOST_NODES = 20
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`", re.DOTALL)
_MOST_CALLS = 12
_WORDS_BEFORE_BRACKETS = "AND OR XOR IN LIKE ILIKE RLIKE REGEXP BETWEEN WHEN THEN ELSE IS FROM DIV MOD"
_BEFORE_BRACKETS = frozenset(_WORDS_BEFORE_BRACKETS.split())
_NESTING = re.compile(
    r"""(?P<call> \b (?!(?:case|not|end)\b) (?P<name>[a-z_]\w*) \s* \( )
      | (?P<open> [(\[{] | \bcase\b ) | (?P<close> [)\]}] | \bend\b ) | (?P<prefix> \bnot\b | [-+~!@] ) | [^\s]""",
    re.IGNORECASE | re.VERBOSE,
)


def to_spark(text: str, dialect: str, policy: Policy) -> str:
    """The same rule in Spark SQL. Raises `RuleError` if it cannot be parsed or has no equivalent in Spark."""
    dialect = dialect.lower()
    if dialect not in DIALECTS:
        known = ", ".join(["spark", *DIALECTS])
        raise RuleError(f"unknown dialect {dialect!r}", text, remedy=f"There are: {known}.")
    _require_bounds(text, policy)
    try:
        with captured_warnings() as warnings:
            _require_known_escapes(text, dialect)
            trees = sqlglot.parse(text, read=dialect)
            if len(trees) != 1 or not isinstance(trees[0], exp.Expr):
                raise RuleError("a rule is one expression", text, remedy="Write one expression, without a semicolon.")
            said = spark_rewrite(_faithful(trees[0], text, dialect, policy), dialect)
            spark = said.sql("spark", unsupported_level=ErrorLevel.RAISE, comments=False)
    except SqlglotError as error:
        raise _untranslatable(error, text, dialect) from None
    except RuleError:
        raise
    except Exception:  # sqlglot raises many kinds of exceptions
        raise RuleError(f"it could not be read as {dialect}", text, remedy=_REMEDY) from None
    if warnings:
        raise RuleError(f"it was read as {dialect} with doubts", text, remedy=_REMEDY)
    return spark


def _faithful(tree: exp.Expr, text: str, dialect: str, policy: Policy) -> exp.Expr:
    """The tree with row comparisons expanded. Raises `RuleError` unless all of it means the same in Spark."""
    # sqlglot expands some functions by copying their arguments. Nested calls double the size each time.
    bound = _MOST_NODES * (len(text) + 10)
    if _size(tree, bound) >= bound:
        raise RuleError("its translation to Spark SQL is too long", text, remedy="Nest fewer functions in each other.")
    try:
        tree = with_rows_written_out(tree, dialect)
    except RowRefused as refused:
        raise _not_translated(refused.node, str(refused), text, dialect) from None
    for node in tree.walk():
        reason = refusal(node, dialect, policy)
        if reason is not None:
            raise _not_translated(node, reason, text, dialect)
    return tree


def _size(tree: exp.Expr, bound: int) -> int:
    return sum(1 for _ in islice(tree.walk(), bound))


def _not_translated(node: exp.Expr, reason: str, text: str, dialect: str) -> RuleError:
    try:
        fragment = node.sql(dialect, comments=False)
    except Exception:  # sqlglot cannot generate everything it parses
        fragment = ""
    at = text.find(fragment) if fragment else -1
    if at < 0 and fragment:
        at = text.lower().find(fragment.split("(", 1)[0].lower())
        fragment = text[at : at + len(fragment.split("(", 1)[0])] if at >= 0 else ""
    return RuleError(f"not translated from {dialect}: {reason}", text, max(at, 0), fragment if at >= 0 else "", _REMEDY)


# Escapes that mean the same in every dialect that uses a backslash in strings.
_ESCAPES = frozenset("\\'\"ntr%_")
_BACKSLASH = re.compile(r"\\(.?)", re.DOTALL)


def _require_known_escapes(text: str, dialect: str) -> None:
    if "/*!" in text or "/*M!" in text or "/*+" in text:
        raise RuleError("a comment that is not one to every reader", text, remedy="Remove the comment.")
    backslash = dialect in ("mysql", "bigquery", "snowflake")
    for token in Dialect.get_or_raise(dialect).tokenize(text) if "\\" in text else ():
        if token.token_type == TokenType.BYTE_STRING or (token.token_type == TokenType.STRING and backslash):
            for escape in _BACKSLASH.finditer(text, token.start, token.end + 1):
                if escape[1] not in _ESCAPES:
                    raise RuleError(
                        "an escape that dialects understand differently",
                        text,
                        escape.start(),
                        escape[0],
                        "Write the character itself.",
                    )


def _require_bounds(text: str, policy: Policy) -> None:
    """sqlglot recurses on nested text and could crash the process, so check an upper bound of the nesting first.
    While parsing, it also copies the arguments of some functions (Snowflake's DIV0), so calls have a tighter limit."""
    if len(text) > policy.max_characters:
        raise RuleError(f"the text has {len(text):,} characters, more than {policy.max_characters:,}")
    depth = prefixes = calls = 0
    opened: list[bool] = []
    for match in _NESTING.finditer(_QUOTED.sub(lambda quoted: "x" * len(quoted.group()), text)):
        prefixes = prefixes + 1 if match["prefix"] else 0
        depth += bool(match["open"] or match["call"]) - bool(match["close"])
        if match["open"] or match["call"]:
            opened.append(match["call"] is not None and match["name"].upper() not in _BEFORE_BRACKETS)
            calls += opened[-1]
        elif match["close"] and opened:
            calls -= opened.pop()
        if depth + prefixes > policy.max_depth or calls > _MOST_CALLS:
            deepest = policy.max_depth if depth + prefixes > policy.max_depth else _MOST_CALLS
            raise RuleError(
                f"nested deeper than {deepest} levels",
                text,
                match.start(),
                match.group(),
                "Write the rule flatter, or raise Policy.max_depth."
                if deepest == policy.max_depth
                else "Nest fewer functions in each other, or write the rule in Spark SQL, with dialect='spark'.",
            )


def _untranslatable(error: SqlglotError, text: str, dialect: str) -> RuleError:
    reason, offset, fragment = f"cannot be translated from {dialect} to Spark SQL", 0, ""
    if isinstance(error, ParseError) and error.errors:
        detail = error.errors[0]
        line, column = detail.get("line") or 1, detail.get("col") or 1
        fragment = detail.get("highlight") or ""
        # sqlglot reports the last column of the token.
        before = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
        offset = max(before + column - len(fragment), 0)
        reason = f"cannot be read as {dialect}: {plain_message(str(detail.get('description')))}"
    return RuleError(reason, text, offset, fragment, "Write this part in Spark SQL, with dialect='spark'.")
