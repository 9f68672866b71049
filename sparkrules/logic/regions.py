"""Regions: constants divide the values of an attribute into ranges, and a predicate becomes a set of codes (`codes`).

Contract: the constants come from all predicates on the attribute. The *extent* of a predicate is where it is true:
certainly in the codes `sure`, perhaps also in those of `possible`, and nowhere else. The two are equal for all
predicates in this table:

| predicate | codes | on NULL |
|---|---|---|
| `= ci`, `< ci`, `> ci` | [2i + 2, 2i + 2], [1, 2i + 1], [2i + 3, last] | no |
| `<> ci`, `>= ci`, `<= ci`, `not in` | everything else except NULL | no |
| `in (ci, cj)` | both; a NULL in the list adds nothing to `in`, and leaves nothing of `not in` | no |
| `<=> ci`, `not <=> ci` | like `=`; everything else | no; yes |
| `is null`, `<=> NULL`; `is not null` | none; all | yes; no |
| `is true`, `is false` | those of a Boolean | no |
| `is not true`, `is not false` | everything else | yes |
| `startswith 'ab'`, `like 'ab%'` | the strings from `ab` up to, but not including, `ac` | no |
| any predicate with NULL except `<=>` | none | no |

A predicate that codes do not decide has an `Atom`: `contains`, `endswith`, other `like`, `rlike`, an implicit cast. It
is possible wherever the attribute is not NULL (`like 'ab%z'`: in the strings from `ab` to `ac`). Two atoms on the same
attribute may imply or exclude each other.

Types come from a schema or a mapping (attribute to Arrow type, or to an `Enumeration`). Without one, an attribute that
is compared only with numbers is assumed to be a number; only with strings, a string; only with Booleans, a Boolean;
only with `DATE`s, a date or timestamp. With a mix, none of its comparisons is decided, so no two are wrongly disjoint.
Only a type proves that a number is an integer.

>>> bounds = (">", "5"), ("<", "10"), (">", "12")
>>> price = [Predicate("price", operator, (Constant("integer", text),)) for operator, text in bounds]
>>> regions = Regions(price)
>>> [regions.extent(predicate).sure for predicate in price]
[Codes(3..7), Codes(1..3), Codes(7)]
>>> regions.attributes["price"].describe(3)
'5 < price < 10'
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import pyarrow as pa

from sparkrules.logic.atom import Atom, Claim, folded
from sparkrules.logic.attribute_type import MIXED, AttributeType, Types, attribute_types, is_doubtful
from sparkrules.logic.codes import EMPTY, ERROR, LOWEST, NULL, Codes, is_constant, last_code
from sparkrules.logic.columns import Unsupported, top_column
from sparkrules.logic.comparison import Comparison, certain_comparison
from sparkrules.logic.like import like_regex
from sparkrules.logic.string_pattern import StringPattern, following
from sparkrules.sql.tree import NEGATED, Constant, Node, Predicate, distinct_predicates

_PATTERNS = ("like", "ilike", "contains", "startswith", "endswith", "rlike")


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a predicate is true; see the module. `claim` is what the predicate requires of its atom."""

    attribute: str
    sure: Codes
    possible: Codes
    universe: Codes
    atom: Atom | None = None
    claim: Claim = "true"

    def complement(self) -> Extent:
        """Where the predicate is not true: false or unknown."""
        claim = _NOT[self.claim]
        return Extent(
            self.attribute, self.universe - self.possible, self.universe - self.sure, self.universe, self.atom, claim
        )


_NOT: dict[Claim, Claim] = {"true": "not true", "not true": "true", "false": "not false", "not false": "false"}


@dataclass(frozen=True, eq=False)
class AttributeRegions:
    """The codes of one attribute.

    `universe`: the codes that may have values; `inhabited`: the codes that certainly have.
    """

    name: str
    type: AttributeType
    constants: tuple[Any, ...]
    tests: tuple[Predicate, ...] = field(default=(), repr=False)
    universe: Codes = field(init=False)
    inhabited: Codes = field(init=False)

    def __post_init__(self) -> None:
        known = dict(self._presence())
        object.__setattr__(self, "universe", Codes.of(*((c, c) for c, there in known.items() if there is not False)))
        object.__setattr__(self, "inhabited", Codes.of(*((c, c) for c, there in known.items() if there)))

    @cached_property
    def column(self) -> str | None:
        """The column it names or reads a field of. None if it is derived."""
        return top_column(self.name)

    @cached_property
    def written(self) -> dict[Any, Constant]:
        """How the predicates write the constants."""
        return dict(_written(self.tests, self.type))

    @property
    def last(self) -> int:
        """The highest code: values above all constants."""
        return last_code(len(self.constants))

    def encode(self, value: Any) -> int:
        """The code of a value that is not NULL."""
        below = bisect_left(self.constants, value)
        is_equal = below < len(self.constants) and self.constants[below] == value
        return 2 * below + 1 + is_equal

    def bounds(self, code: int) -> tuple[Any, Any]:
        """The constants around a range. For the code of a constant, that constant twice."""
        if is_constant(code):
            return self.point(code), self.point(code)
        at = code // 2
        return (self.constants[at - 1] if at else None), (self.constants[at] if at < len(self.constants) else None)

    def point(self, code: int) -> Any:
        """The only value of a code, or None if there are many."""
        return self.constants[code // 2 - 1] if is_constant(code) else None

    def sample(self, code: int) -> Any:
        """A value with this code, or None for NULL."""
        if code < LOWEST:
            return None
        return self.point(code) if is_constant(code) else self.type.space.sample(*self.bounds(code))

    def rounds_together(self, values: Iterable[Any]) -> bool:
        """Whether a number that is not one of our constants rounds to the same double as one of them."""
        for value in values:
            low, high = self.bounds(self.encode(value))
            if low != value and any(bound is not None and float(bound) == float(value) for bound in (low, high)):
                return True
        return False

    def describe(self, code: int) -> str:
        """A code in words."""
        if code < LOWEST:
            return f"{self.name} is NULL" if code == NULL else f"{self.name} cannot be computed"
        low, high = self.bounds(code)
        if is_constant(code):
            return f"{self.name} = {_shown(low)}"
        if low is None and high is None:
            return f"{self.name} is anything"
        left = "" if low is None else f"{_shown(low)} < "
        return f"{left}{self.name}" + ("" if high is None else f" < {_shown(high)}")

    def _presence(self) -> Iterable[tuple[int, bool | None]]:
        """Whether each code has a value."""
        if self.column is None:
            yield ERROR, None
        if self.type.nullable:
            yield NULL, True
        if self.type.values is not None:
            yield from ((self.encode(value), True) for value in self.type.values)
            return
        space = self.type.space
        for code in range(LOWEST, self.last + 1):
            low, high = self.bounds(code)
            yield code, space.at(low) if is_constant(code) else space.between(low, high)

    # Where a comparison holds

    def codes(self, test: Comparison) -> tuple[Codes, Codes]:
        """Where a comparison is certainly true, and where possibly. Its constants need not be among ours."""
        present = Codes.of((LOWEST, self.last))
        sure, possible = self._positive(test)
        if test.negated:
            sure, possible = present - possible, present - sure
        if test.on_null:
            null = Codes.of((NULL, NULL))
            sure, possible = sure | null, possible | null
        return sure & self.universe, possible & self.universe

    def prefix_codes(self, prefix: str) -> tuple[Codes, Codes]:
        """The strings that start with the prefix."""
        end = following(prefix)
        at_least = self.codes(Comparison("string", "<", (prefix,), negated=True))
        below = (self.universe, self.universe) if end is None else self.codes(Comparison("string", "<", (end,)))
        return at_least[0] & below[0], at_least[1] & below[1]

    def _positive(self, test: Comparison) -> tuple[Codes, Codes]:
        if test.operator == "present":
            return (everything := Codes.of((LOWEST, self.last))), everything
        if test.operator in ("=", "in"):
            found = [self.encode(value) for value in test.values]
            return Codes.of(*((c, c) for c in found if is_constant(c))), Codes.of(*((c, c) for c in found))
        value = test.values[0]
        code = self.encode(value)
        inside = 0 if is_constant(code) else 1  # a constant that is not ours divides a range
        low, high = self.bounds(code)
        if test.operator == "<":
            touched = inside and self.type.space.between(low, value) is not False
            return Codes.of((LOWEST, code - 1)), Codes.of((LOWEST, code if touched else code - 1))
        touched = inside and self.type.space.between(value, high) is not False
        return Codes.of((code + 1, self.last)), Codes.of((code if touched else code + 1, self.last))


class Regions:
    """The regions of the attributes of some predicates. See the module.

    `extent` also accepts other predicates on these attributes. Their constants create no ranges: a range divided
    by one is possible but not sure.
    """

    def __init__(self, tests: Iterable[Predicate], types: Types | pa.Schema | None = None) -> None:
        by_attribute: dict[str, list[Predicate]] = {}
        for predicate in dict.fromkeys(tests):
            by_attribute.setdefault(predicate.attribute, []).append(predicate)
        declared = attribute_types(by_attribute, types)
        self.attributes = {name: _regions(name, found, declared[name]) for name, found in by_attribute.items()}
        self._extents: dict[Predicate, Extent] = {}
        self._complements: dict[Predicate, Extent] = {}

    @staticmethod
    def of_trees(*trees: Node, types: Types | pa.Schema | None = None) -> Regions:
        """The regions of the predicates of some trees."""
        return Regions((predicate for tree in trees for predicate in distinct_predicates(tree)), types)

    def extent(self, predicate: Predicate) -> Extent:
        """Where a predicate on one of the attributes is true."""
        found = self._extents.get(predicate)
        if found is None:
            found = self._extents[predicate] = _extent(self.attributes[predicate.attribute], predicate)
        return found

    def complement(self, predicate: Predicate) -> Extent:
        """Where a predicate is not true."""
        found = self._complements.get(predicate)
        if found is None:
            found = self._complements[predicate] = self.extent(predicate).complement()
        return found

    def independent(self, attributes: Iterable[str]) -> bool:
        """Whether these attributes can have any combination of values in a row: they are different columns."""
        columns = [self.attributes[attribute].column for attribute in attributes]
        return None not in columns and len(set(columns)) == len(columns)


def _regions(name: str, tests: list[Predicate], declared: AttributeType) -> AttributeRegions:
    values = {value for predicate in tests for value in _cuts(predicate, declared)}
    if declared.is_guessed_number and len(set(map(float, values))) < len(values):
        # If the column is a double, constants that we distinguish are equal.
        declared, values = MIXED, set()
    if declared.values is not None:
        values.update(declared.values)
    return AttributeRegions(name, declared, tuple(sorted(values)), tuple(tests))


def _written(tests: Iterable[Predicate], declared: AttributeType) -> Iterator[tuple[Any, Constant]]:
    """The values that predicates compare with, and how they write them."""
    for predicate in tests:
        test = _test(predicate, declared)
        present = [constant for constant in predicate.constants if constant.kind != "null"]
        if test is not None and test.operator not in _PATTERNS and len(present) == len(test.values):
            yield from zip(test.values, present, strict=True)


def _cuts(predicate: Predicate, declared: AttributeType) -> Iterable[Any]:
    test = _test(predicate, declared)
    if test is None:
        return ()
    if test.operator not in _PATTERNS:
        return test.values
    pattern = Atom.of(predicate).pattern
    if pattern is None or not pattern.prefix:
        return ()
    end = following(pattern.prefix)
    return (pattern.prefix,) if pattern.is_whole or end is None else (pattern.prefix, end)


def _extent(regions: AttributeRegions, predicate: Predicate) -> Extent:
    universe = regions.universe
    test = _test(predicate, regions.type)
    if test is not None and regions.type.is_guessed_number and regions.rounds_together(test.values):
        test = None
    if test is not None and regions.type.is_guessed_text and is_doubtful(predicate):
        is_known = test.operator in ("=", "in") and all(is_constant(regions.encode(value)) for value in test.values)
        test = test if is_known else None
    if test is not None and test.operator not in _PATTERNS:
        sure, possible = regions.codes(test)
        if sure == possible:
            return Extent(regions.name, sure, possible, universe)
        return Extent(regions.name, sure, possible, universe, *_atom(predicate, is_two_valued=True))
    atom, claim = _atom(
        predicate, is_two_valued=test is not None and predicate.operator.removeprefix("not ") != "rlike"
    )
    present = universe - Codes.of((ERROR, NULL))
    if test is None:
        return _undecided(regions, predicate, atom, claim)
    sure, possible = _pattern_codes(regions, atom.pattern, present)
    if test.negated:
        sure, possible = present - possible, present - sure
    return Extent(regions.name, sure, possible, universe, atom, claim)


def _is_valid_pattern(predicate: Predicate) -> bool:
    """Spark raises an error for other patterns, so the predicate is neither true nor false."""
    operator = predicate.operator.removeprefix("not ")
    if operator not in ("like", "ilike"):
        return operator != "rlike"
    try:
        return like_regex(folded(predicate.constants[0]).text) is not None
    except Unsupported:
        return False


def _pattern_codes(regions: AttributeRegions, pattern: StringPattern | None, present: Codes) -> tuple[Codes, Codes]:
    if pattern is None:
        return EMPTY, present
    if pattern.is_whole:
        return regions.codes(Comparison("string", "=", pattern.pieces))
    sure, possible = regions.prefix_codes(pattern.prefix) if pattern.prefix else (present, present)
    return (sure, possible) if pattern.is_prefix_only else (EMPTY, possible)


def _undecided(regions: AttributeRegions, predicate: Predicate, atom: Atom, claim: Claim) -> Extent:
    """A comparison of unknown types. Its answer for NULL is still known."""
    possible = regions.universe - Codes.of((ERROR, NULL))
    # `is not true` of a non-Boolean is unknown even for NULL, and Spark will reject it anyway.
    if predicate.operator in ("not <=>", "is not true", "is not false"):
        null = Codes.of((NULL, NULL)) & regions.universe
        return Extent(regions.name, null, possible | null, regions.universe, atom, claim)
    return Extent(regions.name, EMPTY, possible, regions.universe, atom, claim)


def _atom(predicate: Predicate, is_two_valued: bool) -> tuple[Atom, Claim]:
    operator = predicate.operator
    if operator in ("is not true", "is not false"):
        return Atom.of(Predicate(predicate.attribute, "is " + operator[7:])), "not true"
    negative = operator.startswith("not ") or operator in ("<>", ">=", "<=", "is false")
    base = NEGATED[operator] if negative else operator
    atom = Atom.of(Predicate(predicate.attribute, base, predicate.constants), is_two_valued)
    return atom, "false" if negative else "true"


def _test(predicate: Predicate, declared: AttributeType) -> Comparison | None:
    """The comparison that a predicate makes on an attribute of a type, or None if that is not certain."""
    column = declared.column
    constants = tuple(map(folded, predicate.constants))
    if predicate.operator in ("rlike", "not rlike"):
        if column is None or column.family != "string" or _is_null(constants):
            return Comparison("presence", "in") if _is_null(constants) else None
        return Comparison("string", "like", negated=predicate.operator == "not rlike")
    if column is None and (predicate.operator in ("is null", "is not null") or _is_null(constants)):
        column = MIXED.presence
    if column is None:
        return None
    try:
        test = certain_comparison(Predicate(predicate.attribute, predicate.operator, constants), column)
    except Unsupported:
        return None
    return _in_one_order(test, declared)


def _is_null(constants: tuple[Constant, ...]) -> bool:
    return bool(constants) and all(constant.kind == "null" for constant in constants)


def _in_one_order(test: Comparison, declared: AttributeType) -> Comparison | None:
    """The comparison with constants that sort with all others of the attribute. None if there is no common order.

    To compare a bigint or a decimal with a double, Spark casts it to double. Up to 2^53 that changes nothing for an
    integer. Beyond, values that other predicates distinguish become equal.
    """
    column = declared.column
    if test.domain != "double" or column is None or column.family in ("float", "double"):
        return test
    if column.family == "integer" and all(abs(value) < 2**53 for value in test.values):
        return test._replace(domain="exact", values=tuple(Decimal(value) for value in test.values))
    return None


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(value)
