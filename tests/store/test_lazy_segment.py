"""A segment on disk answers like one in memory, without being read as a whole."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sparkrules.errors import CorruptStore
from sparkrules.index import Rule, build_segment, to_tables
from sparkrules.index.tables import SCHEMAS
from sparkrules.sql import parse_rule
from sparkrules.store.arrow_file import write_arrow
from sparkrules.store.lazy_segment import LazySegment
from sparkrules.store.segment_files import write_segment

IDS = sorted(["", "a", "aa", "b", "é", "z", "ÿ", "\uffff", "\U0001f600", *(f"r{n}" for n in range(3000))])
WHERE = "(x = 1 OR y IN (1.5, NULL, 'it''s')) AND NOT (z LIKE 'a%' XOR lower(w) = 'q') AND true"


@pytest.fixture(scope="module")
def tables() -> dict[str, pa.Table]:
    until, tree = datetime(2026, 1, 31, 12, 0, 0, 5, tzinfo=timezone.utc), parse_rule(WHERE)
    rules = [Rule(id, WHERE, tree, n, {"n": n}, None, None, until, "77aa") for n, id in enumerate(IDS)]
    return to_tables(build_segment(rules))


@pytest.fixture
def stored(tables: dict[str, pa.Table], tmp_path: Path) -> LazySegment:
    write_segment(tmp_path / "segment", tables)
    return LazySegment.stored(tmp_path / "segment")


@pytest.mark.parametrize("many", [False, True])
def test_every_id_is_found_and_no_other(stored: LazySegment, many: bool) -> None:
    others = ["A", "r", "r3000", "\U0001f601", "zz"]
    wanted = [*IDS, *others]
    found = stored.find(wanted).tolist() if many else [int(stored.find([id])[0]) for id in wanted]
    assert found == [*range(len(IDS)), *[-1] * len(others)]


def test_one_rule_is_what_the_whole_segment_says(stored: LazySegment, tmp_path: Path) -> None:
    whole = LazySegment.stored(tmp_path / "segment")
    assert len(whole.segment.rules.priority) == stored.rows
    for row in (0, 7, len(IDS) - 1):
        assert stored.rule(row) == whole.rule(row)
    assert "segment" not in vars(stored)


def test_a_segment_without_rules(tmp_path: Path) -> None:
    write_segment(tmp_path / "empty", to_tables(build_segment([])))
    for lazy in (LazySegment.stored(tmp_path / "empty"), LazySegment.of(build_segment([]))):
        assert (lazy.rows, lazy.sizes, lazy.find(["a"]).tolist(), len(lazy.ids)) == (0, (0, 0), [-1], 0)


@pytest.mark.parametrize("ids", [["b", "a"], ["a", "a"], ["a", None]])
def test_ids_that_do_not_ascend_are_refused(tmp_path: Path, ids: list[str | None]) -> None:
    tables = to_tables(
        build_segment([Rule("a", "x = 1", parse_rule("x = 1")), Rule("b", "x = 1", parse_rule("x = 1"))])
    )
    write_segment(tmp_path / "odd", tables)
    odd = tables["subscriptions"].set_column(0, SCHEMAS["subscriptions"].field("id"), pa.array(ids, pa.utf8()))
    write_arrow(tmp_path / "odd" / "subscriptions.arrow", odd, SCHEMAS["subscriptions"])
    with pytest.raises(CorruptStore, match=r"subscriptions\.arrow is damaged \(its ids do not ascend\)"):
        LazySegment.stored(tmp_path / "odd").find(["a"])


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("subscriptions", "node", 99_999),
        ("subscriptions", "node", -1),
        ("nodes", "children", [99_999]),
        ("nodes", "operator", "xor"),
        ("nodes", "predicate", -1),
        ("predicates", "attribute", 77),
        ("predicates", "operator", "~"),
        ("predicates", "constants", [-3]),
        ("constants", "kind", "blob"),
    ],
)
def test_one_rule_of_a_damaged_segment_is_refused(
    stored: LazySegment, tmp_path: Path, table: str, column: str, value: object
) -> None:
    schema = SCHEMAS[table]
    old = stored.tables[table]
    values = pa.array([value] * old.num_rows, schema.field(column).type)
    damaged = old.set_column(schema.get_field_index(column), schema.field(column), values)
    write_arrow(tmp_path / "new.arrow", damaged, schema)
    (tmp_path / "new.arrow").replace(tmp_path / "segment" / f"{table}.arrow")
    with pytest.raises(CorruptStore, match=r"\.arrow is damaged .*publish the rule set again"):
        LazySegment.stored(tmp_path / "segment").rule(5)


def test_flipped_bytes_never_crash(stored: LazySegment, tmp_path: Path) -> None:
    file = tmp_path / "segment" / "subscriptions.arrow"
    whole = file.read_bytes()
    random = np.random.default_rng(1)
    for _ in range(200):
        damaged = bytearray(whole)
        damaged[random.integers(len(whole))] ^= int(random.integers(1, 256))
        file.write_bytes(damaged)
        lazy = LazySegment.stored(tmp_path / "segment")
        try:
            lazy.find(["r7"])
            lazy.rule(7)
        except CorruptStore:
            pass


@pytest.mark.parametrize("whole", [False, True], ids=["one rule", "the whole segment"])
def test_an_instant_out_of_range_is_damage(tables: dict[str, pa.Table], tmp_path: Path, whole: bool) -> None:
    rules = tables["subscriptions"]
    late = pa.array([2**62] * len(rules), pa.int64()).cast(SCHEMAS["subscriptions"].field("valid_until").type)
    place = rules.schema.get_field_index("valid_until")
    damaged = rules.set_column(place, rules.schema.field(place), late)
    write_segment(tmp_path / "segment", {**tables, "subscriptions": damaged})
    stored = LazySegment.stored(tmp_path / "segment")
    if whole:
        assert len(stored.segment.rules.id) == len(IDS)
    with pytest.raises(CorruptStore, match="out of range"):
        stored.rule(3)
