"""Results are stored, printed and plotted."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from benchmarks import report
from benchmarks.measurement import FLOOR, OURS, PLAIN, Measurement, Preparation
from benchmarks.plot import svg
from benchmarks.results import Results

RESULTS = Results(
    {"Spark": "4.3.0"},
    [Preparation("auctions", 1_000, 764, 3_542, 0.3, 0.4, 1.0, {"classes": "3"})],
    [
        Measurement("auctions", 1_000, "kernel", OURS, 50_000, 200_000.0, matches_per_row=2.5, bytes_per_rule=310.0),
        Measurement("auctions", 1_000, "spark", OURS, 100_000, 100_000.0, matches_per_row=2.5),
        Measurement("auctions", 1_000, "spark", FLOOR, 100_000, 1_000_000.0),
        Measurement("auctions", 1_000, "spark", PLAIN, 0, None, note="not done after 60 s"),
    ],
)


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    RESULTS.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == RESULTS


def test_a_newer_figure_replaces_the_older() -> None:
    results = Results(measurements=list(RESULTS.measurements))
    newer = Measurement("auctions", 1_000, "kernel", OURS, 50_000, 300_000.0)
    results.add(newer)
    assert len(results.measurements) == len(RESULTS.measurements)
    assert newer in results.measurements


def test_ratios_are_of_the_time_per_row() -> None:
    ours, floor, plain = report.spark_table(RESULTS.measurements)
    times_floor = report.SPARK_HEAD.index("x floor")
    assert (ours[times_floor], floor[times_floor], plain[times_floor]) == ("10", "", "")


def test_tables_have_a_line_for_each_figure() -> None:
    for _, head, table in report.sections(RESULTS):
        assert {len(row) for row in table} == {len(head)}
        assert len(report.plain(head, table).splitlines()) == len(report.markdown(head, table).splitlines())


def test_the_plot_has_the_engines_that_ended() -> None:
    labels = [
        text.text for text in ElementTree.fromstring(svg(RESULTS.measurements)).iter() if text.tag.endswith("text")
    ]
    assert {OURS, FLOOR} <= set(labels)
    assert PLAIN not in labels
