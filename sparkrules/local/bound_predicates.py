"""The first phase of matching: compute which predicates are true for each row of a batch, attribute by attribute.

Contract: `BoundPredicates.words(batch)` has a bit for each predicate and row (see `truth`). A predicate whose truth is
not certain is never true; `unsupported` has the reason.

Each column is encoded once (`logic.codes`), and each row sets one bit: that of its code. Every comparison is then an
interval of codes, which is the difference of two running unions. So the work does not grow with predicates times rows,
but with the 64th part of that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.index.segment import Segment
from sparkrules.local.reference_list import Lists, no_lists
from sparkrules.local.truth import Words, packed, rows_by_code, unpacked, word_count
from sparkrules.logic.codes import LOWEST, NULL, constant_code
from sparkrules.logic.columns import Column, NoSuchColumn, Unsupported, find_column
from sparkrules.logic.comparison import ALWAYS, NEVER, ColumnType, Comparison, Domain, certain_comparison, column_type
from sparkrules.logic.like import like_regex
from sparkrules.sql.address import address_key, network_range
from sparkrules.sql.errors import RuleError
from sparkrules.sql.exemption import CLOCK, clock_micros
from sparkrules.sql.policy import ANYTHING
from sparkrules.sql.rule import parse_rule
from sparkrules.sql.tree import Predicate

Matrix = NDArray[np.bool_]
_LAST = np.iinfo(np.int32).max


@dataclass
class BoundPredicates:
    """The predicates of a segment, bound to the columns of one schema."""

    predicates: int
    groups: list[Group] = field(default_factory=list)
    unsupported: dict[int, Unsupported] = field(default_factory=dict)

    def truth(self, batch: pa.RecordBatch) -> Matrix:
        """Which predicates are true for each row: [predicates x rows]."""
        return unpacked(self.words(batch), batch.num_rows)

    def words(self, batch: pa.RecordBatch) -> Words:
        """The same, one bit each. Bits beyond the rows are undefined."""
        words = np.zeros((self.predicates, word_count(batch.num_rows)), np.uint64)
        for group in self.groups:
            group.fill(words, group.column.read(batch))
        return words


def bind_predicates(
    segment: Segment,
    schema: pa.Schema,
    declared: pa.Schema | None = None,
    lists: Lists = no_lists,
    at: datetime | None = None,
) -> BoundPredicates:
    """Bind every predicate to the schema's columns, or record why not. `declared` may give more precise types. `at` is
    the instant by which exemptions end, by default now."""
    bound = BoundPredicates(len(segment.forest.predicates.operator))
    columns: dict[int, tuple[Column, ColumnType] | Unsupported] = {}
    now = datetime.now(timezone.utc)
    comparisons: list[tuple[int, Column, Comparison]] = []
    attributes = segment.forest.predicates.attribute.tolist()
    for number, (attribute, predicate) in enumerate(zip(attributes, segment.forest.all_predicates(), strict=True)):
        if attribute not in columns:
            columns[attribute] = _column(segment.forest.attributes[attribute], schema, declared)
        found = columns[attribute]
        if isinstance(found, Unsupported):
            try:
                comparisons.append((number, *_derived(predicate, schema, declared, lists, at or now)))
            except Unsupported as reason:
                bound.unsupported[number] = reason if isinstance(reason, NoSuchColumn) else found
            continue
        try:
            comparison = answerable_comparison(predicate, found[1])
            if comparison.domain == "list":
                lists(comparison.values[0])
            comparisons.append((number, found[0], comparison))
        except Unsupported as reason:
            bound.unsupported[number] = reason
    bound.groups += grouped_comparisons(comparisons, lists)
    return bound


def _derived(
    predicate: Predicate, schema: pa.Schema, declared: pa.Schema | None, lists: Lists, at: datetime
) -> tuple[Column, Comparison]:
    """What an exemption adds to a rule: that a predicate on a column is not true, or that its time has passed."""
    if predicate.attribute == CLOCK and predicate.operator == ">=" and len(schema):
        has_passed = clock_micros(at) >= int(predicate.constants[0].text)
        return Column((0,), schema.field(0).type), ALWAYS if has_passed else NEVER
    if predicate.operator != "is not true":
        raise Unsupported(f"`{predicate.attribute}` is a derived attribute")
    try:
        tested = parse_rule(predicate.attribute, policy=ANYTHING)
    except RuleError as error:
        raise Unsupported(str(error)) from error
    if not isinstance(tested, Predicate) or tested.attribute == predicate.attribute:
        raise Unsupported(f"`{predicate.attribute}` is a derived attribute")
    found = _column(tested.attribute, schema, declared)
    if isinstance(found, Unsupported):
        raise found
    comparison = answerable_comparison(tested, found[1])
    if comparison.domain == "list":
        lists(comparison.values[0])
    return found[0], comparison._replace(negated=not comparison.negated, on_null=not comparison.on_null)


def answerable_comparison(predicate: Predicate, column: ColumnType) -> Comparison:
    """The comparison of a predicate on a column of a type. Raises `Unsupported` if it cannot be computed here."""
    if predicate.operator in ("in network", "not in network"):
        return _within(predicate, column)
    if predicate.operator in ("in list", "not in list"):
        if column.family == "void":
            return NEVER
        if column.family not in ("string", "integer"):
            raise Unsupported(f"in_list takes a STRING or an integer, not {column}: cast it")
        return Comparison("list", "in list", (predicate.constants[0].text,), predicate.operator == "not in list")
    comparison = certain_comparison(predicate, column)
    if comparison.operator in _MATCHERS:
        _MATCHERS[comparison.operator](comparison.values[0])
    return comparison


def _within(predicate: Predicate, column: ColumnType) -> Comparison:
    """The range of a network among the addresses of a column."""
    (network,) = predicate.constants
    if column.family == "void":
        return NEVER
    if column.family != "string" or network.kind != "string":
        raise Unsupported(f"only Spark knows which addresses there are in {column}")
    try:
        first, last = network_range(network.text)
    except ValueError as error:
        raise Unsupported(str(error)) from None
    return Comparison("address", "within", (first, last), predicate.operator == "not in network")


def grouped_comparisons(comparisons: Iterable[tuple[int, Column, Comparison]], lists: Lists = no_lists) -> list[Group]:
    """Comparisons, each with its predicate number and column, grouped for evaluation."""
    alike: dict[tuple[Column, Domain, bool], list[tuple[int, Comparison]]] = {}
    for number, column, comparison in comparisons:
        alike.setdefault((column, comparison.domain, comparison.operator in _MATCHERS), []).append((number, comparison))
    return [
        _Listed(column, group, lists)
        if domain == "list"
        else _Patterns(column, group)
        if is_pattern
        else _Comparisons(column, group, domain)
        for (column, domain, is_pattern), group in alike.items()
    ]


def _column(attribute: str, schema: pa.Schema, declared: pa.Schema | None) -> tuple[Column, ColumnType] | Unsupported:
    try:
        column = find_column(attribute, schema)
        typed = column if declared is None else find_column(attribute, declared)
    except Unsupported as reason:
        return reason
    return column, column_type(typed.type, typed.text)


class _Comparisons:
    """All comparisons of one attribute in one domain."""

    def __init__(self, column: Column, comparisons: list[tuple[int, Comparison]], domain: Domain) -> None:
        self.column = column
        self.domain = domain
        self.numbers = np.array([number for number, _ in comparisons], np.int32)
        constants = sorted({value for _, comparison in comparisons for value in comparison.values})
        # Strings are compared by bytes, as in Spark. Byte order equals character order, and any bytes are allowed.
        is_text = domain in ("string", "address")
        self.constants = _values([text.encode() for text in constants] if is_text else constants, domain)
        place = {value: constant_code(i) for i, value in enumerate(constants)}
        intervals = [_interval(comparison, place) for _, comparison in comparisons]
        self.codes = 2 * len(constants) + 2
        self.low = np.array([low for low, _ in intervals], np.int32)
        self.high = np.minimum(np.array([high for _, high in intervals], np.int32), self.codes - 1)
        self.single = np.flatnonzero(self.low == self.high)
        self.spans = np.flatnonzero(self.low < self.high)
        self.lists = [
            (i, np.array([place[value] for value in comparison.values], np.int32))
            for i, (_, comparison) in enumerate(comparisons)
            if comparison.operator == "in"
        ]
        self.negated = np.flatnonzero([comparison.negated for _, comparison in comparisons])
        self.on_null = np.flatnonzero([comparison.on_null for _, comparison in comparisons])

    def fill(self, words: Words, array: Any) -> None:
        at = rows_by_code(self._codes(array), self.codes)
        null = at[NULL].copy()
        at[NULL] = 0
        result = np.zeros((len(self.numbers), words.shape[1]), np.uint64)
        result[self.single] = at[self.low[self.single]]
        for i, wanted in self.lists:
            result[i] = np.bitwise_or.reduce(at[wanted], axis=0)
        if len(self.spans):
            up_to = np.bitwise_or.accumulate(at, axis=0)
            result[self.spans] = up_to[self.high[self.spans]] ^ up_to[self.low[self.spans] - 1]
        result[self.negated] ^= ~null
        result[self.on_null] |= null
        words[self.numbers] = result

    def _codes(self, array: Any) -> NDArray[np.int32]:
        codes: NDArray[np.int32]
        null: NDArray[np.bool_] = np.asarray(array.is_null())
        if self.domain == "presence" or pa.types.is_null(array.type):
            return np.where(null, NULL, LOWEST).astype(np.int32)
        if self.domain == "address":
            return self._address_codes(array)
        if self.domain in ("exact", "string") or pa.types.is_decimal(array.type):
            distinct, rows = _distinct(array)
            codes = np.append(self._encode(_values(distinct, self.domain)), np.int32(NULL))[rows]
            return codes
        codes = self._encode(_numeric(array, self.domain))
        codes[null] = NULL
        return codes

    def _address_codes(self, array: Any) -> NDArray[np.int32]:
        distinct, rows = _distinct(array)
        keys = [address_key(_characters(value)).encode() for value in distinct]
        codes: NDArray[np.int32] = np.append(self._encode(_values(keys, "address")), np.int32(NULL))[rows]
        return codes

    def _encode(self, values: NDArray[Any]) -> NDArray[np.int32]:
        below = np.searchsorted(self.constants, values, side="left")
        if not len(self.constants):
            return np.full(len(values), LOWEST, np.int32)
        equal = self.constants[np.minimum(below, len(self.constants) - 1)] == values
        codes: NDArray[np.int32] = (2 * below + 1 + (equal & (below < len(self.constants)))).astype(np.int32)
        return codes


class _Patterns:
    """LIKE and similar operators on one string attribute, evaluated once per distinct value of the batch."""

    def __init__(self, column: Column, comparisons: list[tuple[int, Comparison]]) -> None:
        self.column = column
        self.comparisons = [(number, comparison) for number, comparison in comparisons]

    def fill(self, words: Words, array: Any) -> None:
        distinct, rows = _distinct(array)
        values = pa.array(distinct, pa.binary())
        for number, comparison in self.comparisons:
            found = np.zeros((1, len(distinct) + 1), bool)  # NULL rows have index -1, the last entry
            found[0, :-1] = _matching(comparison, distinct, values) != comparison.negated
            found[0, -1] = comparison.on_null
            words[number] = packed(found[:, rows])


class _Listed:
    """Lists of one attribute: each is asked once per distinct value of the batch."""

    def __init__(self, column: Column, comparisons: list[tuple[int, Comparison]], lists: Lists) -> None:
        self.column = column
        self.tests = [(number, lists(own.values[0]), own.negated, own.on_null) for number, own in comparisons]

    def fill(self, words: Words, array: Any) -> None:
        distinct, rows = _distinct(array)
        texts = [value if isinstance(value, bytes) else str(value).encode() for value in distinct]
        for number, test, negated, on_null in self.tests:
            found = np.zeros((1, len(distinct) + 1), bool)  # NULL rows have index -1, the last entry
            found[0, :-1] = np.fromiter(map(test, texts), bool, len(texts)) != negated
            found[0, -1] = on_null
            words[number] = packed(found[:, rows])


class Truths:
    """Predicates already evaluated by Spark: a list of Booleans per row, all of the same length."""

    def __init__(self, column: Column, numbers: Iterable[int]) -> None:
        self.column = column
        self.numbers = np.array([*numbers], np.int32)

    def fill(self, words: Words, array: Any) -> None:
        values = array.flatten().fill_null(False).to_numpy(zero_copy_only=False)
        words[self.numbers] = packed(values.reshape(len(array), len(self.numbers)).T)


Group = _Comparisons | _Patterns | _Listed | Truths


def _matching(comparison: Comparison, distinct: list[bytes], values: Any) -> NDArray[np.bool_]:
    """Which of the distinct values a pattern matches. Arrow looks for bytes, if there are any."""
    sought = comparison.values[0].encode()
    search = _SEARCHES.get(comparison.operator)
    if search is not None and sought:
        return search(values, sought).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]
    matches = _MATCHERS[comparison.operator](comparison.values[0])
    return np.fromiter(map(matches, distinct), bool, len(distinct))


_SEARCHES: dict[str, Callable[[Any, bytes], Any]] = {
    "contains": pc.match_substring,
    "startswith": pc.starts_with,
    "endswith": pc.ends_with,
}


def _like(pattern: str) -> Callable[[bytes], bool]:
    regex = like_regex(pattern)
    return lambda value: regex.fullmatch(_characters(value)) is not None


def _ilike(pattern: str) -> Callable[[bytes], bool]:
    regex = like_regex(pattern.lower())
    return lambda value: regex.fullmatch(_characters(value).lower()) is not None


def _characters(value: bytes) -> str:
    return value.decode(errors="replace")  # as Java does for bytes that are not UTF-8


def _contains(part: str) -> Callable[[bytes], bool]:
    sought = part.encode()
    return lambda value: sought in value


def _startswith(part: str) -> Callable[[bytes], bool]:
    sought = part.encode()
    return lambda value: value.startswith(sought)


def _endswith(part: str) -> Callable[[bytes], bool]:
    sought = part.encode()
    return lambda value: value.endswith(sought)


_MATCHERS: dict[str, Callable[[str], Callable[[bytes], bool]]] = {
    "like": _like,
    "ilike": _ilike,
    "contains": _contains,
    "startswith": _startswith,
    "endswith": _endswith,
}


def _interval(comparison: Comparison, place: dict[Any, int]) -> tuple[int, int]:
    if comparison.operator == "present":
        return LOWEST, _LAST
    if comparison.operator == "in":
        return 1, 0  # empty: `lists` handles it
    if comparison.operator == "within":
        return place[comparison.values[0]], place[comparison.values[1]]
    equal = place[comparison.values[0]]
    return {"=": (equal, equal), "<": (LOWEST, equal - 1), ">": (equal + 1, _LAST)}[comparison.operator]


def _values(values: Iterable[Any], domain: Domain) -> NDArray[Any]:
    if domain in ("integer", "double"):
        return np.array([*values], np.int64 if domain == "integer" else np.float64)
    listed = list(values)
    array = np.empty(len(listed), object)
    array[:] = listed
    return array


def _distinct(array: Any) -> tuple[list[Any], NDArray[np.int64]]:
    """The distinct values of a column, strings as bytes, and for each row the index of its value, or -1 for NULL."""
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    rows = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    is_text = column_type(encoded.dictionary.type).family == "string"
    distinct = (encoded.dictionary.cast(pa.binary()) if is_text else encoded.dictionary).to_pylist()
    if None in distinct:
        rows = np.where(np.array([value is None for value in distinct] + [True])[rows], -1, rows)
        any_value = next((value for value in distinct if value is not None), b"")
        distinct = [any_value if value is None else value for value in distinct]
    return distinct, rows


def _numeric(array: Any, domain: Domain) -> NDArray[Any]:
    """The column as int64 (Booleans as 0 and 1, days, microseconds) or float64. NULLs get arbitrary values."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.timestamp("us", array.type.tz))
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    if pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    if pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    # Through numpy: Spark rounds a bigint to a double, and Arrow refuses to.
    values = array.fill_null(0).to_numpy(zero_copy_only=False)
    return values.astype(np.int64 if domain == "integer" else np.float64)  # type: ignore[no-any-return]
