"""The attributes of a rule set over the columns of a DataFrame: which ones Spark accepts, and their types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sparkrules.catalyst.python_engine.analysis import Rejection, analyzed
from sparkrules.catalyst.python_engine.guarded import apart, computable, guarded_value
from sparkrules.catalyst.python_engine.names import is_name, names_in, no_columns
from sparkrules.rules.table_schema import is_char
from sparkrules.sql.called_functions import functions_in
from sparkrules.sql.functions import SCALAR_FUNCTIONS
from sparkrules.sql.predicate_sql import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructField


@dataclass(frozen=True)
class Attribute:
    """An expression over the columns that Spark accepts.

    `column` is its position if it is one of the DataFrame's columns. `can_fail` is false if it only names something;
    otherwise it is computed under guard. Then it `is_apart`, unless it calls a Python function, which Spark does not
    allow there. `nullable` is Spark's view: Spark does not compute a value to test it for NULL if it is never NULL.
    `is_char`: strings of a CHAR(n), which Spark pads only where it compares them as a column.
    """

    sql: str
    type: DataType
    column: int | None = None
    can_fail: bool = False
    is_apart: bool = False
    nullable: bool = True
    is_char: bool = False

    @property
    def value(self) -> str:
        """SQL of its value, NULL where it cannot be computed."""
        if self.can_fail:
            return guarded_value(f"({self.sql})", self._fingerprint)
        # A CHAR(n) field would become a CHAR(n) column, too.
        return f"coalesce({self.sql})" if self.is_char else f"({self.sql})"

    @property
    def computable(self) -> str:
        """SQL of whether it can be computed."""
        return computable(self._fingerprint)

    @property
    def _fingerprint(self) -> str:
        return f"CAST(({self.sql}) AS STRING)" if _has_no_hash(self.type) else f"hash(({self.sql}))"


class Attributes:
    """Attributes over a DataFrame. `frame` adds missing columns to its columns, if they are to be read as NULL."""

    def __init__(self, df: DataFrame, *, missing_as_null: bool) -> None:
        self.frame = self._df = df
        self.variable = _unused("sparkrules_zero", {name.lower() for name in df.columns})
        self._missing_as_null = missing_as_null
        is_exact = (df.sparkSession.conf.get("spark.sql.caseSensitive", None) or "false").lower() == "true"
        self._case = str if is_exact else str.lower
        self._columns = [self._case(name) for name in df.columns]
        self._null_paths: set[tuple[str, ...]] = set()

    def of(self, texts: Sequence[str]) -> list[Attribute | Rejection]:
        """The attribute of each text, or why it is rejected."""
        found: list[Attribute | Rejection] = [self._named(text) for text in texts]
        open_ = [number for number, own in enumerate(found) if isinstance(own, Rejection) and not own.reason]
        while open_:
            types = analyzed(self.frame, [f"({texts[number]})" for number in open_])
            missing: dict[int, tuple[str, ...]] = {}
            for number, own in zip(open_, types, strict=True):
                if isinstance(own, Rejection):
                    found[number] = own
                    if own.missing and self._missing_as_null and own.missing not in self._null_paths:
                        missing[number] = own.missing
                else:
                    found[number] = _attribute(texts[number], own, can_fail=not is_name(texts[number]))
            if missing:
                self._null_paths.update(missing.values())
                self.frame = self._with_nulls()
            # Spark reports one missing column of an expression at a time.
            open_ = list(missing)
        self._refuse_no_columns(found)
        return self._placed(found)

    def _named(self, text: str) -> Attribute | Rejection:
        """A plain column, or a missing one, without asking Spark."""
        from pyspark.sql.types import NullType

        if not is_name(text):
            return Rejection("")
        (parts,) = names_in(text)
        places = [place for place, name in enumerate(self._columns) if name == self._case(parts[0])]
        if len(parts) == 1 and len(places) == 1:
            return _attribute(text, self._df.schema[places[0]], column=places[0])
        if places or (len(parts) > 1 and self._case(parts[1]) in self._columns):
            return Rejection("")
        return Attribute("NULL", NullType()) if self._missing_as_null else Rejection.no_column(parts)

    def _refuse_no_columns(self, found: list[Attribute | Rejection]) -> None:
        strange = {
            number: unknown
            for number, own in enumerate(found)
            if isinstance(own, Attribute) and own.column is None and (unknown := list(self._unknown(own.sql)))
        }
        known = no_columns(self.frame.sparkSession, {name for names in strange.values() for name in names})
        for number, names in strange.items():
            for name in names:
                if name in known:
                    found[number] = Rejection.no_column(name)

    def _unknown(self, sql: str) -> Iterable[tuple[str, ...]]:
        nulls = {self._case(path[0]) for path in self._null_paths}
        for parts in names_in(sql):
            if not any(self._case(part) in self._columns or self._case(part) in nulls for part in parts[:2]):
                yield parts

    def _placed(self, found: list[Attribute | Rejection]) -> list[Attribute | Rejection]:
        """The attributes, with whether Spark can compute those that can fail apart."""
        own = {number: one for number, one in enumerate(found) if isinstance(one, Attribute) and one.can_fail}
        doubtful = [number for number, one in own.items() if not functions_in(one.sql) <= SCALAR_FUNCTIONS]
        tried = analyzed(self.frame, [apart(own[number].value, self.variable) for number in doubtful])
        stay = {number for number, answer in zip(doubtful, tried, strict=True) if isinstance(answer, Rejection)}
        placed = {number: replace(one, is_apart=number not in stay) for number, one in own.items()}
        return [placed.get(number, one) for number, one in enumerate(found)]

    def _with_nulls(self) -> DataFrame:
        tree: dict[str, Any] = {}
        for path in sorted(self._null_paths):
            at = tree
            for part in path:
                at = at.setdefault(part, {})
        return self._df.selectExpr("*", *(f"{_null(fields)} AS {quoted(name)}" for name, fields in tree.items()))


def _attribute(sql: str, field: StructField, *, can_fail: bool = False, column: int | None = None) -> Attribute:
    return Attribute(sql, field.dataType, column, can_fail, nullable=field.nullable, is_char=is_char(field))


def _null(fields: dict[str, Any]) -> str:
    return "NULL" if not fields else f"CAST(NULL AS {_null_type(fields)})"


def _null_type(fields: dict[str, Any]) -> str:
    if not fields:
        return "VOID"
    return f"STRUCT<{', '.join(f'{quoted(name)}: {_null_type(own)}' for name, own in fields.items())}>"


def _unused(name: str, taken: Iterable[str]) -> str:
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def _has_no_hash(type_: Any) -> bool:
    """Whether Spark cannot hash values of a type: maps and variants, also nested in other types."""
    text = type_.simpleString().lower()
    return "map<" in text or "variant" in text
