"""The pure-Python matcher: Spark's answer where it is certain, a reason where it is not."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparkrules.index import Rule, build_segment
from sparkrules.local import NeedsSpark, UnknownColumn, match, matcher
from sparkrules.sql.tree import ALWAYS, NEVER, Constant, Junction, Predicate
from tests.index.index_oracle import is_true, letters
from tests.specification.overlap import overlap_sets

NULL = Constant("null")
NAN = float("nan")


def integer(value):
    return Constant("integer", str(value))


def string(value):
    return Constant("string", value)


def sql(text):
    return Constant("sql", text)


def rows_where(values, type_, operator, *constants):
    """Which of a column's values a single predicate keeps."""
    segment = build_segment([Rule("r", "", Predicate("x", operator, constants))])
    found = match(segment, pa.table({"x": pa.array(values, type_)}))
    return [value for value, ids in zip(values, found.ids.to_pylist(), strict=True) if ids]


def reason(type_, operator, *constants, attribute="x"):
    """Why a predicate is left to Spark."""
    segment = build_segment([Rule("r", "", Predicate(attribute, operator, constants))])
    with pytest.raises(NeedsSpark) as caught:
        match(segment, pa.table({"x": pa.array([], type_)}))
    return caught.value.reasons["r"]


# Against brute force

NUMBERS = [integer(0), integer(-1), integer(2**31), integer(2**63 - 1), integer(10**20)]
NUMBERS += [Constant("decimal", text) for text in ("0.5", "-0.0", "1.50", "9007199254740993.0")]
DOUBLES = [Constant("double", text) for text in ("0e0", "-1.5e0", "1e300", "9007199254740993e0")]
STRINGS = [string(text) for text in ("", "a", "A", "ab", "é", "😀", "\uffff", "a%", "_")]
PATTERNS = [string(text) for text in ("", "%", "a%", "%B", "_", "%a_%", "\\%", "a\\_%", "%\\\\", "%%é%%")]
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "<=>", "not <=>"]

COLUMNS = {
    "i": (pa.int64(), st.sampled_from([0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)]), NUMBERS + DOUBLES),
    "f": (pa.float64(), st.sampled_from([0.0, -0.0, NAN, float("inf"), -1.5, 0.5, 1e300, 2.0**53]), NUMBERS + DOUBLES),
    "d": (
        pa.decimal128(18, 2),
        st.sampled_from([Decimal(text) for text in ("0.00", "0.50", "1.50", "-1.00", "9007199254740993.00")]),
        NUMBERS + DOUBLES,
    ),
    "s": (pa.string(), st.sampled_from([c.text for c in STRINGS] + ["a\nb", "%", "\\", "aé"]), STRINGS),
    "b": (pa.bool_(), st.booleans(), [Constant("boolean", "true"), Constant("boolean", "false")]),
}


def same_type(constants):
    """IN casts the whole list to one type: keep doubles apart from exact numbers, as the oracle has no such rule."""
    return len({constant.kind == "double" for constant in constants if constant.kind != "null"}) < 2


@st.composite
def predicates(draw):
    name = draw(st.sampled_from(sorted(COLUMNS)))
    constants = [*COLUMNS[name][2], NULL]
    operators = [*COMPARISONS, "in", "not in", "is null", "is not null"]
    operators += {"s": ["like", "ilike", "contains", "startswith", "endswith"], "b": ["is true", "is false"]}.get(
        name, []
    )
    operator = draw(st.sampled_from(operators))
    if operator.startswith("is "):
        negated = operator.replace("is ", "is not ") if name == "b" and draw(st.booleans()) else operator
        return Predicate(name, negated.replace("not not", "not"))
    if operator in ("like", "ilike"):
        constants = PATTERNS
    if operator.endswith("in") and operator in ("in", "not in"):
        listed = draw(st.lists(st.sampled_from(constants), min_size=1, max_size=4).filter(same_type))
        return Predicate(name, operator, tuple(listed))
    if operator in ("like", "ilike", "contains", "startswith", "endswith") and draw(st.booleans()):
        operator = f"not {operator}"
    return Predicate(name, operator, (draw(st.sampled_from(constants)),))


trees = st.recursive(
    predicates(),
    lambda inner: st.builds(Junction, st.sampled_from(["and", "or"]), st.lists(inner, max_size=3).map(tuple)),
    max_leaves=6,
)
tables = st.lists(
    st.fixed_dictionaries({name: st.none() | values for name, (_, values, _) in COLUMNS.items()}), max_size=8
)
SCHEMA = pa.schema([(name, type_) for name, (type_, _, _) in COLUMNS.items()])


@settings(deadline=None)
@given(st.lists(st.tuples(trees, st.integers(-1, 1)), max_size=6), tables, st.sampled_from([1, 2**26]))
@example([(Predicate("f", ">=", (integer(0),)), 0)], [dict.fromkeys(COLUMNS) | {"f": NAN}], 1)
def test_matching_is_brute_force_in_output_order(trees, rows, memory):
    rules = [Rule(f"r{number}", "", tree, priority) for number, (tree, priority) in enumerate(trees)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "MEMORY", memory)  # 1: a batch for every row
        found = match(build_segment(rules), pa.Table.from_pylist(rows, SCHEMA))
    by_output = sorted(rules, key=lambda rule: (-rule.priority, rule.id))
    assert found.ids.to_pylist() == [[rule.id for rule in by_output if is_true(rule.tree, row)] for row in rows]


@settings(deadline=None)
@given(st.lists(trees, max_size=5), tables)
def test_overlaps_of_a_row_are_the_groups_that_share_something_true(trees, rows):
    segment = build_segment(Rule(f"r{number}", "", tree, number % 2) for number, tree in enumerate(trees))
    found = match(segment, pa.Table.from_pylist(rows, SCHEMA))
    for row, ids, overlaps in zip(rows, found.ids.to_pylist(), found.overlaps.to_pylist(), strict=True):
        groups = set()
        for node in range(len(segment.forest.nodes.level)):
            if is_true(segment.forest.tree(node), row):
                users = {segment.rules.id[user] for user in segment.forest.users.row(node)}
                groups.add(tuple(name for name in ids if name in users))
        groups = [list(group) for group in groups if len(group) > 1]
        assert overlaps == sorted(groups, key=lambda group: (-len(group), [ids.index(name) for name in group]))


# Values that Spark treats in a way of its own


def test_nan_equals_itself_and_is_greater_than_everything():
    values = [NAN, float("inf"), 1.0, None]
    assert rows_where(values, pa.float64(), ">", integer(5)) == values[:2]
    assert rows_where(values, pa.float64(), "<=", integer(5)) == [1.0]
    assert rows_where(values, pa.float32(), "<>", integer(1)) == values[:2]


def test_an_integer_meets_a_decimal_exactly_and_a_double_as_a_double():
    values = [2**53, 2**53 + 1]
    assert rows_where(values, pa.int64(), "=", Constant("decimal", "9007199254740993.0")) == [2**53 + 1]
    assert rows_where(values, pa.int64(), "=", Constant("double", "9007199254740992e0")) == values
    assert rows_where(values, pa.int64(), "in", integer(1), Constant("double", "9007199254740992e0")) == values
    assert rows_where([5, 6], pa.int32(), ">", Constant("decimal", "5.5")) == [6]


def test_not_in_with_null_is_never_true():
    assert rows_where([1, 2, None], pa.int32(), "not in", integer(1), NULL) == []
    assert rows_where([1, 2, None], pa.int32(), "in", integer(1), NULL) == [1]


def test_null_safe_equality_with_null_asks_for_null():
    assert rows_where([1, None], pa.int32(), "<=>", NULL) == [None]
    assert rows_where([1, None], pa.int32(), "not <=>", NULL) == [1]
    assert rows_where([1, None], pa.int32(), "not <=>", integer(1)) == [None]


def test_dates_meet_date_literals_and_iso_strings():
    days = [datetime.date(2020, 1, 1), datetime.date(1969, 12, 31), None]
    assert rows_where(days, pa.date32(), ">=", sql("DATE '2020-01-01'")) == days[:1]
    assert rows_where(days, pa.date32(), "<", string("2020-01-01")) == [days[1]]
    assert rows_where(days, pa.date32(), "in", sql("date '1969-12-31'"), NULL) == [days[1]]


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_timestamps_with_a_zone_are_instants(unit):
    column = pa.timestamp(unit, "America/New_York")
    noon = datetime.datetime(2020, 6, 1, 12, tzinfo=datetime.timezone.utc)
    assert rows_where([noon, None], column, "=", sql("TIMESTAMP '2020-06-01 14:00:00+02:00'")) == [noon]
    assert rows_where([noon, None], column, "<", string("2020-06-01T12:00:00.5Z")) == [noon]
    assert rows_where([noon, None], column, "<", sql("TIMESTAMP '2020-06-01 12:00:00Z'")) == []


def test_timestamps_without_a_zone_meet_local_times():
    before = datetime.datetime(1969, 12, 31, 23, 59, 59, 999999)  # noqa: DTZ001
    assert rows_where([before], pa.timestamp("us"), "=", sql("TIMESTAMP_NTZ '1969-12-31 23:59:59.999999'")) == [before]
    assert rows_where([before], pa.timestamp("us"), "<", string("1970-01-01 00:00:00")) == [before]


@pytest.mark.parametrize("type_", [pa.dictionary(pa.int8(), pa.string()), pa.large_string(), pa.string_view()])
def test_strings_may_be_stored_in_any_way(type_):
    values = ["a", None, "b", "a"]
    assert rows_where(values, type_, "=", string("a")) == ["a", "a"]
    assert rows_where(values, type_, "not like", string("a%")) == ["b"]


def test_bytes_that_are_no_utf8_are_compared_as_bytes():
    values = pa.array([b"\xc3(\xff", b"(", b"\xff", None], pa.binary()).view(pa.string())
    table = pa.table({"x": values})

    def found(operator, text):
        segment = build_segment([Rule("r", "", Predicate("x", operator, (string(text),)))])
        return [row for row, ids in enumerate(match(segment, table).ids.to_pylist()) if ids]

    assert (found("=", "("), found(">", "("), found(">", "\U0010ffff")) == ([1], [0, 2], [2])
    assert (found("contains", "("), found("like", "_(_"), found("not startswith", "(")) == ([0, 1], [0], [0, 2])


def test_a_dictionary_may_contain_null():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None]), pa.array(["a", None]))
    segment = build_segment([Rule("r", "", Predicate("x", "<>", (string("b"),)))])
    assert match(segment, pa.table({"x": column})).ids.to_pylist() == [["r"], [], []]


def test_a_column_without_a_type_is_always_null():
    assert rows_where([None], pa.null(), "=", integer(5)) == []
    assert rows_where([None], pa.null(), "not <=>", integer(5)) == [None]
    assert rows_where([None], pa.null(), "is not true") == [None]


def test_null_can_be_asked_of_any_type():
    assert rows_where([[1], None], pa.list_(pa.int8()), "is null") == [None]


# Columns


def test_columns_are_found_without_regard_to_case_and_inside_structs():
    inner = pa.array([{"City": "Rome"}, None, {"City": None}])
    table = pa.table({"Addr": inner, "odd name": [1, 2, 3], "a.b": [1, 2, 3]})
    rules = {
        "city": Predicate("addr.city", "=", (string("Rome"),)),
        "no city": Predicate("ADDR.CITY", "is null"),
        "odd": Predicate("`odd name`", ">", (integer(1),)),
        "dot": Predicate("`a.b`", "=", (integer(3),)),
    }
    segment = build_segment(Rule(name, "", tree) for name, tree in rules.items())
    assert match(segment, table).ids.to_pylist() == [["city"], ["no city", "odd"], ["dot", "no city", "odd"]]


def test_a_missing_column_is_named_with_the_rules_that_need_it():
    segment = build_segment(
        [Rule("bad", "", Predicate("price", "is null")), Rule("good", "", Predicate("x", "is null"))]
    )
    with pytest.raises(UnknownColumn, match="bad: there is no column `price`") as caught:
        match(segment, pa.table({"x": [1]}))
    assert list(caught.value.reasons) == ["bad"]


def test_skip_leaves_out_what_is_uncertain_and_says_so():
    a, opaque = Predicate("x", "is not null"), Predicate("x + 1 > y", "is true")
    rules = [
        Rule("sure", "", a),
        Rule("unsure", "", Junction("or", (a, opaque))),
        Rule("lost", "", Predicate("y", "=")),
    ]
    found = match(build_segment(rules), pa.table({"x": [1]}), unsupported="skip")
    assert found.ids.to_pylist() == [["sure"]]
    assert found.skipped == {
        "lost": "there is no column `y`",
        "unsure": "`x + 1 > y` is a derived attribute",
    }
    assert found.overlaps.to_pylist() == [[]]


@pytest.mark.parametrize(
    ("why", "said"),
    [
        (lambda: reason(pa.int32(), "=", string("5")), "casts implicitly"),
        (lambda: reason(pa.string(), "=", integer(5)), "casts implicitly"),
        (lambda: reason(pa.string(), "in", string("5"), integer(5)), "casts implicitly"),
        (lambda: reason(pa.int32(), "like", string("5%")), "casts implicitly"),
        (lambda: reason(pa.int32(), "=", Constant("boolean", "true")), "casts implicitly"),
        (lambda: reason(pa.string(), "=", sql("lower('A')")), "casts implicitly"),
        (lambda: reason(pa.date32(), "=", string("2020-1-1")), "casts implicitly"),
        (lambda: reason(pa.date32(), "=", string("2020-02-30")), "not a date"),
        (lambda: reason(pa.date32(), "=", sql("TIMESTAMP '2020-01-01 00:00:00Z'")), "casts implicitly"),
        (lambda: reason(pa.timestamp("us", "UTC"), "=", sql("TIMESTAMP '2020-01-01 00:00:00'")), "time zone"),
        (lambda: reason(pa.timestamp("us"), "=", string("2020-01-01 00:00:00Z")), "time zone"),
        (lambda: reason(pa.timestamp("ns"), "=", string("2020-01-01 00:00:00")), "casts implicitly"),
        (lambda: reason(pa.float32(), "=", integer(2**24 + 1)), "ANSI"),
        (lambda: reason(pa.decimal128(38, 30), "=", integer(2**40)), "38 digits"),
        (lambda: reason(pa.uint8(), "=", integer(1)), "casts implicitly"),
        (lambda: reason(pa.string(), "rlike", string("a")), "Java"),
        (lambda: reason(pa.string(), "like", string("a\\b")), "refuses the LIKE pattern"),
        (lambda: reason(pa.string(), "like", string("a\\")), "refuses the LIKE pattern"),
        (lambda: reason(pa.string(), "is true"), "boolean column"),
        (lambda: reason(pa.int32(), "is null", attribute="x + 1"), "derived"),
        (lambda: reason(pa.int32(), "is null", attribute="current_date"), "derived"),
        (lambda: reason(pa.int32(), "is null", attribute="x.y"), "not a struct"),
    ],
)
def test_what_is_uncertain_is_left_to_spark_with_a_reason(why, said):
    assert said in why()


def test_an_ambiguous_name_is_refused():
    segment = build_segment([Rule("r", "", Predicate("x", "is null"))])
    with pytest.raises(NeedsSpark, match="ambiguous"):
        match(segment, pa.table([[1], [2]], names=["x", "X"]))


# Shapes


def test_constants_match_always_and_never():
    segment = build_segment([Rule("always", "", ALWAYS), Rule("never", "", NEVER)])
    assert match(segment, pa.table({"x": [1, None]})).ids.to_pylist() == [["always"], ["always"]]


def test_no_rules_and_no_rows_are_no_trouble():
    segment = build_segment([])
    assert match(segment, pa.table({"x": [1]})).ids.to_pylist() == [[]]
    full = build_segment([Rule("r", "", Predicate("x", "is null"))])
    empty = match(full, pa.table({"x": pa.array([], pa.int32())}))
    assert (empty.ids.to_pylist(), empty.overlaps.to_pylist(), empty.pairs().num_rows) == ([], [], 0)


def test_record_batches_and_chunks_are_tables_too():
    segment = build_segment([Rule("r", "", Predicate("x", ">", (integer(1),)), 7)])
    chunked = pa.table({"x": pa.chunked_array([[1], [2, 3]])})
    assert match(segment, chunked).ids.to_pylist() == [[], ["r"], ["r"]]
    pairs = match(segment, pa.record_batch({"x": [3, 1]})).pairs()
    assert pairs.to_pylist() == [{"row": 0, "subscription_id": "r", "priority": 7}]


# Overlap sets, directly


def test_a_group_is_explained_by_its_largest_shared_subexpression():
    a, b, c = letters("abc")
    both = Junction("and", (a, b))
    segment = build_segment([Rule("1", "", both), Rule("2", "", Junction("or", (both, c))), Rule("3", "", c, 1)])
    true = [True] * len(segment.forest.nodes.level)
    overlaps = overlap_sets(segment, true, range(3))
    assert [(overlap.ids, str(segment.forest.tree(overlap.node)).replace(" is true", "")) for overlap in overlaps] == [
        (("3", "2"), "c"),
        (("1", "2"), "a and b"),
    ]


def test_what_is_not_true_or_not_matched_is_not_shared():
    a, b = letters("ab")
    segment = build_segment([Rule("1", "", Junction("or", (a, b))), Rule("2", "", a), Rule("3", "", b)])
    true = [str(segment.forest.tree(node)) != "b is true" for node in range(len(segment.forest.nodes.level))]
    assert [overlap.ids for overlap in overlap_sets(segment, true, [0, 1])] == [("1", "2")]
    assert overlap_sets(segment, true, [1]) == []
