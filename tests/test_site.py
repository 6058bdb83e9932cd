"""The documentation site as `make docs` builds it: its links, search and layout."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from lxml import html

from benchmarks.browser import chromium
from tests.report.chromium import messages, needs_chromium, requests, wait_for

ROOT = Path(__file__).parent.parent

MISSING = [
    name
    for name in ("mkdocs", "material", "mkdocstrings")
    if importlib.util.find_spec(name) is None
]

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    pytest.mark.thorough("builds the site and opens a browser"),
]

WIDTHS = {"desktop": 1280, "phone": 390}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; warnings of MkDocs are errors (``mkdocs.yml``)."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder]
    variables = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without a line of log for each."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    """The site served on this machine: its search does not run from a file."""
    handler = functools.partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def pages(site):
    """The addresses of the pages below that of the site."""
    files = sorted(site.rglob("*.html"))
    return [path.relative_to(site).as_posix() for path in files if path.stem != "404"]


def test_no_dead_link(site):
    """Whatever a page links to or shows is part of the site, headings included."""
    documents = {path: html.parse(path) for path in site.rglob("*.html")}
    names = {path: names_of(document) for path, document in documents.items()}
    n_links = 0
    for path, document in documents.items():
        for target in document.xpath("//@href | //@src"):
            if urlsplit(target).scheme:
                continue
            linked, heading = resolved(site, path, target)
            assert linked.exists(), (path.relative_to(site), target)
            if heading and linked.suffix == ".html":
                assert heading in names[linked], (path.relative_to(site), target)
            n_links += 1
    assert n_links > 1000


def names_of(document):
    """What a link to a page may name behind ``#``: ``__`` is a toggle of the theme."""
    return {*document.xpath("//@id"), *document.xpath("//a/@name"), "__skip"}


def resolved(site, page, target):
    """The file of the site that a link leads to, and the place in it."""
    base = "/" + page.relative_to(site).as_posix()
    place, heading = urldefrag(urljoin(base, target))
    linked = site / unquote(urlsplit(place).path).lstrip("/")
    return (linked / "index.html" if linked.is_dir() else linked), unquote(heading)


SEARCHES = {
    "se05": "searches.html",
    "interruptible": "reductions.html",
    "Fstates": "papers.html",
    "ample set": "reductions.html",
    "problem.dot": "rers.html",
}


@needs_chromium
@pytest.mark.parametrize(("query", "page"), SEARCHES.items(), ids=SEARCHES)
def test_search(browser, address, query, page):
    """The search field leads to the page that explains a word.

    The search runs in the background: the test waits for its first results.
    """
    browser.get(address + "?q=" + query.replace(" ", "+"))
    wait_for(lambda: found(browser))
    assert address + page in found(browser)[:5]


RESULTS = """
const links = document.querySelectorAll(".md-search-result__link");
return Array.from(links, (link) => link.href);
"""


def found(browser):
    """The pages that the search lists, the best first."""
    links = browser.execute_script(RESULTS)
    return list(dict.fromkeys(re.sub(r"[?#].*", "", link) for link in links))


@needs_chromium
def test_pages_open_as_files(site, browser):
    """The start page as a file, and from there to others, without a server."""
    browser.get((site / "index.html").as_uri())
    link = browser.find_element("css selector", 'a[href$="tutorial.html"]')
    browser.get(link.get_attribute("href"))
    assert browser.current_url == (site / "tutorial.html").as_uri()
    assert "Tutorial" in browser.title


@needs_chromium
@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_pages_fit(site, address, browser, width):
    """No page is wider than the window, asks another host or reports an error."""
    settings = {"width": width, "height": 900, "deviceScaleFactor": 1}
    settings["mobile"] = width < WIDTHS["desktop"]
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", settings)
    messages(browser)
    requests(browser)
    for page in pages(site):
        browser.get(address + page)
        wide = "return document.documentElement.scrollWidth"
        assert browser.execute_script(wide) <= width, page
        assert messages(browser) == [], page
        assert all(url.startswith(address) for url in requests(browser)), page
