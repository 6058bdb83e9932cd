"""What the actions of a model read and write, and what they do to a part of a state.

An action that concerns one leaf and the centre is divided: the centre makes an *offer*
(what the leaf has to know of it), the leaf answers with a *relation* (what becomes of
the centre) and its own next local state.  For DVE models an offer is the values of the
centre's variables that the action reads, a relation these and the values that it
writes.  In a net no value is exchanged: either side has the tokens that are taken from
it, or not.

Local states are tuples of values, in the order of a part's variables.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.components.progress import ITEMS, counting
from ltlpipe.por.processes import accesses, expressions
from ltlpipe.systems.programs.expressions import Element
from ltlpipe.systems.programs.interpreting import Interpreter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.net import PetriNet
    from ltlpipe.systems.nets.structure import Transition
    from ltlpipe.systems.programs.model import DveModel
    from ltlpipe.systems.programs.program import Action

_ACTIONS_AT_ONCE = 1 << 8
_ACTION_WORK = 20

Values = tuple[int, ...]
"""The local state of a part, or some of its values."""

Pairs = tuple[tuple[int, int], ...]
"""Places in a local state, with values."""


Inside: TypeAlias = "Callable[[Values], Values | None]"
"""Where an action leads in a part from a local state of it; None if not enabled."""


class Relation(NamedTuple):
    """What an action does to the centre: what has to be there, what comes of it."""

    needed: Pairs
    changed: Pairs


class Divided(ABC):
    """An action as the centre and one leaf see it."""

    @abstractmethod
    def offer(self, centre: Values) -> Values | None:
        """Return what the leaf sees of the centre, None if that forbids the action."""

    @abstractmethod
    def answer(self, leaf: Values, offer: Values) -> tuple[Relation, Values] | None:
        """Return what becomes of the centre and of the leaf; None if not enabled."""


class Footprints(ABC):
    """The actions of a model.

    Attributes
    ----------
    initial : tuple of int
        The first valuation.
    touched : list of frozenset of int
        The variables that each action reads or writes.
    units : list of tuple of int
        Variables that belong together: those of a process, or a single one.
    fixed : frozenset of int
        Variables that have to belong to the centre.
    """

    initial: Valuation
    touched: list[frozenset[int]]
    units: list[tuple[int, ...]]
    fixed: frozenset[int] = frozenset()

    @cached_property
    def unit_of(self) -> dict[int, int]:
        """The number of each variable's unit."""
        return {v: number for number, unit in enumerate(self.units) for v in unit}

    @abstractmethod
    def within(self, action: int, part: Sequence[int]) -> Inside:
        """Return what an action does that touches no variables but those of a part."""

    @abstractmethod
    def divided(
        self, action: int, centre: Sequence[int], leaf: Sequence[int]
    ) -> Divided:
        """Return an action that touches variables of the centre and of one leaf."""

    @abstractmethod
    def moved(
        self, centre: Values, part: Sequence[int], relation: Relation
    ) -> Values | None:
        """Return what a relation, whose needs are met, makes of the centre.

        None if the model has no such state.
        """

    @abstractmethod
    def is_halted(self, part: Sequence[int], centre: Values) -> bool:
        """Whether no action can be taken, whatever the leaves are like.

        No other method is asked about such a state of the centre.
        """


class ProgramFootprints(Footprints):
    """The actions of an asynchronous DVE model without committed states.

    Use `of_program`.
    """

    def __init__(self, model: DveModel) -> None:
        self._program = model.program
        self._failing = model.ranges.failing
        self._interpreter = Interpreter(model.program)
        self.initial = model.initial()
        self.fixed = frozenset([self._program.error])
        self.reads: list[frozenset[int]] = []
        self.writes: list[frozenset[int]] = []

    def fill(self) -> Job[None]:
        """Compute what the actions touch."""
        program = self._program
        for number, action in enumerate(program.actions):
            self._add(action)
            if number % _ACTIONS_AT_ONCE == 0:
                yield counting(_ACTION_WORK * _ACTIONS_AT_ONCE)
        written = frozenset().union(*self.writes)
        self.reads = [reads & written for reads in self.reads]
        pairs = zip(self.reads, self.writes, strict=True)
        self.touched = [reads | writes for reads, writes in pairs]
        processes = [(p.state, *p.variables) for p in program.processes]
        known = {variable for unit in processes for variable in unit}
        others = [(v,) for v in range(len(self.initial)) if v not in known]
        units = [tuple(v for v in unit if v in written) for unit in processes + others]
        self.units = [unit for unit in units if unit]

    def _add(self, action: Action) -> None:
        """Compute what an action reads and writes.

        What it may leave as it is counts as read: elements of an array, where the index
        is known in a state only, and whether a step has failed.
        """
        program = self._program
        reads: set[int] = set()
        writes: set[int] = set()
        for transition in action.transitions:
            state = program.processes[transition.process].state
            found = accesses(program, transition)
            reads |= {state} | {atom.variable for atom in found.reads}
            writes |= {state} | {atom.variable for atom in found.writes}
            targets = [effect.target for effect in transition.effects]
            message = transition.message
            if message is not None and not message.sends:
                targets += message.values  # type: ignore[arg-type]
            for target in targets:
                if isinstance(target, Element):
                    reads |= set(range(target.first, target.first + target.size))
            if any(part in self._failing for part in expressions(transition)):
                reads.add(program.error)
                writes.add(program.error)
        self.reads.append(frozenset(reads))
        self.writes.append(frozenset(writes))

    def within(self, action: int, part: Sequence[int]) -> Inside:
        """Return what an action does within a part; see `Footprints`."""
        template = list(self.initial)  # other variables do not matter

        def step(local: Values) -> Values | None:
            for variable, value in zip(part, local, strict=True):
                template[variable] = value
            target = self.target(action, template)
            return None if target is None else tuple(target[v] for v in part)

        return step

    def target(self, action: int, state: Sequence[int]) -> Valuation | None:
        """Return where an action leads from a state in which no step has failed."""
        moving = self._program.actions[action]
        return self._interpreter.target(moving, tuple(state))

    def sources(self, action: int) -> dict[int, int]:
        """Return the state in which each process has to be that moves."""
        processes = self._program.processes
        moving = self._program.actions[action].transitions
        return {processes[t.process].state: t.source for t in moving}

    def divided(
        self, action: int, centre: Sequence[int], leaf: Sequence[int]
    ) -> Divided:
        """Return an action as the centre and one leaf see it."""
        return _DividedStep(self, action, centre, leaf)

    def moved(
        self,
        centre: Values,
        part: Sequence[int],  # noqa: ARG002
        relation: Relation,
    ) -> Values | None:
        """Return what a relation makes of the centre: it assigns values."""
        values = list(centre)
        for place, value in relation.changed:
            values[place] = value
        return tuple(values)

    def is_halted(self, part: Sequence[int], centre: Values) -> bool:
        """Whether a step has failed: then nothing moves any more."""
        return part[-1:] == (self._program.error,) and centre[-1] != 0


def of_program(model: DveModel) -> Job[ProgramFootprints]:
    """Return the footprints of the actions of a DVE model."""
    footprints = ProgramFootprints(model)
    yield from footprints.fill()
    return footprints


class _DividedStep(Divided):
    """An action of a DVE model."""

    def __init__(
        self,
        footprints: ProgramFootprints,
        action: int,
        centre: Sequence[int],
        leaf: Sequence[int],
    ) -> None:
        self._target, self._action = footprints.target, action
        self._error = len(footprints.initial) - 1
        self._leaf = leaf
        self._template = list(footprints.initial)  # other variables do not matter
        reads, writes = footprints.reads[action], footprints.writes[action]
        self._read = [(k, v) for k, v in enumerate(centre) if v in reads]
        self._written = [(k, v) for k, v in enumerate(centre) if v in writes]
        sources = footprints.sources(action)
        self._there = [(k, sources[v]) for k, v in enumerate(centre) if v in sources]
        self._here = [(k, sources[v]) for k, v in enumerate(leaf) if v in sources]

    def offer(self, centre: Values) -> Values | None:
        """Return the values of the centre's variables that the action reads."""
        if any(centre[k] != source for k, source in self._there):
            return None
        return tuple(centre[k] for k, _ in self._read)

    def answer(self, leaf: Values, offer: Values) -> tuple[Relation, Values] | None:
        """Return the values read and written in the centre, and the leaf's own."""
        if any(leaf[k] != source for k, source in self._here):
            return None
        state = self._template
        for variable, value in zip(self._leaf, leaf, strict=True):
            state[variable] = value
        for (_, variable), value in zip(self._read, offer, strict=True):
            state[variable] = value
        target = self._target(self._action, state)
        if target is None:
            return None
        needed = tuple((k, v) for (k, _), v in zip(self._read, offer, strict=True))
        written = self._written
        if target[self._error]:  # a step that fails writes nothing else
            written = [(k, v) for k, v in written if v == self._error]
        changed = tuple((k, target[v]) for k, v in written)
        return Relation(needed, changed), tuple(target[v] for v in self._leaf)


class NetFootprints(Footprints):
    """The transitions of a net; those that take nothing and put nothing included.

    Use `of_net`.
    """

    def __init__(self, net: PetriNet) -> None:
        self.net = net
        self.initial = net.initial()
        self.touched = []

    def fill(self) -> Job[None]:
        """Compute what the transitions touch."""
        used: set[int] = set()
        for number, transition in enumerate(self.net.transitions):
            self.touched.append(frozenset({*transition.pre, *transition.post}))
            used |= self.touched[-1]
            if number % ITEMS == 0:
                yield counting(ITEMS)
        self.units = [(p,) for p in range(len(self.initial)) if p in used]

    def within(self, action: int, part: Sequence[int]) -> Inside:
        """Return what a transition does within a part; see `Footprints`."""
        side = _Side(self.net, self.net.transitions[action], part)
        return lambda local: side.fired(local) if side.is_enabled(local) else None

    def divided(
        self, action: int, centre: Sequence[int], leaf: Sequence[int]
    ) -> Divided:
        """Return a transition as the centre and one leaf see it."""
        transition = self.net.transitions[action]
        return _DividedTransition(
            _Side(self.net, transition, centre), _Side(self.net, transition, leaf)
        )

    def moved(
        self, centre: Values, part: Sequence[int], relation: Relation
    ) -> Values | None:
        """Return what a relation makes of the centre: it adds tokens."""
        return _added(self.net, centre, part, relation.changed)

    def is_halted(self, part: Sequence[int], centre: Values) -> bool:  # noqa: ARG002
        """Whether no transition can fire, whatever the leaves are like: never."""
        return False


def of_net(net: PetriNet) -> Job[NetFootprints]:
    """Return the footprints of the transitions of a net."""
    footprints = NetFootprints(net)
    yield from footprints.fill()
    return footprints


class _Side:
    """What a transition takes from a part of a net, and what it changes there."""

    def __init__(
        self, net: PetriNet, transition: Transition, part: Sequence[int]
    ) -> None:
        self._net, self._part = net, part
        differences = transition.differences()
        own = list(enumerate(part))
        self.needed = tuple(
            (k, transition.pre[p]) for k, p in own if p in transition.pre
        )
        self.changed = tuple((k, differences[p]) for k, p in own if p in differences)

    def is_enabled(self, local: Values) -> bool:
        """Whether all is there that is taken."""
        return all(local[k] >= weight for k, weight in self.needed)

    def fired(self, local: Values) -> Values | None:
        """Return the tokens that are left; None if there cannot be so many."""
        return _added(self._net, local, self._part, self.changed)


class _DividedTransition(Divided):
    """A transition of a net."""

    def __init__(self, centre: _Side, leaf: _Side) -> None:
        self._centre, self._leaf = centre, leaf
        self._relation = Relation(centre.needed, centre.changed)

    def offer(self, centre: Values) -> Values | None:
        """Return that the centre has the tokens, which is all the leaf has to know."""
        return () if self._centre.is_enabled(centre) else None

    def answer(
        self,
        leaf: Values,
        offer: Values,  # noqa: ARG002
    ) -> tuple[Relation, Values] | None:
        """Return what is taken from the centre and put there, and the leaf's tokens."""
        if not self._leaf.is_enabled(leaf):
            return None
        target = self._leaf.fired(leaf)
        return None if target is None else (self._relation, target)


def _added(
    net: PetriNet, local: Values, part: Sequence[int], changed: Pairs
) -> Values | None:
    """Return tokens with differences added, None if a place never has so many."""
    tokens = list(local)
    for k, difference in changed:
        tokens[k] += difference
        most = net.bounds.tokens[part[k]]
        if most is not None and tokens[k] > most:
            return None
    return tuple(tokens)
