"""A star's network has the steps of the model, and its labels say what they are to."""

from __future__ import annotations

import random

import pytest

from ltlpipe.decoupled import star_parts, stars
from ltlpipe.decoupled.star_parts import NoStarError
from ltlpipe.decoupled.stars import find_star
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.plain_steps import NetworkSteps
from ltlpipe.systems.programs.model import DveModel
from ltlpipe.systems.propositions.letters import evaluate
from tests.decoupled.star.random_stars import (
    net_star_atoms,
    star_atoms,
    star_model,
    star_net,
)
from tests.example_counts import at_least, examples
from tests.por.models.random_models import random_dve, random_net

MAX_STATES = 500
MAKERS = {
    "stars": (star_model, star_atoms),
    "star nets": (star_net, net_star_atoms),
    "models": (random_dve, lambda rng, model: ["a == 1", "b == a"]),
    "nets": (random_net, lambda rng, net: ["p0 >= 1", "p0 == p1"]),
}


@pytest.fixture(autouse=True)
def _small_and_any(monkeypatch):
    """One leaf makes a star, too, and large ones are given up soon."""
    monkeypatch.setattr(stars, "MIN_LEAVES", 1)
    monkeypatch.setattr(star_parts, "MAX_CENTRE", 200)
    monkeypatch.setattr(star_parts, "MAX_LEAF", 100)


def found(model, atoms):
    """A model as a star for some propositions; None if it is no star."""
    complete(model.prepared())
    bound = [model.meaning(text) for text in atoms]
    try:
        return complete(find_star(model, bound, stutters=True)), bound
    except NoStarError:
        return None, bound


def letter_of(bound, state):
    return sum(1 << k for k, p in enumerate(bound) if evaluate(p, state))


def assert_step(star, bound, before, step, after):
    """A label tells how the valuation changes, and internal steps change nothing."""
    change = star.changes[step.action]
    letters = letter_of(bound, before), letter_of(bound, after)
    if change is None:
        assert letters[0] == letters[1]
    else:
        assert tuple(star.valuations[v].letter for v in change) == letters
        assert not star.network.actions[step.action].internal


def has_failed(model, values):
    return isinstance(model, DveModel) and values[model.program.error] != 0


def assert_same(model, star, bound):
    """Explore both together, as far as `MAX_STATES`."""
    view = NetworkSteps(star.network, limited=False)
    todo = [view.initial()]
    known = set(todo)
    assert star.valuation(todo[0]) == model.initial()
    for state in todo:  # grows while it is read
        values = star.valuation(state)
        steps = view.steps(state)
        dead = [step for step in steps if step.action in star.deadlocks]
        alive = [step for step in steps if step.action not in star.deadlocks]
        expected = {step.state for step in model.steps(values)}
        assert bool(dead) == (not expected)
        assert all(step.state == state for step in dead)
        if has_failed(model, values):
            assert not any(step.action in labels(star) for step in alive)
            continue  # what leaves do by themselves is nobody's business
        assert {star.valuation(step.state) for step in alive} == expected
        for step in alive:
            assert_step(star, bound, values, step, star.valuation(step.state))
            if step.state not in known and len(todo) < MAX_STATES:
                known.add(step.state)
                todo.append(step.state)


def labels(star):
    """The global labels."""
    return [k for k, a in enumerate(star.network.actions) if not a.internal]


def assert_is_star(star):
    """A label has the centre and one leaf at most, except for deadlocks."""
    for k, action in enumerate(star.network.actions):
        if action.internal:
            continue
        assert action.participants[0] == 0
        assert len(action.participants) <= 2 or k in star.deadlocks


def compare(first, count, kind):
    """Return how many were stars."""
    make, atoms_of = MAKERS[kind]
    n_stars = 0
    for seed in range(first, first + count):
        rng = random.Random(seed)
        model = make(rng)
        star, bound = found(model, rng.sample(atoms_of(rng, model), 1))
        if star is not None:
            n_stars += 1
            assert_is_star(star)
            assert_same(model, star, bound)
    return n_stars


@pytest.mark.parametrize("kind", MAKERS)
def test_steps_of_the_network_are_those_of_the_model(kind):
    assert compare(0, examples(60), kind) >= at_least(15)


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("part", range(20))
def test_steps_of_the_network_by_the_thousand(kind, part):
    assert compare(1000 + 100 * part, 100, kind) > 20
