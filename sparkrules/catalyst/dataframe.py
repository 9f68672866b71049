"""Matches a DataFrame against a rule set. Uses SQL expressions, so it works in classic and Connect sessions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from sparkrules.catalyst.asked import Asked
from sparkrules.catalyst.following import collection_of, follow
from sparkrules.catalyst.python_engine.answers import python_match, python_matches
from sparkrules.catalyst.rule_metrics import RuleMetrics, observed_name
from sparkrules.catalyst.rule_table import sync_table
from sparkrules.catalyst.session import require_plugin, store_of
from sparkrules.catalyst.stored_lists import stored_lists
from sparkrules.errors import RuleSetError
from sparkrules.index import Segment
from sparkrules.local.reference_list import Lists
from sparkrules.rules.arguments import a_data_frame, a_text, checked, some_names, some_rules, true_or_false
from sparkrules.rules.fields import check_fields, names_of
from sparkrules.rules.publication import Publication
from sparkrules.sql.predicate_sql import quoted
from sparkrules.store import Store, check_name, merged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Engine = Literal["plugin", "python"]


class Rules(Protocol):
    """What matching needs from a rule set: see `sparkrules.RuleSet`."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int | None: ...

    @property
    def _segment(self) -> Segment: ...

    @property
    def _publication(self) -> Publication: ...


_COLUMNS_PER_MATCH = ("subscription_id", "priority", "overlap")
_COLUMNS_PER_ERROR = ("subscription_id", "message")


@checked(df=a_data_frame, rules=some_rules, output=a_text, fields=some_names, tags=some_names, shadow=true_or_false)
def match(
    df: DataFrame,
    rules: Rules | str,
    output: str = "matches",
    *,
    top: int | None = None,
    fields: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    shadow: bool = False,
    observe: RuleMetrics | str | None = None,
    engine: Engine = "plugin",
    rules_from: str | DataFrame | None = None,
) -> DataFrame:
    """Add a column to the DataFrame: a struct of the `ids` of the rules that match the row, and their `overlaps`.

    `rules` is a rule set or the name of a published one (`"alerts"` is the newest version, `"alerts@12"` version 12). A
    rule set that has changed since it was last published to the session's store is published there first. With `top=3`,
    `ids` has only the first three: highest priority first, then by id.

        matched = sparkrules.match(df, rules)
        matched.where("size(matches.ids) > 0").select("id", "matches.ids")

    With `fields=["severity"]` the struct also has `matches`, an array with the `subscription_id` and the `severity` in
    the metadata of each matching rule, and the `version` of the rules. With `tags=["windows"]` only rules are matched
    that have one of the tags. With `shadow=True` the struct also has `shadow`: the ids of the shadow rules that match.

    With `observe=sparkrules.RuleMetrics()`, what each rule does in the queries of the result is counted there; a string
    is a name, for `subscription_metrics` in SQL.

    With `engine="python"` the session needs no plugin, for platforms where you cannot add a jar. The answer is the same
    but takes much longer: numpy matches in Spark's Python workers. The rules are fixed when you call this, and nothing
    is published. See `docs/python-engine.md`.

    With `rules_from`, the name of a table or a DataFrame, the rule set is synced with these rules first, as by
    `RuleSet.sync`. If `df` is a stream, the two are kept the same while it runs: see `docs/streaming.md`.
    """
    _check_free(df, [output])
    asked = Asked(_checked_top(top), tuple(names_of(fields)), tuple(names_of(tags)), shadow)
    check_fields(asked.fields, ["subscription_id"])
    rules = _synced(df, rules, rules_from, engine)
    if _is_python(engine, observe):
        return python_match(df, *_segment_of(df, rules), output, asked)
    call = f"match_subscriptions('{published_name(df, rules)}', *{asked.sql}{_observed(df, observe)})"
    return df.selectExpr("*", f"{call} AS {quoted(output)}")


@checked(df=a_data_frame, rules=some_rules, fields=some_names, tags=some_names, shadow=true_or_false)
def matches(
    df: DataFrame,
    rules: Rules | str,
    *,
    top: int | None = None,
    fields: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    shadow: bool = False,
    observe: RuleMetrics | str | None = None,
    engine: Engine = "plugin",
    rules_from: str | DataFrame | None = None,
) -> DataFrame:
    """One row per match: the row's columns, then `subscription_id`, `priority` and `overlap`.

    Rows that match no rule are omitted. With `fields=["severity"]` there is also this field of the rule's metadata, and
    the `version`. With `shadow=True` there are also the matches of shadow rules, and the `status`, live or shadow.
    `rules`, `top`, `tags`, `observe`, `engine` and `rules_from` as in `match`.

        sparkrules.matches(df, "alerts").groupBy("subscription_id").count()
    """
    asked = Asked(_checked_top(top), tuple(names_of(fields)), tuple(names_of(tags)), shadow)
    own = [*_COLUMNS_PER_MATCH, *["version"] * bool(asked.fields), *["status"] * shadow]
    check_fields(asked.fields, own)
    _check_free(df, [*own, *asked.fields])
    rules = _synced(df, rules, rules_from, engine)
    if _is_python(engine, observe):
        return python_matches(df, *_segment_of(df, rules), asked)
    call = f"subscription_matches('{published_name(df, rules)}', *{asked.sql}{_observed(df, observe)})"
    return df.selectExpr("*", f"inline({call})")


@checked(df=a_data_frame, rules=some_rules)
def rule_errors(df: DataFrame, rules: Rules | str) -> DataFrame:
    """One row per row and rule with a predicate that fails on it: the row's columns, `subscription_id`, `message`.

    A predicate that fails on a row (for example an invalid cast) counts as unknown there; other rules are not affected.
    `rules` as in `match`. Only the plugin can report why a predicate fails, so there is no `engine` argument.

        sparkrules.rule_errors(df, "alerts").groupBy("subscription_id", "message").count()
    """
    _check_free(df, _COLUMNS_PER_ERROR)
    call = f"subscription_errors('{published_name(df, rules)}', *)"
    return df.selectExpr("*", f"inline({call})")


@checked(df=a_data_frame, rules=some_rules)
def rule_costs(df: DataFrame, rules: Rules | str) -> DataFrame:
    """What the rules make Spark compute for these rows, slowest first. Use it to find rules that slow down all others.

    One row for each regular expression, function or other condition that is not looked up in the index: `test`, its
    SQL; `milliseconds`, the total, and `slowest`, the maximum for one row; `rows` for which it was computed;
    `subscription_ids`, at most five of the rules that need it. `rules` as in `match`. Only the plugin can report this.
    Measuring itself takes time, so use a sample of the rows.

        sparkrules.rule_costs(df.limit(10_000), "alerts").show(truncate=False)
    """
    from pyspark.sql.functions import expr

    call = f"subscription_costs('{published_name(df, rules)}', *)"
    return (
        df.selectExpr(f"inline({call})")
        .groupBy("test")
        .agg(
            expr("round(sum(nanoseconds) / 1e6, 3) AS milliseconds"),
            expr("round(max(nanoseconds) / 1e6, 3) AS slowest"),
            expr("count(*) AS rows"),
            expr("first(subscription_ids) AS subscription_ids"),
        )
        .orderBy(expr("milliseconds").desc())
    )


@checked(df=a_data_frame, rules=some_rules)
def left_out(df: DataFrame, rules: Rules | str) -> DataFrame:
    """The rules that are rejected on the columns of a DataFrame: `subscription_id` and `reason`.

    With `spark.sparkrules.invalidRules=skip` a match skips these rules; otherwise it fails. `rules` as in `match`.
    Reads no row of the DataFrame. Needs the plugin.

        sparkrules.left_out(df, "alerts").show(truncate=False)
    """
    name = published_name(df, rules)
    row = df.sparkSession.createDataFrame([], df.schema) if df.isStreaming else df.limit(0)
    # A row of NULLs instead of the DataFrame's rows: the answer depends only on the columns.
    one = df.sparkSession.range(1).selectExpr("id AS `sparkrules one`").join(row, how="left").drop("sparkrules one")
    return one.selectExpr(f"inline(subscriptions_left_out('{name}', *))")


def _observed(df: DataFrame, observe: RuleMetrics | str | None) -> str:
    name = observed_name(df.sparkSession, observe)
    return "" if name is None else f", observe => '{name}'"


def _checked_top(top: int | None) -> int | None:
    if top is not None and (isinstance(top, bool) or not isinstance(top, int) or top < 1):
        raise RuleSetError(f"top={top!r} is not a positive whole number: top=3 gives the first three matches")
    return top


def _is_python(engine: str, observe: RuleMetrics | str | None = None) -> bool:
    if engine == "python" and observe is not None:
        raise RuleSetError('observe needs the plugin: with engine="python", count what `matches` returns')
    if engine not in ("plugin", "python"):
        raise RuleSetError(f"engine={engine!r} is none: 'plugin' is Spark's with the jar, 'python' needs none")
    return engine == "python"


def _synced(df: DataFrame, rules: Rules | str, rules_from: str | DataFrame | None, engine: str) -> Rules | str:
    """The rules, after they have become those of a table."""
    if rules_from is None:
        return rules
    spark, store = df.sparkSession, Store(store_of(df.sparkSession))
    own = collection_of(rules, store)
    if not df.isStreaming:
        sync_table(own, store, spark, rules_from)
    elif _is_python(engine):
        raise RuleSetError(
            "engine='python' has the rules of a stream as they are when it starts: call match with rules_from in "
            "foreachBatch, for each micro-batch"
        )
    else:
        follow(spark, rules, rules_from)
    return own.name


def _segment_of(df: DataFrame, rules: Rules | str) -> tuple[Segment, str, int | None, Lists]:
    """The index of the rules, the name to report them under, the version if it is published, and their lists."""
    if not isinstance(rules, str):
        lists = stored_lists(rules._publication.list_stores[0], rules.name)
        return rules._segment, rules.name, rules.version, lists
    name, version = name_and_version(rules)
    store = Store(store_of(df.sparkSession))
    parts = store.open(name, version)
    number = parts.manifest.version
    return merged(parts.parts), f"{name}@{number}", number, stored_lists(store, name)


def published_name(df: DataFrame, rules: Rules | str) -> str:
    """The name by which the plugin finds the rules. A rule set that has changed is published first."""
    spark = df.sparkSession
    require_plugin(spark)
    if isinstance(rules, str):
        name_and_version(rules)
        return rules
    store = store_of(spark)
    if rules._publication.version_in(store) is None:
        rules._publication.publish(store)
    return rules.name


def name_and_version(rules: str) -> tuple[str, int | None]:
    """The parts of `alerts@12`; None is the newest version."""
    name, at, version = rules.partition("@")
    if at and not version.isdecimal():
        raise RuleSetError(f"{rules!r} is not a version of a rule set: write '{name}@12' with a number")
    return check_name(name), int(version) if at else None


def _check_free(df: DataFrame, names: list[str] | tuple[str, ...]) -> None:
    taken = {column.lower() for column in df.columns}
    clash = [name for name in names if name.lower() in taken]
    if clash:
        raise RuleSetError(
            f"the DataFrame has a column {clash[0]!r} already: rename it with df.withColumnRenamed, or choose another "
            "name with sparkrules.match(..., output=...)"
        )
