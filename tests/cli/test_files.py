"""`ltlpipe translate`, `convert` and `generate`: what they write."""

from __future__ import annotations

import csv
import gzip

import pytest

from ltlpipe import is_interruptible, load
from ltlpipe.families.networks import philosophers, random_network
from ltlpipe.families.networks import ring as ring_family
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.systems.networks.exports import to_ll_net
from tests.cli.command_line import RING

FAMILIES = {"philosophers": philosophers, "ring": ring_family}


def accepts(hoa, formula):
    """Whether the automaton of a HOA text has exactly the words of a formula."""
    import spot

    automaton = spot.automaton(hoa)
    return spot.are_equivalent(automaton, parse(formula).spot)


def content(network):
    """What components consist of, in whatever order transitions come."""
    return [
        (c.n_states, c.initial, c.labels, sorted(c.transitions()), list(c.accepting))
        for c in network.components
    ]


@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
@pytest.mark.parametrize(
    "formula", ["G(a -> F b)", "GF a & GF b", "0", '"two words" WU c']
)
def test_translate(formula, acceptance, run):
    """The automaton in HOA has the words of the formula, or those of its negation."""
    outcome = run("translate", formula, "--acceptance", acceptance)
    assert (outcome.code, outcome.err) == (0, "")
    assert accepts(outcome.out, formula)

    negated = run("translate", formula, "--acceptance", acceptance, "--negate")
    assert accepts(negated.out, f"!({formula})")


def test_translate_known_output(run):
    """Acceptance as asked for: two sets on transitions, one set on states."""
    tgba = run("translate", "GF a & GF b", "--acceptance", "tgba").out
    assert tgba.startswith("HOA: v1\n")
    assert tgba.endswith("--END--\n")
    assert "Acceptance: 2 Inf(0)&Inf(1)\n" in tgba
    assert "States: 1\n" in tgba

    ba = run("translate", "GF a & GF b").out
    assert "Acceptance: 1 Inf(0)\n" in ba
    assert "state-acc" in ba


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["G("], "error: formula: syntax error, unexpected end of formula"),
        (["G a", "--acceptance", "dba"], "expected one of ba, tgba"),
        ([], "missing argument 'FORMULA'"),
    ],
    ids=["formula", "acceptance", "none"],
)
def test_translate_errors(args, complaint, run):
    """Exit code 2, nothing on standard output."""
    outcome = run("translate", *args)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_translate_out_of_memory(run, monkeypatch):
    """A worker that runs out of memory is an error like any other."""

    def exhausted(*_, **__):
        yield Progress()
        raise StoppedError(MEMORY)

    monkeypatch.setattr("ltlpipe.automata.translation.automaton_text", exhausted)

    outcome = run("translate", "G a")
    assert outcome == (2, "", "error: no automaton: Spot ran out of memory\n")


@pytest.mark.parametrize("suffix", [".dot", ".aut", ".hoa", ".dot.gz", ".hoa.gz"])
def test_convert_there_and_back(suffix, run, ring, tmp_path):
    """What is converted is the same system; the file is named on standard error."""
    target = tmp_path / f"converted{suffix}"

    outcome = run("convert", ring, target)

    assert outcome == (0, "", f"wrote {target}\n")
    assert load(target).components == load(ring).components


def test_convert_several_files(run, ring, tmp_path):
    """Components of one network; .aut holds one each, and files are numbered."""
    second = tmp_path / "second.aut"
    second.write_text(RING.replace("a", "c"))

    assert run("convert", ring, second, tmp_path / "n.dot").code == 0
    outcome = run("convert", tmp_path / "n.dot", tmp_path / "n.aut")

    files = [tmp_path / "n_1.aut", tmp_path / "n_2.aut"]
    assert outcome.err == "".join(f"wrote {file}\n" for file in files)
    assert load(files).components == load([ring, second]).components


def test_convert_to_promela(run, ring, tmp_path):
    """For Spin."""
    assert run("convert", ring, tmp_path / "x.pml").code == 0
    assert "proctype" in (tmp_path / "x.pml").read_text()


def test_convert_to_a_petri_net(run, tmp_path):
    """For Cunf; acceptance is left out, and nothing reads the file again."""
    hoa, net = tmp_path / "x.hoa", tmp_path / "x.ll_net"
    run("generate", "philosophers", 2, "-o", hoa)

    assert run("convert", hoa, net) == (0, "", f"wrote {net}\n")
    assert net.read_text() == to_ll_net(load(hoa))
    assert "unknown suffix '.ll_net'" in run("convert", net, hoa).complaint
    run("generate", "philosophers", 2, "-o", tmp_path / "y.ll_net.gz")
    packed = (tmp_path / "y.ll_net.gz").read_bytes()
    assert gzip.decompress(packed).decode() == net.read_text()


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["ring.aut"], "missing argument 'IN'"),
        (["ring.aut", "x.foo"], "x.foo: cannot write .foo, expected .dot, .aut, .hoa"),
        (["ring.aut", "x"], "x: cannot write a file without suffix"),
        (["ring.aut", "no/x.dot"], "no/x.dot: cannot be written: No such file"),
        (["no.aut", "x.dot"], "no.aut: cannot be read: No such file"),
        (["b.hoa", "x.dot"], "a .dot file cannot hold accepting states"),
    ],
    ids=["one file", "suffix", "no suffix", "folder", "input", "acceptance"],
)
def test_convert_errors(args, complaint, run, ring, tmp_path, monkeypatch):
    """Exit code 2, and no file is written."""
    monkeypatch.chdir(tmp_path)
    run("generate", "philosophers", 2, "-o", "b.hoa")

    outcome = run("convert", *args)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.hoa", "ring.aut"]


@pytest.mark.parametrize(("family", "n"), [("philosophers", 3), ("ring", 4)])
def test_generate(family, n, run, tmp_path):
    """The family's member, on standard output or in a file."""
    printed = run("generate", family, n)
    saved = run("generate", family, n, "-o", tmp_path / "x.hoa.gz")

    assert (printed.code, printed.err) == (0, "")
    assert saved == (0, "", f"wrote {tmp_path}/x.hoa.gz\n")
    assert gzip.decompress((tmp_path / "x.hoa.gz").read_bytes()).decode() == printed.out
    assert content(load(tmp_path / "x.hoa.gz")) == content(FAMILIES[family](n))


def test_generate_random_nba(run, tmp_path):
    """The same system for the same seed, and it is as large as asked for."""
    flags = ["--states", "2-4", "--local-ratio", 0.5, "--sharing", "2-3"]
    first, again, other = (
        run("generate", "random-nba", 3, "--seed", seed, *flags).out
        for seed in (7, 7, 8)
    )

    assert first == again != other
    (tmp_path / "x.hoa").write_text(first)
    expected = random_network(
        3, seed=7, n_states=(2, 4), local_ratio=0.5, sharing=(2, 3)
    )
    assert content(load(tmp_path / "x.hoa")) == content(expected)


def test_generate_random_nba_as_the_paper(run, tmp_path):
    """Defaults: those of `random_network`, which are the paper's."""
    run("generate", "random-nba", 2, "-o", tmp_path / "x.hoa")

    assert content(load(tmp_path / "x.hoa")) == content(random_network(2, seed=0))


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["philosophers", "1"], "error: 1 philosophers cannot dine: use n >= 2"),
        (["ring", "2"], "error: 2 components make no ring: use n >= 3"),
        (["random-nba", "3", "--states", "9-2"], "'9-2' is not a number or range"),
        (["random-nba", "two"], "error: N: "),
        (["random-nba", "1"], "error: 1 components share no label"),
        (["random-nba", "3", "--states", "0-2"], "error: (0, 2) is not a range"),
        (["random-nba", "3", "--sharing", "1"], "error: (1, 1) is not a range"),
        (["random-nba", "3", "--local-ratio", "1"], "error: local ratio 1.0"),
        (["random-nba", "3", "--local-ratio", "nan"], "error: local ratio nan"),
        (["random-nba", "3", "--local-ratio", "half"], "--local-ratio"),
        (["philosophers", "many"], "N"),
        (["philosophers", "2", "-o", "x.dot"], "cannot hold accepting states"),
        (["tables", "2"], "no such command 'tables'"),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_generate_errors(args, complaint, run, tmp_path, monkeypatch):
    """Exit code 2, and no file is written."""
    monkeypatch.chdir(tmp_path)

    outcome = run("generate", *args)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert not list(tmp_path.iterdir())


def test_generate_formulas(run, ring, tmp_path):
    """Different formulas over the actions that are given, the same for one seed."""
    out = tmp_path / "f.ltl"
    arguments = ["generate", "formulas", 20, "--actions", "a, b,c,d,X", "--seed", 3]

    outcome = run(*arguments, "--out", out)

    assert (outcome.code, outcome.out) == (0, "")
    formulas = read_formulas(out)
    assert len({f.text for f in formulas}) == 20
    assert {p for f in formulas for p in f.propositions} <= set("abcdX")
    assert run(*arguments).out == out.read_text()


def test_generate_formulas_of_a_system(run, tmp_path):
    """Its actions, internal ones apart; with --interruptible nothing else."""
    system = tmp_path / "s.aut"
    labels = ["a", "b", "c d", "e", "i"]
    lines = [f'(0, "{label}", 0)' for label in labels]
    system.write_text("\n".join(["des (0, 5, 1)", *lines, ""]))
    out = tmp_path / "f.ltl"

    arguments = ["--system", system, "--interruptible", "--out", out]
    assert run("generate", "formulas", 30, *arguments).code == 0

    formulas = read_formulas(out)
    assert {p for f in formulas for p in f.propositions} == {"a", "b", "c d", "e"}
    assert all(is_interruptible(f) for f in formulas)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "expected --actions"),
        (["--actions", "a", "--system", "s.aut"], "expected --actions"),
        (["--actions", "a,b,,c"], "without a name"),
        (["--actions", "a"], "at least 2"),
        (["--actions", "a,b,c,d", "--out", "nowhere/f.ltl"], "cannot be written"),
    ],
)
def test_generate_formulas_refused(arguments, complaint, run):
    """Exit code 2 and a reason."""
    outcome = run("generate", "formulas", 3, *arguments)
    assert outcome.code == 2
    assert complaint in outcome.complaint


def test_generate_rers(run, tmp_path):
    """A folder that `solve` takes, and that the table agrees with."""
    out = tmp_path / "p"
    arguments = ["generate", "rers", "--components", 2, "--style", "random-dense"]
    outcome = run(*arguments, "--formulas", 6, "--problems", 2, "--seed", 3, "-o", out)

    assert (outcome.code, outcome.out) == (0, "")
    written = [line.removeprefix("wrote ") for line in outcome.err.splitlines()]
    assert written == [
        *(f"{out}/problems/00{k}/{f}" for k in (1, 2) for f in RERS_FILES),
        f"{out}/truth.csv",
    ]
    results = tmp_path / "results.csv"
    assert run("solve", out, "--out", results, "--quiet").code == 1
    with results.open() as stream:
        found = {
            (row["system"].split("/")[-2], row["formula"]): row["verdict"]
            for row in csv.DictReader(stream)
        }
    with (out / "truth.csv").open() as stream:
        truth = list(csv.DictReader(stream))
    assert len(found) == len(truth) == 12
    for row in truth:
        assert found[row["problem"], row["formula"]] == row["verdict"]


RERS_FILES = ("formulas.ltl", "system.dot")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--components", 3], "missing option '-o'"),
        (["-o", "p"], "missing option '--components'"),
        (["--components", 0, "-o", "p"], "--components"),
        (["--components", 3, "--style", "2020", "-o", "p"], "'2020' is not one of"),
        (
            ["--components", 3, "--formulas", 0, "-o", "p"],
            "--formulas: 0, expected 1 or more",
        ),
        (
            ["--components", 3, "--synchronisations", 500, "-o", "p"],
            "error: 500 synchronisations have no room",
        ),
        (
            ["--components", 1, "--synchronisations", 1, "-o", "p"],
            "error: 1 component synchronises with none: use >= 2",
        ),
        (["--components", 2, "-o", "."], "error: .: is not empty; name a new folder"),
    ],
    ids=["out", "components", "none", "style", "formulas", "room", "one", "folder"],
)
def test_generate_rers_errors(arguments, complaint, run, tmp_path, monkeypatch):
    """Exit code 2, and no file is written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other").write_text("")

    outcome = run("generate", "rers", *arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert [p.name for p in tmp_path.iterdir()] == ["other"]
