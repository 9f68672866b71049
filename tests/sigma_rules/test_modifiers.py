"""Sigma's values and modifiers match what the specification says, and so do their negations, with and without NULL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.sigma_rules.evaluator import is_match
from tests.sigma_rules.files import rule, subscribed, written
from tests.spark.oracle import differences, pairs_by_plugin, pairs_by_where

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TEXTS = [
    *(
        None,
        "",
        "abc",
        "ABC",
        "a*c",
        "axc",
        "aXXc",
        "xabcx",
        "ab",
        "bc",
        "a%c",
        "a_c",
        "a\\c",
        "a\\*c",
        "\\\\host\\abc",
    ),
    *(
        "it's",
        'say "abc"',
        "${env:abc}",
        "line\nabc",
        "abc\nline",
        "\N{LATIN CAPITAL LETTER E WITH ACUTE}t\xe9",
        "true",
    ),
    *("cmd /c -f", "cmd -c /f", "cmd \N{EN DASH}c \N{EM DASH}f", "[abc]", "a{b}", "a&&c", "\U0001f600c"),
    *("4688", "4688.0", "04688", "4688.5", "-", "-3", " 12", "1e3"),
    *("10.1.2.3", "10.1.2.3.evil", "10.1", "11.0.0.1", "192.168.7.9", "192.168.8.1", "::1", "0:0:0:0:0:0:0:1", "::2"),
    *("fe80::1", "FEBF:0::a1", "fec0::1", "::ffff:10.1.2.3", "::FFFF:0A01:203", "fe80::1%eth0", "1::2::3"),
    *("Y21kLmV4ZQ==", "AGNtZC5leGUA", "xxxxY21kLmV4Zxxx", "YwBtAGQA", "y21klMv4zq"),
]
EVENTS: list[dict[str, Any]] = [
    {"F": text, "G": TEXTS[number - 1] if number % 3 else (text and text.upper()), "N": number or None}
    for number, text in enumerate(TEXTS)
]
ITEMS: list[tuple[str, Any]] = [
    *((f"F{end}", "abc") for end in ("", "|contains", "|startswith", "|endswith", "|cased", "|contains|cased")),
    *(
        ("F", text)
        for text in ("", "*", "**", "?", "???", "a*c", "a?c", "a\\*c", "a\\\\*c", "a\\c", "*b*c*", "a%c", "a_c")
    ),
    *(("F|contains", text) for text in ("", "_", "%", "\\", "'", '"', "$", "${env", "\n", "?", "b?", "\xc9T", "c a*e")),
    *(("F|endswith", text) for text in ("\\abc", "\\\\host\\abc", "*", "\U0001f600?", "\xe9")),
    *(("F|cased", text) for text in ("ABC", "A*", "a?c")),
    *(("F", value) for value in (None, 4688, 4688.5, -3, True, False, "4688", ["abc", None], ["4688", 12])),
    *(("N", value) for value in (None, 7, 7.5, "7", [3, 4], "1*")),
    *((f"{field}|{name}", 12) for field in "FN" for name in ("lt", "lte", "gt", "gte", "neq")),
    ("F|contains|neq", ["a", "-"]),
    ("F|contains|all", ["a", "c", "b"]),
    ("F|contains|all", ["-", "c"]),
    ("F|exists", True),
    ("F|exists", False),
    ("F|fieldref", "G"),
    *(
        (f"F|re{flags}", text)
        for text in ("ABC", "^abc$", "a.c", "a[&[]", "a{b", "line.abc")
        for flags in ("", "|i", "|m", "|s")
    ),
    ("F|re", r"^(?P<first_part>a)\W+c|[]x]abc"),
    ("F|re|i|s", "LINE.*c"),
    *(("F|cidr", text) for text in ("10.0.0.0/8", "192.168.0.0/21", "::1/128", "fe80::/10", "::ffff:0:0/96", "::/0")),
    ("F|cidr", ["10.0.0.0/9", "::1/128", "0.0.0.0/4"]),
    ("F|contains|windash", " -c"),
    ("F|windash|contains|all", [" -c", " -f"]),
    ("F|base64", "cmd.exe"),
    ("F|base64offset|contains", "cmd.exe"),
    ("F|wide|base64offset|contains", "cmd"),
]


def test_items_match_as_the_specification_says(spark: SparkSession, tmp_path: Path) -> None:
    documents, truth = [], set()
    for number, (item, value) in enumerate(ITEMS):
        documents.append(rule(f"{number}", {item: value}))
        documents.append(rule(f"not {number}", {item: value}, "not selection"))
        # Several fields, so that no NULL makes the whole unknown.
        documents.append(rule(f"neither {number}", [{item: value}, {"N": 5, "G": "abc"}], "not selection"))
        for row, event in enumerate(EVENTS):
            found = is_match(event, item, value)
            other = is_match(event, "N", 5) and is_match(event, "G", "abc")
            truth |= {(row, f"{number}" if found else f"not {number}")}
            truth |= set() if found or other else {(row, f"neither {number}")}
    rules = subscribed(written(tmp_path, *documents))
    assert rules.rejected == []
    texts = {id: f"{ITEMS[int(id.split()[-1])]}: {own.where}" for id, own in rules.subscriptions.items()}
    rows = [(row, event["F"], event["G"], event["N"]) for row, event in enumerate(EVENTS)]
    events = spark.createDataFrame(rows, "row INT, F STRING, G STRING, N BIGINT").coalesce(1).localCheckpoint()
    assert len(truth) > 10 * len(ITEMS)
    assert differences(pairs_by_plugin(events, rules), truth, texts) == []
    spoken = {id: own.where for id, own in list(rules.subscriptions.items())[::7]}
    by_where = pairs_by_where(events, spoken)
    assert differences(by_where, {pair for pair in truth if pair[1] in spoken}, texts) == []
