r"""Outlines: how the predicates of a text are joined. Texts of different shapes share their predicates.

`cut` splits the skeleton of a text (see `template`) into the skeletons of its predicates and what is left between them,
its *outline*: brackets, AND, OR, NOT, and `(...) <> (...)`. There are far fewer skeletons of predicates than of texts.
They are parsed once each, and an outline is read without looking at its predicates.

Why this equals parsing the whole text:

- Only spaces and brackets separate the outline from a predicate. If a predicate is correct by itself, no token of it
  reaches beyond them. So the tokens of a text are those of its outline and its predicates.
- `PredicateForms` parses a predicate between all kinds of neighbours that an outline can give it. It accepts it only if
  it is one predicate there, with the same tokens. The grammar never looks further than one token beyond a predicate.
- Everything else is left to the parser: an outline with other words or signs, or a predicate that is rejected, that
  contains structure of its own, or that is nearly as deep as the policy allows.

>>> from sparkrules.sql.template import SEPARATOR, lift
>>> outline, predicates = cut(lift("NOT (price < 5 OR name LIKE '%(AND)%') AND qty BETWEEN 1 AND 3")[0])
>>> outline.replace(PLACE, "?"), [predicate.replace(SEPARATOR, "5") for predicate in predicates]
('NOT (? OR ?) AND ?', ['price < 5', 'name LIKE 5', 'qty BETWEEN 5 AND 5'])
>>> read_outline(outline, max_depth=64)
Outline(junctions=(('and', (3, 4, 2)),), root=6, sides=b'\x02\x02\x01')
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from sparkrules.sql.boolean import structure_of
from sparkrules.sql.errors import RuleError
from sparkrules.sql.grammar import parse_structure
from sparkrules.sql.policy import DEFAULT_POLICY, Policy
from sparkrules.sql.syntax import Gate, Not, PredicateSyntax, Syntax
from sparkrules.sql.tokens import Tokens, tokenize
from sparkrules.sql.tree import JunctionOperator

_SPACE = r"[ \t\r\n]*"
_WORD_END = r"(?![A-Za-z0-9_])"
# No word that joins predicates, and no prefix of a string such as r'...'.
_WORD = (
    rf"(?<![A-Za-z0-9_])(?!(?:[Aa][Nn][Dd]|[Oo][Rr]|[Nn][Oo][Tt]|[Xx][Oo][Rr]){_WORD_END})"
    r"[A-Za-z0-9_]+(?![A-Za-z0-9_'\"`])"
)
_QUOTED = (
    r"(?<![A-Za-z0-9_])'[^'\\]*(?:(?:\\.|'')[^'\\]*)*'(?!['\"])"
    r"|(?<![A-Za-z0-9_])\"[^\"\\]*(?:(?:\\.|\"\")[^\"\\]*)*\"(?!['\"])"
    r"|`[^`]*(?:``[^`]*)*`"
)
_ARGUMENTS = rf"(?:[^()'\"`]|{_QUOTED})*"
_CALLED = rf"\((?:[^()'\"`]|{_QUOTED}|\({_ARGUMENTS}\))*\)"
_BOUND = rf"(?:[-+]{_SPACE})?(?:[A-Za-z0-9_.]+|\0)(?:[ \t\r\n]*\0)?"
# The commonest predicates, found in half of the time.
_PLAIN = r"(?<![A-Za-z0-9_.'\"`])[A-Za-z_][A-Za-z0-9_]* ?[<>=]{1,2} ?\0(?=\)| AND | OR )"
# The alternatives begin differently, and nothing follows the loop, so that it never tries a text twice.
_PREDICATE = re.compile(
    rf"(?=[A-Za-z0-9_'\"`\0])({_PLAIN}|(?:{_WORD}(?:{_SPACE}{_CALLED})?|\0|{_QUOTED})"
    rf"(?:{_SPACE}(?:[-+*/%<>=!.:~&|^\[\]\0]+"
    rf"|[Bb][Ee][Tt][Ww][Ee][Ee][Nn][ \t\r\n]+{_BOUND}[ \t\r\n]+[Aa][Nn][Dd]{_WORD_END}"
    rf"|{_WORD}(?:{_SPACE}{_CALLED})?"
    rf"|[Ii][Ss][ \t\r\n]+[Nn][Oo][Tt]{_WORD_END}"
    rf"|[Nn][Oo][Tt][ \t\r\n]+(?:[Ii][Nn]|[Ii]?[Ll][Ii][Kk][Ee]|[Rr][Ll][Ii][Kk][Ee]|[Bb][Ee][Tt][Ww][Ee][Ee][Nn])"
    rf"{_WORD_END}|{_QUOTED}))*)",
    re.DOTALL,
)

PLACE = "\x01"
"""Where a predicate was, in an outline."""
_UNKNOWN = re.compile(r"[^ \t\r\n()\x01A-Za-z<>=!]|[\x01<>=!][A-Za-z]|[A-Za-z][\x01<>=!]|\x01[<>=!]|[<>=!]\x01")
_SIGN = re.compile(r"[()\x01]|[A-Za-z]+|[<>=!]+")
_EQUAL = {"=": True, "==": True, "<>": False, "!=": False}
_DEEPEST = 8  # within a predicate
TRUE_SIDE, FALSE_SIDE, COMPARISON = 1, 2, 4


@dataclass(frozen=True)
class Outline:
    """How to join the predicates of a text, in negation normal form.

    Of n predicates, number i stands for predicate i where it is true, n + i for where it is false, and 2n + j for
    junction j. `sides` says for each predicate what is needed: `TRUE_SIDE`, `FALSE_SIDE`, and `COMPARISON` if it must
    be one, not a value: it stands alone on a side of a `<>`.
    """

    junctions: tuple[tuple[JunctionOperator, tuple[int, ...]], ...]
    root: int
    sides: bytes


def cut(skeleton: str) -> tuple[str, list[str]]:
    """The outline of a skeleton, which must not contain `PLACE`, and the skeletons of the predicates in it."""
    pieces = _PREDICATE.split(skeleton)
    return PLACE.join(pieces[::2]), pieces[1::2]


# A part of an outline: the number of a predicate, or an operator with its parts.
_Part = int | tuple[str, list["_Part"]]


def read_outline(outline: str, *, max_depth: int, max_xors: int = 0) -> Outline | None:
    """What an outline says; None if it must be left to the parser."""
    if _UNKNOWN.search(outline):
        return None
    part = _parsed(_SIGN.findall(outline.upper()), max_depth - _DEEPEST)
    if part is None:
        return None
    junctions = _Junctions(outline.count(PLACE))
    root = junctions.side(part, True)
    if len(junctions.exclusives) > max_xors:
        return None
    return Outline(tuple(junctions.made), root, bytes(junctions.sides))


def _parsed(signs: list[str], max_depth: int) -> _Part | None:
    """The outline as a tree, brackets dissolved; None if it is not one, or too deep."""
    stack: list[tuple[list[_Part], list[_Part], int, tuple[bool, _Part] | None]] = []
    ors: list[_Part] = []
    ands: list[_Part] = []
    nots, depth, number = 0, 0, 0
    compared: tuple[bool, _Part] | None = None  # whether both sides of a comparison must be equal, and the left one
    is_bracket = False
    part: _Part | None = None  # what was just read, if anything may follow it
    for sign in signs:
        if part is None:
            if sign == PLACE:
                if compared is not None:
                    return None
                part, is_bracket = number, False
                number += 1
            elif sign == "(":
                stack.append((ors, ands, nots, compared))
                ors, ands, nots, compared = [], [], 0, None
                depth += 1
            elif sign == "NOT" and compared is None:
                nots += 1
                depth += 1
            else:
                return None
            if depth > max_depth:
                return None
            continue
        if sign in _EQUAL:
            if not is_bracket or compared is not None:
                return None
            compared, part = (_EQUAL[sign], part), None
            continue
        if nots or compared is not None:
            depth -= nots
            part = _negated(part, compared, nots)
            nots, compared = 0, None
        if type(part) is tuple and part[0] == "and":
            ands += part[1]
        else:
            ands.append(part)
        part = None
        if sign == "AND":
            continue
        if len(ands) > 1:
            ors.append(("and", ands))
        else:
            _append(ors, "or", ands[0])
        ands = []
        if sign == "OR":
            continue
        if sign != ")" or not stack:
            return None
        part, is_bracket = ors[0] if len(ors) == 1 else ("or", ors), True
        ors, ands, nots, compared = stack.pop()
        depth -= 1
    if stack or part is None:
        return None
    _append(ands, "and", _negated(part, compared, nots))
    _append(ors, "or", ands[0] if len(ands) == 1 else ("and", ands))
    return ors[0] if len(ors) == 1 else ("or", ors)


def _negated(part: _Part, compared: tuple[bool, _Part] | None, nots: int) -> _Part:
    """What a predicate of the grammar is: the right side of a comparison, and the NOTs before it."""
    if compared is not None:
        part = ("=" if compared[0] else "<>", [compared[1], part])
    return ("not", [part]) if nots % 2 else part


def _append(parts: list[_Part], operator: str, part: _Part) -> None:
    if type(part) is tuple and part[0] == operator:
        parts.extend(part[1])
    else:
        parts.append(part)


class _Junctions:
    """The junctions of an outline; see `normal_form` for the rules."""

    def __init__(self, predicates: int) -> None:
        self.predicates = predicates
        self.made: list[tuple[JunctionOperator, tuple[int, ...]]] = []
        # Below a `<>`, both sides of a part are needed, perhaps twice.
        self.known: dict[tuple[int, bool], int] = {}
        self.sides = bytearray(predicates)
        self.exclusives: set[int] = set()

    def side(self, part: _Part, holds: bool) -> int:
        """Where a part is true, or where it is false."""
        if type(part) is int:
            self.sides[part] |= TRUE_SIDE if holds else FALSE_SIDE
            return part if holds else self.predicates + part
        assert type(part) is tuple
        operator, parts = part
        if operator == "not":
            return self.side(parts[0], not holds)
        known = self.known.get((id(part), holds))
        if known is None:
            if operator in ("and", "or"):
                own: JunctionOperator = "and" if (operator == "and") == holds else "or"
                known = self.add(own, dict.fromkeys(self.operands(own, parts, holds)))
            else:
                self.exclusives.add(id(part))
                known = self.exclusive(parts[0], parts[1], (operator == "<>") == holds)
            self.known[id(part), holds] = known
        return known

    def operands(self, operator: JunctionOperator, parts: list[_Part], holds: bool) -> list[int]:
        found: list[int] = []
        needed, offset = (TRUE_SIDE, 0) if holds else (FALSE_SIDE, self.predicates)
        for part in parts:
            if type(part) is int:
                self.sides[part] |= needed
                found.append(offset + part)
                continue
            is_true = holds
            while type(part) is tuple and part[0] == "not":
                part, is_true = part[1][0], not is_true
            is_junction = type(part) is tuple and part[0] in ("and", "or")
            # Behind a NOT, a junction may have the same operator.
            if is_junction and ((part[0] == "and") == is_true) == (operator == "and"):  # type: ignore[index]
                found += self.operands(operator, part[1], is_true)  # type: ignore[index]
            else:
                found.append(self.side(part, is_true))
        return found

    def exclusive(self, left: _Part, right: _Part, differ: bool) -> int:
        """One true and the other false, or both the same."""
        for part in (left, right):
            if isinstance(part, int):
                self.sides[part] |= COMPARISON
        pairs = ((True, not differ), (False, differ))
        both = [self.add("and", dict.fromkeys((self.side(left, a), self.side(right, b)))) for a, b in pairs]
        return self.add("or", dict.fromkeys(both))

    def add(self, operator: JunctionOperator, children: dict[int, None]) -> int:
        if len(children) == 1:
            return next(iter(children))
        self.made.append((operator, tuple(children)))
        return 2 * self.predicates + len(self.made) - 1


# Every pair of neighbours that an outline can give a predicate; the text alone is the last.
_CONTEXTS = (
    "\0 AND \0 AND \0 OR \0 OR \0 AND (\0) AND (\0 AND \0) AND (\0 OR \0) AND NOT \0 AND NOT \0 OR (NOT \0) AND \0",
    "\0 OR \0",
    "NOT \0",
    "\0",
)
Form = Literal["comparison", "value"]


class PredicateForms:
    """Which texts are one predicate wherever an outline has one; each sequence of kinds and words is tried once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.shallow = replace(policy, max_depth=min(_DEEPEST, policy.max_depth))
        self.known: dict[tuple[str, ...], Form | None] = {}

    def form(self, text: str) -> Form | None:
        """Whether a text is a comparison, or a value alone; None if an outline must not contain it.

        >>> from sparkrules.sql.policy import DEFAULT_POLICY
        >>> forms = PredicateForms(DEFAULT_POLICY)
        >>> [forms.form(text) for text in ("a > 5", "sold", "a > 5 AND b", "a >", "a BETWEEN 1", "at_least(1, a, b)")]
        ['comparison', 'value', None, None, None, None]
        """
        try:
            tokens = tokenize(text, self.policy)
        except RuleError:
            return None
        # The grammar looks at kinds and words, never at what is in a literal.
        key = tuple(
            [
                kind if kind in ("string", "number", "quoted") else word.upper()
                for kind, word in zip(tokens.kinds, tokens.texts, strict=True)
            ]
        )
        if key not in self.known:
            self.known[key] = self._tried(text, tokens)
        return self.known[key]

    def _tried(self, text: str, tokens: Tokens) -> Form | None:
        words = tokens.texts[:-1]
        try:
            for context in _CONTEXTS:
                if _shape(context.replace("\0", text), words, self.policy) != _expected(context):
                    return None
            syntax = parse_structure(tokens, self.shallow)
        except RuleError:
            return None
        assert isinstance(syntax, PredicateSyntax)
        return "comparison" if syntax.kind or syntax.value.comparisons else "value"


@cache
def _expected(context: str) -> str:
    return _shape(context.replace("\0", "p > 1"), ["p", ">", "1"], DEFAULT_POLICY)


def _shape(text: str, words: list[str], policy: Policy) -> str:
    """The structure of a text, with `?` for each predicate of these words."""
    tokens = tokenize(text, policy)
    syntax = parse_structure(tokens, policy)
    return "row functions" if tokens.rewritten or tokens.guards else _written(tokens, syntax, words)


def _written(tokens: Tokens, syntax: Syntax, words: list[str]) -> str:
    if isinstance(syntax, Gate):
        return f"({f' {syntax.operator} '.join(_written(tokens, child, words) for child in syntax.children)})"
    if isinstance(syntax, Not):
        return f"not {_written(tokens, syntax.child, words)}"
    inner = structure_of(tokens, syntax) if isinstance(syntax, PredicateSyntax) else None
    if inner is not None:
        return _written(tokens, inner, words)
    is_whole = isinstance(syntax, PredicateSyntax) and tokens.texts[syntax.start : syntax.end] == words
    return "?" if is_whole else "something else"
