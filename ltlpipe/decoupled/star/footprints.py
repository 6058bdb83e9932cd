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

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.components.progress import ITEMS, counting
from ltlpipe.por.groups import accesses
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.program import Element

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.runtime.jobs import Job
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


class Divided(NamedTuple):
    """An action as the centre and one leaf see it."""

    # What the leaf sees of a state of the centre, None if that forbids the action.
    offer: Callable[[Values], Values | None]
    # What becomes of the centre, and of a leaf that sees so much; None if not enabled.
    answer: Callable[[Values, Values], tuple[Relation, Values] | None]


class ProgramFootprints:
    """The actions of an asynchronous DVE model without committed states.

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

    def __init__(self, model: DveModel) -> None:
        self._program = model.program
        self._failing = model.ranges.failing
        self._interpreter = Interpreter(model.program)
        self.initial = model.initial()
        self.fixed = frozenset([self._program.error])
        self.touched: list[frozenset[int]] = []
        self._reads: list[frozenset[int]] = []
        self._writes: list[frozenset[int]] = []

    def fill(self) -> Job[None]:
        """Compute what the actions touch."""
        program = self._program
        for number, action in enumerate(program.actions):
            self._add(action)
            if number % _ACTIONS_AT_ONCE == 0:
                yield counting(_ACTION_WORK * _ACTIONS_AT_ONCE)
        written = frozenset().union(*self._writes)
        self._reads = [reads & written for reads in self._reads]
        pairs = zip(self._reads, self._writes, strict=True)
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
            if not self._failing.isdisjoint(transition.expressions()):
                reads.add(program.error)
                writes.add(program.error)
        moves = [t.effects for t in action.transitions]
        for assignment in chain(program.exchange(action), *moves):
            target = assignment.target
            if isinstance(target, Element):
                reads |= set(range(target.first, target.first + target.size))
        self._reads.append(frozenset(reads))
        self._writes.append(frozenset(writes))

    def _target(self, action: int, state: Sequence[int]) -> Values | None:
        """Return where an action leads from a state in which no step has failed."""
        moving = self._program.actions[action]
        return self._interpreter.target(moving, tuple(state))

    def within(self, action: int, part: Sequence[int]) -> Inside:
        """Return what an action does that touches no variables but those of a part."""
        template = list(self.initial)  # other variables do not matter

        def step(local: Values) -> Values | None:
            for variable, value in zip(part, local, strict=True):
                template[variable] = value
            target = self._target(action, template)
            return None if target is None else tuple(target[v] for v in part)

        return step

    def divided(
        self, action: int, centre: Sequence[int], leaf: Sequence[int]
    ) -> Divided:
        """Return an action that touches variables of the centre and of one leaf.

        The leaf sees the values of the centre's variables that the action reads, and
        answers with these and those that it writes.
        """
        processes, error = self._program.processes, self._program.error
        moving = self._program.actions[action].transitions
        sources = {processes[t.process].state: t.source for t in moving}
        there = [(k, sources[v]) for k, v in enumerate(centre) if v in sources]
        here = [(k, sources[v]) for k, v in enumerate(leaf) if v in sources]
        read = [(k, v) for k, v in enumerate(centre) if v in self._reads[action]]
        written = [(k, v) for k, v in enumerate(centre) if v in self._writes[action]]
        state = list(self.initial)  # other variables do not matter

        def offer(local: Values) -> Values | None:
            if any(local[k] != source for k, source in there):
                return None
            return tuple(local[k] for k, _ in read)

        def answer(local: Values, seen: Values) -> tuple[Relation, Values] | None:
            if any(local[k] != source for k, source in here):
                return None
            for variable, value in zip(leaf, local, strict=True):
                state[variable] = value
            for (_, variable), value in zip(read, seen, strict=True):
                state[variable] = value
            target = self._target(action, state)
            if target is None:
                return None
            needed = tuple((k, v) for (k, _), v in zip(read, seen, strict=True))
            # A step that fails writes nothing else.
            changed = tuple(
                (k, target[v]) for k, v in written if v == error or not target[error]
            )
            return Relation(needed, changed), tuple(target[v] for v in leaf)

        return Divided(offer, answer)

    def moved(
        self,
        centre: Values,
        part: Sequence[int],  # noqa: ARG002
        relation: Relation,
    ) -> Values | None:
        """Return what a relation, whose needs are met, makes of the centre."""
        values = list(centre)
        for place, value in relation.changed:
            values[place] = value
        return tuple(values)

    def is_halted(self, part: Sequence[int], centre: Values) -> bool:
        """Whether a step has failed: then nothing moves, whatever the leaves are like.

        No other method is asked about such a state of the centre.
        """
        return part[-1:] == (self._program.error,) and centre[-1] != 0


class NetFootprints:
    """The transitions of a net; those that take nothing and put nothing included.

    Attributes and methods are those of `ProgramFootprints`.
    """

    fixed: frozenset[int] = frozenset()

    def __init__(self, net: PetriNet) -> None:
        self._net = net
        self.initial = net.initial()
        self.touched: list[frozenset[int]] = []

    def fill(self) -> Job[None]:
        """Compute what the transitions touch."""
        for number, transition in enumerate(self._net.transitions):
            self.touched.append(frozenset({*transition.pre, *transition.post}))
            if number % ITEMS == 0:
                yield counting(ITEMS)
        used = frozenset().union(*self.touched)
        self.units = [(place,) for place in sorted(used)]

    def within(self, action: int, part: Sequence[int]) -> Inside:
        """Return what a transition does within a part."""
        relation = _side(self._net.transitions[action], part)

        def step(local: Values) -> Values | None:
            if not _has(local, relation.needed):
                return None
            return self.moved(local, part, relation)

        return step

    def divided(
        self, action: int, centre: Sequence[int], leaf: Sequence[int]
    ) -> Divided:
        """Return a transition as the centre and one leaf see it.

        That the centre has the tokens is all that the leaf has to know.
        """
        relation = _side(self._net.transitions[action], centre)
        step = self.within(action, leaf)

        def answer(local: Values, _: Values) -> tuple[Relation, Values] | None:
            target = step(local)
            return None if target is None else (relation, target)

        return Divided(
            lambda local: () if _has(local, relation.needed) else None, answer
        )

    def moved(
        self, centre: Values, part: Sequence[int], relation: Relation
    ) -> Values | None:
        """Return tokens with differences added, None if there cannot be so many."""
        tokens = list(centre)
        for k, difference in relation.changed:
            tokens[k] += difference
            most = self._net.bounds.tokens[part[k]]
            if most is not None and tokens[k] > most:
                return None
        return tuple(tokens)

    def is_halted(self, part: Sequence[int], centre: Values) -> bool:  # noqa: ARG002
        """Whether no transition can fire, whatever the leaves are like: never."""
        return False


Footprints: TypeAlias = ProgramFootprints | NetFootprints


def footprints_of(model: PetriNet | DveModel) -> Job[Footprints]:
    """Return the footprints of the actions of a model."""
    footprints: Footprints
    if isinstance(model, PetriNet):
        footprints = NetFootprints(model)
    else:
        footprints = ProgramFootprints(model)
    yield from footprints.fill()
    return footprints


def _side(transition: Transition, part: Sequence[int]) -> Relation:
    """Return what a transition takes from a part of a net, and changes there."""
    differences, own = transition.differences(), list(enumerate(part))
    return Relation(
        tuple((k, transition.pre[p]) for k, p in own if p in transition.pre),
        tuple((k, differences[p]) for k, p in own if p in differences),
    )


def _has(local: Values, needed: Pairs) -> bool:
    """Whether all tokens are there that are taken."""
    return all(local[k] >= weight for k, weight in needed)
