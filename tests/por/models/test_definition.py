"""Groups against the definition of ample sets: C0 to C2 in every state, and cycles."""

from __future__ import annotations

import random

import pytest

from ltlpipe.por.groups import find_groups
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.programs.model import DveModel
from ltlpipe.systems.propositions.letters import evaluate
from tests.cross.test_models import dve_atoms, net_atoms
from tests.por.models.random_models import random_dve, random_net
from tests.por.models.twins import kept, reachable, without

LIMIT = 300


def case(seed):
    """A random model, propositions about it, and the table of its ample sets."""
    rng = random.Random(seed)
    model = random_dve(rng) if seed % 2 else random_net(rng)
    atoms = dve_atoms(rng, model) if seed % 2 else net_atoms(rng, model)
    texts = [a for a in atoms if a != "deadlock" and "action==" not in a]
    chosen = rng.sample(texts, rng.randint(0, 2))
    meanings = [model.meaning(text) for text in chosen]
    return model, meanings, run(find_groups(model, meanings)).codes


def failed(model, state):
    return isinstance(model, DveModel) and state[model.program.error]


def assert_ample(model, meanings, codes, state, steps):
    """Check the steps that are left of a state; return whether some are gone."""
    chosen = kept(steps, codes)
    assert bool(chosen) == bool(steps)  # C0
    if len(chosen) == len(steps):
        return False
    places = {int(p) for step in chosen for p in codes[step.action][1:]}
    group = {a for a, entry in enumerate(codes) if places & set(entry[1:].tolist())}
    for step in chosen:  # C2
        for meaning in meanings:
            assert evaluate(meaning, state) == evaluate(meaning, step.state)
    enabled = {step.action for step in chosen}
    for other in without(model, state, group, 60):  # C1
        if failed(model, other):
            continue
        found = model.steps(other)
        committed_elsewhere = isinstance(model, DveModel) and committed(model, other)
        mine = {s.action for s in found} & group
        assert mine == enabled or (committed_elsewhere and not mine)
        assert_commuting(model, other, group, [s for s in found if s.action in mine])
    return True


def committed(model, state):
    program = model.program
    return any(state[p.state] in p.committed for p in program.processes)


def assert_commuting(model, state, group, ample):
    """Each ample step, and each other one behind it or before it, make the same."""
    after = {step.action: step.state for step in ample}
    for step in model.steps(state):
        if step.action in group:
            continue
        for action, target in after.items():
            behind = {s.action: s.state for s in model.steps(target)}
            assert step.action in behind
            if failed(model, step.state):
                assert failed(model, behind[step.action])
                continue
            swapped = {s.action: s.state for s in model.steps(step.state)}
            if action in swapped:  # else somebody is in a committed state by now
                assert swapped[action] == behind[step.action]
            else:
                assert committed(model, step.state)


def assert_reduced_ends(model, codes, states):
    """On every cycle there is a state that is left by all its steps."""
    targets = {
        state: {s.state for s in kept(steps, codes)}
        for state, steps in states.items()
        if len(kept(steps, codes)) < len(steps)
    }
    while True:
        last = [s for s, found in targets.items() if not found & targets.keys()]
        if not last:
            break
        for state in last:
            del targets[state]
    assert not targets


def check_seed(seed):
    model, meanings, codes = case(seed)
    states = reachable(model, LIMIT)
    if codes is None or states is None:
        return False
    reduced = [
        assert_ample(model, meanings, codes, state, steps)
        for state, steps in states.items()
    ]
    assert_reduced_ends(model, codes, states)
    return any(reduced)


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("part", range(4))
def test_definition(part):
    """Of 100 random models each; enough of them are reduced."""
    assert sum(check_seed(100 * part + k) for k in range(100)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_definition_by_the_thousand(part):
    assert sum(check_seed(1000 + 100 * part + k) for k in range(100)) > 10
