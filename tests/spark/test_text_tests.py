"""String predicates, hundreds of them over one column: each is true for the strings that WHERE keeps.

Patterns and strings are generated from a small alphabet, so that they often match. It includes characters that are
special in patterns or come in several kinds: cases outside ASCII, line terminators, surrogate pairs, invalid UTF-8.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from tests.spark.oracle import compared, settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = 20240501
LETTERS = ["a", "b", "A", "B", "ab"]
# The Kelvin sign, the long s, the dotless and the dotted i are k, s and i to those who ignore the case of all letters.
OTHERS = [
    *("k", "K", "\u212a", "s", "ſ", "i", "ı", "İ", "é", "É", "ß", "ẞ", "σ", "ς", "😀", "𐐀", "𐐨", "\ufffd"),
    *("\n", "\r", "\r\n", "\u0085", "\u2028", "\x00", " ", "%", "_", "\\", ".", "*", "(", "|", "$", "^", "-", "1"),
]
NOT_UTF8 = [b"\xc3", b"\xe2\x82", b"\xa9", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xff", b"\xef\xbf"]
SETS = [
    *(
        ".",
        ".*",
        "[ab]",
        "[^a]",
        "[a-k]",
        "[.]",
        "\\s",
        "\\w",
        "\\d",
        "\\n",
        "\\p{L}",
        "[\\w.]",
        "\\W",
        "\\S",
        "\\h",
        "\\v",
    ),
    *("[a-z&&[^b]]", "[[a][b]]", "\\x41", "\\u0061", "\\P{Lu}", "[ki]", "\\R"),
]
PLACES = [
    *("^", "$", "\\b", "\\B", "\\A", "\\z", "\\Z", "(?i)", "(?m)", "(?s)", "(?-i)", "\\Qa.\\E"),
    *("(?=a)", "(?!a)", "(?<=b)", "(?>a*)", "(a)\\1"),
]
QUANTIFIERS = ["", "", "", "", "*", "+", "?", "{2}", "{0,2}", "+?", "*+", "*?", "??", "{1,3}", "{2,}", "{0}"]


def text(rand: random.Random, longest: int) -> str:
    return "".join(rand.choice(LETTERS if rand.random() < 0.6 else OTHERS) for _ in range(rand.randint(0, longest)))


def sql(value: str) -> str:
    """A literal of SQL that has exactly these characters."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def like(rand: random.Random, escape: str = "\\") -> str:
    pieces = ["%", "%", "_", f"{escape}%", f"{escape}_", escape * 2]
    plain = [p for p in LETTERS + OTHERS if p not in ("%", "_") and escape not in p]
    return "".join(rand.choice(pieces if rand.random() < 0.4 else plain) for _ in range(rand.randint(0, 6)))


def escaped(value: str) -> str:
    return "".join("\\" + c if c in "\\.*(|$^-+?[]{}" else c for c in value)


def words(rand: random.Random) -> str:
    return "|".join(escaped(text(rand, 4)) or "ab" for _ in range(rand.randint(1, 5)))


def regex(rand: random.Random, depth: int = 2) -> str:
    if depth == 2 and rand.random() < 0.4:
        start = rand.choice(["", "(?i)", "(?i).*", "(?iu).*", "(?iu)", "(?s)^.*", "^", ".*"])
        return f"{start}({words(rand)}){rand.choice(['', '.*', '$', '.*$', ' ?b'])}"
    flags = rand.choice(["", "", "(?i)", "(?s)", "(?im)", "(?iu)"]) if depth == 2 else ""
    return flags + "|".join(_sequence(rand, depth) for _ in range(rand.choice([1, 1, 2, 3])))


def _sequence(rand: random.Random, depth: int) -> str:
    return "".join(_atom(rand, depth) for _ in range(rand.randint(1, 4)))


def _atom(rand: random.Random, depth: int) -> str:
    kind = rand.random()
    if kind < 0.55 or depth == 0:
        atom = escaped(rand.choice(LETTERS if rand.random() < 0.7 else OTHERS))
    elif kind < 0.75:
        atom = rand.choice(SETS)
    elif kind < 0.85:
        return rand.choice(PLACES)
    else:
        atom = rand.choice(["({})", "(?:{})", "(?i:{})"]).replace("{}", regex(rand, depth - 1))
    if atom == ".*" or (len(atom) > 2 and not atom.startswith(("(", "["))):
        return atom
    return atom + rand.choice(QUANTIFIERS)


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    rand = random.Random(SEED)
    values = {"", *LETTERS, *OTHERS, *(text(rand, 12) for _ in range(250))}
    rows = [value.encode() for value in sorted(values)]
    rows += NOT_UTF8
    for _ in range(100):
        pieces = [text(rand, 3).encode(), rand.choice(NOT_UTF8), text(rand, 3).encode(), rand.choice(NOT_UTF8), b""]
        rows.append(b"".join(rand.sample(pieces, rand.randint(1, 5))))
    numbered = list(enumerate([None, *map(bytearray, rows)]))
    return (
        spark.createDataFrame(numbered, "row INT, bytes BINARY")
        .selectExpr("row", "CAST(bytes AS STRING) AS s", "row % 3 AS a")
        .coalesce(1)
        .localCheckpoint()
    )


def same(df: DataFrame, texts: list[str]) -> None:
    """Each of these tests, some negated, some next to another condition."""
    forms = ["{}", "{}", "NOT ({})", "({}) AND a = 1", "a = 0 OR NOT ({})"]
    rules = {f"{i}": forms[i % len(forms)].replace("{}", t) for i, t in enumerate(dict.fromkeys(texts))}
    # In a query Spark would put a variable in the place of `${2}`; in a rule it does not.
    with settings(df.sparkSession, spark_sql_variable_substitute="false"):
        assert compared(df, rules, "texts") == []


def attribute(rand: random.Random) -> str:
    return rand.choice(["s", "s", "s", "lower(s)", "upper(s)"])


def test_contains_startswith_and_endswith(df: DataFrame) -> None:
    rand = random.Random(SEED + 1)
    names = ("contains", "startswith", "endswith")
    same(df, [f"{rand.choice(names)}({attribute(rand)}, {sql(text(rand, 3))})" for _ in range(240)])


def test_like_and_ilike(df: DataFrame) -> None:
    rand = random.Random(SEED + 2)
    operators = ("LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE")
    tests = [f"{attribute(rand)} {rand.choice(operators)} {sql(like(rand))}" for _ in range(240)]
    escapes = [rand.choice("!/ab") for _ in range(60)]
    tests += [f"s {rand.choice(operators[:2])} {sql(like(rand, c))} ESCAPE '{c}'" for c in escapes]
    same(df, tests)


def test_like_any_and_all(df: DataFrame) -> None:
    rand = random.Random(SEED + 3)
    forms = ("s LIKE ANY", "s LIKE ALL", "NOT s LIKE ANY")
    lists = [", ".join(sql(like(rand)) for _ in range(rand.randint(1, 4))) for _ in range(60)]
    same(df, [f"{rand.choice(forms)} ({patterns})" for patterns in lists])


def test_rlike(df: DataFrame) -> None:
    rand = random.Random(SEED + 4)
    operators = ("RLIKE", "RLIKE", "NOT RLIKE")
    same(df, [f"{attribute(rand)} {rand.choice(operators)} {sql(regex(rand))}" for _ in range(600)])


def test_texts_that_overlap(df: DataFrame) -> None:
    """Every string of up to four letters, found wherever it occurs, also inside another."""
    texts = ["".join(letters) for length in range(5) for letters in itertools.product("abA", repeat=length)]
    same(df, [test for t in texts for test in (f"contains(s, '{t}')", f"s RLIKE '(?i){t}'")])


def test_tests_of_one_text_in_one_rule(df: DataFrame) -> None:
    rand = random.Random(SEED + 5)
    makers = (
        lambda: f"s LIKE {sql(like(rand))}",
        lambda: f"s NOT LIKE {sql(like(rand))}",
        lambda: f"s RLIKE {sql(regex(rand))}",
        lambda: f"contains(s, {sql(text(rand, 3))})",
        lambda: f"startswith(lower(s), {sql(text(rand, 2))})",
    )
    same(df, [rand.choice([" AND ", " OR "]).join(rand.choice(makers)() for _ in range(3)) for _ in range(120)])
