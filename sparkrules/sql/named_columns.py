"""Which columns an attribute names, of derived attributes as well."""

from __future__ import annotations

import sqlglot
from sqlglot import exp


def columns_in(sql: str) -> frozenset[str]:
    """The columns that an expression names, in lower case; of a field of a struct, the struct.

    >>> sorted(columns_in("concat(lower(Name), addr.city)")), sorted(columns_in("exists(tags, t -> length(t) > n)"))
    (['addr', 'name'], ['n', 'tags'])
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="spark")
    except sqlglot.ParseError:
        return frozenset()
    return frozenset(column.parts[0].name.lower() for column in tree.find_all(exp.Column))
