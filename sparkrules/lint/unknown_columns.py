"""Columns that a table lacks, wherever a rule names them: left, right, or inside functions.

A string without quotes looks like a column: `kind = login`.

>>> from sparkrules.sql import parse_rule
>>> texts = {"a": "prise > 10", "b": "lower(kind) = login"}
>>> rules = [Rule(id, text, parse_rule(text)) for id, text in texts.items()]
>>> schema = pa.schema([("price", pa.int32()), ("kind", pa.string())])
>>> [(finding.message, finding.suggestion) for finding in unknown_column_findings(rules, schema)]
[('there is no column `prise`', 'Did you mean `price`?'), ('there is no column `login`', "Did you mean 'login'? A \
string needs quotes.")]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

import pyarrow as pa

from sparkrules.index.rule import Rule
from sparkrules.lint.finding import Finding, Place, quoted
from sparkrules.lint.locate import Locator
from sparkrules.logic.columns import NoSuchColumn, Unsupported, find_column, is_name
from sparkrules.sql.named_columns import names_in
from sparkrules.sql.tree import Predicate, distinct_predicates

_SHOWN = 5


def unknown_column_findings(rules: Sequence[Rule], schema: pa.Schema) -> Iterator[Finding]:
    """One finding for each name, with all rules that use it."""
    columns = Columns(schema)
    used: dict[str, dict[str, tuple[Rule, Predicate]]] = {}
    for rule in rules:
        for predicate in distinct_predicates(rule.tree):
            for name in columns.missing(predicate.attribute):
                used.setdefault(name, {}).setdefault(rule.id, (rule, predicate))
    for name, found in used.items():
        places: list[Place] = []
        for rule, predicate in list(found.values())[:_SHOWN]:
            places += Locator(rule).places(predicate)
        # In `login = 'x'`, a column is clearly intended.
        alone = all(predicate.attribute.lower() == name.lower() for _, predicate in found.values())
        remedy = columns.remedy(name, may_be_text=not alone)
        message = f"there is no column {name if name.startswith('`') else quoted(name)}"
        yield Finding("unknown column", tuple(found), message, tuple(places), remedy)


class Columns:
    """The columns of a schema. Each attribute is checked once."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema
        self._missing: dict[str, list[str]] = {}

    def missing(self, attribute: str) -> list[str]:
        """The names in an attribute that are not columns of the schema."""
        if attribute not in self._missing:
            self._missing[attribute] = [*dict.fromkeys(filter(self._is_missing, _names(attribute)))]
        return self._missing[attribute]

    def remedy(self, name: str, *, may_be_text: bool) -> str:
        """A suggestion of what was intended."""
        near = self._near(name)
        may_be_text = may_be_text and not {".", "`"}.intersection(name)
        if near:
            text = f", or the string '{name}'" if may_be_text else ""
            return f"Did you mean `{near}`{text}?"
        if may_be_text:
            return f"Did you mean '{name}'? A string needs quotes."
        return "Add the column to the table, or correct the name."

    def _near(self, name: str) -> str | None:
        """A column or field with a similar name. For a struct field, first in the same struct, then anywhere."""
        before, _, last = name.lower().rpartition(".")
        for parent in dict.fromkeys([before, ""]):
            paths = [path for path in _paths(self.schema) if not parent or path.lower().rpartition(".")[0] == parent]
            by_last = {path.lower().rpartition(".")[2]: path for path in reversed(paths)}
            found = get_close_matches(last, by_last, n=1)
            if found:
                return by_last[found[0]]
        return None

    def _is_missing(self, name: str) -> bool:
        try:
            find_column(name, self.schema)
        except NoSuchColumn:
            return True
        except Unsupported:
            return False
        return False


def _names(attribute: str) -> list[str]:
    """The column names in an attribute, as written."""
    if is_name(attribute):
        return [attribute]
    return [".".join(map(_written, parts)) for parts in names_in(attribute)]


def _written(part: str) -> str:
    return part if is_name(part) and "." not in part else "`" + part.replace("`", "``") + "`"


def _paths(schema: pa.Schema) -> Iterator[str]:
    """All columns, then the fields of structs, by full name."""
    waiting = [(field.name, field.type) for field in schema]
    for path, type_ in waiting:
        yield path
        if pa.types.is_struct(type_):
            fields = [type_.field(number) for number in range(type_.num_fields)]
            waiting += [(f"{path}.{field.name}", field.type) for field in fields]
