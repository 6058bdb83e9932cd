"""The automorphisms of a network that leave a property as it is.

They take components to components, local states to local states, and actions to actions
that the property cannot tell from them: transitions to transitions, accepting states
to accepting ones.  Initial states may be taken to others: a run of the quotient that
begins in the orbit of the initial state is one that begins there.  But what a component
reaches from its initial state by its own transitions is taken to what another one
reaches, as only that is packed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.factors import grouped
from ltlpipe.symmetry.groups.group import PHASE, ColouredGraph, Group, Space
from ltlpipe.systems.networks.packing import reachable_states

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network

MOST_DRAWN = 1 << 18
"""Local states and transitions of a network whose group is looked for unasked."""

_ROUNDS = 20
"""After which components that look alike are taken to be so."""


def group_of_network(network: Network, kinds: np.ndarray, least: int = 1) -> Job[Group]:
    """Return the group of a network; it moves components and their states.

    Parameters
    ----------
    network : Network
        As it is searched.
    kinds : int64[n_actions]
        What the property tells apart of actions.
    least : int
        If there is one, the group is trivial unless so many components cannot be told
        apart by their sizes and those of whom they meet, and the network is not large.
    """
    space = space_of(network)
    if least > 1:
        size = space.n_points + sum(c.n_transitions for c in network.components)
        if size > MOST_DRAWN or not (yield from _look_alike(network, kinds, least)):
            return Group(space, ())
    graph = yield from drawn(network, kinds, keeps_initial=False)
    generators = yield from graph.automorphisms(space.n_points)
    group = yield from grouped(space, generators)
    if group.exact:
        return group
    # What keeps the initial state generates a part of the group, often with elements
    # that move little: they are the better ones to try.
    graph = yield from drawn(network, kinds, keeps_initial=True)
    better = yield from graph.automorphisms(space.n_points)
    return (yield from grouped(space, np.concatenate([better, generators])))


def _look_alike(network: Network, kinds: np.ndarray, least: int) -> Job[bool]:
    """Whether so many components look alike.

    Colours of components and actions are refined by each other, without local states,
    in as many rounds as are worth it.
    """
    ticks = Ticks(PHASE)
    sizes = (
        (c.n_states, c.n_transitions, len(c.internal), c.accepting is None)
        for c in network.components
    )
    colours = yield from _numbered(sizes, ticks)
    if max(Counter(colours).values()) < least:
        return False  # as of most networks, before any action is looked at
    for _ in range(_ROUNDS):
        n_colours = len(set(colours))
        of_actions = (
            (kind, tuple(sorted([colours[p] for p in action.participants])))
            for action, kind in zip(network.actions, kinds.tolist(), strict=True)
        )
        met = yield from _numbered(of_actions, ticks)
        of_components = (
            (colour, tuple(sorted([met[a] for a in own])))
            for colour, own in zip(colours, network.label_actions, strict=True)
        )
        colours = yield from _numbered(of_components, ticks)
        if max(Counter(colours).values()) < least:
            return False
        if len(set(colours)) == n_colours:
            break
    return True


def _numbered(keys: Iterable[tuple[Any, ...]], ticks: Ticks) -> Job[list[int]]:
    """Return a number for each key, the same for equal ones."""
    known: dict[tuple[Any, ...], int] = {}
    numbers = []
    for key in keys:
        numbers.append(known.setdefault(key, len(known)))
        parts = key[-1]
        if ticks.over(1 + (len(parts) if isinstance(parts, tuple) else 0)):
            yield ticks.progress
    return numbers


def space_of(network: Network) -> Space:
    """Return what the group of a network acts on."""
    first = np.cumsum([0, *(c.n_states for c in network.components)])
    return Space(first)


def drawn(
    network: Network, kinds: np.ndarray, *, keeps_initial: bool
) -> Job[ColouredGraph]:
    """Return the graph of a network.

    The first vertices are the local states; kinds are those of `group_of_network`.
    """
    first = space_of(network).first
    ticks = Ticks(PHASE)
    graph = ColouredGraph()
    for component in network.components:
        reached = yield from reachable_states(component, ticks)
        is_reached = np.zeros(component.n_states, dtype=np.bool_)
        is_reached[reached] = True
        for state, known in enumerate(is_reached.tolist()):
            begins = keeps_initial and state == component.initial
            graph.add(("state", known, begins, _accepts(component, state)))
            if ticks.over():
                yield ticks.progress
    components = []
    for number, component in enumerate(network.components):
        own = range(int(first[number]), int(first[number + 1]))
        colour = "component", component.accepting is None
        components.append(graph.add(colour, *own))
        if ticks.over(len(own)):
            yield ticks.progress
    actions = []
    for action, kind in zip(network.actions, kinds.tolist(), strict=True):
        # A component may take part and never move: then the action never happens.
        members = [components[c] for c in action.participants]
        actions.append(graph.add(("action", kind), *members))
        if ticks.over(len(members)):
            yield ticks.progress
    for number, component in enumerate(network.components):
        base, entries = int(first[number]), len(graph.colours)
        states = np.arange(base, base + component.n_states)
        graph.add_alike("entered", states[:, None])
        of_label = np.array([actions[k] for k in network.label_actions[number]], int)
        ends = base + component.src, entries + component.dst, of_label[component.label]
        graph.add_alike("transition", np.stack(ends, axis=1))
        if ticks.over(component.n_states + component.n_transitions):
            yield ticks.progress
    return graph


def _accepts(component: LTS, state: int) -> bool:
    return component.accepting is None or bool(component.accepting[state])
