"""Machines that are guessed and proved, against brute force."""

from __future__ import annotations

import random
import warnings
from itertools import product

import numpy as np
import pytest

import ltlpipe
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca import quotient, reading
from ltlpipe.systems.programs.eca import sets as on_sets
from ltlpipe.systems.programs.eca.enumeration import enumerated, prepare
from ltlpipe.systems.programs.eca.program import If, RunEndedError
from ltlpipe.systems.programs.eca.reading import machine_of
from ltlpipe.systems.programs.eca.sampling import sampled
from ltlpipe.systems.programs.eca.sets import DoubtError, Step, run, split
from ltlpipe.systems.programs.program import Binary, EvaluationError, evaluate
from tests.example_counts import at_least, examples
from tests.systems.programs.eca.random_programs import Counts, differing
from tests.systems.programs.eca.small_programs import (
    machine_in,
    program,
    rule,
    rules_in,
    system_in,
)

_STATES = 20  # from which machines are guessed
_PAIRS = 250  # states of a program that are compared


def _proved(seeds: range, monkeypatch: pytest.MonkeyPatch) -> float:
    """Compare proved machines; return how many of those with many states are proved."""
    n_proved = n_cut = 0
    for seed in seeds:
        text = Counts(random.Random(seed), errors=seed % 3 == 0).text
        try:
            rules = rules_in(text)
        except InputError:
            continue
        # Regions are carried from rule to rule, or not.
        monkeypatch.setattr(reading, "FEW", _STATES if seed % 2 else 1 << 16)
        machine = complete(machine_of(rules, _STATES + 1))
        if machine.n_seen is not None:
            assert machine.is_complete
            way, _ = differing(rules.source, machine, _PAIRS)
            assert not way, f"seed {seed}: after {way}\n{text}"
        n_proved += machine.n_seen is not None
        n_cut += machine.n_seen is not None or not machine.is_complete
    return n_proved / n_cut


def test_what_is_proved_does_what_programs_do(monkeypatch):
    """Same inputs, same outputs, same ends; most programs with counters are proved."""
    assert _proved(range(examples(150)), monkeypatch) > 0.5


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(1_000, 5_000, 500))
def test_many_machines_that_are_proved(begin, monkeypatch):
    """The same for thousands."""
    assert _proved(range(begin, begin + 500), monkeypatch) > 0.5


def _deep(n_phases: int, size: int) -> str:
    """Return a program with one behaviour for each phase, far from the first state.

    Four counters make many states of each.
    """
    rules = [
        rule(f"(input == {k + 2}) && (({name} % 2) == 0)", 21, f"{name} = {value}")
        for k, name in enumerate("wxyz")
        for value in [f"(({name} + {2 * k + 2}) % {size + 2 * k})"]
    ]
    for phase in range(n_phases):
        moves = f"a = {(phase + 1) % n_phases} "
        rules.append(rule(f"(input == 1) && a == {phase}", 22 + phase, moves))
    declared = "\t int a = 0;\n" + "".join(f"\t int {name} = 2;\n" for name in "wxyz")
    return program("\n".join(rules), declared=declared, inputs="1,2,3,4,5")


def test_deep_behaviours_are_met():
    """Breadth first, none of 3,000 states is further than a few steps."""
    text = _deep(12, 90)
    machine = machine_in(text, 3_000)
    assert machine.n_seen > 3_000
    assert machine.n_states == 12
    assert differing(rules_in(text).source, machine, 500)[0] == []


def test_what_is_met_are_states_of_the_program():
    """Steps of states that are chosen are those of the same states breadth first."""
    rules = rules_in(_deep(5, 6))
    prepared = complete(prepare(rules))
    prefix = complete(enumerated(prepared, 30))
    sample = complete(sampled(prepared, prefix, 200))
    whole = complete(enumerated(prepared, 1 << 16))
    assert whole.is_complete
    assert 100 < sample.n_expanded < sample.n_states <= whole.n_states
    expected = _steps(whole)
    found = _steps(sample)
    assert all(expected[row] == steps for row, steps in found.items())
    assert len(found) == sample.n_expanded


def _steps(machine) -> dict[bytes, list[tuple[int, int, bytes]]]:
    """Return the steps of states by the words of states."""
    rows = [row.tobytes() for row in machine.rows]
    return {
        rows[state]: sorted(
            (*machine.label[k].tolist(), rows[machine.target[k]])
            for k in range(machine.first[state], machine.first[state + 1])
        )
        for state in range(machine.n_expanded)
    }


def _parities(x: int, z: int) -> str:
    """Return a program with two counters that go round, of which parities are tested.

    Its behaviour is the same for all even `x` and `z`.
    """
    rules = [
        rule(
            "(input == 1) && a == 0",
            21,
            "if((x % 2 == 0)) { a = 1 ; } else { a = 2 ; }",
            f"x = ((x + 6) % {x})",
        ),
        rule(
            "(input == 2) && a == 0",
            22,
            "if(((z % 2 == 0) && (x % 2 == 0))) { a = 1 ; } else { a = 3 ; }",
            f"z = ((z + 14) % {z})",
        ),
        rule("(input == 1) && a == 1", 23, "a = 0 "),
        rule("(input == 1) && a == 2", 24, "a = 0 "),
        rule("a == 3", 25),
    ]
    declared = "\t int a = 0;\n\t int x = 4;\n\t int z = 2;\n"
    return program("\n".join(rules), declared=declared)


def test_parities_that_regions_do_not_see():
    """25 million states are two: forty properties hold or not as with few states."""
    large, small = (
        system_in(_parities(10_000, 9_998), 1 << 22),
        system_in(_parities(8, 6)),
    )
    assert large.lacks is None
    assert large.proof == "2 classes proved by induction, from 65,536 states"
    assert (large.n_states, small.proof) == (2, None)
    names = [action.name for action in large.actions]
    asked = [
        text
        for a, b in product(names, names)
        for text in (f"G({a} -> F {b})", f"({a} R !{b})")
    ]
    counts = {"holds": 0, "violated": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in asked[: examples(40)]:
            verdict = ltlpipe.check(large, text).verdict
            assert verdict == ltlpipe.check(small, text).verdict, text
            counts[verdict] += 1
    assert min(counts.values()) > at_least(2)


@pytest.mark.parametrize("kind", ["output", "error", "refusal", "division"])
def test_a_change_behind_the_prefix_is_found(kind: str):
    """What no state of the prefix does refutes the guess, however late it comes."""
    for late, is_proved in ((5_000, False), (5_001, True)):
        value = "(b % 9001)"
        rules = [rule("(input == 1)", 24, "b = ((b + 2) % 9000)")]
        if kind == "output":
            rules.insert(0, rule(f"(input == 1) && ({value} == {late})", 25))
        elif kind == "error":
            ends = f"if((input == 1 && ({value} == {late}) && cf==1)) {{"
            rules.insert(0, f"{ends} cf = 0; __VERIFIER_error(1); }}")
        elif kind == "refusal":
            rules = [rules[0].replace("(input", f"({value} != {late}) && (input")]
        else:
            rules = [rules[0].replace("b = ", f"c = (7 / ({value} - {late})); b = ")]
        declared = "\t int b = 0;\n\t int c = 0;\n"
        machine = machine_in(program("\n".join(rules), declared=declared), limit=100)
        assert machine.is_complete == is_proved
        assert (machine.n_seen is not None) == is_proved


def test_what_has_no_bound_is_not_proved():
    """Its sets become too large, soon."""
    rules = [rule("(input == 1)", 24, "b = (b + 1)"), rule("(b % 2) == 7", 25)]
    text = program("\n".join(rules), declared="\t int b = 0;")
    machine = machine_in(text, 100)
    assert machine.n_seen is None
    assert not machine.is_complete


@pytest.mark.parametrize("end", ["errors", "division", "deadlock"])
def test_ends_are_kept(end: str):
    """A run that ends by an error, a division by zero, or where no rule is left."""
    last = {
        "errors": rule("(input == 2) && a == 1", 22, "a = 2 "),
        "division": rule("(input == 2) && a == 1", 22, "a = (7 / (x % 2))"),
        "deadlock": rule("(input == 2) && a == 1", 22, "a = 5 "),
    }[end]
    rules = [
        rule("(input == 1) && a < 2", 21, "x = ((x + 6) % 1000)", "a = (x % 2)"),
        rule("(input == 2) && a == 0", 23, "a = 1 "),
        last,
    ]
    check = "if(a == 2) { cf = 0; __VERIFIER_error(1); }" if end == "errors" else ""
    declared = "\t int a = 0;\n\t int x = 0;\n"
    text = program("\n".join(rules), declared=declared, check=check)
    machine = machine_in(text, 60)
    assert machine.n_seen in (60, 61)
    assert machine.n_states == (2 if end == "division" else 3)
    assert differing(rules_in(text).source, machine, 2_000)[0] == []


def test_runs_of_classes_are_replayed():
    """The program's own state comes back after 5,000 rounds, which is too late."""
    system = system_in(_parities(10_000, 9_998), 1 << 22)
    found = ltlpipe.check(system, "G(oU -> F oV)")
    assert found.verdict == "violated"
    word = [*found.lasso.prefix, *found.lasso.cycle]
    assert complete(system.replayed(word, len(found.lasso.prefix))) is None
    wrong = [name if name != "oW" else "oX" for name in word]
    with pytest.raises(RunEndedError):
        complete(system.replayed(wrong, len(found.lasso.prefix)))


def test_sets_have_what_states_have():
    """Conditions and values on sets against all states in them, one by one."""
    n_told = 0
    for seed in range(examples(40)):
        rng = random.Random(seed)
        try:
            rules = rules_in(Counts(rng).text)
        except InputError:
            continue
        n = len(rules.source.variables)
        sets = [np.unique([rng.randint(-3, 7) for _ in range(2)]) for _ in range(n)]
        for each in rules.rules:
            conditions = list(each.conditions)
            for statement in each.body:
                if isinstance(statement, If):
                    conditions.append(statement.condition)
                else:
                    n_told += _assigns(statement.variable, statement.value, sets, rng)
            either = [
                Binary(op, a, b)
                for op in ("||", "&&")
                for a, b in product(conditions, repeat=2)
            ]
            for condition in (*conditions, *rng.sample(either, min(4, len(either)))):
                n_told += _agrees(condition, sets, rng)
    assert n_told > at_least(20)


def _agrees(condition, sets, rng) -> int:
    try:
        told = split(condition, sets)
    except DoubtError:
        return 0
    for _ in range(30):
        state = [int(rng.choice(values)) for values in sets]
        try:
            part = told.yes if evaluate(condition, state) else told.no
        except EvaluationError:
            part = told.failed
        assert part is not None
        assert all(v in values for v, values in zip(state, part, strict=True))
    return 1


def _assigns(variable, value, sets, rng) -> int:
    try:
        paths, ends = run([Step(variable, value, None)], sets)
    except DoubtError:
        return 0
    for _ in range(30):
        state = [int(rng.choice(values)) for values in sets]
        try:
            state[variable] = evaluate(value, state)
        except EvaluationError:
            assert ends
            continue
        (behind,) = paths
        assert all(v in values for v, values in zip(state, behind, strict=True))
    return 1


def test_large_sets_are_taken_apart(monkeypatch):
    """Where there are too many combinations, parts of an expression are looked at."""
    monkeypatch.setattr(on_sets, "_MOST_CASES", 200)
    monkeypatch.setattr(quotient, "_PATIENCE", 4)
    sums = "z = ((x % 2) + (y % 2))"
    rules = [
        rule("(input == 1) && z == 0", 21, "x = ((x + 6) % 300)", sums),
        rule("(input == 2) && z == 0", 22, "y = ((y + 2) % 202)", sums),
        rule("(input == 2) && z != 0", 23),
    ]
    declared = "\t int x = 0;\n\t int y = 2;\n\t int z = 0;\n"
    text = program("\n".join(rules), declared=declared)
    machine = machine_in(text, 20)
    assert machine.n_seen is not None
    assert differing(rules_in(text).source, machine, 500)[0] == []
