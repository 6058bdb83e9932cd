"""`ltlpipe analyze`: every format, explanations, limits and errors."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from ltlpipe.batch import analyzing
from ltlpipe.batch.analyzing import ANALYSIS_DTYPES
from ltlpipe.batch.table import from_frame
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies

TEXTS = ["G(a -> F b)", "G(a -> X b)", '"<&_%" | X c']


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "f.ltl"
    path.write_text("# three\n" + "\n".join(TEXTS) + "\n")
    return path


def rows_of(path):
    """The rows of a table, without the time that each took."""
    if path.suffix == ".parquet":
        frame = pd.read_parquet(path)
    else:
        frame = pd.read_csv(
            path, dtype=ANALYSIS_DTYPES, keep_default_na=False, na_values=[""]
        )
    assert list(frame) == list(ANALYSIS_DTYPES)
    return from_frame(frame.drop(columns="seconds"))


def test_text(run, file):
    """A table for people, and what was found in short."""
    outcome = run("analyze", file)

    assert (outcome.code, outcome.err) == (0, "")
    lines = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in outcome.out.splitlines()
        if line.startswith("│")
    ]
    assert [line[0] for line in lines] == TEXTS
    assert [line[4] for line in lines] == ["yes", "no", "no"]
    assert re.search(r"3 formulas: 1 interruptible, 1 by syntax; [\d.]+ s", outcome.out)


def test_all_formats_hold_the_same(run, file, tmp_path):
    """CSV, parquet, JSON, and one object per line."""
    for form in ("csv", "parquet", "json"):
        outcome = run("analyze", file, "--out", tmp_path / f"r.{form}")
        assert outcome.code == 0
        assert outcome.out.startswith("3 formulas written to")
    lines = run("analyze", file, "--json")
    assert (lines.code, lines.err) == (0, "")

    expected = rows_of(tmp_path / "r.csv")
    assert rows_of(tmp_path / "r.parquet") == expected
    for records in (
        json.loads((tmp_path / "r.json").read_text()),
        json.loads(run("analyze", file, "--to", "json").out),
        lines.records,
    ):
        assert [list(record) for record in records] == 3 * [list(ANALYSIS_DTYPES)]
        for record, row in zip(records, expected, strict=True):
            del record["seconds"]
            record["alphabet"] = json.dumps(record["alphabet"])
            if record["erasable_witness"] is not None:
                record["erasable_witness"] = json.dumps(record["erasable_witness"])
            assert record == row
    out = run("analyze", file, "--to", "csv").out
    (tmp_path / "s.csv").write_text(out)
    assert rows_of(tmp_path / "s.csv") == expected


def test_latex(run, file):
    """One line per formula, special characters escaped."""
    out = run("analyze", file, "--to", "latex").out

    assert out.startswith("\\begin{tabular}")
    body = out.split("\\midrule")[1].split("\\bottomrule")[0]
    assert body.count("\\\\") == 3
    assert r"\texttt{G(a -\textgreater{} F b)} & a, b & 5 & recurrence" in body
    assert r"\textquotedbl{}\textless{}\&\_\%\textquotedbl{} \textbar{} X c" in body
    assert {line.count(" & ") for line in body.strip().splitlines()} == {20}


def test_html(run, file, tmp_path):
    """A page that says what it holds, with nothing unescaped."""
    page = tmp_path / "r.html"
    assert run("analyze", file, "--out", page).code == 0

    class Cells(HTMLParser):
        found = ()
        within = False

        def handle_starttag(self, tag, attrs):
            self.within = tag == "td"
            if self.within:
                self.found += ("",)

        def handle_endtag(self, tag):
            self.within = False

        def handle_data(self, data):
            if self.within:
                self.found = (*self.found[:-1], self.found[-1] + data)

    cells = Cells()
    cells.feed(page.read_text())
    assert list(cells.found[:: len(ANALYSIS_DTYPES)]) == TEXTS


def test_formulas_of_all_kinds(run, file):
    """Several files, then those of -f; --jobs changes nothing."""
    arguments = ["analyze", file, file, "-f", "F z", "--json"]
    records = run(*arguments).records

    assert [record["formula"] for record in records] == [*TEXTS, *TEXTS, "F z"]
    again = run(*arguments, "--jobs", 2).records
    for record in records + again:
        del record["seconds"]
    assert again == records


def word(text):
    prefix, cycle = re.fullmatch(r"(.*)\((.*)\)ω", text).groups()
    return Word(tuple(prefix.split()), tuple(cycle.split()))


def test_explain_a_pair_of_words(run, file):
    """They do what is said of them."""
    outcome = run("analyze", file, "--explain", 2)

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith(f"{file}:3\nformula: G(a -> X b)\nactions: a, b\n")
    told = dict(re.findall(r"^  (satisfies it|violates it): +(.*)$", outcome.out, re.M))
    tree = parse(TEXTS[1]).spot
    assert satisfies(tree, word(told["satisfies it"]))
    assert not satisfies(tree, word(told["violates it"]))


def test_explain_by_syntax(run, file):
    """Every subformula with its class."""
    out = run("analyze", file, "--explain", 1).out
    assert "interruptible: yes, by its syntax" in out
    assert "G(a -> Fb)  Intrpt\n" in out


def test_explain_in_time(run):
    """Who has no answer is told so."""
    outcome = run("analyze", "-f", "X a", "--explain", 1, "--timeout", 0)
    assert outcome.code == 2
    assert "whether it is interruptible is not known: timeout" in outcome.err


def test_no_time(run):
    """Everything else is missing, and the notes say so."""
    outcome = run("analyze", "-f", "X a", "--json", "--timeout", 0)
    (record,) = outcome.records
    assert outcome.code == 0
    assert record["interruptible"] is None
    assert record["parity_states"] is None
    assert "not all is known after 0 s" in outcome.err
    assert "whether it is interruptible is not known" in outcome.err


def test_interrupted(run, file, tmp_path, monkeypatch):
    """The rows so far are written, and the exit code says that there are more."""
    whole = analyzing.analysis_rows

    def interrupted(*args, **options):
        yield next(whole(*args, **options))
        raise KeyboardInterrupt

    monkeypatch.setattr(analyzing, "analysis_rows", interrupted)
    outcome = run("analyze", file, "--out", tmp_path / "r.csv")
    assert outcome.code == 130
    assert [row["formula"] for row in rows_of(tmp_path / "r.csv")] == TEXTS[:1]


def test_quiet(run, file, tmp_path):
    """Nothing is printed; the table is written."""
    out = tmp_path / "r.csv"
    assert run("analyze", file, "--out", out, "--quiet") == (0, "", "")
    assert len(rows_of(out)) == 3


def test_a_broken_formula(run, tmp_path):
    """Exit code 2, with file and line; the others have their rows."""
    path = tmp_path / "broken.ltl"
    path.write_text("G a\n\nF(a U\n")

    outcome = run("analyze", path)

    assert outcome.code == 2
    assert outcome.err.startswith(f"warning: {path}:3: ")
    assert "guarantee" not in outcome.out
    assert "safety" in outcome.out


def test_psl(run, tmp_path):
    """What is not known of it is missing, with its place."""
    path = tmp_path / "psl.ltl"
    path.write_text("G a\n{a;b*}<>->c\n")
    outcome = run("analyze", path)
    assert outcome.code == 0
    assert outcome.err.startswith("warning: psl.ltl:2: it is PSL")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "nothing to analyse"),
        (["nowhere.ltl"], "nowhere.ltl: cannot be read"),
        (["-f", "a", "--to", "pdf"], "--to pdf: expected one of text, csv"),
        (["-f", "a", "--out", "r.pdf"], "--out r.pdf: expected one of"),
        (["-f", "a", "--to", "parquet"], "needs --out"),
        (["-f", "a", "--to", "csv", "--json"], "cannot both write to standard output"),
        (["-f", "a", "--explain", "2"], "there are 1 formulas"),
        (["-f", "a", "--out", "nowhere/r.csv"], "cannot be written"),
        (["-f", "a", "--out", "nowhere/r.html"], "cannot be written"),
        (["-f", "a", "--jobs", "0"], "--jobs"),
    ],
)
def test_refused(run, arguments, complaint):
    """Exit code 2 and a reason."""
    outcome = run("analyze", *arguments)
    assert outcome.code == 2
    assert complaint in outcome.complaint
