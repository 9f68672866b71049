"""The page as text: its content, and that no text of a user becomes markup."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from sparkrules import RuleSet
from sparkrules.errors import RuleSetError
from tests.report.worlds import HOSTILE, HOSTILE_REJECTED, RULES, alerts, hostile


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its text outside of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self._inside: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append("")

    def handle_data(self, data: str) -> None:
        if self._inside:
            self._inside[-1] += data
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.scripts.append(self._inside.pop())


def written(rules: RuleSet, tmp_path: Path, **options: Any) -> tuple[str, Elements]:
    page = rules.report(tmp_path / "report.html", **options)
    text = page.read_text(encoding="utf-8")
    return text, Elements(text)


def facts_of(page: Elements) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(page.scripts[1])
    return facts


def catalogue_of(page: Elements) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(page.scripts[2])))
    return found


def test_the_first_screen_says_what_the_rules_are(tmp_path: Path) -> None:
    _, page = written(alerts(), tmp_path)
    assert "What the rules of alerts do" in page.text
    assert f"{len(RULES)} rules, built from" in page.text
    assert "No rows were looked at." in page.text
    assert re.search(r"Rejected rules\s*2", page.text)
    assert re.search(r"Findings\s*\d", page.text)
    assert "not published as it is now" in page.text


def test_findings_are_there(tmp_path: Path) -> None:
    _, page = written(alerts(), tmp_path)
    assert "never true: `temperature > 30` and `temperature < 10` exclude each other" in page.text
    assert facts_of(page)["findings"]["impossible"][0].startswith("contradiction: never true")


def test_what_to_do_first_comes_first(tmp_path: Path) -> None:
    rules = RuleSet("ranked")
    rules.subscribe_all(
        {
            "twin": "a > 1 AND b = 2",
            "another twin": "b = 2 AND a > 1",
            "slow": "name RLIKE '[a-z]+[0-9]'",
            "always": "a > 1 OR a <= 1 OR a IS NULL",
            "never": "a > 1 AND a < 0",
        }
    )
    _, page = written(rules, tmp_path)
    order = ["Wrong:", "contradiction", "Suspicious:", "tautology", "Slow:", "costly", "Untidy:", "duplicate"]
    section = page.text[page.text.index("What is probably wrong") :]
    assert [section.index(word) for word in order] == sorted(section.index(word) for word in order)


def test_the_error_of_a_rejected_rule_is_underlined(tmp_path: Path) -> None:
    text, page = written(alerts(), tmp_path)
    assert "expected a value (line 1, column 22)" in page.text
    assert '<pre>temperature &gt;&gt; 5 AND <u class="wrong">AND</u> city = &#x27;x&#x27;</pre>' in text
    assert "expected a value (line 1, column 14)" in page.text
    assert '<pre>temperature &gt;<u class="wrong"> </u></pre>' in text


def test_the_catalogue_has_every_rule(tmp_path: Path) -> None:
    _, page = written(alerts(), tmp_path)
    catalogue = catalogue_of(page)
    assert dict(zip(catalogue["ids"], catalogue["texts"], strict=True)) == RULES
    assert catalogue["hits"] is None
    assert catalogue["metadata"] == [None] * len(RULES)
    assert "indoors is false" in catalogue["tests"]


def test_the_page_asks_nothing_of_the_network(tmp_path: Path) -> None:
    _, page = written(alerts(), tmp_path)
    for tag, attributes in page.found:
        for name in ("src", "href", "action", "srcset"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    policies = [own.get("content") for tag, own in page.found if own.get("http-equiv") == "Content-Security-Policy"]
    assert [(policy or "").split(";")[0] for policy in policies] == ["default-src 'none'"]


def test_no_text_of_a_user_becomes_an_element(tmp_path: Path) -> None:
    harmless, hostile_page = written(alerts(), tmp_path)[1], written(hostile(), tmp_path)[1]
    # The page's own four: facts, catalogue, library, script; and no other.
    assert sum(tag == "script" for tag, _ in hostile_page.found) == 4
    assert {tag for tag, _ in hostile_page.found} <= {tag for tag, _ in harmless.found}
    assert not [own for _, own in hostile_page.found if any(name.startswith("on") for name in own)]
    for id in HOSTILE_REJECTED:
        assert id in hostile_page.text
    assert list(HOSTILE) == sorted(catalogue_of(hostile_page)["ids"], key=list(HOSTILE).index)


def test_half_a_character_is_written_as_another(tmp_path: Path) -> None:
    rules = RuleSet("half")
    rules.subscribe_all({"fine": "a = 1", "half": "a = '\ud800' AND"})
    assert [found.id for found in rules.rejected] == ["half"]
    assert "half" in written(rules, tmp_path)[1].text


def test_an_empty_rule_set_has_a_page(tmp_path: Path) -> None:
    assert "0 rules" in written(RuleSet("empty"), tmp_path)[1].text


def test_many_rules_are_linted_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkrules.report.facts.MOST_LINTED", 3)
    assert "Not looked for" in written(alerts(), tmp_path)[1].text
    assert "Not looked for" not in written(alerts(), tmp_path, lint=True)[1].text


def test_of_too_many_rules_some_are_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparkrules.report.catalogue.MOST_RULES", 5)
    _, page = written(alerts(), tmp_path)
    catalogue = catalogue_of(page)
    assert catalogue["ids"] == sorted(RULES)[:5]
    assert max(catalogue["roots"]) < len(catalogue["operators"])


def test_a_time_needs_rows(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="give them too, df="):
        alerts().report(tmp_path / "report.html", time="at")


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(RuleSetError, match="path must be a file to write, but there is no directory"):
        alerts().report(tmp_path / "nowhere" / "report.html")
