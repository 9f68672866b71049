"""Depth and length: texts that exhaust the stack of whatever parses them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.attacks.pieces import nested, text


def depth() -> Iterator[str]:
    yield nested("CASE WHEN {x} > 0 THEN a ELSE 1 END", 30, "a") + " > 0"
    yield nested("if({x} > 0, a, 1)", 55, "a") + " > 0"
    yield nested("coalesce({x}, 1)", 63, "a") + " > 0"
    yield nested("array({x})", 60, "a") + " IS NULL"
    yield nested("struct({x})", 60, "a") + " IS NULL"
    yield nested("named_struct('a', {x})", 60, "a") + " IS NULL"
    yield nested("map('a', {x})", 60, "a") + " IS NULL"
    yield nested("to_json(named_struct('a', {x}))", 30, "a") + " = 'x'"
    yield nested("array({x}, {x})", 9, "a") + " IS NULL"
    yield nested("({x} + {x})", 9, "a") + " = 1"
    yield nested("abs({x}, {x})", 8, "a") + " = 1"
    yield nested("transform(array(1), q -> {x})", 30, "q") + " IS NULL"
    yield nested("exists(array(1), q -> {x})", 60, "q > 0")
    yield nested("aggregate(array(1), 0, (acc, q) -> {x})", 30, "acc + q") + " = 1"
    yield nested("filter(xs, q -> size({x}) > 0)", 30, "xs") + " IS NULL"
    yield nested("CAST({x} AS STRING)", 60, "a") + " = 'x'"
    yield "a" + "::string::int" * 300 + " = 1"
    yield "a" + " + a" * 990 + " > 1"
    yield "a" + " - 1" * 990 + " > 1"
    yield "s" + " || s" * 990 + " = 'x'"
    yield "a" + " * a" * 700 + " > 1"
    yield "dec" + " * dec" * 400 + " > 1"
    yield "a = 1" + " OR a = 2" * 50_000
    yield "(a = 1" + " AND s <> 'x'" * 20_000 + ")"
    yield "NOT (" * 60 + "a = 1" + ")" * 60
    yield "- " * 60 + "a = 1"
    yield "a IN (" + ", ".join(f"{i}" for i in range(100_000)) + ")"
    yield "a IN (" + ", ".join(f"a + {i}" for i in range(300)) + ")"
    yield "a IN (" + ", ".join(f"CAST('{i}' AS INT)" for i in range(500)) + ")"
    yield "concat(" + ", ".join(["s"] * 900) + ") = 'x'"
    yield "array(" + ", ".join(["t"] * 900) + ")[0] = 'x'"
    yield "struct(" + ", ".join(["t"] * 900) + ") IS NULL"
    yield "s LIKE ANY (" + ", ".join(f"'%{i}%'" for i in range(5_000)) + ")"
    yield "s NOT LIKE ALL (" + ", ".join(f"'%{i}_'" for i in range(5_000)) + ")"
    yield "CASE " + " ".join(f"WHEN a = {i} THEN {i}" for i in range(300)) + " END = 1"
    yield "a" + "[0]" * 60 + " = 1"
    yield "j:" + ".".join(["a"] * 500) + " = 1"
    yield "parse_json(j):" + "a" + "[0]" * 500 + "::int = 1"
    yield "x.a" + ".a" * 60 + " = 1"
    yield f"CAST(NULL AS {'struct<a:' * 60}int{'>' * 60}) IS NULL"
    yield f"from_json(s, '{'(' * 5_000}') IS NULL"
    yield f"from_json(s, 'a {'decimal(' * 5_000}') IS NULL"
    yield f"from_json(s, {text('{' * 50_000)}) IS NULL"
    array = '{"type":"array","containsNull":true,"elementType":' * 900
    yield "from_json(s, " + text(array + '"int"' + "}" * 900) + ") IS NULL"
    yield "named_struct(" + ", ".join(f"'a{i}', {i}" for i in range(480)) + ").a7 = 1"
    yield "map(" + ", ".join(f"'a{i}', {i}" for i in range(480)) + ")['a7'] = 1"
    yield "interval " + " ".join(["1 day"] * 900) + " = INTERVAL 1 DAY"
    yield "INTERVAL '" + "1 " * 100_000 + "' DAY = INTERVAL 1 DAY"
    yield "a = " + "9" * 900_000
    yield "a = 0." + "0" * 900_000 + "1"
    yield "n = 1e" + "9" * 100_000
    yield "n = CAST('" + "9" * 900_000 + "' AS DOUBLE)"
    yield "s = '" + "\\\\u0041" * 100_000 + "'"
    yield "`" + "x" * 900_000 + "` = 1"
    yield ".".join(["s"] * 900) + " = 1"
