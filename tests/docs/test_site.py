"""The documentation site builds without a warning, is complete, and loads nothing from other sites."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import sparkrules
from sparkrules import errors
from tests.report.browser import Browser, browser

pytestmark = pytest.mark.programs

ROOT = Path(__file__).resolve().parents[2]
# What a browser loads by itself; where a link leads is the reader's choice.
LOADED = re.compile(
    r'<(?:script|img|iframe|source)\b[^>]*\bsrc="([^"]+)"|<link\b(?=[^>]*rel="stylesheet")[^>]*href="([^"]+)"'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(directory)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return directory


def test_every_page_and_example_is_there(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages |= {Path("examples", path.stem + ".html") for path in (ROOT / "examples").glob("*.ipynb")}
    pages |= {Path("examples", path.name) for path in (ROOT / "examples").glob("*.py")}
    assert [str(page) for page in sorted(pages) if not (site / page).is_file()] == []


def test_every_page_can_be_found_in_the_navigation(site: Path) -> None:
    home = (site / "index.html").read_text(encoding="utf-8")
    linked = set(re.findall(r'<a href="([^"#]+\.html)"[^>]*class="md-nav__link', home))
    pages = {str(path.relative_to(ROOT / "docs").with_suffix(".html")) for path in (ROOT / "docs").rglob("*.md")}
    assert pages - {"index.html"} - linked == set()


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = [
        (page.name, address)
        for page in site.rglob("*.html")
        for found in LOADED.findall(page.read_text(encoding="utf-8"))
        for address in found
        if address
    ]
    assert len(loaded) > 20
    assert [(page, address) for page, address in loaded if re.match(r"(https?:)?//", address)] == []
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert re.findall(r"url\(['\"]?https?:[^)]*|@import[^;]*", styles) == []


def test_every_public_name_is_in_the_python_reference(site: Path) -> None:
    page = (site / "python-reference.html").read_text(encoding="utf-8")
    names = [f"sparkrules.{name}" for name in sparkrules.__all__ if name != "__version__"]
    raised = (own for own in vars(errors).values() if isinstance(own, type) and issubclass(own, Exception))
    assert {own.__name__ for own in raised} <= set(sparkrules.__all__)
    methods = [f"sparkrules.RuleSet.{name}" for name in dir(sparkrules.RuleSet) if not name.startswith("_")]
    assert [name for name in names + methods if f'id="{name}"' not in page] == []
    assert "&gt;&gt;&gt; " in page  # examples, as code


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.mark.parametrize("page", ["index.html", "cookbook/index.html"])
def test_search_finds_something_where_the_site_is_read_from_the_disk(site: Path, chromium: Browser, page: str) -> None:
    chromium.visit(site / page)
    chromium.click("input.md-search__input")
    chromium.type("input.md-search__input", "rollback")
    links = "return [...document.querySelectorAll('.md-search-result__item a')].map((own) => own.href)"
    chromium.until(lambda: chromium.run(links), "something is found")
    assert any(link.startswith((site / "changing-rules.html").as_uri()) for link in chromium.run(links))
    assert chromium.console() == []


def test_no_page_is_wider_than_a_phone(site: Path, chromium: Browser) -> None:
    with chromium.screen(390, 844):
        for page in sorted(site.rglob("*.html")):
            chromium.visit(page)
            assert chromium.run("return document.documentElement.scrollWidth") <= 390, page.name
            wide = chromium.run(
                "return [...document.querySelectorAll('article .highlight:not(.language-text) pre > code')].filter("
                "(own) => own.scrollWidth > own.clientWidth + 1).map((own) => own.textContent.slice(0, 80))"
            )
            assert wide == [], page.name
