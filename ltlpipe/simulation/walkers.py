"""The steps of each kind of system, as a simulation shows them: by names.

They are those of the searches in plain Python (`ltlpipe.systems.views`), of the
interpreters of models, and of the edges of graphs; they are listed one by one, since
one state may have very many.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.lettering import valuations_in
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.network import NetworkQuestion
from ltlpipe.systems.graph import unlabelled
from ltlpipe.systems.views import NetworkView
from ltlpipe.verdict.lasso import STUTTER_NAME
from ltlpipe.verdict.model_replay import holding
from ltlpipe.verdict.steps import (
    Move,
    component_names,
    moves_of_components,
    moves_of_values,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ltlpipe.question.model import ModelQuestion
    from ltlpipe.question.question import Question

MOST_EXAMINED = 100_000
"""Limit on the steps of one state."""


class Taken(NamedTuple):
    """One step out of a state."""

    action: int  # its number; of a graph Spot's of the edge; -1 repeats the state
    state: Any  # its target
    holds: tuple[str, ...]  # the propositions of the formula that hold
    letter: tuple[str, ...] = ()  # of a graph: all of its propositions that hold


class Walker(ABC):
    """Enumerates the steps of a system.

    Attributes
    ----------
    values : str
        The entries of `shown`: "component" or "variable".
    """

    values = "variable"

    @abstractmethod
    def initial(self) -> Any:
        """Return the state in which runs begin."""

    @abstractmethod
    def each_step(
        self, state: Any, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[Taken]:
        """Yield the steps of a state, some of them twice.

        `wanted` filters actions by their names.
        """

    @abstractmethod
    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the steps in which a state without others repeats itself."""

    @abstractmethod
    def action_name(self, state: Any, taken: Taken) -> str:
        """Return the name of a step out of a state."""

    @abstractmethod
    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with their states, or the variables with values."""

    @abstractmethod
    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return the changes of a step out of a state."""

    @abstractmethod
    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the step of a run between two states."""

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return the letter of a step in prefix and cycle of a lasso."""
        del taken
        return self.shown(state)

    def fits(
        self,
        state: Any,
        taken: Taken,
        moves: tuple[Move, ...] | None,
        before: Mapping[str, Any] | None,
    ) -> bool:
        """Whether a step is one that a file tells of; None is anything."""
        if before is not None and self.shown(state) != before:
            return False
        return moves is None or self.moves(state, taken) == moves

    def accepting(self, state: Any) -> tuple[str, ...]:
        """Return the components that accept in a state, if some can."""
        del state
        return ()


class NetworkWalker(Walker):
    """A network; its states are tuples of local states."""

    values = "component"

    def __init__(self, question: NetworkQuestion) -> None:
        self._network = question.system
        self._view = NetworkView(question.system, limited=False)
        self._names = component_names(question.system)
        named = set(question.actions)
        self._holds = [
            (action.name,) if action.name in named and not action.internal else ()
            for action in question.system.actions
        ]

    def initial(self) -> Any:
        """Return the initial local states."""
        return self._view.initial()

    def each_step(
        self, state: Any, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[Taken]:
        """Yield the steps of a composed state."""
        actions = None
        if wanted is not None:
            known = enumerate(self._network.actions)
            actions = {k for k, action in known if wanted(action.name)}
        for step in self._view.each_step(state, actions):
            yield self.along(state, step.action, step.state)

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the step without an action."""
        yield self.along(state, -1, state)

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return the action."""
        del state
        number = taken.action
        return STUTTER_NAME if number < 0 else self._network.actions[number].name

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with the names of their states."""
        components = self._network.components
        return {
            name: component.state_name(local)
            for name, component, local in zip(
                self._names, components, state, strict=True
            )
        }

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return the components that take part."""
        return moves_of_components(
            self._network, self._names, taken.action, state, taken.state
        )

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the step of a run by an action."""
        del state
        return Taken(action, target, self._holds[action] if action >= 0 else ())

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return the action."""
        return self.action_name(state, taken)

    def accepting(self, state: Any) -> tuple[str, ...]:
        """Return the components that accept, of those that are Büchi automata."""
        return tuple(
            name
            for name, component, local in zip(
                self._names, self._network.components, state, strict=True
            )
            if component.accepting is not None and component.accepting[local]
        )


class ModelWalker(Walker):
    """A model; its states are valuations."""

    def __init__(self, question: ModelQuestion) -> None:
        self._model = question.system
        self._propositions = question.written

    def initial(self) -> Any:
        """Return the initial valuation."""
        return self._model.initial()

    def each_step(
        self, state: Any, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[Taken]:
        """Yield the steps of a valuation."""
        names = self._model.actions
        for step in islice(self._model.each_step(state), MOST_EXAMINED):
            if wanted is None or wanted(names[step.action]):
                yield self.along(state, step.action, step.state)

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the step in which nothing moves."""
        yield self.along(state, -1, state)

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return what moves."""
        del state
        return STUTTER_NAME if taken.action < 0 else self._model.actions[taken.action]

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the variables with their values."""
        return self._model.shown(state)

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return the processes that move, and the other variables that change."""
        old, new = self.shown(state), self.shown(taken.state)
        return moves_of_values(self._model, taken.action, old, new)

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the step of a run by an action."""
        return Taken(action, target, holding(self._propositions, state, action))


class GraphWalker(Walker):
    """A graph of Spot; its states are those of the graph.

    An edge is a step for each way in which the formula's propositions can hold.
    """

    values = "graph"

    def __init__(self, question: GraphQuestion) -> None:
        self._graph = question.system
        self._steps = unlabelled(question.system)
        self._known = question.known

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._graph.initial

    def each_step(
        self, state: Any, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[Taken]:
        """Yield the steps of a state."""
        graph, steps = self._graph, self._steps
        first, end = steps.first[state : state + 2].tolist()
        for edge, target in zip(
            steps.edge[first:end].tolist(), steps.dst[first:end].tolist(), strict=True
        ):
            if wanted is None or wanted(_edge_name(state, target)):
                number, place = int(graph.number[edge]), graph.label[edge]
                yield from self._letters(number, target, place)

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the steps by the valuations of a state, of a Kripke structure."""
        labels = self._graph.state_label
        if labels is not None and labels[state] >= 0:
            yield from self._letters(-1, state, labels[state])

    def _letters(self, number: int, target: int, place: int) -> Iterator[Taken]:
        graph = self._graph
        for names in valuations_in(graph.graph, graph.conditions[place], self._known):
            yield self._lettered(number, target, tuple(names))

    def _lettered(self, number: int, target: int, letter: tuple[str, ...]) -> Taken:
        holds = tuple(name for name in self._known if name in letter)
        return Taken(number, target, holds, letter)

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return both states."""
        return _edge_name(state, taken.state)

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the number of the state."""
        return {"state": str(state)}

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return both states."""
        return (Move("state", str(state), str(taken.state)),)

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the first step with these states."""
        steps = self.repeated(state) if action < 0 else self.each_step(state)
        return next(t for t in steps if (t.action, t.state) == (action, target))

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return which propositions of the graph hold."""
        del state
        return {name: name in taken.letter for name in self._graph.propositions}

    def fits(
        self,
        state: Any,
        taken: Taken,
        moves: tuple[Move, ...] | None,
        before: Mapping[str, Any] | None,
    ) -> bool:
        """Return whether the formula's propositions hold as a file records."""
        del state, moves
        if before is None:
            return True
        return all(bool(before.get(p)) == (p in taken.holds) for p in self._known)


def walker_of(question: Question) -> Walker:
    """Return the walker of a question's system."""
    if isinstance(question, NetworkQuestion):
        return NetworkWalker(question)
    if isinstance(question, GraphQuestion):
        return GraphWalker(question)
    return ModelWalker(question)  # type: ignore[arg-type]


def _edge_name(src: int, dst: int) -> str:
    return f"{src} -> {dst}"
