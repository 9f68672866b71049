"""Parse a rule with variables: `mob_pattern(img, :people, :place) AND :people > 50`.

A variable is `:name` where a value is expected, as Spark's own parameter markers. After a value, `:` remains the path
into a variant (`v:a.b`), and `::` a cast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import NamedTuple

from sparkrules.sql.boolean import structure_of
from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import BooleanGrammar
from sparkrules.sql.operators import Operator
from sparkrules.sql.policy import Policy
from sparkrules.sql.row_functions import first_token, require_condition
from sparkrules.sql.syntax import Count, Gate, Not, Operand, PredicateSyntax, Syntax, alone
from sparkrules.sql.tokens import KEYWORDS, RESERVED, Tokens, tokenize
from sparkrules.sql.validate import validate


@dataclass(frozen=True)
class Constraint:
    """A part of a rule that binds nothing: a predicate as written, or two values that must be equal."""

    text: Pieces


@dataclass(frozen=True)
class Call:
    """A call of an operator. Each output is a variable, or a value that the output must equal."""

    operator: Operator
    at: int
    inputs: tuple[Pieces, ...]
    outputs: tuple[Variable | Pieces, ...]

    @property
    def variables(self) -> dict[str, int]:
        """The variables that it binds, each with the token where it is first."""
        found: dict[str, int] = {}
        for output in self.outputs:
            if isinstance(output, Variable):
                found.setdefault(*output)
        return found


@dataclass(frozen=True)
class Negation:
    child: Formula


@dataclass(frozen=True)
class Connective:
    operator: str
    """`and`, `or` or `xor`."""
    children: tuple[Formula, ...]


@dataclass(frozen=True)
class Counting:
    """How many of the formulas are true: `at_least(2, ...)`, `at_most` or `exactly`."""

    name: str
    number: int
    children: tuple[Formula, ...]


Formula = Constraint | Call | Negation | Connective | Counting


class Variable(NamedTuple):
    """A variable, in lower case, and the token where it is."""

    name: str
    at: int


@dataclass(frozen=True)
class Pieces:
    """SQL, cut at its variables."""

    parts: tuple[str | Variable, ...]

    @property
    def variables(self) -> dict[str, int]:
        """The variables, each with the token where it is first used."""
        found: dict[str, int] = {}
        for part in self.parts:
            if not isinstance(part, str):
                found.setdefault(*part)
        return found

    def sql(self, values: dict[str, str]) -> str:
        return "".join(part if isinstance(part, str) else values[part.name] for part in self.parts)


@dataclass
class ParsedVariables:
    """A rule with variables: its formula, and what is needed to say where something is wrong with it."""

    tokens: Tokens
    formula: Formula
    calls_inside: list[tuple[int, int]] = field(default_factory=list)
    """The calls of operators, each from its name to behind its bracket."""


def parse_variables(text: str, policy: Policy) -> ParsedVariables | None:
    """The formula of a rule, or None if it has no variables and calls no operator between AND, OR and NOT."""
    tokens = tokenize(text, policy)
    grammar = _VariableGrammar(tokens, policy)
    grammar.refuse_query()
    structure = grammar.expression()
    if grammar.kinds[grammar.at] != "end":
        raise grammar.unexpected()
    # Row functions stay as they are written: what is left of the rule is parsed again.
    tokens.rewritten.clear()
    reader = _Reader(tokens, policy, grammar.found)
    formula = reader.formula(structure)
    if not grammar.found and not reader.has_calls:
        return None
    return ParsedVariables(tokens, formula, grammar.operator_calls)


class _VariableGrammar(BooleanGrammar):
    """The grammar, with variables as values."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        super().__init__(tokens, policy)
        self.found: dict[int, str] = {}
        """The variables, keyed by their colons, in lower case."""
        self.operator_calls: list[tuple[int, int]] = []

    def atom(self) -> Operand:
        start = self.at
        if self.kinds[start] != ":":
            return super().atom()
        kind = self.kinds[start + 1]
        if kind != "word" and (kind not in KEYWORDS or kind in RESERVED):
            raise self.tokens.error(start, "expected the name of a variable", "Write it directly behind the colon: :x.")
        self.found[start] = self.tokens.texts[start + 1].lower()
        self.shapes[start : start + 2] = ["", "c"]
        self.variables += 1
        self.at += 2
        return Operand(start, self.at, False)

    def call(self, start: int) -> Operand:
        operand = super().call(start)
        if self.policy.operator(operand.function) is not None:
            self.operator_calls.append((start, self.at))
        return operand

    def function_name(self, start: int, bracket: int) -> str:
        try:
            return super().function_name(start, bracket)
        except RuleError as error:
            raise self._undeclared(start, bracket) or error from None

    def _undeclared(self, start: int, bracket: int) -> RuleError | None:
        """The error for a call that looks like that of an operator: it has a variable among its arguments."""
        depth, at = 0, bracket
        while self.kinds[at] != "end":
            depth += (self.kinds[at] == "(") - (self.kinds[at] == ")")
            if not depth:
                return None
            if depth == 1 and self.kinds[at] in ("(", ",") and self.kinds[at + 1] == ":":
                name = ".".join(self.tokens.texts[i].strip("`").lower() for i in range(start, bracket, 2))
                output = self.tokens.texts[at + 2].lower()
                close = get_close_matches(name, self.policy.operators, 1, 0.75)
                remedy = f"Declare it: Policy(operators={{{name!r}: '{output} STRING'}})."
                return self.tokens.error(start, "an unknown operator", f"Did you mean {close[0]}?" if close else remedy)
            at += 1
        return None


class _Reader:
    """From the structure of a text to a formula."""

    def __init__(self, tokens: Tokens, policy: Policy, found: dict[int, str]) -> None:
        self.tokens = tokens
        self.policy = policy
        self.found = found
        self.has_calls = False

    def formula(self, syntax: Syntax) -> Formula:
        if isinstance(syntax, Not):
            return Negation(self.formula(syntax.child))
        if isinstance(syntax, Gate):
            return Connective(syntax.operator, tuple(map(self.formula, syntax.children)))
        if isinstance(syntax, Count):
            return Counting(syntax.name, syntax.number, tuple(map(self.formula, syntax.children)))
        require_condition(self.tokens, syntax)
        structure = structure_of(self.tokens, syntax)
        if structure is not None and not syntax.value.comparisons:
            return self.formula(structure)
        operand = alone(syntax)
        operator = None
        if operand is not None and operand.form == "call":
            operator = self.policy.operator(operand.function)
        if operand is not None and operator is not None:
            return self.call(operand, operator)
        constraint = Constraint(self.pieces(syntax.start, syntax.end))
        if constraint.text.variables or (syntax.start, syntax.end) not in self.tokens.guards:
            # Guards are validated when the rest is parsed again. In a lambda, they must be plain.
            validate(self.tokens, syntax.start, syntax.end, self.policy)
        return constraint

    def call(self, operand: Operand, operator: Operator) -> Call:
        self.has_calls = True
        first_output = len(operand.inner) - len(operator.names)
        if first_output < 1:
            # Without an input, it would be the same for all rows.
            count = len(operand.inner)
            raise self.tokens.error(
                operand.start,
                f"{operator.name} has {_counted(len(operator.names), 'output')} ({', '.join(operator.names)}), "
                f"but {_counted(count, 'argument')} here",
                f"Write its inputs, then a variable for each output: {operator.usage}.",
            )
        places = [self.place(argument) for argument in operand.inner]
        for start, end in places:
            if self.tokens.kinds[start - 1] == "=>":
                raise self.tokens.error(start - 2, "an argument with a name", f"Write them in order: {operator.usage}.")
            validate(self.tokens, start, end, self.policy)
        outputs: list[Variable | Pieces] = []
        for start, end in places[first_output:]:
            is_variable = start in self.found and end == start + 2
            outputs.append(Variable(self.found[start], start) if is_variable else self.pieces(start, end))
        inputs = tuple(self.pieces(start, end) for start, end in places[:first_output])
        return Call(operator, operand.start, inputs, tuple(outputs))

    def place(self, argument: Syntax) -> tuple[int, int]:
        """The tokens of an argument."""
        if isinstance(argument, PredicateSyntax):
            return argument.start, argument.end
        last: Syntax = argument
        while not isinstance(last, PredicateSyntax):
            last = last.child if isinstance(last, Not) else last.children[-1]
        start = first_token(argument)
        while self.tokens.kinds[start - 1] in ("NOT", "!"):
            start -= 1
        return start, last.end

    def pieces(self, start: int, end: int) -> Pieces:
        parts: list[str | Variable] = []
        at = begun = start
        while at < end:
            if at in self.found:
                if at > begun:
                    parts.append(self.tokens.sql(begun, at) + self.tokens.space_before(at, start))
                parts.append(Variable(self.found[at], at))
                at += 2
                begun = at
                if at < end:
                    parts.append(self.tokens.space_before(at, start))
            else:
                at += 1
        if begun < end:
            parts.append(self.tokens.sql(begun, end))
        return Pieces(tuple(part for part in parts if part))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
