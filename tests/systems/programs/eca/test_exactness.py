"""The reduced machine against brute force, on random programs."""

from __future__ import annotations

import random

import pytest

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.eca import reading
from ltlpipe.systems.programs.eca.enumeration import enumerated, prepare
from ltlpipe.systems.programs.eca.reading import machine_of
from tests.example_counts import at_least, examples
from tests.systems.programs.eca.random_programs import Draw, ReadsInput, differing
from tests.systems.programs.eca.small_programs import (
    COUNTER,
    machine_in,
    program,
    rule,
    rules_in,
    source_of,
)

_PAIRS = 150  # states of a program that are compared
_STATES = 2_000  # of a machine


def _compared(seeds: range) -> int:
    """Compare programs with their machines; return how many are no small ones."""
    n_lively = 0
    for seed in seeds:
        drawn = Draw(random.Random(seed), errors=seed % 3 == 0)
        n_lively += _agreeing(drawn.text, f"seed {seed}") > 5
    return n_lively


def _agreeing(text: str, about: str) -> int:
    """Compare a program with its machines; return how many pairs of states agree.

    It is 0 for a program that is refused.
    """
    n_pairs = 0
    try:
        rules = rules_in(text)
    except InputError:
        return 0
    for follows in (False, True):
        prepared = complete(prepare(rules, follows=follows))
        if prepared is None:
            break
        machine = complete(enumerated(prepared, _STATES))
        if not machine.is_complete:
            continue
        way, n_pairs = differing(rules.source, machine, _PAIRS)
        assert not way, f"{about}, {follows}: after {way}\n{text}"
    return n_pairs


@pytest.mark.parametrize("begin", range(0, 400, 50))
def test_machines_do_what_programs_do(begin: int):
    """Same inputs, same outputs, same ends, in all states that are reached."""
    assert _compared(range(begin, begin + 50)) > at_least(0) + 5


@pytest.mark.slow
@pytest.mark.parametrize("begin", range(1_000, 9_000, 500))
def test_many_machines_do_what_programs_do(begin: int):
    """The same for thousands of programs."""
    assert _compared(range(begin, begin + 500)) > 100


def test_bodies_that_read_the_input():
    """Assignments of it, and conditions on it inside of rules, by both analyses."""
    n_lively = 0
    for seed in range(examples(60)):
        drawn = ReadsInput(random.Random(seed), errors=seed % 3 == 0)
        n_lively += _agreeing(drawn.text, f"seed {seed}")
    assert n_lively > at_least(0) + 5


def test_the_input_is_known_where_regions_are_carried():
    """Its values are those of the program, not what the variable begins with."""
    rules = [
        rule("a == 0", 21, "if((input == 2)) { b = 1; }", "a = input"),
        rule("a == 1 && b == 0", 22, "a = 0"),
        rule("a == 2 && b == 1", 23, "a = 0"),
    ]
    text = program("\n".join(rules), declared="\t int a = 0;\n\t int b = 0;")
    assert _agreeing(text, "two inputs") > 4


def test_what_nothing_reads_is_no_part_of_a_state():
    """A counter that no guard reads adds no state, a range that is left does."""
    machine = machine_in(COUNTER)
    assert machine.n_states == 2 * 4  # a, and b = 96, 95, 94, 93
    assert machine.is_complete
    assert differing(source_of(COUNTER), machine, 1000)[0] == []


@pytest.mark.parametrize(
    ("statement", "n_states"),
    [
        ("b = ((((b * 17) + 3) % 20) + 20)", 1),  # always in the region
        ("b = (((b * 17) % 14999) % 50)", None),  # in both regions, by the value
    ],
)
def test_a_region_stands_for_its_values(statement: str, n_states: int | None):
    """Values of one region are one state if no assignment tells them apart."""
    text = program(
        rule("(input == 1) && ((10 < b) && (99 >= b))", 24, statement),
        declared="\t int b = 33;",
    )
    machine = machine_in(text)
    assert differing(source_of(text), machine, 2000)[0] == []
    if n_states is None:
        assert machine.n_states > 1
    else:
        assert machine.n_states == n_states


def test_the_region_of_a_computed_constant():
    """What reads nothing has one value, though bounds of it may meet two regions."""
    rules = [
        rule("(input == 1) && b == 0", 21, "b = ((5) % 2)"),
        rule("(input == 2) && ((0 < b) && (b < 3))", 22, "b = (0 - 0)"),
    ]
    text = program("\n".join(rules), declared="\t int b = 0;")
    machine = machine_in(text)
    assert machine.target.tolist() == [1, 0]
    assert differing(source_of(text), machine, 100)[0] == []


def test_a_variable_that_only_the_first_state_needs():
    """It is a part of a state, though no rule leaves it needed."""
    rules = [
        rule("(input == 1) && a == 0", 21, "a = (b % 3)", "b = 0 "),
        rule("(input == 1) && a == 2", 22),
        rule("(input == 2) && a > 5", 23, "b = -7"),
    ]
    text = program("\n".join(rules), declared="\t int a = 0;\n\t int b = 5;")
    machine = machine_in(text)
    assert machine.target.tolist() == [1, 1]
    assert differing(source_of(text), machine, 100)[0] == []


def test_regions_that_map_to_regions():
    """A shift by the width of regions needs regions only, a smaller one the values."""
    guards = ["(b < 10)", "((10 <= b) && (b < 20))", "(20 <= b)"]
    rules = [
        rule(f"(input == 1) && {guards[0]}", 21, "b = (10 + (((b * b) % 7) + 1))"),
        rule(f"(input == 1) && {guards[1]}", 22, "b = (b + 10)"),
        rule(f"(input == 1) && {guards[2]}", 23, "b = (b % 10)"),
    ]
    text = program("\n".join(rules), declared="\t int b = 3;")
    machine = machine_in(text)
    assert machine.n_states == 3
    assert differing(source_of(text), machine, 2000)[0] == []
    tight = text.replace("b = (b + 10)", "b = (b + 5)")
    machine = machine_in(tight)
    assert machine.n_states > 3
    assert differing(source_of(tight), machine, 2000)[0] == []


def _in_phases() -> str:
    """Return a program with three variables, whose regions are those of its phase.

    Most rules change them without a look at them.
    """
    wide, rules = range(3), []
    for phase, low in ((0, 0), (1, 100)):
        for k in range(3):
            guard = f"(input == 1) && c == {phase} && d{phase} == {k}"
            halved = [f"x{i} = (((x{i} - {low}) / 2) + {low + 50})" for i in wide]
            added = [f"x{i} = (((x{i} + y) % 50) + {low + 20})" for i in wide]
            moves = [(halved if (i + k) % 2 else added)[i] for i in wide]
            moves += [f"d{phase} = {(k + 1) % 3} ", "y = ((y + 7) % 29)"]
            rules.append(rule(guard, 20 + k, *moves))
        inside = "".join(f" && (({low} < x{i}) && ({low + 99} >= x{i}))" for i in wide)
        moves = [f"x{i} = {130 - low}" for i in wide]
        guard = f"(input == 2) && c == {phase}{inside}"
        rules.append(rule(guard, 24 + phase, f"c = {1 - phase} ", *moves))
    declared = "\t int c = 0;\n int d0 = 0;\n int d1 = 0;\n int y = 1;\n"
    declared += "".join(f"int x{i} = 30;\n" for i in wide)
    return program("\n".join(rules), declared=declared)


def test_regions_are_carried_from_rule_to_rule(monkeypatch):
    """What a rule does not test is known by the rules before it.

    A program with many states is looked at in this way.
    """
    rules = rules_in(_in_phases())
    assert complete(machine_of(rules, 1 << 20)).n_states > 5_000
    monkeypatch.setattr(reading, "FEW", 100)
    machine = complete(machine_of(rules, 1 << 20))
    assert machine.n_states == 18  # c, d0 and d1
    assert differing(rules.source, machine, 2_000)[0] == []


def test_what_is_read_and_known_is_a_part_of_states():
    """Nothing is needed of it: the rules before a rule tell its value."""
    rules = [
        rule("(input == 1) && b == 0", 21, "c = 7 ", "b = 1 "),
        rule("(input == 1) && b == 1", 22, "d = (c % 4)", "b = 2 "),
        rule("(input == 1) && b == 2 && d == 3", 23, "b = 0 "),
        rule("(input == 2) && b == 9 && c == 7", 24),
    ]
    declared = "".join(f"\t int {name} = 0;\n" for name in "bcd")
    text = program("\n".join(rules), declared=declared)
    prepared = complete(prepare(rules_in(text), follows=True))
    machine = complete(enumerated(prepared, 100))
    assert machine.outputs == (21, 22, 23)
    assert differing(source_of(text), machine, 100)[0] == []


def test_a_bound_keeps_what_lies_before_it():
    """States are enumerated breadth first, and those before the bound are whole."""
    text = program(
        rule("(input == 1)", 24, "b = (b + 1)") + rule("b == 77777777", 25),
        declared="\t int b = 0;",
    )
    machine = machine_in(text, limit=100)
    assert not machine.is_complete
    assert (machine.n_expanded, machine.n_states) == (99, 100)
    assert machine.depth == 99
    assert machine.first[-1] == len(machine.target)


def test_an_error_ends_runs():
    """A state in which an error is found has no steps, and neither has its rule."""
    rules = [
        rule("(input == 1) && a < 3", 24, "a = (a + 1)"),
        "if((input == 2 && cf==1)) { cf = 0; __VERIFIER_error(2); }",
        rule("(input == 2)", 25),
    ]
    text = program(
        "\n".join(rules),
        declared="\t int a = 0;",
        check="if(a == 2) { cf = 0; __VERIFIER_error(1); }",
    )
    machine = machine_in(text)
    assert machine.n_states == 3
    assert machine.target.tolist() == [1, 2]
    assert differing(source_of(text), machine, 100)[0] == []
    late = text.replace("if(a == 2)", "if(a == 0)")
    with pytest.raises(InputError, match="the first state is one of errors"):
        machine_in(late)


def test_a_variable_with_very_many_cuts():
    """More regions than bits of a word: neighbours share one where rules follow."""
    rules = [
        rule(f"(input == 1) && a == {k}", 20 + k % 5, f"a = {(k + 1) % 150} ")
        for k in range(150)
    ]
    text = program("\n".join(rules), declared="\t int a = 0;")
    machine = machine_in(text)
    assert machine.n_states == 150
    assert differing(source_of(text), machine, 1000)[0] == []


def test_no_rule_that_can_fire():
    """A program whose first state is a deadlock."""
    text = program(rule("(input == 1) && a == 3", 24), declared="\t int a = 0;")
    machine = machine_in(text)
    assert (machine.n_states, len(machine.target)) == (1, 0)
