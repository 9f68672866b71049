"""Split a rule's text into tokens exactly where Spark's lexer does.

Spark receives the author's own text. If our tokenizer disagreed about where a string ends (`r'\\'`, `'a\\'b'`, dollar
quotes, templates), we would check one expression and Spark would run another. So this tokenizer follows
`SqlBaseLexer.g4`: the longest match, the same whitespace, and names that start with a digit (`5a`, `a.5b`). It rejects
everything it does not know: comments, `;`, parameter markers.

>>> from sparkrules.sql.policy import DEFAULT_POLICY
>>> tokens = tokenize("price>=5 AND name = 'O''Hara'", DEFAULT_POLICY)
>>> tokens.kinds
['word', '>=', 'number', 'AND', 'word', '=', 'string', 'end']
>>> tokens.sql(0, 3)
'price >= 5'
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrules.sql.errors import RuleError

if TYPE_CHECKING:
    from sparkrules.sql.guard import Guard
    from sparkrules.sql.policy import Policy

# Words that are always syntax.
RESERVED = frozenset(
    {
        "AND",
        "OR",
        "NOT",
        "BETWEEN",
        "IN",
        "LIKE",
        "ILIKE",
        "RLIKE",
        "IS",
        "NULL",
        "TRUE",
        "FALSE",
        "CASE",
        "SELECT",
    }
)
# The words that the grammar uses; every other word is a name. Those that are not reserved may name a column where a
# value is expected, as in Spark; WHEN, THEN, ELSE and END only outside CASE. A token's kind is one of these, an
# operator from `_OPERATORS`, or `word`, `quoted`, `string`, `number`, `end`.
KEYWORDS = RESERVED | {
    "XOR",
    "UNKNOWN",
    "DISTINCT",
    "FROM",
    "ESCAPE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "DIV",
    "AS",
    "COLLATE",
    "INTERVAL",
    "CAST",
    "TRY_CAST",
    "ALL",
    "OVER",
}
_SYNONYMS = {"REGEXP": "RLIKE"}
_OPERATOR_SYNONYMS = {"==": "=", "!=": "<>", "!>": "<=", "!<": ">="}

_OPERATORS = r"<=>|>>>|<<|>>|<>|!=|!<|!>|==|<=|>=|\|\||::|->|=>|[-+*/%~&|^<>=!().,\[\]:]"
_TOKEN = re.compile(
    rf"""
      (?P<space> [ \t\n\f\r\x0b\xa0\u1680\u2000-\u200a\u2028\u202f\u205f\u3000]+ )
    | (?P<comment> -- | /\* )
    | (?P<string> '[^'\\]*(?:(?:\\.|'')[^'\\]*)*' | "[^"\\]*(?:(?:\\.|"")[^"\\]*)*" | [rR]'[^']*' | [rR]"[^"]*" )
    | (?P<number>
          (?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:[bB][dD]|[fFdD])?(?![A-Za-z0-9_])
        | [0-9]+[eE][+-][0-9]+(?:[bB][dD]|[fFdD])?
        | [0-9]+(?:[lLsSyY]|(?:[eE][0-9]+)?(?:[bB][dD]|[fFdD])?)(?![A-Za-z0-9_]) )
    | (?P<address> [A-Za-z]+:// )
    | (?P<word> [A-Za-z0-9_]+ )
    | (?P<quoted> `[^`]*(?:``[^`]*)*` )
    | (?P<pipe> \|> )
    | (?P<operator> {_OPERATORS} )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)

_SHAPES = {"number": "1", "string": "'x'", "quoted": "`q`"}
_NO_SPACE_AFTER = frozenset({"(", "[", "."})
_NO_SPACE_BEFORE = frozenset({")", "]", ".", ",", "[", "end"})


@dataclass(slots=True)
class Tokens:
    """Parallel lists with one entry per token, ending with a token of kind `end`.

    `shapes` is what `validate` shows to sqlglot: tokens with constants and names blanked out, so that predicates that
    differ only in these are checked once. The grammar refines it as it learns what a token is.
    """

    text: str
    kinds: list[str]
    texts: list[str]
    starts: list[int]
    shapes: list[str]
    calls: set[int]
    """The opening brackets that follow a function's name."""
    functions: dict[int, str]
    """The functions called so far, keyed by their opening brackets."""
    rewritten: dict[int, dict[int, str]] = field(default_factory=dict)
    """Spark SQL in place of ranges of tokens, by start and end: Spark does not know row functions."""
    guards: dict[tuple[int, int], Guard] = field(default_factory=dict)
    """The predicates that compare what row functions give, by start and end."""

    def sql(self, start: int, end: int) -> str:
        """The tokens as Spark SQL: as written, with uniform spacing, so that `a+b` and `a + b` are one attribute."""
        if end == start + 1:
            return self.texts[start]
        if self.rewritten:
            return self._rewritten_sql(start, end)
        kinds = self.kinds
        pieces = [self.texts[start]]
        for i in range(start + 1, end):
            glued = kinds[i - 1] in _NO_SPACE_AFTER or kinds[i] in _NO_SPACE_BEFORE or i in self.calls
            pieces.append(self.texts[i] if glued else " " + self.texts[i])
        return "".join(pieces)

    def _rewritten_sql(self, start: int, end: int) -> str:
        pieces: list[str] = []
        at = start
        while at < end:
            until = max((other for other in self.rewritten.get(at, ()) if other <= end), default=0)
            piece = self.rewritten[at][until] if until else self.texts[at]
            pieces.append(self.space_before(at, start) + piece)
            at = until or at + 1
        return "".join(pieces)

    def is_rewritten(self, start: int, end: int) -> bool:
        """Whether there is a row function between two tokens."""
        return bool(self.rewritten) and not self.rewritten.keys().isdisjoint(range(start, end))

    def space_before(self, at: int, start: int) -> str:
        """What `sql` puts before a token of a range that begins at `start`."""
        glued = at == start or self.kinds[at - 1] in _NO_SPACE_AFTER or self.kinds[at] in _NO_SPACE_BEFORE
        return "" if glued or at in self.calls else " "

    def called(self, start: int, end: int) -> frozenset[str] | None:
        """The functions called between two tokens, or None if there is no bracket, or not all are known."""
        if "(" not in self.kinds[start:end] or self.is_rewritten(start, end):
            return None
        return frozenset(name for bracket, name in self.functions.items() if start <= bracket < end)

    def error(self, at: int, reason: str, remedy: str = "") -> RuleError:
        at = min(at, len(self.kinds) - 1)
        if self.kinds[at] == "end":
            return RuleError(reason, self.text, self.starts[at], "end of the text", remedy)
        return RuleError(reason, self.text, self.starts[at], self.texts[at], remedy)


def tokenize(text: str, policy: Policy) -> Tokens:
    """Split a text into tokens in one linear pass. Raises `RuleError` for tokens that no rule may contain."""
    if len(text) > policy.max_characters:
        raise RuleError(
            f"the text has {len(text):,} characters, more than {policy.max_characters:,}",
            remedy="Split the rule, or raise Policy.max_characters.",
        )
    _require_unicode(text)
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    shapes: list[str] = []
    for match in _TOKEN.finditer(text):
        group = match.lastgroup
        if group == "space":
            continue
        token = match.group()
        if group == "word":
            upper = token.upper()
            upper = _SYNONYMS.get(upper, upper)
            kinds.append(upper if upper in KEYWORDS else "word")
            shapes.append(token)
        elif group == "operator":
            kind = _OPERATOR_SYNONYMS.get(token, token)
            kinds.append(kind)
            shapes.append(">>" if kind == ">>>" else kind)
        elif group in _SHAPES:
            if group == "number" and (len(token) > 15 or "e" in token or "E" in token):
                _require_holdable(text, match.start(), token)
            kinds.append(group)
            shapes.append(_SHAPES[group])
        else:
            raise _rejected(text, match.start(), token)
        texts.append(token)
        starts.append(match.start())
    kinds.append("end")
    texts.append("")
    starts.append(len(text.rstrip()))
    shapes.append("")
    return Tokens(text, kinds, texts, starts, shapes, set(), {})


_NUMBER = re.compile(r"([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?([A-Za-z]*)")
_DECIMAL_DIGITS = 38  # in Spark's widest decimal
_LONG_DIGITS = 19
_DOUBLE_DIGITS = 1_000
_EXPONENT_DIGITS = 4


def _require_holdable(text: str, at: int, token: str) -> None:
    """Reject a number that fits no Spark type before Spark's parser expands its digits: a few characters,
    1E2000000000BD, could need gigabytes. A double of any size fits and is bounded by its length alone."""
    match = _NUMBER.fullmatch(token)
    if match is None:
        return
    whole, behind, exponent, suffix = match[1].lstrip("0"), match[2], match[3] or "", match[4].upper()
    reason = ""
    if len(exponent.lstrip("+-").lstrip("0")) > _EXPONENT_DIGITS:
        reason = f"an exponent of more than {_EXPONENT_DIGITS} digits"
    elif suffix in ("L", "S", "Y"):
        reason = f"more than {_LONG_DIGITS} digits" if len(whole) > _LONG_DIGITS else ""
    elif suffix in ("D", "F") or (exponent and suffix != "BD"):
        reason = f"more than {_DOUBLE_DIGITS:,} digits" if len(whole) + len(behind) > _DOUBLE_DIGITS else ""
    elif len(token) > _DOUBLE_DIGITS:
        reason = f"more than {_DOUBLE_DIGITS:,} digits"
    else:
        digits = len((whole + behind).lstrip("0"))
        scale = len(behind) - int(exponent or "0")
        if max(digits, scale, digits - scale) > _DECIMAL_DIGITS:
            reason = f"more than {_DECIMAL_DIGITS} digits, which is what Spark's decimals have"
    if reason:
        raise RuleError(f"a number with {reason}", text, at, token, "Write a shorter number, or a double such as 1e40.")


def _require_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RuleError(
            "half of a surrogate pair, which is not a character",
            text,
            error.start,
            text[error.start],
            "Decode the text correctly (UTF-8) before handing it over.",
        ) from None


_REJECTIONS = {
    "--": ("comments are not allowed", "Remove the comment. A double minus is written - -x."),
    "/*": ("comments are not allowed", "Remove the comment."),
    ";": ("a rule is one expression, not a statement", "Remove the semicolon."),
    "?": ("parameter markers are not allowed", "Write the value itself."),
    "'": ("a string that is not closed", "Close it with ', and double each ' inside it."),
    '"': ("a string that is not closed", 'Close it with ", and double each " inside it.'),
    "`": ("a quoted name that is not closed", "Close it with a backtick."),
}


def _rejected(text: str, at: int, token: str) -> RuleError:
    reason, remedy = _REJECTIONS.get(token, ("a character that means nothing here", "Remove it."))
    if token in "\u2018\u2019\u201c\u201d":
        remedy = "Write straight quotes: 'x'."
    elif token in "$@#":
        remedy = "Remove it, or quote the whole name with backticks."
    if token.isalpha() and not token.isascii():
        reason, remedy = "a letter outside of a-z in a name without quotes", "Quote the whole name with backticks."
    return RuleError(reason, text, at, token, remedy)
