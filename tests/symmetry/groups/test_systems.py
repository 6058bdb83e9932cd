"""The groups of Promela models, against their steps in plain Python."""

from __future__ import annotations

import io
import random
from collections import Counter

import numpy as np
import pytest

from ltlpipe import load
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.groups.models import Propositions
from ltlpipe.symmetry.groups.systems import group_of_program
from tests.example_counts import at_least, examples
from tests.symmetry.groups import random_systems as systems

NOTHING = Propositions([], np.zeros(1, dtype=np.int64))
LIMIT = 400  # states of a model that are looked at


def group(model):
    run(model.prepared())
    return run(group_of_program(model, NOTHING))


@pytest.mark.parametrize(
    ("steps", "n_kinds"),
    [
        ("turn == 255 -> turn = _pid :: turn == _pid -> turn = 255", 4),
        ("turn == 255 -> q!1 :: flag[_pid] == 0 -> flag[_pid] = 1 :: q?1", 1),
        ("atomic { r!1; flag[_pid] = 1 } :: d_step { r?1 -> flag[_pid] = 0 }", 1),
        ("x = _pid", 4),
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
    model = systems.promela_model(random.Random(seed))
    found = group(model)
    counts["moved"] += bool(found.factors)
    assert_group(model, found, counts)


def test_random_models():
    """By the definition, in plain Python."""
    counts = Counter()
    for seed in range(examples(60)):
        check_random(seed, counts)

    assert counts["moved"] >= at_least(20)
    assert counts["images"] >= at_least(200)


@pytest.mark.slow
def test_many_random_models():
    """2,000 of them."""
    counts = Counter()
    for seed in range(1000, 3000):
        check_random(seed, counts)

    assert counts["moved"] > 500
