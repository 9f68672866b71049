"""Texts of different shapes, compiled by their predicates, give the same as parsing each of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrules.rules.compile import compile_texts
from sparkrules.rules.outlined import OutlinedTexts
from sparkrules.sql import DEFAULT_POLICY, Policy, called_functions, parse_rule
from sparkrules.sql.outline import PredicateForms, cut, read_outline
from sparkrules.sql.template import SEPARATOR, lift
from tests.rules.test_compile_texts import LITERALS, SHAPES, assert_same_as_one_by_one, filled
from tests.sql.hostile_texts import HOSTILE
from tests.sql.test_parse_rule import GOLDEN

# What can be cut, and what must not be: predicates that look like several, or several that look like one.
PREDICATES = [
    "a = {}", "b>{}", "c  <=\t{}", "{} < a", "-a < {}", "t.a = {}", "a IN ({}, {})", "a NOT IN ({})", "a in(1,2,(3))",
    "name LIKE {}", "name NOT LIKE {}", "a BETWEEN {} AND {}", "a NOT BETWEEN {} AND {}", "a BETWEEN (1) AND {}",
    "a BETWEEN f(1) AND 5", "a BETWEEN -1 AND +5", "d BETWEEN DATE '2020-01-01' AND DATE '2021-01-01'", "a IS NULL",
    "a IS NOT NULL", "a IS NOT DISTINCT FROM {}", "(a = {}) IS NULL", "sold", "NOT sold", "TRUE", "FALSE", "NULL",
    "lower(name) = {}", "upper(lower(trim(name))) = {}", "contains(name, {})", "a + b > {}", "(a + b) * 2 > {}",
    "a[0] = {}", "`odd AND name` = {}", "`x)` = {}", "\"it\" = name", "name = 'x) OR (a = 1'", "name = 'O''AND'",
    "name = r'\\'", "name = 'a\\'AND'", "CASE WHEN a > 1 THEN b ELSE c END = {}", "d > INTERVAL 5 DAY", "from = 1",
    "CASE WHEN a > 1 AND b > 2 THEN TRUE END", "interval = {}", "at_least(1, a = {}, b = {})", "matched(a > {}) > 3",
    "a = {} XOR b = {}", "a == {}", "a != {}", "a <> {}", "1e+5AND = 2", "a = 1e+5AND b = 2", "a = 5.AND b = 1",
    "a = 1 -- x", "a = /* x */ 1", "a; b = 1", "a = b = {}", "(a, b) = (1, 2)", "and = 1", "NOT = 5", "é = 1",
    "exists(xs, x -> x = {})", "a ||'x' = {}", "a =", "= a", "map(a, 1)['k'] = {}", "date = {}", "a\u00a0= {}",
]  # fmt: skip
JOINTS = [" AND ", " OR ", " and ", "  Or\n", " AND", "AND ", " AND NOT ", " OR NOT NOT ", " XOR "]
JOINTS += [") <> (", ") = (", " <> "]
BRACKETS = [
    "{}",
    "{}",
    "({})",
    "( {} )",
    "NOT ({})",
    "not({})",
    "(({}))",
    "NOT {}",
    "!({})",
    "({}",
    "{})",
    "({}) <> ({})",
]


def text(pick: random.Random, pool: list[str], depth: int = 3) -> str:
    if depth == 0 or pick.random() < 0.3:
        return filled(pick.choice(pool), pick)
    joint = pick.choice(JOINTS if pick.random() < 0.3 else JOINTS[:2])
    whole = joint.join(text(pick, pool, depth - 1) for _ in range(pick.choice((1, 2, 2, 3))))
    bracket = pick.choice(BRACKETS if pick.random() < 0.3 else BRACKETS[:4])
    return bracket.replace("{}", whole)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of texts that are compiled by their predicates, filled as that happens."""
    found: list[int] = []
    compile: Callable[[OutlinedTexts], None] = OutlinedTexts.compile

    def counting(texts: OutlinedTexts) -> None:
        compile(texts)
        found.append(len(texts.members))

    monkeypatch.setattr(OutlinedTexts, "compile", counting)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_random_shapes_of_all_kinds_of_predicates(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = counted(monkeypatch)
    pick = random.Random(seed)
    # Few kinds at a time, so that they repeat often enough to share templates, and few that spoil a text.
    pool = pick.sample(PREDICATES, 6) + 4 * ["a = {}", "b > {}", "c <> {} AND d IS NULL"]
    assert_same_as_one_by_one([text(pick, pool) for _ in range(800)])
    assert found[0] > 50


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32))
def test_random_shapes_of_random_predicates(seed: int) -> None:
    pick = random.Random(seed)
    pool = pick.sample(PREDICATES, 3) + pick.sample(SHAPES, 2) + 2 * ["a = {}"]
    assert_same_as_one_by_one([text(pick, pool) for _ in range(200)])


def test_good_and_bad_texts_among_others() -> None:
    """The texts of the parser tests as parts of larger texts, whose other parts are shared."""
    pick = random.Random(7)
    parts = [part for part, _ in GOLDEN] + [part for group in HOSTILE.values() for part in group]
    texts = []
    for part in parts:
        if SEPARATOR in part or len(part) > 2_000:
            continue
        for shape in ("a = {} AND {part}", "(a > {} OR {part}) AND (b > {} OR c < {})", "NOT ({part}) OR a = {}"):
            whole = shape.replace("{part}", part)
            texts.append(filled(whole, pick) if "{}" not in part else whole.replace("{}", "5"))
    assert_same_as_one_by_one(texts)


def test_a_predicate_that_is_common_but_wrong_is_reported_as_in_its_text() -> None:
    texts = [f"{'(' * (n % 30)}a = {n} AND lower(b, {n}) = 'x'{')' * (n % 30)}" for n in range(300)]
    assert_same_as_one_by_one(texts)
    assert len(compile_texts(texts).errors) == len(texts)


def test_only_functions_of_accepted_texts_are_called() -> None:
    good = [f"{'(' * (n % 30)}lower(a) = 'x{n}' AND b = {n}{')' * (n % 30)}" for n in range(200)]
    bad = [f"{'(' * (n % 30)}upper(a) = 'x{n}' AND b = {n}{')' * (n % 30)}" for n in range(200)]
    broken = [f"{one} AND" for one in bad]
    assert compile_texts(good + broken).functions == {"lower"}
    assert compile_texts(good + bad).functions == {"lower", "upper"}


def test_functions_equal_those_of_the_trees() -> None:
    pick = random.Random(9)
    pool = ["lower(a) = {}", "contains(b, {})", "exists(xs, x -> length(x) > {})", "a = {}", "abs(c) < {}"]
    texts = [text(pick, pool) for _ in range(600)]
    done = compile_texts(texts)
    trees = [parse_rule(texts[number]) for number in done.accepted.tolist()]
    assert done.functions == frozenset().union(*map(called_functions, trees))


def test_depth_is_limited_as_in_whole_texts() -> None:
    policy = Policy(max_depth=12)
    texts = [f"{'(' * (n % 15)}a = {n} AND - - -b < {n}{')' * (n % 15)}" for n in range(400)]
    done = compile_texts(texts, policy=policy)
    for number, one in enumerate(texts):
        assert (number in done.errors) == (one.count("(") + 3 > 12)


def test_exclusive_ors_are_limited_as_in_whole_texts() -> None:
    pick = random.Random(3)

    def exclusive(depth: int) -> str:
        if depth == 0:
            return f"{pick.choice('abc')} > {pick.randrange(50)}"
        return f"({exclusive(depth - 1)}) {pick.choice(('<>', '='))} ({exclusive(pick.randrange(depth))})"

    assert_same_as_one_by_one([exclusive(pick.randrange(1, 6)) for _ in range(300)])


def test_other_dialects() -> None:
    texts = [f"{'(' * (n % 20)}a != {n} AND b <> {n % 7}{')' * (n % 20)}" for n in range(200)]
    done = compile_texts(texts, dialect="postgres")
    spark = compile_texts([done.translated[number] for number in range(len(texts))])
    assert done.forest.nodes.children.to_lists() == spark.forest.nodes.children.to_lists()
    assert np.array_equal(done.forest.roots, spark.forest.roots)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1 b = 2",
        "(a = 1",
        "a = 1)",
        "a = 1 AND",
        "NOT",
        "(a = 1) <> b = 2",
        "()",
        "a = 1 & (b = 2)",
        "x.AND b = 1",
        "(a = 1)(b = 2)",
        "a = 1 OR OR b = 2",
        "(a = 1) = (b = 2) = (c = 3)",
        "(a = 1) IS NULL",
        "",
    ],
)
def test_outlines_that_are_left_to_the_parser(text: str) -> None:
    outline, predicates = cut(lift(text)[0])
    forms = PredicateForms(DEFAULT_POLICY)
    read = read_outline(outline, max_depth=64, max_xors=16)
    assert read is None or None in [forms.form(predicate.replace(SEPARATOR, "1")) for predicate in predicates]


def test_every_literal_in_an_outline() -> None:
    pick = random.Random(1)
    texts = [f"{'(' * (n % 25)}a = {pick.choice(LITERALS)} OR b > {n}{')' * (n % 25)}" for n in range(500)]
    assert_same_as_one_by_one(texts)
