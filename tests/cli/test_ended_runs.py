"""Questions about finite runs and about the past, at the command line."""

from __future__ import annotations

import json

import pytest

import ltlpipe
from ltlpipe import UnsupportedError

RING = """des (0, 4, 4)
(0, "a", 1)
(1, "b", 0)
(1, "c", 2)
(0, "i", 3)
"""
FINAL = """HOA: v1
States: 2
Start: 0
AP: 2 "a" "b"
acc-name: Buchi
Acceptance: 1 Inf(0)
properties: trans-labels explicit-labels state-acc
--BODY--
State: 0
[0 & !1] 1
State: 1 {0}
[!0 & 1] 0
--END--
"""
STRONG = "G(a -> X[!] b)"


@pytest.fixture
def system(tmp_path):
    path = tmp_path / "system.aut"
    path.write_text(RING)
    return path


def test_a_finite_run(run, system):
    """Shown with its end, and replayed by --verify; another one is refuted."""
    outcome = run("check", system, "--semantics", "finite", "-f", STRONG)
    assert outcome.code == 1
    assert "a finite run that has no continuation\n  prefix: a c\n" in outcome.out
    assert "cycle" not in outcome.out
    outcome = run("check", system, "--semantics", "finite", "-f", STRONG, "--json")
    file = system.with_name("v.jsonl")
    file.write_text(outcome.out)
    assert run("check", "--verify", file).code == 0
    file.write_text(outcome.out.replace('"action": "c"', '"action": "b"'))
    assert run("check", "--verify", file).code == 1


def test_weak_and_strong_next(run, system):
    """X holds at the end, X[!] does not; elsewhere X[!] is refused."""
    ask = ("check", system, "--semantics", "finite", "--quiet", "-f")
    assert run(*ask, "F c -> F(c & X 0)").code == 0
    assert run(*ask, "F c -> F(c & X[!] 1)").code == 1
    outcome = run("check", system, "-f", STRONG)
    assert outcome.code == 2
    assert "write X, or use --semantics finite" in outcome.err


def test_final_states(run, tmp_path):
    """A run may end where all components accept, and go on."""
    path = tmp_path / "final.hoa"
    path.write_text(FINAL)
    ask = ("check", path, "--semantics", "finite", "-f")
    outcome = run(*ask, "F b")
    assert outcome.code == 1
    assert "a finite run that ends in a final state\n  prefix: a\n" in outcome.out
    assert run(*ask, "F(a & X 0)").code == 0


def test_no_run_ends(run, tmp_path):
    """Then every formula holds, with a warning; and a run without a step is none."""
    path = tmp_path / "ring.aut"
    path.write_text('des (0, 1, 1)\n(0, "a", 0)\n')
    ask = ("check", path, "--semantics", "finite", "-f", "F a & G !a")
    outcome = run(*ask)
    assert outcome.code == 0
    assert "no run of the system ends" in outcome.err
    path.write_text("des (0, 0, 1)\n")
    outcome = run(*ask, "--unknown", "never")
    assert "that without a step is not judged" in outcome.err


@pytest.mark.parametrize(
    "given",
    [
        *(["--deadlock", "stutter"], ["--fairness", "weak"], ["--vacuity"]),
        *(["--certificate", "c"], ["--shortest"], ["--network-acceptance", "each"]),
        *(["--reduce", "decoupled"], ["--emptiness", "decoupled-scc"]),
    ],
    ids=lambda given: given[0],
)
def test_what_does_not_go_with_finite_runs(run, system, given):
    """Refused by name."""
    outcome = run("check", system, "--semantics", "finite", "-f", "F c", *given)
    assert outcome.code == 2
    assert "decoupled" in outcome.err or given[0] in outcome.err


@pytest.mark.parametrize("form", ['"{}"', '! "{}"', 'F "{}"'])
def test_names_of_what_makes_words_finite(run, system, form):
    """They hold at no step, or are refused: '<alive>' had been true of all steps."""
    ask = ("check", system, "--semantics", "finite", "--unknown", "never", "-f")
    usual = run(*ask, form.format("other"))
    for name in ("<end>", "deadlock", "<past 0>"):
        assert run(*ask, form.format(name)).code == usual.code
    outcome = run(*ask, form.format("<alive>"))
    assert outcome.code == 2
    assert "something in the formula is called '<alive>'" in outcome.err


def test_the_past(run, system):
    """Letters are operators with --past only; lassos are verified."""
    ask = ("check", system, "--past", "-f")
    assert run(*ask, "G(c -> O a) & G(b -> Y a)").code == 0
    outcome = run(*ask, "G(a -> Y b)", "--json")
    assert outcome.code == 1
    file = system.with_name("v.jsonl")
    file.write_text(outcome.out)
    assert run("check", "--verify", file).code == 0
    outcome = run("check", system, "-f", "G(a -> Y b)")
    assert "Y is a past operator with --past only" in outcome.err
    outcome = run(*ask, "G(a -> Y b)", "--vacuity")
    assert "--vacuity cannot be combined with --past" in outcome.err


def test_tasks_and_stores(run, system):
    """solve and verify take both, and one bad formula has a row."""
    folder = system.parent
    (folder / "f.ltl").write_text(f"{STRONG}\nG(b -> Y a)\nG((\n")
    outcome = run(
        *("solve", folder, "--semantics", "finite", "--past", "--quiet"),
        *("--store", folder / "s", "--jobs", "1", "--json"),
    )
    found = [json.loads(line) for line in outcome.out.splitlines()]
    assert {row["formula"]: row["verdict"] for row in found} == {
        STRONG: "violated",
        "G(b -> Y a)": "holds",
        "G((": "unknown",
    }
    assert run("verify", folder / "s", "--quiet").code == 0


def test_compare(run, system):
    """All ways agree."""
    outcome = run(
        *("compare", system, "-f", STRONG, "-f", "a | F 0 | X 0", "--quiet", "--json"),
        *("--semantics", "finite", "--emptiness", "se05,couvreur99", "--sizes"),
    )
    assert outcome.code == 1
    verdicts = [record["verdict"] for record in outcome.records]
    assert verdicts == ["violated", "violated", "holds", "holds"]


def test_simulation(run, system):
    """A finite run can be stepped through, without its formula."""
    outcome = run("check", system, "--semantics", "finite", "-f", STRONG, "--json")
    file = system.with_name("v.json")
    file.write_text(outcome.out)
    simulation = ltlpipe.Simulation(system, lasso=file)
    assert simulation.formula is None
    with pytest.raises(UnsupportedError, match="leave the formula out"):
        ltlpipe.Simulation(system, "F c", lasso=file, semantics="finite")


@pytest.mark.parametrize("given", ["file", "verdict"])
def test_a_formula_of_finite_words_is_not_read_as_another(run, system, given):
    """One that LTL of infinite words knows, too: it would be lost by the first step."""
    weak = "G(a -> X b)"
    options = {"semantics": "finite"}
    if given == "file":
        lasso = system.with_name("v.json")
        ask = ("check", system, "--semantics", "finite", "-f", weak, "--json")
        lasso.write_text(run(*ask).out)
    else:
        lasso = ltlpipe.check(system, weak, **options)
        assert lasso.residuals() == []
    assert ltlpipe.Simulation(system, lasso=lasso).formula is None
    with pytest.raises(UnsupportedError, match="leave the formula out"):
        ltlpipe.Simulation(system, weak, lasso=lasso)


@pytest.mark.parametrize("command", ["deadlocks", "info", "convert"])
def test_commands_without_words(run, system, command):
    """Nothing there is about words: finite ones are refused, not passed over."""
    out = [system.with_name("out.dot")] if command == "convert" else []
    outcome = run(command, system, *out, "--semantics", "finite")
    assert outcome.code == 2
    assert "--semantics finite: expected one of action, state" in outcome.err
    assert run(command, system, *out, "--semantics", "action").code < 2
    if command == "deadlocks":
        with pytest.raises(UnsupportedError, match="expected one of action, state"):
            ltlpipe.deadlocks(system, semantics="finite")


@pytest.mark.parametrize(
    "given",
    [("--semantics", "finite", "-f", STRONG), ("--past", "-f", "G(a -> Y b)")],
    ids=["finite", "past"],
)
def test_what_is_not_explained(run, system, given):
    """It says which formulas are, as this is a violation of one."""
    outcome = run("check", system, *given, "--why")
    assert outcome.code == 1
    assert "one of infinite runs, without past operators" in outcome.err
