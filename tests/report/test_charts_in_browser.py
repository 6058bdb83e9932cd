"""Sequence charts in a browser, as a notebook shows them: nothing overlaps or runs."""

from __future__ import annotations

from itertools import combinations

import pytest

from benchmarks.browser import chromium, opened
from ltlpipe import Verdict
from ltlpipe.question.answer import Plan, Statistics
from tests.report.chromium import (
    boxes,
    inside,
    messages,
    needs_chromium,
    overlap,
    requests,
)
from tests.report.handmade_lassos import lost_lasso, office_lasso, ring_lasso
from tests.report.handmade_stores import EVIL

pytestmark = [needs_chromium, pytest.mark.thorough("opens a browser")]

NAMES = [*EVIL, "状態の名前", "שלום", "e\u0301te\u0301", "😀😀😀", "W" * 40, "\x1b[31m"]
"""Hostile ones, and those that a font draws wider than a letter."""

LASSOS = {
    "two components": office_lasso,
    "a bad prefix": lost_lasso,
    "30 components": lambda: ring_lasso(30),
    "hostile names": lambda: ring_lasso(len(NAMES), NAMES),
    "two hostile ones": lambda: ring_lasso(2, NAMES),
}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(params=LASSOS)
def page(request, browser, tmp_path):
    """What a notebook shows of a verdict."""
    plan, stats = Plan("BA", "se05"), Statistics()
    lasso = LASSOS[request.param]()
    verdict = Verdict("violated", None, NAMES[0], NAMES[0], plan, stats, lasso)
    path = tmp_path / "notebook.html"
    html = f"<!DOCTYPE html><html data-ready=yes><body>{verdict._repr_html_()}"
    path.write_text(f'<meta charset="utf-8">{html}', encoding="utf-8")
    opened(browser, path)
    yield browser, lasso
    assert messages(browser) == []
    assert set(requests(browser)) == {path.as_uri()}


def test_everything_is_in_the_picture(page):
    """Slanted names and notes, too."""
    driver, _ = page
    (picture,) = boxes(driver, "svg")
    found = boxes(driver, "svg rect, svg text, svg circle, svg path, svg polygon")
    found += boxes(driver, "svg line")
    assert len(found) > 10
    for box in found:
        assert inside(box, picture), box


def test_states_are_in_their_frames(page):
    driver, lasso = page
    pills, states = boxes(driver, "svg .pill"), boxes(driver, "svg text.state")
    assert len(pills) == len(states) > len(lasso.actions)
    for pill, state in zip(pills, states, strict=True):
        assert inside(state, pill)


def test_nothing_covers_anything(page):
    """States, dots of other rows, actions, numbers and notes; names that are level."""
    driver, _ = page
    groups = ["pill", "action", "number", "note", "lost-note"]
    if not driver.execute_script("return document.querySelector('.name[transform]')"):
        groups.append("name")
    found = [(group, box) for group in groups for box in boxes(driver, f"svg .{group}")]
    for (first, a), (second, b) in combinations(found, 2):
        assert not overlap(a, b), (first, second)
    for dot in boxes(driver, "svg .dot"):
        assert not any(overlap(dot, pill) for _, pill in found)


def test_the_frame_holds_the_cycle(page):
    """All of its steps, and none of the prefix."""
    driver, lasso = page
    (frame,) = boxes(driver, "svg .cycle")
    numbers = boxes(driver, "svg .number")
    pills = boxes(driver, "svg g.step .pill")
    texts = driver.execute_script(
        "return [...document.querySelectorAll('svg .number')].map(e => e.textContent)"
    )
    for text, box in zip(texts, numbers, strict=True):
        assert inside(box, frame) == (int(text) > len(lasso.prefix))
    for pill in pills:
        assert inside(pill, frame) or not overlap(pill, frame)


def test_names_are_never_code(page):
    driver, _ = page
    assert driver.execute_script("return typeof window.hacked") == "undefined"
    odd = "script, img, b, iframe, object, embed, foreignObject, [onload], [onerror]"
    assert boxes(driver, odd) == []


def test_30_components(browser, tmp_path):
    """A line for each that moves, and the page is not wider: the chart is scrolled."""
    path = tmp_path / "wide.html"
    chart = ring_lasso(30).chart(steps=100)
    path.write_text(
        '<!DOCTYPE html><html data-ready=yes><meta charset="utf-8"><body>'
        + chart._repr_html_(),
        encoding="utf-8",
    )
    opened(browser, path)
    lanes = boxes(browser, "svg line.lane")
    assert len(lanes) == 30
    assert [lane[0] for lane in lanes] == sorted(lane[0] for lane in lanes)
    wide, room = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert wide <= room
    assert boxes(browser, "svg")[0][2] > room
    for a, b in combinations(boxes(browser, "svg .pill"), 2):
        assert not overlap(a, b)
