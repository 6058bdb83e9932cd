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


def wait_for(condition, seconds=60):
    """Wait until the page has come so far."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def visible_text(driver, selector):
    """The text of an element, blanks as they are."""
    code = "return document.querySelector(arguments[0]).textContent"
    return driver.execute_script(code, selector)


BOXES = """
const boxes = [];
for (const element of document.querySelectorAll(arguments[0])) {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  boxes.push([left, top, right, bottom]);
}
return boxes;
"""


def boxes(driver, selector):
    """Where elements are: left, top, right, bottom."""
    return driver.execute_script(BOXES, selector)


def inside(inner, outer, slack=1.0):
    """Whether a box is in another, up to some pixels."""
    return (
        inner[0] >= outer[0] - slack
        and inner[1] >= outer[1] - slack
        and inner[2] <= outer[2] + slack
        and inner[3] <= outer[3] + slack
    )


def overlap(a, b, slack=0.5):
    """Whether two boxes cover more of each other than some pixels."""
    return (
        min(a[2], b[2]) - max(a[0], b[0]) > slack
        and min(a[3], b[3]) - max(a[1], b[1]) > slack
    )
