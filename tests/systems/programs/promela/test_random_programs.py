"""Random Promela programs: generated code, the interpreter, and Spin."""

from __future__ import annotations

import random
import re
import shutil
import signal
import subprocess
from collections import defaultdict

import pytest

from ltlpipe import LtlpipeError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs import interpreting
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.promela.model import promela_model, read_model
from tests.example_counts import examples
from tests.systems.programs.promela.random_programs import (
    random_program,
    with_priorities,
)
from tests.systems.programs.promela.random_rarities import rare_program
from tests.systems.programs.promela.random_records import program_with_records
from tests.systems.programs.test_generating import compare_model

LIMIT = 4000  # states beyond which a program is left out

# What Spin 6.5 refuses, though nothing in its manual does.
REFUSED = re.compile(
    "jump into d_step|unconditional self-loop|saw 'unless' on a guard|"
    "in multiple msg fields|syntax error|bad index in for|inherits 2 'else'|"
    "'unless' inside d_step - ignored"
)
COMMANDS = (
    ("spin", "-a", "-o1", "-o2", "-o3", "m.pml"),
    # With priorities Spin's compression masks more than padding.
    ("gcc", "-O0", "-w", "-DNOREDUCE", "-DSAFETY", "-DNOCOMP", "-o", "pan", "pan.c"),
    # A loop inside of atomic takes it for ever: its states are not stored.
    ("sh", "-c", "ulimit -S -t 5; exec ./pan -A -E -c0 -n -m100000"),
)


def model_of(text):
    return complete(promela_model(read_model(text, "m.pml"))).counted()


def test_generated_code_agrees_with_the_interpreter():
    """States, actions and their order, the errors among them."""
    kept = 0
    for seed in range(examples(15)):
        try:
            model = complete(promela_model(read_model(random_program(seed), "m.pml")))
        except LtlpipeError:  # refused, or too little room
            continue
        compare_model(model, 300)
        kept += any(t.keeps for t in model.program.transitions())
    assert kept


def test_functions_agree_with_walks_over_trees(monkeypatch):
    """In the interpreter, for actions that are tried often, and for all others."""
    n_functions = 0
    monkeypatch.setattr(interpreting, "_OFTEN", 1)
    for seed in range(examples(15)):
        text = rare_program(seed) if seed % 2 else program_with_records(seed)
        try:
            model = complete(promela_model(read_model(text, "m.pml")))
        except LtlpipeError:
            continue
        walking = Interpreter(model.program)
        calling = Interpreter(model.program, compiles=True)
        seen = {model.initial()}
        for state in (waiting := list(seen)):
            steps = list(calling.steps(state))
            assert steps == list(walking.steps(state)), seed
            new = {target for _, target in steps} - seen
            seen |= new
            waiting += new if len(seen) < 300 else ()
        n_functions += len(calling._functions)
        assert not walking._functions
    assert n_functions > 50


def states_of(model):
    """The number of states, and whether a step can fail; None if they are many."""
    interpreter = Interpreter(model.program)
    seen = {model.initial()}
    waiting = list(seen)
    for state in waiting:
        for _, target in interpreter.steps(state):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
        if len(seen) > LIMIT:
            return None, False
    return len(seen), any(map(model.fault, seen))


def states_of_spin(text, folder):
    """The number of states that Spin stores; None if that is not known."""
    (folder / "m.pml").write_text(text)
    for old in folder.glob("pan*"):
        old.unlink()
    for command in COMMANDS:
        made = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
        output = made.stdout + made.stderr
        if REFUSED.search(output) or "max search depth too small" in output:
            return None
        if made.returncode == -signal.SIGXCPU:
            return None
    found = re.search(r"(\d+) states, stored", output)
    assert found, output
    return None if has_odd_escapes(folder) else int(found[1])


_SET = re.compile(r"trans\[(\d+)\]\[(\d+)\]\s*= settr\((\d+),")
_ESCAPES = re.compile(r"trans\[(\d+)\]\[(\d+)\]->escp\[\d+\] = (\d+);")
_STEP = re.compile(r"state +(\d+) -.*\[id +(\d+) tp +\d+(?: org +(\d+))?\].* => (.*)")


def has_odd_escapes(folder):
    """Whether the tables of a verifier depart from the manual.

    An outer ``unless`` has no priority over an inner one whose escape has been numbered
    before its body; an ``else`` with which an escape begins is always taken; what an
    escape begins with is not escaped from; escapes from one alternative hold up others.
    """
    text = (folder / "pan.t").read_text()
    number = {(n, state): step for n, state, step in _SET.findall(text)}
    escapes = defaultdict(set)
    for n, state, origin in _ESCAPES.findall(text):
        escapes[number[n, state]].add(origin)
    made = subprocess.run(
        ["./pan", "-d"], cwd=folder, capture_output=True, text=True, check=False
    )
    for proctype in made.stdout.split("proctype "):
        wanted, found = defaultdict(set), defaultdict(set)
        for state, step, origin, shown in _STEP.findall(proctype):
            if origin and (shown == "else" or escapes[step]):
                return True
            if not origin and state in wanted and wanted[state] != escapes[step]:
                return True
            (found if origin else wanted)[state] |= (
                {origin} if origin else escapes[step]
            )
        if any(found[state] != wanted[state] for state in [*found, *wanted]):
            return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("spin") is None, reason="no Spin")
@pytest.mark.parametrize("part", range(20))
def test_states_are_those_of_spin(part, tmp_path):
    """1,000 programs with channels, atomic, d_step, unless, run and timeout."""
    seeds = range(50 * part, 50 * part + 50)
    assert compared_with_spin(map(random_program, seeds), tmp_path) > 25


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("spin") is None, reason="no Spin")
@pytest.mark.parametrize("part", range(6))
def test_states_with_priorities_are_those_of_spin(part, tmp_path):
    texts = (
        with_priorities(random_program(seed), random.Random(seed))
        for seed in range(50 * part, 50 * part + 50)
    )
    assert compared_with_spin(texts, tmp_path) > 25


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("spin") is None, reason="no Spin")
@pytest.mark.parametrize("part", range(10))
def test_states_with_records_are_those_of_spin(part, tmp_path):
    """500 programs with what `random_records` adds."""
    texts = map(program_with_records, range(50 * part, 50 * part + 50))
    assert compared_with_spin(texts, tmp_path) > 15


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("spin") is None, reason="no Spin")
@pytest.mark.parametrize("part", range(10))
def test_states_with_rarities_are_those_of_spin(part, tmp_path):
    """500 programs with what `random_rarities` adds."""
    texts = map(rare_program, range(50 * part, 50 * part + 50))
    assert compared_with_spin(texts, tmp_path) > 15


def compared_with_spin(texts, folder):
    """Compare numbers of states; return for how many programs that was possible."""
    compared = 0
    for text in texts:
        try:
            count, fails = states_of(model_of(text))
        except LtlpipeError:  # refused, or too little room
            continue
        if count is None or fails:  # behind a failure counts mean nothing
            continue
        expected = states_of_spin(text, folder)
        if expected is not None:
            assert count == expected, text
            compared += 1
    return compared
