"""`ltlpipe plot`: pictures of a store or a table."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from ltlpipe import results, solve
from ltlpipe.batch.tasks import Task
from ltlpipe.report import plots
from ltlpipe.systems.networks.lts import LTS, Network
from tests.report.handmade_tables import row, stored

KINDS = ("cactus", "scatter", "verdicts", "growth")


@pytest.fixture
def table(tmp_path):
    """A table of two configurations on rings of two sizes."""
    path = tmp_path / "r.csv"
    rows = [
        row(name, seconds * n, f"F{n}", system=f"ring-{n}", states=10**n)
        for name, seconds in (("default", 1.0), ("--emptiness se05", 2.0))
        for n in (1, 2)
    ]
    stored(rows).to_csv(path, index=False)
    return path


def texts(path):
    """What is written in a plot: matplotlib notes it in comments."""
    parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
    root = ET.parse(path, parser)
    return [e.text.strip() for e in root.iter(ET.Comment)]


@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, run, table, tmp_path):
    """Nothing is printed; both formats are written."""
    for out in ("p.svg", "p.PNG"):
        assert run("plot", kind, table, "--out", tmp_path / out) == (0, "", "")
    assert (tmp_path / "p.PNG").read_bytes().startswith(b"\x89PNG")
    assert any("- -emptiness se05" in text for text in texts(tmp_path / "p.svg"))


@pytest.mark.thorough("starts, watches or kills other processes")
def test_a_store(run, tmp_path):
    """What is plotted of a store is what `ltlpipe.results` returns."""
    ring = Network([LTS.from_transitions([(0, "a", 1), (1, "b", 0)])], "ring-1")
    tasks = [
        Task(ring, formula, options={"emptiness": name})
        for formula in ("GF a", "G a")
        for name in ("se05", "couvreur99")
    ]
    solve(tasks, store=tmp_path / "run.sqlite")
    frame = results(tmp_path / "run.sqlite")
    for kind in KINDS:
        outcome = run("plot", kind, tmp_path / "run.sqlite", "-o", tmp_path / "p.svg")
        assert outcome == (0, "", "")
        plots.save(getattr(plots, kind)(frame), tmp_path / "q.svg")
        assert (tmp_path / "p.svg").read_text() == (tmp_path / "q.svg").read_text()


def test_options(run, table, tmp_path):
    """Rows, columns, axes and titles."""
    out = tmp_path / "p.svg"
    names = ["--x", "--emptiness se05", "--y", "default"]
    flags = [*names, "--value", "states", "--title", "T", "--where", "system=='ring-2'"]
    assert run("plot", "scatter", table, "-o", out, *flags) == (0, "", "")
    shown = texts(out)
    assert {"T", "- -emptiness se05, states", "holds (1)"} <= {*shown}
    assert "states y / x, geometric mean: 1" in " ".join(shown)

    run("plot", "verdicts", table, "-o", out, "--by", "system,verdict")
    assert "system=ring-2 verdict=holds" in texts(out)

    flags = ["--size", r"ring-(\d)", "--value", "seconds", "--by", "verdict"]
    run("plot", "growth", table, "-o", out, *flags)
    assert {"Median of seconds (wall clock) per size", "size N of ring-N"} <= {
        *texts(out)
    }


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["-o", "p.txt"], "p.txt: expected a file that ends in .svg, .pdf or .png"),
        (["-o", "no/p.svg"], "no/p.svg: cannot be written: no such folder"),
        ([], "missing option '-o' / '--out'"),
        (
            ["-o", "p.svg", "--by", "colour"],
            ".csv: plots: the table has no column 'colour'",
        ),
        (["-o", "p.svg", "--value", "reason"], "no task was solved"),
        (["-o", "p.svg", "--value", "formula"], "formula are not numbers"),
        (["-o", "p.svg", "--where", "seconds"], "expected a condition"),
        (["-o", "p.svg", "--where", "seconds < 0"], "nothing to plot"),
    ],
)
def test_bad_requests(flags, complaint, run, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    outcome = run("plot", "cactus", table, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert not [*tmp_path.glob("*.svg")]
