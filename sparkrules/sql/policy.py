"""What a deployment allows in rules: the limits on a text, the functions it may call, operators, and costs of calls.

>>> Policy(extra_functions={"my_udf"}).allows("My_UDF")
True
>>> Policy(denied_functions={"rlike"}).allows("rlike")
False
>>> Policy(), Policy(max_depth=9, denied_functions={"rlike", "like"})
(Policy(), Policy(max_depth=9, denied_functions={'like', 'rlike'}))
>>> Policy(costs={"Geo_Distance": 500})
Policy(costs={'geo_distance': 500.0})
>>> Policy(operators={"Mob_Pattern": "people INT, place STRING"})
Policy(operators={'mob_pattern': 'people INT, place STRING'})
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields

from sparkrules.sql.functions import OWN_FUNCTIONS, SCALAR_FUNCTIONS
from sparkrules.sql.operators import Operator, declared_operators


@dataclass(frozen=True, repr=False)
class Policy:
    """What a rule may contain: limits on its text, and the functions it may call. Also what calls of them cost.

    The limits are checked before any recursive code sees the text, so that no text can exhaust the process.

    Functions are allowed by name, ignoring case. `functions` and `extra_functions` are allowed; `denied_functions` are
    never allowed. A catalog function is allowed by its full name as written in the rule,
    `extra_functions={"main.tools.my_udf"}`.
    """

    max_characters: int = 1_000_000
    """The maximum length of a text."""

    max_depth: int = 64
    """The maximum nesting depth of brackets, CASE, NOT, signs and lambdas, counted together."""

    max_leaf_tokens: int = 2_000
    """The maximum number of tokens in one predicate, not counting the constants of an IN list. Longer chains of
    arithmetic overflow the stack of Spark's own analyzer."""

    max_xors: int = 16
    """The maximum number of exclusive ors in one rule. Expanded to AND and OR, each one doubles the tree for a reader
    that does not share nodes."""

    max_count_nodes: int = 10_000
    """The maximum number of AND and OR nodes that the `at_least`, `at_most` and `exactly` of one rule become. Each
    becomes up to 2·n·k nodes, with k of n conditions, or n-k+1 of them if these are fewer."""

    functions: Collection[str] = SCALAR_FUNCTIONS | OWN_FUNCTIONS
    """The functions allowed by default: Spark's deterministic scalar functions, and those of the rule language."""

    extra_functions: Collection[str] = frozenset()
    """Additional allowed functions, such as your UDFs."""

    denied_functions: Collection[str] = frozenset()
    """Functions that are never allowed, even if listed above."""

    costs: Mapping[str, float] = field(default_factory=dict, hash=False)
    """The microseconds that one call of a function takes, by name. What is expensive is called as late as possible, and
    only for rows that need it. Published with the rules; functions that are not listed are measured by `analyze`."""

    max_calls: int | None = None
    """The maximum number of calls of Python functions in one query, over all its tasks. A call beyond it is not made:
    predicates that need it are unknown, and the query's metrics count it. Published with the rules; None keeps the
    limit of the version that the rules were loaded from, if it has one."""

    operators: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Functions that return bindings: by name, the outputs with their types, `{"mob_pattern": "people INT, place
    STRING"}`. The function returns an array of structs with these fields, one for each binding. A rule calls it with
    the inputs of the function, and then a variable for each output: `mob_pattern(img, :people, :place) AND :people >
    50`. It is true if some binding satisfies it."""

    max_pattern_rows: int = 10_000
    """The maximum number of rows that a pattern keeps of one key: the most that a count can ask for, and how many
    chains a sequence with `after` has for a step."""

    def __post_init__(self) -> None:
        for kind in ("functions", "extra_functions", "denied_functions"):
            names = getattr(self, kind)
            if isinstance(names, str):
                raise TypeError(f"Policy.{kind} is a collection of names, not one string: {{{names!r}}}")
            object.__setattr__(self, kind, frozenset(name.lower() for name in names))
        object.__setattr__(self, "costs", _checked_costs(self.costs))
        _check_max_calls(self.max_calls)
        _check_max_pattern_rows(self.max_pattern_rows)
        declared = declared_operators(self.operators, self)
        object.__setattr__(self, "_declared", declared)
        object.__setattr__(self, "operators", {name: operator.outputs for name, operator in declared.items()})

    def __repr__(self) -> str:
        """Only what differs from the defaults, because the list of functions is long."""
        shown = []
        for one in fields(self):
            value = getattr(self, one.name)
            default = one.default if one.default_factory is MISSING else one.default_factory()
            if value != default:
                words = f"{{{', '.join(map(repr, sorted(value)))}}}" if isinstance(value, frozenset) else repr(value)
                shown.append(f"{one.name}={words}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def reads_row_function(self, name: str) -> bool:
        """Whether a row function of this name means ours. A function of your own with that name takes precedence."""
        own = self.extra_functions, self.operators, self.denied_functions
        return not any(name in names for names in own)

    def allows(self, function: str) -> bool:
        """Whether a rule may call this function."""
        name = function.lower()
        is_known = name in self.functions or name in self.extra_functions or name in self.operators
        return is_known and name not in self.denied_functions

    def names(self) -> frozenset[str]:
        """The functions a rule may call, in lower case."""
        return frozenset(self.functions).union(self.extra_functions, self.operators).difference(self.denied_functions)

    def operator(self, function: str) -> Operator | None:
        """The operator of this name, in lower case."""
        declared: dict[str, Operator] = self._declared  # type: ignore[attr-defined]
        return declared.get(function)


def _check_max_calls(calls: object) -> None:
    if calls is None:
        return
    if isinstance(calls, bool) or not isinstance(calls, int):
        raise TypeError(f"Policy.max_calls is a number of calls, not {calls!r}")
    if not 0 <= calls < 2**63:
        raise ValueError(f"Policy.max_calls is at least 0, not {calls!r}")


def _check_max_pattern_rows(rows: object) -> None:
    if isinstance(rows, bool) or not isinstance(rows, int):
        raise TypeError(f"Policy.max_pattern_rows is a number of rows, not {rows!r}")
    if not 1 <= rows < 2**31:
        raise ValueError(f"Policy.max_pattern_rows is at least 1, not {rows!r}")


def _checked_costs(costs: object) -> dict[str, float]:
    if not isinstance(costs, Mapping):
        raise TypeError(f"Policy.costs maps names of functions to microseconds, such as {{'my_udf': 500}}: {costs!r}")
    checked = {}
    for name, cost in costs.items():
        if not isinstance(name, str):
            raise TypeError(f"Policy.costs has names of functions as keys, not {name!r}")
        if isinstance(cost, bool) or not isinstance(cost, (int, float)):
            raise TypeError(f"Policy.costs[{name!r}] is a number of microseconds, not {cost!r}")
        if not math.isfinite(cost) or cost < 0:
            raise ValueError(f"Policy.costs[{name!r}] is at least 0 microseconds and finite, not {cost!r}")
        checked[name.lower()] = float(cost)
    return checked


DEFAULT_POLICY = Policy()


class AnyFunction(Policy):
    """For texts that were already accepted, so their functions were already checked.

    >>> AnyFunction.within(Policy(max_depth=9, denied_functions={"rlike"})).allows("rlike")
    True
    """

    @staticmethod
    def within(policy: Policy) -> AnyFunction:
        """Keep the limits of another policy."""
        return AnyFunction(
            policy.max_characters,
            policy.max_depth,
            policy.max_leaf_tokens,
            policy.max_xors,
            policy.max_count_nodes,
            extra_functions=frozenset(policy.extra_functions).union(policy.operators),
        )

    def allows(self, function: str) -> bool:
        return bool(function)


class _SparkSql(AnyFunction):
    def reads_row_function(self, _name: str) -> bool:
        return False  # they were rewritten, so what is left is a function of the user's


ANYTHING = _SparkSql(max_characters=2**62, max_depth=2**31)
"""For texts that were already accepted, whatever the limits were."""
