"""Problems in the style of RERS: formulas, balance, and what the table claims."""

from __future__ import annotations

import csv

import pytest

from ltlpipe import LtlpipeError, UnsupportedError, check, is_interruptible, load
from ltlpipe.batch import rers_problems
from ltlpipe.batch.rers_problems import draw_problem, formulas_text, write_problems
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse

SMALL = [("random-pairs", 2, 1, 8), ("random-dense", 3, 2, 20), ("chain", 3, 1, 6)]


def counts(problem):
    verdicts = [asked.verdict for asked in problem.formulas]
    return {verdict: verdicts.count(verdict) for verdict in set(verdicts)}


@pytest.mark.parametrize(("style", "n", "seed", "size"), SMALL)
def test_small_problems(style, n, seed, size):
    """Different formulas over 2 to 4 actions, interruptible; half of them hold."""
    problem = draw_problem(n, style=style, seed=seed, n_formulas=size)

    assert counts(problem) == {"holds": size // 2, "violated": size // 2}
    texts = [asked.text for asked in problem.formulas]
    assert len(set(texts)) == size
    names = {action.name for action in problem.network.actions}
    for text in texts:
        visible = set(parse(text).propositions)
        assert 2 <= len(visible) <= 4
        assert visible <= names
        assert is_interruptible(text)
    assert draw_problem(n, style=style, seed=seed, n_formulas=size) == problem


@pytest.mark.parametrize(("style", "n", "seed", "size"), SMALL)
def test_the_table_is_right(style, n, seed, size, tmp_path):
    """Its verdicts are those of a search without any reduction, line by line."""
    arguments = {"style": style, "seed": seed, "n_formulas": size}
    written = list(write_problems(tmp_path / "p", n, **arguments))

    folder = tmp_path / "p" / "problems" / "001"
    assert written == [
        folder / "formulas.ltl",
        folder / "system.dot",
        tmp_path / "p" / "truth.csv",
    ]
    network = load(folder / "system.dot")
    formulas = {f.line: f for f in read_formulas(folder / "formulas.ltl")}
    with (tmp_path / "p" / "truth.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["line"]) for row in rows] == list(formulas)
    for row in rows:
        formula = formulas[int(row["line"])]
        assert (row["problem"], row["formula"]) == ("001", formula.text)
        found = check(network, formula, emptiness="couvreur99", reduce="none")
        assert row["verdict"] == found.verdict


def test_large_problems():
    """Where nothing is known to hold, undecided formulas that no known run violates."""
    problem = draw_problem(
        7, style="random-pairs", seed=1, n_formulas=6, max_states=500
    )

    assert counts(problem) == {"unknown": 3, "violated": 3}
    assert problem.reachable_states is None
    assert "3 taken as they came: not decided within 500" in formulas_text(problem)
    for asked in problem.formulas:
        if asked.verdict == "violated":
            found = check(problem.network, asked.text, emptiness="couvreur99")
            assert found.verdict == "violated"


def test_several_problems(tmp_path):
    """One seed each; the folder is new, or empty."""
    out = tmp_path / "p"
    arguments = {"style": "random-dense", "n_formulas": 4, "max_states": 10_000}
    list(write_problems(out, 2, seed=7, n_problems=2, **arguments))

    for name, seed in [("001", 7), ("002", 8)]:
        drawn = draw_problem(2, seed=seed, **arguments)
        folder = out / "problems" / name
        assert (folder / "formulas.ltl").read_text() == formulas_text(drawn)
        assert load(folder / "system.dot") == drawn.network
    before = sorted(out.rglob("*"))
    with pytest.raises(LtlpipeError, match="is not empty; name a new folder"):
        list(write_problems(out, 2, seed=7, **arguments))
    assert sorted(out.rglob("*")) == before


def test_a_folder_that_cannot_be_written(tmp_path):
    """An error of ours."""
    (tmp_path / "file").write_text("")
    with pytest.raises(LtlpipeError, match="cannot be written"):
        list(
            write_problems(
                tmp_path / "file", 1, style="random-dense", seed=0, n_formulas=1
            )
        )


def test_arguments_out_of_range(monkeypatch):
    """Refused, and so is a network with too few different formulas."""
    with pytest.raises(UnsupportedError, match="0 formulas"):
        draw_problem(2, style="random-pairs", seed=0, n_formulas=0)
    with pytest.raises(UnsupportedError, match="a limit of 0 states"):
        draw_problem(2, style="random-pairs", seed=0, max_states=0)
    monkeypatch.setattr(rers_problems, "instances", lambda *_, **__: iter(["F a0"]))
    with pytest.raises(UnsupportedError, match="no 2 different formulas over"):
        draw_problem(2, style="random-pairs", seed=0, n_formulas=2)
