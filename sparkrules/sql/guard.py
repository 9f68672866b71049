"""Predicates over `matched(...)`, `sum(...)` and the like: what must hold first, and what is compared only then.

`matched(a >= 200) + matched(b >= 100) <= 1000` becomes the conditions `a >= 200` and `b >= 100`, and the predicate
`a + b <= 1000`. It is true where all of them are true, false where the conditions are true and the predicate is false,
and else unknown: `CASE WHEN a >= 200 AND b >= 100 THEN a + b <= 1000 END`. So rules with other conditions share the
attribute `a + b`, and it is computed only for rows that fulfil them.

That is right where a NULL makes the predicate unknown: in arithmetic, in comparisons, and in functions that are known
for it. Elsewhere (`coalesce(matched(a >= 200), 0)`) the row functions stay inside the attribute.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrules.sql.boolean import structure_of
from sparkrules.sql.cursor import COMPARISONS, Cursor
from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.row_function_grammar import matched_attribute, matched_predicates
from sparkrules.sql.row_functions import AGGREGATES, plain_aggregate_sql
from sparkrules.sql.syntax import Operand, PredicateSyntax, Syntax
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import Predicate

if TYPE_CHECKING:
    from sparkrules.sql.grammar import BooleanGrammar

_ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "DIV", "||", "<<", ">>", ">>>", "&", "^", "|", "~"})
_OPERANDS = frozenset({"word", "quoted", "number", "string", "."})
# Functions that give NULL if an argument is NULL.
_STRICT_NAMES = "abs bround ceil ceiling floor length lower negative positive round sign signum sqrt upper"
_STRICT = frozenset(_STRICT_NAMES.split())
_NULL_ACCEPTING = frozenset({"is null", "<=>", "not <=>", "is not true", "is not false"})


@dataclass(slots=True)
class Guard:
    """The conditions, as structure or predicates, and the predicate that is compared if all of them hold."""

    conditions: list[Syntax | Predicate]
    tokens: Tokens
    predicate: PredicateSyntax


def guard_predicate(grammar: BooleanGrammar, predicate: PredicateSyntax) -> None:
    """Record the guard of a predicate that was just parsed, if it compares what row functions give."""
    if not _compares(predicate):
        return
    plain = _Plain(grammar)
    first, last = predicate.value.operands[0].start, predicate.value.operands[-1].end
    if not plain.add(first, last):
        return
    plain.copy(range(last, predicate.end))
    tokens = plain.tokens()
    # The functions of the text were checked already.
    own = type(grammar)(tokens, ANYTHING)
    guard = Guard(list(plain.conditions.values()), tokens, own.predicate())
    grammar.tokens.guards[predicate.start, predicate.end] = guard
    compared = tokens.sql(0, len(tokens.kinds) - 1)
    conditions = " AND ".join(plain.conditions)
    sql = f"CASE WHEN {conditions} THEN {compared} END" if conditions else compared
    grammar.tokens.rewritten.setdefault(predicate.start, {})[predicate.end] = sql


def _compares(predicate: PredicateSyntax) -> bool:
    """Whether it is a comparison of values that is unknown if one of them is NULL, with constants beside them."""
    if predicate.value.comparisons:
        return not predicate.kind and "<=>" not in predicate.value.comparisons
    if predicate.kind == "in":
        return predicate.constants is not None
    constant = all(operand.constant for value in predicate.arguments for operand in value.operands)
    return predicate.kind in ("between", "like", "ilike", "rlike") and constant


@dataclass
class _Plain:
    """The tokens of a predicate without row functions, and the conditions by their SQL."""

    grammar: Cursor
    conditions: dict[str, Syntax | Predicate] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    shapes: list[str] = field(default_factory=list)

    def tokens(self) -> Tokens:
        text = self.grammar.tokens.text
        starts = [*self.starts, len(text.rstrip())]
        return Tokens(text, [*self.kinds, "end"], [*self.texts, ""], starts, [*self.shapes, ""], set(), {})

    def add(self, start: int, end: int) -> bool:
        """Add what stands in place of some tokens. False if something there does not pass NULL on."""
        tokens, opened = self.grammar.tokens, list[bool]()
        at = start
        while at < end:
            kind = tokens.kinds[at]
            if at in self.grammar.values:
                operand = self.grammar.values[at]
                if not self.add_row_function(operand):
                    return False
                at = operand.end
                continue
            if kind == "(":
                if at in tokens.calls and tokens.functions.get(at) not in _STRICT:
                    return False
                opened.append(at in tokens.calls)
            elif kind == ")":
                opened.pop()
            elif kind == ",":
                if not opened or not opened[-1]:
                    return False
            elif kind in COMPARISONS:
                if opened:
                    return False
            elif kind not in _OPERANDS and kind not in _ARITHMETIC:
                return False
            self.copy(range(at, at + 1))
            at += 1
        return True

    def add_row_function(self, operand: Operand) -> bool:
        tokens = self.grammar.tokens
        if operand.function not in AGGREGATES:
            self.conditions.setdefault(_condition_sql(tokens, operand), operand.inner[0])
            self.put(matched_attribute(tokens, operand), operand.start)
            return True
        values: list[str] = []
        for argument in operand.inner:
            assert isinstance(argument, PredicateSyntax)
            own = _Plain(self.grammar, self.conditions)
            if not own.add(argument.start, argument.end):
                return False
            made = own.tokens()
            values.append(made.sql(0, len(made.kinds) - 1))
            if operand.function in ("min", "max") and not _rejects_null(self.grammar, argument):
                self.require_value(values[-1], is_constant=argument.value.operands[0].constant)
        is_list = operand.function in ("min", "max")
        bracketed = values if is_list else [text if _is_single(text) else f"({text})" for text in values]
        self.put(plain_aggregate_sql(operand.function, bracketed), operand.start)
        return True

    def require_value(self, sql: str, *, is_constant: bool) -> None:
        """Add the condition that a value is not NULL."""
        known = f"({sql}) IS NOT NULL"
        condition = Predicate(known, "is true") if is_constant else Predicate(sql, "is not null")
        self.conditions.setdefault(known, condition)

    def copy(self, places: range) -> None:
        tokens = self.grammar.tokens
        self.kinds += tokens.kinds[places.start : places.stop]
        self.texts += tokens.texts[places.start : places.stop]
        self.starts += tokens.starts[places.start : places.stop]
        self.shapes += tokens.shapes[places.start : places.stop]

    def put(self, sql: str, at: int) -> None:
        """Add some SQL in place of the row function at a token."""
        made = tokenize(sql, ANYTHING)
        count = len(made.kinds) - 1
        self.kinds += made.kinds[:count]
        self.texts += made.texts[:count]
        self.shapes += made.shapes[:count]
        self.starts += [self.grammar.tokens.starts[at]] * count


def _condition_sql(tokens: Tokens, operand: Operand) -> str:
    sql = tokens.sql(operand.start + 2, operand.end - 1)
    return sql if isinstance(operand.inner[0], PredicateSyntax) else f"({sql})"


def _rejects_null(grammar: Cursor, argument: PredicateSyntax) -> bool:
    """Whether a value is certainly not NULL: `matched(...)` of a predicate that is never true for NULL."""
    if argument.end == argument.start + 1 and grammar.kinds[argument.start] in ("number", "string"):
        return True
    operand = grammar.values.get(argument.start)
    if operand is None or operand.end != argument.end or operand.function in ("sum", "avg"):
        return False
    if operand.function in AGGREGATES:
        return True  # it has conditions of its own
    condition = operand.inner[0]
    if not isinstance(condition, PredicateSyntax) or structure_of(grammar.tokens, condition) is not None:
        return False
    found = matched_predicates(grammar.tokens, operand)
    return all(predicate.operator not in _NULL_ACCEPTING for predicate in found)


def _is_single(sql: str) -> bool:
    return len(tokenize(sql, ANYTHING).kinds) == 2
