"""Permutations that users declare, against all renamings of local states."""

from __future__ import annotations

import random
from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.families.networks import philosophers, species
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.groups.networks import (
    declared_permutations,
    group_of_declared,
)
from tests.example_counts import at_least, examples
from tests.symmetry.groups import random_systems as systems

TURN = "(philosopher0 philosopher1 philosopher2 philosopher3)"
ALL = " | ".join(f"eat{k}" for k in range(4))


def reached(component):
    """The states that a component reaches alone."""
    seen, waiting = {component.initial}, [component.initial]
    while waiting:
        src = waiting.pop()
        found = {d for s, _, d in component.transitions() if s == src} - seen
        seen |= found
        waiting += found
    return seen


def cycles(generator):
    """A permutation of members as a text."""
    text, left = "", set(range(len(generator)))
    while left:
        cycle = [min(left)]
        while generator[cycle[-1]] != cycle[0]:
            cycle.append(generator[cycle[-1]])
        left -= set(cycle)
        text += f"({' '.join(f'c{k}' for k in cycle)})"
    return text


def is_kept(network, goes):
    """Whether some renaming of local states goes with a permutation of components."""
    parts = network.components
    actions = Counter(
        frozenset(
            (c, frozenset((s, d) for s, x, d in parts[c].transitions() if x == a.name))
            for c in a.participants
        )
        for a in network.actions
    )
    options = []
    for here, there in enumerate(goes):
        one, two = parts[here], parts[there]
        mine, others = reached(one), reached(two)
        options.append(
            [
                names
                for names in permutations(range(one.n_states))
                if {names[s] for s in mine} == others
                and all(accepts(one, s) == accepts(two, names[s]) for s in mine)
            ]
        )
    return any(
        actions
        == Counter(
            frozenset(
                (goes[c], frozenset((names[c][s], names[c][d]) for s, d in moves))
                for c, moves in action
            )
            for action in actions.elements()
        )
        for names in product(*options)
    )


def accepts(component, state):
    return component.accepting is None or bool(component.accepting[state])


def test_what_is_refused_is_not_kept():
    """And what is accepted is kept."""
    counts = Counter()
    for seed in range(examples(120)):
        rng = random.Random(seed)
        network = systems.network(rng)
        n = len(network.components)
        generator = rng.sample(range(n), n)
        if rng.random() < 0.7:
            name, _, _ = systems.drawn_group(random.Random(seed))
            generator = rng.choice(systems.GROUPS[name] or [generator])
        if generator == sorted(generator):
            continue
        number = {c.name: k for k, c in enumerate(network.components)}
        goes = [0] * n
        for k, image in enumerate(generator):
            goes[number[f"c{k}"]] = number[f"c{image}"]
        if is_kept(network, goes):
            counts["kept"] += 1
            images = run(declared_permutations(network, [cycles(generator)]))
            assert images.tolist() == [goes], seed
        else:
            counts["refused"] += 1
            with pytest.raises(UnsupportedError, match="is no symmetry of"):
                run(declared_permutations(network, [cycles(generator)]))

    assert min(counts["refused"], counts["kept"]) >= at_least(15)


def test_forks_move_along():
    """Nobody names them, but philosophers are not rotated without them."""
    network = philosophers(4)
    (image,) = run(declared_permutations(network, [TURN])).tolist()

    names = [c.name for c in network.components]
    moved = {names[k]: names[image[k]] for k in range(8)}
    assert {moved[f"fork{k}"] for k in range(4)} == {f"fork{k}" for k in range(4)}
    assert moved["philosopher3"] == "philosopher0"


@pytest.mark.parametrize(
    ("formula", "order"),
    [(f"F ({ALL})", 4), ("F (eat0 | eat2)", 2), ("F eat0", 1)],
)
def test_the_property_leaves_a_part(formula, order):
    """Of four rotations it keeps those that take its letters to each other."""
    found = check(philosophers(4), formula, reduce="automorphisms", symmetric=[TURN])
    plain = check(philosophers(4), formula, reduce="none")

    assert found.verdict == plain.verdict
    reasons = " ".join(found.plan.reasons)
    expected = f"because {order} permutations" if order > 1 else "changes nothing"
    assert f"automorphisms, {expected}" in reasons.replace("which changes", "changes")


def test_a_class_is_all_of_its_permutations():
    """Also where agents begin as different species."""
    network = species(6)
    images = run(declared_permutations(network, ["agent1,agent2,agent3,agent4"]))
    kinds = np.zeros(len(network.actions), dtype=np.int64)

    assert len(images) == 3
    assert run(group_of_declared(network, kinds, images)).order == 24


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(fork0 philosopher0)", r"'fork0', which has 2 labels, to 'philosopher0'"),
        ("(philosopher0 philosopher1)", "no renaming of labels and local states"),
        ("(fork0 fork1)(fork1 fork2)", "component 'fork1' is named twice"),
        ("(fork0)(fork1)", "moves nothing"),
        ("(fork0 frok1)", "did you mean 'fork1'"),
        ("fork0,zzzzzz", "no component is called 'zzzzzz'$"),
        ("fork0", "a class of symmetric components has two at least"),
        ("(fork0 fork1", r"a permutation is written in cycles, as '\(P1 P2 P3\)"),
        (
            "(philosopher0, fork0)(philosopher1, fork1)",
            "which has 4 labels, to 'fork0'",
        ),
    ],
)
def test_what_is_wrong(text, message):
    with pytest.raises(UnsupportedError, match=message):
        run(declared_permutations(philosophers(4), [text]))


def test_an_ambiguous_name():
    parts = [LTS.from_transitions([(0, "a", 0)], name=name) for name in "PPQ"]
    with pytest.raises(UnsupportedError, match="2 components are called 'P'"):
        run(declared_permutations(Network(parts), ["P,Q"]))


@pytest.mark.parametrize("reduce", ["symmetry", "automorphisms", "auto"])
def test_a_permutation_by_each_name(reduce):
    """Whatever is named, or not, what is declared is used."""
    found = check(philosophers(4), f"F ({ALL})", reduce=reduce, symmetric=[TURN])

    assert "4 permutations" in " ".join(found.plan.reasons)
