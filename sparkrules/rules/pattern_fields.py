"""Patterns as users write them, checked: the fields of a method, or of a row of a file.

| kind | fields |
|---|---|
| `sequence`, `together` | the steps; `by`, `within`, `overlapping`, `suppress`; `after` for a sequence |
| `count` | the step; `by`, `within`, `at_least`, `distinct`, `overlapping`, `suppress` |
| `absence` | `after` and `without`; `by`, `within`, `suppress` |
| a rule | `on_change`, the columns by which it is a pattern of kind `change`; or `suppress` and `by`: of kind `match` |

A step is the id of a rule, a list of them, any of which fulfils it, or a condition: `{"where": "action = 'grant'"}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from sparkrules.errors import RuleSetError
from sparkrules.index import Rule
from sparkrules.patterns import Pattern, Step, Term, span_of
from sparkrules.rules.fields import check_id, check_metadata, check_where, is_whole
from sparkrules.sql import DEFAULT_POLICY, Policy, RuleError
from sparkrules.sql.rule import ReadRule, read_rule

PATTERN_KINDS = ("sequence", "together", "count", "absence")
SPANS = ("within", "after", "suppress")
_NEGATION = "NOT ({})"


class DefinedPattern(NamedTuple):
    """A pattern, and the conditions of its own that its steps name by their hidden ids."""

    pattern: Pattern
    conditions: tuple[Rule, ...] = ()


def define(
    id: Any,
    kind: str,
    steps: Iterable[Any],
    fields: Mapping[str, Any],
    dialect: str = "spark",
    policy: Policy = DEFAULT_POLICY,
) -> DefinedPattern:
    """A pattern of some steps; `fields` has the others, by name. Raises `RuleSetError`, or `RuleError` for a condition.

    >>> steps = ["failed login", {"where": "grants > 3"}]
    >>> made = define("breach", "sequence", steps, {"by": "user", "within": "1 hour"})
    >>> print(made.pattern)
    failed login, then (grants > 3), by user, within 1 hour
    >>> made.conditions[0].where
    'grants > 3'
    """
    known = check_id(id)
    try:
        return _defined(known, kind, list(steps), fields, _Conditions(known, dialect, policy), policy)
    except RuleSetError as error:
        named = f"pattern {known!r}: "
        raise error if str(error).startswith(named) else RuleSetError(f"{named}{error}") from None


def define_option(
    id: Any, where: Any, fields: Mapping[str, Any], dialect: str = "spark", policy: Policy = DEFAULT_POLICY
) -> DefinedPattern | None:
    """The pattern of a rule with the fields `on_change`, `suppress` or `by`; None if it has none of them.

    >>> made = define_option("hot", "temperature > 30", {"on_change": ["sensor"]})
    >>> print(made.pattern, made.conditions[0].where)
    hot becomes true, by sensor NOT (temperature > 30)
    """
    on_change, suppress, by = (fields.get(name) for name in ("on_change", "suppress", "by"))
    if on_change is None and suppress is None:
        if by is not None:
            raise RuleSetError(f"rule {check_id(id)!r}: by is for a rule with suppress, or for a pattern")
        return None
    known, where = check_id(id), check_where(where)
    if on_change is not None and by is not None:
        raise RuleSetError(f"rule {known!r}: on_change already names the columns; leave by out")
    steps: list[Any] = [known]
    if on_change is not None:
        # The error of an invalid rule points into its own text, not into the negated one.
        _parsed(known, "rule", where, dialect, policy)
        steps.append({"where": _NEGATION.format(where)})
        # What was accepted is accepted when it is negated.
        policy = replace(policy, max_characters=policy.max_characters + 6, max_depth=policy.max_depth + 2)
    chosen = {"by": by if on_change is None else on_change, "suppress": suppress, "metadata": fields.get("metadata")}
    return define(known, "match" if on_change is None else "change", steps, chosen, dialect, policy)


def define_row(fields: Mapping[str, Any], dialect: str = "spark", policy: Policy = DEFAULT_POLICY) -> DefinedPattern:
    """A pattern that is not an option of a rule, from the fields of a row.

    >>> absence = {"after": "started", "without": "heartbeat"}
    >>> print(define_row({"id": "silent", "absence": absence, "by": "host", "within": "1 hour"}).pattern)
    started without heartbeat, by host, within 1 hour
    """
    known = check_id(fields.get("id"))
    kinds = [kind for kind in PATTERN_KINDS if fields.get(kind) is not None]
    if len(kinds) != 1:
        raise RuleSetError(
            f"pattern {known!r} has one of {', '.join(PATTERN_KINDS)}, not {' and '.join(kinds) or 'none'}"
        )
    for name in ("where", "on_change"):
        if fields.get(name) is not None:
            raise RuleSetError(f"{known!r} has both {name} and {kinds[0]}: a rule has {name}, a pattern {kinds[0]}")
    for name in ("priority", "valid_from", "valid_until"):
        if fields.get(name) not in (None, 0, "0", ""):
            raise RuleSetError(f"pattern {known!r} has a {name}: its rules have that, a pattern has not")
    for name in ("status", "tags", "exemptions"):
        if fields.get(name) not in (None, [], "", "live"):
            raise RuleSetError(f"pattern {known!r} has a field {name}: its rules have that, a pattern has not")
    kind = kinds[0]
    steps = _absence_steps(known, fields[kind]) if kind == "absence" else fields[kind]
    if kind == "count":
        steps = [steps]
    elif isinstance(steps, (str, Mapping)) or not isinstance(steps, Iterable):
        raise RuleSetError(f"pattern {known!r}: {kind} is a list of steps, not {steps!r:.60}")
    return define(known, kind, steps, fields, dialect, policy)


def _absence_steps(id: str, value: Any) -> list[Any]:
    if isinstance(value, list) and all(isinstance(own, tuple) and len(own) == 2 for own in value):
        value = dict(value)  # as Arrow has a map
    if not isinstance(value, Mapping) or set(value) != {"after", "without"}:
        raise RuleSetError(f"pattern {id!r}: absence has the fields after and without, as in {{after: a, without: b}}")
    return [value["after"], value["without"]]


def _defined(
    id: str, kind: str, steps: list[Any], fields: Mapping[str, Any], conditions: _Conditions, policy: Policy
) -> DefinedPattern:
    own = tuple(_step(step, number, conditions) for number, step in enumerate(steps, start=1))
    # `after` of an absence is a step; only a sequence has a span of that name.
    names = [name for name in SPANS if fields.get(name) is not None]
    spans = {name: span_of(fields[name], name) for name in names}
    at_least = _number(fields.get("at_least"))
    if at_least is not None and at_least > policy.max_pattern_rows:
        raise RuleSetError(
            f"at_least {at_least:,} is more than the {policy.max_pattern_rows:,} rows that a pattern may keep: raise "
            "Policy.max_pattern_rows"
        )
    pattern = Pattern(
        id,
        kind,
        own,
        _columns(fields.get("by"), "by"),
        spans.get("within"),
        spans.get("after"),
        at_least,
        _column(fields.get("distinct")),
        _truth(fields.get("overlapping")),
        spans.get("suppress"),
        check_metadata(fields.get("metadata")),
    )
    return DefinedPattern(pattern, tuple(conditions.made.values()))


class _Conditions:
    """The conditions of one pattern, by text."""

    def __init__(self, id: str, dialect: str, policy: Policy) -> None:
        self.id = id
        self.dialect = dialect
        self.policy = policy
        self.made: dict[str, Rule] = {}

    def term(self, where: Any) -> Term:
        where = check_where(where)
        if where not in self.made:
            tree, sql = _parsed(self.id, "pattern", where, self.dialect, self.policy)
            self.made[where] = Rule(f"{self.id}\0{len(self.made) + 1}", where, tree, sql=sql)
        return Term(where=where, condition=self.made[where].id)


def _parsed(id: str, subject: str, where: str, dialect: str, policy: Policy) -> ReadRule:
    try:
        return read_rule(where, dialect=dialect, policy=policy)
    except RuleError as error:
        error.id, error.subject = id, subject
        raise


def _step(step: Any, number: int, conditions: _Conditions) -> Step:
    terms = step if isinstance(step, (list, tuple, set, frozenset)) else [step]
    return tuple(_term(term, number, conditions) for term in terms)


def _term(term: Any, number: int, conditions: _Conditions) -> Term:
    if isinstance(term, Mapping):
        if set(term) == {"where"}:
            return conditions.term(term["where"])
        if set(term) == {"rule"}:
            term = term["rule"]
        else:
            raise RuleSetError(f'step {number} has the field where, as in {{where: "a > 1"}}, not {dict(term)!r:.60}')
    if is_whole(term) or (isinstance(term, str) and term):
        return Term(check_id(term))
    raise RuleSetError(
        f'step {number} is the id of a rule, a list of ids, or a condition {{where: "a > 1"}}, not {term!r:.60}'
    )


def _columns(value: Any, what: str) -> tuple[str, ...]:
    """Names of columns: a list of them, or one string with commas."""
    if value is None:
        return ()
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",")] if value.strip() else []
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise RuleSetError(f"{what} is a list of columns, not {value!r:.60}")
    names = tuple(value)
    odd = [name for name in names if not _is_column(name)]
    if odd:
        raise RuleSetError(f"{what} is a list of names of columns, and {odd[0]!r:.60} is none")
    return names


def _is_column(name: Any) -> bool:
    """Whether this can be the name of a column: a string that can be stored."""
    return isinstance(name, str) and bool(name.strip()) and name == name.encode(errors="replace").decode()


def _column(value: Any) -> str | None:
    if value is None or _is_column(value):
        known: str | None = value
        return known
    raise RuleSetError(f"distinct is the name of a column, not {value!r:.60}")


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdigit():
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # pandas uses floats where numbers are missing
    if value is None or is_whole(value):
        return None if value is None else int(value)
    raise RuleSetError(f"at_least is an integer, not {value!r:.60}")


def _truth(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if value is None or isinstance(value, bool):
        return bool(value)
    raise RuleSetError(f"overlapping is true or false, not {value!r:.60}")
