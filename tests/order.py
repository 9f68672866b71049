"""Groups the tests for the workers that share the suite, and orders the groups.

`make test` has several workers, each with its own Spark. Tests that share a server or other expensive fixtures form a
group, which goes to one worker; every other file is a group, too. The longest groups come first, so that no worker is
left with a long one when the others are done. `pytest --group-seconds` shows how long each took.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

# Group: the files or folders in it. Those that wait for servers alternate with those that keep a core busy.
GROUPS: dict[str, tuple[str, ...]] = {
    "connect": ("tests/servers/test_connect.py",),
    "spark-parser": ("tests/sql/test_against_spark_parser.py",),
    "segments": ("tests/spark/test_segments.py",),
    "crashes": ("tests/store/test_crashes.py",),
    "killed-streams": ("tests/servers/test_killed_streams.py",),
    "types": ("tests/spark/test_types.py",),
    "stores": ("tests/stores",),
    "cluster": ("tests/servers/test_cluster.py",),
    "metering": ("tests/spark/test_metering.py",),
    "python-functions": (
        "tests/spark/test_python_functions.py",
        "tests/spark/test_python_functions_everywhere.py",
    ),
    "bounds": ("tests/spark/test_bounds.py",),
    "thriftserver": ("tests/servers/test_thriftserver_command.py",),
    "streams": ("tests/spark/test_streams.py",),
    "thrift": (
        "tests/servers/test_thrift.py",
        "tests/servers/test_thrift_clients.py",
        "tests/servers/test_bi_page.py",
    ),
    "attacks": ("tests/hostile/test_attacks.py",),
    "overlaps": ("tests/spark/test_overlaps.py", "tests/spark/test_overlaps_table.py", "tests/spark/test_overlap.py"),
    "thrift-access": ("tests/servers/test_thrift_access.py",),
    "without-plugin": ("tests/servers/test_without_plugin.py",),
    "scala": ("tests/catalyst/test_scala_units.py",),
    "shells": ("tests/servers/test_shells.py",),
    "python-engine": ("tests/api/test_python_engine.py",),
    "notebooks": ("tests/docs/test_notebooks.py",),
    "pages": ("tests/docs/test_pages.py",),
    "pattern-benchmark": ("tests/benchmarks/test_patterns.py",),
    "postgres": ("tests/spark/test_postgres.py",),
    "hostile-stores": ("tests/spark/test_hostile_stores.py",),
    "browser": ("tests/report/test_browser.py", "tests/docs/test_site.py"),
    "catalog": ("tests/spark/test_catalog.py",),
    "report-command": ("tests/report/test_command.py",),
    "fuzz": ("tests/fuzz",),
    "demo": ("tests/demo",),
    "regions": ("tests/spark/test_regions.py",),
    "cli-match": ("tests/cli/test_match.py",),
    "advertisements": ("tests/api/test_advertisements.py",),
    "procedures": ("tests/api/test_catalog_procedures.py",),
    "deep-texts": ("tests/sql/test_deep_texts.py",),
    "integrity": ("tests/spark/test_store_integrity.py",),
    "rewritten": ("tests/spark/test_rewritten.py",),
    "statistics": ("tests/spark/test_statistics.py",),
    "scan-filter": ("tests/spark/test_scan_filter.py",),
    "char-columns": ("tests/spark/test_char_columns.py",),
    "dense": ("tests/spark/test_dense.py",),
    "stored-overlaps": ("tests/store/test_stored_overlaps.py",),
}
# Hundreds of tests of a moment: at the end, where they fill up whichever worker is free.
LAST: dict[str, tuple[str, ...]] = {"doctests": ("sparkrules", "docs")}


_PLACES = {group: place for place, group in enumerate(GROUPS)} | dict.fromkeys(LAST, len(GROUPS) + 1)


def place(nodeid: str) -> int:
    """The lower, the earlier its group is handed out."""
    return _PLACES.get(group(nodeid), len(GROUPS))


def group(nodeid: str) -> str:
    """The group of a test: the name of one above, or its file.

    >>> group("tests/servers/test_bi_page.py::test_the_page_does_what_it_says")
    'thrift'
    """
    path = nodeid.partition("::")[0]
    for name, members in {**GROUPS, **LAST}.items():
        if any(path == member or path.startswith(f"{member}/") for member in members):
            return name
    return path


def seconds(reports: Iterable[pytest.TestReport]) -> list[tuple[str, str, float]]:
    """Worker, group and how long its tests took, longest first."""
    taken: Counter[tuple[str, str]] = Counter()
    for report in reports:
        taken[getattr(report, "worker_id", ""), group(report.nodeid)] += report.duration
    return [(worker, group, spent) for (worker, group), spent in taken.most_common()]
