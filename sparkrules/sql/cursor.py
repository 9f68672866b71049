"""A cursor over the tokens of a rule: single steps, and errors for unexpected tokens."""

from __future__ import annotations

from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import Policy
from sparkrules.sql.remedy import about_word
from sparkrules.sql.syntax import Operand, Syntax
from sparkrules.sql.tokens import KEYWORDS, Tokens

COMPARISONS = frozenset({"=", "<>", "<", "<=", ">", ">=", "<=>"})
# In f(ALL x) and f(DISTINCT x) these are not names. They are names if the next token cannot start a value.
QUANTIFIERS = frozenset({"DISTINCT", "ALL"})
_QUERY_WORDS = frozenset({"SELECT", "WITH", "VALUES", "FROM", "TABLE"})
_WINDOW_WORDS = frozenset({"OVER", "FILTER", "WITHIN", "IGNORE", "RESPECT"})


class Cursor:
    """A cursor over the tokens. `variables` counts the columns and time-dependent functions seen so far. A range of
    tokens is constant if the count did not grow within it."""

    def __init__(self, tokens: Tokens, policy: Policy) -> None:
        self.tokens = tokens
        self.policy = policy
        self.kinds = tokens.kinds
        self.shapes = tokens.shapes
        self.at = 0
        self.depth = -1  # the outermost expression is level 0
        self.variables = 0
        self.open_calls = 0
        self.open_cases = 0
        self.count_nodes = 0
        self.values: dict[int, Operand] = {}  # the row functions that are values, by their first token
        self.last_value = -1

    def expression(self) -> Syntax:
        """Parse a whole expression, including Boolean operators. See `grammar`."""
        raise NotImplementedError

    def name(self, reason: str) -> None:
        kind = self.kinds[self.at]
        if kind == "*":
            raise self.tokens.error(self.at, "a star is not a value", "Name the columns.")
        if kind not in ("word", "quoted") and kind not in KEYWORDS:
            raise self.tokens.error(self.at, reason, "Quote unusual names with backticks.")
        self.shapes[self.at] = "c"
        self.at += 1

    def word(self) -> str:
        """The unquoted word at the cursor in upper case, or an empty string."""
        return self.word_at(self.at)

    def word_at(self, at: int) -> str:
        kind = self.kinds[at]
        return self.tokens.texts[at].upper() if kind == "word" or kind in KEYWORDS else ""

    def expect(self, kind: str, remedy: str) -> None:
        if self.kinds[self.at] != kind:
            raise self.unexpected(remedy)
        self.at += 1

    def descend(self) -> None:
        self.depth += 1
        if self.depth > self.policy.max_depth:
            raise self.tokens.error(
                self.at,
                f"nested deeper than {self.policy.max_depth} levels",
                "Write the rule flatter, or raise Policy.max_depth.",
            )

    def expected_value(self) -> RuleError:
        kind = self.kinds[self.at]
        if kind == "SELECT":
            return self.subquery()
        if kind == "*":
            return self.tokens.error(self.at, "a star is not a value", "Name the columns.")
        if kind == ":":
            return self.tokens.error(
                self.at,
                "parameter markers are not allowed",
                "Write the value itself. Variables are bound by operators: Policy(operators={...}).",
            )
        if kind in QUANTIFIERS:
            return self.tokens.error(self.at, "aggregates are not allowed", "A rule sees one row.")
        before = self.kinds[self.at - 1] if self.at else ""
        remedy = "A column of that name needs backticks." if kind in KEYWORDS else ""
        if kind == "&" and before == "&":
            remedy = "Write AND instead of &&."
        elif before == "||":
            remedy = "In Spark || joins strings: write OR between conditions."
        elif kind == "=" and before in COMPARISONS:
            remedy = "Write = or <>."
        return self.tokens.error(self.at, "expected a value", remedy)

    def unexpected(self, remedy: str = "") -> RuleError:
        """The error for a token that cannot appear here."""
        previous = self.tokens.texts[self.at - 1].upper() if self.at else ""
        if self.at <= 2 and self.tokens.texts[0].upper() == "WHERE":
            return self.tokens.error(0, "WHERE is not part of a rule", "Drop the word: a rule is what follows it.")
        if previous in QUANTIFIERS and self.kinds[max(self.at - 2, 0)] not in ("IS", "NOT"):
            return self.tokens.error(self.at - 1, "aggregates are not allowed", "A rule sees one row.")
        if previous in _QUERY_WORDS:
            self.at -= 1
            return self.subquery()
        if self.word() in _WINDOW_WORDS:
            return self.tokens.error(self.at, "aggregates and windows are not allowed", "A rule sees one row.")
        remedy = about_word(self.word()) or remedy or "Join conditions with AND or OR."
        return self.tokens.error(self.at, "unexpected here", remedy)

    def subquery(self) -> RuleError:
        return self.tokens.error(
            self.at,
            "subqueries and statements are not allowed",
            "Write only what stands behind WHERE. A rule sees one row: join beforehand. "
            "A column of that name needs backticks.",
        )
