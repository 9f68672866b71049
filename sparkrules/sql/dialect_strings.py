"""String functions and patterns of other dialects that mean the same in Spark."""

from __future__ import annotations

import re

from sqlglot import exp

from sparkrules.sql.concatenation import NOT_A_STRING, is_joinable
from sparkrules.sql.dialect_node import Refusal, sides, text_of, whole_number
from sparkrules.sql.dialect_regex import DIFFERS, java_regex_of_similar, refusal_of_pattern

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.IntDiv)
_ESCAPE = re.compile(r"\\(.?)", re.DOTALL)


def refusal_of_like(node: exp.Expr, dialect: str) -> Refusal:
    pattern = text_of(node.expression)
    escaped = isinstance(node.parent, exp.Escape)
    if pattern is None:
        if isinstance(node.expression, (exp.Any, exp.All)):
            return "LIKE ANY and LIKE ALL: write them with OR and AND"
        return "LIKE takes a string here" if dialect in ("snowflake", "tsql") else None
    if dialect == "tsql" and "[" in pattern:
        return "[ is a wildcard of T-SQL's LIKE"
    if escaped:
        return None
    if dialect in ("snowflake", "tsql") and "\\" in pattern:
        return "\\ in LIKE is an ordinary character there, and an escape in Spark: add ESCAPE"
    if any(escape[1] not in ("%", "_", "\\") for escape in _ESCAPE.finditer(pattern)):
        return "Spark's LIKE accepts \\ only before %, _ and \\"
    return None


def refusal_of_escape(node: exp.Expr, _dialect: str) -> Refusal:
    escape = text_of(node.expression)
    if not isinstance(node.this, (exp.Like, exp.ILike)) or escape is None or len(escape) != 1 or escape in "%_":
        return "ESCAPE takes one character"
    pattern = text_of(node.this.expression)
    if pattern is None:
        return "LIKE with ESCAPE takes a string here"
    at = 0
    while (at := pattern.find(escape, at)) >= 0:
        if pattern[at + 1 : at + 2] not in ("%", "_", escape):
            return f"Spark's LIKE accepts {escape} only before %, _ and {escape}"
        at += 2
    return None


def refusal_of_regex(node: exp.Expr, dialect: str) -> Refusal:
    if node.args.get("flag"):
        return "a regular expression that is not a plain string"
    any_case = isinstance(node, exp.RegexpILike)
    return refusal_of_pattern(text_of(node.expression), dialect, any_case=any_case)


def refusal_of_similar(node: exp.Expr, dialect: str) -> Refusal:
    pattern = text_of(node.expression)
    if dialect != "postgres" or pattern is None or isinstance(node.parent, exp.Escape):
        return "SIMILAR TO takes a string here"
    return DIFFERS if java_regex_of_similar(pattern) is None else None


def refusal_of_joined(node: exp.Expr, _dialect: str) -> Refusal:
    if isinstance(node, exp.DPipe):
        if any(isinstance(side, _ARITHMETIC) for side in sides(node)):
            return "dialects differ in whether || or arithmetic comes first: add brackets"
        return None if all(map(is_joinable, sides(node))) else NOT_A_STRING
    operands = node.expressions
    if isinstance(node, exp.ConcatWs):
        if text_of(operands[0] if operands else None) is None or len(operands) < 2:
            return "CONCAT_WS takes a literal separator, and values"
        operands = operands[1:]
    return None if all(map(is_joinable, operands)) else NOT_A_STRING


def refusal_of_length(node: exp.Expr, dialect: str) -> Refusal:
    return "LENGTH counts bytes there: use CHAR_LENGTH" if dialect == "mysql" and node.args.get("binary") else None


def refusal_of_trim(node: exp.Expr, dialect: str) -> Refusal:
    if node.expression is None:
        return "TRIM takes away more than spaces there" if dialect == "bigquery" else None
    characters = text_of(node.expression)
    if not characters:
        return "the string that TRIM removes must be a literal"
    if len(characters) > 1 and dialect not in ("postgres", "snowflake", "bigquery"):
        return "TRIM of several characters takes away any of them in Spark"
    return None


def refusal_of_start(node: exp.Expr, _dialect: str) -> Refusal:
    if whole_number(node.expression, 0):
        return None
    return "LEFT and RIGHT are the same only if their number is a literal and not negative"


def refusal_of_substring(node: exp.Expr, _dialect: str) -> Refusal:
    length = node.args.get("length")
    if whole_number(node.args.get("start"), 1) and (length is None or whole_number(length, 0)):
        return None
    return "SUBSTRING is the same only if its numbers are positive literals"


def refusal_of_position(node: exp.Expr, dialect: str) -> Refusal:
    if node.args.get("position") or node.args.get("occurrence"):
        return "only a search from the start is the same in Spark"
    if dialect == "tsql" and not text_of(node.args.get("substr")):
        return "the string that CHARINDEX looks for must be a literal: Spark finds an empty string"
    return None


def refusal_of_split_part(node: exp.Expr, dialect: str) -> Refusal:
    if text_of(node.args.get("delimiter")) and whole_number(node.args.get("part_index"), 1):
        return None if dialect in ("postgres", "snowflake") else "SPLIT_PART is not known to mean the same in Spark"
    return "SPLIT_PART is the same only if its separator and its number are literals"
