"""Online book auctions, from the papers on subscription pruning and Boolean advertisements: seeded rows and rules.

The attributes are those of *subscription-pruning*, table 1, plus title and author; the rules are its three classes of
subscriptions. Titles and authors are skewed (Zipf), for rows and rules alike: everybody wants the same books.

>>> next(iter(auction_rules(1, seed=1))).where.startswith("title = ")
True
>>> auction_rows(2, seed=1).num_rows
2
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

CATEGORIES = (  # noqa: SIM905
    "Action Anthology Children Classics Collections Crime Drama Family Fantasy Folklore Historical Horror Humour "
    "Military Mystery Poetry Religion Romance Satire Science Thriller Western"
).split()
FORMATS = ("Softcover", "Hardcover", "Audiobook", "Other")
FORMAT_SHARES = (0.55, 0.35, 0.05, 0.05)
TITLES = 1_000
AUTHORS = TITLES // 5
HOUR = 3_600
DAY = 24 * HOUR

Draws = npt.NDArray[np.int64]


class AuctionRule(NamedTuple):
    """A subscription: its id and its WHERE text."""

    id: str
    where: str


def auction_rows(count: int, seed: int = 0) -> pa.Table:
    """`count` auctions; some have no price or no bids yet (NULL)."""
    random = np.random.default_rng(seed)
    title = _skewed(random, TITLES, count)
    price = np.round(np.exp(random.normal(2.2, 0.9, count)), 2).clip(0.01, 1000.0)
    bids = random.geometric(0.35, count).clip(1, 101) - 1
    return pa.table(
        {
            "auction": pa.array(np.arange(count)),
            "title": pa.array([_TITLE_NAMES[i] for i in title]),
            "author": pa.array([_AUTHOR_NAMES[i] for i in title % AUTHORS]),
            "category": pa.array([CATEGORIES[i % len(CATEGORIES)] for i in title]),
            "format": pa.array(np.array(FORMATS)[random.choice(len(FORMATS), count, p=FORMAT_SHARES)]),
            "condition": pa.array(np.where(random.random(count) < 0.3, "new", "used")),
            "signed": pa.array(random.random(count) < 0.04),
            "buy_it_now": pa.array(random.random(count) < 0.4),
            "ending_within": pa.array(random.integers(60, 10 * DAY, count)),
            "price": pa.array(price, mask=random.random(count) < 0.01),
            "bids": pa.array(bids, mask=random.random(count) < 0.01),
        }
    )


def write_auctions(rows: pa.Table, directory: Path, files: int = 20) -> None:
    """Write the rows as Parquet, in at most `files` files of equal size."""
    directory.mkdir(parents=True, exist_ok=True)
    size = -(-rows.num_rows // files)
    for number, start in enumerate(range(0, rows.num_rows, size)):
        pq.write_table(rows.slice(start, size), directory / f"part-{number:02}.parquet")


def auction_rules(count: int, seed: int = 0) -> Iterator[AuctionRule]:
    """`count` rules: equal numbers of the three classes."""
    random = np.random.default_rng(seed + 1)
    titles = _skewed(random, TITLES, count)
    prices = np.round(np.exp(random.normal(2.4, 0.6, (count, 4))), 1)
    days = random.integers(1, 4, count)
    for i in range(count):
        where = _CLASSES[i % len(_CLASSES)](int(titles[i]), prices[i].tolist(), int(days[i]))
        yield AuctionRule(f"auction-{i}", where)


def _price_by_condition(title: int, prices: list[float], days: int) -> str:
    """Class 1: a title, shortly before its auction ends, with one limit for new and one for used copies."""
    return (
        f"title = '{_TITLE_NAMES[title]}' AND ending_within < {days * DAY} "
        f"AND (condition = 'new' AND price < {prices[0]} OR condition = 'used' AND price < {prices[1]})"
    )


def _price_by_condition_and_format(title: int, prices: list[float], days: int) -> str:
    """Class 2: as class 1, with a limit for each combination of condition and format."""
    kinds = [(condition, book) for condition in ("new", "used") for book in FORMATS[:2]]
    limits = " OR ".join(
        f"condition = '{condition}' AND format = '{book}' AND price < {price}"
        for (condition, book), price in zip(kinds, prices, strict=True)
    )
    return f"title = '{_TITLE_NAMES[title]}' AND ending_within < {days * DAY} AND ({limits})"


def _collector(title: int, _: list[float], days: int) -> str:
    """Class 3: a collector of a category or an author: signed copies, ending soon without bids, or to buy at once."""
    author = _AUTHOR_NAMES[title % AUTHORS]
    category = CATEGORIES[title % len(CATEGORIES)]
    return (
        f"(category = '{category}' OR author = '{author}') AND signed "
        f"AND (ending_within < {days * HOUR} AND bids = 0 OR buy_it_now)"
    )


_CLASSES = (_price_by_condition, _price_by_condition_and_format, _collector)


def _skewed(random: np.random.Generator, choices: int, count: int) -> Draws:
    shares = 1.0 / np.arange(1, choices + 1)
    return random.choice(choices, count, p=shares / shares.sum())


def _names(first: str, second: str, count: int) -> list[str]:
    heads, tails = first.split(), second.split()
    return [f"{heads[i % len(heads)]} {tails[i // len(heads) % len(tails)]} {i}" for i in range(count)]


_TITLE_NAMES = _names(
    "Silent Golden Broken Hidden Burning Crimson Forgotten Endless Winter Iron",
    "River Garden Kingdom Letters Harbour Mountain Promise Shadow Orchard Voyage",
    TITLES,
)
_AUTHOR_NAMES = _names("Ada Boris Clara Dmitri Edith Felix Greta", "Ahlberg Baines Castell Dorn Eyre Finch", AUTHORS)
