"""Operators that return bindings, as a policy declares them: the names and types of their outputs.

>>> from sparkrules.sql.policy import Policy
>>> operator = Policy(operators={"mob_pattern": "people INT, place STRING"}).operator("mob_pattern")
>>> operator.names, operator.type
(('people', 'place'), 'ARRAY<STRUCT<people: INT, place: STRING>>')
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrules.sql.datatype import data_type_end
from sparkrules.sql.errors import RuleError
from sparkrules.sql.tokens import KEYWORDS, tokenize

if TYPE_CHECKING:
    from sparkrules.sql.policy import Policy

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Operator:
    """A function that returns an array of structs, one for each binding of its outputs."""

    name: str
    names: tuple[str, ...]
    """The outputs, as they are written in SQL."""
    types: tuple[str, ...]

    @property
    def function(self) -> str:
        """The name of the function as SQL.

        >>> Operator("main.my tools.mob", ("people",), ("INT",)).function
        'main.`my tools`.mob'
        """
        parts = self.name.split(".")
        return ".".join(
            part if _PLAIN.fullmatch(part) and part.upper() not in KEYWORDS else f"`{part}`" for part in parts
        )

    @property
    def type(self) -> str:
        """The type of what the function returns."""
        fields = ", ".join(f"{name}: {kind}" for name, kind in zip(self.names, self.types, strict=True))
        return f"ARRAY<STRUCT<{fields}>>"

    @property
    def outputs(self) -> str:
        """The declaration of the outputs."""
        return ", ".join(f"{name} {kind}" for name, kind in zip(self.names, self.types, strict=True))

    @property
    def usage(self) -> str:
        """How a rule calls it.

        >>> Operator("mob_pattern", ("people", "place"), ("INT", "STRING")).usage
        'mob_pattern(..., :people, :place)'
        """
        return f"{self.function}(..., {', '.join(f':{name.strip(chr(96))}' for name in self.names)})"


def declared_operators(operators: object, policy: Policy) -> dict[str, Operator]:
    """The operators by name, in lower case. `TypeError` or `ValueError` if a declaration is invalid."""
    example = "such as {'mob_pattern': 'people INT, place STRING'}"
    if not isinstance(operators, Mapping):
        raise TypeError(f"Policy.operators maps names of functions to their outputs, {example}: {operators!r}")
    found = {}
    for name, outputs in operators.items():
        if not isinstance(name, str) or not isinstance(outputs, str):
            raise TypeError(f"Policy.operators maps names to names with types, {example}: {name!r}: {outputs!r}")
        try:
            fields = list(_fields(outputs, policy))
        except RuleError as error:
            raise ValueError(f"Policy.operators[{name!r}] is a list of names with types, {example}: {error}") from None
        names = tuple(field for field, _ in fields)
        if len({field.strip("`").lower() for field in names}) < len(names):
            raise ValueError(f"Policy.operators[{name!r}] names an output twice: {outputs}")
        found[name.lower()] = Operator(name.lower(), names, tuple(kind for _, kind in fields))
    return found


def _fields(outputs: str, policy: Policy) -> Iterator[tuple[str, str]]:
    tokens = tokenize(outputs, policy)
    at = 0
    while True:
        if tokens.kinds[at] not in ("word", "quoted") and tokens.kinds[at] not in KEYWORDS:
            raise tokens.error(
                at, "expected the name of an output", "Write names with types: people INT, place STRING."
            )
        name = tokens.texts[at]
        at += 2 if tokens.kinds[at + 1] == ":" else 1
        end = data_type_end(tokens, at)
        yield name, tokens.sql(at, end)
        if tokens.kinds[end] == "end":
            return
        if tokens.kinds[end] != ",":
            raise tokens.error(end, "unexpected after a type", "Separate outputs by commas.")
        at = end + 1
