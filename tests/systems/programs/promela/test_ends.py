"""Processes that have ended: where they would become many, starts wait for ends."""

from __future__ import annotations

import random
import re

import pytest

from ltlpipe import LtlpipeError, LtlpipeWarning, check, load
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.promela import planning
from ltlpipe.systems.programs.promela.lowering import general_plan, lower
from ltlpipe.systems.programs.promela.model import _Family, promela_model, read_model
from ltlpipe.systems.programs.ranges import Environment, Ranges
from tests.example_counts import examples
from tests.systems.programs.promela.random_starts import program_of_starts

CALLS = """\
chan lock = [0] of { bit };
byte x;
proctype G(chan done) { x = 1 - x; done!0 }
proctype F(chan done) {
    chan child = [1] of { bit };
    lock!0; run G(child); child?0; lock?0; done!0
}
proctype M() { do :: lock?0; lock!0 od }
active proctype W1() { far: (x > 9) }
init {
    chan c = [1] of { bit };
    run M();
    do :: run F(c); c?0 :: break od
}
"""

SHAPES = (
    *("GF A", "FG A", "G A", "F A", "A U B", "G(A -> F B)", "G(A -> (B U C))"),
    *("F(A && F B)", "(GF A) -> (GF B)", "!(A U (B U C))", "FG(A -> B)"),
)
PROPOSITIONS = (
    *("x == 1", "y == 1", "x > y", "n == 2", "n == 1", "len(q) == 1"),
    *("_valid_end", "np_", "deadlock", "_fault"),
)


def load_text(folder, text, **options):
    (folder / "m.pml").write_text(text)
    return load(folder / "m.pml", **options)


def test_a_loop_that_calls_functions_has_few_processes(tmp_path):
    model = load_text(tmp_path, CALLS)
    assert len(model.program.processes) == 5
    assert "processes that have ended leave" in model.about[0]
    assert check(model, "G (x < 2)").verdict == "holds"
    assert check(model, "G !(W1[0]@far && x > 1)").verdict == "holds"
    found = check(model, "G !(x == 1 && F (x == 0))")
    assert found.verdict == "violated"
    assert check(model, "G (x < 2)", reduce="none", emptiness="se05").verdict == "holds"


@pytest.mark.parametrize(
    ("formula", "options"),
    [
        ("G (x == 1 -> X (x < 2))", {}),
        ("G (x < 2)", {"fairness": "weak"}),
        ("G (_nr_pr < 5)", {}),
        ("G (_last < 5)", {}),
        ("G !(M[2]@end)", {}),
        ("G (F[3]:done == 0)", {}),
        ("G F 'init[1]' == '-end-'", {}),
    ],
)
def test_what_can_tell_is_refused(tmp_path, formula, options):
    model = load_text(tmp_path, CALLS.replace("do :: lock", "end: do :: lock"))
    with pytest.raises(LtlpipeError, match="processes that have ended leave before"):
        check(model, formula, **options)
    exact = load_text(tmp_path, CALLS.replace("do :: lock", "end: do :: lock"))
    assert exact.about


@pytest.mark.parametrize(
    "loop",
    [
        "do :: run F(c); c?0 :: else -> x = 5 od",
        "do :: { x = 5 } unless { run F(c) }; c?0 od",
    ],
)
def test_what_waits_for_ends_can_be_executed(tmp_path, loop):
    """So neither ``else`` nor what a start escapes from is taken in its place."""
    text = f"""\
byte x;
proctype G(chan done) {{ done!0 }}
proctype F(chan done) {{
    chan child = [1] of {{ bit }};
    run G(child); child?0; done!0
}}
active proctype W() {{ far: (x > 9) }}
init {{ chan c = [1] of {{ bit }}; {loop} }}
"""
    model = load_text(tmp_path, text)
    assert model.about
    assert check(model, "G (x != 5)").verdict == "holds"


def test_a_graph_warns_of_what_it_leaves_out(tmp_path):
    model = load_text(tmp_path, CALLS)
    with pytest.warns(LtlpipeWarning, match="processes that have ended leave before"):
        model.to_spot(["x == 1"])


def test_with_a_number_of_processes_they_stay(tmp_path):
    model = load_text(tmp_path, CALLS, processes=6)
    assert not model.about
    with pytest.raises(LtlpipeError, match="more than 6 processes at once"):
        check(model, "G (x < 2)")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x = 1 - x", "x = _pid % 2"),
        ("run G(child)", "x = run G(child)"),
        ("(x > 9)", "M[2]@e"),
        ("active proctype W1()", "active proctype W1() provided (x < 5)"),
        ("(x > 9)", "(_nr_pr > 9)"),
    ],
)
def test_statements_that_tell_numbers_stand_in_the_way(old, new):
    text = CALLS.replace("do :: lock?0", "e: do :: lock?0").replace(old, new)
    assert new in text
    assert not planning.unnoticed_ends(read_model(text, "m.pml"))


@pytest.mark.parametrize(
    ("globals_", "statement", "others"),
    [
        ("chan g;", "g = child", ["G", "M", "W1", "init"]),
        ("chan g = [1] of { chan };", "g!child; g?done", ["G", "M", "W1"]),
    ],
)
def test_a_process_whose_channels_others_know_stays(globals_, statement, others):
    text = globals_ + CALLS.replace("lock!0; run", f"{statement}; lock!0; run")
    model = read_model(text, "m.pml")
    names = [model.proctypes[n].name for n in planning.unnoticed_ends(model)]
    assert sorted(names) == others


def both_ways(text):
    """A model, and the one whose starts wait; None without it."""
    tree = read_model(text, "m.pml")
    ending = planning.unnoticed_ends(tree)
    if not ending:
        return None
    exact = complete(promela_model(tree))
    found = complete(planning._tried(tree, general_plan(tree, 10, ending)))
    if exact.about or not found.is_complete:
        return None
    plan = planning._narrowed(tree, found)._replace(ending=ending)
    return exact, _Family(tree, plan, can_grow=False).model(assertions=True)


def states_of(model):
    """The number of states; None if they are many."""
    waiting = [model.initial()]
    seen = set(waiting)
    for state in waiting:
        for step in model.each_step(state):
            if step.state not in seen:
                seen.add(step.state)
                waiting.append(step.state)
        if len(seen) > 3000:
            return None
    return len(seen)


def compare_verdicts(seeds):
    fewer = 0
    for seed in seeds:
        text = program_of_starts(seed)
        models = both_ways(text)
        numbers = [states_of(model) for model in models or ()]
        if not numbers or None in numbers:
            continue
        assert numbers[1] <= numbers[0], text
        fewer += numbers[1] < numbers[0]
        rng = random.Random(seed)
        for _ in range(4):
            shape = rng.choice(SHAPES)
            formula = re.sub(
                "[ABC]", lambda _, r=rng: f"({r.choice(PROPOSITIONS)})", shape
            )
            found = [check(model, formula).verdict for model in models]
            assert found[0] == found[1], (seed, formula, text)
    assert fewer


def test_verdicts_are_the_same_with_starts_that_wait():
    compare_verdicts(range(examples(8)))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_more_verdicts_are_the_same_with_starts_that_wait(part):
    compare_verdicts(range(1000 + 200 * part, 1200 + 200 * part))


def test_processes_that_look_at_each_other_are_made_once():
    """Each could do what each other can: as trees of their own there were millions."""
    steps = " ".join(f":: x == {n} -> x = {n + 1}" for n in range(60))
    text = f"byte x; proctype R() {{ set_priority(_pid, 2); do {steps} od }} "
    text += "init { run R(); run R() }"
    tree = read_model(text, "m.pml")
    program = complete(lower(tree, general_plan(tree, 3), assertions=False)).program
    moving = [t.conditions[0] for p in program.processes for t in p.transitions]
    assert len(moving) > 200
    assert len({id(condition) for condition in moving}) < 20


def test_room_for_many_processes_is_made_in_turns():
    """So limits hold while steps that look at all other processes are made."""
    text = """\
byte x;
proctype R(byte p) {
    set_priority(_pid, 2);
    do :: x = p :: x < 3 -> x++ :: x > 3 -> x--; x-- od; x = get_priority(_pid)
}
init { do :: run R(x) :: x > 1 -> break od }
"""
    tree = read_model(text, "m.pml")
    said = list(lower(tree, general_plan(tree, 30), assertions=False))
    assert said[0].memory_bytes < said[1].memory_bytes < said[2].memory_bytes


def ranges_of(text):
    """The program of a text, and how often its analysis narrows by a condition."""
    program = complete(promela_model(read_model(text, "m.pml"))).program
    times = 0
    narrowed_by = Environment._narrowed_by

    def counted(*arguments):
        nonlocal times
        times += 1
        return narrowed_by(*arguments)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Environment, "_narrowed_by", counted)
        complete(Ranges.finding(program))
    return program, times


def test_only_a_higher_priority_holds_up():
    """Where none is ever set, who has one is known: nobody asks the others."""
    text = """\
byte x;
proctype R() priority 7 { x = 1; x = 2 }
active proctype P() priority 2 { x = 3; run R() }
active [4] proctype Q() priority 2 { x = 4; x = 5 }
active proctype S() priority 3 { x = 6; false }
"""
    program, _ = ranges_of(text)
    conditions = [process.transitions[0].conditions for process in program.processes]
    assert list(map(len, conditions)) == [1] * 5 + [0, 1]
    assert {*conditions[0]} == {condition for (condition,) in conditions[1:5]}


@pytest.mark.parametrize(
    ("first", "second"),
    [("n = 0", "n = 1"), ("set_priority(_pid, 2)", "n = 1")],
    ids=["known", "set"],
)
def test_ranges_of_processes_that_look_at_each_other(first, second):
    """Each narrows by what all others can do: once for all who do, not each time."""
    text = "byte n; active [{0}] proctype P() priority 2 {{ {1}; n++ }} "
    text += "active [{0}] proctype Q() priority 3 {{ n++; {2}; n-- }}"
    _, few = ranges_of(text.format(6, first, second))
    _, many = ranges_of(text.format(24, first, second))
    assert many < 25 * few


def test_a_process_of_many_places_is_looked_at():
    """What it can do is a wide tree, not a deep one."""
    steps = "; ".join("x = 1; x = 2" for _ in range(300))
    text = f"byte x; active proctype P() priority 2 {{ {steps} }} "
    text += "active proctype Q() { set_priority(0, 1); x = 3 }"
    ranges_of(text)
