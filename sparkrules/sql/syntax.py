"""The Boolean structure of a rule, as the grammar returns it. The parts of a predicate are ranges of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from sparkrules.sql.tree import Constant


@dataclass(slots=True)
class Operand:
    """One side of a comparison: the tokens from `start` up to `end`.

    `constant`: it names no column and does not depend on when the query runs.
    """

    start: int
    end: int
    constant: bool
    form: Literal["value", "brackets", "row", "call", "lambda", "row function"] = "value"
    """`row function`: written like a call, but Spark does not know the function. See `row_functions`."""
    inner: tuple[Syntax, ...] = ()
    """The content of the brackets: one expression, or the arguments of the call; the body of the lambda."""
    function: str = ""


@dataclass(slots=True)
class Value:
    """Operands joined by comparison operators; nearly always one or two."""

    operands: list[Operand]
    comparisons: list[str] = field(default_factory=list)


@dataclass(slots=True)
class PredicateSyntax:
    """A predicate as written: a value alone, or a value followed by `IN (...)`, `IS NULL`, ..., which is its `kind`."""

    start: int
    end: int
    value: Value
    kind: str = ""
    negated: bool = False
    arguments: tuple[Value, ...] = ()
    constants: tuple[Constant, ...] | None = None
    """The members of an IN list, if all of them are constants."""


@dataclass(slots=True)
class Not:
    child: Syntax


@dataclass(slots=True)
class Gate:
    operator: Literal["and", "or", "xor"]
    children: list[Syntax]


@dataclass(slots=True)
class Count:
    """At least `least` and at most `most` of the children, as `name(number, ...)` says."""

    name: str
    number: int
    least: int
    most: int
    children: list[Syntax]


Syntax = PredicateSyntax | Not | Gate | Count


def alone(syntax: Syntax) -> Operand | None:
    """The operand, if the expression is exactly one operand: `a + 1`, but not `a > 1` or `a IS NULL`."""
    if isinstance(syntax, PredicateSyntax) and not syntax.kind and not syntax.value.comparisons:
        return syntax.value.operands[0]
    return None


def unbracketed(operand: Operand) -> Operand:
    """The operand without the brackets around it: `((a))` is `a`."""
    while operand.form == "brackets":
        inner = alone(operand.inner[0])
        if inner is None:
            return Operand(operand.start + 1, operand.end - 1, operand.constant)
        operand = inner
    return operand
