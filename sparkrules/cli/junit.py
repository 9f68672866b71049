"""Outcomes of tests as JUnit XML, which CI systems show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from sparkrules.cli.testing import Outcome
from sparkrules.cli.whole_file import whole_file
from sparkrules.rules import RuleTest

_ELEMENTS = {"failed": "failure", "invalid": "error"}


def write_junit(outcomes: Mapping[str, Sequence[Outcome]], file: Path) -> None:
    """Write the outcomes of files of rules, by their names: a suite for each, with a case for each test."""
    root = ElementTree.Element("testsuites", name="sparkrules")
    for name, own in outcomes.items():
        counts = Counter(outcome.status for outcome in own)
        numbers = {"tests": len(own), "failures": counts["failed"], "errors": counts["invalid"], "skipped": 0}
        texts = {key: str(value) for key, value in numbers.items()}
        suite = ElementTree.SubElement(root, "testsuite", {"name": _plain(name), **texts})
        for outcome in own:
            _add(suite, name, outcome)
    ElementTree.indent(root)
    with whole_file(file) as unfinished:
        ElementTree.ElementTree(root).write(unfinished, encoding="utf-8", xml_declaration=True)


def _add(suite: ElementTree.Element, name: str, outcome: Outcome) -> None:
    test = outcome.test
    titled = f": {test.name}" if isinstance(test, RuleTest) and test.name else ""
    title = {"classname": _plain(f"{Path(name).stem}.{test.id}"), "name": _plain(f"test {test.number}{titled}")}
    case = ElementTree.SubElement(suite, "testcase", title)
    element = _ELEMENTS.get(outcome.status)
    if element is not None:
        said = ElementTree.SubElement(case, element, message=_plain(outcome.reason))
        place = "" if test.source is None else f"{test.source}\n"
        said.text = _plain(f"{place}{outcome.explanation or outcome.reason}")


def _plain(text: str) -> str:
    """Without characters that XML cannot have, such as control characters."""
    return "".join(
        c
        if c in "\t\n" or " " <= c <= "\ud7ff" or "\ue000" <= c <= "\ufffd" or c >= "\U00010000"
        else "\N{REPLACEMENT CHARACTER}"
        for c in text
    )
