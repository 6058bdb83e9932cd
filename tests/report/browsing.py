"""A headless Chromium that opens pages, and says what it saw."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

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


def missing():
    """What is not installed of what a browser needs; empty if nothing."""
    found = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
    try:
        import selenium  # noqa: F401
    except ImportError:
        found.append("selenium")
    return found


needs_chromium = pytest.mark.skipif(
    bool(missing()), reason=f"not installed: {', '.join(missing())}"
)


@contextmanager
def chromium(folder, *, dark=False, script=True):
    """Start a browser with a fresh profile in a folder."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in (*FLAGS, f"--user-data-dir={folder}", "--window-size=1200,900"):
        options.add_argument(flag)
    if dark:
        options.add_argument("--force-dark-mode")
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


def opened(driver, path, place="", seconds=60):
    """Open a file, wait until its script is ready, and forget earlier messages."""
    from selenium.webdriver.support.ui import WebDriverWait

    driver.get("about:blank")
    messages(driver)
    requests(driver)
    driver.get(Path(path).as_uri() + place)
    ready = "return document.documentElement.dataset.ready === 'yes'"
    WebDriverWait(driver, seconds).until(lambda d: d.execute_script(ready))


def messages(driver):
    """What the console says, policy violations included."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver):
    """The addresses that were asked for since the last call."""
    events = [
        json.loads(e["message"])["message"] for e in driver.get_log("performance")
    ]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def wait_for(condition, seconds=20):
    """Wait until the page has come so far."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def visible_text(driver, selector):
    """The text of an element, blanks as they are."""
    code = "return document.querySelector(arguments[0]).textContent"
    return driver.execute_script(code, selector)
