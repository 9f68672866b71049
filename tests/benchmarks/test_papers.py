"""The five papers: a small run of the experiments, resumed; the page is what the committed results give."""

from __future__ import annotations

import doctest
import json
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import verdict
from benchmarks.papers import chart, distributions, page, thesis_claims
from benchmarks.papers.__main__ import DOCS, RESULTS, main
from benchmarks.papers.distributions import EVENTS, PROFILES, shape
from benchmarks.papers.experiment import Result
from benchmarks.papers.experiments import EXPERIMENTS
from benchmarks.papers.texts import HIGHLIGHTS, PAPERS
from benchmarks.race import workload_file
from benchmarks.verdict import VERDICTS

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_JVM = [name for name in EXPERIMENTS if not name.startswith("thesis-")]


def test_a_small_run_writes_results_a_page_and_plots_and_resumes(tmp_path: Path) -> None:
    where = ["--results", str(tmp_path / "results"), "--docs", str(tmp_path / "docs")]
    assert main(["--smoke", "--only", *WITHOUT_JVM, *where]) == 0
    files = sorted((tmp_path / "results").iterdir())
    assert [file.stem for file in files] == sorted(WITHOUT_JVM)
    written = (tmp_path / "docs" / "papers.md").read_text(encoding="utf-8")
    claims = [
        claim
        for name in WITHOUT_JVM
        for claim in EXPERIMENTS[name].claims(
            Result.read(tmp_path / "results" / f"{name}.json").options,
            Result.read(tmp_path / "results" / f"{name}.json").points,
        )
    ]
    assert f"{len(claims)} claims" in written
    assert all(claim.text in written and claim.judged.verdict in VERDICTS for claim in claims)
    assert {file.name for file in (tmp_path / "docs" / "papers").iterdir()} >= {
        "verdicts.svg",
        "distribution-values.svg",
    }

    # A point is taken away: only that one is measured again.
    gone = json.loads(files[0].read_text(encoding="utf-8"))
    key = next(iter(gone["points"]))
    kept = {other: own for other, own in gone["points"].items() if other != key}
    files[0].write_text(json.dumps(gone | {"points": kept}), encoding="utf-8")
    said: list[str] = []
    experiment = EXPERIMENTS[files[0].stem]
    resumed = experiment.run("smoke", tmp_path / "results", said.append)
    assert len(said) == 1
    assert key in said[0]
    assert resumed.points.keys() == gone["points"].keys()


def test_the_page_is_what_the_results_give(tmp_path: Path) -> None:
    found = {name: Result.read(RESULTS / f"{name}.json") for name in EXPERIMENTS}
    page.write_page(found, tmp_path)
    remedy = "the page is out of date: python -m benchmarks.papers --page"
    assert (tmp_path / "papers.md").read_text(encoding="utf-8") == (DOCS / "papers.md").read_text(encoding="utf-8"), (
        remedy
    )
    drawn = {file.name: file.read_text(encoding="utf-8") for file in (tmp_path / "papers").iterdir()}
    kept = {file.name: file.read_text(encoding="utf-8") for file in (DOCS / "papers").iterdir()}
    assert drawn == kept, remedy


def test_the_results_are_those_of_a_full_run() -> None:
    for name, experiment in EXPERIMENTS.items():
        found = Result.read(RESULTS / f"{name}.json")
        assert found.options == json.loads(json.dumps(experiment.options["full"])), name
        assert set(experiment.points(found.options)) == set(found.points), name


def test_what_the_papers_stand_for_is_among_the_claims() -> None:
    for _, name, text in HIGHLIGHTS:
        found = Result.read(RESULTS / f"{name}.json")
        assert text in {claim.text for claim in EXPERIMENTS[name].claims(found.options, found.points)}


def test_every_experiment_is_on_the_page_and_every_module_exists() -> None:
    assert [name for paper in PAPERS for name in paper.experiments] == list(EXPERIMENTS)
    for paper in PAPERS:
        for _, module, tests, _ in paper.modules:
            assert (ROOT / module).is_file(), module
            assert (ROOT / tests).is_file(), tests


@pytest.mark.parametrize(
    "module", [verdict, chart, distributions, thesis_claims, workload_file], ids=lambda module: module.__name__
)
def test_examples_in_docstrings_are_right(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", sorted({*EVENTS, *PROFILES}))
@pytest.mark.parametrize("size", [6, 50, 100])
def test_distributions_are_distributions(name: str, size: int) -> None:
    own = shape(name, size)
    assert own.sum() == pytest.approx(1)
    assert (own >= 0).all()
    assert (own == 0).any() == name.startswith("only")
