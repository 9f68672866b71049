"""When two calls of an operator are one predicate: "Scalable Event Matching for Overlapping Subscriptions", section 3.

Two calls are the same if they have the same operator and constants, and their variables can be renamed into each
other. So one evaluation serves both. The names of variables do not matter, but which arguments have the same one does.
"""

from __future__ import annotations

from dataclasses import dataclass

from sparkrules.sql.tree import Constant


@dataclass(frozen=True)
class Variable:
    """An argument that the operator binds: `?people`."""

    name: str


@dataclass(frozen=True)
class Call:
    """An operator with its arguments: `mobPattern(?people)`."""

    operator: str
    arguments: tuple[Constant | Variable, ...] = ()


def renamed(call: Call) -> Call:
    """The call with its variables numbered by first occurrence: equal for calls that unify, and only for those.

    >>> x, y, z = map(Variable, "xyz")
    >>> renamed(Call("p", (x, y))) == renamed(Call("p", (z, x)))
    True
    >>> renamed(Call("p", (x, y))) == renamed(Call("p", (z, z)))
    False
    """
    numbers: dict[Variable, Variable] = {}
    arguments = tuple(
        numbers.setdefault(own, Variable(str(len(numbers)))) if isinstance(own, Variable) else own
        for own in call.arguments
    )
    return Call(call.operator, arguments)
