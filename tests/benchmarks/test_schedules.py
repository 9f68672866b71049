"""The schedules for many rows at once are those of the specification, and the experiments of the paper run."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.schedules import evaluations
from benchmarks.schedules.__main__ import claims_table, points_table
from benchmarks.schedules.claims import CLAIMS
from benchmarks.schedules.figures import FIGURES, Run
from benchmarks.schedules.order import saving_edges, sub_order
from benchmarks.schedules.workload import MATCHED_SHARE, MODELS, Settings, Workload, generate
from tests.specification import schedules as specification

SETTINGS = [Settings(60, 40, zipf=None), Settings(60, 40), Settings(50, 30, longest=9, zipf=1.2)]


def asked_by_row(work: Workload, evaluated: list[int]) -> list[set[int]]:
    return [{p for p, rows in enumerate(evaluated) if rows >> row & 1} for row in range(work.rows)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_many_rows_at_once_evaluate_what_each_row_alone_does(settings: Settings, model: str) -> None:
    work = generate(settings, model, 21, np.random.default_rng(5))
    rules = {f"{number:03}": rule for number, rule in enumerate(work.rules)}
    estimates = specification.Estimates(work.selectivity.tolist())
    chains = specification.sub_order(rules, estimates)
    order = specification.refuting_order(rules, estimates)
    together = [
        evaluations.naive(work),
        evaluations.sequential(work),
        evaluations.linked_chains(work, list(chains.values())),
        evaluations.by_predicate(work, order),
    ]
    for row in range(work.rows):
        answers = [bool(own >> row & 1) for own in work.true_rows]
        alone = [
            specification.naive(rules, answers.__getitem__),
            specification.sequential(rules, answers.__getitem__),
            specification.linked_chains(chains, answers.__getitem__),
            specification.by_predicate(rules, order, answers.__getitem__),
        ]
        assert [set(own.asked) for own in alone] == [asked_by_row(work, own)[row] for own in together]
        proof = evaluations.greedy_cover(work, row)
        for rule in work.rules:
            assert proof.issuperset(rule) or any(not answers[predicate] for predicate in proof.intersection(rule))
        assert evaluations.disjoint_rules(work) <= len(proof) <= len(alone[0].asked)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("settings", SETTINGS)
def test_edges_and_order_are_those_of_the_specification(
    settings: Settings, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.schedules.order._AT_ONCE", 100)
    work = generate(settings, model, 1, np.random.default_rng(6))
    estimates = specification.Estimates(work.selectivity.tolist())
    chains = [estimates.sorted_chain(rule) for rule in work.rules]
    edges = {(one, other): weight for weight, one, other in zip(*saving_edges(chains, work.selectivity), strict=True)}
    assert len(edges) > 50
    for one, first in enumerate(chains):
        for other, second in enumerate(chains):
            if one != other:
                difference = specification.cost_difference(first, second, estimates)
                assert edges.get((one, other), 0.0) == pytest.approx(min(difference, 0.0), abs=1e-12)
    expected = specification.sub_order({str(number): rule for number, rule in enumerate(work.rules)}, estimates)
    assert sub_order(work.rules, work.selectivity) == list(expected.values())


@pytest.mark.parametrize("model", MODELS)
def test_rows_match_the_share_of_rules_that_the_paper_gives(model: str) -> None:
    work = generate(Settings(3_000, 2_000, zipf=None), model, 300, np.random.default_rng(7))
    assert {len(rule) for rule in work.rules} == {3, 4, 5}
    assert all(len(set(rule)) == len(rule) for rule in work.rules)
    matched = 0
    for rule in work.rules:
        rows = -1
        for predicate in rule:
            rows &= work.true_rows[predicate]
        matched += rows.bit_count()
    assert matched / len(work.rules) / work.rows == pytest.approx(MATCHED_SHARE, rel=0.3)


def test_every_point_and_claim_is_in_the_tables() -> None:
    run = Run(scale=0.006, rows=20, repeat=2, model="uniform")
    measured = {figure: run.measure(figure) for figure in FIGURES}
    assert points_table(measured, run.scale).count("\n") == 1 + sum(map(len, FIGURES.values()))
    assert claims_table(measured).count("\n") == 1 + len(CLAIMS)
    assert "7,761" in points_table(measured, run.scale)
