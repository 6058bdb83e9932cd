"""The page in a browser: its script sorts, filters, searches and draws, and no more."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import pytest

from benchmarks.browser import chromium, opened
from ltlpipe.batch.tasks import Task
from ltlpipe.report import lasso_pictures
from ltlpipe.report.page import write_report
from tests.report.chromium import (
    boxes,
    inside,
    messages,
    needs_chromium,
    overlap,
    requests,
    visible_text,
    wait_for,
)
from tests.report.handmade_lassos import lost_lasso, ring_lasso
from tests.report.handmade_stores import (
    EVIL,
    SYSTEM,
    big_frame,
    make_store,
    result,
    some_tasks,
)
from tests.report.test_page import evil_store, evil_system

pytestmark = [needs_chromium, pytest.mark.thorough("opens a browser")]

N_ROWS = 1000


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The page of a store with one lasso and a disagreement."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "system.dot").write_text(SYSTEM)
    tasks = some_tasks(folder / "system.dot")
    long = ["ask", "meet"] * 300
    row = result("violated", long, ["rest"])
    tasks.append((Task((str(folder / "system.dot"),), "F G rest"), row))
    store = make_store(folder / "run.sqlite", tasks)
    write_report(store, folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The page of a table with more rows than a page of the table shows."""
    folder = tmp_path_factory.mktemp("large")
    frame = big_frame(N_ROWS)
    frame.to_parquet(folder / "run.parquet")
    write_report(folder / "run.parquet", folder / "report.html")
    return folder / "report.html", frame


@pytest.fixture
def page(browser, small):
    opened(browser, small)
    yield browser
    assert messages(browser) == []


@pytest.fixture
def table(browser, large):
    opened(browser, large[0])
    yield browser
    assert messages(browser) == []


def by(driver, selector):
    return driver.find_elements("css selector", selector)


def one(driver, selector):
    (element,) = by(driver, selector)
    return element


def column(driver, title):
    """The cells of a column of the table, from the top."""
    return [cell.text for cell in by(driver, f'#table td[data-title="{title}"]')]


def numbers(driver, title):
    return [float(text.replace(",", "")) for text in column(driver, title) if text]


def press(driver, *keys):
    """Press keys, whatever has the focus."""
    from selenium.webdriver.common.action_chains import ActionChains

    ActionChains(driver).send_keys(*keys).perform()


def focused(driver):
    return driver.switch_to.active_element


def choose(driver, selector, text):
    from selenium.webdriver.support.ui import Select

    Select(one(driver, selector)).select_by_visible_text(text)


def found(driver):
    return one(driver, "#found").text


def test_it_opens(page, small, browser):
    """Without a message in the console and without asking for anything but itself."""
    opened(browser, small)
    assert set(requests(browser)) == {small.as_uri()}
    assert found(page) == "Tasks 1 to 6 of 6 tasks."
    titles = [title.text for title in by(page, "h2")]
    assert titles[0] == "⚠ 1 question has two answers"
    images = by(page, ".plot img")
    assert images
    for image in images:
        wait_for(lambda image=image: int(image.get_property("naturalWidth")) > 100)


def test_sorting(table, large):
    """Down, up, numbers as numbers, what is missing last; the head says so."""
    frame = large[1]
    head = one(table, 'th[data-name="states"]')
    assert head.get_attribute("aria-sort") == "none"
    for click, order in enumerate(("ascending", "descending")):
        head.find_element("tag name", "button").click()
        assert head.get_attribute("aria-sort") == order
        expected = sorted(frame["states"], reverse=click == 1)[:100]
        assert numbers(table, "States") == expected
    assert len(by(table, 'th[aria-sort="descending"]')) == 1
    one(table, 'th[data-name="reason"] button').click()
    reasons = column(table, "Reason")
    n_unknown = int((frame["verdict"] == "unknown").sum())
    assert sum(map(bool, reasons)) == min(100, n_unknown)
    assert reasons == sorted(reasons, key=lambda text: (text == "", text))
    one(table, 'th[data-name=""] button').click()
    assert numbers(table, "Task") == list(range(1, 101))


def test_filtering(table, large):
    """By verdict and by reason, together; "Show all" forgets them."""
    frame = large[1]
    n_unknown = int((frame["verdict"] == "unknown").sum())
    choose(table, "#filter-verdict", "unknown")
    assert f"of {n_unknown} tasks found, of 1,000" in found(table)
    assert set(column(table, "Verdict")) == {"? unknown"}
    choose(table, "#filter-reason", "memory")
    n_memory = int((frame["reason"] == "memory").sum())
    assert f"of {n_memory} tasks found" in found(table)
    choose(table, "#filter-verdict", "holds")
    assert found(table) == "No task found, of 1,000."
    choose(table, "#filter-reason", "(none)")
    assert f"of {int((frame['verdict'] == 'holds').sum())} tasks" in found(table)
    one(table, "#show-all").click()
    assert found(table) == "Tasks 1 to 100 of 1,000 tasks."
    assert focused(table).get_attribute("id") == "search"


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("problems/007/", lambda row: "/007/" in row["system"]),
        ("C3_ACTION_3 holds", lambda r: "c3_action_3" in f(r) and r.verdict == "holds"),
        ("states>5000000", lambda row: row["states"] > 5e6),
        ("states<=5e6 violated", lambda r: r.states <= 5e6 and r.verdict == "violated"),
        ("no such word", lambda row: False),
        ("<", lambda row: False),
        ("nothing>3", lambda row: False),
    ],
)
def test_searching(text, matches, table, large):
    """All words, in any column and in either case; numbers are compared."""
    n_found = int(large[1].apply(matches, axis=1).sum())
    one(table, "#search").send_keys(text)
    expected = f"of {n_found:,} tasks found, of" if n_found else "No task found"
    wait_for(lambda: expected in found(table))


def f(row):
    return row["formula"]


def test_pages(table):
    """As many rows as asked for; at the ends there is nowhere to go."""
    assert len(column(table, "Task")) == 100
    first, before, after, last = (
        one(table, f"#page-{name}") for name in ("first", "previous", "next", "last")
    )
    assert first.get_attribute("aria-disabled") == "true"
    before.click()
    assert found(table).startswith("Tasks 1 to 100")
    after.click()
    assert found(table).startswith("Tasks 101 to 200")
    last.click()
    assert found(table).startswith("Tasks 901 to 1,000")
    assert last.get_attribute("aria-disabled") == "true"
    after.click()
    assert one(table, "#page-number").text == "Page 10 of 10"
    choose(table, "#size", "500")
    assert found(table).startswith("Tasks 1 to 500")
    assert len(column(table, "Task")) == 500


def test_a_lasso(page):
    """Steps, who takes them, the cycle with its way back, and all that as a list."""
    page.find_element("link text", "Task 2").click()
    wait_for(lambda: by(page, "#task h2") and one(page, "#task h2").text == "Task 2")
    texts = [text.text for text in by(page, ".lasso text")]
    assert [text for text in texts if text in ("ask", "meet")] == ["ask", "meet"] * 2
    assert len(by(page, ".lasso circle.dot")) == 6  # meet is taken by two
    assert len(by(page, ".lasso line.joint")) == 2
    assert len(by(page, ".lasso path.back")) == 1
    label = one(page, ".lasso svg").get_attribute("aria-label")
    assert "2 steps, then a cycle of 2 steps for ever" in label
    assert "1 of 3 components" in one(page, "#task .hint").text
    one(page, "#task summary").click()
    steps = [item.text for item in by(page, "#task ol.steps li")]
    assert len(steps) == 4
    assert steps[0].startswith("ask \N{EN DASH} ")
    assert steps[1].count(",") == 1
    cycle = one(page, ".lasso rect.cycle").rect
    assert cycle["width"] > 0
    inside = [t for t in by(page, ".lasso text") if t.text in ("ask", "meet")]
    edges = (cycle["y"], cycle["y"] + cycle["height"])
    within = [edges[0] < text.rect["y"] < edges[1] for text in inside]
    assert within == [False, False, True, True]


def test_a_long_lasso(page):
    """The middle is left out, and how much of it is said."""
    page.execute_script("location.hash = 'task-6'")
    wait_for(lambda: "600 steps, then a cycle of 1 step" in one(page, "#task").text)
    rows = [text.text for text in by(page, ".lasso text")]
    assert "⋮ 480 steps left out" in rows
    assert rows.count("ask") == 60


def test_who_may_move_and_who_does_not(browser, tmp_path):
    """Internal steps of one name are somebody's; in a deadlock nobody moves."""
    files = (str(tmp_path / "a.aut"), str(tmp_path / "b.aut"))
    for file in files:
        Path(file).write_text('des (0, 2, 2)\n(0, "i", 0)\n(0, "a", 1)\n')
    row = result("violated", ["i", "a"], ["<stutter>"])
    task = Task(files, "G a", options={"deadlock": "stutter"})
    write_report(make_store(tmp_path / "r.sqlite", [(task, row)]), tmp_path / "r.html")
    opened(browser, tmp_path / "r.html", "#task-1")
    kinds = [dot.get_attribute("class") for dot in by(browser, ".lasso circle")]
    assert kinds == ["dot maybe", "dot maybe", "dot", "dot"]
    assert len(by(browser, ".lasso line.joint")) == 1
    assert "one takes the step" in one(browser, "#task .hint").text
    one(browser, "#task summary").click()
    steps = [item.text for item in by(browser, "#task ol.steps li")]
    assert [step.split(" \N{EN DASH} ")[1] for step in steps] == [
        "one of a.aut: 0 → 0, b.aut: 0 → 0",
        "a.aut: 0 → 1, b.aut: 0 → 1",
        "nobody moves",
    ]
    assert messages(browser) == []


def saved(network, path):
    from ltlpipe import save

    (file,) = save(network, path)
    return (str(file),)


def page_of_lasso(browser, tmp_path, lasso, formula):
    """Open the section of a task whose lasso is that of a network."""
    files = saved(lasso.system, tmp_path / "system.dot")
    row = result("violated", lasso.prefix, lasso.cycle)
    store = make_store(tmp_path / "run.sqlite", [(Task(files, formula), row)])
    write_report(store, tmp_path / "report.html")
    opened(browser, tmp_path / "report.html", "#task-1")
    wait_for(lambda: by(browser, ".lasso svg"))


def covered(browser, selector):
    """Pairs of elements that cover each other."""
    found = boxes(browser, selector)
    return [(a, b) for a, b in combinations(found, 2) if overlap(a, b)]


def test_states_by_name(browser, tmp_path, monkeypatch):
    """Below the dots and in the list; what is behind the bad prefix is greyed."""
    for limit in ("SECONDS", "SECONDS_OF_ONE"):  # kernels may have to be loaded
        monkeypatch.setattr(lasso_pictures, limit, 60.0)
    page_of_lasso(browser, tmp_path, lost_lasso(), "G !get")
    states = [e.text for e in by(browser, ".lasso text.state")]
    assert states[:2] == ["idle", "free"]
    assert states[2:] == ["waiting", "busy", "idle", "free", "waiting", "busy"]
    assert "Violated by the first 2 steps" in one(browser, "#task .lost-note").text
    for kind, actions in {"irrelevant": ["ask"], "named": ["get"]}.items():
        found = [e.text for e in by(browser, f".lasso .{kind} > .action")]
        assert found == actions
    assert "In bold: steps that the formula names" in one(browser, "#task .hint").text
    (line,) = boxes(browser, ".lasso line.lost")
    names = boxes(browser, ".lasso .action")
    assert [box[1] < line[1] for box in names] == [True, True, False]
    one(browser, "#task summary").click()
    arrow = "\N{RIGHTWARDS ARROW}"
    assert by(browser, "#task ol.steps li")[1].text == (
        f"get \N{EN DASH} client <&>: waiting {arrow} idle, server: busy {arrow} free"
    )
    tip = "return document.querySelector('.lasso circle title').textContent"
    assert browser.execute_script(tip) == f"client <&>: idle {arrow} waiting"
    assert covered(browser, ".lasso text.state") == []
    assert messages(browser) == []


@pytest.mark.parametrize("n_components", [2, 12, 30])
@pytest.mark.parametrize("names", [None, EVIL], ids=["plain", "hostile"])
def test_pictures_keep_their_layout(n_components, names, browser, tmp_path):
    """Everything is inside, states cover neither each other nor dots, nothing runs."""
    lasso = ring_lasso(n_components, names)
    page_of_lasso(browser, tmp_path, lasso, "G !work_1")
    (picture,) = boxes(browser, ".lasso svg")
    for box in boxes(browser, ".lasso svg *:not(title)"):
        assert inside(box, picture)
    dots = boxes(browser, ".lasso circle")
    states = boxes(browser, ".lasso text.state")
    assert len(dots) == 3 * n_components
    assert len(states) == (4 * n_components if n_components <= 12 else 0)
    assert covered(browser, ".lasso text.state") == []
    assert not any(overlap(dot, state) for dot in dots for state in states)
    tips = browser.execute_script(
        "return [...document.querySelectorAll('.lasso circle title')]"
        ".map(e => e.textContent)"
    )
    assert len(tips) == len(dots)
    assert not any("?" in tip for tip in tips) or names
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    assert messages(browser) == []


def test_a_table_has_actions_alone(table, large):
    """One line for all: nobody knows who takes part."""
    row = int((large[1]["verdict"] == "violated").to_numpy().argmax())
    table.execute_script(f"location.hash = 'task-{row + 1}'")
    wait_for(lambda: by(table, ".lasso svg"))
    steps = json.loads(large[1]["lasso_prefix"][row])
    steps += json.loads(large[1]["lasso_cycle"][row])
    assert len(by(table, ".lasso circle.dot")) == len(steps)
    assert not by(table, ".lasso line.line")
    one(table, "#task summary").click()
    assert [item.text for item in by(table, "#task ol.steps li")] == steps


def test_tasks_without_a_lasso(page):
    """Plan and statistics, why it failed, and the same question asked otherwise."""
    page.execute_script("location.hash = 'task-4'")
    wait_for(lambda: "Task 4" in one(page, "#task").text)
    text = one(page, "#task").text
    assert "--emptiness couvreur99" in text
    assert "12,345" in text
    assert not by(page, ".lasso")
    one(page, "#task ul a").click()
    wait_for(lambda: one(page, "#task h2").text == "Task 2")
    page.back()
    wait_for(lambda: one(page, "#task h2").text == "Task 4")
    page.execute_script("location.hash = 'task-5'")
    wait_for(lambda: "syntax error" in one(page, "#task").text)


def test_an_address_of_a_task(browser, small):
    """A link into the page opens the task; a wrong one opens none."""
    opened(browser, small, "#task-2")
    assert one(browser, "#task h2").text == "Task 2"
    for place in ("#task-0", "#task-99", "#task-x", "#%3Cscript%3E"):
        opened(browser, small, place)
        assert not one(browser, "#task").is_displayed()
    assert messages(browser) == []


def hash_of(driver):
    return driver.execute_script("return location.hash")


def test_an_address_keeps_the_view(table, large):
    """Filters, search, order, page and task; a copy of it shows the same."""
    choose(table, "#filter-verdict", "violated")
    one(table, 'th[data-name="states"] button').click()
    one(table, 'th[data-name="states"] button').click()
    one(table, "#page-next").click()
    table.find_element("css selector", "#table tbody a").click()
    address, shown = hash_of(table), column(table, "Task")
    assert "verdict=violated&sort=-states&page=2" in address
    opened(table, large[0], address)
    assert hash_of(table) == address
    assert column(table, "Task") == shown
    assert one(table, "#filter-verdict option:checked").text == "violated"
    assert one(table, "#task h2").text == f"Task {shown[0]}"
    opened(table, large[0], "#verdict=no&sort=no&page=99&size=7&q=C3_ACTION_3")
    assert one(table, "#search").get_property("value") == "C3_ACTION_3"
    assert "tasks found" in found(table)


def test_totals_follow_the_filters(table, large):
    frame = large[1]
    choose(table, "#filter-verdict", "violated")
    rows = frame[frame["verdict"] == "violated"]
    said = one(table, "#totals").text
    assert f"{len(rows):,} violated" in said
    assert "holds" not in said
    assert f"{int(rows['states'].sum()):,} states" in said
    for line in by(table, "#summary tr[data-verdict]"):
        cells = [cell.text for cell in line.find_elements("css selector", "td.number")]
        verdict, reason = (
            line.get_attribute(f"data-{n}") for n in ("verdict", "reason")
        )
        of_line = rows[rows["verdict"] == verdict]
        of_line = of_line[of_line["reason"].astype(object).fillna("") == reason]
        assert cells[0] == f"{len(of_line):,}"
    one(table, "#show-all").click()
    assert (
        f"{(frame['verdict'] == 'holds').sum():,} holds" in one(table, "#totals").text
    )


def test_columns_are_chosen(table, large):
    """The address keeps the choice."""
    heads = [head.get_attribute("data-name") for head in by(table, "#table th")]
    one(table, "#columns summary").click()
    one(table, '#columns input[value="transitions"]').click()
    one(table, '#columns input[value="states"]').click()
    now = [head.get_attribute("data-name") for head in by(table, "#table th")]
    assert "transitions" in now
    assert "transitions" not in heads
    assert "states" not in now
    assert "columns=" in hash_of(table)
    one(table, 'th[data-name="transitions"] button').click()
    assert numbers(table, "Transitions") == sorted(numbers(table, "Transitions"))
    address, shown = hash_of(table), column(table, "Transitions")
    opened(table, large[0], address)
    assert column(table, "Transitions") == shown
    opened(table, large[0], "#columns=nonsense")
    assert [h.get_attribute("data-name") for h in by(table, "#table th")] == heads


def test_back_and_forth(table):
    """Each change is a step of the history, the letters of a word are one."""
    choose(table, "#filter-verdict", "holds")
    held = found(table)
    one(table, "#search").send_keys("problems")
    wait_for(lambda: "q=problems" in hash_of(table))
    one(table, "#search").send_keys("/007")
    wait_for(lambda: "007" in hash_of(table))
    searched = found(table)
    table.back()
    wait_for(lambda: found(table) == held)
    assert one(table, "#search").get_property("value") == ""
    table.back()
    wait_for(lambda: found(table) == "Tasks 1 to 100 of 1,000 tasks.")
    assert one(table, "#filter-verdict option:checked").text == "all"
    table.forward()
    table.forward()
    wait_for(lambda: found(table) == searched)


def test_details_beside(page):
    """A cell of the matrix opens its task beside it, and nothing is scrolled."""
    cell = by(page, ".matrix td a")[1]
    assert "F rest: holds: --emptiness couvreur99" in cell.get_attribute("title")
    show = "arguments[0].scrollIntoView({ block: 'center' }); return scrollY"
    before = page.execute_script(show, cell)  # else the driver scrolls to click
    cell.click()
    (panel,) = boxes(page, "#task")
    assert panel[1] == 0
    assert boxes(page, ".matrix")[0][2] <= panel[0]
    assert page.execute_script("return scrollY") == before
    one(page, "#task-next").click()
    one(page, "#task-close").click()
    assert not one(page, "#task").is_displayed()
    one(page, '.matrix th[scope="row"] a').click()
    assert hash_of(page).startswith("#system=")


def test_details_below(browser, small):
    """Of its row where the window is narrow; above the table if it has no row."""
    wide = browser.get_window_size()
    browser.set_window_size(700, 900)
    try:
        opened(browser, small, "#task-2")
        (line,) = boxes(browser, 'tr[data-row="1"]')
        (panel,) = boxes(browser, "#task")
        assert 0 <= panel[1] - line[3] < 40
        choose(browser, "#filter-verdict", "unknown")
        assert boxes(browser, "#task")[0][3] <= boxes(browser, "#table")[0][1]
        one(browser, "#task-close").click()
        assert not one(browser, "#task").is_displayed()
    finally:
        browser.set_window_size(wide["width"], wide["height"])
    assert messages(browser) == []


def test_what_is_found_is_printed(table, large):
    """All of it and what it is; the page is as it was then."""
    table.execute_script(
        "window.onbeforeprint = () => { window.printed = "
        "[document.querySelectorAll('#table tbody tr').length, "
        "document.querySelector('#asked').textContent]; }"
    )
    choose(table, "#filter-verdict", "holds")
    table.execute_cdp_cmd("Page.printToPDF", {})
    n_holding = int((large[1]["verdict"] == "holds").sum())
    printed = table.execute_script("return window.printed")
    assert printed == [n_holding, "Verdict: holds"]
    wait_for(lambda: len(column(table, "Task")) == 100)


def test_by_keyboard(page):
    """From the link that skips to the table to a task and back, without a mouse."""
    from selenium.webdriver.common.keys import Keys

    page.execute_script("document.body.focus()")
    press(page, Keys.TAB)
    assert focused(page).text == "Go to the table of tasks"
    press(page, Keys.ENTER)
    for _ in range(30):  # search, filters, the region, then the heads
        press(page, Keys.TAB)
        if focused(page).text == "States":
            break
    press(page, Keys.ENTER)
    head = one(page, 'th[data-name="states"]')
    assert head.get_attribute("aria-sort") == "ascending"
    assert focused(page).text.startswith("States")
    for _ in range(10):
        press(page, Keys.TAB)
        if focused(page).tag_name == "a":
            break
    address = focused(page).get_attribute("href")
    assert numbers(page, "States")[0] == 7
    press(page, Keys.ENTER)
    wait_for(lambda: focused(page).get_attribute("id") == "task-title")
    for _ in range(5):
        press(page, Keys.TAB)
        if focused(page).text == "Back to the table":
            break
    press(page, Keys.ENTER)
    wait_for(lambda: not one(page, "#task").is_displayed())
    assert focused(page).get_attribute("href") == address
    assert (
        page.execute_script(
            "return getComputedStyle(document.activeElement).outlineStyle"
        )
        == "solid"
    )


def test_everything_has_a_name(page):
    """Buttons, fields, regions, pictures, as the tree for screen readers has it."""
    page.execute_script("location.hash = 'task-2'")
    wait_for(lambda: by(page, ".lasso svg"))
    tree = page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    named = {
        *("button", "searchbox", "combobox", "link", "region", "image", "img"),
        *("columnheader", "navigation", "search", "table", "heading"),
    }
    roles = set()
    for node in tree:
        role = node.get("role", {}).get("value")
        if role in named and not node["ignored"]:
            roles.add(role)
            assert node["name"]["value"].strip(), node
    assert {"button", "searchbox", "combobox", "link", "columnheader"} <= roles


def test_on_a_phone_in_the_dark_and_on_paper(browser, small):
    """No sideways scrolling of the page; colours change; controls are not printed."""
    emulate = browser.execute_cdp_cmd
    emulate(
        "Emulation.setDeviceMetricsOverride",
        {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True},
    )
    ground = "return getComputedStyle(document.body).backgroundColor"
    try:
        opened(browser, small, "#task-2")
        size = (
            "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
        )
        wide, room = browser.execute_script(size)
        assert wide <= room
        light = browser.execute_script(ground)
        dark = {"name": "prefers-color-scheme", "value": "dark"}
        emulate("Emulation.setEmulatedMedia", {"features": [dark]})
        assert browser.execute_script(ground) != light
        emulate("Emulation.setEmulatedMedia", {"media": "print"})
        assert not one(browser, "#controls").is_displayed()
        assert one(browser, "#table").is_displayed()
        assert one(browser, ".lasso svg").is_displayed()
    finally:
        emulate("Emulation.setEmulatedMedia", {"media": "", "features": []})
        emulate("Emulation.clearDeviceMetricsOverride", {})


def test_names_are_never_code(browser, tmp_path):
    """Nothing runs, nothing is loaded, no element is made of a name."""
    files = evil_system(tmp_path)
    write_report(evil_store(tmp_path, files), tmp_path / "report.html", title=EVIL[0])
    opened(browser, tmp_path / "report.html")
    for row in range(2 * len(EVIL)):
        browser.execute_script(f"location.hash = 'task-{row + 1}'")
        wait_for(lambda row=row: one(browser, "#task h2").text == f"Task {row + 1}")
        text = visible_text(browser, "#task")
        assert EVIL[row // 2].replace("\x0b", "") in text.replace("\x0b", "")
    one(browser, "#search").send_keys(EVIL[0])
    wait_for(lambda: "tasks found" in found(browser))
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    others = "img:not(.plot img)"  # than the plots
    for selector in (others, "b", "iframe", "object", "embed", "[onload]", "[onerror]"):
        assert not by(browser, selector)
    assert len(by(browser, "script")) == 2
    assert set(requests(browser)) == {(tmp_path / "report.html").as_uri()}
    assert messages(browser) == []


def test_the_policy_stops_what_is_put_in(browser, small):
    """Even code that got into the page would not run: the policy is no ornament."""
    opened(browser, small)
    browser.execute_script(
        "const s = document.createElement('div');"
        "document.body.append(s);"
        "const script = document.createElement('script');"
        "try { script.text = 'window.hacked = 1'; } catch (error) {}"
        "s.append(script);"
        "const picture = document.createElement('img');"
        "picture.setAttribute('src', 'http://127.0.0.1:9/x.png');"
        "s.append(picture);"
    )
    assert browser.execute_script("return typeof window.hacked") == "undefined"
    wait_for(lambda: any("Content Security" in text for text in messages(browser)))


def test_without_script(tmp_path, small, large):
    """Summary, plots and the first rows are there, and no control that does nothing."""
    with chromium(tmp_path / "profile", script=False) as driver:
        driver.get(small.as_uri())
        assert "G(ask -> F meet)" in one(driver, "#table").text
        assert by(driver, ".plot img")
        assert not one(driver, "#controls").is_displayed()
        assert not by(driver, "#table button")
        driver.get(large[0].as_uri())
        assert "The first 100 of 1,000 tasks." in found(driver)
        assert len(column(driver, "Task")) == 100
