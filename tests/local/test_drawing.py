"""Drawings of rules are well-formed, and distinguish true from false without colour."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from sparkrules import RuleSet
from sparkrules.errors import UnknownId
from tests.report.worlds import HOSTILE, alerts, hostile

_ROW = {"temperature": 35.0, "indoors": False, "city": "Oslo", "status": "ok"}


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [own.text or "" for own in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_rule_is_drawn_without_a_row() -> None:
    assert texts(alerts().draw("hot").svg) == ["hot", "all of", "indoors is false", "temperature > 30"]


def test_with_a_row_every_part_has_a_sign() -> None:
    assert texts(alerts().draw("hot here", _ROW).svg) == [
        "hot here does not match",
        "✗ all of",
        "✓ indoors is false",
        "✗ city = 'Rome'",
        "✓ temperature > 30",
    ]


def test_what_is_false_has_a_dashed_outline() -> None:
    true, false = alerts().draw("hot", _ROW).svg, alerts().draw("frost", _ROW).svg
    assert "stroke-dasharray" not in true
    assert "stroke-dasharray" in false


def test_a_picture_is_shown_and_saved(tmp_path: Path) -> None:
    drawing = alerts().draw("hot")
    assert drawing._repr_svg_() == drawing.save(tmp_path / "hot.svg").read_text(encoding="utf-8")
    assert repr(drawing) == "Drawing('hot')"


@pytest.mark.parametrize("id", HOSTILE)
def test_texts_of_users_are_only_texts(id: str) -> None:
    (heading, *_) = texts(hostile().draw(id).svg)
    assert heading.startswith(id.replace("\x07", "\ufffd").replace("\u2028", "")[:60].strip())


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownId):
        alerts().draw("nobody")


def test_a_huge_rule_is_drawn_in_part() -> None:
    rules = RuleSet("wide")
    rules.subscribe("wide", " OR ".join(f"(a = {n} AND b = {n})" for n in range(500)))
    svg = rules.draw("wide").svg
    assert len(svg) < 200_000
    assert "... and 460 more" in texts(svg)


def test_parts_that_occur_again_are_drawn_once() -> None:
    rules = RuleSet("again")
    rules.subscribe("again", "(a > 1 OR b > 1) AND c > 1 OR (a > 1 OR b > 1) AND d > 1")
    drawn = texts(rules.draw("again").svg)
    assert drawn.count("a > 1") == 1
    assert "any of (as above)" in drawn


def test_explanations_are_a_list_that_a_notebook_draws() -> None:
    explained = alerts().explain(_ROW)
    assert isinstance(explained, list)
    drawn = explained._repr_html_()
    assert drawn.startswith("<p>2 of 8 rules match</p>")
    assert drawn.count("<svg") == len(explained) == 8
    assert drawn.index("hot matches") < drawn.index("frost does not match")
    assert texts(explained[0]._repr_svg_())[0] == f"{explained[0].id} {explained[0].verdict}"
