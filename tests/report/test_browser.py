"""The page in a real browser: it renders, responds, logs nothing to the console, and runs no text of a user."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from sparkrules import RuleSet
from sparkrules.demo.auctions import auction_rows, auction_rules
from tests.report.browser import Browser, browser
from tests.report.worlds import HOSTILE, RULES, SCRIPT, alerts, hostile, patterned, readings, wordy

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.programs
MANY = 100_000


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture(scope="module")
def page(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return alerts("shown").report(tmp_path_factory.mktemp("report") / "report.html", readings(spark), time="at")


@pytest.fixture
def opened(chromium: Browser, page: Path) -> Iterator[Browser]:
    chromium.open(page)
    yield chromium
    assert chromium.console() == []


def look_for(opened: Browser, words: str) -> list[str]:
    """Type into the search field; the rules that are offered."""
    opened.run("document.getElementById('find').value = ''")
    opened.type("#find", words)
    opened.until(lambda: opened.run("return !document.getElementById('found').hidden"), "rules are offered")
    return [text.split("\n")[0] for text in opened.texts("#found li")]


def choose(opened: Browser, field: str, value: str, chart: str) -> None:
    """Choose a value of a field, and wait until its chart is drawn again."""
    opened.run(
        "const s = document.getElementById(arguments[0]); s.value = arguments[1];"
        "document.querySelector(`#${arguments[2]} .vega-embed`).remove(); s.dispatchEvent(new Event('change'))",
        field,
        value,
        chart,
    )
    opened.drawn(chart)


def test_every_chart_is_drawn(opened: Browser) -> None:
    opened.drawn("top-rules", "hit-counts", "over-time", "matrix", "graph", "levels", "distribution")


def test_the_first_screen_answers_what_the_rules_do(opened: Browser) -> None:
    tiles = dict(zip(opened.texts(".tiles dt"), opened.texts(".tiles .figure"), strict=True))
    assert list(tiles) == ["Rules", "Rows looked at", "Matches per row", "Never hit", "Rejected rules", "Findings"]
    assert (tiles["Rules"], tiles["Rows looked at"], tiles["Never hit"], tiles["Rejected rules"]) == (
        str(len(RULES)),
        "200",
        "2",
        "2",
    )
    bottom = opened.run("return document.querySelector('.tiles').getBoundingClientRect().bottom")
    assert bottom < opened.run("return window.innerHeight")


def test_a_rule_that_is_searched_is_shown_with_its_neighbours(opened: Browser) -> None:
    from selenium.webdriver.common.keys import Keys

    assert look_for(opened, "hot he")[0].startswith("hot here")
    opened.type("#find", Keys.ARROW_DOWN, Keys.ENTER)
    assert opened.text("#rule-id") == "hot here"
    assert RULES["hot here"] in opened.text("#rule pre")
    first = opened.texts("#neighbours tbody tr:first-child td")
    assert first[0] == "hot"
    assert first[1] == "indoors is false and temperature > 30"
    assert int(first[2]) > 0
    opened.drawn("graph")
    assert {"hot", "hot there"} <= set(opened.texts("#graph svg text"))


def test_a_neighbour_leads_on(opened: Browser) -> None:
    look_for(opened, "hot here")
    opened.type("#find", "\n")
    opened.click("#neighbours tbody tr:first-child button")
    assert opened.text("#rule-id") == "hot"


def test_a_field_of_the_matrix_says_what_two_rules_share(opened: Browser) -> None:
    opened.drawn("matrix")
    fields = "#matrix svg .role-mark path[aria-label*='rule: hot; and: hot there']"
    opened.run("document.getElementById('pair').replaceChildren()")
    opened.click(fields)
    opened.until(lambda: opened.text("#pair"), "the pair is shown")
    assert opened.texts("#pair button") == ["hot", "hot there"]
    assert opened.texts("#pair pre") == ["temperature > 30"]


def test_rules_that_never_hit_are_listed(opened: Browser) -> None:
    assert len(opened.texts("#rules-body tr")) == len(RULES)
    opened.click("a[data-which=never]")
    assert opened.texts("#rules-body button") == ["impossible", "never"]
    assert opened.text("#rules-place") == "1 to 2 of 2 rules"
    opened.type("#rules-find", "impos")
    opened.until(lambda: len(opened.texts("#rules-body tr")) == 1, "the table is searched")


def test_other_measures_over_time(opened: Browser) -> None:
    opened.drawn("over-time")
    opened.run(
        "const s = document.getElementById('time-what'); s.value = 'rules'; s.dispatchEvent(new Event('change'))"
    )
    opened.until(lambda: "hot" in opened.texts("#over-time svg text"), "rules are drawn")


@pytest.fixture(scope="module")
def patterned_page(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return patterned().report(tmp_path_factory.mktemp("patterned") / "report.html", readings(spark), time="at")


def test_detections_over_time_and_by_key(chromium: Browser, patterned_page: Path) -> None:
    chromium.open(patterned_page)
    chromium.drawn("detections", "detection-keys")
    choose(chromium, "detections-what", "patterns", "detections")
    found = chromium.run("return window.sparkrulesReport.facts.detections.patterns.map((own) => own.id)")
    assert set(found) == set(patterned().patterns) - {"unheard of"}
    assert set(found) & set(chromium.texts("#detections svg text")) >= {"heat wave", SCRIPT}
    assert chromium.texts("#patterns-body b") == [*found, "unheard of"]
    choose(chromium, "detections-pattern", str(found.index("frost after heat")), "detection-keys")
    assert chromium.text("#detections-said") == "hot, then frost, by city, within 1 day."
    assert {"Rome", "Bern"} & set(chromium.texts("#detection-keys svg text"))
    choose(chromium, "detections-pattern", str(found.index("heat wave")), "detection-keys")
    assert "all rows" in chromium.texts("#detection-keys svg text")
    assert chromium.run("return window.hacked ?? null") is None
    assert chromium.console() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_about_patterns_can_be_read(chromium: Browser, patterned_page: Path, scheme: str) -> None:
    chromium.open(patterned_page, scheme)
    assert chromium.run((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(("scheme", "other"), [("light", "dark"), ("dark", "light")])
def test_light_and_dark(chromium: Browser, page: Path, scheme: str, other: str) -> None:
    chromium.open(page, scheme)
    chromium.drawn("top-rules")

    def seen() -> list[object]:
        return list(
            chromium.run(
                "return [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor,"
                " document.querySelector('#top-rules svg .role-axis-label text')?.getAttribute('fill')]"
            )
        )

    first = seen()
    assert first[0] == scheme
    assert chromium.text("#theme") == other.capitalize()
    chromium.click("#theme")
    chromium.until(lambda: seen()[2] not in (None, first[2]), "charts are drawn again")
    assert seen()[0] == other
    assert chromium.text("#theme") == scheme.capitalize()
    assert seen()[1] != first[1]
    chromium.run("localStorage.clear()")
    assert chromium.console() == []


@pytest.fixture(scope="module")
def wordy_page(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wordy().report(tmp_path_factory.mktemp("wordy") / "report.html", readings(spark), time="at")


SIZES = [(360, 740), (390, 844), (1280, 800)]
CHARTS = (
    *("top-rules", "hit-counts", "over-time", "detections", "detection-keys"),
    *("matrix", "graph", "levels", "distribution"),
)


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_wider_than_the_screen(chromium: Browser, wordy_page: Path, width: int, height: int) -> None:
    with chromium.screen(width, height):
        chromium.open(wordy_page)
        chromium.drawn(*CHARTS)
        assert chromium.run("return document.documentElement.scrollWidth") <= width
        # What scrolls by itself: a table or a chart whose right half nobody sees.
        wide = chromium.run(
            "return [...document.querySelectorAll('.scroll, .chart')].filter("
            "(own) => own.scrollWidth > own.clientWidth + 1).map((own) => own.id || own.textContent.slice(0, 60))"
        )
        assert wide == []
        navigation = "return document.querySelector('.top nav li a').getBoundingClientRect().left"
        assert chromium.run(navigation) >= 0
    assert chromium.console() == []


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_texts_have_room(chromium: Browser, wordy_page: Path, width: int, height: int) -> None:
    with chromium.screen(width, height):
        chromium.open(wordy_page)
        narrow = chromium.run(
            """
            const ruler = document.createElement("span");
            ruler.textContent = "m".repeat(30);
            return [...document.querySelectorAll("td.text")].filter((cell) => {
              cell.prepend(ruler);
              const needed = ruler.getBoundingClientRect().width;
              ruler.remove();
              const own = needed / 30 * cell.textContent.length;  // at most: no letter is wider
              return cell.clientWidth < Math.min(needed, own);
            }).map((cell) => `${cell.clientWidth} px: ${cell.textContent.slice(0, 60)}`);
            """
        )
        assert narrow == []
        assert len(chromium.texts("#rules-body td.text")) == 12


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_no_label_is_cut(chromium: Browser, wordy_page: Path, width: int, height: int) -> None:
    with chromium.screen(width, height):
        chromium.open(wordy_page)
        chromium.run(
            "const s = document.getElementById('time-what'); s.value = 'rules'; s.dispatchEvent(new Event('change'))"
        )
        chromium.drawn(*CHARTS)
        chromium.until(lambda: "rule" in chromium.texts("#over-time svg text"), "rules are drawn")
        for pattern in ("0", "1", "2"):
            choose(chromium, "detections-what", "patterns", "detections")
            choose(chromium, "detections-pattern", pattern, "detection-keys")
            assert chromium.run(_CUT) == []
        attributes = chromium.run("return [...document.querySelectorAll('#attribute option')].map((own) => own.value)")
        assert len(attributes) >= 3
        for attribute in attributes:
            chromium.run(
                "const s = document.getElementById('attribute'); s.value = arguments[0];"
                "document.querySelector('#distribution .vega-embed').remove(); s.dispatchEvent(new Event('change'))",
                attribute,
            )
            chromium.drawn("distribution")
            assert chromium.run(_CUT) == []
        names = chromium.run(
            "return [...document.querySelectorAll('#top-rules svg text')].map((own) => own.textContent)"
        )
        whole = {"".join(name.split()) for name in names}
        assert "Suspiciousreadingofasensorinthecellar(0)" in whole


_CUT = """
  const cut = [];
  for (const chart of document.querySelectorAll(".chart svg")) {
    const room = chart.getBoundingClientRect();
    for (const text of chart.querySelectorAll("text")) {
      const { left, right, top, bottom, width } = text.getBoundingClientRect();
      const outside = left < room.left - 1 || right > room.right + 1 || top < room.top - 1 || bottom > room.bottom + 1;
      if (width && getComputedStyle(text).opacity !== "0" && (outside || text.textContent.includes("…")))
        cut.push(`${chart.closest(".chart").id}: ${text.textContent}`);
    }
  }
  return cut;
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read(chromium: Browser, page: Path, scheme: str) -> None:
    """The contrast of every text with its background meets WCAG level AA."""
    chromium.open(page, scheme)
    assert chromium.run((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8")) == []


def test_everything_has_a_name(opened: Browser) -> None:
    headings = opened.texts("h1, h2")
    assert len(headings) == len(set(headings)) >= 8
    nameless = opened.run(
        "return [...document.querySelectorAll('input, select, button')].filter("
        "(own) => !(own.labels?.length || own.textContent.trim() || own.ariaLabel)).map((own) => own.outerHTML)"
    )
    assert nameless == []


def test_no_text_of_a_user_runs(chromium: Browser, tmp_path: Path) -> None:
    chromium.open(hostile().report(tmp_path / "report.html"))
    chromium.drawn("matrix", "graph", "levels")
    assert set(chromium.texts("#rules-body button")) == set(HOSTILE)
    assert look_for(chromium, "window.hacked = 1")[0].startswith(SCRIPT)
    chromium.type("#find", "\n")
    assert chromium.text("#rule-id") == SCRIPT
    assert chromium.run("return window.hacked ?? null") is None
    assert chromium.run("return document.querySelectorAll('script').length") == 4
    assert chromium.console() == []


def test_rules_that_hit_the_same_rows_have_names_where_there_is_no_room(chromium: Browser, wordy_page: Path) -> None:
    with chromium.screen(390, 844):
        chromium.open(wordy_page)
        chromium.drawn("matrix")
        listed = chromium.texts("#matrix-key button")
        assert len(listed) == 30
        assert {str(n + 1) for n in range(30)} <= set(chromium.texts("#matrix svg text"))
        chromium.click("#matrix-key button")
        assert chromium.text("#rule-id") == listed[0]


def test_a_hundred_thousand_rules(spark: SparkSession, chromium: Browser, tmp_path: Path) -> None:
    rules = RuleSet("many")
    rules.subscribe_all((rule.id, rule.where) for rule in auction_rules(MANY))
    page = rules.report(tmp_path / "report.html", spark.createDataFrame(auction_rows(200)))
    assert page.stat().st_size < 6_000_000
    chromium.open(page)
    chromium.drawn("top-rules", "matrix", "graph")
    assert chromium.run("return document.getElementsByTagName('*').length") < 6_000
    assert chromium.text("#rules-place").endswith("of 100,000 rules")

    assert look_for(chromium, "auction-77777")[0].startswith("auction-77777")
    chromium.type("#find", "\n")
    assert chromium.text("#rule-id") == "auction-77777"
    near, shared = chromium.texts("#neighbours tbody tr:first-child td")[:2]
    assert near in rules
    tests = {str(test) for test in _tests(rules, near)} & {str(test) for test in _tests(rules, "auction-77777")}
    assert any(test in shared for test in tests)
    assert chromium.console() == []


def _tests(rules: RuleSet, id: str) -> list[object]:
    from sparkrules.sql.tree import distinct_predicates

    return [*distinct_predicates(rules.subscriptions[id].tree)]
