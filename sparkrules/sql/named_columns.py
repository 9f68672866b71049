"""The columns that an attribute names, including derived attributes."""

from __future__ import annotations

from sparkrules.sql.errors import RuleError
from sparkrules.sql.functions import TIME_FUNCTIONS
from sparkrules.sql.grammar import BooleanGrammar
from sparkrules.sql.policy import ANYTHING, Policy
from sparkrules.sql.syntax import Operand
from sparkrules.sql.tokens import Tokens, tokenize


def columns_in(sql: str) -> frozenset[str]:
    """The columns that an expression names, in lower case; for a struct field, the struct.

    >>> sorted(columns_in("concat(lower(Name), addr.city)")), sorted(columns_in("exists(tags, t -> length(t) > n)"))
    (['addr', 'name'], ['n', 'tags'])
    >>> sorted(columns_in("map(`a b`) IS NULL AND dateadd(DAY, 1, d) > current_date"))
    ['a b', 'd']
    """
    return frozenset(name[0].lower() for name in names_in(sql))


def names_in(sql: str) -> list[tuple[str, ...]]:
    """The column names in an expression, each once and split into parts. Empty if it cannot be parsed.

    >>> names_in("lower(Kind) = login AND addr.city = kind AND exists(tags, t -> t.x = n)")
    [('Kind',), ('login',), ('addr', 'city'), ('kind',), ('tags',), ('n',)]
    """
    try:
        grammar = _Columns(tokenize(sql, ANYTHING), ANYTHING)
        grammar.expression()
    except RuleError:
        return []
    # Tokens that turned out to be units have another shape.
    found = (grammar.parts(at) for at in grammar.met if grammar.shapes[at] == "c")
    hidden = grammar.parameters | TIME_FUNCTIONS
    return list(dict.fromkeys(name for name in found if name[0].lower() not in hidden))


class _Columns(BooleanGrammar):
    """The grammar, recording the columns it finds and the variables of lambdas."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        super().__init__(tokens, policy)
        self.met: list[int] = []
        self.parameters: set[str] = set()

    def plain(self, at: int) -> str:
        text = self.tokens.texts[at]
        return text[1:-1].replace("``", "`") if text[0] == "`" else text

    def parts(self, at: int) -> tuple[str, ...]:
        found = [self.plain(at)]
        while self.tokens.texts[at + 1 : at + 2] == ["."] and self.shapes[at + 2 : at + 3] == ["c"]:
            at += 2
            found.append(self.plain(at))
        return tuple(found)

    def column(self, start: int) -> Operand:
        self.met.append(start)
        return super().column(start)

    def lambda_function(self, start: int) -> Operand:
        self.parameters.update(self.plain(at).lower() for at in range(start, self.at) if self.shapes[at] == "c")
        return super().lambda_function(start)
