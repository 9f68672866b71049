"""A pattern over rows: which steps, in which order, by which key, within which span.

>>> steps = ((Term("failed login"),), (Term("new admin"),))
>>> print(Pattern("breach", "sequence", steps, by=("user",), within=600_000_000))
failed login, then new admin, by user, within 10 minutes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sparkrules.errors import RuleSetError
from sparkrules.patterns.span import span_words

KINDS = ("sequence", "together", "count", "absence", "change", "match")
MOST_STEPS = 32
MOST_COLUMNS = 16
_OVERLAPPING = ("sequence", "together", "count")
_FEWEST_STEPS = {"sequence": 2, "together": 2, "count": 1, "absence": 2, "change": 2, "match": 1}


@dataclass(frozen=True, slots=True)
class Term:
    """What a row can fulfil: the rule with an id, or a condition of the pattern's own, with its text and a hidden id.

    >>> print(Term("failed login"), Term(where="action = 'grant'", condition="breach 1"))
    failed login (action = 'grant')
    """

    rule: str | None = None
    where: str | None = None
    condition: str | None = None

    def __str__(self) -> str:
        return f"({self.where})" if self.rule is None else self.rule


Step: TypeAlias = "tuple[Term, ...]"
"""Terms, any of which fulfils the step."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, checked. Spans are in microseconds; `str()` says in English what it looks for.

    `kind` is `sequence`, `together`, `count`, `absence`, `change` or `match`. A row takes part if it fulfils one of the
    `steps`; rows with the same values of the columns `by` belong together.
    """

    id: str
    kind: str
    steps: tuple[Step, ...]
    by: tuple[str, ...] = ()
    within: int | None = None
    after: int | None = None
    at_least: int | None = None
    distinct: str | None = None
    overlapping: bool = False
    suppress: int | None = None
    metadata: Mapping[str, object] | None = None

    def __post_init__(self) -> None:
        wrong = _wrong(self)
        if wrong is not None:
            raise RuleSetError(f"pattern {self.id!r}: {wrong}")

    def __str__(self) -> str:
        words = [_what(self)]
        if self.by:
            words.append(f"by {_joined(self.by, 'and')}")
        if self.within is not None:
            words.append(f"within {span_words(self.within)}")
        if self.after:
            words.append(f"at least {span_words(self.after)} apart")
        if self.overlapping:
            words.append("overlapping")
        if self.suppress is not None:
            words.append(f"at most once in {span_words(self.suppress)}")
        return ", ".join(words)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The terms of all steps."""
        return tuple(term for step in self.steps for term in step)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The hidden ids of its conditions, each once, in the order of the steps."""
        return tuple(dict.fromkeys(term.condition for term in self.terms if term.condition is not None))

    @property
    def belongs_to_rule(self) -> bool:
        """Whether it is an option of the rule with its id, and goes with that rule."""
        return self.kind in ("change", "match")


def step_words(step: Step) -> str:
    """The terms of a step.

    >>> step_words((Term("failed login"), Term("locked out")))
    'failed login or locked out'
    """
    return _joined(map(str, step), "or")


def _what(pattern: Pattern) -> str:
    steps = [step_words(step) for step in pattern.steps]
    if pattern.kind == "sequence":
        return ", then ".join(steps)
    if pattern.kind == "together":
        return f"{_joined(steps, 'and')} together"
    if pattern.kind == "count" and pattern.distinct is not None:
        return f"{steps[0]} with {pattern.at_least:,} different values of {pattern.distinct}"
    if pattern.kind == "count":
        return f"{steps[0]} {'once' if pattern.at_least == 1 else f'{pattern.at_least:,} times'}"
    if pattern.kind == "absence":
        return f"{steps[0]} without {steps[1]}"
    return f"{steps[0]} becomes true" if pattern.kind == "change" else steps[0]


def _joined(words: Iterable[str], last: str) -> str:
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def _wrong(pattern: Pattern) -> str | None:
    """What is wrong with a pattern; None if nothing is."""
    if pattern.kind not in KINDS:
        return f"there is no kind {pattern.kind!r}; there are: {', '.join(KINDS)}"
    return _wrong_steps(pattern) or _wrong_columns(pattern) or _wrong_spans(pattern) or _wrong_count(pattern)


def _wrong_steps(pattern: Pattern) -> str | None:
    kind, steps = pattern.kind, len(pattern.steps)
    fewest = _FEWEST_STEPS[kind]
    most = MOST_STEPS if kind in ("sequence", "together") else fewest
    if not fewest <= steps <= most:
        wanted = f"{fewest} to {most} steps" if most > fewest else f"{fewest} step{'s' * (fewest > 1)}"
        return f"{_a(kind)} has {wanted}, not {steps}"
    for number, step in enumerate(pattern.steps, start=1):
        if not step:
            return f"step {number} is empty: name a rule"
        if any((term.rule is None) == (term.where is None) for term in step):
            return f"step {number} has a term that is neither a rule nor a condition"
        if any((term.where is None) != (term.condition is None) for term in step):
            return f"step {number} has a condition without an id"
        if len(set(step)) < len(step):
            return f"step {number} names the same rule twice"
    return None


def _wrong_columns(pattern: Pattern) -> str | None:
    if len(pattern.by) > MOST_COLUMNS:
        return f"by has at most {MOST_COLUMNS} columns, not {len(pattern.by)}"
    if not all(pattern.by) or pattern.distinct == "":
        return "the name of a column is empty"
    twice = [name for number, name in enumerate(pattern.by) if name in pattern.by[:number]]
    return f"by names the column {twice[0]!r} twice" if twice else None


def _wrong_spans(pattern: Pattern) -> str | None:
    kind, within, after = pattern.kind, pattern.within, pattern.after
    if pattern.belongs_to_rule:
        if within is not None:
            return f"{_a(kind)} has no within"
    elif within is None:
        return f"{_a(kind)} needs within: how far apart its rows may be"
    elif within <= 0:
        return "within is longer than 0"
    if after is not None:
        if kind != "sequence":
            return f"only a sequence has a span after, not {_a(kind)}"
        if after < 0 or within is None or after > within:
            return f"after ({span_words(after)}) is longer than within ({span_words(within or 0)}): it can never occur"
    if pattern.suppress is None:
        return "a match needs suppress" if kind == "match" else None
    return None if pattern.suppress > 0 else "suppress is longer than 0"


def _wrong_count(pattern: Pattern) -> str | None:
    if pattern.kind == "count":
        if pattern.at_least is None or pattern.at_least < 1:
            return f"at_least is 1 or more, not {pattern.at_least}"
    elif pattern.at_least is not None or pattern.distinct is not None:
        return f"only a count has at_least and distinct, not {_a(pattern.kind)}"
    if pattern.overlapping and pattern.kind not in _OVERLAPPING:
        return f"{_a(pattern.kind)} is never overlapping"
    return None


def _a(kind: str) -> str:
    return f"{'an' if kind == 'absence' else 'a'} {kind}"
