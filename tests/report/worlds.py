"""Rules and rows that the report tests share: small enough to inspect, and as nasty as real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sparkrules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RULES = {
    "hot": "temperature > 30 AND NOT indoors",
    "hot here": "temperature > 30 AND city = 'Rome' AND NOT indoors",
    "hot there": "temperature > 30 AND city = 'Oslo'",
    "frost": "temperature < 0",
    "silent": "temperature IS NULL",
    "err": "status LIKE 'err%' OR temperature NOT BETWEEN -40 AND 60",
    "never": "temperature > 1000",
    "impossible": "temperature > 30 AND temperature < 10",
}
REJECTED = {"broken": "temperature >> 5 AND AND city = 'x'", "cut": "temperature >"}

SCRIPT = "<script>window.hacked = 1</script>"
HOSTILE = {
    SCRIPT: "city = '</script><script>window.hacked = 2</script>'",
    "</script><img src=x onerror='window.hacked = 3'>": "city = '<!--<script>' AND temperature > 30",
    "{{facts}} & \"quoted\" 'id'": "temperature > 30 AND city = '{{catalogue}}'",
    "\u2028\x07 datum.x [0] ${1}": "temperature > 30 OR city = '`${alert(1)}`'",
    "ÄÖ 漢字 😀": "temperature > 30 AND city = '😀'",
}
HOSTILE_REJECTED = {"<b onmouseover=alert(1)>bad": "city = <script>alert(1)</script>"}


def readings(spark: SparkSession) -> DataFrame:
    """200 readings over three days, some without a temperature and some without a time."""
    return spark.range(200).selectExpr(
        "CAST(id AS INT) AS id",
        "IF(id % 17 = 0, NULL, CAST(id % 60 - 12 AS DOUBLE)) AS temperature",
        "id % 3 = 0 AS indoors",
        "element_at(array('Rome', 'Oslo', 'Bern', 'Rome'), CAST(id % 4 + 1 AS INT)) AS city",
        "IF(id % 25 = 0, 'error 7', 'ok') AS status",
        "IF(id % 50 = 1, NULL, TIMESTAMP '2024-05-01 00:30:00' + make_interval(0, 0, 0, 0, 0, 20 * id)) AS at",
    )


def alerts(name: str = "alerts") -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet(name)
    rules.subscribe_all({**RULES, **REJECTED})
    return rules


def hostile() -> sparkrules.RuleSet:
    rules = sparkrules.RuleSet("hostile")
    rules.subscribe_all({**HOSTILE, **HOSTILE_REJECTED})
    return rules


def wordy(name: str = "wordy") -> sparkrules.RuleSet:
    """Rules with the names that people like to give them, of which fifty match every row."""
    names = (
        "Suspicious reading of a sensor in the cellar",
        "rack_temperature.above-threshold/alerting:team_facilities",
    )
    rules = sparkrules.RuleSet(name)
    rules.subscribe_all(
        {
            f"{names[n % 2]} ({n})": f"city IS NOT NULL AND temperature > {n - 80} AND city <> 'Atlantis ({n})'"
            for n in range(50)
        }
    )
    for n, by in enumerate((["city"], ["city", "status"], ["status", "city", "indoors", "temperature"])):
        rules.count(f"{names[n % 2]}, again and again ({n})", f"{names[0]} (0)", by=by, within="1 day", at_least=n + 1)
    rules.subscribe_all({"broken": "temperature >", "rare": "temperature > 40 AND status LIKE 'error in the cellar%'"})
    return rules


def patterned(name: str = "patterned") -> sparkrules.RuleSet:
    """The alerts, with a pattern of each kind, one that is never found, and one with the names of a nasty user."""
    rules = sparkrules.RuleSet(name)
    rules.subscribe_all(RULES)
    rules.sequence("frost after heat", ["hot", "frost"], by=["city"], within="1 day")
    rules.together("odd", ["err", "silent"], by=["city", "indoors"], within="6 hours", overlapping=True)
    rules.count("heat wave", "hot there", within="12 hours", at_least=3)
    rules.absence("no frost", after="hot here", without="frost", by="city", within="2 hours", suppress="1 day")
    rules.subscribe("warm", "temperature > 20", on_change=["city"])
    rules.count(SCRIPT, {"where": "city <> '</script>'"}, by=["city", "status"], within="1 hour", at_least=1)
    rules.sequence("unheard of", ["never", "hot"], by=["city"], within="1 day")
    return rules
