"""The process of the sweep: evaluates one expression of plain Spark over one row of extreme values, while it plans."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql import SparkSession

from tests.hostile.child import answer_questions

# What the row holds, by the column's name; n is its size in characters, about.
COLUMNS = {
    "s_a": "repeat('a', {n})",
    "s_words": "array_join(transform(sequence(1, CAST({n} div 6 AS INT)), x -> concat('w', x)), ' ')",
    "s_wide": "repeat('é😀', CAST({n} div 2 AS INT))",
    "s_digits": "repeat('9', {n})",
    "s_small": "concat('0.', repeat('0', {n}), '1')",
    "s_percent": "repeat('%s', CAST({n} div 2 AS INT))",
    "s_spaces": "repeat(' ', {n})",
    "s_commas": "repeat(',', {n})",
    "s_quotes": "repeat('\"', {n})",
    "s_json": "concat(repeat('[', 900), repeat('1,', CAST({n} div 2 AS INT)), '1', repeat(']', 900))",
    "s_object": "concat('{{', array_join(transform(sequence(1, CAST({n} div 10 AS INT)), x -> concat('\"k', x, '\":', x)), ','), '}}')",
    "s_xml": "concat('<r>', repeat('<a><b>1</b></a>', CAST({n} div 15 AS INT)), '</r>')",
    "s_deep": "concat(repeat('<a>', CAST({n} div 7 AS INT)), repeat('</a>', CAST({n} div 7 AS INT)))",
    "s_url": "concat('http://a/b?', repeat('k=v&', CAST({n} div 4 AS INT)))",
    "s_zero": "''",
    "s_tiny": "'1E-500000000'",
    "s_huge": "'1E500000000'",
    "s_null": "CAST(NULL AS STRING)",
    "b": "CAST(repeat('a', {n}) AS BINARY)",
    "a_int": "sequence(1, CAST({n} div 8 AS INT))",
    "a_same": "array_repeat(7, CAST({n} div 8 AS INT))",
    "a_text": "transform(sequence(1, CAST({n} div 8 AS INT)), x -> concat('w', x))",
    "a_arrays": "transform(sequence(1, CAST({n} div 8 AS INT)), x -> array(x, x + 1))",
    "a_nan": "array_repeat(double('NaN'), CAST({n} div 8 AS INT))",
    "m": "map_from_arrays(sequence(1, CAST({n} div 8 AS INT)), sequence(1, CAST({n} div 8 AS INT)))",
    "m_text": "map_from_arrays(transform(sequence(1, CAST({n} div 8 AS INT)), x -> concat('w', x)), sequence(1, CAST({n} div 8 AS INT)))",
    "v": "parse_json(concat('[', repeat('1,', CAST({n} div 2 AS INT)), '1]'))",
    "d": "DATE'2024-02-29'",
    "t": "TIMESTAMP'2024-02-29 01:02:03.456'",
}


def main() -> None:
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.ansi.enabled", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.codegen.wholeStage", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    session, jvm = spark._jsparkSession, spark._jvm
    assert jvm is not None
    made: set[int] = set()

    def view(n: int) -> str:
        """A table of one row that the optimizer evaluates itself, so that no job is needed."""
        name = f"extreme_{n}"
        if n not in made:
            row = spark.sql(
                f"SELECT {', '.join(f'{sql.format(n=n)} AS {c}' for c, sql in COLUMNS.items())} FROM VALUES (1)"
            )
            plan = row._jdf.queryExecution().optimizedPlan()
            jvm.org.apache.spark.sql.classic.Dataset.ofRows(session, plan).createOrReplaceTempView(name)
            made.add(n)
        return name

    def answer(question: dict[str, Any]) -> dict[str, Any]:
        try:
            table = view(question["n"])
            value = spark.sql(f"SELECT {question['sql']} AS x FROM {table}")
            start = time.perf_counter()
            value._jdf.queryExecution().optimizedPlan()
            seconds = time.perf_counter() - start
            size = spark.sql(
                f"SELECT octet_length(CAST(x AS STRING)) FROM (SELECT {question['sql']} AS x FROM {table})"
            )
            (length,) = size.collect()[0]
            return {"seconds": seconds, "bytes": length or 0}
        except Exception as error:
            return {"error": str(error)[:300]}

    def functions(question: dict[str, Any]) -> dict[str, Any]:
        if "name" in question:
            info = (
                session.sessionState()
                .catalog()
                .lookupFunctionInfo(jvm.org.apache.spark.sql.catalyst.FunctionIdentifier(question["name"]))
            )
            return {"examples": info.getExamples(), "class": info.getClassName()}
        return answer(question)

    answer_questions(functions, jvm.java.lang.ProcessHandle.current().pid())


if __name__ == "__main__":
    main()
