"""What a text means in each dialect, according to its documentation: one module per dialect.

`tests/spark/test_dialects.py` runs the translations where a dialect and Spark differ in more than spelling.
"""

from __future__ import annotations

from tests.sql.dialects import bigquery, mysql, postgres, snowflake, tsql

_DIALECTS = {"postgres": postgres, "snowflake": snowflake, "mysql": mysql, "tsql": tsql, "bigquery": bigquery}
TRANSLATED = [(name, *pair) for name, dialect in _DIALECTS.items() for pair in dialect.TRANSLATED]
REFUSED = [(name, *pair) for name, dialect in _DIALECTS.items() for pair in dialect.REFUSED]
