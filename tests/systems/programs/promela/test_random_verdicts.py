"""Random Promela programs and questions beside Spin: formulas, claims, labels."""

from __future__ import annotations

import io
import random
import re
import shutil
import subprocess
from itertools import product

import pytest

from ltlpipe import LtlpipeError, check, deadlocks, livelock, load
from tests.systems.programs.promela.random_programs import random_program
from tests.systems.programs.promela.random_questions import formulas, never_claim
from tests.systems.programs.promela.random_rarities import rare_program
from tests.systems.programs.promela.test_random_programs import (
    COMMANDS,
    has_odd_escapes,
    model_of,
    states_of,
)

VERIFIER = ("gcc", "-O0", "-w", "-DNOREDUCE", "-DNFAIR=4", "-o", "pan", "pan.c")
FAIR = {False: {}, True: {"fairness": "weak"}}
MAKERS = (random_program, rare_program)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("spin") is None, reason="no Spin"),
]


def programs(seeds):
    """Yield numbers and texts of programs that have few states and no failing step."""
    for seed, maker in product(seeds, MAKERS):
        text = maker(seed).replace("assert(x < 3)", "skip")
        if "trace {" in text:
            continue
        try:
            count, fails = states_of(model_of(text))
        except LtlpipeError:  # refused, or too little room
            continue
        if count is not None and count <= 400 and not fails:
            yield seed, text


def spin_prepares(text, folder, *flags):
    """Make the verifier of a program; whether it is fit to be compared."""
    (folder / "m.pml").write_text(text)
    made = subprocess.run(
        COMMANDS[0], cwd=folder, capture_output=True, text=True, check=False
    )
    if "rror" in made.stdout + made.stderr:
        return False
    subprocess.run([*VERIFIER, *flags], cwd=folder, check=True)
    return not has_odd_escapes(folder)


def verdict_of_spin(folder, *flags):
    """What the verifier says; None if it has not seen everything.

    Where a run ends in an atomic sequence, it may count on to the depth limit.
    """
    command = f"ulimit -S -t 5; exec ./pan -n -m20000 {' '.join(flags)}"
    made = subprocess.run(
        ["sh", "-c", command], cwd=folder, capture_output=True, text=True, check=False
    )
    output = made.stdout + made.stderr
    found = re.search(r"errors: (\d+)", output)
    if found is not None and int(found[1]):
        return "violated"
    if found is None or "max search depth" in output or "reached 19999" in output:
        return None
    return "holds"


def agree(found, expected, model, formula, told):
    """Whether verdicts agree that can; Spin's ``-f`` may miss runs that end.

    Of these a model is given, and a formula that other runs have to satisfy.
    """
    if expected is None:
        return 0
    if model is not None and (found, expected) == ("violated", "holds"):
        ending = f"({formula}) || F deadlock"
        found = check(model, ending, fairness="weak").verdict
    assert found == expected, told
    return 1


def with_claim(text, claims):
    """Return a program with claims, and the same for Spin, where one is a process.

    Labels ``accept`` of processes would count as the claim's.
    """
    whole = re.sub(r"\baccept(?=\d)", "acc", text + claims)
    return whole, whole.replace("_nr_pr", "(_nr_pr - 1)")


@pytest.mark.parametrize("part", range(20))
def test_formulas(part, tmp_path):
    compared = 0
    for seed, text in programs(range(10 * part, 10 * part + 10)):
        asked = formulas(text, random.Random(seed), 5)
        blocks = "".join(f"ltl p{n} {{ {f} }}\n" for n, f in enumerate(asked))
        whole, spins = with_claim(text, blocks)
        if not spin_prepares(spins, tmp_path):
            continue
        model = load(io.StringIO(whole), format="pml")
        own = {question.name: question.formula for question in model.own_questions}
        for number, fair in product(range(len(asked)), FAIR):
            formula, options = own[f"p{number}"], FAIR[fair]
            flags = ["-a", "-N", f"p{number}", *["-f"] * fair]
            expected = verdict_of_spin(tmp_path, *flags)
            found = check(model, formula, **options).verdict
            told = seed, asked[number], fair, text
            compared += agree(found, expected, model if fair else None, formula, told)
    assert compared > 20


@pytest.mark.parametrize("part", range(10))
def test_claims(part, tmp_path):
    compared = 0
    for seed, text in programs(range(10 * part, 10 * part + 10)):
        whole, spins = with_claim(text, never_claim(text, random.Random(seed)))
        if not spin_prepares(spins, tmp_path):
            continue
        model = load(io.StringIO(whole), format="pml")
        (claim,) = (q.automaton for q in model.own_questions if q.automaton)
        ends = check(model, "G !deadlock").verdict == "violated"
        for fair, options in FAIR.items():
            expected = verdict_of_spin(tmp_path, "-a", "-A", *["-f"] * fair)
            found = check(model, automaton=claim, **options).verdict
            told = seed, fair, whole
            if fair and ends and found == "violated":  # as above
                continue
            compared += agree(found, expected, None, None, told)
    assert compared > 5


@pytest.mark.parametrize("part", range(10))
def test_labels(part, tmp_path):
    """Invalid end states, cycles through ``accept``, and without ``progress``."""
    compared = 0
    for seed, text in programs(range(10 * part, 10 * part + 10)):
        if not spin_prepares(text, tmp_path):
            continue
        model = load(io.StringIO(text), format="pml")
        ends = deadlocks(model).verdict
        expected = verdict_of_spin(tmp_path, "-A")
        compared += agree(ends, expected, None, None, (seed, text))
        own = {question.name: question.formula for question in model.own_questions}
        asked = [("-a", (), own.get("acceptance")), ("-l", ["-DNP"], "GF !np_")]
        for flag, flags, formula in asked:
            label = "accept" if flag == "-a" else "progress"
            if label not in text or not spin_prepares(text, tmp_path, *flags):
                continue
            for fair, options in FAIR.items():
                switches = flag, "-A", "-E", *["-f"] * fair
                expected = verdict_of_spin(tmp_path, *switches)
                if flag == "-l":
                    found = livelock(model, **options).verdict
                else:
                    found = check(model, formula, **options).verdict
                told = seed, flag, fair, text
                compared += agree(
                    found, expected, model if fair else None, formula, told
                )
    assert compared > 5
