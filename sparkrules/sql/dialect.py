"""Texts in other SQL dialects, translated to Spark SQL by sqlglot before anything else looks at them.

>>> to_spark("STRPOS(name, 'x') > 0 AND NOT \\"Order\\" ~ 'a'", "postgres", DEFAULT_POLICY)
"LOCATE('x', name) > 0 AND NOT `Order` RLIKE 'a'"
"""

from __future__ import annotations

import re

import sqlglot
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ErrorLevel, SqlglotError

from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import DEFAULT_POLICY, Policy

SPARK_DIALECTS = frozenset({"spark", "spark2", "databricks"})
# sqlglot recurses on nesting and may crash the process, so whatever can nest is counted beforehand, generously.
_NESTING = re.compile(r"[(\[{]|\bcase\b|\bnot\b|[-+~!@]", re.IGNORECASE)


def to_spark(text: str, dialect: str, policy: Policy) -> str:
    """The same condition in Spark SQL; `RuleError` if sqlglot cannot read it or Spark cannot say it."""
    _require_small(text, policy)
    try:
        Dialect.get_or_raise(dialect)
    except ValueError as error:
        raise RuleError(f"unknown dialect {dialect!r}", text, remedy=str(error)) from None
    try:
        trees = sqlglot.parse(text, read=dialect)
        if len(trees) != 1 or trees[0] is None:
            raise RuleError("a rule is one expression", text, remedy="Remove the semicolon.")
        return trees[0].sql("spark", unsupported_level=ErrorLevel.RAISE, comments=False)
    except SqlglotError as error:
        raise _translated(error, text, dialect) from None
    except RecursionError:
        raise RuleError("nested too deeply to translate", text, remedy="Write the rule flatter.") from None


def _require_small(text: str, policy: Policy) -> None:
    if len(text) > policy.max_characters:
        raise RuleError(f"the text has {len(text):,} characters", remedy="Split the rule, or raise the policy's limit.")


def _translated(error: SqlglotError, text: str, dialect: str) -> RuleError:
    return RuleError(str(error), text)
