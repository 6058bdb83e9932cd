"""Networks and models as a search in plain Python sees them.

Both put the marks of fairness behind those of the system; what these have to satisfy is
their `condition`, None where each mark infinitely often is.
"""

from __future__ import annotations

from itertools import islice, product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.automata.letters import OTHER
from ltlpipe.systems.propositions.letters import Letters

if TYPE_CHECKING:
    from collections.abc import Container, Hashable, Iterator, Sequence

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.automata.fairness import Fairness
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.graph import SpotGraph, Transitions
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.networks.lts import Network

MAX_TRANSITIONS = 50_000
"""Transitions of a component, or actions of a model, for which there is a view."""

MAX_STEPS = 10_000
"""Steps of one state."""

MAX_VALUES = 1_000_000
"""Values of variables in all the states that one state of a model leads to."""


class TooLargeError(Exception):
    """A system is none for plain Python: what it has cannot be listed quickly."""


class PlainStep(NamedTuple):
    """One step of a system."""

    action: int  # its number; -1 where a state without successors repeats itself
    letter: int  # what the property sees of it
    marks: int  # the system's, as bits
    state: Hashable  # where it leads


class _Fair:
    """Adds the marks of fairness, shifted behind the system's own."""

    def __init__(self, fairness: Fairness | None, own_marks: int) -> None:
        self.condition: Condition | None = None
        self.n_marks = own_marks
        self._idle = 0
        self._tables: tuple[list[int], list[int]] | None = None
        if fairness is None:
            return
        self._shift = own_marks
        self.n_marks += fairness.n_marks
        self.condition = generalised_buchi(own_marks) & fairness.condition.renumbered(
            lambda mark: mark + own_marks
        )
        self._idle = fairness.idle
        # The last entry, for the action -1, is that of a state that repeats itself.
        self._tables = [*fairness.enabled.tolist(), 0], [*fairness.taken.tolist(), 0]

    def marked(self, steps: list[PlainStep]) -> list[PlainStep]:
        """Return the steps of one state with the marks of fairness, too."""
        if self._tables is None:
            return steps
        of_enabled, of_taken = self._tables
        enabled = 0
        for step in steps:
            enabled |= of_enabled[step.action]
        marks = self._idle ^ enabled
        return [
            step._replace(
                marks=step.marks | (marks | of_taken[step.action]) << self._shift
            )
            for step in steps
        ]


class _Lead(NamedTuple):
    """An action of which a component is the first participant."""

    action: int
    letter: int
    others: tuple[int, ...]  # the other participants
    targets: list[int]  # where it leads in the component itself


class _Offer(NamedTuple):
    """What a component offers in one of its states."""

    leads: list[_Lead]
    targets: dict[int, list[int]]  # where each action leads
    accepting: bool


class _Component:
    """One component; its states are looked up when they are first met."""

    def __init__(
        self,
        number: int,
        network: Network,
        internal: dict[str, int],
        letters: dict[int, int],
    ) -> None:
        lts = network.components[number]
        self._number, self._lts, self._letters = number, lts, letters
        self._actions, self._shared = network.actions, network.action_index
        self._internal = internal
        self._order = np.argsort(lts.src, kind="stable")
        self._sources = lts.src[self._order]
        self.offers: dict[int, _Offer] = {}

    def offer(self, local: int) -> _Offer:
        """Return what it offers in a state, and keep it in `offers`."""
        lts = self._lts
        first, end = np.searchsorted(self._sources, (local, local + 1)).tolist()
        edges = self._order[first:end]
        targets: dict[int, list[int]] = {}
        leads = []
        for label, dst in zip(
            lts.label[edges].tolist(), lts.dst[edges].tolist(), strict=True
        ):
            name = lts.labels[label]
            inside = name in lts.internal
            action = self._internal[name] if inside else self._shared[name]
            if action not in targets:
                targets[action] = []
                participants = self._actions[action].participants
                if participants[0] == self._number:
                    letter, others = self._letters.get(action, OTHER), participants[1:]
                    leads.append(_Lead(action, letter, others, targets[action]))
            targets[action].append(dst)
        accepting = lts.accepting is None or bool(lts.accepting[local])
        offer = self.offers[local] = _Offer(leads, targets, accepting)
        return offer


class NetworkView:
    """A network; its states are tuples of local states.

    Letters 1, 2, ... stand for the `actions` that are named; all others have the letter
    OTHER.  If components that accept have to do so `together`, in the same state, that
    is one mark; else each accepting component has a mark of its own.  Steps have
    `n_marks`, over which runs have to satisfy `condition`; None is each infinitely
    often.

    Raises
    ------
    TooLargeError
        It is `limited`, and a component has more than `MAX_TRANSITIONS` transitions.
    """

    def __init__(
        self,
        network: Network,
        actions: Sequence[str] = (),
        *,
        together: bool = True,
        fairness: Fairness | None = None,
        limited: bool = True,
    ) -> None:
        components = network.components
        if limited and any(c.n_transitions > MAX_TRANSITIONS for c in components):
            raise TooLargeError
        internal: list[dict[str, int]] = [{} for _ in components]
        if any(component.internal for component in components):
            for number, action in enumerate(network.actions):
                if action.internal:
                    internal[action.participants[0]][action.name] = number
        letters = {
            network.action_index[name]: letter
            for letter, name in enumerate(actions, start=OTHER + 1)
        }
        self._components = [
            _Component(i, network, internal[i], letters) for i in range(len(components))
        ]
        self._initial = tuple(component.initial for component in components)
        self._groups = network.accepting_groups(together=together)
        self._fair = _Fair(fairness, len(self._groups))
        self.n_marks = self._fair.n_marks
        self.condition = self._fair.condition
        self.cost = 2.2 + 0.6 * len(components)

    def initial(self) -> Hashable:
        """Return the initial local states."""
        return self._initial

    def steps(self, state: Any) -> list[PlainStep]:
        """Return the steps of a composed state.

        Raises
        ------
        TooLargeError
            They are more than `MAX_STEPS`.
        """
        offers = self._offers(state)
        marks = self._marks(offers) if self._groups else 0
        steps: list[PlainStep] = []
        for owner, lead, choices in self._enabled(offers):
            if len(choices) > 1 and len(steps) + prod(map(len, choices)) > MAX_STEPS:
                raise TooLargeError
            steps += _taken(state, owner, lead, choices, marks)
        if len(steps) > MAX_STEPS:
            raise TooLargeError
        return self._fair.marked(steps)

    def each_step(
        self, state: Any, wanted: Container[int] | None = None
    ) -> Iterator[PlainStep]:
        """Yield the steps of a composed state one by one: they may be very many.

        They have no marks.  If some actions are `wanted`, no others are looked at.
        """
        for owner, lead, choices in self._enabled(self._offers(state)):
            if wanted is None or lead.action in wanted:
                yield from _taken(state, owner, lead, choices, 0)

    def repeated(self, state: Any) -> PlainStep:
        """Return the step in which a state repeats itself: as by an unnamed action."""
        offers = self._offers(state)
        return self._fair.marked([PlainStep(-1, OTHER, self._marks(offers), state)])[0]

    def _enabled(
        self, offers: list[_Offer]
    ) -> Iterator[tuple[int, _Lead, list[list[int]]]]:
        """Yield the actions that all participants offer.

        Each with its first participant, and where it leads in each of them.
        """
        for owner, offer in enumerate(offers):
            for lead in offer.leads:
                choices = [lead.targets]
                for i in lead.others:
                    theirs = offers[i].targets.get(lead.action)
                    if theirs is None:
                        break
                    choices.append(theirs)
                else:
                    yield owner, lead, choices

    def _offers(self, state: Any) -> list[_Offer]:
        return [
            c.offers.get(s) or c.offer(s)
            for c, s in zip(self._components, state, strict=True)
        ]

    def _marks(self, offers: list[_Offer]) -> int:
        """Return the marks of the steps that leave a state: who accepts there."""
        return sum(
            1 << mark
            for mark, group in enumerate(self._groups)
            if all(offers[i].accepting for i in group)
        )


def _taken(
    state: Any, owner: int, lead: _Lead, choices: list[list[int]], marks: int
) -> Iterator[PlainStep]:
    """Yield the steps by an action whose participants have some targets each."""
    action, letter, others, own = lead
    if not others:
        head, tail = state[:owner], state[owner + 1 :]
        for target in own:
            yield PlainStep(action, letter, marks, (*head, target, *tail))
        return
    for targets in product(*choices):
        successor = list(state)
        successor[owner] = targets[0]
        for i, target in zip(others, targets[1:], strict=True):
            successor[i] = target
        yield PlainStep(action, letter, marks, tuple(successor))


class ModelView:
    """A model; its states are valuations.

    Letters are sets of the bound `propositions`, as bits; `n_marks` and `condition` are
    those of `NetworkView`.

    Raises
    ------
    TooLargeError
        It has more than `MAX_TRANSITIONS` actions.
    """

    def __init__(
        self,
        model: Model,
        propositions: Sequence[Expression],
        *,
        fairness: Fairness | None = None,
    ) -> None:
        if model.n_actions > MAX_TRANSITIONS:
            raise TooLargeError
        self._model = model
        self._max_steps = min(MAX_STEPS, MAX_VALUES // max(len(model.variables), 1))
        self._letters = Letters(propositions)
        self._fair = _Fair(fairness, 0)
        self.n_marks = self._fair.n_marks
        self.condition = self._fair.condition
        self.cost = 5.0 + 0.5 * model.n_actions + 2.0 * len(propositions)

    def initial(self) -> Hashable:
        """Return the valuation in which runs begin."""
        return self._model.initial()

    def steps(self, state: Any) -> list[PlainStep]:
        """Return the steps of a valuation.

        Raises
        ------
        TooLargeError
            They are more than `MAX_STEPS`, or have more than `MAX_VALUES` values.
        """
        letters = self._letters
        held = letters.of_state(state)
        steps = [
            PlainStep(
                step.action, held | letters.of_step(state, step.action), 0, step.state
            )
            for step in islice(self._model.each_step(state), self._max_steps + 1)
        ]
        if len(steps) > self._max_steps:
            raise TooLargeError
        return self._fair.marked(steps)

    def repeated(self, state: Any) -> PlainStep:
        """Return the step in which a valuation without steps repeats itself."""
        letter = self._letters.of(state, -1)
        return self._fair.marked([PlainStep(-1, letter, 0, state)])[0]


class GraphView:
    """A graph of Spot; its states are those of the graph.

    The steps are those for one property.  `n_marks` and `condition` are those of the
    graph, unless letters tell its marks (`accepts` is false).
    """

    cost = 3.0

    def __init__(
        self, graph: SpotGraph, steps: Transitions, *, accepts: bool = True
    ) -> None:
        self._graph, self._transitions = graph, steps
        self.n_marks = graph.n_marks if accepts else 0
        self.condition = graph.condition if accepts else None

    def initial(self) -> Hashable:
        """Return the state in which runs begin."""
        return self._graph.initial

    def steps(self, state: Any) -> list[PlainStep]:
        """Return the steps of a state.

        Raises
        ------
        TooLargeError
            They are more than `MAX_STEPS`.
        """
        first, end = self._transitions.first[state : state + 2].tolist()
        if end - first > MAX_STEPS:
            raise TooLargeError
        _, dst, letter, marks, _ = self._transitions
        own = slice(first, end)
        return [
            PlainStep(*step)
            for step in zip(
                range(first, end),
                letter[own].tolist(),
                marks[own].tolist(),
                dst[own].tolist(),
                strict=True,
            )
        ]

    def repeated(self, state: Any) -> PlainStep:
        """Return the step in which a state repeats itself."""
        return PlainStep(-1, OTHER, 0, state)
