"""Slow twins: what the package computes fast, once more and naively.

Nothing here shares code with a kernel.  The composition follows D. Gnad,
J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model Checking omega-Regular
Properties with Decoupled Search", CAV 2021, Def. 2, word for word.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ltlpipe.systems.lts import Network

State = tuple[int, ...]
Edge = tuple[int, int, int]


def compose(network: Network) -> tuple[list[State], list[Edge]]:
    """Build the reachable part of the composition, explicitly.

    Returns the composed states in breadth-first order, the initial one first,
    and the transitions as (src, action, dst): `src` and `dst` index the states
    and `action` indexes ``network.actions``.  A local transition that stands
    twice in a component gives two transitions here.
    """
    moves = [_local_moves(component) for component in network.components]
    initial = tuple(component.initial for component in network.components)
    states = [initial]
    index = {initial: 0}
    edges = []
    for state in states:  # grows while it is read
        for action, target in _successors(network, moves, state):
            if target not in index:
                index[target] = len(states)
                states.append(target)
            edges.append((index[state], action, index[target]))
    return states, edges


def accepting_run_exists(network: Network) -> bool:
    """Whether a reachable state in which all components accept reaches itself."""
    states, edges = compose(network)
    followers: list[set[int]] = [set() for _ in states]
    for src, _, dst in edges:
        followers[src].add(dst)
    return any(
        reaches(followers, start, start)
        for start, state in enumerate(states)
        if is_accepting(network, state)
    )


def is_accepting(network: Network, state: State) -> bool:
    """Whether every component with acceptance accepts in `state`."""
    return all(
        component.accepting is None or bool(component.accepting[local])
        for component, local in zip(network.components, state, strict=True)
    )


def reaches(followers: list[set[int]], start: int, goal: int) -> bool:
    """Whether one or more transitions lead from `start` to `goal`."""
    todo = list(followers[start])
    seen = set(todo)
    while todo:
        state = todo.pop()
        if state == goal:
            return True
        todo += followers[state] - seen
        seen |= followers[state]
    return False


def _local_moves(component):
    """Map (state, label) to the list of targets, one entry per transition."""
    moves = {}
    for src, label, dst in component.transitions():
        moves.setdefault((src, label), []).append(dst)
    return moves


def _successors(network, moves, state):
    """Yield (action, target) for every composed transition that leaves `state`."""
    for number, action in enumerate(network.actions):
        who = action.participants
        choices = [moves[i].get((state[i], action.name), []) for i in who]
        for targets in product(*choices):
            successor = list(state)
            for i, target in zip(who, targets, strict=True):
                successor[i] = target
            yield number, tuple(successor)
