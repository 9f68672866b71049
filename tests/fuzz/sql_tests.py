"""Every condition of Spark's own SQL tests as a rule: `python -m tests.fuzz.sql_tests <spark>/.../sql-tests/inputs`.

The statements of each file run in order. Each query provides the conditions of its WHERE and HAVING and the Boolean
expressions that it selects, each with the rows that it applies to. They become rules over these rows, and the plugin
must agree with WHERE on every pair. The input files belong to Spark and are not part of this repository.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import functions as f

import sparkrules
from tests.fuzz.compare import subscriptions_of, truth_of
from tests.spark.oracle import settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MOST_ROWS = 500


@dataclass
class Report:
    counts: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    different: list[str] = field(default_factory=list)

    def refuse(self, reason: str, text: str) -> None:
        self.counts["refused"] += 1
        general = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\b\d+\b", "_", reason.splitlines()[0])[:110]
        self.refused[general] += 1
        self.examples.setdefault(general, text)

    def __str__(self) -> str:
        lines = [", ".join(f"{count:,} {what}" for what, count in sorted(self.counts.items()))]
        lines += [
            f"  refused {count:4d}: {reason}   e.g. {self.examples[reason][:90]!r}"
            for reason, count in self.refused.most_common(60)
        ]
        return "\n".join([*lines, f"{len(self.different)} differences", *self.different])


@dataclass
class Asked:
    """Conditions that are asked of the same rows."""

    plan: Any
    texts: dict[str, str] = field(default_factory=dict)  # each with another way to write it


def statements(path: Path) -> Iterator[str]:
    """The statements of a file: `--SET` lines as SET statements, other comments left out."""
    text = path.read_text()
    for line in text.splitlines():
        if line.startswith("--IMPORT "):
            # Named from where all the files are.
            root = next((parent for parent in path.parents if parent.name == "inputs"), path.parent)
            yield from statements(root / line.removeprefix("--IMPORT ").strip())
        elif line.startswith("--SET "):
            for pair in re.split(r",(?=[\w.]+\s*=)", line.removeprefix("--SET ").strip()):
                yield f"SET {pair}"
    without = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    pattern = r"(?:'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|[^;'\"`])+"
    for found in re.finditer(pattern, without, re.DOTALL):
        if found[0].strip():
            yield found[0].strip()


def conditions(spark: SparkSession, analyzed: Any) -> Iterator[tuple[Any, Any]]:
    """(condition, the plan of the rows that it is asked of) of every operator in an analysed plan."""
    nodes = [analyzed]
    while nodes:
        node = nodes.pop()
        children = node.children()
        nodes += [children.apply(i) for i in range(children.size())]
        kind = node.nodeName()
        if kind == "Filter":
            yield node.condition(), node.child()
        elif kind == "Project":
            listed = node.projectList()
            for i in range(listed.size()):
                one = listed.apply(i)
                if one.nodeName() == "Alias" and one.child().dataType().simpleString() == "boolean":
                    yield one.child(), node.child()


def _texts(condition: Any) -> tuple[str, str]:
    """As it was written, if that is known, and as Spark writes it, without the names of tables."""
    sql = condition.sql()
    references = condition.references().toSeq()
    for i in range(references.size()):
        one = references.apply(i)
        sql = sql.replace(one.sql(), "`" + one.name().replace("`", "``") + "`")
    origin = condition.origin()
    if origin.sqlText().isDefined() and origin.startIndex().isDefined() and origin.stopIndex().isDefined():
        written = origin.sqlText().get()[origin.startIndex().get() : origin.stopIndex().get() + 1]
        # Of `a IN (1)`, Spark remembers where IN stands.
        if not re.match(r"(NOT\s+)?(IN|BETWEEN|LIKE|ILIKE|RLIKE|IS)\b", written, re.IGNORECASE):
            return written, sql
    return sql, sql


def _is_rule(condition: Any) -> bool:
    return bool(condition.deterministic()) and not re.search(
        r"(scalar|exists|list|lateral)-?subquery|windowexpression|window\w*#|outer\(|aggregate\w*#",
        str(condition).lower(),
    )


class Run:
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.report = Report()
        self.asked: dict[str, Asked] = {}

    def file(self, path: Path) -> None:
        self.asked.clear()
        before = {row.key: row.value for row in self.spark.sql("SET").collect()}
        for statement in statements(path):
            self.report.counts["statements"] += 1
            is_query = re.match(r"\(|SELECT|WITH|VALUES|FROM|TABLE\b", statement, re.IGNORECASE) is not None
            if not is_query:
                self.flush(path)
            try:
                df = self.spark.sql(statement)
                if is_query:
                    self.note(df._jdf.queryExecution().analyzed())
            except (PySparkException, Py4JError):
                self.report.counts["statements that Spark does not accept"] += 1
        self.flush(path)
        self._clean(before)

    def _clean(self, before: dict[str, str]) -> None:
        for row in self.spark.sql("SET").collect():
            if before.get(row.key) != row.value and row.key.startswith("spark.sql."):
                self._try(lambda key=row.key: self.spark.conf.unset(key))
        for key, value in before.items():
            if key.startswith("spark.sql.") and self.spark.conf.get(key, None) != value:
                self._try(lambda key=key, value=value: self.spark.conf.set(key, value))
        self._try(lambda: self.spark.sql("USE spark_catalog.default"))
        for table in self.spark.catalog.listTables():
            kind = "VIEW" if table.tableType in ("VIEW", "TEMPORARY") else "TABLE"
            self._try(lambda kind=kind, name=table.name: self.spark.sql(f"DROP {kind} IF EXISTS `{name}`"))

    @staticmethod
    def _try(action: Any) -> None:
        with suppress(PySparkException, Py4JError):
            action()

    def note(self, analyzed: Any) -> None:
        for condition, plan in conditions(self.spark, analyzed):
            if not _is_rule(condition):
                self.report.counts["conditions with subqueries, aggregates or chance"] += 1
                continue
            written, rendered = _texts(condition)
            key = plan.canonicalized().toString() + plan.schema().json()
            self.asked.setdefault(key, Asked(plan)).texts[written] = rendered

    def flush(self, path: Path) -> None:
        for asked in self.asked.values():
            try:
                self.compare(path, asked)
            except (PySparkException, Py4JError) as error:
                self.report.counts["relations that cannot be read"] += 1
                print(f"{path.name}: {str(error).splitlines()[0][:200]}", flush=True)
        self.asked.clear()

    def rows(self, plan: Any) -> DataFrame | None:
        from pyspark.sql import DataFrame

        made = self.spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(self.spark._jsparkSession, plan)
        df = DataFrame(made, self.spark)
        names = [name.lower() for name in df.columns]
        if len(set(names)) < len(names) or "sparkrules_row" in names or df.isStreaming:
            return None
        numbered = df.limit(_MOST_ROWS).withColumn("sparkrules_row", f.monotonically_increasing_id())
        return numbered.localCheckpoint()

    def compare(self, path: Path, asked: Asked) -> None:
        report = self.report
        df = self.rows(asked.plan)
        if df is None:
            report.counts["conditions over columns of one name, or streams"] += len(asked.texts)
            return
        texts: dict[str, str] = {}
        for written, rendered in asked.texts.items():
            chosen = next((text for text in (written, rendered) if _accepts(df, text)), None)
            report.counts["conditions"] += 1
            if chosen is None:
                report.counts["conditions that WHERE does not accept alone"] += 1
            else:
                texts[chosen] = chosen
        rules = sparkrules.RuleSet("sql_tests")
        rules.subscribe_all(texts)
        for rejected in rules.rejected:
            report.refuse(rejected.reason, rejected.where)
            del texts[rejected.where]
        if not texts:
            return
        truth, failing = truth_of(df, texts, "sparkrules_row")
        with settings(self.spark, spark_sparkrules_invalidRules="skip"):
            matched = sparkrules.match(df, rules).selectExpr("sparkrules_row", "matches.ids")
            bound = subscriptions_of(matched, "sql_tests")
            ours = {(row, id) for row, ids in matched.collect() for id in ids}
        if bound < len(texts):
            report.different.append(f"{path.name}: the plugin takes {bound} of {len(texts)}: {sorted(texts)[:12]}")
        differ = {id for row, id in ours ^ truth if id not in failing}
        for text in sorted(differ):
            rows = sorted(row for row, id in ours ^ truth if id == text)
            row = df.where(f"sparkrules_row = {rows[0]}").collect()[0].asDict()
            side = "we match" if (rows[0], text) in ours else "WHERE matches"
            report.different.append(f"{path.name}: {side}: {text}\n    on {row}")
        report.counts["accepted and equal"] += len(texts) - len(differ) - len(failing)
        report.counts["failing at run time, left out"] += len(failing)
        report.counts["pairs compared"] += df.count() * (len(texts) - len(failing))


def _accepts(df: DataFrame, text: str) -> bool:
    try:
        df.where(text)
    except (AnalysisException, PySparkException):
        return False
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("inputs", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", default="", help="files whose path contains this")
    options = parser.parse_args()
    import logging

    from pyspark.sql import SparkSession

    logging.getLogger("SQLQueryContextLogger").disabled = True
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    spark = sparkrules.configure(builder, store=tempfile.mkdtemp(prefix="sparkrules-sql-tests-")).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    run, end = Run(spark), time.monotonic() + 60 * options.minutes
    files = sorted(path for path in options.inputs.rglob("*.sql") if options.only in str(path))
    for number, path in enumerate(files):
        if time.monotonic() > end:
            print(f"the time is over, {len(files) - number} files are left", flush=True)
            break
        try:
            run.file(path)
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}", flush=True)
        run.report.counts["files"] += 1
        print(f"{path.name}: {dict(run.report.counts)}", flush=True)
    print(run.report)
    return 1 if run.report.different else 0


if __name__ == "__main__":
    sys.exit(main())
