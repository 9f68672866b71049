"""Rules with variables as Spark SQL: a rule is true if some joint binding of its variables satisfies it.

An operator returns an array of structs, one for each binding. So a call is `exists` over this array, and what an AND
says about its variables stands in the lambda:

>>> from sparkrules.sql.policy import Policy
>>> policy = Policy(operators={"mob": "people INT", "boats": "n INT, place STRING"}, extra_functions={"located_in"})
>>> print(without_variables("city = 'NYC' AND mob(img, :p) AND :p > 50", policy))
city = 'NYC' AND exists(CAST(mob(img) AS ARRAY<STRUCT<people: INT>>), b1 -> b1.people > 50)

- Variables that an AND relates are bound together, by `exists` in `exists`; others apart. What uses no variable stays
  outside. Spark calls no Python function within a lambda, so the calls of several operators stand around it, in an
  array of one struct: `exists(array(struct(f(x) AS c1, g(x) AS c2)), b0 -> exists(b0.c1, b1 -> exists(b0.c2, ...)))`.
- A variable that a second operator returns too must have an equal value there.
- `(f(x, :p) OR g(x, :p)) AND :p > 5` is `f(x, :p) AND :p > 5 OR g(x, :p) AND :p > 5`.
- Under NOT, OR, XOR, `at_least` and the like, variables that are not bound around them are bound inside: `NOT f(x, :p)`
  says that there is no binding.

Lambda variables are numbered by depth, and fields have the names of the outputs. So calls that unify have the same SQL,
whatever the rule calls its variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import reduce

from sparkrules.sql.errors import RuleError
from sparkrules.sql.policy import Policy
from sparkrules.sql.variables import (
    Call,
    Connective,
    Constraint,
    Counting,
    Formula,
    Negation,
    ParsedVariables,
    Pieces,
    parse_variables,
)

_MOST_COPIES = 64


def without_variables(text: str, policy: Policy) -> str:
    """The rule without variables, or the text itself if it has none. Raises `RuleError` if a variable is not bound."""
    if not policy.operators or not _may_call(text, policy):
        return text
    try:
        parsed = parse_variables(text, policy)
        return text if parsed is None else _Translation(parsed).sql()
    except RecursionError:
        raise RuleError(
            "nested too deeply for what is left of Python's stack", text, remedy="Write the rule flatter."
        ) from None


def _may_call(text: str, policy: Policy) -> bool:
    if ":" in text:
        return True
    lower = text.lower()
    return any(name.rpartition(".")[2] in lower for name in policy.operators)


class _Translation:
    def __init__(self, parsed: ParsedVariables) -> None:
        self.parsed = parsed
        self.tokens = parsed.tokens
        words = {text.strip("`").lower() for text in parsed.tokens.texts}
        self.prefix = "b"
        while any(word.startswith(self.prefix) and word[len(self.prefix) :].isdigit() for word in words):
            self.prefix += "_"
        self.copies = 0
        self.outside: dict[str, str] = {}
        """The calls that stand around the lambda, and what they are within it."""

    def sql(self) -> str:
        return self.translated(self.parsed.formula, {})

    def translated(self, formula: Formula, bound: dict[str, str]) -> str:
        """`bound` maps the variables that are bound around the formula to their SQL."""
        if isinstance(formula, Negation):
            return f"NOT ({self.translated(formula.child, bound)})"
        if isinstance(formula, Counting):
            counted = [self.translated(child, bound) for child in formula.children]
            return f"{formula.name}({', '.join([str(formula.number), *counted])})"
        if isinstance(formula, Connective) and formula.operator != "and":
            parts = [f"({self.translated(child, bound)})" for child in formula.children]
            if bound and formula.operator == "xor":
                # Spark has no XOR, and within a lambda it is not expanded.
                return reduce(lambda left, right: f"({left} <> {right})", parts)
            return f" {formula.operator.upper()} ".join(parts)
        return self.conjunction(list(_conjuncts(formula)), bound)

    def conjunction(self, conjuncts: Sequence[Formula], bound: dict[str, str]) -> str:
        texts = [self.component(part, bound) for part in _components(conjuncts, bound)]
        return " AND ".join(texts) or "TRUE"

    def component(self, conjuncts: list[Formula], bound: dict[str, str]) -> str:
        """Formulas that only variables relate which are not bound yet."""
        call = self.first_call(conjuncts, bound)
        if call is not None:
            rest = [own for own in conjuncts if own is not call]
            return self.exists(call, rest, bound) if bound else self.joint(call, rest)
        if len(conjuncts) == 1:
            (own,) = conjuncts
            if isinstance(own, Constraint):
                self.require_bound(own.text, bound)
                return own.text.sql(bound)
            if isinstance(own, Call):
                raise self.unbound_input(own, bound)
            text = self.translated(own, bound)
            return f"({text})" if isinstance(own, Connective) else text
        return self.distributed(conjuncts, bound)

    def first_call(self, conjuncts: Sequence[Formula], bound: dict[str, str]) -> Call | None:
        """The first operator whose inputs are bound."""
        for own in conjuncts:
            if isinstance(own, Call) and all(name in bound for text in own.inputs for name in text.variables):
                return own
        return None

    def joint(self, call: Call, rest: list[Formula]) -> str:
        """Bindings of an operator, together with those of the other operators."""
        calls = [own for formula in (call, *rest) for own in _calls(formula)]
        texts = list(
            dict.fromkeys(_call_sql(own, {}) for own in calls if not any(text.variables for text in own.inputs))
        )
        if len(calls) == 1 or not texts:
            return self.exists(call, rest, {})
        self.outside = {text: f"{self.prefix}0.c{number}" for number, text in enumerate(texts, 1)}
        body = self.exists(call, rest, {})
        self.outside = {}
        fields = ", ".join(f"{text} AS c{number}" for number, text in enumerate(texts, 1))
        return f"exists(array(struct({fields})), {self.prefix}0 -> {body})"

    def exists(self, call: Call, rest: list[Formula], bound: dict[str, str]) -> str:
        depth = len({value.partition(".")[0] for value in bound.values()})
        variable = f"{self.prefix}{depth + 1}"
        within = dict(bound)
        equal: list[Formula] = []
        for name, output in zip(call.operator.names, call.outputs, strict=True):
            field = f"{variable}.{name}"
            if isinstance(output, Pieces):
                alone = len(output.parts) == 1 and " " not in str(output.parts[0])
                around = ("", "") if alone else ("(", ")")
                equal.append(Constraint(Pieces((f"{field} = {around[0]}", *output.parts, around[1]))))
            elif output.name in within:
                equal.append(Constraint(Pieces((f"{field} = {within[output.name]}",))))
            else:
                within[output.name] = field
        # What is bound now is cheaper than another operator.
        rest.sort(key=lambda own: any(name not in within for name in _variables(own)))
        body = self.conjunction([*equal, *rest], within)
        text = _call_sql(call, bound)
        return f"exists({self.outside.get(text, text)}, {variable} -> {body})"

    def distributed(self, conjuncts: list[Formula], bound: dict[str, str]) -> str:
        """An AND in which only an OR can bind a variable: one alternative for each of its branches."""
        used = {name for own in conjuncts for name in _variables(own) if name not in bound}
        for own in conjuncts:
            if isinstance(own, Connective) and own.operator == "or" and not used.isdisjoint(_binds(own)):
                self.copies += len(own.children)
                if self.copies > _MOST_COPIES:
                    raise self.tokens.error(
                        min(_variables(own).values()),
                        f"variables that are bound in more than {_MOST_COPIES} ways",
                        "Write several rules.",
                    )
                rest = [other for other in conjuncts if other is not own]
                branches = [self.conjunction([*_conjuncts(branch), *rest], bound) for branch in own.children]
                return f"({' OR '.join(f'({branch})' for branch in branches)})"
        for own in conjuncts:
            if isinstance(own, Call):
                raise self.unbound_input(own, bound)
        shared = [name for name in used if sum(name in _variables(own) for own in conjuncts) > 1]
        raise self.unbound(min(_first_use(conjuncts, name) for name in shared))

    def require_bound(self, text: Pieces, bound: dict[str, str]) -> None:
        for name, at in text.variables.items():
            if name not in bound:
                raise self.unbound(at)

    def unbound_input(self, call: Call, bound: dict[str, str]) -> RuleError:
        at = next(at for text in call.inputs for name, at in text.variables.items() if name not in bound)
        operator = call.operator
        return self.error(at, f"It is an input here. The last arguments are the outputs: {operator.usage}.")

    def unbound(self, at: int) -> RuleError:
        for start, end in self.parsed.calls_inside:
            if start < at < end and not self.is_formula(start):
                return self.tokens.error(
                    start, "an operator inside a value", "Join calls with variables by AND, OR and NOT only."
                )
        name = self.tokens.texts[at + 1].lower()
        if any(name in call.variables for call in _calls(self.parsed.formula)):
            return self.error(
                at,
                "An operator binds it only elsewhere: under NOT, in a count, or not on every side of an OR. "
                "Bind it in this AND.",
            )
        known = [own for call in _calls(self.parsed.formula) for own in call.variables]
        close = get_close_matches(name, known, 1, 0.75)
        if close:
            return self.error(at, f"Did you mean :{close[0]}?")
        return self.error(at, f"Bind it by an operator in the same AND: f(x, :{name}).")

    def is_formula(self, start: int) -> bool:
        """Whether the call that starts here is a part of the formula."""
        return any(call.at == start for call in _calls(self.parsed.formula))

    def error(self, at: int, remedy: str) -> RuleError:
        name = self.tokens.texts[at + 1]
        error = self.tokens.error(at, f"the variable :{name} is not bound", remedy)
        error.fragment = f":{name}"
        return error


def _call_sql(call: Call, bound: dict[str, str]) -> str:
    inputs = ", ".join(text.sql(bound) for text in call.inputs)
    return f"CAST({call.operator.function}({inputs}) AS {call.operator.type})"


def _conjuncts(formula: Formula) -> Iterator[Formula]:
    if isinstance(formula, Connective) and formula.operator == "and":
        for child in formula.children:
            yield from _conjuncts(child)
    else:
        yield formula


def _components(conjuncts: Sequence[Formula], bound: dict[str, str]) -> list[list[Formula]]:
    """The formulas in groups that share variables which are not bound yet, in the order of their first formulas."""
    groups: list[tuple[set[str], list[int]]] = []
    for number, own in enumerate(conjuncts):
        names = {name for name in _variables(own) if name not in bound}
        together = [group for group in groups if not names.isdisjoint(group[0])]
        groups = [group for group in groups if group not in together]
        members = sorted([number, *(member for group in together for member in group[1])])
        groups.append((names.union(*(group[0] for group in together)), members))
    groups.sort(key=lambda group: group[1])
    return [[conjuncts[member] for member in members] for _, members in groups]


def _variables(formula: Formula) -> dict[str, int]:
    """The variables of a formula, each with a token where it is."""
    if isinstance(formula, Constraint):
        return formula.text.variables
    if isinstance(formula, Call):
        found = formula.variables
        for text in _uses(formula):
            found = text.variables | found
        return found
    found = {}
    for child in _children(formula):
        found = _variables(child) | found
    return found


def _first_use(conjuncts: Sequence[Formula], name: str) -> int:
    """Where a variable is first used, but not returned by an operator, if it is."""
    uses = [at for own in conjuncts for call in _uses(own) for known, at in call.variables.items() if known == name]
    return min(uses) if uses else min(_variables(own)[name] for own in conjuncts if name in _variables(own))


def _uses(formula: Formula) -> Iterator[Pieces]:
    if isinstance(formula, Constraint):
        yield formula.text
    elif isinstance(formula, Call):
        yield from formula.inputs
        yield from (own for own in formula.outputs if isinstance(own, Pieces))
    else:
        for child in _children(formula):
            yield from _uses(child)


def _calls(formula: Formula) -> Iterator[Call]:
    if isinstance(formula, Call):
        yield formula
    else:
        for child in _children(formula):
            yield from _calls(child)


def _children(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Negation):
        return (formula.child,)
    return formula.children if isinstance(formula, (Connective, Counting)) else ()


def _binds(formula: Formula) -> frozenset[str]:
    """The variables that are bound wherever the formula is true."""
    if isinstance(formula, Call):
        return frozenset(formula.variables)
    if isinstance(formula, Connective) and formula.operator != "xor":
        sets = [_binds(child) for child in formula.children]
        return frozenset.union(*sets) if formula.operator == "and" else frozenset.intersection(*sets)
    return frozenset()
