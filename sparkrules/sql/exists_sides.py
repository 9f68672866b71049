"""Index `exists` over an array with a stated type: `exists(CAST(f(x) AS ARRAY<STRUCT<n: INT>>), b -> b.n > 5)`.

One comparison of a field with a constant needs no lambda. Some element is greater than 5 exactly if the greatest one
is. So the predicate is `array_max(CAST(...).n) > 5`, and ten thousand rules with other constants cost one maximum
per row. For equality, the values are joined to one string, `|Rome|Oslo|`, which is searched for `|Rome|`.

Such a predicate must be true, and false, exactly where `exists` is. `exists` is false only if no value is NULL, or if
there are no elements; it is unknown for a NULL array. Types decide whether this holds: strings that are compared with
numbers are cast, and their order changes. So a type that is not stated, or constants of another type, are left to
Spark.

Several comparisons must hold for one element. Spark evaluates this lambda, but only where each comparison alone holds
for some element.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sparkrules.sql.binding_text import JOINED, NUMBER, TEXT
from sparkrules.sql.literal import constant
from sparkrules.sql.syntax import Gate, Operand, PredicateSyntax, Syntax, alone, unbracketed
from sparkrules.sql.tokens import Tokens
from sparkrules.sql.tree import Constant, Junction, Node, Predicate

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
_INTEGRAL = frozenset({"TINYINT", "BYTE", "SMALLINT", "SHORT", "INT", "INTEGER", "BIGINT", "LONG"})
_FLOATING = frozenset({"FLOAT", "REAL", "DOUBLE"})
_DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC) ?\((\d+)(?:, (\d+))?\)")
_SHORT_DIGITS = 18
_NUMBER = re.compile(rf"-?\d{{0,{_SHORT_DIGITS}}}(?:\.\d{{0,{_SHORT_DIGITS}}})?")
_MOST_DIGITS = 38  # of Spark's decimals: what has more is NULL
_LONG_DIGITS = 20  # of a BIGINT as a decimal
_TIMES = {"DATE": re.compile(r"DATE '[^']*'", re.I), "TIMESTAMP": re.compile(r"TIMESTAMP '[^']*'", re.I)}


def exists_sides(tokens: Tokens, call: Operand) -> tuple[Node, Node] | None:
    """When `exists` is true, and when it is false. None if nothing of it can be indexed."""
    read = _Exists.of(tokens, call, {})
    if read is None:
        return None
    conjuncts = read.conjuncts
    if len(conjuncts) == 1:
        sides = read.sides(conjuncts[0])
        if sides is not None:
            return sides
    gates = list(read.gates())
    if not gates:
        return None
    text, functions = tokens.sql(call.start, call.end), tokens.called(call.start, call.end)
    true, false = (Predicate(text, operator, (), functions) for operator in ("is true", "is false"))
    return Junction("and", (*gates, true)), false


class _Array(NamedTuple):
    """An array of structs as SQL, and the types of their fields."""

    sql: str
    types: dict[str, str]


class _Exists:
    """A call of `exists` over an array of structs. `known` are the arrays that are fields of a struct around it."""

    def __init__(self, tokens: Tokens, array: _Array, function: Operand, known: dict[str, _Array]) -> None:
        self.tokens = tokens
        self.array = array
        self.known = known
        self.variable = tokens.texts[function.start]
        body = function.inner[0]
        self.conjuncts = body.children if isinstance(body, Gate) and body.operator == "and" else [body]

    @staticmethod
    def of(tokens: Tokens, call: Operand, known: dict[str, _Array]) -> _Exists | None:
        if call.function != "exists" or len(call.inner) != 2:
            return None
        operand, function = map(alone, call.inner)
        if operand is None or operand.constant or function is None or function.form != "lambda":
            return None
        if tokens.kinds[function.start : function.start + 2] != ["word", "->"]:
            return None
        variable, text = tokens.texts[function.start], tokens.sql(operand.start, operand.end)
        array = known.get(text)
        known = {name: own for name, own in known.items() if not name.startswith(f"{variable}.")}
        inside = {f"{variable}.{name}": array for name, array in _struct_of_arrays(tokens, operand)}
        if inside:
            return _Exists(tokens, _Array(text, {}), function, known | inside)
        if array is None:
            array = _Array(text, _element_types(tokens, operand.start, operand.end))
        return _Exists(tokens, array, function, known) if array.types else None

    def gates(self) -> Iterator[Node]:
        """Predicates that are true wherever `exists` is."""
        for conjunct in self.conjuncts:
            sides = self.sides(conjunct)
            if sides is not None:
                yield sides[0]
            operand = alone(conjunct)
            inner = None if operand is None else _Exists.of(self.tokens, operand, self.known)
            if inner is not None and f"{self.variable}." not in inner.array.sql:
                yield from inner.gates()

    def sides(self, conjunct: Syntax) -> tuple[Node, Node] | None:
        """The sides of `exists` with only this conjunct, if it compares a field with constants."""
        if not isinstance(conjunct, PredicateSyntax) or conjunct.negated:
            return None
        operands = [unbracketed(operand) for operand in conjunct.value.operands]
        if conjunct.kind == "in" and len(operands) == 1 and conjunct.constants:
            field = self.field(operands[0])
            return None if field is None else self.equal(field, *conjunct.constants)
        if conjunct.kind or len(operands) != 2 or conjunct.value.comparisons[0] not in _MIRRORED:
            return None
        operator = conjunct.value.comparisons[0]
        if operands[0].constant:
            operands.reverse()
            operator = _MIRRORED[operator]
        field = self.field(operands[0])
        if field is None or not operands[1].constant or operands[1].form == "row":
            return None
        compared = constant(self.tokens, operands[1])
        return self.equal(field, compared) if operator == "=" else self.ordered(field, operator, compared)

    def field(self, operand: Operand) -> str | None:
        """The name of the field, if the operand is one of the element."""
        start = operand.start
        if operand.end != start + 3 or self.tokens.kinds[start + 1] != ".":
            return None
        name = self.tokens.texts[start + 2]
        return name if self.tokens.texts[start] == self.variable and name in self.array.types else None

    def ordered(self, field: str, operator: str, compared: Constant) -> tuple[Node, Node] | None:
        if not _keeps_order(self.array.types[field], compared):
            return None
        values = self.values(field)
        least, greatest = f"array_min({values})", f"array_max({values})"
        true: Node
        none: Node
        if operator == "<>":
            true = Junction("or", (self.predicate(least, "<", compared), self.predicate(greatest, ">", compared)))
            none = Junction("and", (self.predicate(least, ">=", compared), self.predicate(greatest, "<=", compared)))
        else:
            negated = {"<": ">=", ">": "<=", "<=": ">", ">=": "<"}[operator]
            extreme = least if operator in ("<", "<=") else greatest
            true, none = self.predicate(extreme, operator, compared), self.predicate(extreme, negated, compared)
        empty = self.predicate(f"size({values})", "=", Constant("integer", "0"))
        return true, Junction("or", (empty, Junction("and", (self.without_null(values), none))))

    def equal(self, field: str, *compared: Constant) -> tuple[Node, Node] | None:
        kind, values = self.array.types[field], self.values(field)
        if kind == "STRING" and all(own.kind == "string" for own in compared):
            value = TEXT
        elif kind in _INTEGRAL and all(own.kind == "integer" and _NUMBER.fullmatch(own.text) for own in compared):
            value = NUMBER
        else:
            return None
        joined = JOINED.format(values=values, value=value)
        wanted = list(map(searched, compared))
        found = Junction("or", tuple(self.predicate(joined, "contains", own) for own in wanted))
        missing = [self.predicate(joined, "not contains", own) for own in wanted]
        return found if len(wanted) > 1 else found.children[0], Junction("and", (self.without_null(values), *missing))

    def values(self, field: str) -> str:
        return f"{self.array.sql}.{field}"

    def without_null(self, values: str) -> Predicate:
        return self.predicate(f"exists({values}, x -> x IS NULL)", "is false")

    @staticmethod
    def predicate(attribute: str, operator: str, *constants: Constant) -> Predicate:
        return Predicate(attribute, operator, constants)


def searched(compared: Constant) -> Constant:
    """What a joined string contains if one of its values equals the constant.

    >>> searched(Constant("string", "Rome|Oslo")).text, searched(Constant("integer", "-5")).text
    ('|Rome~1Oslo|', '|-5|')
    """
    return Constant("string", f"|{compared.text.replace('~', '~0').replace('|', '~1')}|")


def _struct_of_arrays(tokens: Tokens, operand: Operand) -> Iterator[tuple[str, _Array]]:
    """The fields of `array(struct(CAST(x AS ARRAY<STRUCT<...>>) AS c1, ...))` that are such arrays."""
    struct = alone(operand.inner[0]) if operand.function == "array" and len(operand.inner) == 1 else None
    if struct is None or struct.function != "struct":
        return
    for argument in struct.inner:
        own = alone(argument)
        if own is not None and tokens.kinds[own.end] == "AS":
            types = _element_types(tokens, own.start, own.end)
            if types:
                yield tokens.texts[own.end + 1], _Array(tokens.sql(own.start, own.end), types)


def _element_types(tokens: Tokens, start: int, end: int) -> dict[str, str]:
    """The fields of the structs of `CAST(x AS ARRAY<STRUCT<people: INT>>)` with their types, in upper case."""
    kinds = tokens.kinds
    if kinds[start] != "CAST" or kinds[start + 1] != "(":
        return {}
    depth, at = 0, start + 1
    while not (depth == 1 and kinds[at] == "AS"):
        depth += (kinds[at] == "(") - (kinds[at] == ")")
        if at == end - 1:
            return {}
        at += 1
    if [text.upper() for text in tokens.texts[at + 1 : at + 5]] != ["ARRAY", "<", "STRUCT", "<"]:
        return {}
    types: dict[str, str] = {}
    at, depth = at + 5, 2
    while depth == 2 and at < end:
        name = tokens.texts[at]
        at += 2 if kinds[at + 1] == ":" else 1
        first, brackets = at, 0
        while depth > 2 or brackets or kinds[at] != ",":
            brackets += (kinds[at] == "(") - (kinds[at] == ")")
            # `>>` closes two types.
            depth += (kinds[at] == "<") - (len(kinds[at]) if kinds[at][0] == ">" else 0)
            if depth < 2 or at == end - 1:
                break
            at += 1
        types[name] = tokens.sql(first, at).upper()
        at += 1
    return types if depth == 0 and at == end - 1 else {}


def _keeps_order(kind: str, compared: Constant) -> bool:
    """Whether values of the type keep their order, and stay known, when Spark compares them with the constant."""
    if kind == "STRING":
        return compared.kind == "string"
    if kind in _TIMES:
        return compared.kind == "sql" and _TIMES[kind].fullmatch(compared.text) is not None
    if kind in _FLOATING:
        return compared.kind in ("integer", "decimal", "double")
    decimal = _DECIMAL.fullmatch(kind)
    if kind not in _INTEGRAL and decimal is None:
        return False
    if compared.kind == "double":
        return True
    scale = 0 if decimal is None else int(decimal[2] or 0)
    whole = _LONG_DIGITS if decimal is None else int(decimal[1]) - scale
    # All constants of so many digits are treated alike, as templates need it.
    is_short = compared.kind in ("integer", "decimal") and _NUMBER.fullmatch(compared.text) is not None
    return is_short and whole + _SHORT_DIGITS <= _MOST_DIGITS and _SHORT_DIGITS + scale <= _MOST_DIGITS
