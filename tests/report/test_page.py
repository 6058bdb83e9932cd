"""The page as a text: what is in it without its script, and what cannot be."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser
from itertools import chain

import pytest

from ltlpipe import InputError, LtlpipeError, UnsupportedError
from ltlpipe.batch.results import RESULTS_DTYPES, results
from ltlpipe.batch.table import DTYPES, to_frame
from ltlpipe.batch.table_files import open_table
from ltlpipe.batch.tasks import Task
from ltlpipe.report import page as page_module
from ltlpipe.report import page_summary
from ltlpipe.report.page import FIRST_ROWS, write_report
from tests.report.handmade_stores import (
    EVIL,
    SYSTEM,
    big_frame,
    make_store,
    result,
    some_tasks,
)
from tests.report.test_page_data import unpacked

TAGS = {
    *("html", "head", "meta", "title", "style", "body", "script"),
    *("header", "main", "section", "article", "nav", "form", "div", "span", "p", "a"),
    *("h1", "h2", "h3", "ul", "li", "dl", "dt", "dd", "code"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption"),
    *("svg", "rect", "img"),
}
"""The elements of a page."""


class Page(HTMLParser):
    """What a browser makes of a page: its elements and its text."""

    def __init__(self, path):
        super().__init__()
        self.elements, self.texts, self._open = [], {}, []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        self._open.append(tag)
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data):
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)

    @property
    def words(self):
        """What people see, blanks apart."""
        own = ("script", "style")
        texts = [found for tag, found in self.texts.items() if tag not in own]
        return " ".join(" ".join(chain(*texts)).split())

    @property
    def data(self):
        return unpacked(self.texts["script"][0])

    def attribute(self, tag, name):
        return [about.get(name) for found, about in self.elements if found == tag]


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "system.dot"
    path.write_text(SYSTEM)
    return path


@pytest.fixture
def store(system, tmp_path):
    return make_store(tmp_path / "run.sqlite", some_tasks(system))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The page of that store, with its plots."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "system.dot").write_text(SYSTEM)
    store = make_store(folder / "run.sqlite", some_tasks(folder / "system.dot"))
    return written(store, folder)


@pytest.fixture
def no_plots(monkeypatch):
    """Pages without plots, which take their time."""
    monkeypatch.setattr(page_module, "plots", lambda frame: [])


without_plots = pytest.mark.usefixtures("no_plots")


def written(path, tmp_path, **options):
    write_report(path, tmp_path / "report.html", **options)
    return Page(tmp_path / "report.html")


def test_what_is_there_without_the_script(whole):
    """Disagreements first, then verdicts, plots, the first rows, and the setting."""
    titles = [t.strip() for t in whole.texts["h2"]]
    assert [" ".join(title.split()) for title in titles] == [
        "⚠ 1 question has two answers",
        "Verdicts",
        "Systems and formulas",
        "Plots",
        "Tasks",
        "Setting",
    ]
    assert whole.texts["title"] == whole.texts["h1"] == ["Report of run.sqlite"]
    assert "All 5 tasks." in whole.words
    for text in ("G(ask -> F meet)", "1,000,000", "✗ violated", "input-error"):
        assert text in whole.words
    labels = whole.attribute("img", "alt")
    assert "Verdicts of each configuration" in labels
    assert "Seconds with default and with --emptiness couvreur99" in labels


def test_the_policy_allows_this_script_and_this_style_only(whole):
    """By their hashes; nothing has a style or an event of its own, or an address."""
    (policy,) = [
        about["content"]
        for tag, about in whole.elements
        if tag == "meta" and about.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    for kind, rule in (("script", "script-src"), ("style", "style-src")):
        text = whole.texts[kind][-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert {tag for tag, _ in whole.elements} <= TAGS
    for _, about in whole.elements:
        assert not [name for name in about if name == "style" or name[:2] == "on"]
        for name in ("href", "src", "xlink:href", "action"):
            assert about.get(name, "#").startswith(("#", "data:image/svg+xml;base64,"))


def test_plots_are_images(whole):
    """Whole ones, that ask for nothing."""
    images = whole.attribute("img", "src")
    assert images
    for image in images:
        kind, _, coded = image.partition(";base64,")
        assert kind == "data:image/svg+xml"
        text = base64.b64decode(coded).decode()
        assert text.startswith("<svg")
        assert text.rstrip().endswith("</svg>")


def test_the_data_have_everything(whole):
    """All rows, and the lasso with the components that take part."""
    data = whole.data
    columns = {column["name"]: column for column in data["columns"]}
    assert data["rows"] == 5
    assert columns["states"]["values"] == [12345, 7, 10**6, 12345, 12345]
    assert "lasso_prefix" not in columns
    assert data["lassos"]["of_row"] == [None, 0, None, None, None]
    assert data["lassos"]["actions"] == ["ask", "meet"]
    states = [0, 1, 1, 0, 2, 2]  # before and after ask, and meet, which two take
    pictures = [[[0, 0, 1], [0, 0, 1], 0, states, states]]
    assert data["lassos"]["pictures"] == pictures
    assert data["lassos"]["stories"] == [None, [None, []], None, None, None]
    (network,) = data["lassos"]["systems"]
    assert network["states"] == ["a0", "a1", "b0"]
    assert len(network["components"]) == 3
    assert network["parts"] == {"0": [1, 0], "1": [1, 0, 1]}


@without_plots
def test_a_system_that_has_changed(store, system, tmp_path):
    """Its lassos show the actions alone, and the page says why."""
    system.write_text(SYSTEM.replace("rest", "move"))
    page = written(store, tmp_path)
    assert page.data["lassos"]["systems"] == []
    assert page.data["lassos"]["pictures"] == [[[0, 0, 1], [0, 0, 1], None]]
    assert "have changed since" in page.words


@without_plots
def test_the_manner_in_which_a_system_was_read(system, tmp_path):
    """Where it begins is an option: its configurations differ in nothing else."""
    system.write_text('digraph one { A -> B [label="a"]; B -> A [label="a"]; }')
    files, run = (str(system),), result("violated", [], ["a", "a"])
    tasks = [
        (Task(files, "F b", options={"initial": node, "unknown": "never"}), run)
        for node in "AB"
    ]
    page = written(make_store(tmp_path / "run.sqlite", tasks), tmp_path)
    lassos = page.data["lassos"]
    states = [
        [lassos["systems"][system]["states"][k] for k in cycle]
        for _, _, system, _, cycle in lassos["pictures"]
    ]
    assert states == [["A", "B", "B", "A"], ["B", "A", "A", "B"]]


@without_plots
def test_no_time_for_systems(store, tmp_path, monkeypatch):
    monkeypatch.setattr(page_summary, "LOADING_SECONDS", -1.0)
    page = written(store, tmp_path)
    assert page.data["lassos"]["systems"] == []
    assert "There was no time to load all systems" in page.words


def evil_store(folder, files):
    """Names that look like code wherever a name can be."""
    tasks = []
    for k, name in enumerate(EVIL):
        row = result(
            "violated",
            [name],
            [name, *EVIL],
            message=name,
            signal=name,
            automaton=name,
            emptiness=name,
            reductions=name,
        )
        options = {"translator": name} if k % 2 else {"emptiness": name}
        tasks.append((Task(files, name, options=options), row))
        options = {"translator": name, "seed": 1}
        tasks.append((Task(files, name, options=options), result("holds")))
    return make_store(folder / f"{EVIL[1].replace('/', '')}.sqlite", tasks)


def evil_system(folder):
    """A system that nobody can name without a quotation mark, and its labels."""
    path = folder / "'\"<img src=x onerror=window.hacked=1>.dot"
    quoted = [name.replace("\\", "\\\\").replace('"', '\\"') for name in EVIL]
    edges = " ".join(f'a -> a [label="{name}"];' for name in quoted)
    path.write_text(f'digraph g {{ s -> a [label=""]; {edges} }}', encoding="utf-8")
    return (str(path),)


def test_names_are_never_code(tmp_path):
    """Not one element more than those of the page; the names are there as text."""
    page = written(evil_store(tmp_path, evil_system(tmp_path)), tmp_path, title=EVIL[0])
    assert {tag for tag, _ in page.elements} <= TAGS
    assert len(page.texts["script"]) == 2
    assert page.source.count("</script") == page.source.count("<script") == 2
    assert page.texts["title"] == [EVIL[0]]
    columns = {column["name"]: column for column in page.data["columns"]}
    assert set(columns["formula"]["texts"]) == set(EVIL)
    assert set(page.data["lassos"]["actions"]) == set(EVIL)
    assert len(page.data["lassos"]["systems"]) == 1
    for name in EVIL:
        assert " ".join(name.split()) in page.words
    for _, about in page.elements:
        assert not [name for name in about if name[:2] == "on"]


@without_plots
def test_the_first_rows_of_many(tmp_path):
    """They stand for all without the script, and the page says so."""
    frame = big_frame(FIRST_ROWS + 50)
    frame.to_parquet(tmp_path / "run.parquet")
    page = written(tmp_path / "run.parquet", tmp_path)
    assert page.attribute("td", "data-title").count("Formula") == FIRST_ROWS
    assert "The first 100 of 150 tasks." in page.words
    assert page.data["rows"] == FIRST_ROWS + 50


@without_plots
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_of_solve(suffix, tmp_path):
    """The same rows; without a store nobody knows who takes part in an action."""
    path = tmp_path / f"results.{suffix}"
    own = {"system": "s.dot", "formula_id": "f:1", "formula": "F rest"}
    with open_table(path) as out:
        out.write(own | result("violated", ["ask"], ["meet"], seconds=None))
        out.write(own | result(emptiness="gv04"))
    page = written(path, tmp_path)
    assert "two answers" not in page.words  # maybe to two questions
    columns = {column["name"]: column for column in page.data["columns"]}
    assert columns["configuration"]["texts"] == ["gv04", "se05"]
    with open_table(path) as out:
        way = {"configuration": "--emptiness se05"}
        out.write(own | result("violated", ["ask"], ["meet"], seconds=None) | way)
        way = {"configuration": "--emptiness gv04"}
        out.write(own | result(emptiness="gv04") | way)
    page = written(path, tmp_path)
    assert page.data["lassos"]["pictures"] == [[[0, 0], [0, 1], None]]
    assert "a report of the store does" in page.words
    columns = {column["name"]: column for column in page.data["columns"]}
    assert columns["configuration"]["texts"] == ["--emptiness gv04", "--emptiness se05"]
    assert columns["seconds"]["values"] == [None, 0.25]
    assert columns["started_at"]["kind"] == "time"
    assert "1 question has two answers" in page.words


@without_plots
def test_results_written_as_tables(store, tmp_path):
    """`results --to csv` and parquet give the page of the store."""
    frame = results(store)
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame.to_parquet(tmp_path / "all.parquet", index=False)
    expected = written(store, tmp_path).data["columns"]
    for name in ("all.csv", "all.parquet"):
        assert written(tmp_path / name, tmp_path).data["columns"] == expected


@without_plots
def test_where(store, tmp_path):
    """Only the rows that are asked for; the page says which."""
    page = written(store, tmp_path, where="verdict == 'holds'")
    assert page.data["rows"] == 2
    assert "verdict == 'holds'" in page.words
    with pytest.raises(UnsupportedError, match="where='colour == 1'"):
        written(store, tmp_path, where="colour == 1")


def test_an_empty_table(tmp_path):
    """A page that says that there is nothing."""
    to_frame([], RESULTS_DTYPES).to_csv(tmp_path / "none.csv", index=False)
    page = written(tmp_path / "none.csv", tmp_path)
    assert "All 0 tasks." in page.words
    assert page.data["rows"] == 0
    make_store(tmp_path / "none.sqlite", [])
    assert written(tmp_path / "none.sqlite", tmp_path).data["rows"] == 0


@pytest.mark.parametrize(
    ("name", "text", "kind", "complaint"),
    [
        ("no.csv", None, InputError, "cannot be read"),
        ("a.csv", "", InputError, "no result table"),
        (
            "a.csv",
            "system,verdict\ns,holds\n",
            InputError,
            "expected a column 'formula",
        ),
        ("a.csv", "system,formula,verdict\ns,a,yes\n", InputError, "'yes', expected"),
        ("a.csv", "system,formula,verdict\ns,a,\n", InputError, "expected one of"),
        ("a.csv", "system,formula,verdict,states\ns,a,holds,x\n", InputError, "table"),
        ("a.parquet", "text", InputError, "cannot be read"),
        ("a.txt", "text", UnsupportedError, "this is not a result store"),
        (
            "a.csv",
            'system,formula,verdict,lasso_prefix,lasso_cycle\ns,a,violated,[],"[1]"\n',
            LtlpipeError,
            "expected a JSON list",
        ),
    ],
)
def test_what_is_no_result(name, text, kind, complaint, tmp_path):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(kind, match=complaint):
        written(path, tmp_path)


@without_plots
def test_a_page_that_cannot_be_written(store, tmp_path):
    with pytest.raises(LtlpipeError, match="cannot be written"):
        write_report(store, tmp_path / "no" / "report.html")


@without_plots
def test_names_that_are_no_text(tmp_path):
    """Names of files and arguments of programs are bytes: they are written as such."""
    path = tmp_path / "run\udcff.csv"
    to_frame([], DTYPES).to_csv(path, index=False)
    page = written(path, tmp_path, title="all \udcfe")
    assert page.texts["h1"] == ["all \\udcfe"]
    assert "run\\udcff.csv" in page.words


@pytest.mark.parametrize("column", ["seconds", "timeout"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_infinite_numbers(suffix, column, tmp_path):
    """A limit of infinity, as older stores have it, or such a time, is no error."""
    frame = to_frame([result() | {"system": "m", "formula": "a"}], RESULTS_DTYPES)
    frame[column] = [float("inf")]
    path = tmp_path / f"r{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    write_report(path, tmp_path / "r.html")
    assert "∞" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_published_solutions(tmp_path):
    """Numbers of properties are a column, and answers that differ are linked."""
    verdicts = [
        ("1", "holds", "holds"),
        ("12", "violated", "holds"),
        ("3", "holds", None),
    ]
    about = {"system": "problem101.dot", "formula": "G a"}
    rows = [
        result()
        | about
        | {"formula_id": name, "verdict": verdict, "expected": expected}
        for name, verdict, expected in verdicts
    ]
    to_frame(rows, RESULTS_DTYPES).to_csv(tmp_path / "r.csv", index=False)
    write_report(tmp_path / "r.csv", tmp_path / "r.html")
    page = Page(tmp_path / "r.html")

    assert "1 of 2 answers agree with the published solutions." in page.words
    assert ": problem101.dot, property 12: violated, published: holds" in page.words
    assert "property 1:" not in page.words
    assert ("a", {"href": "#task-2"}) in page.elements
    assert {"Property", "Published"} <= set(page.texts["th"])
    assert {"1", "12", "3"} <= set(page.texts["td"])


def test_nothing_is_published(tmp_path):
    """No section, and places of formulas stay out of the table of tasks."""
    rows = [result() | {"system": "s", "formula": "G a", "formula_id": "f.ltl:1"}]
    to_frame(rows, RESULTS_DTYPES).to_csv(tmp_path / "r.csv", index=False)
    write_report(tmp_path / "r.csv", tmp_path / "r.html")
    page = Page(tmp_path / "r.html")

    assert "ublished" not in page.words
    assert "Property" not in page.texts["th"]
