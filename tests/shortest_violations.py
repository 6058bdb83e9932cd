"""Shortest violations by brute force: all lassos of a system, least length first.

It shares no code with the package, but for the steps of models, which the interpreter
says.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import spot

from tests.oracles import compose, is_accepting, is_accepting_locally, satisfies
from tests.spot_graphs import as_automaton

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_PATHS = 30_000
"""Paths that are looked at; with more nothing is said."""


class Step(NamedTuple):
    """A step of a system."""

    letter: Any  # an action, or the propositions that hold
    marks: frozenset[int]
    dst: int


class System(NamedTuple):
    """A system whose states are numbers, 0 the initial one."""

    steps: list[list[Step]]
    accepts: Any  # whether a cycle with these marks does


def shorter_violation(system: System, formula: Any, bound: int) -> bool | None:
    """Whether a lasso of fewer than `bound` steps violates a formula of Spot.

    None if there are too many to say.
    """
    left, paths = MOST_PATHS, [[]]
    for _ in range(bound - 1):
        following = []
        for path in paths:
            states = [0, *(step.dst for step in path)]
            for step in system.steps[states[-1]]:
                left -= 1
                if left == 0:
                    return None
                following.append([*path, step])
                if _violates(system, formula, following[-1], states):
                    return True
        paths = following
    return False


def _violates(
    system: System, formula: Any, path: list[Step], states: list[int]
) -> bool:
    """Whether a path can be closed to a violation."""
    letters = [step.letter for step in path]
    return any(
        state == path[-1].dst
        and system.accepts(frozenset().union(*(step.marks for step in path[k:])))
        and not satisfies(formula, letters[:k], letters[k:])
        for k, state in enumerate(states)
    )


def network_system(network: Any, *, stutter: bool, together: bool = True) -> System:
    """A network; a deadlock repeats itself, by no action, where it may."""
    states, edges = compose(network)
    accepting = [k for k, c in enumerate(network.components) if c.accepting is not None]
    steps: list[list[Step]] = [[] for _ in states]

    def marks(state: tuple[int, ...]) -> frozenset[int]:
        if together:
            return frozenset([0] if is_accepting(network, state) else [])
        return frozenset(
            mark
            for mark, k in enumerate(accepting)
            if is_accepting_locally(network.components[k], state[k])
        )

    for src, number, dst in edges:
        action = network.actions[number]
        letter = None if action.internal else action.name
        steps[src].append(Step(letter, marks(states[src]), dst))
    for state, own in enumerate(steps):
        if not own and stutter:
            own.append(Step(None, marks(states[state]), state))
    wanted = frozenset([0] if together else range(len(accepting)))
    return System(steps, lambda seen: seen >= wanted)


def model_system(
    explored: tuple[list[Any], list[list[tuple[int, int]]]],
    holding: Callable[..., frozenset[str]],
    *,
    stutter: bool,
) -> System:
    """A model, by its states and steps, and by what holds in a step."""
    states, moves = explored
    steps = [
        [Step(holding(state, action, False), frozenset(), dst) for action, dst in own]
        for state, own in zip(states, moves, strict=True)
    ]
    for number, own in enumerate(steps):
        if not own and stutter:
            own.append(Step(holding(states[number], None, True), frozenset(), number))
    return System(steps, lambda _: True)


def graph_system(graph: Any, propositions: list[str]) -> System:
    """A graph of Spot: a step for each edge and each letter that it allows."""
    from spot import buddy

    automaton = as_automaton(graph)
    variables = {name: automaton.register_ap(name) for name in propositions}
    sets = chain.from_iterable(
        combinations(propositions, n) for n in range(len(propositions) + 1)
    )
    letters = []
    for held in sets:
        cube = buddy.bddtrue
        for name, variable in variables.items():
            literal = buddy.bdd_ithvar if name in held else buddy.bdd_nithvar
            cube &= literal(variable)
        letters.append((frozenset(held), cube))
    initial = automaton.get_init_state_number()
    number = [
        0 if s == initial else s + (s < initial) for s in range(automaton.num_states())
    ]
    steps: list[list[Step]] = [[] for _ in number]
    for edge in automaton.edges():
        marks = frozenset(edge.acc.sets())
        for letter, cube in letters:
            if (edge.cond & cube) != buddy.bddfalse:
                steps[number[edge.src]].append(Step(letter, marks, number[edge.dst]))
    acceptance = automaton.acc()
    return System(steps, lambda seen: acceptance.accepting(spot.mark_t(sorted(seen))))
