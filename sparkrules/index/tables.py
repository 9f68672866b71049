"""Convert a segment to Arrow tables and back. `docs/store-format.md` defines the columns.

Contract: `from_tables(to_tables(segment))` equals the segment. `from_tables` trusts nothing. It checks that every
reference to another row is in range, children come before parents, operators and kinds are known, and levels are
correct. So code that holds a `Segment` need not check again. It raises `CorruptSegment` with the table and the row.

>>> from sparkrules.index.builder import build_segment
>>> tables = to_tables(build_segment([]))
>>> tables["predicates"].schema.names
['attribute', 'operator', 'constants']
>>> tables["predicates"] = pa.table({"attribute": [7], "operator": ["="], "constants": [[0]]}, PREDICATES)
>>> from_tables(tables)
Traceback (most recent call last):
...
sparkrules.index.tables.CorruptSegment: predicates, row 0: attribute 7 does not exist
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparkrules.errors import CorruptStore
from sparkrules.index.arrow_arrays import (
    INSTANT,
    arrow_of,
    instants_from_arrow,
    instants_to_arrow,
    lists_to_arrow,
    numpy_of,
    texts_to_arrow,
)
from sparkrules.index.csr import Csr, Ints
from sparkrules.index.forest import (
    KINDS,
    NODE_OPERATORS,
    PREDICATE,
    Codes,
    Constants,
    Forest,
    Nodes,
    Predicates,
    Strings,
)
from sparkrules.index.rule import LIVE, STATUSES
from sparkrules.index.rule_columns import Instants, RuleColumns, Tags, tag_lists
from sparkrules.index.segment import Segment
from sparkrules.sql.tree import OPERATORS

_NUMBERS = pa.list_(pa.int32())
PREDICATES = pa.schema([("attribute", pa.int32()), ("operator", pa.utf8()), ("constants", _NUMBERS)])
SCHEMAS: dict[str, pa.Schema] = {
    "attributes": pa.schema([("sql", pa.utf8())]),
    "constants": pa.schema([("kind", pa.utf8()), ("text", pa.utf8())]),
    "predicates": PREDICATES,
    "nodes": pa.schema(
        [
            ("operator", pa.utf8()),
            ("predicate", pa.int32()),
            ("children", _NUMBERS),
            ("level", pa.int32()),
            ("use_count", pa.int32()),
        ]
    ),
    "subscriptions": pa.schema(
        [
            ("id", pa.utf8()),
            ("node", pa.int32()),
            ("priority", pa.int32()),
            ("where", pa.utf8()),
            ("metadata", pa.utf8()),
            ("sql", pa.utf8()),
            ("valid_from", INSTANT),
            ("valid_until", INSTANT),
            ("ticket", pa.utf8()),
            ("status", pa.utf8()),
            ("tags", pa.list_(pa.utf8())),
            ("exemptions", pa.utf8()),
        ]
    ),
    "functions": pa.schema([("name", pa.utf8())]),
}
# Columns that a file has only if one of its rules has a value. Older versions of sparkrules do not know them.
OPTIONAL = {"subscriptions": ("status", "tags", "exemptions")}
_NULLABLE = {
    ("subscriptions", name)
    for name in ("metadata", "sql", "valid_from", "valid_until", "ticket", *OPTIONAL["subscriptions"])
}
_NUMBER = r"^-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_TEXTS = {"boolean": "^(true|false)$", "integer": "^-?[0-9]+$", "decimal": _NUMBER, "double": _NUMBER}


class CorruptSegment(CorruptStore):
    """A stored segment is inconsistent. `table` and `row` say where; `row` is None if the whole table is invalid."""

    def __init__(self, table: str, row: int | None, reason: str) -> None:
        super().__init__(f"{table}{'' if row is None else f', row {row}'}: {reason}")
        self.table = table
        self.row = row


def to_tables(segment: Segment) -> dict[str, pa.Table]:
    """The six tables of a segment, keyed by file name."""
    forest = segment.forest
    columns: dict[str, list[Any]] = {
        "attributes": [forest.attributes],
        "constants": [_names(KINDS, forest.constants.kind), forest.constants.text],
        "predicates": [
            forest.predicates.attribute,
            _names(OPERATORS, forest.predicates.operator),
            _lists(forest.predicates.constants),
        ],
        "nodes": [
            _names(NODE_OPERATORS, forest.nodes.operator),
            forest.nodes.predicate,
            _lists(forest.nodes.children),
            forest.nodes.level,
            forest.nodes.use_count,
        ],
        "subscriptions": [rule_column(segment, name) for name in SCHEMAS["subscriptions"].names],
        "functions": [list(segment.functions)],
    }
    return {
        name: pa.table([_column(c, field.type) for c, field in zip(columns[name], schema, strict=True)], schema=schema)
        for name, schema in SCHEMAS.items()
    }


def rule_column(segment: Segment, name: str) -> Any:
    """A column of the table `subscriptions`, as an Arrow array."""
    return _rule_column(segment.forest.roots if name == "node" else getattr(segment.rules, name), name)


def columns_table(rules: RuleColumns) -> pa.RecordBatch:
    """The table `subscriptions` without the column `node`."""
    names = [name for name in SCHEMAS["subscriptions"].names if name != "node"]
    return pa.RecordBatch.from_pydict({name: _rule_column(getattr(rules, name), name) for name in names})


def _rule_column(values: Any, name: str) -> Any:
    if values.dtype.kind == "M":
        return instants_to_arrow(values)
    if name == "tags":
        return lists_to_arrow(values)
    return _column(values, SCHEMAS["subscriptions"].field(name).type)


def from_tables(tables: Mapping[str, pa.Table]) -> Segment:
    """The segment that the tables describe. They are untrusted, so everything is checked."""
    read = {name: _Reader(name, tables) for name in SCHEMAS}
    attributes, constants, predicates = read["attributes"], read["constants"], read["predicates"]
    nodes, rules = read["nodes"], read["subscriptions"]
    forest = Forest(
        attributes.strings("sql"),
        Constants(constants.codes("kind", KINDS), constants.strings("text")),
        Predicates(
            predicates.references("attribute", attributes.rows),
            predicates.codes("operator", OPERATORS),
            predicates.lists("constants", "constant", constants.rows),
        ),
        Nodes(
            nodes.codes("operator", NODE_OPERATORS),
            nodes.ints("predicate"),
            nodes.lists("children", "child", nodes.rows),
            nodes.ints("level"),
            nodes.ints("use_count"),
        ),
        rules.references("node", nodes.rows),
    )
    columns = RuleColumns(
        rules.strings("id"),
        rules.ints("priority"),
        rules.strings("where"),
        rules.strings("metadata"),
        rules.strings("sql"),
        rules.instants("valid_from"),
        rules.instants("valid_until"),
        rules.strings("ticket"),
        rules.strings("status"),
        rules.tags("tags"),
        rules.strings("exemptions"),
    )
    _check_constants(forest.predicates)
    _check_texts(constants.table)
    _check_nodes(forest.nodes, len(forest.predicates))
    _check_ids(columns)
    _check_statuses(columns)
    return Segment(forest, columns, tuple(read["functions"].strings("name").tolist()))


def _check_constants(predicates: Predicates) -> None:
    """A list has any number of constants, `is null` and similar operators none, all others one."""
    wanted = np.array([0 if name.startswith("is ") else -1 if name.endswith("in") else 1 for name in OPERATORS])
    expected, found = wanted[predicates.operator], predicates.constants.lengths
    _refuse(
        "predicates",
        (expected >= 0) & (expected != found),
        lambda row: f"{OPERATORS[predicates.operator[row]]!r} with {found[row]} constants",
    )


def _check_texts(constants: pa.Table) -> None:
    """Numbers must be valid numbers, so that later computations cannot fail."""
    kinds, texts = constants.column("kind"), constants.column("text")
    for kind, pattern in _TEXTS.items():
        wrong = pc.and_(pc.equal(kinds, kind), pc.invert(pc.match_substring_regex(texts, pattern)))
        if pc.any(wrong).as_py():
            row = pc.index(wrong, True).as_py()
            raise CorruptSegment("constants", row, f"{texts[row].as_py()!r} is not of kind {kind}")


def _check_nodes(nodes: Nodes, predicates: int) -> None:
    is_predicate = nodes.operator == PREDICATE
    predicate, children = nodes.predicate, nodes.children
    in_range = (predicate >= 0) & (predicate < predicates)
    _refuse("nodes", is_predicate & ~in_range, lambda row: f"predicate {predicate[row]} does not exist")
    _refuse("nodes", ~is_predicate & (predicate != -1), lambda row: f"a junction has the predicate {predicate[row]}")
    _refuse(
        "nodes",
        is_predicate & (children.lengths > 0),
        lambda row: f"a predicate has the children {children.row(row).tolist()}",
    )
    parent = children.row_numbers()
    late = np.zeros(len(nodes), bool)
    late[parent[children.values >= parent]] = True
    _refuse("nodes", late, lambda row: f"children {children.row(row).tolist()} do not all come before their parent")
    highest = np.zeros(len(nodes), np.int32)
    np.maximum.at(highest, parent, nodes.level[children.values])
    _refuse(
        "nodes",
        nodes.level != highest + 1,
        lambda row: f"level {nodes.level[row]} should be {highest[row] + 1}",
    )
    uses = np.bincount(predicate[is_predicate], minlength=predicates)
    _refuse("predicates", uses != 1, lambda row: f"{uses[row]} nodes stand for this predicate, not one")


def _check_ids(rules: RuleColumns) -> None:
    seen: set[str] = set()
    for row, id in enumerate(rules.id.tolist()):
        if id in seen:
            raise CorruptSegment("subscriptions", row, f"the id {id!r} occurs twice")
        seen.add(id)


def _check_statuses(rules: RuleColumns) -> None:
    """NULL is the only way to write that a rule is live: otherwise a merge would change it."""
    written = set(rules.status.tolist())
    for unknown in written - {None, *STATUSES} | written & {LIVE}:
        _refuse("subscriptions", rules.status == unknown, lambda _, found=unknown: f"unknown status {found!r}")


def _refuse(table: str, wrong: NDArray[np.bool_], reason: Any) -> None:
    if wrong.any():
        row = int(np.argmax(wrong))
        raise CorruptSegment(table, row, reason(row))


class _Reader:
    """The columns of one table, each checked as it is read."""

    def __init__(self, name: str, tables: Mapping[str, pa.Table]) -> None:
        if name not in tables:
            raise CorruptSegment(name, None, "the table is missing")
        self.name = name
        self.table = tables[name]
        self.rows: int = self.table.num_rows

    def ints(self, column: str) -> Ints:
        # Copied, because Arrow's memory may belong to a file that is later unmapped.
        return np.array(numpy_of(self._array(column)), np.int32)

    def references(self, column: str, rows: int) -> Ints:
        numbers = self.ints(column)
        _refuse(self.name, (numbers < 0) | (numbers >= rows), lambda row: f"{column} {numbers[row]} does not exist")
        return numbers

    def strings(self, column: str) -> Strings:
        strings: Strings = np.empty(self.rows, object)
        array = self._array(column)
        if array.null_count < self.rows:
            strings[:] = array.to_pylist()
        return strings

    def tags(self, column: str) -> Tags:
        array = self._array(column)
        if array.null_count == self.rows:
            return np.empty(self.rows, object)
        if array.flatten().null_count:
            raise CorruptSegment(self.name, None, f"{column} contains NULL")
        return tag_lists(tuple(own or ()) for own in array.to_pylist())

    def instants(self, column: str) -> Instants:
        return np.array(instants_from_arrow(self._array(column)))

    def codes(self, column: str, known: Sequence[str]) -> Codes:
        encoded = self._array(column).dictionary_encode()
        names = encoded.dictionary.to_pylist()
        code = np.array([known.index(name) if name in known else 255 for name in names], np.uint8)
        codes: Codes = code[numpy_of(encoded.indices)] if self.rows else np.empty(0, np.uint8)
        texts = encoded.indices
        _refuse(self.name, codes == 255, lambda row: f"unknown {column} {names[texts[row].as_py()]!r}")
        return codes

    def lists(self, column: str, item: str, rows: int) -> Csr:
        array = self._array(column)
        values = array.flatten()
        if values.null_count:
            raise CorruptSegment(self.name, None, f"{column} contains NULL")
        lengths = np.diff(numpy_of(array.offsets))
        csr = Csr.from_lengths(lengths, numpy_of(values))
        wrong = np.zeros(self.rows, bool)
        wrong[csr.row_numbers()[(csr.values < 0) | (csr.values >= rows)]] = True
        _refuse(self.name, wrong, lambda row: f"{item} in {csr.row(row).tolist()} does not exist")
        return csr

    def _array(self, column: str) -> Any:
        wanted = SCHEMAS[self.name].field(column).type
        if column not in self.table.schema.names:
            raise CorruptSegment(self.name, None, f"the column {column} is missing")
        chunked = self.table.column(column)
        if chunked.type != wanted:
            raise CorruptSegment(self.name, None, f"the column {column} is {chunked.type}, not {wanted}")
        chunks = chunked.chunks
        array = chunks[0] if len(chunks) == 1 else pa.concat_arrays([*chunks, pa.nulls(0, wanted)])
        if array.null_count and (self.name, column) not in _NULLABLE:
            null = numpy_of(array.is_null())
            raise CorruptSegment(self.name, int(np.argmax(null)), f"{column} is NULL")
        return array


def _column(values: Any, kind: pa.DataType) -> Any:
    if isinstance(values, np.ndarray) and values.dtype != object:
        return arrow_of(values, kind)
    return values if isinstance(values, pa.Array) else texts_to_arrow(list(values))


def _names(known: Sequence[str], codes: Codes) -> Any:
    return texts_to_arrow(known).take(arrow_of(codes, pa.uint8()))


def _lists(csr: Csr) -> Any:
    return pa.ListArray.from_arrays(
        arrow_of(csr.offsets.astype(np.int32), pa.int32()), arrow_of(csr.values, pa.int32())
    )
