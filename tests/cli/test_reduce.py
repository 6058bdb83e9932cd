"""`ltlpipe reduce`: what it hides, and what it writes."""

from __future__ import annotations

import pytest

from ltlpipe import LTS, Network, load, save
from tests.cli.command_line import RING, OnTerminal, plain


@pytest.fixture
def workers(tmp_path):
    """Two components that share "meet"; the first does more on its own."""
    left = LTS.from_transitions(
        [(0, "think", 1), (0, "meet", 2), (1, "meet", 2), (2, "rest", 0)]
    )
    right = LTS.from_transitions([(0, "meet", 1), (1, "log", 0)])
    file = tmp_path / "workers.dot"
    save(Network([left, right]), file)
    return file


def reduced(run, workers, *options, out="out.hoa"):
    """The transitions of every component."""
    target = workers.with_name(out)
    outcome = run("reduce", workers, *options, "-o", target)
    assert outcome == (0, "", f"wrote {target}\n")
    return [component.transitions() for component in load(target).components]


def test_what_is_neither_visible_nor_shared_is_hidden(run, workers):
    """Only "rest" is left of what a component does alone."""
    assert reduced(run, workers, "--visible", "rest") == [
        [(0, "meet", 1), (1, "rest", 0)],
        [(0, "meet", 0)],
    ]
    assert reduced(run, workers, "--visible", "") == [[(0, "meet", 0)]] * 2


def test_all_is_visible_by_default(run, workers):
    """Nothing is merged here."""
    assert reduced(run, workers) == [c.transitions() for c in load(workers).components]


def test_names_of_equivalences(run, workers, tmp_path):
    """Hidden steps that nothing depends on are kept by `strong` only."""
    one = tmp_path / "one.aut"
    one.write_text('des (0, 3, 3)\n(0, "x", 1)\n(1, "x", 2)\n(2, "a", 0)\n')
    expected = {
        "trace": [(0, "a", 0)],
        "branching": [(0, "a", 0)],
        "strong": [(0, "i", 1), (1, "i", 2), (2, "a", 0)],
    }
    for name, transitions in expected.items():
        options = ["--visible", "a", "--equivalence", name]
        assert reduced(run, one, *options, out="two.aut") == [transitions]


def test_sizes_are_shown_on_a_terminal(workers, tmp_path):
    """Before and after, and what was written."""
    out = tmp_path / "x.dot"
    with OnTerminal("reduce", workers, "--visible", "", "-o", out) as run:
        outcome = run.end()

    assert outcome.code == 0
    assert "5 states, 6 transitions -> 2 states, 2 transitions" in plain(outcome.err)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--visible", "rest,nap"], "--visible: no action of the system is called 'n"),
        (["--equivalence", "weak"], "expected trace, block, branching, strong"),
        (
            ["--visible", "rest", "--max-component-states", "0"],
            "--max-component-states",
        ),
        (["-o", "x.foo"], "x.foo: cannot write .foo"),
    ],
    ids=["visible", "equivalence", "cap", "suffix"],
)
def test_errors(options, complaint, run, workers, tmp_path):
    """Exit code 2, and nothing is written."""
    outcome = run("reduce", workers, "-o", tmp_path / "out.dot", *options)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert [p.name for p in tmp_path.iterdir()] == ["workers.dot"]


def test_cap(run, tmp_path):
    """Too many states are an error that says what to do."""
    file = tmp_path / "early.aut"
    file.write_text('des (0, 4, 3)\n(0,"a",1)\n(0,"a",2)\n(1,"b",0)\n(2,"c",0)\n')
    outcome = run("reduce", file, "--max-component-states", 1, "-o", tmp_path / "x.aut")

    assert outcome.code == 2
    assert "more than 1 states" in outcome.err
    assert "use branching equivalence" in outcome.err


def test_accepting_states_need_strong_equivalence(run, tmp_path):
    """And are kept by it."""
    file = tmp_path / "x.hoa"
    assert run("generate", "philosophers", 2, "-o", file).code == 0

    outcome = run("reduce", file, "-o", tmp_path / "y.hoa")
    assert outcome.code == 2
    assert "use strong equivalence" in outcome.err
    strong = run("reduce", file, "--equivalence", "strong", "-o", tmp_path / "y.hoa")
    assert strong.code == 0
    assert load(tmp_path / "y.hoa").has_acceptance


@pytest.mark.parametrize("command", ["convert", "reduce"])
def test_an_input_is_not_overwritten(command, run, tmp_path):
    """As everywhere; a reduced system would have taken the place of the whole one."""
    path = tmp_path / "ring.aut"
    path.write_text(RING)
    (tmp_path / "link.aut").symlink_to(path)
    out = [tmp_path / "link.aut"] if command == "convert" else ["-o", path]
    outcome = run(command, path, *out)
    assert outcome.code == 2
    assert "is the file of an input; name another one" in outcome.err
    assert path.read_text() == RING


@pytest.mark.parametrize("command", ["convert", "reduce"])
def test_numbered_files_do_not_overwrite_inputs(command, run, tmp_path):
    """Nothing is written then, though only the second file is an input."""
    files = [tmp_path / "ring.aut", tmp_path / "net_2.aut"]
    for file in files:
        file.write_text(RING)
    out = (
        [tmp_path / "net.aut"] if command == "convert" else ["-o", tmp_path / "net.aut"]
    )
    outcome = run(command, *files, *out)
    assert outcome.code == 2
    assert "net_2.aut' is the file of an input; name another one" in outcome.err
    assert sorted(tmp_path.iterdir()) == sorted(files)
    assert [file.read_text() for file in files] == [RING, RING]
