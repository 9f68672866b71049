"""Leaks of information that a rule must not see: the environment, settings, files."""

from __future__ import annotations

from collections.abc import Iterator


def leak() -> Iterator[str]:
    for told in [
        "'${env:HOSTILE_SECRET}'",
        "'${system:user.home}'",
        "'${spark.hostile.secret}'",
        "'${hiveconf:spark.hostile.secret}'",
        "current_user()",
        "session_user()",
        "user()",
        "current_catalog()",
        "current_database()",
        "current_schema()",
        "version()",
        "current_path()",
        "input_file_name()",
        "input_file_block_start()",
        "reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "java_method('java.lang.System', 'getProperty', 'java.class.path')",
        "try_reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "IDENTIFIER('reflect')('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "IDENTIFIER(concat('ref', 'lect'))('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "system.builtin.reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "builtin.java_method('java.lang.System', 'getenv', 'HOSTILE_SECRET')",
        "uuid()",
        "spark_partition_id()",
        "(SELECT max(value) FROM text.`{canary}`)",
        "(SELECT count(*) FROM csv.`{canary}`)",
        "(SELECT first(value) FROM VALUES (reflect('java.lang.System', 'getenv', 'HOSTILE_SECRET')) AS t(value))",
        "(FROM range(10) SELECT max(id))",
        "a_variable",
        "session.a_variable",
        "system.session.a_variable",
    ]:
        yield f"{told} = 'x'"
        yield f"length(concat({told}, '')) > 0"
        yield f"CAST({told} AS INT) = 1"
    yield "raise_error(s)"
    yield "raise_error(concat('${env:HOSTILE_SECRET}', s)) IS NULL"
    yield "assert_true(a > 5, t) IS NULL"
    yield "CAST(s AS INT) > 1"
    yield "CAST(t AS DATE) = d"
    yield "to_number(t, '999') = 1"
    yield "from_json(t, 'a INT', map('mode', 'FAILFAST')).a = 1"
    yield "validate_utf8(b) = 'x'"
    yield "element_at(xs, 100000) = 1"
    yield "a / 0 > 1"
    yield "a IN (SELECT id FROM range(10))"
    yield "EXISTS (SELECT 1 FROM text.`{canary}`)"
    yield "size(match_subscriptions('hostile', a).ids) > 0"
    yield "match_subscriptions('hostile@1', *).ids[0] = 'x'"
