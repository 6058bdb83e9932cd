"""Reference pages say what the code does."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pandas
import pytest

from ltlpipe.batch.table import COMPARISON_DTYPES
from ltlpipe.question.conditions import flag_of
from ltlpipe.question.given_options import QUESTION_OPTIONS
from ltlpipe.verdict.lasso import FINITE_KINDS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
ROOMS = ("ltlpipe", "tests", "benchmarks", "scripts")
"""Where the code is."""


@pytest.mark.parametrize("page", ["options", "commands"])
def test_generated_pages(page):
    """They are what their scripts write."""
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    assert text == script(page).page(), f"python scripts/{page}.py writes it anew"


def script(name):
    """A module of `scripts/`."""
    spec = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks.md"])
def test_figures(page):
    """They are those of the tables in `results/`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert text.count("<!--") > 20
    assert text == script("figures").filled(text), "python scripts/figures.py"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("t way=a: count", "2"),
        ("t 'name~b c': n", "1,500"),
        ("t n>=2000: n /1e3 .1f", "2.5"),
        ("t way!=a: max seconds .2f", "0.25"),
    ],
)
def test_what_figures_ask_for(source, value, monkeypatch):
    """Rows by conditions, then a number of them, or of a column."""
    figures = script("figures")
    frame = pandas.DataFrame(
        {
            "way": ["a", "a", "b"],
            "name": ["a b c", "d", "e"],
            "n": [1500, 7, 2500],
            "seconds": [0.1, None, 0.25],
        }
    )
    monkeypatch.setattr(figures, "table", {"t": frame}.get)
    assert figures.figure(source) == value
    text = f"first 0<!-- {source} -->, then **x**"
    assert figures.filled(text) == text.replace("0<", f"{value}<", 1)
    with pytest.raises(ValueError, match="3 rows"):
        figures.figure("t: n")


def test_how_long_the_documentation_is():
    """At most 60,000 words, without `decisions.md`, comments and bars of tables."""
    text = ""
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        if page.name != "decisions.md":
            text += page.read_text(encoding="utf-8") + "\n"
    words = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).split()
    assert sum(any(map(str.isalnum, word)) for word in words) <= 60_000


def test_every_column_is_described():
    """In `docs/tables.md`."""
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    assert set(COMPARISON_DTYPES) <= set(re.findall(r"`(\w+)`", text))


def test_options_that_make_another_question():
    """`docs/tables.md` lists them, and the kinds of finite runs."""
    text = (DOCS / "tables.md").read_text(encoding="utf-8")
    listed = text.split("the options that choose what is asked:\n")[1].split(".  ")[0]
    flags = re.findall(r"`--([\w-]+)`", listed)
    assert sorted(flags) == sorted(map(flag_of, QUESTION_OPTIONS))
    [row] = re.findall(r"^- `finite_run`: .*", text, re.MULTILINE)
    assert set(re.findall(r"`([\w-]+)`", row)) == {"finite_run", *FINITE_KINDS}


def test_every_page_is_in_the_navigation():
    """A page that nothing leads to is not read."""
    listed = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert f": {page.name}\n" in listed


def test_files_of_the_code():
    """Pages name files and folders that are there, from the package's root or below."""
    code = [path.as_posix() for room in ROOMS for path in (ROOT / room).rglob("*.*")]
    folders = {path.rpartition("/")[0] for path in code}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`([\w./-]+\.(?:py|js))`", text):
            assert any(path.endswith(f"/{name}") for path in code), (page.name, name)
        for name in re.findall(rf"`((?:{'|'.join(ROOMS)})/[\w/]+)/`", text):
            assert (ROOT / name).as_posix() in folders, (page.name, name)


def test_modules_in_docstrings():
    """Modules, and what they define, are where docstrings say that they are."""
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in re.findall(rf"`~?((?:{'|'.join(ROOMS)})(?:\.\w+)+)`", text):
            place, defined = ROOT, name.split(".")
            while defined and (found := module_in(place, defined[0])) is not None:
                place, defined = found, defined[1:]
            if defined:
                source = place if place.is_file() else place / "__init__.py"
                words = re.findall(r"\w+", source.read_text(encoding="utf-8"))
                assert defined[0] in words, (path.name, name)


def module_in(folder, name):
    """The module or package of a name in a package, None if there is none."""
    places = [folder / name, folder / f"{name}.py"] if folder.is_dir() else []
    return next((place for place in places if place.exists()), None)


def test_links():
    """Links between pages lead to files, and to headings that are there."""
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"https?://", target):
                continue
            name, _, heading = target.partition("#")
            path = (page.parent / name) if name else page
            assert path.exists(), (page.name, target)
            if heading:
                assert heading in anchors(path), (page.name, target)


def anchors(page):
    """The names of a page's headings, as GitHub and MkDocs make them."""
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r'<a id="([^"]+)">', text))
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    words = (re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings)
    return named | {re.sub(r"\s+", "-", word.strip()) for word in words}


def test_places_of_the_papers():
    """`docs/papers.md` says where figures and definitions are: there they are."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    rows = re.findall(r"^- .*?: (`[^(\n]*)(?:\((.*)\))?$", text, re.MULTILINE)
    assert len(rows) > 50
    for places, names in rows:
        paths = [place_of(module) for module in re.findall(r"`([\w/]+\.py)`", places)]
        sources = "".join(path.read_text(encoding="utf-8") for path in paths)
        for name in re.findall(r"`(\w+)`", names):
            definition = rf"^(def|class) {name}\b|^{name} = "
            assert re.search(definition, sources, re.MULTILINE), (places, name)


def place_of(module):
    """The file of a module that a page names."""
    folder = ROOT if module.startswith("benchmarks/") else ROOT / "ltlpipe"
    return folder / module
