"""Patterns explained for a row, and drawn as timelines."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from sparkrules import RuleSet, UnknownId

ROW = {"action": "login", "ok": False}


@pytest.fixture
def rules() -> RuleSet:
    rules = RuleSet("alerts")
    rules.subscribe_all({"failed login": "action = 'login' AND NOT ok", "new admin": "action = 'grant'"})
    return rules


def words(svg: str) -> list[str]:
    """What is written in a picture, which must be XML."""
    return [own.text or "" for own in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


class TestExplanations:
    def test_which_steps_a_row_fulfils(self, rules: RuleSet) -> None:
        rules.sequence("breach", ["failed login", ["new admin", "root", {"where": "NOT ok"}], "root"], within="1 h")
        (found,) = rules.explain(ROW, ids=["breach"])
        assert str(found).splitlines() == [
            "breach takes the row as step 1 and 2 of 3",
            "  ✓ sequence",
            "    ✓ step 1",
            "      ✓ failed login",
            "        ✓ and",
            "          ✓ ok is false",
            "          ✓ action = 'login'",
            "    ✓ step 2",
            "      ✗ new admin",
            "        ✗ action = 'grant'",
            "      ✗ root (there is no such rule)",
            "      ✓ ok is false",
            "    ✗ step 3",
            "      ✗ root (there is no such rule)",
        ]
        assert found.matched

    def test_a_row_that_fulfils_none(self, rules: RuleSet) -> None:
        rules.count("many", "new admin", within="1 h", at_least=2)
        (found,) = rules.explain(ROW, ids=["many"])
        assert str(found).startswith("many takes no notice of the row\n")
        assert not found.matched

    def test_rules_and_patterns_together(self, rules: RuleSet) -> None:
        rules.count("many", "new admin", within="1 h", at_least=2)
        assert [own.id for own in rules.explain(ROW, ids=["many", "new admin"])] == ["new admin", "many"]
        assert [own.id for own in rules.explain(ROW)] == ["failed login", "new admin"]
        with pytest.raises(UnknownId, match="'none'"):
            rules.explain(ROW, ids=["many", "none"])

    def test_a_rule_comes_first(self, rules: RuleSet) -> None:
        rules.subscribe("hot", "ok", on_change=[])
        assert str(rules.explain(ROW, ids=["hot"])[0]) == "hot does not match\n  ✗ ok is true"

    def test_a_notebook_draws_it(self, rules: RuleSet) -> None:
        rules.sequence("breach", ["failed login", "new admin"], within="1 h")
        assert 'class="true"' in rules.explain(ROW, ids=["breach"])._repr_html_()


class TestDrawings:
    @pytest.mark.parametrize(
        ("define", "written"),
        [
            (
                lambda r: r.sequence("p", ["a", ["b", {"where": "c > 1"}]], by="k, l", within="1 h"),
                ["p", "within 1 hour", "a", "b or (c > 1)", "by k, l"],
            ),
            (
                lambda r: r.sequence("p", ["a", "b"], within="1 h", after="1 s", overlapping=True, suppress="1 d"),
                ["p", "1 second to 1 hour", "a", "b", "over all rows · overlapping · at most once in 1 day"],
            ),
            (
                lambda r: r.together("p", ["a", "b", "c"], within="1 h"),
                ["p", "within 1 hour", "a", "b", "c", "over all rows · in any order"],
            ),
            (
                lambda r: r.count("p", "a", within="1 h", at_least=1000, distinct="v"),
                ["p", "within 1 hour", "1,000 × a", "over all rows · different values of v"],
            ),
            (
                lambda r: r.absence("p", after="a", without="b", within="1 h"),
                ["p", "within 1 hour", "a", "no b", "over all rows"],
            ),
        ],
    )
    def test_what_is_written(self, rules: RuleSet, define: Any, written: list[str]) -> None:
        define(rules)
        assert words(rules.draw("p").svg) == written

    def test_the_picture_says_the_pattern(self, rules: RuleSet, tmp_path: Path) -> None:
        rules.sequence("p", ["a", "b"], within="1 h")
        picture = ET.fromstring(rules.draw("p").save(tmp_path / "p.svg").read_text("utf-8"))
        assert picture.attrib["aria-label"] == "p: a, then b, within 1 hour"

    def test_hostile_names(self, rules: RuleSet) -> None:
        odd = "<script>\x00\ud7ff\"'&" * 20
        rules.sequence(odd, [odd, {"where": "a = '</text>'"}], by=["<b>"], within="1 h")
        assert "<script>" not in rules.draw(odd).svg
        assert len(words(rules.draw(odd).svg)) == 5

    def test_nothing_is_drawn_beyond_the_edge(self, rules: RuleSet) -> None:
        rules.sequence("p", ["x" * 90] * 32, within="1 h 1 min 1 s 1 ms 1 us")
        rules.count("q", "a", within="12345 h 1 min 1 s 1 ms 1 us", at_least=2)
        for id in ("p", "q"):
            picture = ET.fromstring(rules.draw(id).svg)
            width = float(picture.attrib["width"])
            boxes = [own for own in picture.iter("{http://www.w3.org/2000/svg}rect") if "x" in own.attrib]
            assert all(float(own.attrib["x"]) + float(own.attrib["width"]) < width for own in boxes)

    def test_a_rule_is_drawn_as_its_tree(self, rules: RuleSet) -> None:
        rules.subscribe("hot", "t > 30", on_change=[])
        assert "t &gt; 30" in rules.draw("hot").svg
        with pytest.raises(UnknownId, match="no rule 'none'"):
            rules.draw("none")
