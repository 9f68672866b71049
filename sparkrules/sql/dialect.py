"""Texts in other SQL dialects, translated to Spark SQL by sqlglot before anything else looks at them.

What is translated is what `faithful` knows to mean the same in Spark; the rest is refused, with the reason.

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> to_spark("STRPOS(name, 'x') > 0 AND \\"Order\\" ~ 'a'", "postgres", DEFAULT_POLICY)
"LOCATE('x', name) > 0 AND `Order` RLIKE '(?s)a'"
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot import TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from sparkrules.sql.errors import RuleError
from sparkrules.sql.faithful import java_regex, refusal
from sparkrules.sql.policy import Policy

SPARK_DIALECTS = frozenset({"spark", "spark2", "databricks"})
DIALECTS = ("bigquery", "mysql", "postgres", "snowflake", "tsql")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"[^\"]*\"|`[^`]*`", re.DOTALL)
_NESTING = re.compile(r"(?P<open>[(\[{]|\bcase\b)|(?P<close>[)\]}]|\bend\b)|(?P<prefix>\bnot\b|[-+~!@])|[^\s]", re.I)


def to_spark(text: str, dialect: str, policy: Policy) -> str:
    """The same condition in Spark SQL; `RuleError` if sqlglot cannot read it or Spark cannot say it."""
    dialect = dialect.lower()
    if dialect not in DIALECTS:
        known = ", ".join(["spark", *DIALECTS])
        raise RuleError(f"unknown dialect {dialect!r}", text, remedy=f"There are: {known}.")
    _require_bounds(text, policy)
    try:
        _require_known_escapes(text, dialect)
        trees = sqlglot.parse(text, read=dialect)
        if len(trees) != 1 or not isinstance(trees[0], exp.Expr):
            raise RuleError("a rule is one expression", text, remedy="Write one expression, without a semicolon.")
        return _faithful(trees[0], text, dialect, policy).sql(
            "spark", unsupported_level=ErrorLevel.RAISE, comments=False
        )
    except SqlglotError as error:
        raise _untranslatable(error, text, dialect) from None
    except RuleError:
        raise
    except Exception as error:  # sqlglot raises whatever it trips over
        reason = f"sqlglot failed to translate it from {dialect} ({type(error).__name__})"
        raise RuleError(reason, text, remedy="Write the rule in Spark SQL, with dialect='spark'.") from None


def _faithful(tree: exp.Expr, text: str, dialect: str, policy: Policy) -> exp.Expr:
    """The tree, if all of it means the same in Spark, with its regular expressions in Java's words."""
    for node in tree.walk():
        reason = refusal(node, dialect, policy)
        if reason is not None:
            fragment = node.sql(dialect)
            at = text.find(fragment)
            raise RuleError(
                f"not translated from {dialect}: {reason}",
                text,
                max(at, 0),
                fragment if at >= 0 else "",
                "Write the rule in Spark SQL, with dialect='spark'.",
            )
    for test in list(tree.find_all(exp.RegexpLike)):
        test.set("full_match", None)
        test.set("expression", exp.Literal.string(java_regex(test.expression.name, dialect)))
    return tree


# A backslash in a string: these escapes are the same wherever a backslash is one.
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
    """sqlglot recurses where a text nests and could crash the process: bound that first, from above."""
    if len(text) > policy.max_characters:
        raise RuleError(f"the text has {len(text):,} characters, more than {policy.max_characters:,}")
    depth = prefixes = 0
    for match in _NESTING.finditer(_QUOTED.sub(lambda quoted: "x" * len(quoted.group()), text)):
        prefixes = prefixes + 1 if match["prefix"] else 0
        depth += bool(match["open"]) - bool(match["close"])
        if depth + prefixes > policy.max_depth:
            raise RuleError(
                f"nested deeper than {policy.max_depth} levels",
                text,
                match.start(),
                match.group(),
                "Write the rule flatter, or raise Policy.max_depth.",
            )


def _untranslatable(error: SqlglotError, text: str, dialect: str) -> RuleError:
    reason, offset, fragment = f"cannot be translated from {dialect} to Spark SQL: {error}", 0, ""
    if isinstance(error, ParseError) and error.errors:
        detail = error.errors[0]
        line, column = detail.get("line") or 1, detail.get("col") or 1
        fragment = detail.get("highlight") or ""
        # sqlglot's column is the last one of the token.
        before = sum(len(row) for row in text.splitlines(keepends=True)[: line - 1])
        offset = max(before + column - len(fragment), 0)
        reason = f"cannot be read as {dialect}: {str(detail.get('description')).rstrip('.')}"
    return RuleError(reason, text, offset, fragment, "Write this part in Spark SQL, with dialect='spark'.")
