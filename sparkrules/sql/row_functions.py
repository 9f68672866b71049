"""Row functions: functions of the rule language that Spark does not have, and the Spark SQL that each stands for.

| written | meaning |
|---|---|
| `at_least(2, p, q, r)`, `at_most(2, p, q, r)`, `exactly(2, p, q, r)` | how many of the conditions are true |
| `matched(price >= 200)` | the value of the attribute where the condition is true, else NULL |
| `sum(x, y)`, `avg(x, y)`, `min(x, y)`, `max(x, y)` | of values of one row; NULL if one of them is NULL |

A condition that is unknown could be true or false. So a count is true if it holds in either case, false if it fails in
either case, and else unknown. That is what AND and OR make of it: `at_least(1, p, q)` is `p OR q`, and
`at_least(2, p, q)` is `p AND q`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sparkrules.sql.errors import RuleError
from sparkrules.sql.syntax import Count, Not, Operand, PredicateSyntax, Syntax, alone
from sparkrules.sql.threshold import most_nodes
from sparkrules.sql.tokens import Tokens

COUNTS = frozenset({"at_least", "at_most", "exactly"})
AGGREGATES = frozenset({"sum", "avg", "min", "max"})
ROW_FUNCTIONS = COUNTS | AGGREGATES | {"matched"}
_CALLED = re.compile(rf"\b(?:{'|'.join(sorted(ROW_FUNCTIONS))})\s*\(", re.IGNORECASE)
_FEWEST = {"at_least": 1, "at_most": 0, "exactly": 0}
_EXAMPLE = "at_least(2, a > 1, b = 2, c < 3)"


def may_have_row_functions(text: str) -> bool:
    """Whether a text may have row functions; False is certain."""
    return _CALLED.search(text) is not None


def count_of(tokens: Tokens, operand: Operand) -> Count:
    """The structure of `at_least`, `at_most` or `exactly`. Raises `RuleError` if its number makes no sense."""
    number, conditions = _number(tokens, operand), operand.inner[1:]
    name, count = operand.function, len(conditions)
    fewest, most = _FEWEST[name], count - (name == "at_most")
    if not fewest <= number <= most:
        said = "never true" if number > count and name != "at_most" else "true for every row"
        raise tokens.error(
            first_token(operand.inner[0]),
            f"{name}({number}, ...) of {count} condition{'s' * (count != 1)} is {said}",
            f"The number may be {fewest if fewest == most else f'{fewest} to {most}'} here.",
        )
    bounds = (0 if name == "at_most" else number), (count if name == "at_least" else number)
    return Count(name, number, *bounds, list(conditions))


def _number(tokens: Tokens, operand: Operand) -> int:
    name = operand.function
    first = alone(operand.inner[0]) if operand.inner else None
    if first is None or first.end != first.start + 1 or not tokens.texts[first.start].isdigit():
        at = first_token(operand.inner[0]) if operand.inner else operand.end - 1
        raise tokens.error(at, f"{name} needs a whole number first", f"Write {_EXAMPLE}.")
    if len(operand.inner) == 1:
        raise tokens.error(operand.end - 1, f"{name} without conditions", f"Write {_EXAMPLE}.")
    return int(tokens.texts[first.start])


def as_count(tokens: Tokens, operand: Operand) -> Count | None:
    """The structure of an operand that is a count."""
    return count_of(tokens, operand) if operand.form == "row function" and operand.function in COUNTS else None


def nodes_of(count: Count) -> int:
    """An upper bound of the AND and OR nodes that a count becomes."""
    size = len(count.children)
    return sum(most_nodes(needed, size) for needed in (count.least, size - count.most) if needed)


def count_sql(count: Count, conditions: Sequence[str]) -> str:
    """A count as Spark SQL, with each condition once, so that nested counts stay small."""
    size, least, most = len(conditions), count.least, count.most
    trues, falses = "size(filter(p, t -> t))", "size(filter(p, t -> NOT t))"
    holds = [f"{trues} >= {least}"] * (least > 0) + [f"{falses} >= {size - most}"] * (most < size)
    fails = [f"{falses} > {size - least}"] * (least > 0) + [f"{trues} > {most}"] * (most < size)
    decided = f"CASE WHEN {' AND '.join(holds)} THEN TRUE WHEN {' OR '.join(fails)} THEN FALSE END"
    return f"get(transform(array(array({', '.join(conditions)})), p -> {decided}), 0)"


def aggregate_sql(name: str, values: Sequence[str]) -> str:
    """`sum`, `avg`, `min` or `max` of values as Spark SQL; NULL if one of them is NULL."""
    if name in ("sum", "avg"):
        return plain_aggregate_sql(name, values)
    extreme = f"CASE WHEN NOT exists(v, e -> e IS NULL) THEN array_{name}(v) END"
    return f"get(transform(array(array({', '.join(values)})), v -> {extreme}), 0)"


def plain_aggregate_sql(name: str, values: Sequence[str]) -> str:
    """`aggregate_sql` where no value is NULL."""
    if name in ("min", "max"):
        return f"{'least' if name == 'min' else 'greatest'}({', '.join(values)})"
    total = " + ".join(values)
    return f"({total})" if name == "sum" else f"(({total}) / {len(values)})"


def require_values(tokens: Tokens, operand: Operand) -> list[Operand]:
    """The arguments of `sum` and the like, which are values."""
    values = [alone(argument) for argument in operand.inner]
    for argument, value in zip(operand.inner, values, strict=True):
        if value is None:
            raise _not_a_value(tokens, operand.function, argument)
    return [value for value in values if value is not None]


def require_condition(tokens: Tokens, syntax: PredicateSyntax) -> None:
    """Raise `RuleError` if a value of a row function is used as a condition."""
    operand = alone(syntax)
    if operand is not None and operand.form == "row function" and operand.function not in COUNTS:
        name = tokens.texts[operand.start]
        raise tokens.error(
            operand.start, f"{name}(...) is a value, not a condition", f"Compare it: {name}(...) <= 1000."
        )


def _not_a_value(tokens: Tokens, name: str, argument: Syntax) -> RuleError:
    return tokens.error(
        first_token(argument),
        f"{name} of a condition",
        f"Write {name}(matched(a > 1), matched(b > 2)) for the values of attributes whose predicates are true.",
    )


def first_token(syntax: Syntax) -> int:
    """Where an expression starts, not counting a NOT."""
    while not isinstance(syntax, PredicateSyntax):
        syntax = syntax.child if isinstance(syntax, Not) else syntax.children[0]
    return syntax.start
