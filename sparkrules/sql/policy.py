"""What a deployment allows in rules: the limits on a text, and the functions it may call.

>>> Policy(extra_functions={"my_udf"}).allows("My_UDF")
True
>>> Policy(denied_functions={"rlike"}).allows("rlike")
False
>>> Policy(), Policy(max_depth=9, denied_functions={"rlike", "like"})
(Policy(), Policy(max_depth=9, denied_functions={'like', 'rlike'}))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, fields

from sparkrules.sql.functions import SCALAR_FUNCTIONS


@dataclass(frozen=True, repr=False)
class Policy:
    """What a rule may contain: limits on its text, and the functions it may call.

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

    functions: Collection[str] = SCALAR_FUNCTIONS
    """The functions allowed by default: Spark's deterministic scalar functions."""

    extra_functions: Collection[str] = frozenset()
    """Additional allowed functions, such as your UDFs."""

    denied_functions: Collection[str] = frozenset()
    """Functions that are never allowed, even if listed above."""

    def __post_init__(self) -> None:
        for field in ("functions", "extra_functions", "denied_functions"):
            names = getattr(self, field)
            if isinstance(names, str):
                raise TypeError(f"Policy.{field} is a collection of names, not one string: {{{names!r}}}")
            object.__setattr__(self, field, frozenset(name.lower() for name in names))

    def __repr__(self) -> str:
        """Only what differs from the defaults, because the list of functions is long."""
        shown = []
        for field in fields(self):
            value = getattr(self, field.name)
            if value != field.default:
                words = f"{{{', '.join(map(repr, sorted(value)))}}}" if isinstance(value, frozenset) else repr(value)
                shown.append(f"{field.name}={words}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def allows(self, function: str) -> bool:
        """Whether a rule may call this function."""
        name = function.lower()
        return (name in self.functions or name in self.extra_functions) and name not in self.denied_functions

    def names(self) -> frozenset[str]:
        """The functions a rule may call, in lower case."""
        return frozenset(self.functions).union(self.extra_functions).difference(self.denied_functions)


DEFAULT_POLICY = Policy()


class AnyFunction(Policy):
    """For texts that were already accepted, so their functions were already checked.

    >>> AnyFunction.within(Policy(max_depth=9, denied_functions={"rlike"})).allows("rlike")
    True
    """

    @staticmethod
    def within(policy: Policy) -> AnyFunction:
        """Keep the limits of another policy."""
        return AnyFunction(policy.max_characters, policy.max_depth, policy.max_leaf_tokens, policy.max_xors)

    def allows(self, function: str) -> bool:
        return bool(function)


ANYTHING = AnyFunction(max_characters=2**62, max_depth=2**31)
"""For texts that were already accepted, whatever the limits were."""
