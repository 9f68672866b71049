"""The process of the sweep: evaluates one plain Spark expression over one row of extreme values, at planning time."""

from __future__ import annotations

import time
from typing import Any

from pyspark.sql import SparkSession

from tests.hostile.child import answer_questions, claimed_answers

# What the row holds, by the column's name; {n} is its size in characters, about, {n2} half of it.
COLUMNS = {
    "s_a": "repeat('a', {n})",
    "s_words": "array_join(transform(sequence(1, {n6}), x -> concat('w', x)), ' ')",
    "s_wide": "repeat('é😀', {n2})",
    "s_digits": "repeat('9', {n})",
    "s_small": "concat('0.', repeat('0', {n}), '1')",
    "s_percent": "repeat('%s', {n2})",
    "s_spaces": "repeat(' ', {n})",
    "s_commas": "repeat(',', {n})",
    "s_quotes": "repeat('\"', {n})",
    "s_json": "concat(repeat('[', 900), repeat('1,', {n2}), '1', repeat(']', 900))",
    "s_object": "concat('{{', array_join(transform(sequence(1, {n10}), x -> concat('\"k', x, '\":', x)), ','), '}}')",
    "s_xml": "concat('<r>', repeat('<a><b>1</b></a>', {n15}), '</r>')",
    "s_deep": "concat(repeat('<a>', {n7}), repeat('</a>', {n7}))",
    "s_url": "concat('http://a/b?', repeat('k=v&', {n4}))",
    "s_zero": "''",
    "s_tiny": "'1E-500000000'",
    "s_huge": "'1E500000000'",
    "s_null": "CAST(NULL AS STRING)",
    "b": "CAST(repeat('a', {n}) AS BINARY)",
    "a_int": "sequence(1, {n8})",
    "a_same": "array_repeat(7, {n8})",
    "a_text": "transform(sequence(1, {n8}), x -> concat('w', x))",
    "a_arrays": "transform(sequence(1, {n8}), x -> array(x, x + 1))",
    "a_nan": "array_repeat(double('NaN'), {n8})",
    "m": "map_from_arrays(sequence(1, {n8}), sequence(1, {n8}))",
    "m_text": "map_from_arrays(transform(sequence(1, {n8}), x -> concat('w', x)), sequence(1, {n8}))",
    "v": "parse_json(concat('[', repeat('1,', {n2}), '1]'))",
    "d": "DATE'2024-02-29'",
    "t": "TIMESTAMP'2024-02-29 01:02:03.456'",
}


def main() -> None:
    answers = claimed_answers()
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
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
            sizes = {"n": n} | {f"n{part}": n // part for part in (2, 4, 6, 7, 8, 10, 15)}
            row = spark.sql(
                f"SELECT {', '.join(f'{sql.format(**sizes)} AS {c}' for c, sql in COLUMNS.items())} FROM VALUES (1)"
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

    answer_questions(functions, jvm.java.lang.ProcessHandle.current().pid(), answers)


if __name__ == "__main__":
    main()
