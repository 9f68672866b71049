"""Compares how Spark's own parser and this room's grammar parse a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError

from sparkrules.sql import RuleError, parse_rule
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import DEFAULT_POLICY
from sparkrules.sql.syntax import Gate, Not, Operand, Syntax, Value
from sparkrules.sql.tokens import Tokens, tokenize
from tests.spark.java_errors import plain_java_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass
class Comparison:
    """How many texts went which way, and which should not have."""

    tally: Counter[str] = field(default_factory=Counter)
    refused: dict[str, list[str]] = field(default_factory=dict)
    """What only we refuse, by the reason."""
    accepted: list[str] = field(default_factory=list)
    """What only we accept."""
    different: list[tuple[str, str, str, str]] = field(default_factory=list)
    """What is read differently: the text, how we read it, and Spark's trees of the two."""


class SparkParser:
    def __init__(self, spark: SparkSession) -> None:
        self.parser: Any = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]

    def tree(self, text: str) -> str | None:
        """Spark's tree of an expression, in words; None if Spark refuses it. The brackets are there because Spark's
        own entry point would take a name behind the expression, which a WHERE does not."""
        try:
            with plain_java_errors():
                tree = self.parser.parseExpression(f"({text})").toString()
        except Py4JError:
            return None
        # Names of fields and variables have a number that is new each time.
        return re.sub(r"#\d+", "", str(tree))

    def compare(self, texts: Iterable[str]) -> Comparison:
        found = Comparison()
        for text in texts:
            tree = self.tree(text)
            try:
                parse_rule(text)
                reason = None
            except RuleError as error:
                reason = error.reason
            if tree is None or reason is not None:
                found.tally["refused by both" if tree is None and reason is not None else "refused by one"] += 1
                if tree is None and reason is None:
                    found.accepted.append(text)
                elif tree is not None and reason is not None:
                    found.refused.setdefault(reason, []).append(text)
                continue
            found.tally["accepted by both"] += 1
            tokens = tokenize(text, DEFAULT_POLICY)
            structure = parse_structure(tokens, DEFAULT_POLICY)
            if _doubly_negated(tokens):
                continue  # the grammar drops two NOTs, Spark's parser does not
            for said in {tokens.sql(0, len(tokens.kinds) - 1), bracketed(tokens, structure)} - {text}:
                again = self.tree(said)
                if again != tree:
                    found.different.append((text, said, tree, str(again)))
        return found


def _doubly_negated(tokens: Tokens) -> bool:
    pairs = zip(tokens.kinds, tokens.kinds[1:], strict=False)
    return any(one in ("NOT", "!") and two in ("NOT", "!") for one, two in pairs)


def bracketed(tokens: Tokens, syntax: Syntax) -> str:
    """A structure as a text with brackets around all of its parts, so that no precedence is left."""
    if isinstance(syntax, Gate):
        return f" {syntax.operator} ".join(f"({bracketed(tokens, child)})" for child in syntax.children)
    if isinstance(syntax, Not):
        return f"NOT ({bracketed(tokens, syntax.child)})"
    value = _value(tokens, syntax.value)
    if not syntax.kind:
        return value
    if syntax.kind == "between":
        low, high = (_value(tokens, argument) for argument in syntax.arguments)
        return f"({value}) {'NOT ' if syntax.negated else ''}BETWEEN ({low}) AND ({high})"
    return f"({value}) {tokens.sql(syntax.value.operands[-1].end, syntax.end)}"


def _value(tokens: Tokens, value: Value) -> str:
    text = _operand(tokens, value.operands[0])
    for operator, operand in zip(value.comparisons, value.operands[1:], strict=True):
        text = f"({text}) {operator} ({_operand(tokens, operand)})"
    return text


def _operand(tokens: Tokens, operand: Operand) -> str:
    if operand.form == "brackets":
        return f"({bracketed(tokens, operand.inner[0])})"
    return tokens.sql(operand.start, operand.end)
