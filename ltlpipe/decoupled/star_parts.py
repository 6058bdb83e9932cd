"""Parts of a model that is a star: its actions, a centre and leaves, and their states.

*Actions.*  One that concerns one leaf and the centre is divided: the centre makes an
*offer* (what the leaf has to know of it), the leaf answers with a *relation* (what
becomes of the centre) and its own next local state.  For DVE models an offer is the
values of the centre's variables that the action reads, a relation these and the values
that it writes.  In a net no value is exchanged: either side has the tokens that are
taken from it, or not.  Local states are tuples of values, in the order of a part's
variables.

*Centre and leaves.*  Variables that no action joins, once those of the centre are left
out, belong to different leaves.  The centre begins with what the property reads.  As
long as there are no two leaves with steps of their own, the unit that most others are
joined to goes to the centre: a shared variable, a server.

*Local states.*  Each part is explored for itself: an action is taken in a leaf as soon
as *some* local state of the centre that is known makes the offer for it, and in the
centre as soon as some local state of the leaf gives the answer.  So there may be local
states that no run comes to; that does no harm, as parts move together only where offer
and answer meet.

Sources: D. Gnad and J. Hoffmann, "Star-topology decoupled state space search",
Artificial Intelligence 257, 2018, pp. 24-60: that the centre is what most interact
with.  The local semantics of threads, as in A. Malkis, A. Podelski and A. Rybalchenko,
"Thread-Modular Verification Is Cartesian Abstract Interpretation", ICTAC 2006, LNCS
4281, pp. 183-197.

Differences from the sources: the first factors planning tasks, by their causal graphs;
here units are moved to the centre one by one, and the first star will do that is not
too large.  In the second, threads share the centre; here its steps are explored, too,
as those of a part, and what is wanted are the transitions, not an invariant.

Cost: for each action of a leaf its offers times the local states of the leaf, and the
local states of the centre.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ltlpipe.components.progress import ITEMS, STATIC, counting
from ltlpipe.por.groups import accesses
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.model import DveModel
from ltlpipe.systems.programs.program import Element

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence, Set

    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.systems.models import Model
    from ltlpipe.systems.nets.structure import Transition
    from ltlpipe.systems.programs.program import Action

MAX_CENTRE = 1 << 12
"""Local states of the centre."""

MAX_LEAF = 1 << 11
"""Local states of a leaf."""

MAX_TRANSITIONS = 1 << 18
"""Transitions of all parts."""

_OFFER = 0.25  # looks that an offer takes

OWN = -1
"""The relation of steps that a part takes alone."""

_LOOK_WORK = 15.0  # microseconds

_TOUCHED = 1 / 30
"""Looks at actions that a variable takes which an action touches."""

_ACTIONS_AT_ONCE = 1 << 8
_ACTION_WORK = 20

Values = tuple[int, ...]
"""The local state of a part, or some of its values."""

Pairs = tuple[tuple[int, int], ...]
"""Places in a local state, with values."""

Inside: TypeAlias = "Callable[[Values], Values | None]"
"""Where an action leads in a part from a local state of it; None if not enabled."""


class NoStarError(Exception):
    """A model is no star, or too large a one.

    Parameters
    ----------
    reason : str
        Why.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


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
        self._reads: list[frozenset[int]] = []
        self._writes: list[frozenset[int]] = []

    def fill(self) -> Job[None]:
        """Compute what the actions touch; what is never written is no variable."""
        program = self._program
        for number, action in enumerate(program.actions):
            self._add(action)
            if number % _ACTIONS_AT_ONCE == 0:
                yield counting(_ACTION_WORK * _ACTIONS_AT_ONCE)
        written = frozenset().union(*self._writes)
        self._reads = [reads & written for reads in self._reads]
        pairs = zip(self._reads, self._writes, strict=True)
        self.touched = [reads | writes for reads, writes in pairs]
        units = [(p.state, *p.variables) for p in program.processes]
        known = {variable for unit in units for variable in unit}
        units += [(v,) for v in range(len(self.initial)) if v not in known]
        changing = (tuple(v for v in unit if v in written) for unit in units)
        self.units = [unit for unit in changing if unit]

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
    ) -> Values:
        """Return what a relation, whose needs are met, makes of the centre."""
        values = dict(enumerate(centre)) | dict(relation.changed)
        return tuple(values.values())

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

    def fill(self) -> Job[None]:
        """Compute what the transitions touch."""
        self.touched: list[frozenset[int]] = []
        for number, transition in enumerate(self._net.transitions):
            self.touched.append(frozenset({*transition.pre, *transition.post}))
            if number % ITEMS == 0:
                yield counting(ITEMS)
        used = frozenset().union(*self.touched)
        self.units = [(place,) for place in sorted(used)]

    def is_halted(self, part: Sequence[int], centre: Values) -> bool:  # noqa: ARG002
        """Whether no transition can fire, whatever the leaves are like: never."""
        return False

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


Footprints: TypeAlias = ProgramFootprints | NetFootprints


def footprints_of(model: Model) -> Job[Footprints]:
    """Return what the actions of a model touch.

    Raises
    ------
    NoStarError
        It is of a kind whose actions concern more.
    """
    footprints: Footprints
    if isinstance(model, PetriNet):
        footprints = NetFootprints(model)
    elif isinstance(model, ExtendedNet):
        raise NoStarError("the net has inhibitor or reset arcs, or limited capacities")
    elif not isinstance(model, DveModel):
        raise NoStarError(f"nothing is known of the steps of {model.name}")
    elif model.program.synchronous:
        raise NoStarError("all processes of a synchronous system move at once")
    elif any(process.committed for process in model.program.processes):
        raise NoStarError("a committed state holds up all other processes")
    else:
        footprints = ProgramFootprints(model)
    yield from footprints.fill()
    return footprints


def _side(transition: Transition, part: Sequence[int]) -> Relation:
    """Return what a transition takes from a part of a net, and changes there."""
    at = _positions(tuple(part))
    return Relation(
        tuple(sorted((at[p], w) for p, w in transition.pre.items() if p in at)),
        tuple(
            sorted((at[p], w) for p, w in transition.differences().items() if p in at)
        ),
    )


@lru_cache(maxsize=64)
def _positions(part: tuple[int, ...]) -> dict[int, int]:
    """Return where each place of a part is in it."""
    return {place: k for k, place in enumerate(part)}


def _has(local: Values, needed: Pairs) -> bool:
    """Whether all tokens are there that are taken."""
    return all(local[k] >= weight for k, weight in needed)


class Effort(Ticks):
    """What may still be spent on a model, in looks at actions in local states."""

    def __init__(self, looks: int) -> None:
        super().__init__(STATIC, _LOOK_WORK)
        self._most = looks
        self._left: float = looks

    def worked(self, n: float = 1) -> Iterable[Progress]:
        """Count looks; return what to yield."""
        self._left -= n
        return super().worked(n)

    def check(self) -> None:
        """Raise `NoStarError` if all is spent."""
        if self._left < 0:
            raise NoStarError(f"{self._most:,} looks at actions have shown no star")


class Leaf(NamedTuple):
    """A part that interacts with the centre alone."""

    variables: tuple[int, ...]  # ascending
    internal: tuple[int, ...]  # actions that touch nothing else
    crossing: tuple[int, ...]  # actions that touch the centre, too


class Partition(NamedTuple):
    """A star: every action touches one leaf at most."""

    centre: tuple[int, ...]  # variables, ascending
    own: tuple[int, ...]  # actions that touch no leaf
    leaves: tuple[Leaf, ...]

    @property
    def n_moving(self) -> int:
        """Leaves that have steps of their own."""
        return sum(bool(leaf.internal) for leaf in self.leaves)

    @property
    def share(self) -> float:
        """How many of the actions are steps of leaves alone, 0 to 1."""
        internal = sum(len(leaf.internal) for leaf in self.leaves)
        crossing = sum(len(leaf.crossing) for leaf in self.leaves)
        return internal / max(internal + crossing + len(self.own), 1)


def partition(
    footprints: Footprints, centre: Set[int], effort: Effort
) -> Job[Partition]:
    """Return the star with a given centre, whose leaves are as small as can be.

    Raises
    ------
    NoStarError
        The effort is spent.
    """
    owner: dict[int, int] = {}

    def root(variable: int) -> int:
        while owner[variable] != variable:
            owner[variable] = owner[owner[variable]]
            variable = owner[variable]
        return variable

    outside = []
    for touched in footprints.touched:
        rest = sorted(touched - centre)
        outside.append(rest)
        for variable in rest:
            owner.setdefault(variable, variable)
            owner[root(variable)] = root(rest[0])
        yield from effort.worked((1 + len(touched)) * _TOUCHED)
    effort.check()
    # By leaf: its variables, its internal actions, and those that cross.
    parts: dict[int, tuple[list[int], ...]] = defaultdict(lambda: ([], [], []))
    for variable in sorted(owner):
        parts[root(variable)][0].append(variable)
    own = []
    for action, rest in enumerate(outside):
        if rest:
            crosses = not centre.isdisjoint(footprints.touched[action])
            parts[root(rest[0])][1 + crosses].append(action)
        else:
            own.append(action)
    leaves = tuple(Leaf(*map(tuple, part)) for part in parts.values())
    return Partition(tuple(sorted(centre)), tuple(own), leaves)


def heart_of(footprints: Footprints, leaf: Leaf) -> tuple[int, ...]:
    """Return what of a leaf goes to the centre.

    Those of its variables that are in the unit that most are joined to; all, if it has
    no steps of its own.  What its actions touch in the centre does not count.
    """
    if not leaf.internal:
        return leaf.variables
    chosen = frozenset(leaf.variables)
    unit_of = {v: k for k, unit in enumerate(footprints.units) for v in unit}
    joined: dict[int, set[int]] = defaultdict(set)
    for action in (*leaf.internal, *leaf.crossing):
        units = {unit_of[v] for v in footprints.touched[action] & chosen}
        for unit in units:
            joined[unit] |= units
    best = max(joined, key=lambda unit: (len(joined[unit]), -unit))
    return tuple(v for v in footprints.units[best] if v in chosen)


class TooLargeError(NoStarError):
    """A leaf has too many local states."""

    def __init__(self, leaf: Leaf, reason: str) -> None:
        self.leaf = leaf
        super().__init__(reason)


@dataclass
class _Offer:
    """What was made of an offer so far."""

    centres: list[int] = field(default_factory=list)  # who makes it
    relations: dict[int, None] = field(default_factory=dict)  # the answers


@dataclass
class _Crossing:
    """An action of a leaf that touches the centre."""

    divided: Divided
    offers: dict[Values, _Offer] = field(default_factory=dict)


class Space:
    """The local states of a part, by their numbers, and its transitions."""

    def __init__(
        self, footprints: Footprints, variables: Sequence[int], own: Sequence[int]
    ) -> None:
        initial = tuple(footprints.initial[v] for v in variables)
        self.variables = tuple(variables)
        self.states = [initial]
        self.index = {initial: 0}
        self.own = [footprints.within(action, self.variables) for action in own]
        # (source, relation, target); relations of the leaf, or `OWN`
        self.steps: dict[tuple[int, int, int], None] = {}

    def number(self, state: Values) -> int:
        """Return the number of a local state, which may be new."""
        number = self.index.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
        return number

    def relations(self) -> list[set[int]]:
        """Return for each local state the relations of its steps, `OWN` included."""
        found: list[set[int]] = [set() for _ in self.states]
        for src, relation, _ in self.steps:
            found[src].add(relation)
        return found


class Spaces:
    """The local states of a star.

    Attributes
    ----------
    centre : Space
        Its steps with relation `OWN` are those that touch no leaf.
    leaves : list of Space
        In the order of the partition.
    relations : list of (int, Relation)
        By number: the leaf, and what it does to the centre.
    halted : list of bool
        For each state of the centre whether nothing moves any more, whatever the leaves
        are like.
    """

    def __init__(self, footprints: Footprints, star: Partition, effort: Effort) -> None:
        self._footprints, self._star = footprints, star
        self._effort = effort
        self.centre = Space(footprints, star.centre, star.own)
        self.leaves = [
            Space(footprints, leaf.variables, leaf.internal) for leaf in star.leaves
        ]
        self.relations: list[tuple[int, Relation]] = []
        self.halted: list[bool] = []
        self._numbers: dict[tuple[int, Relation], int] = {}
        self._crossings = [
            [
                _Crossing(footprints.divided(action, star.centre, leaf.variables))
                for action in leaf.crossing
            ]
            for leaf in star.leaves
        ]
        self._n_done = [0] * len(self.leaves)

    def explore(self) -> Job[None]:
        """Find all local states.

        Raises
        ------
        NoStarError
            They are too many (`TooLargeError` in a leaf), or the effort is spent.
        """
        is_done = False
        while not is_done:
            is_done = True
            while len(self.halted) < len(self.centre.states):
                is_done = False
                yield from self._expand_centre(len(self.halted))
            for i, leaf in enumerate(self.leaves):
                while self._n_done[i] < len(leaf.states):
                    is_done = False
                    state = self._n_done[i]
                    self._n_done[i] += 1  # before offers are looked for, once each
                    yield from self._expand_leaf(i, state)

    def _move_alone(self, space: Space, src: int) -> Job[None]:
        """Take the steps of a part that touch no other one."""
        for step in space.own:
            target = step(space.states[src])
            if target is not None:
                space.steps[src, OWN, space.number(target)] = None
            yield from self._effort.worked()

    def _expand_centre(self, src: int) -> Job[None]:
        """Take the steps of a state of the centre, and make its offers."""
        state = self.centre.states[src]
        self.halted.append(self._footprints.is_halted(self._star.centre, state))
        if self.halted[src]:
            return
        yield from self._move_alone(self.centre, src)
        for i, crossings in enumerate(self._crossings):
            for crossing in crossings:
                yield from self._effort.worked(_OFFER)
                seen = crossing.divided.offer(state)
                if seen is None:
                    continue
                offer = crossing.offers.get(seen)
                if offer is None:
                    offer = crossing.offers[seen] = _Offer()
                    for leaf in range(self._n_done[i]):
                        self._answer(i, crossing, seen, offer, leaf)
                        yield from self._effort.worked()
                offer.centres.append(src)
                for relation in offer.relations:
                    self._move_centre(src, relation)
        self._refuse_large(None, len(self.centre.states), MAX_CENTRE)

    def _expand_leaf(self, i: int, src: int) -> Job[None]:
        """Take the steps of a state of a leaf, and answer the offers made so far."""
        yield from self._move_alone(self.leaves[i], src)
        for crossing in self._crossings[i]:
            for seen, offer in crossing.offers.items():
                self._answer(i, crossing, seen, offer, src)
                yield from self._effort.worked()
        self._refuse_large(self._star.leaves[i], len(self.leaves[i].states), MAX_LEAF)

    def _answer(
        self, i: int, crossing: _Crossing, seen: Values, offer: _Offer, src: int
    ) -> None:
        """Take an action in a leaf; in the centre too, if the relation is new."""
        space = self.leaves[i]
        answer = crossing.divided.answer(space.states[src], seen)
        if answer is None:
            return
        relation, target = answer
        number = self._numbers.setdefault((i, relation), len(self.relations))
        if number == len(self.relations):
            self.relations.append((i, relation))
        space.steps[src, number, space.number(target)] = None
        if number not in offer.relations:
            offer.relations[number] = None
            for centre in offer.centres:
                self._move_centre(centre, number)

    def _move_centre(self, src: int, number: int) -> None:
        _, relation = self.relations[number]
        state = self.centre.states[src]
        target = self._footprints.moved(state, self._star.centre, relation)
        if target is not None:
            self.centre.steps[src, number, self.centre.number(target)] = None

    def _refuse_large(self, leaf: Leaf | None, n_states: int, most: int) -> None:
        self._effort.check()
        if n_states > most:
            what = "the centre" if leaf is None else "a leaf"
            reason = f"{what} has more than {most:,} local states"
        elif sum(len(s.steps) for s in (self.centre, *self.leaves)) > MAX_TRANSITIONS:
            reason = f"there are more than {MAX_TRANSITIONS:,} steps"
        else:
            return
        raise NoStarError(reason) if leaf is None else TooLargeError(leaf, reason)
