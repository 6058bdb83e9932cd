"""A run that was found and fails its replay: a bug, with what reproduces it."""

from __future__ import annotations

import pytest

import ltlpipe
from ltlpipe import LtlpipeError, ReplayError, check, deadlocks, livelock, solve
from ltlpipe.runtime.wire import error_from_dict, error_to_dict
from ltlpipe.search.nested import ndfs
from ltlpipe.verdict import counterexample
from ltlpipe.verdict import deadlocks as about_deadlocks

RUN = 'des (0, 3, 3)\n(0, "a", 1)\n(1, "b", 0)\n(0, "end", 2)\n'


@pytest.fixture
def broken(monkeypatch):
    """Have no lasso pass its replay."""

    def failing(*_args, **_options):
        raise ReplayError("the cycle does not close")
        yield

    monkeypatch.setattr(counterexample, "judged", failing)
    monkeypatch.setattr(about_deadlocks, "run_replayed", failing)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.aut"
    path.write_text(RUN)
    return str(path)


def assert_reported(text, *parts):
    """The text has the reason, the versions and these parts, and no frames."""
    known = ("the cycle does not close", f"ltlpipe {ltlpipe.__version__}", "Spot 2")
    for part in (*known, "This is a bug of ltlpipe", *parts):
        assert part in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("ask", "parts"),
    [
        (
            lambda path: check(path, "G a", emptiness="se05", seed=7, timeout=60),
            ["question: G a", "emptiness='se05' timeout=60.0", "seed: 7"],
        ),
        (
            lambda path: check(path, empty=True),
            ["question: empty=", "options: none", "seed: None"],
        ),
        (lambda path: check(path, automaton="HOA: v1\nStates: 1\nStart: 0\nAP: 0\n"
         "Acceptance: 0 t\n--BODY--\nState: 0\n[t] 0\n--END--"), ["[t] 0"]),
        (lambda path: livelock(path, ["end"]), ["question: GF"]),
        (lambda path: deadlocks(path, seed=3), ["question: deadlocks", "seed: 3"]),
    ],
    ids=["check", "empty", "automaton", "livelock", "deadlocks"],
)  # fmt: skip
def test_in_python(broken, path, ask, parts):
    """An `LtlpipeError` that names version, system, question, options and seed."""
    with pytest.raises(ReplayError) as caught:
        ask(path)
    assert isinstance(caught.value, LtlpipeError)
    assert_reported(str(caught.value), "system: ", *parts)
    twin = error_from_dict(error_to_dict(caught.value))
    assert (type(twin), str(twin)) == (ReplayError, str(caught.value))


def test_check(run, broken, path):
    """Exit code 70, and a message."""
    outcome = run("check", path, "-f", "G a", "--seed", 7, "--reduce", "none")
    assert outcome.code == 70
    assert_reported(outcome.err, f"system: {path}", "--reduce none", "seed: 7")


@pytest.mark.parametrize("others", [["G(a | b | end)"], ["G b", "G(a | b | end)"]])
def test_check_of_several_formulas(run, broken, path, others):
    """The others are answered; the one that failed has a line of its own."""
    formulas = ["G a", *others]
    flags = [word for formula in formulas for word in ("-f", formula)]
    outcome = run("check", path, *flags, "--json")
    assert outcome.code == 70
    first, *_, last = outcome.records
    assert (first["verdict"], first["reason"]) == ("unknown", "crash")
    assert_reported(first["message"], "question: G a")
    assert last["verdict"] == "holds"


def test_solve(run, broken, path, tmp_path):
    """The row is unknown for the reason "crash"; the run goes on."""
    rows = solve([(path, "G a"), (path, "G(a | b | end)")])
    assert rows["verdict"].tolist() == ["unknown", "holds"]
    assert rows["reason"].tolist()[0] == "crash"

    table = tmp_path / "tasks.csv"
    table.write_text(f"system,formula\n{path},G a\n{path},G(a | b | end)\n")
    outcome = run("solve", table, "--out", tmp_path / "out.csv")
    assert outcome.code == 70
    assert_reported(outcome.err, "question: G a")


def test_compare(run, broken, path):
    """The other algorithms go on."""
    outcome = run("compare", path, "-f", "G a", "--emptiness", "se05,couvreur99")
    assert outcome.code == 70
    assert outcome.out.count("unknown (crash)") == 2
    assert_reported(outcome.err, "question: G a", "--emptiness couvreur99")


def test_a_search_that_loses_its_run(run, path, monkeypatch):
    """It is reported, too, though there is nothing to replay."""
    monkeypatch.setattr(ndfs.NestedDFS, "_accepts", lambda *_: False)
    outcome = run("check", path, "-f", "GF end", "--emptiness", "se05")
    assert outcome.code == 70
    assert "no state of the cycle that se05 has found accepts" in outcome.err
    assert "question: GF end" in outcome.err
    assert "Traceback" not in outcome.err
