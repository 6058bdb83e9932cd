"""DVE models whose processes remember each other's numbers."""

from __future__ import annotations

import io
import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe import check, load
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.groups.models import Propositions
from ltlpipe.symmetry.groups.programs import group_of_program, namings_of
from ltlpipe.systems.programs.model import read_dve_model
from tests.example_counts import at_least, examples
from tests.symmetry.groups import random_systems as systems

NOTHING = Propositions([], np.zeros(1, dtype=np.int64))
LIMIT = 400  # states of a model that are looked at


def lock(n, *, guard="turn == {i}", others=""):
    """A model of n processes that note in a variable whose turn it is."""
    processes = [
        f"process P{i} {{ state idle, wait, in; init idle; trans\n"
        f"idle -> wait {{ guard turn == {n}; effect turn = {i}; }},\n"
        f"wait -> in {{ guard {guard.format(i=i)}; }},\n"
        f"in -> idle {{ effect turn = {n}; }}; }}"
        for i in range(n)
    ]
    text = "\n".join([f"byte turn = {n};", others, *processes, "system async;"])
    return read_dve_model(text, "lock.dve")


def group(model):
    run(model.prepared())
    return run(group_of_program(model, NOTHING))


def test_a_lock_that_knows_who_has_it():
    """All permutations of processes, with the values of `turn`."""
    found = group(lock(4))

    assert found.order == 24
    assert found.space.named.tolist().count(True) == 1


@pytest.mark.parametrize(
    ("guard", "others"),
    [
        ("turn < {i} + 1 && turn + 1 > {i}", ""),
        ("turn == {i} && (turn + 0 == turn)", ""),
        ("turn == {i} && turn == wide", "int wide = 1000;"),
    ],
    ids=["ordered", "calculated", "other type"],
)
def test_numbers_that_are_more_than_names(guard, others):
    """Each process is known by its own number then."""
    assert group(lock(3, guard=guard, others=others)).order == 1


def test_arrays_that_names_index():
    """Elements change places as the names do."""
    model = lock(3, guard="turn == {i} && flag[turn] == 0", others="byte flag[3];")
    run(model.prepared())
    namings = run(namings_of(model, []))
    found = group(model)

    assert namings.of("indices", model.program.arrays[0].first).values == {0, 1, 2, 3}
    assert found.order == 6


@pytest.mark.parametrize(
    ("steps", "n_kinds"),
    [
        ("turn == 255 -> turn = _pid :: turn == _pid -> turn = 255", 1),
        ("turn == 255 -> q!1 :: flag[_pid] == 0 -> flag[_pid] = 1 :: q?1", 1),
        ("atomic { r!1; flag[_pid] = 1 } :: d_step { r?1 -> flag[_pid] = 0 }", 1),
        ("x = _pid", 2),
        ("x < 2 + _pid / 2 -> x++", 2),
        ("flag[0] == 1 -> flag[_pid] = 1", 2),
        ("x = (x + _pid) & 3", 4),
        ("turn < _pid -> turn = _pid", 4),
        ("turn = 255 :: break", 4),
    ],
)
def test_instances_of_a_proctype(steps, n_kinds):
    """They end in the order of their numbers; so those that end are told apart."""
    text = f"""byte x, flag[4], turn = 255;
    chan q = [1] of {{ byte }}; chan r = [0] of {{ byte }};
    active [4] proctype P() {{ do :: {steps} od }}"""
    model = load(io.StringIO(text), format="pml")
    found = group(model)
    orbits = run(found.orbits())
    states = [process.state for process in model.program.processes[:4]]
    assert len({orbits[found.space.first[state]] for state in states}) == n_kinds


def test_a_name_in_the_property():
    """The process that it names stays, the others do not."""
    for formula, order in [("G !(turn == 1)", 2), ("G !(turn == 3)", 6)]:
        found = check(lock(3), formula, reduce="automorphisms")
        plain = check(lock(3), formula, reduce="none")

        assert found.verdict == plain.verdict == "violated"
        assert f"because {order} permutations" in " ".join(found.plan.reasons)


def test_orders_in_the_property():
    """A number that is compared in a proposition is no name."""
    found = check(lock(3), "G(turn < 4)", reduce="automorphisms")

    assert found.verdict == "holds"
    assert "changes nothing" in " ".join(found.plan.reasons)


def assert_group(model, found, counts):
    """Elements take steps to steps, and each orbit has one representative."""
    space = found.space
    states, waiting = {model.initial()}, [model.initial()]
    while waiting and len(states) < LIMIT:
        for step in model.steps(waiting.pop()):
            if step.state not in states:
                states.add(step.state)
                waiting.append(step.state)
    elements = [e for factor in found.factors for e in factor.elements[:10]]
    for state in sorted(states)[:60]:
        goals = {step.state for step in model.steps(state)}
        own, *targets = (np.array(s, dtype=np.int64) for s in (state, *goals))
        for element in elements:
            image = tuple(space.image(element, own).tolist())
            moved = {tuple(space.image(element, t).tolist()) for t in targets}
            assert {step.state for step in model.steps(image)} == moved
            counts["images"] += image != state
            if found.exact:
                pair = (found.normalised(np.array(s))[0] for s in (state, image))
                assert np.array_equal(*pair)


def check_random(seed, counts):
    model = systems.naming_model(random.Random(seed))
    found = group(model)
    counts["moved"] += bool(found.factors)
    counts["named"] += bool(found.space.named.any())
    assert_group(model, found, counts)


def test_random_models():
    """By the definition, in plain Python."""
    counts = Counter()
    for seed in range(examples(60)):
        check_random(seed, counts)

    assert min(counts["moved"], counts["named"]) >= at_least(30)
    assert counts["images"] >= at_least(300)


@pytest.mark.slow
def test_many_random_models():
    """2,000 of them."""
    counts = Counter()
    for seed in range(1000, 3000):
        check_random(seed, counts)

    assert counts["moved"] > 500
