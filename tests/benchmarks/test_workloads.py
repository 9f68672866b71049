"""The generators are deterministic and meet their targets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sparkrules
from benchmarks.cache import Cache
from benchmarks.workloads.auctions import auctions, growth
from benchmarks.workloads.boolean_trees import shared_nodes_per_subscription, truth
from benchmarks.workloads.strings import strings
from benchmarks.workloads.thesis import MIXES, Mix, events, subscriptions, thesis
from benchmarks.workloads.workload import Workload

WORKLOADS = [auctions(50), growth(2_000), strings(50), *thesis(50)]


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_every_run_has_the_same_rules_and_rows(workload: Workload) -> None:
    rules = list(workload.rules())
    assert rules == list(workload.rules())
    assert workload.rows(20).equals(workload.rows(20))
    assert len(rules) == workload.size


@pytest.mark.parametrize("mix", MIXES, ids=lambda mix: mix.name)
def test_the_thesis_workload_has_the_sharing_and_the_matches_that_were_asked_for(mix: Mix) -> None:
    trees, values = subscriptions(mix, 1_000), events(mix, 1_000)
    assert shared_nodes_per_subscription(trees) == pytest.approx(mix.snps, abs=0.03)
    matched = np.mean([truth(tree, values).mean() for tree in trees])
    assert matched == pytest.approx(mix.smpe, rel=0.25)


def test_shared_nodes_are_those_that_another_subscription_has() -> None:
    shared = ("and", (1, ">", 5), (2, ">", 5))
    turned = ("and", (2, ">", 5), (1, ">", 5))
    own = ("or", (3, ">", 1), (4, ">", 1))
    assert shared_nodes_per_subscription([("and", shared, (9, ">", 1)), ("or", turned, own)]) == (1 / 2 + 1 / 3) / 2


def test_ten_times_the_markets_do_not_match_more() -> None:
    per_row = []
    for size in (1_000, 3_000):
        rules = sparkrules.RuleSet("growth")
        rules.subscribe_all(growth(size).rules())
        found = rules.match(growth(size).rows(1_000)).ids.to_pylist()
        per_row.append(sum(map(len, found)) / len(found))
    assert per_row[1] == pytest.approx(per_row[0], rel=0.25)


def test_the_cache_makes_rules_and_rows_once(tmp_path: Path) -> None:
    cache, workload = Cache(tmp_path), auctions(20)
    made = cache.rules(workload)
    assert made.built.rules == 20
    assert cache.rules(workload) == made
    assert sparkrules.RuleSet.load(made.name, made.store).subscriptions.keys() == {id for id, _ in workload.rules()}
    rows = cache.rows(workload, 7_000)
    assert rows.counts == (1_000, 1_000, 3_000, 2_000)
    assert rows.first(1_500)[1] == 2_000
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_of_two_processes_that_make_the_same_one_wins(tmp_path: Path) -> None:
    cache, first = Cache(tmp_path), auctions(20)
    second = replace(first, rules=lambda: [cache.rules(first), *first.rules()][1:])
    assert cache.rules(second) == cache.rules(first)
