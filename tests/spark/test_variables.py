"""Rules with variables match where Spark's own `exists`, or a join with `inline`, finds a binding."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException

import sparkrules
from sparkrules import Policy, RuleSet
from sparkrules.sql import distinct_predicates, parse_rule
from tests.spark.oracle import (
    Pairs,
    differences,
    pairs_by_plugin,
    pairs_by_python,
    pairs_by_where,
    rule_set,
    settings,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

MOBS = "p INT, q STRING"
SPOTS = "x DOUBLE, l BIGINT, n DECIMAL(12, 3), d DATE, s SMALLINT"
POLICY = Policy(operators={"mobs": MOBS, "spots": SPOTS, "map_entries": "k STRING, v INT"})
STRINGS = ["Rome", "Oslo", "", "|", "~", "~1", "Ro|me", "rome", "\u00e9", "10", "9"]
DOUBLES = [0.0, -0.0, 1.5, float("nan"), float("inf"), -2.25, 3.0]
WHOLE = [0, 1, -1, 5, 7, 2**31 - 1]
LONG = [0, 5, -5, 2**53 + 1, 2**63 - 1, -(2**63)]
DECIMALS = [Decimal("0.000"), Decimal("1.500"), Decimal("-2.250"), Decimal("999999999.999")]
DATES = [date(2024, 1, 1), date(2024, 2, 29), date(1969, 12, 31)]


def _rows(count: int) -> list[tuple[Any, ...]]:
    draw = random.Random(5)

    def maybe(values: list[Any]) -> Any:
        return None if draw.random() < 0.15 else draw.choice(values)

    def array(*kinds: list[Any]) -> Any:
        if draw.random() < 0.08:
            return None
        elements: list[Any] = [tuple(map(maybe, kinds)) for _ in range(draw.choice([0, 1, 1, 2, 2, 3]))]
        return [None if draw.random() < 0.05 else element for element in elements]

    def map_of() -> Any:
        return None if draw.random() < 0.1 else {k: maybe(WHOLE) for k in draw.sample(STRINGS, draw.randrange(3))}

    return [
        (
            row,
            maybe(WHOLE),
            array(WHOLE, STRINGS),
            array(DOUBLES, LONG, DECIMALS, DATES, [0, 5, -7]),
            map_of(),
        )
        for row in range(count)
    ]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> Iterator[DataFrame]:
    mobs = f"ARRAY<STRUCT<{MOBS}>>"
    spots = f"ARRAY<STRUCT<{SPOTS}>>"
    # The names of the fields do not matter.
    spark.sql(
        f"CREATE TEMPORARY FUNCTION mobs(a {mobs}) RETURNS ARRAY<STRUCT<people: INT, place: STRING>> "
        "RETURN transform(a, e -> e)"
    )
    spark.sql(f"CREATE TEMPORARY FUNCTION spots(a {spots}) RETURNS {spots} RETURN transform(a, e -> e)")
    schema = f"row INT, c INT, m {mobs}, o {spots}, e MAP<STRING, INT>"
    yield spark.createDataFrame(_rows(400), schema).coalesce(2).localCheckpoint()
    for name in ("mobs", "spots"):
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


def both(df: DataFrame, rules: dict[str, str], truth: Pairs, name: str) -> None:
    """Both engines find what the oracle does."""
    made = rule_set(name, rules, POLICY)
    found = [pairs_by_plugin(df, made), pairs_by_python(df, made)]
    assert [differences(own, truth, rules) for own in found] == [[], []]


# What is written, and its meaning.
MEANING = {
    "mobs(m, :p, :q) AND :p > 1": "exists(mobs(m), b -> b.people > 1)",
    "mobs(m, :p, :q) AND :p > 1 AND :q = 'Rome'": "exists(mobs(m), b -> b.people > 1 AND b.place = 'Rome')",
    "mobs(m, :p, :q)": "exists(mobs(m), b -> TRUE)",
    "NOT mobs(m, :p, :q)": "NOT exists(mobs(m), b -> TRUE)",
    "NOT (mobs(m, :p, :q) AND :p > 1)": "NOT exists(mobs(m), b -> b.people > 1)",
    "c = 5 AND NOT (mobs(m, :p, :q) AND :q = 'Oslo')": "c = 5 AND NOT exists(mobs(m), b -> b.place = 'Oslo')",
    "mobs(m, :p, 'Rome')": "exists(mobs(m), b -> b.place = 'Rome')",
    "mobs(m, 5, :q) AND :q LIKE 'R%'": "exists(mobs(m), b -> b.people = 5 AND b.place LIKE 'R%')",
    "mobs(m, c, :q)": "exists(mobs(m), b -> b.people = c)",
    "mobs(m, :p, :q) AND :p > c AND :q IS NULL": "exists(mobs(m), b -> b.people > c AND b.place IS NULL)",
    "mobs(m, :p, :q) OR c = 7": "exists(mobs(m), b -> TRUE) OR c = 7",
    "mobs(m, :p, :q) AND (:p > 1 OR :q = '')": "exists(mobs(m), b -> b.people > 1 OR b.place = '')",
    "mobs(m, :p, :q) AND NOT :p > 1": "exists(mobs(m), b -> NOT b.people > 1)",
    "(mobs(m, :p, :q) OR map_entries(e, :q, :p)) AND :p > 1 AND c > 0": (
        "(exists(mobs(m), b -> b.people > 1) OR exists(map_entries(e), b -> b.value > 1)) AND c > 0"
    ),
    "mobs(m, :p, :q) AND (:p = 5 XOR :q = 'Rome')": ("exists(mobs(m), b -> (b.people = 5) <> (b.place = 'Rome'))"),
    "mobs(m, :p, :q) AND :p > 1 XOR c = 5": "exists(mobs(m), b -> b.people > 1) <> (c = 5)",
    "spots(o, :x, :l, :n, :d, :s) AND :x > 3": "exists(spots(o), b -> b.x > 3)",
    "spots(o, :x, :x, :n, :d, :s)": "exists(spots(o), b -> b.l = b.x)",
    "at_least(2, mobs(m, :p, :q) AND :p > 1, c > 0, map_entries(e, :q, :v) AND :v > 0)": (
        "size(filter(array(exists(mobs(m), b -> b.people > 1), c > 0, exists(map_entries(e), b -> b.value > 0)), "
        "t -> t)) >= 2"
    ),
    "NOT at_least(2, mobs(m, :p, :q) AND :p > 1, c > 0, mobs(m, :p, 'Rome'))": (
        "size(filter(array(exists(mobs(m), b -> b.people > 1), c > 0, exists(mobs(m), b -> b.place = 'Rome')), "
        "t -> NOT t)) >= 2"
    ),
    "mobs(m, :p, :q) AND at_least(2, :p > 1, c > 0, :q = 'Rome')": (
        "exists(mobs(m), b -> b.people > 1 AND c > 0 OR b.people > 1 AND b.place = 'Rome' OR c > 0 AND "
        "b.place = 'Rome')"
    ),
    "mobs(m, :p, :q) AND exactly(1, :p > 1 XOR c > 0, :q = 'Rome')": (
        "exists(mobs(m), b -> ((b.people > 1) <> (c > 0)) <> (b.place = 'Rome'))"
    ),
    "mobs(m, :p, :q) AND matched(:p > 1) - matched(c > 0) < 5": (
        "exists(mobs(m), b -> b.people > 1 AND c > 0 AND b.people - c < 5)"
    ),
    "mobs(m, :p, :q) AND :q = 'Rome' AND NOT max(:p, c) < 5": (
        "exists(mobs(m), b -> b.place = 'Rome' AND b.people IS NOT NULL AND c IS NOT NULL AND "
        "greatest(b.people, c) >= 5)"
    ),
    "spots(o, :a, :b, :c, :d, :e) AND :d >= DATE '2024-01-01'": "exists(spots(o), b -> b.d >= DATE '2024-01-01')",
    "mobs(m, :p, :q) AND exists(array(1, 5), x -> x = :p)": (
        "exists(mobs(m), b -> exists(array(1, 5), x -> x = b.people))"
    ),
    "mobs(m, :p, :q) AND :q::int > 9 IS TRUE": "exists(mobs(m), b -> (try_cast(b.place AS INT) > 9) IS TRUE)",
}


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_rule_means_exists(spark: SparkSession, df: DataFrame, ansi: str) -> None:
    rules = {text: text for text in MEANING if "::int" not in text or ansi == "false"}
    with settings(spark, ansi=ansi):
        truth = pairs_by_where(df, {text: MEANING[text] for text in rules})
        both(df, rules, truth, "meaning")
    matched = {id for _, id in truth}
    assert matched == set(rules), "rules that match nothing prove nothing"


FIELDS: dict[str, tuple[str, str, list[str]]] = {
    # By variable: the call that binds it, the field, and constants.
    ":p": ("mobs(m, :p, :q)", "people", ["0", "5", "-1", "7", "1.5", "1e0", "'5'", "5L", "99999999999"]),
    ":q": ("mobs(m, :p, :q)", "place", ["'Rome'", "''", "'|'", "'~1'", "'r'", "'Ro|me'", "9"]),
    ":x": ("spots(o, :x, :l, :n, :d, :s)", "x", ["0", "-0.0", "1.5", "1e308", "double('NaN')", "3"]),
    ":l": ("spots(o, :x, :l, :n, :d, :s)", "l", ["0", "5", "9007199254740993", "9.5", "9223372036854775807", "1e3"]),
    ":n": ("spots(o, :x, :l, :n, :d, :s)", "n", ["0", "1.5", "-2.25", "1.5004", "1e9", "999999999.999"]),
    ":d": ("spots(o, :x, :l, :n, :d, :s)", "d", ["DATE '2024-01-01'", "DATE '1970-01-01'", "'2024-02-29'"]),
    ":s": ("spots(o, :x, :l, :n, :d, :s)", "s", ["0", "5", "-7", "40000", "5.0"]),
}


def _comparison(draw: random.Random, variable: str, field: str, constants: list[str]) -> tuple[str, str]:
    """A constraint, and the same about the element b."""
    operator = draw.choice(["=", "<>", "<", "<=", ">", ">=", "=", ">", "IN", "BETWEEN", "IS NULL", "mirrored"])
    first, second = draw.choice(constants), draw.choice(constants)
    form = {
        "IN": f"{{}} IN ({first}, {second})",
        "BETWEEN": f"{{}} BETWEEN {first} AND {second}",
        "IS NULL": "{} IS NULL",
        "mirrored": f"{first} < {{}}",
    }.get(operator, f"{{}} {operator} {first}")
    return form.format(variable), form.format(f"b.{field}")


def _atom(draw: random.Random) -> tuple[str, str]:
    """A call with constraints, and its meaning."""
    variable = draw.choice(list(FIELDS))
    call = FIELDS[variable][0]
    own = [variable]
    if draw.random() < 0.4:
        own.append(draw.choice([name for name, (other, _, _) in FIELDS.items() if other == call]))
    pairs = [_comparison(draw, name, *FIELDS[name][1:]) for name in own]
    constraints = [text for text, _ in pairs]
    draw.shuffle(constraints)
    function = call.split(", ", 1)[0] + ")"
    texts = [call, *constraints] if draw.random() < 0.7 else [*constraints, call]
    return f"({' AND '.join(texts)})", f"exists({function}, b -> {' AND '.join(meaning for _, meaning in pairs)})"


def _random_rule(draw: random.Random) -> tuple[str, str]:
    parts = [_atom(draw) for _ in range(draw.choice([1, 1, 1, 2]))]
    if draw.random() < 0.4:
        parts.append(("c > 0", "c > 0"))
    parts = [(f"NOT {text}", f"NOT {meaning}") if draw.random() < 0.35 else (text, meaning) for text, meaning in parts]
    operator = draw.choice([" AND ", " OR "])
    if operator == " AND ":
        # Each part has variables of its own, or the AND would bind them together.
        parts = [(_renamed(text, number), meaning) for number, (text, meaning) in enumerate(parts)]
    return operator.join(text for text, _ in parts), operator.join(meaning for _, meaning in parts)


def _renamed(text: str, number: int) -> str:
    for name in FIELDS:
        text = text.replace(f"{name},", f":{name[1]}{number},").replace(f"{name})", f":{name[1]}{number})")
        text = text.replace(f"{name} ", f":{name[1]}{number} ")
    return text


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_random_rules_match_as_exists_does(spark: SparkSession, df: DataFrame, ansi: str) -> None:
    draw = random.Random(11)
    made = dict(_random_rule(draw) for _ in range(500))
    if ansi == "true":
        # Casts that fail are another matter: a string that is compared with a number.
        made = {text: meaning for text, meaning in made.items() if not re.search(r"\b9\b", meaning)}
    with settings(spark, ansi=ansi):
        truth = pairs_by_where(df, made)
        both(df, {text: text for text in made}, truth, f"random_variables_{ansi}")
    assert len({id for _, id in truth}) > len(made) // 2
    assert len(truth) > 10_000


JOINT = {
    "mobs(m, :p, :q) AND map_entries(e, :q, :v)": "q = k",
    "mobs(m, :p, :q) AND map_entries(e, :k, :v) AND :p > 2 * :v": "p > 2 * v",
    "mobs(m, :p, :q) AND map_entries(e, :k, :p) AND :q < :k": "p = v AND q < k",
    "mobs(m, :p, :q) AND map_entries(e, :q, :p)": "p = v AND q = k",
    "map_entries(e, :k, :v) AND mobs(m, :v, :q) AND :q IN ('Rome', 'Oslo') AND :v >= 0": (
        "v = p AND q IN ('Rome', 'Oslo') AND v >= 0"
    ),
    "mobs(m, :p, :q) AND map_entries(e, :k, :v) AND (:p = :v OR :q = :k) AND c > 0": "(p = v OR q = k) AND c > 0",
    "mobs(m, :p, :q) AND map_entries(e, :k, :v) AND :p > 1 AND :v > 1": "p > 1 AND v > 1",
}


def test_a_joint_binding_is_a_row_of_a_join(spark: SparkSession, df: DataFrame) -> None:
    df.createOrReplaceTempView("joint")
    with settings(spark, ansi="false"):
        truth = {
            (row, text)
            for text, condition in JOINT.items()
            for (row,) in spark.sql(
                "SELECT DISTINCT row FROM (SELECT *, mobs(m) AS found FROM joint) "
                f"LATERAL VIEW inline(found) a AS p, q LATERAL VIEW explode(e) b AS k, v WHERE {condition}"
            ).collect()
        }
        both(df, {text: text for text in JOINT}, truth, "joint")
    assert {text for _, text in truth} == set(JOINT)


def test_a_binding_that_another_operator_must_not_return(spark: SparkSession, df: DataFrame) -> None:
    text = "mobs(m, :p, :q) AND NOT map_entries(e, :q, :v)"
    inner = "exists(o.a, b -> NOT exists(map_entries(e), d -> d.key = b.place))"
    meaning = f"exists(array(named_struct('a', mobs(m))), o -> {inner})"
    truth = pairs_by_where(df, {text: meaning})
    both(df, {text: text}, truth, "not_returned")
    assert truth


def test_python_functions_as_operators(spark: SparkSession, df: DataFrame) -> None:
    from pyspark.sql.functions import udf

    counts = udf(lambda m: None if m is None else [{"n": len(m)}], "array<struct<n: int>>")
    spark.udf.register("py_count", counts)
    policy = Policy(operators={**POLICY.operators, "py_count": "n INT"})
    rules = {
        "more": "py_count(m, :n) AND :n > 1",
        "joint": "py_count(m, :n) AND map_entries(e, :k, :v) AND :v > :n",
    }
    meaning = {"more": "size(m) > 1", "joint": "exists(map_entries(e), b -> b.value > IF(m IS NULL, NULL, size(m)))"}
    truth = pairs_by_where(df, meaning)
    made = rule_set("python_operators", rules, policy)
    assert [differences(own(df, made), truth, rules) for own in (pairs_by_plugin, pairs_by_python)] == [[], []]
    assert {id for _, id in truth} == set(rules)
    spark.sql("DROP TEMPORARY FUNCTION py_count")


def test_a_file_holds_rules_with_variables(df: DataFrame, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text("- id: big\n  where: mobs(m, :people, :place) AND :people > 1\n")
    rules = RuleSet("from_file", policy=POLICY)
    assert rules.subscribe_all(tmp_path / "rules.yaml") == 1
    assert rules.subscriptions["big"].where == "mobs(m, :people, :place) AND :people > 1"
    truth = pairs_by_where(df, {"big": "exists(mobs(m), b -> b.people > 1)"})
    assert pairs_by_plugin(df, rules) == truth != set()


def test_thousands_of_constants_cost_one_maximum(df: DataFrame) -> None:
    rules = {str(k): f"mobs(m, :p, :q) AND :p > {k}" for k in range(3_000)}
    rules |= {f"n{k}": f"mobs(m, :p, :q) AND :q = 'place {k}'" for k in range(3_000)}
    attributes = {
        own.attribute for text in rules.values() for own in distinct_predicates(parse_rule(text, policy=POLICY))
    }
    assert len(attributes) == 2
    made = rule_set("thousands", rules, POLICY)
    found = pairs_by_plugin(df, made)
    best = {row: most for row, most in df.selectExpr("row", "array_max(mobs(m).people)").collect() if most is not None}
    assert found == {(row, str(k)) for row, most in best.items() for k in range(min(max(most, 0), 3_000))}


def test_strict_fails_as_spark_does(spark: SparkSession, df: DataFrame) -> None:
    made = rule_set("strict_variables", {"cast": "mobs(m, :p, :q) AND CAST(:q AS INT) = 10"}, POLICY)
    # `exists` ends at the first element that is true. A cast that fails before makes the predicate unknown.
    found = "array_position(transform(mobs(m), b -> coalesce(try_cast(b.place AS INT) = 10, FALSE)), TRUE)"
    fails = "array_position(transform(mobs(m), b -> b.place IS NOT NULL AND try_cast(b.place AS INT) IS NULL), TRUE)"
    with settings(spark, ansi="true"):
        truth = pairs_by_where(df, {"cast": f"{found} > 0 AND ({fails} = 0 OR {found} < {fails})"})
        assert pairs_by_plugin(df, made) == truth != set()
        with settings(spark, spark_sparkrules_strict="true"), pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            pairs_by_plugin(df, made)


# --- the subscriptions of "Scalable Event Matching for Overlapping Subscriptions", 2.1

PAPER = {
    "S1": "loc_in(place, 'Bronx') AND chase_pattern(img, 'policeCar', :car)",
    "S2": "loc_in(place, 'Bronx') AND mob_pattern(img, :people) AND :people > 50",
    "S3": (
        "loc_within(gps, 'TimesSquare', 5000) AND traffic_pattern(img, 'congestion') "
        "AND pedestrian_count(img, :ped) AND :ped > 250"
    ),
    "S4": (
        "loc_in(place, 'Bronx') AND traffic_pattern(img, 'congestion') AND traffic_pattern(img, 'accident') "
        "AND police_car_count(img, :pol) AND :pol < 2"
    ),
    "S5": (
        "distance_from(gps, 'StatueOfLiberty', :x) AND :x < 1000 AND tour_boat_count(img, :y) "
        "AND coast_guard_boat_count(img, :z) AND :y > 2 * :z"
    ),
}
RECOGNISED = {
    "chase_pattern": "chaser STRING, chased STRING",
    "mob_pattern": "people INT",
    "traffic_pattern": "pattern STRING",
    "pedestrian_count": "n INT",
    "police_car_count": "n INT",
    "tour_boat_count": "n INT",
    "coast_guard_boat_count": "n INT",
}


@pytest.fixture
def cameras(spark: SparkSession) -> Iterator[tuple[DataFrame, list[dict[str, Any]]]]:
    draw = random.Random(3)
    images = []
    for _ in range(400):
        image: dict[str, Any] = {
            "place": draw.choice(["Bronx", "Queens"]),
            "gps": draw.randrange(0, 8000),
            "chase_pattern": [("policeCar", "taxi")] * draw.randrange(2) + [("dog", "policeCar")] * draw.randrange(2),
            "mob_pattern": [(draw.choice([3, 49, 50, 51, 90]),) for _ in range(draw.randrange(3))],
            "traffic_pattern": [(name,) for name in ("congestion", "accident") if draw.random() < 0.7],
        }
        for count in ("pedestrian_count", "police_car_count", "tour_boat_count", "coast_guard_boat_count"):
            image[count] = [(draw.choice([0, 1, 2, 3, 7, 251, 400]),) for _ in range(draw.choice([0, 1, 1, 2]))]
        images.append(image)
    fields = ", ".join(f"{name}: ARRAY<STRUCT<{outputs}>>" for name, outputs in RECOGNISED.items())
    rows = [
        (row, image["place"], image["gps"], tuple(image[name] for name in RECOGNISED))
        for row, image in enumerate(images)
    ]
    df = spark.createDataFrame(rows, f"row INT, place STRING, gps INT, img STRUCT<{fields}>")
    for name, outputs in RECOGNISED.items():
        spark.sql(
            f"CREATE TEMPORARY FUNCTION {name}(img STRUCT<{fields}>) RETURNS ARRAY<STRUCT<{outputs}>> "
            f"RETURN transform(img.{name}, found -> found)"
        )
    spark.sql("CREATE TEMPORARY FUNCTION loc_in(p STRING, area STRING) RETURNS BOOLEAN RETURN p = area")
    spark.sql("CREATE TEMPORARY FUNCTION loc_within(g INT, at STRING, most INT) RETURNS BOOLEAN RETURN g < most")
    spark.sql(
        "CREATE TEMPORARY FUNCTION distance_from(g INT, at STRING) RETURNS ARRAY<STRUCT<meters: INT>> "
        "RETURN array(named_struct('meters', g))"
    )
    yield df, images
    for name in (*RECOGNISED, "loc_in", "loc_within", "distance_from"):
        spark.sql(f"DROP TEMPORARY FUNCTION {name}")


def _substituted(image: dict[str, Any]) -> set[str]:
    """The subscriptions of the paper that an image matches, by its definition: some substitution satisfies all."""
    bronx = image["place"] == "Bronx"
    patterns = {name for (name,) in image["traffic_pattern"]}
    found = {
        "S1": bronx and any(chaser == "policeCar" for chaser, _ in image["chase_pattern"]),
        "S2": bronx and any(people > 50 for (people,) in image["mob_pattern"]),
        "S3": image["gps"] < 5000 and "congestion" in patterns and any(n > 250 for (n,) in image["pedestrian_count"]),
        "S4": bronx and patterns >= {"congestion", "accident"} and any(n < 2 for (n,) in image["police_car_count"]),
        "S5": image["gps"] < 1000
        and any(y > 2 * z for (y,) in image["tour_boat_count"] for (z,) in image["coast_guard_boat_count"]),
    }
    return {id for id, is_true in found.items() if is_true}


def test_the_subscriptions_of_the_paper(cameras: tuple[DataFrame, list[dict[str, Any]]]) -> None:
    df, images = cameras
    policy = Policy(operators={**RECOGNISED, "distance_from": "meters INT"}, extra_functions={"loc_in", "loc_within"})
    made = rule_set("cameras", PAPER, policy)
    truth = {(row, id) for row, image in enumerate(images) for id in _substituted(image)}
    assert {id for _, id in truth} == set(PAPER)
    assert pairs_by_plugin(df, made) == truth
    assert pairs_by_python(df, made) == truth


def test_an_operator_that_spark_does_not_know_is_an_error(df: DataFrame) -> None:
    made = rule_set("unknown_operator", {"r": "nowhere(m, :p) AND :p > 1"}, Policy(operators={"nowhere": "p INT"}))
    with pytest.raises(PySparkException, match=r"'r': .*nowhere"):
        sparkrules.match(df, made).collect()


def test_explain_says_what_a_binding_satisfies(spark: SparkSession, df: DataFrame) -> None:
    made = rule_set("explained", {"r": "mobs(m, :p, :q) AND :p > 1 AND c = 5"}, POLICY)
    shown = str(made.explain(df.where("row = 1").first(), spark=spark)[0])
    assert "exists(mobs(m), b -> b.p > 1)" in shown
