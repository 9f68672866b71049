"""Which columns an attribute names, of derived attributes as well."""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError


def columns_in(sql: str) -> frozenset[str]:
    """The columns that an expression names, in lower case; of a field of a struct, the struct.

    >>> sorted(columns_in("concat(lower(Name), addr.city)")), sorted(columns_in("exists(tags, t -> length(t) > n)"))
    (['addr', 'name'], ['n', 'tags'])
    """
    return frozenset(name[0].lower() for name in names_in(sql))


def names_in(sql: str) -> list[tuple[str, ...]]:
    """The names of an expression that stand for columns, each once and in its parts; none if it cannot be read.

    >>> names_in("lower(Kind) = login AND addr.city = kind AND exists(tags, t -> t.x = n)")
    [('Kind',), ('login',), ('addr', 'city'), ('kind',), ('tags',), ('n',)]
    """
    try:
        tree = sqlglot.parse_one(sql, dialect="spark")
    except (SqlglotError, RecursionError):
        return []
    found = (tuple(part.name for part in column.parts) for column in tree.find_all(exp.Column, bfs=False))
    return list(dict.fromkeys(found))
