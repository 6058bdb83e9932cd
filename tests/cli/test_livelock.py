"""`ltlpipe livelock`: exit codes, output, and what is refused."""

from __future__ import annotations

import pytest

from ltlpipe import livelock
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from tests.cli.command_line import program

POLITE = [
    "\n".join(
        [
            "des (0, 4, 2)",
            f'(0, "{aside}", 1)',
            f'(1, "{aside}", 0)',
            f'(0, "{of_0}", 0)',
            f'(1, "{of_1}", 0)',
        ]
    )
    for aside, of_0, of_1 in [
        ("aside_1", "pass_left", "pass_right"),
        ("aside_2", "pass_right", "pass_left"),
    ]
]
"""They pass if they stand on different sides."""

PASSING = "pass_left,pass_right"


@pytest.fixture
def polite(tmp_path):
    """The files of two components that may give way to each other for ever."""
    files = [tmp_path / f"{k}.aut" for k in range(2)]
    for file, text in zip(files, POLITE, strict=True):
        file.write_text(text)
    return files


def test_a_livelock(run, polite):
    """Exit code 1, and a run without progress."""
    outcome = run("livelock", *polite, "--progress", PASSING)
    assert (outcome.code, outcome.err) == (1, "")
    first, prefix, cycle = outcome.out.splitlines()
    assert first.startswith("violated: GF(pass_left | pass_right)   [")
    assert prefix.startswith("  prefix: ")
    assert cycle.startswith("  cycle:  aside")
    assert "pass" not in cycle


def test_a_limit_while_reading(run, polite):
    """What was asked is told."""
    outcome = run("livelock", *polite, "--progress", PASSING, "--timeout", 0)
    assert outcome.code == 3
    assert outcome.out.startswith("unknown (timeout): no livelock   [")


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--fairness", "weak"], 1),
        (["--fairness", "strong"], 1),
        (["--fairness", "weak", "--fair-sets", PASSING], 1),
        (["--fairness", "strong", "--fair-sets", PASSING], 0),
        (["--fairness", "strong", "--fair-sets", PASSING + ",aside_1"], 1),
        (["--fairness", "strong", "--fair-sets", "aside_1", "--fair-sets", PASSING], 0),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_fairness(flags, code, run, polite):
    """Strong fairness to passing excludes the livelock, to the people it does not."""
    outcome = run("livelock", *polite, "--progress", PASSING, "--json", *flags)
    assert (outcome.code, outcome.err) == (code, "")
    (record,) = outcome.records
    assert record["verdict"] == ["holds", "violated"][code]
    assert record["formula"] == "GF(pass_left | pass_right)"
    assert record["plan"]["reductions"] == []
    if code:
        assert set(record["lasso"]["cycle"]) <= {"aside_1", "aside_2"}


def test_any_action_is_progress(run, polite):
    """Then no infinite run is a livelock; spaces around commas do not matter."""
    names = "pass_left, aside_1 ,aside_2,pass_right"
    assert run("livelock", *polite, "--progress", names).code == 0
    assert run("livelock", *polite, "--progress", "aside_1,aside_2").code == 0


def test_deadlocks(run, tmp_path):
    """A deadlock is no run, or a livelock if it stutters."""
    path = tmp_path / "x.aut"
    path.write_text('des (0, 1, 2)\n(0, "a", 1)\n')
    for fairness in ([], ["--fairness", "weak"], ["--fairness", "strong"]):
        question = ["livelock", path, "--progress", "a", *fairness]
        assert run(*question).code == 0
        outcome = run(*question, "--deadlock", "stutter", "--json")
        assert outcome.code == 1
        assert outcome.records[0]["lasso"]["cycle"] == ["<stutter>"]


def test_names_that_need_quotes(run, tmp_path):
    """Names are quoted in the formula."""
    path = tmp_path / "x.aut"
    path.write_text('des (0, 2, 1)\n(0, "send!1 X", 0)\n(0, "G", 0)\n')
    outcome = run("livelock", path, "--progress", "send!1 X", "--json")
    assert outcome.records[0]["lasso"]["cycle"] == ["G"]
    assert run("livelock", path, "--progress", "send!1 X,G").code == 0


def test_explain_and_limits(run, polite):
    """The plan is printed, and a limit ends in "unknown"."""
    flags = ["--progress", PASSING, "--fairness", "strong"]
    outcome = run("livelock", *polite, *flags, "--explain", "--seed", 0)
    assert (
        "plan:\n  tela, because strong fairness is a Streett condition" in outcome.out
    )
    assert "no reductions, because they change which actions are enabled" in outcome.out
    outcome = run("livelock", *polite, *flags, "--max-states", 1, "--json")
    assert outcome.code == 3
    assert outcome.records[0]["reason"] == "max-states"


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ([], "missing option '--progress'"),
        (["--progress", "nowhere"], "is called 'nowhere', which is to be progress"),
        (["--progress", ""], "is called '', which is to be progress"),
        (["--progress", "pass_left,"], "is called '', which is to be progress"),
        (
            ["--progress", PASSING, "--fair-sets", PASSING],
            "requires --fairness weak or --fairness strong",
        ),
        (
            ["--progress", PASSING, "--fairness", "weak", "--fair-sets", "nowhere"],
            "--fair-sets nowhere: no action of the system is called 'nowhere'",
        ),
        (
            ["--progress", PASSING, "--fairness", "strong", "--emptiness", "se05"],
            "use --emptiness tela",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(flags, complaint, run, polite):
    """Exit code 2 and a message."""
    outcome = run("livelock", *polite, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_as_a_program(polite):
    """`ltlpipe livelock --help` names its options, and the command runs."""
    usage = program("livelock", "--help")
    assert usage.code == 0
    for option in ("--progress", "--fair-sets", "--fairness", "--json", "--explain"):
        assert option in usage.out
    assert program("livelock", *polite, "--progress", PASSING).code == 1


def test_charts(run):
    """Of livelocks, and of the way to a deadlock."""
    file = "examples/fairness/philosophers.dot"
    outcome = run("livelock", file, "--progress", "eat_1", "--chart")
    assert "┌ 1   think_1  ● thinking_1" in outcome.out
    assert "prefix:" not in outcome.out
    file = "examples/pnml/dining-4.pnml"
    outcome = run("deadlocks", file, "--chart")
    assert "┌ 5   <stutter>" in outcome.out
    outcome = run("deadlocks", file, "--chart", "--json")
    assert outcome.code == 2


@pytest.mark.parametrize("command", ["livelock", "deadlocks"])
def test_no_time_to_read(run, polite, command):
    """Exit code 3, as of a check."""
    flags = ["--progress", PASSING] if command == "livelock" else []
    outcome = run(command, *polite, *flags, "--timeout", 0)
    assert (outcome.code, outcome.err) == (3, "")
    assert outcome.out.startswith("unknown (timeout): ")


@pytest.mark.parametrize("name", ['a"b', "a\\b", 'a\\"', "a'b", "a b", "x==1 || y"])
def test_progress_of_a_net(name):
    """Its transitions may be called anything."""
    there = Transition("t", name, {0: 1}, {1: 1})
    back = Transition("u", "u", {1: 1}, {0: 1})
    net = PetriNet([Place("p", "p", 1), Place("q", "q", 0)], [there, back])
    assert livelock(net, [name]).verdict == "holds"
    assert livelock(net, [name, "u"]).verdict == "holds"
