"""A real headless browser: Debian's Chromium and its driver, neither of which is downloaded."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run", "--window-size=1280,900"),
)
_PATIENCE = 120


class Browser:
    """One page at a time; what the page says on its console is kept."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def visit(self, page: Path, scheme: str = "light") -> None:
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self._driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self._driver.get(page.as_uri())

    def open(self, page: Path, scheme: str = "light") -> None:
        """Visit a report, and wait until its script has put it together."""
        self.visit(page, scheme)
        self.until(lambda: self.run("return document.documentElement.dataset.ready") == "yes", "the page is ready")

    @contextlib.contextmanager
    def screen(self, width: int, height: int) -> Iterator[None]:
        """A screen of another size; that of a phone, if it is narrow."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            self._driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def run(self, script: str, *arguments: object) -> Any:
        return self._driver.execute_script(script, *arguments)

    def text(self, selector: str) -> str:
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((own) => own.textContent)"
        found: list[str] = self.run(script, selector)
        return found

    def type(self, selector: str, *keys: str) -> None:
        from selenium.webdriver.common.by import By

        self._driver.find_element(By.CSS_SELECTOR, selector).send_keys(*keys)

    def click(self, selector: str) -> None:
        from selenium.webdriver.common.by import By

        element = self._driver.find_element(By.CSS_SELECTOR, selector)
        self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        element.click()

    def until(self, holds: Callable[[], object], what: str) -> None:
        end = time.monotonic() + _PATIENCE
        while not holds():
            assert time.monotonic() < end, f"waited in vain until {what}; the console: {self.console()}"
            time.sleep(0.05)

    def drawn(self, *charts: str) -> None:
        """Wait until some charts are drawn."""
        for chart in charts:
            self.until(partial(self.run, _IS_DRAWN, chart), f"{chart} is drawn")

    def console(self) -> list[str]:
        return [f"{entry['level']}: {entry['message']}" for entry in self._driver.get_log("browser")]

    def save(self, file: Path) -> None:
        self._driver.save_screenshot(str(file))


_IS_DRAWN = "return document.getElementById(arguments[0])?.querySelector('svg.marks') != null"


@contextlib.contextmanager
def browser(directory: Path) -> Iterator[Browser]:
    """A browser with a profile of its own; skips the test where there is none."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    selenium = pytest.importorskip("selenium.webdriver", reason="pip install selenium")
    options = selenium.ChromeOptions()
    options.binary_location = chromium
    for flag in (*_FLAGS, f"--user-data-dir={directory}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    started = selenium.Chrome(options=options, service=selenium.ChromeService(driver))
    try:
        yield Browser(started)
    finally:
        started.quit()
