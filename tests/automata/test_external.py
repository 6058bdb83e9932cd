"""Translators that are programs; a script around Spot stands for them."""

from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given, settings

from ltlpipe import UnsupportedError
from ltlpipe.automata.given_automata import (
    MAX_LENGTH,
    portable_text,
    translate_externally,
)
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import Limits, StoppedError, run
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.oracles import accepts, satisfies
from tests.processes import SOON

# Reads only what every translator reads, and prints a TELA.
TRANSLATOR = """
import re, sys
import spot
text = sys.argv[-1]
rest = re.sub(r"<->|->|&&|\\|\\||[!()XFGU ]|p[0-9]+|true|false", "", text)
if rest:
    sys.exit(f"cannot read {rest}")
print(spot.translate(text, "Generic").to_str("hoa"))
"""


# A program that prints an automaton with a given beginning and acceptance.
HOA = (
    "print('HOA: v1\\nStates: 2\\n{}\\nAP: 0\\nproperties: univ-branch\\n"
    "Acceptance: {}\\n--BODY--\\nState: 0\\n[t] 0\\n[t] 0 {{0}}\\n"
    "State: 1\\n[t] 1\\n--END--')"
)


@pytest.fixture
def script(tmp_path):
    """Write a Python script and return the command that runs it."""

    def write(text):
        path = tmp_path / "a translator.py"
        path.write_text(text)
        return f"{sys.executable} '{path}'"

    return write


def translated(text, command, timeout=60):
    return run(translate_externally(parse(text), command), Limits(timeout=timeout))


@pytest.mark.parametrize(
    "text",
    [
        "GF a -> GF b",
        "a W (b M c)",
        "(a R b) xor X c",
        "0",
        "1",
        'G("x y" -> F "G")',
        'G("it\'s" | F "$(touch /tmp/x); `ls` %f %% \\\\n")',
    ],
)
def test_the_negation_over_the_names_of_the_formula(text, script):
    """Odd names never reach the translator, and come back."""
    import spot

    automaton = translated(text, script(TRANSLATOR) + " --formula %f")

    formula = parse(text)
    assert {p.ap_name() for p in automaton.ap()} <= set(formula.propositions)
    assert spot.are_equivalent(automaton, spot.formula_Not(formula.spot))


def test_tables_of_external_automata(script):
    """FG !a is what violates GF a; in a table it is co-Büchi again."""
    automaton = translated("GF a", script(TRANSLATOR) + " %f")
    table = table_over_actions(automaton, "tela", ("a",))

    assert str(table.condition) == "Fin(0)"
    for prefix, cycle in [([1], [0]), ([0], [1]), ([], [0, 1])]:
        words = [["", "a"][letter] for letter in prefix + cycle]
        n = len(prefix)
        holds = satisfies(parse("GF a").spot, words[:n], words[n:])
        assert accepts(table, prefix, cycle) == (not holds)


@given(formulas())
@settings(max_examples=examples(300))
def test_portable_text_means_the_same(text):
    """Only what all translators read, and an equivalent formula."""
    import spot

    formula = parse(text)
    names = {name: f"p{i}" for i, name in enumerate(formula.propositions)}
    written = portable_text(formula.spot, names)
    assert not set(written) & set("RWM^;")
    meaning = spot.relabeling_map()
    for name, short in names.items():
        meaning[spot.formula_ap(short)] = spot.formula_ap(name)
    read = spot.relabel_apply(spot.formula(written), meaning)
    assert spot.are_equivalent(read, formula.spot)


def test_formulas_that_double():
    """W stands for two copies of its left side."""
    import spot

    text = "a"
    for _ in range(40):
        text = f"({text}) W b"
    with pytest.raises(UnsupportedError, match=f"{MAX_LENGTH:,}"):
        portable_text(spot.formula(text), {"a": "p0", "b": "p1"})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; sys.exit('no such operator')", r"failed \(1\).*no such operator"),
        ("import sys; print('oops'); sys.exit(3)", r"failed \(3\).*oops"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9 and printed nothing"),
        ("print('Usage: translator FORMULA')", "no HOA.*Usage: translator"),
        ("pass", "no HOA.*nothing"),
        ("print('HOA: v1\\nStates: 1\\nStart: 0')", "no HOA"),
        (TRANSLATOR + "\nprint(spot.translate('a').to_str('hoa'))", "2 automata"),
        ("import spot; print(spot.translate('q').to_str('hoa'))", "over 'q'.*p0"),
        (HOA.format("Start: 0&1", "1 Inf(0)"), "not supported.*alternating"),
        (HOA.format("Start: 0", "40 Inf(39)"), "more acceptance marks than 32"),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", "no HOA"),
    ],
)
def test_what_translators_do_wrong(source, message, script):
    """The command and what it printed are named."""
    with pytest.raises(UnsupportedError, match=message) as raised:
        translated("GF a", script(source) + " %f")
    assert "a translator.py" in str(raised.value)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-translator-here %f", "cannot be run: No such file"),
        ("/ %f", "cannot be run"),
        ("ltl3tela -f", "where the formula stands"),
        ("ltl3tela -f %%f", "where the formula stands"),
        ("", "where the formula stands"),
        ("ltl3tela '%f", "cannot be read"),
        ("ltl3\0tela %f", "cannot be run"),
    ],
)
def test_commands_that_cannot_be_run(command, message):
    with pytest.raises(UnsupportedError, match=message):
        translated("GF a", command)


SLEEPER = """
import subprocess, sys, time
subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])
"""


def test_a_deadline(script):
    """What the translator has started ends, too: it would keep the pipe open."""
    started = time.monotonic()
    with pytest.raises(StoppedError) as raised:
        translated("GF a", script(SLEEPER) + " %f", timeout=0.5)
    assert raised.value.reason == "timeout"
    assert time.monotonic() - started < SOON


def test_one_that_prints_for_ever(script, monkeypatch):
    """There is a limit to what is read."""
    monkeypatch.setattr("ltlpipe.automata.given_automata._MOST_PRINTED", 1 << 20)
    with pytest.raises(UnsupportedError, match="printed more than 1,048,576 bytes"):
        translated("GF a", script("while True: print('HOA: v1')") + " %f")


def test_one_that_closes_its_output_and_goes_on(script):
    source = "import os, time; os.close(1); os.close(2); time.sleep(60)"
    with pytest.raises(StoppedError) as raised:
        translated("GF a", script(source) + " %f", timeout=0.5)
    assert raised.value.reason == "timeout"


def test_percent_signs(script):
    """Two stand for one, also next to the formula."""
    command = script("import sys; sys.exit('|'.join(sys.argv[1:]))")
    with pytest.raises(UnsupportedError, match=r"--x=100%\|\(!p0\)\|%\(!p0\)"):
        translated("a", command + " --x=100%% %f %%%f")
