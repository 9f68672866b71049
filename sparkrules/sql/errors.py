"""The only error this package raises: what is wrong with a rule's text, where, and how to fix it.

>>> print(RuleError("unexpected word", "price < 5 banana", 10, "banana", "Join conditions with AND or OR."))
unexpected word at line 1, column 11: banana
    price < 5 banana
              ^
Join conditions with AND or OR.
"""

from __future__ import annotations

from sparkrules.errors import SparkRulesError

# How many characters of a long line are shown on either side of the caret.
_CONTEXT = 60


class RuleError(SparkRulesError, ValueError):
    """A rule that was rejected.

    `line` and `column` count from 1 and point at `fragment`, the offending part of `text`. A caller that knows which
    rule it was sets `id`, and the message then names the rule; `subject` is what else has the text, such as a pattern.
    """

    def __init__(self, reason: str, text: str = "", offset: int = 0, fragment: str = "", remedy: str = "") -> None:
        super().__init__(reason, text, offset, fragment, remedy)
        self.reason = reason
        self.text = text
        self.offset = offset
        self.fragment = fragment
        self.remedy = remedy
        self.id: str | None = None
        self.subject = "rule"

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.offset) + 1

    @property
    def column(self) -> int:
        return self.offset - self.text.rfind("\n", 0, self.offset)

    def __str__(self) -> str:
        subject = "" if self.id is None else f"{self.subject} {self.id!r}: "
        fragment = "" if not self.fragment else f": {_shortened(self.fragment)}"
        message = f"{subject}{self.reason} at line {self.line}, column {self.column}{fragment}"
        if self.text:
            shown, caret = self._excerpt()
            message += f"\n    {shown}\n    {' ' * caret}^"
        return f"{message}\n{self.remedy}" if self.remedy else message

    def _excerpt(self) -> tuple[str, int]:
        """The line of the error, cut to a readable width, and the position of the caret in it."""
        start = self.offset - (self.column - 1)
        end = self.text.find("\n", start)
        end = len(self.text) if end < 0 else end
        left = max(start, self.offset - _CONTEXT)
        right = min(end, self.offset + _CONTEXT)
        before = ("..." if left > start else "") + _visible(self.text[left : self.offset])
        return before + _visible(self.text[self.offset : right]) + ("..." if right < end else ""), len(before)


def _visible(text: str) -> str:
    """Replace each control character and lone surrogate with a placeholder: they would break a terminal or a log."""
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in text)


def _shortened(text: str) -> str:
    return _visible(text if len(text) <= _CONTEXT else text[:_CONTEXT] + "...")
