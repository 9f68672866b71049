"""Detections as a picture: times on one scale, everything a user wrote as text."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from xml.etree import ElementTree

import pyarrow as pa
import pytest

import sparkrules
from sparkrules.local.detection_chart import MOST_DRAWN, MOST_LANES, detection_chart

START = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)
_SVG = "{http://www.w3.org/2000/svg}"


def found(**columns: list[object]) -> sparkrules.local.Detections:
    rules = sparkrules.RuleSet("logins")
    rules.subscribe_all({"failed": "action = 'fail'", "admin": "action = 'grant'"})
    rules.sequence("breach", ["failed", "admin"], by=["user"], within="10 minutes")
    rules.count("brute <force>", "failed", by=["user"], within="10 minutes", at_least=2)
    return rules.detect(pa.table(columns), time="at", id="id")


@pytest.fixture
def detections() -> sparkrules.local.Detections:
    return found(
        id=["a", "b", "c", "d", "e"],
        at=[START + timedelta(minutes=minutes) for minutes in (0, 2, 4, 5, 8)],
        user=["ann", "ann", "ann", "bob", "bob"],
        action=["fail", "fail", "grant", "fail", "grant"],
    )


def drawn(svg: str) -> tuple[list[str], list[float]]:
    """The texts, and where the dots are, from left to right in each lane."""
    root = ElementTree.fromstring(svg)
    texts = ["".join(text.itertext()) for text in root.iter(f"{_SVG}text")]
    return texts, [float(dot.attrib["cx"]) for dot in root.iter(f"{_SVG}circle")]


def test_a_key_has_its_own_detections(detections: sparkrules.local.Detections) -> None:
    texts, dots = drawn(detections.draw({"user": "ann"}).svg)
    assert {"brute <force>", "breach", "a", "b", "c", "2026-03-01"} <= set(texts)
    assert "ann2 detections" in texts
    assert "d" not in texts
    a, b, b_again, c = dots  # brute force, then breach
    assert a < b == b_again < c
    assert b - a == pytest.approx(c - b)  # two minutes each


def test_without_a_key_all_are_drawn(detections: sparkrules.local.Detections) -> None:
    texts, dots = drawn(detections.draw().svg)
    assert "all keys3 detections" in texts
    assert len(dots) == 6


def test_a_key_without_detections(detections: sparkrules.local.Detections) -> None:
    texts, dots = drawn(detections.draw({"user": "<eve>"}).svg)
    assert (texts[0], dots) == ("<eve>0 detections", [])


def test_the_size_is_bounded() -> None:
    rows = [
        {
            "pattern": f"pattern {n % 100}",
            "kind": "change",
            "start": START + timedelta(days=n),
            "end": START + timedelta(days=n),
            "count": 1,
            "rows": [{"step": 1, "time": START + timedelta(days=n), "id": "\x07" * 99}],
        }
        for n in range(5_000)
    ]
    svg = detection_chart(rows, "many " * 50).svg
    texts, dots = drawn(svg)
    assert len(dots) == MOST_DRAWN
    assert sum(text.startswith("pattern ") for text in texts) == MOST_LANES
    assert "1,000 of 5,000 detections" in texts[0]
    assert not re.search("[\x00-\x08]", svg)
