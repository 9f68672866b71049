"""Convert a predicate to *attribute operator constants* if it has that form, else to an opaque Boolean attribute.

The result is two trees: one that holds when the predicate is true, and one that holds when it is false. In SQL's
three-valued logic they are not complements. Pushing NOT down to the predicates needs both.
"""

from __future__ import annotations

import re

from sparkrules.sql.address import network_range
from sparkrules.sql.exists_sides import exists_sides
from sparkrules.sql.literal import MARK, constant
from sparkrules.sql.syntax import Operand, PredicateSyntax, Value, alone, unbracketed
from sparkrules.sql.tokens import Tokens
from sparkrules.sql.tree import ALWAYS, NEGATED, NEVER, Constant, Junction, Node, Predicate

Sides = tuple[Node, Node]
"""When true, when false."""

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_CALLS = {
    "contains": "contains",
    "startswith": "startswith",
    "endswith": "endswith",
    "like": "like",
    "ilike": "ilike",
    "rlike": "rlike",
    "regexp": "rlike",
    "regexp_like": "rlike",
    "equal_null": "<=>",
}
_NULL_CALLS = {"isnull": "is null", "isnotnull": "is not null"}
_REPLACED = frozenset({*_CALLS, *_NULL_CALLS, "exists", "cidr_contains", "in_list"})
"""Calls that may become something else in the tree."""
_LIST_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_TRUTH = {"TRUE": (ALWAYS, NEVER), "FALSE": (NEVER, ALWAYS), "NULL": (NEVER, NEVER)}


def classify(tokens: Tokens, syntax: PredicateSyntax) -> Sides:
    """The two sides of a predicate. When in doubt, the whole predicate is opaque."""
    sides = _classified(tokens, syntax)
    functions = tokens.called(syntax.start, syntax.end)
    if functions is None:
        return sides
    if "in_list" in functions:
        _require_alone(tokens, syntax, sides)
    if not functions.isdisjoint(_REPLACED):
        # It is not known here which calls are left. Parsing the remaining SQL tells.
        return sides
    return _calling(sides[0], functions), _calling(sides[1], functions)


def _require_alone(tokens: Tokens, syntax: PredicateSyntax, sides: Sides) -> None:
    """Raise `RuleError` unless `in_list` is the whole predicate: only the index knows what is in a list."""
    calls = [at for at, name in tokens.functions.items() if name == "in_list" and syntax.start <= at < syntax.end]
    if len(calls) > 1 or not isinstance(sides[0], Predicate) or sides[0].operator not in ("in list", "not in list"):
        raise tokens.error(
            calls[-1] - 1,
            "in_list is a condition of its own, not a part of another",
            "Write in_list('name', value), and combine it with AND, OR and NOT.",
        )


def _calling(side: Node, functions: frozenset[str]) -> Node:
    if isinstance(side, Predicate):
        return Predicate(side.attribute, side.operator, side.constants, functions)
    return Junction(side.operator, tuple(_calling(child, functions) for child in side.children))


def _classified(tokens: Tokens, syntax: PredicateSyntax) -> Sides:
    if not syntax.kind:
        return _value(tokens, syntax.value) or opaque(tokens, syntax)
    subject = attribute_of(tokens, syntax.value)
    if subject is None:
        return opaque(tokens, syntax)
    sides = _predicate(tokens, subject, syntax)
    if sides is None:
        return opaque(tokens, syntax)
    return (sides[1], sides[0]) if syntax.negated else sides


def opaque(tokens: Tokens, syntax: PredicateSyntax) -> Sides:
    return _sides(tokens.sql(syntax.start, syntax.end), "is true")


def _value(tokens: Tokens, value: Value) -> Sides | None:
    """A value with no predicate after it: one comparison, a call, a literal, or a Boolean column."""
    if len(value.operands) == 2:
        return _comparison(tokens, value)
    if len(value.operands) > 2:
        return None
    operand = unbracketed(value.operands[0])
    if operand.end == operand.start + 1 and tokens.kinds[operand.start] in _TRUTH:
        return _TRUTH[tokens.kinds[operand.start]]
    return _call(tokens, operand) if operand.form == "call" else None


def _comparison(tokens: Tokens, value: Value) -> Sides | None:
    left, right = map(unbracketed, value.operands)
    operator = value.comparisons[0]
    if left.constant:
        left, right, operator = right, left, _MIRRORED.get(operator, operator)
    if left.constant or not right.constant or "row" in (left.form, right.form):
        return None
    return _sides(tokens.sql(left.start, left.end), operator, constant(tokens, right))


def _call(tokens: Tokens, call: Operand) -> Sides | None:
    """`contains(name, 'x')` and similar calls, which are operators in the tree."""
    if call.function == "exists":
        return exists_sides(tokens, call)
    arguments = [alone(argument) for argument in call.inner]
    if call.function == "cidr_contains" and len(arguments) == 2:
        return _network(tokens, *arguments)
    if call.function == "in_list":
        return _listed(tokens, call, arguments)
    if call.function in _NULL_CALLS and len(arguments) == 1:
        argument = arguments[0]
        if argument is None or argument.constant or argument.form == "row":
            return None
        argument = unbracketed(argument)
        return _sides(tokens.sql(argument.start, argument.end), _NULL_CALLS[call.function])
    if call.function not in _CALLS or len(arguments) != 2:
        return None
    left, right = arguments
    if left is None or right is None or left.constant or not right.constant:
        return None
    left = unbracketed(left)
    if "row" in (left.form, right.form):
        return None
    return _sides(tokens.sql(left.start, left.end), _CALLS[call.function], constant(tokens, right))


def _network(tokens: Tokens, network: Operand | None, address: Operand | None) -> Sides | None:
    """`cidr_contains('10.0.0.0/8', ip)`, if the network is a string."""
    if network is None or not network.constant or network.form == "row":
        return None
    named = constant(tokens, network)
    if named.kind == "string" and MARK not in named.text:
        try:
            network_range(named.text)
        except ValueError as error:
            raise tokens.error(network.start, str(error), "Write cidr_contains('10.0.0.0/8', ip).") from None
    if named.kind != "string" or address is None or address.constant or address.form == "row":
        return None
    address = unbracketed(address)
    return _sides(tokens.sql(address.start, address.end), "in network", named)


def _listed(tokens: Tokens, call: Operand, arguments: list[Operand | None]) -> Sides:
    """`in_list('bad_ips', ip)`."""
    example = "Write in_list('bad_ips', ip)."
    if len(arguments) != 2:
        raise tokens.error(call.start, f"in_list takes two arguments, not {len(arguments)}", example)
    name, value = arguments
    if name is None or not name.constant or name.form == "row" or constant(tokens, name).kind != "string":
        at = call.start if name is None else name.start
        raise tokens.error(at, "in_list needs the name of a list first, as a string", example)
    if _LIST_NAME.fullmatch(constant(tokens, name).text) is None:
        reason = "this is not the name of a list: letters, digits, '_', '-' and '.' (not first) are allowed"
        raise tokens.error(name.start, reason, example)
    if value is None or value.constant or value.form == "row":
        at = call.start if value is None else value.start
        raise tokens.error(at, "in_list needs a value of the row, such as a column", example)
    value = unbracketed(value)
    return _sides(tokens.sql(value.start, value.end), "in list", constant(tokens, name))


def _predicate(tokens: Tokens, attribute: str, syntax: PredicateSyntax) -> Sides | None:
    """The sides of `attribute predicate`, ignoring its NOT. None if it does not have that form."""
    kind = syntax.kind
    if kind == "null":
        return _sides(attribute, "is null")
    if kind in ("true", "false"):
        # Never unknown, so false means false or unknown.
        return Predicate(attribute, f"is {kind}"), Predicate(attribute, f"is not {kind}")
    if kind == "in":
        return None if syntax.constants is None else _sides(attribute, "in", *syntax.constants)
    if kind not in ("between", "like", "ilike", "rlike", "distinct"):
        return None
    arguments = [_constant(tokens, argument) for argument in syntax.arguments]
    if kind == "between":
        low, high = arguments
        if low is None or high is None:
            return None
        at_least, at_most = _sides(attribute, ">=", low), _sides(attribute, "<=", high)
        return Junction("and", (at_least[0], at_most[0])), Junction("or", (at_least[1], at_most[1]))
    argument = arguments[0]
    if argument is None:
        return None
    if kind == "distinct":
        return _sides(attribute, "not <=>", argument)
    return _sides(attribute, kind, argument)


def attribute_of(tokens: Tokens, value: Value) -> str | None:
    """The SQL that a predicate applies to. None for a constant or a row, which have no attribute."""
    if all(operand.constant for operand in value.operands):
        return None
    start, end = value.operands[0].start, value.operands[-1].end
    if len(value.operands) == 1:
        operand = unbracketed(value.operands[0])
        if operand.form == "row":
            return None
        start, end = operand.start, operand.end
    return tokens.sql(start, end)


def _constant(tokens: Tokens, value: Value) -> Constant | None:
    if len(value.operands) == 1 and value.operands[0].constant and unbracketed(value.operands[0]).form != "row":
        return constant(tokens, value.operands[0])
    return None


def _sides(attribute: str, operator: str, *constants: Constant) -> Sides:
    return Predicate(attribute, operator, constants), Predicate(attribute, NEGATED[operator], constants)
