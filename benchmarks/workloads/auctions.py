"""Book auctions: the demo's generator, and many copies of its world, so that rules grow but matches do not.

`auctions` has 1,000 titles whatever the number of rules: ten times the rules match ten times as often. In `growth`,
every thousand rules are a market of their own, with titles, authors and categories that no other market has. A row
belongs to one market, so matches per row stay the same, and what remains is the cost of having more rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.workloads.workload import RuleText, Workload
from sparkrules.demo import auctions as demo
from sparkrules.demo.auctions import TITLES, auction_rows, auction_rules

RULES_PER_MARKET = 1_000
_OWN_NAMES = ("title", "author", "category")
_OWN_NAME = re.compile(rf"\b({'|'.join(_OWN_NAMES)}) = '([^']*)'")


def auctions(size: int) -> Workload:
    """`size` rules of three classes over 1,000 titles."""
    return Workload(
        family="auctions",
        variant="",
        size=size,
        rules=lambda: auction_rules(size),
        rows=lambda count: auction_rows(count, seed=1),
        generators=(demo.__file__,),
        rows_name="auctions",
        traits={"title skew": _skew(), "classes": "3 in equal parts"},
    )


def growth(size: int) -> Workload:
    """`size` rules, with as many matches per row as 1,000 rules have."""
    markets = max(1, size // RULES_PER_MARKET)
    return Workload(
        family="growth",
        variant="",
        size=size,
        rules=lambda: islice(_market_rules(markets), size),
        rows=lambda count: market_rows(count, markets),
        generators=(demo.__file__, __file__),
        rows_name=f"growth_{markets}",
        traits={"markets": f"{markets:,}", "title skew": f"{_skew()} in each market"},
    )


def market_rows(count: int, markets: int) -> pa.Table:
    """Auctions, each in one of the markets."""
    rows = auction_rows(count, seed=1)
    market = pa.array([f" {i}" for i in np.random.default_rng(2).integers(0, markets, count)])
    for name in _OWN_NAMES:
        at = rows.schema.get_field_index(name)
        rows = rows.set_column(at, name, pc.binary_join_element_wise(rows[name], market, ""))
    return rows


def _market_rules(markets: int) -> Iterator[RuleText]:
    for market in range(markets):
        for rule in auction_rules(RULES_PER_MARKET, seed=market):
            yield f"{market}-{rule.id}", _OWN_NAME.sub(rf"\1 = '\2 {market}'", rule.where)


def _skew() -> str:
    shares = 1 / np.arange(1, TITLES + 1)
    return f"Zipf over {TITLES:,} titles, the first {shares[0] / shares.sum():.1%}"
