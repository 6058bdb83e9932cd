"""The steps of a state in plain Python, one class for each kind of system.

They serve the search in plain Python, simulation, and the confirmation of recorded
lassos; replays (`ltlpipe.verdict.replay`) share nothing with them.  A step has numbers,
for searches; its names, and those of states and moves, are for people.

The marks of fairness come behind those of the system; what both have to satisfy is
`condition`, None where each mark infinitely often is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from itertools import islice, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import generalised_buchi
from ltlpipe.automata.letters import OTHER
from ltlpipe.runtime.objects import Beside
from ltlpipe.systems.graph import SpotGraph, unlabelled
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.propositions.letters import Letters

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from ltlpipe.automata.conditions import Condition, Fairness
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.graph import Transitions
    from ltlpipe.systems.models import Model, Step, System
    from ltlpipe.systems.networks.lts import LTS

    Wanted = Callable[[str], bool] | None

MAX_TRANSITIONS = 50_000
"""Transitions of a component, or actions of a model, that are searched."""

MAX_STEPS = 10_000
"""Steps of one state that are listed for a search."""

MAX_VALUES = 1_000_000
"""Values of variables in all the states that one state of a model leads to."""

STUTTER_NAME = "<stutter>"
"""The name of the step in which a deadlocked state repeats itself."""


class TooLargeError(Exception):
    """The system is too large for plain Python."""


class PlainStep(NamedTuple):
    """One step of a system."""

    action: int  # its number; -1 where a state without successors repeats itself
    letter: int  # what the property sees of it
    marks: int  # the system's, as bits
    state: Hashable  # where it leads


class Move(NamedTuple):
    """Change of a component, a process or a variable in a step.

    Parameters
    ----------
    name : str
        The component, process or variable.
    before, after : str or int
        Its state, or value, before and after the step.
    """

    name: str
    before: Any  # the name of a state, or a value
    after: Any

    def __str__(self) -> str:
        return f"{self.name}: {self.before} -> {self.after}"


class PlainSteps(ABC):
    """The steps of a system.

    Attributes
    ----------
    cost : float
        Units of work of the steps of one state, however many.
    n_marks : int
        The marks of a step.
    condition : Condition or None
        What runs have to satisfy over these marks; None is each infinitely often.
    max_steps : int
        The steps of one state that `steps` lists.
    values : str
        What the entries of `shown` are called.
    dtype : type
        That of the rows of states.
    """

    cost = 1.0
    n_marks = 0
    condition: Condition | None = None
    max_steps = MAX_STEPS
    values = "variable"
    dtype: type = np.int32
    _fairness: Fairness | None = None

    def _add_marks(self, own: int, fairness: Fairness | None) -> None:
        """Have `own` marks of the system, and those of fairness behind them."""
        self.n_marks = self._n_own = own
        if fairness is None:
            return
        self.n_marks += fairness.n_marks
        self.condition = generalised_buchi(own) & fairness.condition.renumbered(
            lambda mark: mark + own
        )
        self._fairness = fairness
        # The last entry, for the action -1, is that of a state that repeats itself.
        self._enabled = [*fairness.enabled.tolist(), 0]
        self._taken = [*fairness.taken.tolist(), 0]

    @abstractmethod
    def initial(self) -> Any:
        """Return the state in which runs begin."""

    @abstractmethod
    def each_step(self, state: Any, wanted: Wanted = None) -> Iterator[PlainStep]:
        """Yield the steps of a state one by one: they may be very many.

        They have the marks of the system, and not those of fairness.  `wanted` says of
        which actions, by their names.
        """

    def steps(self, state: Any) -> list[PlainStep]:
        """Return the steps of a state, with all marks.

        Raises
        ------
        TooLargeError
            They are more than `max_steps`.
        """
        steps = list(islice(self.each_step(state), self.max_steps + 1))
        if len(steps) > self.max_steps:
            raise TooLargeError
        return self._marked(steps)

    def repeated(self, state: Any) -> PlainStep:
        """Return the step in which a state without others repeats itself."""
        step = PlainStep(-1, self.letter(state, -1), self._own_marks(state), state)
        return self._marked([step])[0]

    def array(self, states: Sequence[Any]) -> np.ndarray:
        """Return states as those of a `Run`: rows."""
        rows: np.ndarray = np.array(states, dtype=self.dtype)
        return rows[:, None] if rows.ndim == 1 else rows

    def letter(self, state: Any, action: int) -> int:  # noqa: ARG002 (for some)
        """Return the letter of a step out of a state."""
        return OTHER

    def _own_marks(self, state: Any) -> int:  # noqa: ARG002 (for some)
        """Return the marks of the system that the steps of a state have."""
        return 0

    def _marked(self, steps: list[PlainStep]) -> list[PlainStep]:
        """Return the steps of one state with the marks of fairness, too."""
        if self._fairness is None:
            return steps
        enabled = 0
        for step in steps:
            enabled |= self._enabled[step.action]
        marks = self._fairness.idle ^ enabled
        return [
            step._replace(
                marks=step.marks | (marks | self._taken[step.action]) << self._n_own
            )
            for step in steps
        ]


class NamedSteps(PlainSteps):
    """Steps of a system whose actions and states have names for people."""

    @abstractmethod
    def each_step(
        self,
        state: Any,
        wanted: Wanted = None,
        moves: Sequence[Move] | None = None,
    ) -> Iterator[PlainStep]:
        """Do what `PlainSteps.each_step` says; `moves` are of the steps that matter.

        Others may be left out, of which there can be very many.
        """

    @abstractmethod
    def action_name(self, action: int) -> str:
        """Return the name of an action."""

    @abstractmethod
    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with their states, or the variables with values."""

    @abstractmethod
    def moves(self, src: Any, action: int, dst: Any) -> tuple[Move, ...]:
        """Return the changes of a step between two states."""


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


class NetworkSteps(NamedSteps):
    """The steps of a network; its states are tuples of local states.

    Letters 1, 2, ... stand for the `actions` that are named; all others have the letter
    OTHER, and a state that repeats itself has the letter `repeated`.  If components
    that accept have to do so `together`, in the same state, that
    is one mark; else each accepting component has a mark of its own.

    Raises
    ------
    TooLargeError
        It is `limited`, and a component has more than `MAX_TRANSITIONS` transitions.
    """

    values = "component"

    def __init__(
        self,
        network: Network,
        actions: Sequence[str] = (),
        *,
        together: bool = True,
        fairness: Fairness | None = None,
        limited: bool = True,
        repeated: int = OTHER,
    ) -> None:
        components = network.components
        if limited and any(c.n_transitions > MAX_TRANSITIONS for c in components):
            raise TooLargeError
        self._letters = {
            network.action_index[name]: letter
            for letter, name in enumerate(actions, start=OTHER + 1)
            if name in network.action_index
        }
        self._letters[-1] = repeated
        self._network = network
        self._known: list[dict[int, _Offer]] = [{} for _ in components]
        self._sorted: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._names = component_names(network)
        self._groups = network.accepting_groups(together=together)
        self._add_marks(len(self._groups), fairness)
        self.cost = 2.2 + 0.6 * len(components)

    def initial(self) -> Any:
        """Return the initial local states."""
        return tuple(component.initial for component in self._network.components)

    def each_step(
        self,
        state: Any,
        wanted: Wanted = None,
        moves: Sequence[Move] | None = None,
    ) -> Iterator[PlainStep]:
        """Yield the steps of a composed state; of those with other moves none."""
        told = None if moves is None else {move.name: move.after for move in moves}
        offers = self._offers(state)
        marks = self._marks(offers)
        for owner, offer in enumerate(offers):
            for lead in offer.leads:
                if wanted is not None and not wanted(self.action_name(lead.action)):
                    continue
                choices = [lead.targets]
                for i in lead.others:
                    theirs = offers[i].targets.get(lead.action)
                    if theirs is None:
                        break
                    choices.append(theirs)
                else:
                    if told is not None:
                        owners = owner, *lead.others
                        choices = [
                            [t for t in targets if self._leads(i, t, told)]
                            for i, targets in zip(owners, choices, strict=True)
                        ]
                    yield from _taken(state, owner, lead, choices, marks)

    def _leads(self, number: int, target: int, told: Mapping[str, Any]) -> bool:
        """Whether a component moves as it is told, by its name."""
        name = self._network.components[number].state_name(target)
        return told.get(self._names[number]) == name

    def letter(self, state: Any, action: int) -> int:
        """Return the letter of an action."""
        del state
        return self._letters.get(action, OTHER)

    def action_name(self, action: int) -> str:
        """Return the name of an action."""
        return STUTTER_NAME if action < 0 else self._network.actions[action].name

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with the names of their states."""
        return {name: lts.state_name(local) for name, lts, local in self._parts(state)}

    def moves(self, src: Any, action: int, dst: Any) -> tuple[Move, ...]:
        """Return the components that take part; in a stuttering step none does."""
        if action < 0:
            return ()
        components = self._network.components
        return tuple(
            Move(self._names[i], *(components[i].state_name(s[i]) for s in (src, dst)))
            for i in self._network.actions[action].participants
        )

    def accepting(self, state: Any) -> tuple[str, ...]:
        """Return the components that accept, of those that are Büchi automata."""
        return tuple(
            name
            for name, lts, local in self._parts(state)
            if lts.accepting is not None and lts.accepting[local]
        )

    def _parts(self, state: Any) -> Iterator[tuple[str, LTS, int]]:
        return zip(self._names, self._network.components, state, strict=True)

    def _offers(self, state: Any) -> list[_Offer]:
        return [
            known.get(local) or self._offer(number, local)
            for number, (known, local) in enumerate(
                zip(self._known, state, strict=True)
            )
        ]

    def _offer(self, number: int, local: int) -> _Offer:
        """Return what a component offers in a state, and keep it."""
        lts, actions = self._network.components[number], self._network.actions
        if number not in self._sorted:
            order = np.argsort(lts.src, kind="stable")
            self._sorted[number] = order, lts.src[order]
        order, sources = self._sorted[number]
        first, end = np.searchsorted(sources, (local, local + 1)).tolist()
        edges = order[first:end]
        targets: dict[int, list[int]] = {}
        leads = []
        for label, dst in zip(lts.label[edges], lts.dst[edges].tolist(), strict=True):
            action = self._network.label_actions[number][label]
            if action not in targets:
                targets[action] = []
                owner, *others = actions[action].participants
                if owner == number:
                    letter = self._letters.get(action, OTHER)
                    leads.append(_Lead(action, letter, tuple(others), targets[action]))
            targets[action].append(dst)
        accepting = lts.accepting is None or bool(lts.accepting[local])
        offer = self._known[number][local] = _Offer(leads, targets, accepting)
        return offer

    def _own_marks(self, state: Any) -> int:
        return self._marks(self._offers(state))

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
    for targets in product(*choices):
        successor = list(state)
        for i, target in zip((owner, *lead.others), targets, strict=True):
            successor[i] = target
        yield PlainStep(lead.action, lead.letter, marks, tuple(successor))


class _Known(dict[Any, "list[Step]"]):
    """The steps of some states of a model."""

    n_values = 0  # of these states, and of those to which their steps lead


_KNOWN: Beside[_Known] = Beside(_Known)
"""For each model the steps of states: several questions ask for them."""

_MOST_KNOWN = 1_000_000  # values, some 20 MB of each model


class ModelSteps(NamedSteps):
    """The steps of a model; its states are valuations.

    Letters are sets of the bound `propositions`, as bits.

    Raises
    ------
    TooLargeError
        It is `limited`, and has more than `MAX_TRANSITIONS` actions.
    """

    dtype = np.int64

    def __init__(
        self,
        model: Model,
        propositions: Sequence[Expression] = (),
        *,
        fairness: Fairness | None = None,
        limited: bool = True,
        most_examined: int | None = None,
    ) -> None:
        if limited and model.n_actions > MAX_TRANSITIONS:
            raise TooLargeError
        self._model = model
        self._most_examined = most_examined  # steps of one state
        self.max_steps = min(MAX_STEPS, MAX_VALUES // max(len(model.variables), 1))
        self._known = _KNOWN.of(model)
        self._letters = Letters(propositions)
        self._add_marks(0, fairness)
        self.cost = 5.0 + 0.5 * model.n_actions + 2.0 * len(propositions)

    def initial(self) -> Any:
        """Return the valuation in which runs begin."""
        return tuple(self._model.initial())

    def steps(self, state: Any) -> list[PlainStep]:
        """Return the steps of a state, with all marks; see `PlainSteps.steps`."""
        found = self._known.get(state)
        if found is None:
            each = self._model.each_step_of_search(state)
            found = list(islice(each, self.max_steps + 1))
            if len(found) > self.max_steps:
                raise TooLargeError
            n_values = (len(found) + 1) * len(state)
            if self._known.n_values + n_values <= _MOST_KNOWN:
                self._known[state] = found
                self._known.n_values += n_values
        letters = self._letters
        held = letters.of_state(state)
        return self._marked(
            [
                PlainStep(action, held | letters.of_step(state, action), 0, target)
                for action, target in found[: self._most_examined]
            ]
        )

    def each_step(
        self,
        state: Any,
        wanted: Wanted = None,
        moves: Sequence[Move] | None = None,
    ) -> Iterator[PlainStep]:
        """Yield the steps of a valuation, whatever their moves are."""
        del moves
        letters = self._letters
        held = letters.of_state(state)
        for action, target in islice(self._model.each_step(state), self._most_examined):
            if wanted is None or wanted(self._model.actions[action]):
                letter = held | letters.of_step(state, action)
                yield PlainStep(action, letter, 0, target)

    def letter(self, state: Any, action: int) -> int:
        """Return the propositions that hold at a step, as bits."""
        return self._letters.of(state, action)

    def action_name(self, action: int) -> str:
        """Return the name of an action."""
        return STUTTER_NAME if action < 0 else self._model.actions[action]

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the variables with their values."""
        return self._model.shown(state)

    def moves(self, src: Any, action: int, dst: Any) -> tuple[Move, ...]:
        """Return the processes that move, and the other variables that change."""
        old, new = self.shown(src), self.shown(dst)
        movers = self._model.movers(action) if action >= 0 else ()
        stay = {process: (old[process], old[process]) for process in movers}
        return moves_of_values(stay | changed_values(old, new))


class GraphSteps(PlainSteps):
    """The steps of a graph of Spot for one property; its states are those of the graph.

    Without a property (`steps`) all have the same letter.  Its marks and its condition
    are those of the graph, unless letters tell its marks (`accepts` is false).
    """

    cost = 3.0

    def __init__(
        self,
        graph: SpotGraph,
        steps: Transitions | None = None,
        *,
        accepts: bool = True,
    ) -> None:
        self._graph = graph
        self._transitions = unlabelled(graph) if steps is None else steps
        self.n_marks = graph.n_marks if accepts else 0
        self.condition = graph.condition if accepts else None

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._graph.initial

    def each_step(self, state: Any, wanted: Wanted = None) -> Iterator[PlainStep]:
        """Yield the steps of a state; they have no names."""
        assert wanted is None
        first, end = self._transitions.first[state : state + 2].tolist()
        _, dst, letter, marks, _ = self._transitions
        columns = (column[first:end].tolist() for column in (letter, marks, dst))
        for action, about in enumerate(zip(*columns, strict=True), start=first):
            yield PlainStep(action, *about)


def plain_steps_of(system: System, *, limited: bool = True) -> PlainSteps:
    """Return the steps of a system without a property.

    Raises
    ------
    TooLargeError
        The system is, and that is `limited`.
    """
    if isinstance(system, SpotGraph):
        return GraphSteps(system)
    return named_steps_of(system, limited=limited)


def named_steps_of(system: Network | Model, *, limited: bool = False) -> NamedSteps:
    """Return the steps of a network or model without a property."""
    if isinstance(system, Network):
        return NetworkSteps(system, limited=limited)
    return ModelSteps(system, limited=limited)


def changed_values(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, tuple[Any, Any]]:
    """Return the variables that differ, with both values; missing ones are 0."""
    return {
        name: (old.get(name, 0), new.get(name, 0))
        for name in {**old, **new}
        if old.get(name, 0) != new.get(name, 0)
    }


def moves_of_values(values: Mapping[str, tuple[Any, Any]]) -> tuple[Move, ...]:
    """Return variables, each with two values, as moves."""
    return tuple(Move(name, *pair) for name, pair in values.items())


def component_names(network: Network) -> list[str]:
    """Return the names of the components; numbers distinguish equal names."""
    given = [component.name for component in network.components]
    times = Counter(given)
    taken = {name for name in given if times[name] == 1}
    names = []
    for number, name in enumerate(given, start=1):
        if not name or times[name] > 1:
            name = f"{name or 'component'} {number}"
            while name in taken:  # another is called so
                name += "'"
            taken.add(name)
        names.append(name)
    return names
