"""What one would write without patterns: a query for each, with window functions and self-joins.

They detect what a pattern with `overlapping=True` and without `suppress` detects.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkrules.patterns.pattern import Pattern, Term


def can_be_written(pattern: Pattern) -> bool:
    """Whether there is a query here for a pattern: what is forgotten after a detection, or waits, is no plain SQL."""
    plain = pattern.kind in ("sequence", "together", "count") and pattern.distinct is None
    return plain and pattern.overlapping and pattern.suppress is None and pattern.after is None


def query(pattern: Pattern, texts: Mapping[str, str], rows: str) -> str:
    """The detections of a pattern: columns `key`, `start` and `end`.

    >>> from sparkrules import RuleSet
    >>> rules = RuleSet("a")
    >>> rules.count("many", "failed", by="user", within="1 second", at_least=3, overlapping=True)
    >>> print(query(rules.patterns["many"], {"failed": "action = 'fail'"}, "logins"))
    SELECT array(CAST(user AS STRING)) AS key, start, at AS end FROM (
      SELECT *, lag(at, 2) OVER (PARTITION BY user ORDER BY at) AS start
      FROM logins WHERE ((action = 'fail')) AND user IS NOT NULL)
    WHERE start IS NOT NULL AND unix_micros(at) - unix_micros(start) <= 1000000
    """
    conditions = [" OR ".join(f"({_text(term, texts)})" for term in step) for step in pattern.steps]
    write = {"count": _count, "together": _together, "sequence": _sequence}[pattern.kind]
    return write(pattern, conditions, rows, "".join(f" AND {column} IS NOT NULL" for column in pattern.by))


def _count(pattern: Pattern, conditions: list[str], rows: str, keyed: str) -> str:
    before = (pattern.at_least or 1) - 1
    return (
        f"SELECT {_key(pattern)} AS key, start, at AS end FROM (\n"
        f"  SELECT *, lag(at, {before}) OVER (PARTITION BY {', '.join(pattern.by)} ORDER BY at) AS start\n"
        f"  FROM {rows} WHERE ({conditions[0]}){keyed})\n"
        f"WHERE start IS NOT NULL AND unix_micros(at) - unix_micros(start) <= {pattern.within}"
    )


def _together(pattern: Pattern, conditions: list[str], rows: str, keyed: str) -> str:
    steps = [f"s{place}" for place in range(len(conditions))]
    tests = ", ".join(f"coalesce({test}, false) AS {step}" for test, step in zip(conditions, steps, strict=True))
    # Rows of one time in the order in which patterns take them.
    mask = " + ".join(f"CAST({step} AS INT) * {2**place}" for place, step in enumerate(steps))
    window = f"PARTITION BY {', '.join(pattern.by)} ORDER BY at, {mask} ROWS UNBOUNDED PRECEDING"
    latest = ", ".join(f"max(CASE WHEN {step} THEN at END) OVER ({window}) AS last_{step}" for step in steps)
    known = " AND ".join(f"last_{step} IS NOT NULL" for step in steps)
    first = f"least({', '.join(f'last_{step}' for step in steps)})"
    return (
        f"SELECT {_key(pattern)} AS key, {first} AS start, at AS end FROM (\n"
        f"  SELECT *, {latest} FROM (SELECT *, {tests} FROM {rows}) WHERE ({' OR '.join(steps)}){keyed})\n"
        f"WHERE {known} AND unix_micros(at) - unix_micros({first}) <= {pattern.within}"
    )


def _sequence(pattern: Pattern, conditions: list[str], rows: str, keyed: str) -> str:
    tables = [
        f"(SELECT * FROM {rows} WHERE ({condition}){keyed}) t{place}" for place, condition in enumerate(conditions)
    ]
    joined, last = tables[0], len(tables) - 1
    for place, table in enumerate(tables[1:], 1):
        same = " AND ".join(f"t{place}.{column} = t0.{column}" for column in pattern.by)
        joined += (
            f"\n  JOIN {table} ON {same} AND t{place}.at > t{place - 1}.at "
            f"AND unix_micros(t{place}.at) - unix_micros(t0.at) <= {pattern.within}"
        )
    return (
        f"SELECT {_key(pattern, 't0.')} AS key, max(t0.at) AS start, t{last}.at AS end FROM {joined}\n"
        f"GROUP BY {', '.join(f't0.{column}' for column in pattern.by)}, t{last}.at, t{last}.event"
    )


def _key(pattern: Pattern, table: str = "") -> str:
    return f"array({', '.join(f'CAST({table}{column} AS STRING)' for column in pattern.by)})"


def _text(term: Term, texts: Mapping[str, str]) -> str:
    return str(term.where) if term.rule is None else texts[term.rule]
