"""A headless Chromium that opens pages: for benchmarks, and for tests."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def missing() -> list[str]:
    """Return what is not installed of what a browser needs; empty if nothing."""
    found = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    try:
        import selenium  # noqa: F401
    except ImportError:
        found.append("selenium")
    return found


@contextmanager
def chromium(folder: Path, *, script: bool = True) -> Iterator[Any]:
    """Start a browser with a fresh profile in a folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in (*FLAGS, f"--user-data-dir={folder}", "--window-size=1200,900"):
        options.add_argument(flag)
    if not script:
        choice = {"profile.managed_default_content_settings.javascript": 2}
        options.add_experimental_option("prefs", choice)
    logs = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", logs)
    service = Service(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        yield driver
    finally:
        driver.quit()


def opened(driver: Any, path: Path, place: str = "", seconds: float = 60) -> None:
    """Open a file in a page of its own, and wait until its script is ready."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get("about:blank")
    driver.get_log("browser")  # what earlier pages have left
    driver.get_log("performance")
    driver.get(path.as_uri() + place)
    ready = "return document.documentElement.dataset.ready === 'yes'"
    WebDriverWait(driver, seconds).until(lambda d: d.execute_script(ready))
