"""Rules with networks match the addresses that Python's `ipaddress` finds in them, as `cidr_contains` in WHERE does."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

import sparkrules
from tests.spark.oracle import differences, pairs_by_plugin, pairs_by_python, pairs_by_where, rule_set
from tests.sql.address_texts import ODD, is_within, random_network, random_text

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_all_engines_agree_with_ipaddress(spark: SparkSession) -> None:
    chance = random.Random(8)
    networks = [random_network(chance) for _ in range(60)]
    texts = [*(random_text(chance.choice(networks), chance) for _ in range(250)), *ODD, None]
    rules = {}
    for number, network in enumerate(networks):
        rules[f"in {number}"] = f"cidr_contains('{network}', ip)"
        rules[f"out {number}"] = f"NOT cidr_contains('{network}', addr.ip)"
    rows = [(row, text, (text,)) for row, text in enumerate(texts)]
    df = spark.createDataFrame(rows, "row INT, ip STRING, addr STRUCT<ip: STRING>")
    truth = {
        (row, f"in {number}" if is_within(text, network) else f"out {number}")
        for row, text in enumerate(texts)
        if text is not None
        for number, network in enumerate(networks)
    }
    assert sum(id.startswith("in") for _, id in truth) > 500
    assert differences(pairs_by_where(df, rules), truth, rules) == []
    made = rule_set("networks", rules)
    assert differences(pairs_by_plugin(df, made), truth, rules) == []
    assert differences(pairs_by_python(df, made), truth, rules) == []


def test_other_types_and_places(spark: SparkSession) -> None:
    rows = [(0, "10.1.2.3", "FE80::1", 5), (1, "::1", "fe80::2", 10), (2, None, None, None), (3, "192.168.7.9", "x", 0)]
    df = spark.createDataFrame(rows, "row INT, ip STRING, c STRING COLLATE UTF8_LCASE, i INT")
    rules = dict(
        enumerate(
            [
                "cidr_contains('fe80::/10', c)",
                "cidr_contains('10.0.0.0/8', i)",
                "cidr_contains('10.0.0.0/8', concat('10.0.0.', i))",
                "cidr_contains(concat('192.168.0', '.0/16'), ip) OR NOT cidr_contains('::/128', ip)",
                "coalesce(cidr_contains('10.0.0.0/8', ip), i IS NULL)",
                "cidr_contains(NULL, ip) IS NULL AND i > 1",
                "cidr_contains('10.0.0.0/8', ip) IS NULL",
                "cidr_contains(concat(ip, '/24'), ip)",
                "cidr_contains(ip, ip)",
                "cidr_contains('10.0.0.0/8', '10.0.0.1')",
                "lower(c) = 'fe80::2' AND cidr_contains('::1', ip)",
            ]
        )
    )
    named = {f"r{number}": text for number, text in rules.items()}
    truth = pairs_by_where(df, named)
    assert differences(pairs_by_plugin(df, rule_set("places", named)), truth, named) == []
    assert {id for _, id in truth} == {f"r{number}" for number in (0, 2, 3, 4, 5, 6, 8, 9, 10)}


def test_thousands_of_networks_are_one_look_up(spark: SparkSession) -> None:
    rules = rule_set(
        "many", {f"{a}.{b}": f"cidr_contains('10.{a}.{b}.0/24', ip)" for a in range(20) for b in range(100)}
    )
    df = spark.createDataFrame([("10.7.33.200",), ("10.250.1.1",), ("x",)], "ip STRING")
    assert [row.matches.ids for row in sparkrules.match(df, rules).collect()] == [["7.33"], [], []]
    (slot,) = sparkrules.match(df, rules).selectExpr("inline(subscription_ranges('many', ip))").limit(1).collect()
    assert "ip" in slot.attribute
    assert rules.analyze(df).rows == 3


def test_a_constant_that_is_no_network_is_an_error_in_sql(spark: SparkSession) -> None:
    with pytest.raises(PySparkException, match=r"'10\.0\.0\.1/8' is not a network such as"):
        spark.sql("SELECT cidr_contains('10.0.0.1/8', '10.0.0.1')")
    with pytest.raises(PySparkException, match="takes two arguments"):
        spark.sql("SELECT cidr_contains('10.0.0.0/8')")
