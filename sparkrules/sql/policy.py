"""What a deployment lets a rule's author write: the bounds on a text, and the functions it may call.

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
    """What a rule may say: bounds on its text, and the functions that it may call.

    The bounds are checked before anything recursive sees the text, so that no text can exhaust the process.

    Functions are allowed by name, without regard to case: `functions` and `extra_functions` are allowed,
    `denied_functions` are not, whatever the others say. A function of a catalog is allowed by its whole name as a rule
    writes it, `extra_functions={"main.tools.my_udf"}`.
    """

    max_characters: int = 1_000_000
    """The longest text."""

    max_depth: int = 64
    """How deep brackets, CASE, NOT, signs and lambdas may nest, all counted together."""

    max_leaf_tokens: int = 2_000
    """How many words and signs one test may have, not counting the constants of an IN list. Longer chains of
    arithmetic overflow the stack of Spark's own analyzer."""

    max_xors: int = 16
    """How many exclusive ors one rule may have: written out as AND and OR, each doubles the tree for a reader that
    does not share its nodes."""

    functions: Collection[str] = SCALAR_FUNCTIONS
    """What is allowed to begin with: Spark's deterministic scalar functions."""

    extra_functions: Collection[str] = frozenset()
    """What is allowed as well: UDFs of yours, say."""

    denied_functions: Collection[str] = frozenset()
    """What is not allowed, even if it is among the others."""

    def __post_init__(self) -> None:
        for field in ("functions", "extra_functions", "denied_functions"):
            names = getattr(self, field)
            if isinstance(names, str):
                raise TypeError(f"Policy.{field} is a collection of names, not one string: {{{names!r}}}")
            object.__setattr__(self, field, frozenset(name.lower() for name in names))

    def __repr__(self) -> str:
        """What differs from the defaults: the list of functions is long."""
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
        """The functions that a rule may call, in lower case."""
        return frozenset(self.functions).union(self.extra_functions).difference(self.denied_functions)


DEFAULT_POLICY = Policy()


class AnyFunction(Policy):
    """For texts that have been accepted already: which functions they may call has been decided then.

    >>> AnyFunction.within(Policy(max_depth=9, denied_functions={"rlike"})).allows("rlike")
    True
    """

    @staticmethod
    def within(policy: Policy) -> AnyFunction:
        """With the bounds of another policy."""
        return AnyFunction(policy.max_characters, policy.max_depth, policy.max_leaf_tokens, policy.max_xors)

    def allows(self, function: str) -> bool:
        return bool(function)
