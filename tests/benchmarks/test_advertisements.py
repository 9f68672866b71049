from __future__ import annotations

import numpy as np
import pytest

from benchmarks.advertisements import ADVERTISEMENTS, SUBSCRIPTIONS, conjunctions, measure, table
from sparkrules.sql.tree import predicates

# Table 2 of the paper, for A1 to A8 and S1 to S3.
PREDICATES = [5, 5, 5, 5, 11, 4, 4, 10, 6, 12, 7]
CONJUNCTIONS = [2, 2, 2, 2, 4, 2, 2, 4, 2, 4, 6]
PER_CONJUNCTION = [3, 3, 3, 3, 4, 2, 2, 3, 4, 5, 3]


@pytest.mark.parametrize("number", range(11))
def test_the_classes_are_those_of_table_2(number: int) -> None:
    tree = (*ADVERTISEMENTS, *SUBSCRIPTIONS)[number](np.random.default_rng(3))
    # The paper counts SIGNED twice in S3, and writes a mean of 3 predicates where one conjunction has fewer.
    assert len(list(predicates(tree))) == PREDICATES[number]
    assert len(conjunctions(tree)) == CONJUNCTIONS[number]
    assert round(np.mean([len(conjunction) for conjunction in conjunctions(tree)])) == PER_CONJUNCTION[number]


def test_both_algorithms_agree_and_the_table_has_both_and_the_paper() -> None:
    shown = table([80], [measure(80, 4)])
    assert shown.count("\n") == 1 + 4 * 3
    assert "S1-S3, paper" in shown
