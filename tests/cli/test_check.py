"""`ltlpipe check`: verdicts, exit codes, JSON."""

from __future__ import annotations

import gzip
import json
import os
import re
import time

import pytest
from pandas.testing import assert_frame_equal

from benchmarks.families.nets import coloured_token_ring
from ltlpipe import Plan, Statistics, Verdict, load, results, solve
from ltlpipe.batch.table import DTYPES
from ltlpipe.cli.verdicts import Form, report
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.systems.nets.coloured import unfolding
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.nets.writing import pnml_text, save_pnml
from ltlpipe.verdict import lasso as lassos
from ltlpipe.verdict.lasso import Lasso
from tests.cli.command_line import HARD, MANY, RING, program
from tests.oracles import accepting_run_exists
from tests.processes import SOON

KEYS = [
    "system",
    "formula",
    "verdict",
    "reason",
    "plan",
    "states",
    "transitions",
    "max_depth",
    "seconds",
    "compile_seconds",
    "load_seconds",
    "search_seconds",
    "cpu_seconds",
    "memory_mib",
    "lasso",
    "warnings",
    "vacuous",
    "vacuous_part",
    "configuration",
    "formula_id",
]  # of the contract, in its order

UNREADY = [
    (["--emptiness", "aec"], "symmetry cannot be used: aec is for sets of markings"),
    (["--reduce", "stabiliser"], "automorphisms stores as many states or fewer"),
    (["--semantics", "state"], "use action"),
]


def test_holds(run, ring):
    """Exit code 0, one line for people, and nothing on standard error."""
    outcome = run("check", ring, "-f", "G(a -> F b)")

    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("holds: G(a -> F b)   [")
    assert outcome.out.count("\n") == 1


def test_decoupled(run, tmp_path):
    """The search and the reduction are in the plan; who accepts can be said."""
    file = str(tmp_path / "ring.hoa")
    assert run("generate", "ring", "12", "--out", file).code == 0
    outcome = run("check", file, "--empty", "--json", "--reduce", "decoupled")
    found = json.loads(outcome.out)
    assert (outcome.code, found["verdict"]) == (0, "holds")
    assert found["plan"]["emptiness"] == "decoupled-ndfs"
    assert found["plan"]["reductions"] == ["decoupled"]
    outcome = run("check", file, "--empty", "--network-acceptance", "each")
    assert outcome.code == 0
    outcome = run("check", file, "-f", "X l0", "--reduce", "decoupled")
    assert (outcome.code, outcome.out) == (2, "")
    assert "cannot be used: the formula is not interruptible" in outcome.err


def test_violated(run, ring):
    """Exit code 1, the lasso on two lines, and when all is lost."""
    outcome = run("check", ring, "-f", "G a")

    verdict, *lasso = outcome.out.splitlines()
    assert outcome.code == 1
    assert verdict.startswith("violated: G a   [")
    assert lasso[:2] == ["  prefix: (empty)", "  cycle:  a b"]
    assert lasso[2].startswith("  violated by the first 2 steps: no continuation")


@pytest.mark.parametrize(
    ("formulas", "code"),
    [
        (["F a", "F b"], 0),
        (["F a", "G a"], 1),
        (["F a", "F X b", "G X a", "F b"], 1),
    ],
    ids=["all hold", "one violated", "violated in the middle"],
)
def test_exit_code_of_several_formulas(formulas, code, run, ring):
    """Every formula gets its verdict; one violation is enough for 1."""
    outcome = run("check", ring, *(x for f in formulas for x in ("-f", f)))

    lines = outcome.out.splitlines()
    assert outcome.code == code
    assert sum(line.startswith(("holds", "violated")) for line in lines) == len(
        formulas
    )


@pytest.mark.parametrize("second", ["0", "1"], ids=["unknown", "holds"])
def test_exit_code_of_unknown(second, run, big):
    """3 where something is unknown and nothing violated."""
    outcome = run("check", big, "-f", "0", "-f", second, "--max-states", 3, "--json")

    assert outcome.records[0]["verdict"] == "unknown"
    assert outcome.code == 3


def test_violated_goes_before_unknown(run, tmp_path):
    """1 says that there is a violation, whatever else is unknown."""
    chain = [f'({k}, "a{k}", {(k + 1) % 20})' for k in range(20)]
    text = "\n".join(["des (0, 21, 20)", '(0, "x", 0)', *chain, ""])
    (tmp_path / "x.aut").write_text(text)
    formulas = ["-f", "G(a0 -> F a1)", "-f", "F a0"]

    limits = ["--max-states", 5, "--reduce", "none"]
    outcome = run("check", tmp_path / "x.aut", *formulas, *limits, "--json")

    assert [r["verdict"] for r in outcome.records] == ["unknown", "violated"]
    assert outcome.code == 1


def test_json(run, ring):
    """Exactly the keys of the contract, one object per formula and line."""
    outcome = run("check", ring, "-f", "G(a -> F b)", "-f", "G !b", "--json")

    holds, violated = outcome.records
    assert [list(record) for record in outcome.records] == [KEYS, KEYS]
    assert (outcome.code, outcome.err) == (1, "")
    assert holds["system"] == str(ring)
    assert holds["formula"] == "G(a -> F b)"
    assert (holds["verdict"], holds["reason"], holds["lasso"]) == ("holds", None, None)
    strategies = holds["plan"].pop("tried")
    assert holds["plan"] == {
        "automaton": "BA",
        "emptiness": None,
        "reductions": [],
        "strategy": "instant",
    }
    assert {t["strategy"]: t["outcome"] for t in strategies}["instant"] == "answered"
    for tried in strategies:
        assert list(tried) == ["strategy", "outcome", "seconds", "reason"]
        assert (tried["outcome"] == "not tried") == (tried["seconds"] == 0)
    assert violated["verdict"] == "violated"
    lasso = violated["lasso"]
    assert list(lasso) == ["prefix", "cycle", "shortest", "bad_prefix", "steps"]
    assert (lasso["prefix"] + 2 * lasso["cycle"])[:2] == ["a", "b"]
    for record in outcome.records:
        assert isinstance(record["states"], int)
        assert isinstance(record["transitions"], int)
        assert isinstance(record["max_depth"], int)
        assert record["seconds"] > 0
        assert record["compile_seconds"] == 0  # nothing is
        assert 0 <= record["search_seconds"] <= record["seconds"]
        assert record["cpu_seconds"] > 0
        assert record["memory_mib"] > 0
        assert record["warnings"] == []


def test_json_of_an_engine(run, ring):
    """What was asked for is in the plan."""
    flags = ["--reduce", "ample", "--emptiness", "dfs-weak", "--json"]
    (record,) = run("check", ring, "-f", "G(a -> F b)", *flags).records

    del record["plan"]["tried"]
    assert record["plan"] == {
        "automaton": "BA",
        "emptiness": "dfs-weak",
        "reductions": ["ample"],
        "strategy": "ample",
    }


def test_json_has_the_warnings(run, ring):
    """Those of its formula, each once; standard error has them, too."""
    asked = ["-f", "G !c", "-f", "G(a -> F b)", "--unknown", "never"]
    outcome = run("check", ring, *asked, "--json")

    warned, other = outcome.records
    message = "no action of the system is called 'c': never true"
    assert (warned["warnings"], other["warnings"]) == ([message], [])
    assert outcome.err == f"warning: {message}\n"


def test_a_formula_that_options_do_not_suit(run, ring, tmp_path):
    """It has a line of its own that says why, and the others are checked."""
    (tmp_path / "f.ltl").write_text("G(a -> F b)\nG(a -> X b)\nG !b\n")
    asked = ["check", ring, "-F", tmp_path / "f.ltl", "--reduce", "ample"]
    outcome = run(*asked)
    records = run(*asked, "--json").records

    verdicts = [line.split(":")[0] for line in outcome.out.splitlines()]
    assert verdicts[:2] == ["holds", "unknown (unsupported)"]
    why = "ample cannot be used: the formula is not interruptible"
    assert "unknown (unsupported): G(a -> X b)   [" in outcome.out
    assert f"\n  {why}\n" in outcome.out
    assert (outcome.code, outcome.err) == (1, "")
    assert [r["verdict"] for r in records] == ["holds", "unknown", "violated"]
    assert list(records[1]) == [*KEYS, "message"]
    assert (records[1]["reason"], records[1]["message"]) == ("unsupported", why)
    assert records[1]["states"] is None


def test_unsupported_formulas_alone(run, ring, tmp_path):
    """Exit code 3 for a file, which may have one; 2 for the only formula."""
    (tmp_path / "f.ltl").write_text("G(a -> X b)\n")
    outcome = run("check", ring, "-F", tmp_path / "f.ltl", "--reduce", "ample")
    assert (outcome.code, outcome.err) == (3, "")

    outcome = run("check", ring, "-f", "G(a -> X b)", "--reduce", "ample")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ample cannot be used: the formula is not")


@pytest.mark.parametrize(
    "flags",
    [
        ["--fairness", "weak", "--reduce", "ample"],
    ],
    ids=" ".join,
)
def test_options_that_suit_no_formula(flags, run, ring, tmp_path):
    """One error, and no line per formula: nothing is wrong with these."""
    (tmp_path / "f.ltl").write_text("G(a -> F b)\nG !b\n")
    outcome = run("check", ring, "-F", tmp_path / "f.ltl", *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.count("\n") == 1


def test_a_symmetric_net_that_is_too_large(run, tmp_path, monkeypatch):
    """Where nothing can be exchanged, it says both; else it is decided."""
    monkeypatch.setattr(unfolding, "MAX_TRANSITIONS", 0)
    path = tmp_path / "net.pnml"
    save_pnml(coloured_token_ring(3), str(path))
    assert run("check", path, "-f", "G(state >= 0)").out.startswith("holds")
    outcome = run("check", path, "-f", "G F state == 1")
    assert outcome.code == 2
    assert "unfolds into more than 0 transitions" in outcome.complaint
    assert "symmetry cannot be used: no colours can be exchanged" in outcome.complaint

    save_pnml(coloured_client_server(3, 1), str(path))
    outcome = run("check", path, "-f", "G(served.1.1 == 0)")
    assert outcome.code == 1
    assert "serve.1.1" in outcome.out


def test_workers(run, ring):
    """At most 31, and one by default."""
    flags = ["--emptiness", "rabin-parallel", "--workers"]
    outcome = run("check", ring, "-f", "GF a -> GF b", *flags, 2, "--json")
    assert [r["verdict"] for r in outcome.records] == ["holds"]
    outcome = run("check", ring, "-f", "GF a -> GF b", *flags, 32)
    assert outcome.code == 2
    assert "--workers" in outcome.complaint


def test_vacuity(run, ring):
    """What can be replaced, or a run that shows what matters; in JSON, too."""
    asked = ["check", ring, "--vacuity", "-f", "G(a -> X b)", "-f", "G(b -> F a)"]
    outcome = run(*asked, "-f", "F G a", "-f", "G !(a & b)")
    lines = [line.split("   [")[0] for line in outcome.out.splitlines()]
    assert lines == [
        "holds: G(a -> X b)",
        "  not vacuously: this run shows that it needs a, b",
        "  prefix: (empty)",
        "  cycle:  a b",
        "holds: G(b -> F a)",
        "  vacuously: it holds with b replaced by true, too: GFa",
        "violated: F G a",
        "  prefix: (empty)",
        "  cycle:  a b",
        "holds: G !(a & b)",
        "  vacuously: no run of any system could violate it",
    ]

    first, second = run(*asked, "--json").records
    assert list(first) == [*KEYS, "witness", "witness_part"]
    assert (first["vacuous"], first["vacuous_part"]) == (False, None)
    assert (first["witness"]["cycle"], first["witness_part"]) == (["a", "b"], "a, b")
    assert list(second) == [*KEYS, "vacuous_value", "stronger_formula"]
    assert (second["vacuous"], second["vacuous_part"]) == (True, "b")
    assert (second["vacuous_value"], second["stronger_formula"]) == (True, "GFa")


def test_a_witness_as_a_chart(run, ring):
    """As a counterexample is drawn; the other answers are lines."""
    outcome = run("check", ring, "--vacuity", "--chart", "-f", "G(a -> X b)")
    lines = outcome.out.splitlines()
    assert lines[1] == "  not vacuously: this run shows that it needs a, b"
    assert "repeats for ever" in outcome.out
    assert "prefix:" not in outcome.out


def test_vacuity_of_no_formula(run, ring):
    """What is asked without one has no parts."""
    outcome = run("check", ring, "--empty", "--vacuity")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "error: --vacuity requires a formula\n"


def test_vacuity_that_is_not_decided(run, ring):
    """Said in the text, on standard error, and in the warnings."""
    many = " | ".join(f"(X a <-> {'X ' * k}a)" for k in range(2, 60))
    asked = ["check", ring, "--vacuity", "-f", many]
    outcome = run(*asked)
    assert outcome.code == 0
    assert "\n  vacuously or not: not decided (unsupported)\n" in outcome.out
    why = "whether it holds vacuously was not decided: unsupported"
    assert outcome.err == f"warning: {why}\n"
    (record,) = run(*asked, "--json").records
    assert (record["vacuous"], record["warnings"]) == (None, [why])
    assert record["vacuity_reason"] == "unsupported"


def test_a_violation_without_its_lasso(capsys):
    """The line says why there is neither prefix nor cycle."""
    plan = Plan("BA", "se05", strategy="explicit")
    stats = Statistics(states=7, seconds=1.0)
    report(Verdict("violated", "lasso-limit", "m", "G a", plan, stats), Form())

    assert capsys.readouterr().out == (
        "violated (lasso-limit): G a   [explicit: 7 states, 1.00 s]\n"
        "  no lasso: a limit was hit while it was extracted\n"
    )


def test_json_of_an_unknown_verdict(run, big):
    """The reason is the limit; the statistics are those so far."""
    (record,) = run("check", big, "--empty", "--max-states", 100, "--json").records

    assert list(record) == KEYS
    assert (record["verdict"], record["reason"]) == ("unknown", "max-states")
    assert record["formula"] is None
    assert record["plan"]["automaton"] is None
    assert record["states"] == 100
    assert record["lasso"] is None


def test_json_where_names_are_not_ascii(run, tmp_path):
    """Text stays text; a file name that is none is escaped."""
    for name in ("é☃.aut", "\udcff.aut"):
        (tmp_path / name).write_text('des (0, 1, 1)\n(0, "é", 0)\n')

    outcome = run("check", tmp_path / "é☃.aut", "-f", 'G "é"', "-f", 'F !"é"', "--json")
    assert '"formula": "G \\"é\\""' in outcome.out
    assert outcome.records[0]["system"] == f"{tmp_path}/é☃.aut"
    lasso = outcome.records[1]["lasso"]
    assert (lasso["prefix"], lasso["cycle"]) == ([], ["é"])

    outcome = run("check", tmp_path / "\udcff.aut", "-f", 'F "é"', "--json")
    assert outcome.records[0]["system"] == f"{tmp_path}/\udcff.aut"


def test_no_lasso(run, ring):
    """The verdict is the same; no lasso is printed."""
    outcome = run("check", ring, "-f", "G a", "--no-lasso")
    assert (outcome.code, outcome.out.count("\n")) == (1, 1)

    outcome = run("check", ring, "-f", "G a", "--no-lasso", "--json")
    assert outcome.records[0]["lasso"] is None


def test_lassos_for_people(run, tmp_path):
    """Names are quoted where they would mislead, and long lassos are cut."""
    names = ["plain", "two words", "", 'quo"te', *(f"n{k}" for k in range(70))]
    steps = [f'({k}, "{name}", {(k + 1) % len(names)})' for k, name in enumerate(names)]
    (tmp_path / "x.aut").write_text(
        "\n".join([f"des (0, {len(names)}, {len(names)})", *steps]) + "\n"
    )

    cycle = run("check", tmp_path / "x.aut", "-f", "0").out.splitlines()[2]

    assert cycle.startswith('  cycle:  plain "two words" "" "quo\\"te" n0 n1 ')
    assert cycle.endswith("n55 ... (14 more; --json prints all)")


@pytest.mark.parametrize("name", ["x.aut", "x.pnml"])
@pytest.mark.parametrize(
    "words",
    [
        ("check", "--steps", "--why"),
        ("check", "--chart"),
        ("check", "--explain", "--no-lasso"),
        ("compare",),
        ("analyze",),
        ("analyze", "--explain", "1"),
    ],
)
def test_names_have_nothing_that_a_terminal_obeys(run, tmp_path, name, words):
    """Colours, moves of the cursor, text from right to left, line breaks."""
    places = [Place("p\x9b1m", "p\u202ex", 1), Place("q\t", "q\nviolated: q")]
    steps = [
        Transition("t\x9b1m", "t\x9b1m", {0: 1}, {1: 1}),
        Transition("u", "u", {1: 1}, {0: 1}),
    ]
    (tmp_path / "x.pnml").write_text(pnml_text(PetriNet(places, steps)))
    labels = "t\x9b1m", "\x1b[31mu"
    text = f'des (0, 2, 2)\n(0, "{labels[0]}", 1)\n(1, "{labels[1]}", 0)\n'
    (tmp_path / "x.aut").write_text(text)
    formula = 'G !"t\x9b1m"' if name == "x.aut" else 'G !(action=="t\x9b1m")'
    system = () if words[0] == "analyze" else (tmp_path / name,)

    outcome = run(*words, *system, "-f", formula)

    assert "t\\x9b1m" in outcome.out
    assert outcome.out.replace("\n", "").isprintable()
    assert "\nviolated: q" not in outcome.out
    assert outcome.err == ""


def test_errors_have_nothing_that_a_terminal_obeys(run, tmp_path):
    """Not in names that they offer either."""
    (tmp_path / "x.aut").write_text('des (0, 1, 1)\n(0, "t\x9b1m", 0)\n')
    outcome = run("check", tmp_path / "x.aut", "-f", 'G "t\x9b1"')
    assert "did you mean t\\x9b1m?" in outcome.complaint
    assert outcome.err.replace("\n", "").isprintable()


@pytest.mark.parametrize("flags", [(), ("--steps",)])
def test_steps_that_are_not_shown_are_not_computed(run, tmp_path, monkeypatch, flags):
    """A run may be long and wide."""
    places = [Place("p", "p", 1_100), Place("q", "q")]
    net = PetriNet(places, [Transition("t", "t", {0: 1}, {1: 1})])
    (tmp_path / "x.pnml").write_text(pnml_text(net))
    computed = []
    for owner, name in ((Lasso, "change"), (lassos, "LassoStep")):
        own = getattr(owner, name)
        counted = lambda *args, own=own: computed.append(args) or own(*args)  # noqa: E731
        monkeypatch.setattr(owner, name, counted)

    outcome = run("check", tmp_path / "x.pnml", "-f", "G(q < 1100)", *flags)

    assert outcome.out.count("    t ") + outcome.out.count("* t ") == 60
    assert "(104" in outcome.out
    assert len(computed) <= 61


def test_formula_file(run, ring, tmp_path):
    """Formulas of -f come first; both may be given, compressed files, too."""
    data = gzip.compress(b"# comment\n0: G a\n\n1: a WU b\n")
    (tmp_path / "f.ltl.gz").write_bytes(data)

    outcome = run("check", ring, "-F", tmp_path / "f.ltl.gz", "-f", "F b", "--json")

    assert [r["formula"] for r in outcome.records] == ["F b", "G a", "a WU b"]
    assert [r["verdict"] for r in outcome.records] == ["holds", "violated", "holds"]


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["-f", "G(a -> "], "error: formula: syntax error, unexpected end of formula"),
        (["-f", ""], "error: formula: an empty formula"),
        (["-F", "nothing.ltl"], "error: nothing.ltl: cannot be read: No such file"),
        (
            ["-f", "G c", "--unknown", "error"],
            "error: formula: no action of the system is called",
        ),
        ([], "expected one of -f FORMULA, -F FILE, --automaton FILE, --empty"),
        (["-f", "a", "--empty"], "expected one of -f FORMULA, -F FILE, --automaton"),
        (["-f", "a", "--automaton", "x.hoa"], "expected one of -f FORMULA, -F FILE"),
        (["-f", "a", "--emptiness", "nonsense"], "expected one of auto, cvwy92"),
        (["-f", "a", "--acceptance", "nonsense"], "expected one of auto, ba, tgba"),
        (["-f", "a", "--reduce", "nonsense"], "expected one of alphabet, factoring"),
        (["-f", "a", "--deadlock", "nonsense"], "expected one of ignore, stutter"),
        (["-f", "a", "--timeout", "-1"], "--timeout"),
        (["-f", "a", "--memory", "much"], "--memory"),
        (["-f", "a", "--max-states", "0"], "--max-states"),
        (["-f", "a", "--seed", str(2**63)], "--seed"),
        (["-f", "a", "--nonsense"], "no such option"),
        (["-f", "a", "--visible", "a"], "--visible requires --automaton"),
        (["--empty", "--visible", "a"], "--visible requires --automaton"),
        *((["-f", "a", *args], message) for args, message in UNREADY),
    ],
    ids=lambda value: "_".join(value) if isinstance(value, list) else "",
)
def test_usage_errors(args, complaint, run, ring):
    """Exit code 2, a message that says what to do, nothing on standard output."""
    outcome = run("check", ring, *args, "--json")

    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert "Traceback" not in outcome.err


def test_a_limit_that_is_no_number(run, ring):
    """It is refused by typer, or, in its earlier versions, by us."""
    outcome = run("check", ring, "-f", "a", "--timeout", "nan", "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert (
        "--timeout" in outcome.complaint
        or outcome.complaint == "error: --timeout nan: expected 0 or more"
    )


def test_the_caret_of_a_formula_error(run, ring, tmp_path):
    """Under the position, with file and line if there is one."""
    (tmp_path / "f.ltl").write_text("G a\nG(a b)\n", newline="\r\n")

    outcome = run("check", ring, "-F", tmp_path / "f.ltl")

    told = (
        f"{tmp_path}/f.ltl:2: syntax error, unexpected atomic proposition\n"
        "  G(a b)\n"
        "      ^\n"
    )
    assert outcome.out.endswith(f"unknown (input-error): G(a b)   [0.00 s]\n  {told}")
    assert outcome.code == 2
    assert run("check", ring, "-f", "G(a b)").err.startswith("error: formula: syntax")


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("x.aut", 'des (0, 2, 2)\n(0, "a", 1)\n', "x.aut"),
        ("x.dot", "digraph { 0 -> 1 [label=", "x.dot:1: "),
        ("x.hoa", "HOA: v1\nStates: 1\n", "x.hoa"),
        ("x.aut", "", "x.aut: the file is empty, expected 'des "),
        ("x.txt", "", "x.txt: unknown suffix '.txt', expected .dot, .aut, .hoa, .dve"),
        ("x.dve", "process P {", "x.dve:1: "),
        ("x.pnml", "<pnml>", "x.pnml"),
        ("x.dot.gz", "digraph {}", "x.dot.gz: cannot be read"),
    ],
    ids=lambda value: value if len(value) < 10 else "",
)
def test_systems_that_cannot_be_read(name, content, complaint, run, tmp_path):
    """Exit code 2 and the file's name."""
    (tmp_path / name).write_text(content)

    outcome = run("check", tmp_path / name, "-f", "a")

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.complaint.startswith(f"error: {tmp_path}/{complaint}")


def test_a_missing_system(run, tmp_path):
    """No system at all, or a file that is not there."""
    assert "missing argument 'SYSTEM'" in run("check").complaint
    outcome = run("check", tmp_path / "no.aut", "-f", "a")
    expected = f"{tmp_path}/no.aut: cannot be read: No such file or directory"
    assert outcome.err == f"error: {expected}\n"


def test_a_proposition_that_is_no_action(run, ring):
    """An error, or a warning: then the verdict is that of a false proposition."""
    asked = ["-f", "F a", "-f", "F c", "-f", "G !c"]
    outcome = run("check", ring, *asked)
    verdicts = [line for line in outcome.out.splitlines() if line[0] != " "]
    assert outcome.code == 2
    assert [line.partition("   ")[0] for line in verdicts] == [
        "holds: F a",
        "unknown (input-error): F c",
        "unknown (input-error): G !c",
    ]
    assert run("check", ring, "-f", "F c").err == (
        "error: formula: no action of the system is called 'c' (--unknown never "
        "treats it as never happening)\n  F c\n    ^\n"
    )
    outcome = run("check", ring, *asked[2:], "--json", "--unknown", "never")

    assert [r["verdict"] for r in outcome.records] == ["violated", "holds"]
    assert outcome.err == 2 * (
        "warning: no action of the system is called 'c': never true\n"
    )


@pytest.mark.parametrize("name", ["a", "zz"])
def test_unknown_names_beside_a_constraint(name, run, ring, tmp_path):
    """Other formulas are answered; who names what there is not is told."""
    head = 'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "{}"\nAcceptance: 1 Inf(0)\n'
    constraint, file = tmp_path / "c.hoa", tmp_path / "f.ltl"
    body = "--BODY--\nState: 0\n[0] 0 {0}\n[!0] 0\n--END--\n"
    constraint.write_text(head.format(name) + body)
    file.write_text("F c\nG F b\n")
    out = tmp_path / "t.csv"
    asked = ("-F", file, "--constraint", constraint, "--out", out)
    outcome = run("check", ring, *asked)
    assert outcome.code == 2
    assert f"  {file}:1: no action of the system is called 'c'" in outcome.out
    rows = results(out)
    assert rows["formula"].tolist() == ["F c", "G F b"]
    assert rows["formula_id"].tolist() == ["1", "2"]
    if name == "a":
        assert rows["verdict"].tolist() == ["unknown", "holds"]
    else:
        assert "constraint: no action" in rows["message"][1]


def test_visible_names(run, ring, tmp_path):
    """What nobody knows is refused, or ignored with a warning; the rest is not."""
    hoa = run("translate", "G !a", "--acceptance", "ba").out
    (tmp_path / "p.hoa").write_text(hoa)
    asked = ("check", ring, "--automaton", tmp_path / "p.hoa", "--visible")
    stray = (
        "no action of the system and no proposition of the automaton is called 'A', "
        "which --visible names"
    )

    assert (run(*asked, "a,b").code, run(*asked, "a,b").err) == (0, "")
    outcome = run(*asked, "A,b", "--unknown", "never")
    assert (outcome.code, outcome.err) == (0, f"warning: {stray}: ignored\n")
    outcome = run(*asked, "b,A")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"error: formula: {stray}; did you mean a?")
    assert outcome.err.endswith("\n  b,A\n    ^\n")

    (tmp_path / "q.hoa").write_text(hoa.replace('"a"', '"A"'))
    outcome = run("check", ring, "--automaton", tmp_path / "q.hoa")
    assert outcome.err.startswith(f"error: {tmp_path / 'q.hoa'}: no action of the sys")


def test_explain(run, ring):
    """Each plan comes before its first verdict; with --json on standard error."""
    formulas = ["GF a -> FG b", "GF b", "GF a"]
    flags = [part for text in formulas for part in ("-f", text)]
    outcome = run("check", ring, *flags, "--explain", "--reduce", "ample")
    assert outcome.out.count("plan:") == 2  # the last has that of the second
    first, second = outcome.out.split("plan:\n")[1:]
    assert first.startswith("  couvreur99, because the automaton is unrestricted")
    assert second.startswith("  dfs-weak, because the automaton is weak")
    for part in (first, second):
        assert "Schwoon & Esparza 2005, Sec. 5.3" in part
        assert part.index("ample sets, because ") < part.index("strategies:")
        assert part.index("strategies:") < part.index("[")

    outcome = run(
        "check", ring, "-f", "F a", "--explain", "--json", "--emptiness", "se05"
    )
    assert len(outcome.records) == 1
    assert outcome.err.startswith("plan:\n  se05, requested by --emptiness\n")


def test_explained_strategies(run, ring):
    """First those that were tried, with their seconds, then why the others were not."""
    out = run("check", ring, "-f", "GF a", "--explain").out
    lines = out.partition("strategies:\n")[2].splitlines()
    assert re.fullmatch(r"  instant: answered after [\d.]+ s", lines[0])
    assert "  symmetry: not tried: its turn had not come" in lines
    assert {line.split(":")[0].strip() for line in lines[:11]} == {
        "instant",
        "linear",
        "explicit",
        "ample",
        "walks",
        "symmetry",
        "automorphisms",
        "decoupled",
        "subset",
        "isolated",
        "components",
    }
    assert "  explicit: not tried: its turn had not come" in lines
    assert lines[11].startswith("holds: GF a   [instant: 3 states, ")

    limits = ["--emptiness", "couvreur99", "--max-states", "1"]
    out = run("check", ring, "-f", "GF a", "--explain", *limits).out
    assert re.search(r"explicit: dropped out after [\d.]+ s: max-states\n", out)


@pytest.mark.parametrize("emptiness", ["se05", "couvreur99"])
@pytest.mark.parametrize("acceptance", ["auto", "ba"])
def test_searches_agree(emptiness, acceptance, run, ring):
    """And the plan of the verdict says what was chosen."""
    flags = ["--emptiness", emptiness, "--acceptance", acceptance]
    outcome = run("check", ring, "-f", "GF a", "-f", "FG a", *flags, "--json")

    assert [r["verdict"] for r in outcome.records] == ["holds", "violated"]
    assert {r["plan"]["emptiness"] for r in outcome.records} == {emptiness}


def test_several_files_are_one_network(run, tmp_path):
    """They synchronise on shared labels: b waits for a."""
    (tmp_path / "1.aut").write_text(RING)
    (tmp_path / "2.aut").write_text('des (0, 2, 2)\n(0, "b", 1)\n(1, "c", 0)\n')
    files = [tmp_path / "1.aut", tmp_path / "2.aut"]

    outcome = run("check", *files, "-f", "!c W b", "-f", "G(b -> X c)", "--json")

    together, apart = outcome.records
    assert together["system"] == " ".join(map(str, files))
    assert together["verdict"] == "holds"
    assert apart["verdict"] == "violated"
    assert "b" in apart["lasso"]["prefix"] + apart["lasso"]["cycle"]


@pytest.mark.parametrize(
    ("family", "n", "verdict"),
    [("philosophers", 3, "holds"), ("ring", 4, "holds")],
)
@pytest.mark.parametrize("emptiness", ["se05", "couvreur99"])
def test_empty(family, n, verdict, emptiness, run, tmp_path):
    """Whether a network of Büchi automata has an accepting run; no formula."""
    path = tmp_path / "x.hoa"
    run("generate", family, n, "-o", path)

    outcome = run("check", path, "--empty", "--emptiness", emptiness, "--json")

    (record,) = outcome.records
    assert accepting_run_exists(load(path)) == (verdict == "violated")
    assert (record["verdict"], record["formula"]) == (verdict, None)
    assert outcome.code == 0


def test_empty_where_a_run_is_accepted(run, ring):
    """Without acceptance every infinite run is accepting."""
    outcome = run("check", ring, "--empty")

    assert outcome.code == 1
    assert outcome.out.startswith("violated: no accepting run   [")


@pytest.mark.parametrize(
    "formula",
    ["G(a -> F b)", "G a", "F G b", "G F b", "0", "1", "G a | F b & !(a U b)"],
)
@pytest.mark.parametrize("acceptance", ["ba", "tgba"])
def test_automaton(formula, acceptance, run, ring, tmp_path):
    """The negated property as an automaton: the verdict is that of the formula."""
    kind = ["--acceptance", acceptance]
    path = tmp_path / "negated.hoa"
    path.write_text(run("translate", formula, "--negate", *kind).out)

    by_formula = run("check", ring, "-f", formula, "--json")
    by_automaton = run("check", ring, "--automaton", path, "--json")

    assert by_automaton.code == by_formula.code
    (record,) = by_automaton.records
    assert record["verdict"] == by_formula.records[0]["verdict"]
    assert record["formula"] is None
    assert (record["lasso"] is None) == (record["verdict"] == "holds")


def test_automata_that_cannot_be_taken(run, ring, tmp_path):
    """A file that is none, or that holds two."""
    hoa = run("translate", "G a").out
    (tmp_path / "two.hoa").write_text(hoa + hoa)

    outcome = run("check", ring, "--automaton", ring)
    assert (outcome.code, outcome.out) == (2, "")
    assert "HOA" in outcome.err
    outcome = run("check", ring, "--automaton", tmp_path / "two.hoa")
    assert outcome.code == 2
    assert "expected one automaton, found 2" in outcome.err


PAIRS = [f"(Fin({2 * k})|Inf({2 * k + 1}))" for k in range(16)]
EVEN = " ".join(map(str, range(0, 32, 2)))


ALTERNATING = """HOA: v1
States: 2
Start: {}
AP: 1 "a"
Acceptance: 1 Fin(0)
--BODY--
State: 0
[0] {}
State: 1
[t] 1 {{0}}
[!0] 1
--END--
"""


def one_state(acceptance, marks=""):
    """An automaton in HOA that sees `marks` whenever a happens."""
    return (
        f'HOA: v1\nStates: 1\nStart: 0\nAP: 1 "a"\nAcceptance: {acceptance}\n'
        f"--BODY--\nState: 0\n[0] 0 {{{marks}}}\n[!0] 0\n--END--\n"
    )


# Without options, by a search that takes Fin, as one mark, rewritten, with fairness.
WAYS = [
    [],
    ["--emptiness", "rabin"],
    ["--emptiness", "se05"],
    ["--emptiness", "tauriainen03"],
    ["--acceptance", "tfla"],
    ["--acceptance", "tgra", "--deterministic"],
    ["--fairness", "strong"],
]


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(
    ("hoa", "verdict"),
    [
        (one_state("0 f"), "holds"),
        (one_state("1 f", "0"), "holds"),
        (one_state("2 Fin(0) & Inf(0)", "0"), "holds"),
        (one_state("2 Fin(0) & Inf(0)"), "holds"),
        (one_state("0 t"), "violated"),
        (one_state("1 Fin(0) | Inf(0)", "0"), "violated"),
        (one_state("1 Fin(0)", "0"), "holds"),
        (one_state("1 Fin(0)"), "violated"),
        (one_state(f"32 {'&'.join(PAIRS)}", EVEN), "holds"),
        (one_state(f"32 {'&'.join(PAIRS)}", EVEN + " 1"), "holds"),
        (one_state(f"32 {'&'.join(PAIRS)}"), "violated"),
        (one_state(f"32 {'|'.join(PAIRS)}", EVEN + " 31"), "violated"),
    ],
    ids=[
        *["f", "f-marked", "contradiction", "contradiction-unmarked"],
        *["t", "tautology", "co-buchi", "co-buchi-unmarked"],
        *["streett-32", "streett-32-one", "streett-32-unmarked", "or-32"],
    ],
)
def test_conditions_of_automata(hoa, verdict, way, run, ring, tmp_path):
    """Conditions that never hold, that always do, and one of all 32 marks.

    The last but one is the one that Spot cannot remove Fin from within 32 marks,
    as a replay by `intersects` would.
    """
    path = tmp_path / "violations.hoa"
    path.write_text(hoa)
    outcome = run("check", ring, "--automaton", path, "--json", *way)
    assert (outcome.err, outcome.code) == ("", int(verdict == "violated"))
    (record,) = outcome.records
    assert record["verdict"] == verdict
    assert (record["lasso"] is None) == (verdict == "holds")


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
@pytest.mark.parametrize(
    ("hoa", "complaint"),
    [
        (one_state("33 Inf(32)", "32"), "x.hoa:5: more acceptance marks than 32"),
        (one_state("64 Fin(40) | Inf(63)"), "x.hoa:5: more acceptance marks than 32"),
        (ALTERNATING.format("0&1", "0"), "is alternating and not weak"),
        (ALTERNATING.format("0", "0&1"), "is alternating and not weak"),
        (one_state("2 Inf(0"), "x.hoa:6: syntax error"),
    ],
    ids=["33", "64", "start", "branch", "syntax"],
)
def test_automata_beyond_the_limits(hoa, complaint, way, run, ring, tmp_path):
    """More than 32 marks and alternation are said to be so, whatever is asked."""
    path = tmp_path / "x.hoa"
    path.write_text(hoa)
    outcome = run("check", ring, "--automaton", path, "--json", *way)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert "bug" not in outcome.err


@pytest.mark.parametrize("acceptance", ["tgra", "tfla", "tela"])
@pytest.mark.parametrize("deterministic", [[], ["--deterministic"]])
def test_translated_and_checked(acceptance, deterministic, run, ring, tmp_path):
    """What `translate` prints is what `--automaton` takes."""
    kind = ["--acceptance", acceptance, *deterministic]
    for formula in ("GF a -> G !b", "F(a & X a) | FG !b", "FG a"):
        hoa = run("translate", formula, "--negate", *kind)
        assert (hoa.code, hoa.err) == (0, "")
        path = tmp_path / "negated.hoa"
        path.write_text(hoa.out)
        by_automaton = run("check", ring, "--automaton", path, "--json", *kind)
        by_formula = run("check", ring, "-f", formula, "--json", *kind)
        (one,), (other,) = by_automaton.records, by_formula.records
        assert one["verdict"] == other["verdict"] == "violated"
        assert one["plan"]["automaton"] == acceptance.upper()


def test_plans_of_acceptance(run, tmp_path):
    """No reason stands twice, and the acceptance is called by its name."""
    path = tmp_path / "free.aut"
    path.write_text('des (0, 2, 1)\n(0, "a", 0)\n(0, "b", 0)\n')

    seed = ["--seed", "0"]  # too small a product for compiled searches otherwise

    def reasons(*flags):
        outcome = run("check", path, "-f", "GF a -> GF b", "--explain", *seed, *flags)
        plan = outcome.out.partition("plan:\n")[2].partition("strategies:")[0]
        lines = [line.strip() for line in plan.splitlines()]
        starts = [line.split(",")[0] for line in lines]
        assert len(set(starts)) == len(starts)
        return lines

    tela = reasons("--acceptance", "tela")
    assert tela[0].startswith("tela, because the acceptance Inf(0)&Fin(1) is Rabin:")
    assert tela[1] == "TELA, requested by --acceptance"
    rabin = reasons("--emptiness", "rabin", "--deterministic")
    assert rabin[:2] == [
        "rabin, requested by --emptiness",
        "TGRA, because rabin takes it",
    ]
    free = reasons("--deterministic")
    assert free[1] == "TELA, because tela takes it"
    fair = reasons("--fairness", "weak")
    assert fair[0].startswith("couvreur99, because fairness adds marks")
    assert "weakly fair to each component (1 of them, 1 mark)" in fair[2]
    strong = reasons("--fairness", "strong", "--fair-sets", "a", "--fair-sets", "a,b")
    assert "strongly fair to each set of actions (2 of them, 4 marks)" in strong[2]


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--fairness", "fair"], "--fairness fair: expected one of weak, strong"),
        (["--fair-sets", "a"], "requires --fairness weak or --fairness strong"),
        (
            ["--fairness", "weak", "--fair-sets", "a,c"],
            "no action of the system is called",
        ),
        (
            ["--fairness", "weak", "--fair-sets", ""],
            "no action of the system is called",
        ),
        (["--fairness", "weak", "--emptiness", "se05"], "use --emptiness tela"),
        (["--fairness", "weak", "--emptiness", "dfs-weak"], "use --emptiness tela"),
        (["--fairness", "weak", "--bitstate", "1"], "leave out --bitstate"),
        (["--fairness", "strong", "--emptiness", "couvreur99"], "use --emptiness tela"),
        (["--fairness", "weak", "--reduce", "alphabet"], "use none"),
        (["--fairness", "weak", "--reduce", "ample"], "use none"),
        (
            ["--fairness", "weak", "--emptiness", "decoupled-scc"],
            "decoupled cannot be used: fairness depends on which actions are enabled",
        ),
        (["--deterministic", "--acceptance", "tgba"], "use tgra, tfla, tela"),
        (["--deterministic", "--emptiness", "se05"], "use tgra, tfla, tela"),
        (
            ["--acceptance", "tela", "--emptiness", "se05", "--deterministic"],
            "se05 does not take acceptance with Fin: use --emptiness tela",
        ),
        (
            ["--acceptance", "tela", "--bitstate", "1", "--deterministic"],
            "se05 does not take acceptance with Fin: use --acceptance ba",
        ),
        (["--acceptance", "tgba", "--bitstate", "1"], "but --acceptance tgba gives"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_acceptance_and_fairness_refused(flags, complaint, run, ring):
    """What cannot be is refused, with what can be, and nothing on standard output."""
    formula = "GF a & GF(a & X b) -> GF b & GF(b & X b)"
    outcome = run("check", ring, "-f", formula, *flags)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint


def test_too_many_sets(run, tmp_path):
    """Twenty components: weak fairness has marks enough, strong fairness has not."""
    files = []
    for k in range(20):
        files.append(tmp_path / f"{k}.aut")
        files[-1].write_text(f'des (0, 1, 1)\n(0, "a{k}", 0)\n')
    question = ["check", *files, "-f", "GF a0 & GF a19", "--json"]
    assert run(*question).code == 1
    assert run(*question, "--fairness", "weak").records[0]["verdict"] == "holds"
    outcome = run(*question, "--fairness", "strong")
    assert (outcome.code, outcome.out) == (2, "")
    assert "takes at most 16 sets, here are 20: name some with --fair-sets A,B" in (
        outcome.complaint
    )
    some = ["--fair-sets", "a0", "--fair-sets", "a19"]
    assert run(*question, "--fairness", "strong", *some).code == 0


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--timeout", "0"], "timeout"),
        (["--timeout", "0.05"], "timeout"),
        (["--memory", "0.001"], "memory"),
        (["--memory", "2"], "memory"),
        (["--max-states", "1000"], "max-states"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
@pytest.mark.parametrize("question", [["--empty"], ["-f", "0"]], ids=["empty", "0"])
def test_limits(flags, reason, question, run, big):
    """The search stops at a limit, and the verdict names it."""
    started = time.monotonic()
    outcome = run("check", big, *question, *flags, "--json")

    (record,) = outcome.records
    assert (outcome.code, outcome.err) == (3, "")
    assert (record["verdict"], record["reason"]) == ("unknown", reason)
    assert time.monotonic() - started < SOON


def test_timeout_of_a_translation(run, tmp_path):
    """Spot cannot be stopped from within; the limit holds for it nevertheless."""
    (tmp_path / "many.aut").write_text(MANY)
    started = time.monotonic()
    outcome = run(
        "check", tmp_path / "many.aut", "-f", HARD, "--timeout", "0.3", "--json"
    )

    (record,) = outcome.records
    assert (record["verdict"], record["reason"]) == ("unknown", "timeout")
    assert record["states"] is None
    assert 0.3 <= record["seconds"] < SOON
    assert time.monotonic() - started < SOON


def test_forty_actions(run, tmp_path):
    """A formula may name many actions."""
    n = 40
    steps = [f'({k}, "a{k}", {(k + 1) % n})' for k in range(n)]
    (tmp_path / "x.aut").write_text("\n".join([f"des (0, {n}, {n})", *steps]) + "\n")
    some = " | ".join(f"a{k}" for k in range(n))

    outcome = run(
        "check",
        tmp_path / "x.aut",
        "-f",
        f"G({some})",
        "-f",
        f"F G({some[5:]})",
        "--json",
    )

    assert [r["verdict"] for r in outcome.records] == ["holds", "violated"]
    assert len(outcome.records[1]["lasso"]["cycle"]) == n


def test_deadlock(run, tmp_path):
    """A run that ends says nothing, or stutters in its last state."""
    (tmp_path / "x.aut").write_text('des (0, 1, 2)\n(0, "a", 1)\n')

    assert run("check", tmp_path / "x.aut", "-f", "G a").code == 0
    outcome = run("check", tmp_path / "x.aut", "-f", "G a", "--deadlock", "stutter")
    assert outcome.code == 1


def test_a_seed_does_not_change_the_verdict(run, ring):
    """Only the order in which states are seen."""
    lines = [
        run("check", ring, "-f", "G a", "--seed", seed, "--json").out for seed in (0, 1)
    ]
    assert {json.loads(line)["verdict"] for line in lines} == {"violated"}


def test_steps_of_a_lasso(run):
    """Who moves, what the formula names, what is left of it, and when it is lost."""
    file = "examples/fairness/semaphore.dot"
    outcome = run("check", file, "-f", "G !enter_2", "--steps")
    lines = outcome.out.splitlines()[1:]
    assert lines[:2] == ["  prefix: ask_2 enter_2", "  cycle:  think_1"]
    assert lines[2].startswith("  violated by the first 2 steps: no continuation of ")
    assert lines[3:5] == [
        "  prefix, step by step:",
        "     1   ask_2    cluster_2: idle_2 -> waiting_2",
    ]
    both = "cluster_2: waiting_2 -> critical_2, cluster_semaphore: free -> taken"
    assert lines[5:] == [
        f"     2 * enter_2  {both}",
        "         left: 0",
        "  cycle, step by step:",
        "     3   think_1  cluster_1: idle_1 -> idle_1",
    ]
    plain = run("check", file, "-f", "G !enter_2").out.splitlines()
    assert plain[1:] == lines[:3]


def test_a_lasso_as_a_chart(run, monkeypatch):
    """In place of its actions, as wide as the terminal; not as JSON."""
    file = "examples/fairness/semaphore.dot"
    lines = run("check", file, "-f", "G !enter_2", "--chart").out.splitlines()
    assert lines[1:] == [
        "                 cluster_1  cluster_2     cluster_semaphore",
        "                   idle_1     idle_2        free",
        "    1   ask_2    │          ● waiting_2   │",
        "    2 * enter_2  │          ◆ critical_2 ─◆ taken",
        "    ── violated by these 2 steps: what follows does not matter",
        "  ┌ 3   think_1  ○ idle_1   ┊             ┊",
        "  └ repeats for ever",
        "  * and ◆: steps that the formula names",
    ]
    monkeypatch.setenv("COLUMNS", "50")
    narrow = run("check", file, "-f", "G !enter_2", "--chart", "--steps").out
    lines = narrow.splitlines()[1:]
    steps = lines.index("  prefix, step by step:")
    assert max(map(len, lines[:steps])) <= 50
    assert "clus" in lines[0]
    assert "…" in lines[0]
    outcome = run("check", file, "-f", "G !enter_2", "--chart", "--json")
    assert outcome.code == 2
    assert "--chart goes without --json" in outcome.err


def test_a_chart_of_several_formulas(run):
    """One for each that is violated, and nothing for the others."""
    file = "examples/dve/alternating_bit.dve"
    asked = ("-f", "G F deadlock", "-f", "G !deadlock")
    lines = run("check", file, *asked, "--chart").out.splitlines()
    assert [line.split(":")[0] for line in lines if line[0] != " "] == [
        "violated",
        "holds",
    ]
    assert "initial state" not in "".join(lines)
    assert sum("Sender: sending -> sending data!" in line for line in lines) == 2


def test_a_chart_in_ascii():
    """Where standard output takes nothing else."""
    file = "examples/fairness/semaphore.dot"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    outcome = program("check", file, "-f", "G !enter_2", "--chart", env=environment)
    assert outcome.out.isascii()
    assert "    2 * enter_2  |          # critical_2 -# taken" in outcome.out


@pytest.mark.parametrize("report", [False, True])
@pytest.mark.parametrize("out", [None, "t.csv", "t.parquet"])
def test_a_table_and_a_report(run, ring, tmp_path, out, report):
    """A row for each formula in the order of the file, as `solve` has them."""
    formulas = tmp_path / "f.ltl"
    formulas.write_text("often: GF a\n# name: always a\nG a\nG !a\n")
    flags = ["-F", formulas, "--deadlock", "stutter", "--max-states", 100]
    if out is not None:
        flags += ["--out", tmp_path / out]
    if report:
        flags += ["--report", tmp_path / "r.html"]
    outcome = run("check", ring, *flags)
    assert outcome.code == 1
    told = outcome.out.splitlines()
    assert told[0].startswith("holds: often: GF a ")
    if report:
        assert told.pop() == f"report of 3 tasks written to {tmp_path / 'r.html'}"
        assert "always a" in (tmp_path / "r.html").read_text()
    if out is None:
        assert told[-1].startswith("3 formulas: 1 holds, 2 violated") == report
        return
    where = f"; table written to {tmp_path / out}"
    assert told[-1] == f"3 formulas: 1 holds, 2 violated{where}"
    frame = results(tmp_path / out)
    assert list(frame) == list(DTYPES)
    assert frame["formula_id"].tolist() == ["often", "always a", "3"]
    assert frame["system"].tolist() == 3 * [str(ring)]
    assert frame["configuration"].tolist() == 3 * ["--deadlock stutter"]
    assert frame["max_states"].tolist() == 3 * [100]
    solved = solve([(str(ring), f) for f in frame["formula"]], deadlock="stutter")
    same = ["system", "formula", "verdict", "automaton", "acceptance", "translator"]
    assert frame[same].astype(str).equals(solved[same].astype(str))


DECLARING = """#inputs [A, B]
#outputs [U]
#0: a title
G(oU -> O iA)
#1:
G(oU -> O iB)
#2:
F (iA && X[!] iB)
#3:
G(iB -> F oU)
#4:
G(oU -> F zz)
"""
"""The system lacks `iB`, which is declared, and `zz`, which is not."""


@pytest.mark.parametrize(
    ("options", "verdicts"),
    [
        ("--past", "holds violated unknown holds unknown"),
        ("--semantics finite", "unknown unknown violated holds unknown"),
        ("--past --constraint", "holds violated unknown holds unknown"),
        ("--constraint", "unknown unknown unknown holds unknown"),
    ],
)
def test_declared_actions(options, verdicts, run, tmp_path):
    """They are known where an automaton takes the place of a formula.

    A name that is not known is one row, and the others go on.
    """
    system, formulas = tmp_path / "s.aut", tmp_path / "f.txt"
    constraint = tmp_path / "c.hoa"
    end = ', (1, "oU", 2)' if "finite" in options else ""
    steps = f'(0, "iA", 1), (1, "oU", 0){end}'.replace("), ", ")\n")
    system.write_text(f"des (0, {steps.count('(')}, {3 if end else 2})\n{steps}\n")
    formulas.write_text(DECLARING)
    constraint.write_text(run("translate", "G F oU").out)
    given = options.split() + [constraint] * options.endswith("constraint")
    told = run("check", system, "-F", formulas, "--json", *given)
    rows = [json.loads(line) for line in told.out.splitlines()]
    assert " ".join(row["verdict"] for row in rows) == verdicts
    for row in rows:
        assert (row["reason"] == "input-error") == (row["verdict"] == "unknown")
    assert "no action of the system is called 'zz'" in rows[-1]["message"]
    assert told.code == 2


def test_rows_of_what_is_wrong_are_those_of_solve(run, ring, tmp_path):
    """Those of `check` had an automaton, reductions and seconds of such a formula."""
    ring.rename(tmp_path / "system.aut")
    formulas = tmp_path / "f.ltl"
    formulas.write_text("G(a -> F b)\nX a\nG(\nG c\n")
    how = ["--reduce", "ample", "--quiet", "--out", tmp_path / "t.csv"]
    tables = []
    for asked in (
        ["check", tmp_path / "system.aut", "-F", formulas],
        ["solve", tmp_path],
    ):
        assert run(*asked, *how).code == 2
        frame = results(tmp_path / "t.csv")
        assert frame["reason"].tolist()[1:] == ["unsupported"] + 2 * ["input-error"]
        measured = [c for c in frame if c.endswith(("_seconds", "_at", "_mib"))]
        tables.append(frame.drop(columns=[*measured, "seconds"]))
        wrong = frame[["automaton", "reductions", "seconds"]][1:]
        assert wrong.isna().all(axis=None)
    assert_frame_equal(*tables)
