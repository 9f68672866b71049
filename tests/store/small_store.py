"""A small store with every kind of file, and everything that Python can read from it."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pyarrow as pa

from sparkrules import RuleSet
from sparkrules.errors import WrongTicket
from sparkrules.store import Store
from sparkrules.store.statistics_file import COUNTED_PREDICATES, STATISTICS

NAME = "alerts"


def make_small_store(path: Path) -> str:
    """A rule set of two versions with removed and rejected rules, advertisements, statistics; returns a ticket."""
    rules = RuleSet(NAME)
    rules.subscribe_all(
        {"hot": "temperature > 30 AND NOT indoors", "Rome": "city = 'Rome' OR temperature > 30", "bad": "temperature >"}
    )
    rules.subscribe(
        "cold", "temperature < 0", 7, {"owner": "ops"}, valid_until=datetime(2099, 1, 1, tzinfo=timezone.utc)
    )
    ticket = rules.subscribe("mine", "lower(city) = 'oslo'", ticket=True)
    rules.advertise("attic", "temperature > 20")
    rules.store = path
    rules.publish(overlaps=True)
    rules.subscribe("new", "temperature IN (1, 2)")
    rules.unsubscribe("cold")
    rules.publish(merge="none", overlaps=True)
    counted = {"attribute": "temperature", "position": 1, "lower": None, "upper": "30", "rows": 5, "total": 9}
    number = Store(path).analyzed(NAME, pa.Table.from_pylist([counted], STATISTICS))
    hot = {"attribute": "temperature", "operator": ">", "constants": "integer '30'", "slot": "temperature"}
    hot |= {"type": "INT", "positions": 4, "first": [3], "last": [3]}
    Store(path).analyzed_predicates(NAME, number, pa.Table.from_pylist([hot], COUNTED_PREDICATES))
    return ticket


def answer_of(path: Path, ticket: str) -> str:
    """Everything that a reader learns from the store."""
    store = Store(path)
    said: list[object] = [store.rule_sets(), store.versions(NAME), store.statistics(NAME), store.analysis(NAME)]
    for number in store.versions(NAME):
        manifest = store.manifest(NAME, number)
        said += [manifest, store.rejected(manifest)]
        version = store.open(NAME, number)
        said.append([(part.removed.tolist(), part.body.ids.to_pylist()) for part in version.parts])
        advertised = store.advertisements(manifest)
        said.append(advertised)
        for entry in manifest.segments:
            if entry.overlaps is not None:
                pairs = store.overlaps(manifest, entry, len(advertised))
                said += [store.types_of_overlaps(manifest, entry), [column.tolist() for column in pairs]]
        rules = RuleSet.load(NAME, path, number)
        said.append(list(rules))
        try:
            rules.unsubscribe("mine", ticket=ticket)
        except WrongTicket as wrong:
            said.append(str(wrong))
    return repr(said)


def files_of(path: Path) -> list[Path]:
    return sorted(file for file in path.rglob("*") if file.is_file())


def sampled(count: int, every: int, seed: int) -> range:
    """Some numbers below `count`: one of `every`, beginning somewhere."""
    return range(seed % every, count, every)
