"""What a headless Chromium has seen of a page."""

from __future__ import annotations

import json
import time

import pytest

from benchmarks.browser import missing

needs_chromium = pytest.mark.skipif(
    bool(missing()), reason=f"not installed: {', '.join(missing())}"
)


def messages(driver):
    """What the console says, policy violations included."""
    return [entry["message"] for entry in driver.get_log("browser")]


def requests(driver):
    """The addresses that were asked for since the last call; data are not."""
    events = [
        json.loads(e["message"])["message"] for e in driver.get_log("performance")
    ]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
        and not event["params"]["request"]["url"].startswith("data:")
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
