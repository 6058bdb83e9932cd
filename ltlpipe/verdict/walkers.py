"""The steps of each kind of system by the names that people and files know.

They are those of `ltlpipe.systems.plain_steps`, and for graphs the valuations of edges;
they are listed one by one, since one state may have very many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.lettering import valuations_in
from ltlpipe.question.graph import GraphQuestion
from ltlpipe.question.network import NetworkQuestion
from ltlpipe.systems.graph import unlabelled
from ltlpipe.systems.plain_steps import ModelSteps, Move, NetworkSteps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from ltlpipe.question.question import Question
    from ltlpipe.systems.plain_steps import NamedSteps, Wanted

    Holding = Callable[[int], tuple[str, ...]]


class Taken(NamedTuple):
    """One step out of a state."""

    action: int  # its number; of a graph Spot's of the edge; -1 repeats the state
    state: Any  # its target
    holds: tuple[str, ...]  # the propositions of the formula that hold
    letter: tuple[str, ...] = ()  # of a graph: all of its propositions that hold


class Walker:
    """Enumerates the steps of a network or model.

    `holding` returns the propositions of the formula that hold with a letter.
    """

    def __init__(self, steps: NamedSteps, holding: Holding) -> None:
        self._steps, self._holding = steps, holding
        self.values = steps.values  # what the entries of `shown` are called

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._steps.initial()

    def each_step(self, state: Any, wanted: Wanted = None) -> Iterator[Taken]:
        """Yield the steps of a state, some of them twice.

        `wanted` filters actions by their names.
        """
        for step in self._steps.each_step(state, wanted):
            yield Taken(step.action, step.state, self._holding(step.letter))

    def repeated(self, state: Any) -> Iterator[Taken]:
        """Yield the steps in which a state without others repeats itself."""
        yield self.along(state, -1, state)

    def array(self, states: Sequence[Any]) -> np.ndarray:
        """Return states as those of a `ltlpipe.systems.runs.Run`."""
        return self._steps.array(states)

    def is_dead(self, state: Any) -> bool:
        """Whether a state has no steps."""
        return next(self.each_step(state), None) is None

    def action_name(self, state: Any, taken: Taken) -> str:
        """Return the name of a step out of a state."""
        del state
        return self._steps.action_name(taken.action)

    def shown(self, state: Any) -> dict[str, Any]:
        """Return the components with their states, or the variables with values."""
        return self._steps.shown(state)

    def moves(self, state: Any, taken: Taken) -> tuple[Move, ...]:
        """Return the changes of a step out of a state."""
        return self._steps.moves(state, taken.action, taken.state)

    def along(self, state: Any, action: int, target: Any) -> Taken:
        """Return the step of a run between two states."""
        letter = self._steps.letter(state, action)
        return Taken(action, target, self._holding(letter))

    def lasso_letter(self, state: Any, taken: Taken) -> Any:
        """Return the letter of a step in prefix and cycle of a lasso."""
        if isinstance(self._steps, NetworkSteps):
            return self.action_name(state, taken)
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
        steps = self._steps
        return steps.accepting(state) if isinstance(steps, NetworkSteps) else ()


class GraphWalker(Walker):
    """A graph of Spot; its states are those of the graph.

    An edge is a step for each way in which the formula's propositions can hold.
    """

    def __init__(self, question: GraphQuestion) -> None:
        self.values = "graph"
        self._graph = question.system
        self._edges = unlabelled(question.system)
        self._known = question.known

    def initial(self) -> Any:
        """Return the state in which runs begin."""
        return self._graph.initial

    def each_step(self, state: Any, wanted: Wanted = None) -> Iterator[Taken]:
        """Yield the steps of a state."""
        graph, steps = self._graph, self._edges
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


def walker_of(question: Question, most_examined: int | None = None) -> Walker:
    """Return the walker of a question's system.

    Of a state of a model no more steps are looked at than `most_examined`.
    """
    if isinstance(question, GraphQuestion):
        return GraphWalker(question)
    if isinstance(question, NetworkQuestion):
        named = [(), *((name,) for name in question.actions)]
        steps = NetworkSteps(question.system, question.actions, limited=False)
        return Walker(steps, named.__getitem__)
    model: Any = question
    meanings = list(model.written.values())
    return Walker(
        ModelSteps(model.system, meanings, limited=False, most_examined=most_examined),
        holding_of(list(model.written)),
    )


def holding_of(propositions: Sequence[str]) -> Holding:
    """Return the function for those of some propositions that a letter, bits, has."""
    bits = [(1 << k, name) for k, name in enumerate(propositions)]
    return lambda letter: tuple(name for bit, name in bits if letter & bit)


def _edge_name(src: int, dst: int) -> str:
    return f"{src} -> {dst}"
