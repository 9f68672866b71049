"""Templates: one parse for all rules that differ only in their constants.

`lift` removes the plain literals from a text. The rest is its skeleton. Texts with the same skeleton have the same
tokens except for the literals. A `Template` is the tree of these texts, with a hole wherever a constant of the tree is
exactly one literal. A literal inside an attribute, a type or an interval is *pinned*: texts that differ in it have
different templates.

Why this equals parsing each text:

- A literal is lifted only where no neighbour can extend it (`x5`, `5e3`, `r'...'`, `1.5.2` are left alone). For the
  first text of a skeleton, both our tokenizer and sqlglot's must find the literals in these places. Spark's lexer takes
  the longest match from left to right, so it splits the other texts in the same way.
- The grammar reads a token's kind, never the text of a literal, unless it copies the literal into an attribute or
  other SQL. Those literals are pinned. They are found by parsing the skeleton with a distinct marker in each hole.

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> skeleton, literals = lift("price < 5 AND substr(name, 2) = 'it''s'")
>>> skeleton.split(SEPARATOR), literals
(['price < ', ' AND substr(name, ', ') = ', ''], ['5', '2', "'it''s'"])
>>> template = make_template(skeleton, literals, DEFAULT_POLICY)
>>> template.pinned, sorted(template.holes.values())
((1,), [Hole(number=0, negative=False, is_searched=False), Hole(number=2, negative=False, is_searched=False)])
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from sqlglot import TokenType
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from sparkrules.sql.address import network_range
from sparkrules.sql.errors import RuleError
from sparkrules.sql.exists_sides import searched
from sparkrules.sql.literal import MARK, number, string
from sparkrules.sql.policy import Policy
from sparkrules.sql.row_functions import COUNTS
from sparkrules.sql.rule import read_spark_sql
from sparkrules.sql.tokens import tokenize
from sparkrules.sql.tree import Constant, Junction, Node, Predicate, distinct_predicates

SEPARATOR = "\0"
LiteralClass = Literal["string", "integer", "decimal"]

# No backslash: the parser handles escapes. Greedy, so that '' inside a string does not end it. No number that may be
# too long for Spark's decimals: the tokenizer decides whether to reject it.
_LITERAL = re.compile(r"(?<![A-Za-z0-9_.])('[^'\\]*(?:''[^'\\]*)*'|[0-9]{1,18}(?:\.[0-9]{1,18})?(?![A-Za-z0-9_.]))")
_DIGITS = "90210"
_MARKED = re.compile(f"'{MARK}([0-9]+){MARK}'|{_DIGITS}([0-9]{{6}}){_DIGITS}(?:\\.5)?")
_PINNED = re.compile(rf"\b(?:{'|'.join(sorted(COUNTS | {'in_list'}))})\s*\(\s*$", re.IGNORECASE)


class Hole(NamedTuple):
    """Where a constant of the tree comes from: which literal, and whether it has a minus sign; whether the constant is
    what the literal is searched by, among the values of an array."""

    number: int
    negative: bool
    is_searched: bool = False

    def constant(self, literal: str) -> Constant:
        """The constant for a lifted literal."""
        found = literal_constant(literal, negative=self.negative)
        return searched(found) if self.is_searched else found


@dataclass(frozen=True)
class Template:
    """`tree` has a placeholder constant for each literal that is not pinned; `holes` maps them to literals."""

    tree: Node
    holes: dict[Constant, Hole]
    pinned: tuple[int, ...]
    sql: str | None = None
    """The marked text without row functions, if it has any."""
    networks: tuple[int, ...] = ()
    """The literals that have to be networks."""

    def fits(self, literals: Sequence[str]) -> bool:
        """Whether a text with these literals is correct: its networks are."""
        return all(is_network_literal(literals[number]) for number in self.networks)

    def sql_of(self, literals: Sequence[str]) -> str | None:
        """The text with its holes filled, as Spark SQL; None if the text already is."""
        if self.sql is None:
            return None
        return _MARKED.sub(lambda mark: literals[int(mark[1] or mark[2])], self.sql)

    def tree_of(self, literals: Sequence[str]) -> Node:
        """The tree with its holes filled by these literals."""
        filled: dict[int, Node] = {}

        def fill(node: Node) -> Node:
            if id(node) not in filled:
                filled[id(node)] = (
                    Predicate(node.attribute, node.operator, tuple(map(constant, node.constants)), node.functions)
                    if isinstance(node, Predicate)
                    else Junction(node.operator, tuple(map(fill, node.children)))
                )
            return filled[id(node)]

        def constant(mark: Constant) -> Constant:
            hole = self.holes.get(mark)
            return mark if hole is None else hole.constant(literals[hole.number])

        return fill(self.tree)


def lift(text: str) -> tuple[str, list[str]]:
    """The skeleton of a text, and the literals removed from it."""
    pieces = _LITERAL.split(text)
    return SEPARATOR.join(pieces[::2]), pieces[1::2]


def joined(skeleton: str, literals: Sequence[str]) -> str:
    """The original text: the inverse of `lift`."""
    pieces = skeleton.split(SEPARATOR)
    return "".join(part for pair in zip(pieces, [*literals, ""], strict=True) for part in pair)


def literal_class(literal: str) -> LiteralClass:
    """A literal may be replaced by any other of the same class."""
    if literal[0] == "'":
        return "string"
    return "decimal" if "." in literal else "integer"


def literal_constant(literal: str, *, negative: bool) -> Constant:
    """The constant for a lifted literal."""
    found = string([literal]) if literal[0] == "'" else number(literal, negative=negative)
    if found is None:
        raise ValueError(f"{literal} is not a plain literal")
    return found


def make_template(skeleton: str, literals: Sequence[str], policy: Policy) -> Template | None:
    """The template for all texts with this skeleton, these literals where pinned, and literals of the same classes
    elsewhere. None if no template exists or the text is rejected; those texts are parsed one by one."""
    pieces = skeleton.split(SEPARATOR)
    text = joined(skeleton, literals)
    if MARK in text or _DIGITS in text or not cut_alike(text, pieces, literals, policy):
        return None
    pinned = first_pinned(pieces)
    while True:
        marks = [literal if at in pinned else marker(at, literal_class(literal)) for at, literal in enumerate(literals)]
        try:
            tree, sql = read_spark_sql(joined(skeleton, marks), policy)
        except RuleError:
            return None
        holes = _holes(tree, [at for at in range(len(literals)) if at not in pinned], marks)
        found = {hole.number for hole in holes.values()}
        if len(found) + len(pinned) == len(literals):
            made = Template(tree, holes, tuple(sorted(pinned)), sql, _networks(tree, holes))
            return made if made.fits(literals) else None
        pinned = frozenset(range(len(literals))) - found


def is_network_literal(literal: str) -> bool:
    """Whether a lifted literal is a network, for `cidr_contains`.

    >>> is_network_literal("'10.0.0.0/8'"), is_network_literal("'10.0.0.1/8'"), is_network_literal("8")
    (True, False, False)
    """
    found = literal_constant(literal, negative=False)
    try:
        network_range(found.text)
    except ValueError:
        return False
    return found.kind == "string"


def _networks(tree: Node, holes: dict[Constant, Hole]) -> tuple[int, ...]:
    wanted = {
        holes[constant].number
        for predicate in distinct_predicates(tree)
        if predicate.operator in ("in network", "not in network")
        for constant in predicate.constants
        if constant in holes
    }
    return tuple(sorted(wanted))


def first_pinned(pieces: Sequence[str]) -> frozenset[int]:
    """Which literals are the numbers of `at_least` and the like, which shape the tree, or the names of lists, of which
    there are few. They are pinned.

    >>> first_pinned(["a < ", " AND at_least(", ", b < ", ", c)"])
    frozenset({1})
    """
    return frozenset(at for at, piece in enumerate(pieces[:-1]) if _PINNED.search(piece))


def cut_alike(text: str, pieces: Sequence[str], literals: Sequence[str], policy: Policy) -> bool:
    """Whether both our tokenizer and sqlglot's find exactly these literals in these places."""
    places: list[tuple[int, int]] = []
    at = 0
    for piece, literal in zip(pieces, literals, strict=False):
        at += len(piece)
        places.append((at, at + len(literal)))
        at += len(literal)
    try:
        tokens = tokenize(text, policy)
        others = Dialect.get_or_raise("spark").tokenize(text)
    except (RuleError, SqlglotError):
        return False
    ours = {
        start: start + len(token)
        for start, token, kind in zip(tokens.starts, tokens.texts, tokens.kinds, strict=True)
        if kind in ("string", "number")
    }
    theirs = {
        token.start: token.end + 1 for token in others if token.token_type in (TokenType.STRING, TokenType.NUMBER)
    }
    return all(ours.get(start) == end and _tiled(theirs, start, end) for start, end in places)


def _tiled(tokens: dict[int, int], start: int, end: int) -> bool:
    """Whether these tokens (start to end) fill the range exactly: sqlglot reads `'it''s'` as two adjacent strings."""
    at = start
    while at < end:
        at = tokens.get(at, end + 1)
    return at == end


def marker(at: int, kind: LiteralClass) -> str:
    """A literal that stands for the one of this number."""
    if kind == "string":
        return f"'{MARK}{at}{MARK}'"
    return f"{_DIGITS}{at:06}{_DIGITS}" + (".5" if kind == "decimal" else "")


def _holes(tree: Node, open_holes: Collection[int], marks: Sequence[str]) -> dict[Constant, Hole]:
    """The constants that are markers, unless the marker also occurs elsewhere."""
    kinds = [
        Hole(at, negative, is_searched)
        for at in open_holes
        for negative in ((False,) if marks[at][0] == "'" else (False, True))
        for is_searched in (False, True)
    ]
    markers = {hole.constant(marks[hole.number]): hole for hole in kinds}
    holes: dict[Constant, Hole] = {}
    elsewhere: list[str] = []
    for predicate in distinct_predicates(tree):
        elsewhere.append(predicate.attribute)
        for constant in predicate.constants:
            if constant in markers:
                holes[constant] = markers[constant]
            else:
                elsewhere.append(constant.text)
    rest = SEPARATOR.join(elsewhere)
    if MARK in rest or _DIGITS in rest:
        holes = {constant: hole for constant, hole in holes.items() if marks[hole.number].strip("'") not in rest}
    return holes
