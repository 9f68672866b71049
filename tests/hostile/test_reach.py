"""No rule reaches outside its row: not when parsed, planned or run, even if Python never checked it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

import sparkrules
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.sql import Policy, Predicate, RuleError, parse_rule
from sparkrules.sql.options import OPTIONS
from sparkrules.store import Store
from tests.hostile.reach import Trap, laid, reach
from tests.spark.oracle import settings
from tests.specification.publish_tables import publish_tables

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux tells who opens a file")

COLUMNS = "a INT, s STRING, x STRING, doctype STRING, b BINARY, ts TIMESTAMP"
# Every option that Spark 4.0 to 4.3 has for these formats, and two that it has not.
KNOWN_OPTIONS = [
    "allowBackslashEscapingAnyCharacter",
    "allowComments",
    "allowNonNumericNumbers",
    "allowNumericLeadingZeros",
    "allowSingleQuotes",
    "allowUnquotedControlChars",
    "allowUnquotedFieldNames",
    "arrayElementName",
    "attributePrefix",
    "avroSchema",
    "avroSchemaUrl",
    "charToEscapeQuoteEscaping",
    "charset",
    "codec",
    "columnNameOfCorruptRecord",
    "columnPruning",
    "comment",
    "compression",
    "dateFormat",
    "declaration",
    "delimiter",
    "dropFieldIfAllNull",
    "emptyValue",
    "enableDateTimeParsingFallback",
    "encoding",
    "enforceSchema",
    "escape",
    "escapeQuotes",
    "excludeAttribute",
    "explodeEmbeddedArray",
    "extension",
    "header",
    "ignoreLeadingWhiteSpace",
    "ignoreNamespace",
    "ignoreNullFields",
    "ignoreSurroundingSpaces",
    "ignoreTrailingWhiteSpace",
    "indent",
    "inferSchema",
    "inferTimestamp",
    "inputBufferSize",
    "lineSep",
    "locale",
    "maxCharsPerColumn",
    "maxColumns",
    "mode",
    "multiLine",
    "nanValue",
    "negativeInf",
    "nullValue",
    "path",
    "pathGlobFilter",
    "positiveInf",
    "preferDate",
    "prefersDecimal",
    "pretty",
    "primitivesAsString",
    "quote",
    "quoteAll",
    "recursiveFileLookup",
    "rootTag",
    "rowTag",
    "rowValidationXSDPath",
    "samplingRatio",
    "schemaLocation",
    "sep",
    "singleVariantColumn",
    "sortKeys",
    "timeFormat",
    "timeZone",
    "timestampFormat",
    "timestampNTZFormat",
    "unescapedQuoteHandling",
    "useLegacyXMLParser",
    "useUnsafeRow",
    "validateName",
    "valueTag",
    "wildcardColName",
    "writeNonAsciiCharacterAsCodePoint",
]


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Trap]:
    with Trap(tmp_path) as made:
        yield made


def table(spark: SparkSession, trap: Trap) -> None:
    document = f'<!DOCTYPE a SYSTEM "{trap.url}/x.dtd"><a>1</a>'
    rows = [(1, "s", "<r>1</r>", document, bytearray(document.encode()), None)]
    spark.createDataFrame(rows, COLUMNS).createOrReplaceTempView("reach")


def publish_past_the_front(spark: SparkSession, name: str, texts: list[str]) -> None:
    """Rules that no parser has seen, and an innocent one among them."""
    rules = [Rule(text, text, Predicate(text, "is true")) for text in dict.fromkeys(texts)]
    rules.append(Rule("innocent", "a = 1", parse_rule("a = 1")))
    publish_tables(Store(spark.conf.get("spark.sparkrules.store")), name, to_tables(build_segment(rules)))


def test_the_trap_is_sprung_by_plain_spark(spark: SparkSession, trap: Trap) -> None:
    table(spark, trap)
    assert trap.sprung() == []
    for call, sign in {
        f"from_xml(x, 'a INT', map('rowValidationXSDPath', '{trap.url}/x.xsd'))": "/x.xsd",
        f"from_xml(x, 'a INT', map('rowValidationXSDPath', '{trap.canary}'))": "opened",
        "xpath_string(doctype, 'a')": "/x.dtd",
    }.items():
        with contextlib.suppress(PySparkException, Py4JJavaError):
            spark.sql(f"SELECT {call} FROM reach").collect()
        assert any(sign in found for found in trap.sprung()), call


def test_no_rule_reaches_out(spark: SparkSession, trap: Trap) -> None:
    table(spark, trap)
    texts = [laid(pattern, trap.url, trap.canary) for pattern in reach()]
    assert len(set(texts)) > 300
    for text in texts:
        with contextlib.suppress(RuleError):
            parse_rule(text, policy=Policy(extra_functions={"xpath_string", "xpath"}))
    query = "SELECT match_subscriptions('reach', *).ids AS ids FROM reach"
    publish_past_the_front(spark, "reach", texts)
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        spark.sql(f"EXPLAIN {query}").collect()
        assert trap.sprung() == [], "while it was planned"
        assert "innocent" in spark.sql(query).head().ids
    assert trap.sprung() == []


def test_what_python_accepts_reaches_nothing_either(spark: SparkSession, trap: Trap) -> None:
    table(spark, trap)
    rules = sparkrules.RuleSet("front", policy=Policy(extra_functions={"xpath_string", "xpath", "xpath_int"}))
    rules.subscribe_all({f"r{i}": laid(pattern, trap.url, trap.canary) for i, pattern in enumerate(reach())})
    rules.subscribe("innocent", "a = 1")
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        matched = sparkrules.match(spark.table("reach"), rules)
        matched.explain()
        assert "innocent" in matched.head().matches.ids
    assert trap.sprung() == []


def test_documents_without_a_type_are_read(spark: SparkSession, trap: Trap) -> None:
    table(spark, trap)
    rules = sparkrules.RuleSet("documents", policy=Policy(extra_functions={"xpath_string", "xpath_int"}))
    rules.subscribe_all(
        {
            "column": "xpath_string(x, 'r') = '1'",
            "constant": "xpath_int('<a><b>1</b></a>', 'a/b') = a",
            "type": "xpath_string(doctype, 'a') = '1' OR xpath_string(doctype, 'a') IS NULL",
        }
    )
    assert rules.rejected == []
    assert sparkrules.match(spark.table("reach"), rules).head().matches.ids == ["column", "constant"]
    assert trap.sprung() == []


FUNCTIONS = {
    "from_json": "from_json(s, 'a INT', {})",
    "schema_of_json": "schema_of_json('1', {})",
    "to_json": "to_json(struct(a), {})",
    "from_csv": "from_csv(s, 'a INT', {})",
    "schema_of_csv": "schema_of_csv('1', {})",
    "to_csv": "to_csv(struct(a), {})",
    "from_xml": "from_xml(x, 'a INT', {})",
    "schema_of_xml": "schema_of_xml('<r>1</r>', {})",
    "to_xml": "to_xml(struct(a), {})",
}


def test_python_and_the_plugin_agree_on_every_option(spark: SparkSession, trap: Trap) -> None:
    """Both allow each option of each function, or both reject it."""
    table(spark, trap)
    calls = {
        f"{function} {key}": (function, key, call.format(f"map('{key}', '1')"))
        for function, call in FUNCTIONS.items()
        for key in KNOWN_OPTIONS
    }
    by_python = {name for name, (function, key, _) in calls.items() if key.lower() in OPTIONS[function][1]}
    for name, (_, _, call) in calls.items():
        if name in by_python:
            parse_rule(f"{call} IS NULL")
        else:
            with pytest.raises(RuleError, match="not allowed"):
                parse_rule(f"{call} IS NULL")
    reasons = {}
    for name, (_, _, call) in calls.items():
        if name not in by_python:
            reasons[name] = call
    publish_past_the_front(spark, "options", [f"{call} IS NULL" for call in reasons.values()])
    with settings(spark, spark_sparkrules_invalidRules="skip"):
        plan = spark.sql("SELECT match_subscriptions('options', *).ids AS ids FROM reach")
        assert plan.head().ids == ["innocent"]
        assert ", 1 rule]" in plan._jdf.queryExecution().executedPlan().toString()
    # The other way round: the plugin must not refuse what Python has let through, though Spark may dislike the value.
    accepted = [f"({calls[name][2]} IS NULL) = (a = 1)" for name in sorted(by_python)]
    publish_past_the_front(spark, "options", accepted)
    said = ""
    try:
        spark.sql("SELECT match_subscriptions('options', *).ids AS ids FROM reach").collect()
    except PySparkException as error:
        said = str(error)
    assert "not allowed in a rule" not in said
