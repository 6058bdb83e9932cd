"""Components that are products of smaller ones, or almost, and their comparison.

Nothing here shares code with the package: compositions are those of `tests.oracles`,
and bisimilarity is refined state by state.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ltlpipe import LTS, Network
from tests.oracles import compose, is_accepting

LABELS = ["ab", "cd", "ef"]
"""Of the factors."""


class Product(NamedTuple):
    """A component, and what it was made of."""

    component: LTS
    factors: list[LTS]


def composed(factors, name=""):
    """The reachable part of the composition of some components as one."""
    network = Network(factors)
    states, edges = compose(network)
    names = [action.name for action in network.actions]
    accepting = None
    if network.has_acceptance:
        accepting = [k for k, at in enumerate(states) if is_accepting(network, at)]
    return LTS.from_transitions(
        [(src, names[a], dst) for src, a, dst in edges],
        n_states=len(states),
        internal=set().union(*(factor.internal for factor in factors)),
        accepting=accepting,
        name=name,
    )


def random_factor(rng, labels, *, acceptance=False, internal=()):
    """A component of two to four states, most of them reachable."""
    n = rng.choice([2, 2, 2, 3, 3, 4])
    steps = [(s, rng.choice(labels), s + 1) for s in range(n - 1) if rng.random() < 0.9]
    for _ in range(rng.randint(0, 4)):
        steps.append((rng.randrange(n), rng.choice(labels), rng.randrange(n)))
    accepting = None
    if acceptance and rng.random() < 0.7:
        accepting = [s for s in range(n) if rng.random() < 0.5]
    return LTS.from_transitions(
        steps, n_states=n, internal=internal, accepting=accepting
    )


def random_product(rng, *, acceptance=False, internal=(), max_factors=3, labels=LABELS):
    """A product of two or three factors, as a file may have it.

    States are in any order; some may be twice there, as different but bisimilar ones,
    or not be reachable; some labels may be in the alphabet without a transition.
    """
    factors = [
        random_factor(rng, own, acceptance=acceptance, internal=internal)
        for own in labels[: rng.randint(2, max_factors)]
    ]
    component = composed(factors)
    if rng.random() < 0.4:
        component = _with_a_twin(rng, component)
    if rng.random() < 0.4:
        component = _with_more(rng, component)
    return Product(_shuffled(rng, component), factors)


def _columns(steps):
    table = np.array(steps, dtype=np.int32).reshape(len(steps), 3)
    return {"src": table[:, 0], "label": table[:, 1], "dst": table[:, 2]}


def _steps(component):
    columns = (component.src, component.label, component.dst)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _with_a_twin(rng, component):
    """Let a state have a twin to which some of the steps to it lead."""
    old, new = rng.randrange(component.n_states), component.n_states
    steps = [
        (s, a, new if d == old and rng.random() < 0.5 else d)
        for s, a, d in _steps(component)
    ]
    steps += [(new, a, d) for s, a, d in steps if s == old]
    flags = component.accepting
    return replace(
        component,
        n_states=new + 1,
        accepting=None if flags is None else np.append(flags, flags[old]),
        **_columns(steps),
    )


def _with_more(rng, component):
    """Add a state that is not reachable, and labels of which it alone has steps."""
    new = component.n_states
    labels = (*component.labels, "y", "z")
    steps = _steps(component)
    for _ in range(rng.randint(0, 2)):
        steps.append((new, rng.randrange(len(labels)), rng.randint(0, new)))
    flags = component.accepting
    return replace(
        component,
        n_states=new + 1,
        labels=labels,
        accepting=None if flags is None else np.append(flags, rng.random() < 0.5),
        **_columns(steps),
    )


def _shuffled(rng, component):
    """Number states anew, and put the transitions in another order."""
    place = rng.sample(range(component.n_states), component.n_states)
    steps = [(place[s], a, place[d]) for s, a, d in _steps(component)]
    flags = component.accepting
    if flags is not None:
        flags = np.empty_like(flags)
        flags[place] = component.accepting
    return replace(
        component,
        initial=place[component.initial],
        accepting=flags,
        **_columns(rng.sample(steps, len(steps))),
    )


def random_near_product(rng, **of_products):
    """A product with a transition more or less, or of which another state accepts."""
    component = random_product(rng, **of_products).component
    steps = _steps(component)
    n = component.n_states
    if component.accepting is not None and rng.random() < 0.5:
        flags = component.accepting.copy()
        flags[rng.randrange(n)] ^= True
        return replace(component, accepting=flags)
    if steps and rng.random() < 0.5:
        del steps[rng.randrange(len(steps))]
    elif component.labels:
        label = rng.randrange(len(component.labels))
        steps.append((rng.randrange(n), label, rng.randrange(n)))
    return replace(component, **_columns(steps))


def random_network(rng, *, acceptance=False, internal=()):
    """Products, or almost, and perhaps a small component; they share labels."""
    how = {"acceptance": acceptance, "internal": internal}
    components = []
    for _ in range(rng.randint(1, 2)):
        names = rng.sample("abcdef", 6)
        labels = ["".join(names[k : k + 2]) for k in (0, 2, 4)]
        how_many = 3 if not components else 2
        if rng.random() < 0.8:
            made = random_product(rng, labels=labels, max_factors=how_many, **how)
            components.append(made.component)
        else:
            components.append(
                random_near_product(rng, labels=labels, max_factors=2, **how)
            )
    if rng.random() < 0.5:
        components.append(random_factor(rng, "abcdef", **how))
    return Network(components)


def are_bisimilar(left, right):
    """Whether two networks are strongly bisimilar, accepting states respected."""
    moves, accepts, starts = [], [], []
    for network in (left, right):
        states, edges = compose(network)
        begin = len(moves)
        starts.append(begin)
        moves += [set() for _ in states]
        accepts += [is_accepting(network, state) for state in states]
        for src, action, dst in edges:
            moves[begin + src].add((network.actions[action].name, begin + dst))
    block = accepts
    while True:
        signatures = [
            (own, frozenset((a, block[d]) for a, d in steps))
            for own, steps in zip(block, moves, strict=True)
        ]
        number = {signature: k for k, signature in enumerate(dict.fromkeys(signatures))}
        finer = [number[signature] for signature in signatures]
        if len(number) == len(set(block)):
            return finer[starts[0]] == finer[starts[1]]
        block = finer
