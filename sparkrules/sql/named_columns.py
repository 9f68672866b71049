"""Which columns an attribute names, of derived attributes as well."""

from __future__ import annotations

from sparkrules.sql.called import ANYTHING
from sparkrules.sql.errors import RuleError
from sparkrules.sql.functions import TIME_FUNCTIONS
from sparkrules.sql.grammar import BooleanGrammar
from sparkrules.sql.policy import Policy
from sparkrules.sql.syntax import Operand
from sparkrules.sql.tokens import Tokens, tokenize


def columns_in(sql: str) -> frozenset[str]:
    """The columns that an expression names, in lower case; of a field of a struct, the struct.

    >>> sorted(columns_in("concat(lower(Name), addr.city)")), sorted(columns_in("exists(tags, t -> length(t) > n)"))
    (['addr', 'name'], ['n', 'tags'])
    >>> sorted(columns_in("map(`a b`) IS NULL AND dateadd(DAY, 1, d) > current_date"))
    ['a b', 'd']
    """
    try:
        grammar = _Columns(tokenize(sql, ANYTHING), ANYTHING)
        grammar.expression()
    except RuleError:
        return frozenset()
    # What turned out to be a unit has another shape.
    columns = {grammar.lowered(at) for at in grammar.met if grammar.shapes[at] == "c"}
    return frozenset(columns - grammar.parameters - TIME_FUNCTIONS)


class _Columns(BooleanGrammar):
    """The grammar, with the columns that it meets and the variables of its lambdas."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        super().__init__(tokens, policy)
        self.met: list[int] = []
        self.parameters: set[str] = set()

    def lowered(self, at: int) -> str:
        text = self.tokens.texts[at]
        return (text[1:-1].replace("``", "`") if text[0] == "`" else text).lower()

    def column(self, start: int) -> Operand:
        self.met.append(start)
        return super().column(start)

    def lambda_function(self, start: int) -> Operand:
        self.parameters.update(self.lowered(at) for at in range(start, self.at) if self.shapes[at] == "c")
        return super().lambda_function(start)
