"""Spark's grammar of a WHERE expression: parse tokens into Boolean structure.

It follows `booleanExpression` and `predicate` in Spark's `SqlBaseParser.g4` (`value_grammar` follows `valueExpression`
and `primaryExpression`), because other parsers disagree with Spark on precedence. In Spark all comparisons are on one
left-associative level. A predicate such as IS NULL applies to everything before it, so `a = b IS NULL` is
`(a = b) IS NULL`.

    expression  := xor (OR xor)*
    xor         := and (XOR and)*                        ours: Spark has no XOR, MySQL puts it here
    and         := not (AND not)*
    not         := (NOT | !)* predicate
    predicate        := value [[NOT] BETWEEN value AND value | [NOT] IN (...) | [NOT] LIKE value | IS [NOT] NULL | ...]

`Policy.max_depth` bounds the recursion; chains of any length are loops.
"""

from __future__ import annotations

from typing import Literal

from sparkrules.sql.guard import guard_predicate
from sparkrules.sql.literal import constant, constant_at
from sparkrules.sql.policy import Policy
from sparkrules.sql.row_function_grammar import parse_row_function
from sparkrules.sql.syntax import Gate, Not, Operand, PredicateSyntax, Syntax, Value, alone
from sparkrules.sql.tokens import Tokens
from sparkrules.sql.tree import Constant
from sparkrules.sql.value_grammar import ValueGrammar

_LITERALS = frozenset({"number", "string", "NULL", "TRUE", "FALSE"})


def parse_structure(tokens: Tokens, policy: Policy) -> Syntax:
    """Parse a whole text into its Boolean structure."""
    if tokens.kinds[0] == "end":
        raise tokens.error(0, "the text is empty", "Write TRUE for a rule that matches every row.")
    grammar = BooleanGrammar(tokens, policy)
    grammar.refuse_query()
    structure = grammar.expression()
    if grammar.kinds[grammar.at] != "end":
        raise grammar.unexpected()
    return structure


class BooleanGrammar(ValueGrammar):
    def expression(self) -> Syntax:
        """One loop over the three levels, instead of one call for each, keeps the stack small."""
        self.descend()
        ors: list[Syntax] = []
        xors: list[Syntax] = []
        ands: list[Syntax] = []
        while True:
            ands.append(self.negation())
            kind = self.kinds[self.at]
            if kind != "AND":
                xors.append(_gate("and", ands))
                ands = []
                if kind == "XOR":
                    self.shapes[self.at] = "XOR"
                else:
                    ors.append(_gate("xor", xors))
                    xors = []
                    if kind != "OR":
                        break
            self.at += 1
        self.depth -= 1
        return _gate("or", ors)

    def negation(self) -> Syntax:
        count = 0
        while self.kinds[self.at] in ("NOT", "!"):
            self.descend()
            self.at += 1
            count += 1
        predicate = self.predicate()
        self.depth -= count
        return Not(predicate) if count % 2 else predicate

    def predicate(self) -> PredicateSyntax:
        start = self.at
        predicate = PredicateSyntax(start, start, self.value())
        kind = self.kinds[self.at]
        if kind == "NOT":
            self.at += 1
            predicate.negated = True
            kind = self.kinds[self.at]
        if kind == "BETWEEN":
            self.between(predicate)
        elif kind == "IN":
            self.at += 1
            predicate.kind, predicate.constants = "in", self.members()
        elif kind in ("LIKE", "ILIKE"):
            self.require_allowed(kind)
            self.like(predicate, kind.lower())
        elif kind == "RLIKE":
            self.require_allowed(kind)
            self.at += 1
            predicate.kind, predicate.arguments = "rlike", (self.value(),)
        elif predicate.negated:
            raise self.unexpected("After a value, NOT is followed by BETWEEN, IN, LIKE, ILIKE or RLIKE.")
        elif kind == "IS":
            self.identity(predicate)
        predicate.end = self.at
        if self.last_value >= start:
            guard_predicate(self, predicate)
        return predicate

    def row_function(self, start: int) -> Operand:
        return parse_row_function(self, start)

    def require_allowed(self, operator: str) -> None:
        """A denied function must not be available as an operator either."""
        if not self.policy.allows(operator):
            raise self.tokens.error(
                self.at, f"{operator} is not allowed in a rule", f"The policy denies the function {operator.lower()}."
            )

    def position_argument(self) -> Syntax:
        start = self.at
        value = self.value()
        return PredicateSyntax(start, self.at, value)

    def between(self, predicate: PredicateSyntax) -> None:
        self.at += 1
        lower = self.value()
        self.expect("AND", "BETWEEN needs AND between its bounds.")
        predicate.kind, predicate.arguments = "between", (lower, self.value())

    def like(self, predicate: PredicateSyntax, kind: str) -> None:
        self.at += 1
        if self.word() in ("ANY", "SOME", "ALL") and self.kinds[self.at + 1] == "(":
            self.at += 1
            self.members()
            predicate.kind = "quantified"
            return
        predicate.kind, predicate.arguments = kind, (self.value(),)
        if self.kinds[self.at] == "ESCAPE":
            self.at += 1
            self.expect("string", "ESCAPE needs a string of one character.")
            predicate.kind = "escaped"

    def identity(self, predicate: PredicateSyntax) -> None:
        """Parse IS [NOT] NULL | TRUE | FALSE | UNKNOWN | DISTINCT FROM value."""
        self.at += 1
        if self.kinds[self.at] == "NOT":
            self.at += 1
            predicate.negated = True
        kind = self.kinds[self.at]
        self.at += 1
        if kind in ("NULL", "UNKNOWN"):
            predicate.kind = "null"
        elif kind in ("TRUE", "FALSE"):
            predicate.kind = kind.lower()
        elif kind == "DISTINCT":
            self.expect("FROM", "Write IS [NOT] DISTINCT FROM.")
            arguments: tuple[Value, ...] = (self.value(),)
            predicate.kind, predicate.arguments = "distinct", arguments
        else:
            raise self.tokens.error(
                self.at - 1, "unexpected after IS", "IS [NOT] NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM."
            )

    def members(self) -> tuple[Constant, ...] | None:
        """Parse an IN list into its constants, or None if a member is not constant.

        Lists of 100,000 literals occur in practice, so literals take a fast path, and the validated shape has only one.
        """
        self.expect("(", "A list in brackets belongs here.")
        self.refuse_query()
        constants: list[Constant] = []
        constant_only = True
        collapsing = False
        while True:
            start = self.at
            end = self.literal_end()
            if end is not None:
                constants.append(constant_at(self.tokens, start, end))
                if collapsing:
                    self.shapes[start - 1 : end] = [""] * (end - start + 1)
                collapsing = True
                self.at = end
            else:
                collapsing = False
                member = alone(self.expression())
                if member is None or not member.constant or member.form == "row":
                    constant_only = False
                else:
                    constants.append(constant(self.tokens, member))
            if self.kinds[self.at] != ",":
                break
            self.at += 1
        self.expect(")", "Members of a list are separated by commas, and a bracket ends it.")
        return tuple(constants) if constant_only else None

    def literal_end(self) -> int | None:
        """The index after the plain literal at the cursor, if it is a complete list member."""
        at = self.at + 1 if self.kinds[self.at] == "-" and self.kinds[self.at + 1] == "number" else self.at
        if self.kinds[at] in _LITERALS and self.kinds[at + 1] in (",", ")"):
            return at + 1
        return None


def _gate(operator: Literal["and", "or", "xor"], children: list[Syntax]) -> Syntax:
    return children[0] if len(children) == 1 else Gate(operator, children)
