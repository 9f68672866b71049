"""The backend against another: real Sigma rules, as files, and as SQL that pySigma's Databricks backend made of them.

That SQL is right but for NULL: it says NOT where Sigma means "does not match". So every NOT is read as that.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import sqlglot
from sqlglot import exp

from tests.sigma_rules.files import subscribed
from tests.spark import sigma
from tests.spark.oracle import differences, pairs_by_plugin, pairs_by_where

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The files that `source` names in rules.jsonl, of the repository SigmaHQ/sigma.
FILES = sigma.DATA / "files"

pytestmark = [
    pytest.mark.skipif(not sigma.DATA.exists(), reason="the corpus is not part of the project"),
    pytest.mark.skipif(not FILES.exists(), reason=f"the corpus has no Sigma files in {FILES.name}/"),
]


def two_valued(text: str) -> str:
    """`NOT a` -> `NOT coalesce(a, false)`.

    >>> two_valued("NOT (a = 1 AND NOT b = 1)")
    'NOT COALESCE((a = 1 AND NOT COALESCE((b = 1), FALSE)), FALSE)'
    """

    def read(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Not) or isinstance(node.this, exp.Is):
            return node
        inner = node.this.unnest().transform(read)
        return exp.Not(this=exp.func("coalesce", exp.paren(inner), exp.false()))

    return sqlglot.parse_one(text, dialect="spark").transform(read).sql(dialect="spark")


def test_rules_match_as_their_converted_sql(spark: SparkSession) -> None:
    part = sigma.corpus(spark, every_rule=5, every_event=25)
    with (sigma.DATA / "rules.jsonl").open(encoding="utf-8") as lines:
        files = {own["id"]: FILES / own["source"] for own in map(json.loads, lines)}
    rules = subscribed(*(files[id] for id in part.rules), keywords="raw")
    assert rules.rejected == []
    texts = part.rules
    assert set(rules.subscriptions) == set(texts)
    truth = pairs_by_where(part.events, {id: two_valued(sigma.without_slow_searches(own)) for id, own in texts.items()})
    assert truth
    assert differences(pairs_by_plugin(part.events, rules), truth, texts) == []
