"""Place/transition nets, and their interpreter in plain Python.

A marking gives each place a number of tokens.  A transition is enabled iff each
place holds at least the tokens that it takes from there; firing it takes them and
puts others.  Those of an `ExtendedNet` may also have limits, and empty places
(`ltlpipe.systems.nets.structure`).  It is no `PetriNet`: what is made for these does
not take it.

Both arc weights and markings are arbitrary numbers here: a field that
is too narrow is a matter of the packed net (`ltlpipe.systems.nets.packing`), with
which the interpreter shares nothing.

Nodes have an id, which is unique in a file, and a name, which need not be.  The
Model Checking Contest's formulas use ids, other people's names; mostly they are the
same.  An id always means its own node.  A name that is no id means any of the
transitions that have it; of places one only, since a number of tokens is that of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ltlpipe.logic.propositions.syntax import Expression, Number, Operation, Variable
from ltlpipe.runtime.arrays import group_begins
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.names import counted, quoted_name
from ltlpipe.systems.models import Model, Step
from ltlpipe.systems.nets.invariants import place_bounds
from ltlpipe.systems.nets.structure import (
    NO_NOTES,
    Arcs,
    Net,
    SpecialTransition,
    Transition,
    arcs_of,
    namesakes,
)
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.packing import PackedNet
    from ltlpipe.systems.nets.structure import (
        AnyTransition,
        Bounds,
        Entries,
        Notes,
        Place,
    )


Meaning = TypeVar("Meaning")

FINAL = "final"
"""The proposition that a marking is one of a file's final markings."""


class OnDemand(Mapping[str, Meaning], Generic[Meaning]):
    """Meanings of names that are found when they are asked for.

    `names` returns those that a message may offer.
    """

    def __init__(
        self,
        names: Callable[[], Collection[str]],
        tell: Callable[[str], Meaning | None],
    ) -> None:
        self._names = names
        self._tell = tell

    def __getitem__(self, text: str) -> Meaning:
        meaning = self._tell(text)
        if meaning is None:
            raise KeyError(text)
        return meaning

    def __iter__(self) -> Iterator[str]:
        return iter(self._names())

    def __len__(self) -> int:
        return len(self._names())

    def __bool__(self) -> bool:
        """Whether names can be asked for: those that there are may be many."""
        return True


class NetModel(Net, Model):
    """A net as a model, whatever its arcs are.

    Parameters
    ----------
    places, transitions : sequence of Place, of Transition or SpecialTransition
        In the order of their numbers.
    name : str
        The net's name for people.
    notes : Notes, optional
        What else a file says about it.

    Raises
    ------
    ValueError
        An id stands twice, or tokens, weights or places of arcs are none.
    TypeError
        Transitions are not of the kind that the net has.
    """

    def __init__(
        self,
        places: Sequence[Place],
        transitions: Sequence[Any],
        *,
        name: str = "net",
        notes: Notes = NO_NOTES,
    ) -> None:
        for _ in self.fill(places, transitions, name, notes):
            pass

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Ids and names of places and transitions, and `final`."""
        facts = {FINAL: self._final()} if self.notes.final else {}
        return Vocabulary(
            self.place_numbers,
            facts={} if FINAL in self.places_called else facts,
            fireable=OnDemand(self.transitions_called.keys, self._fireable),
            actions=self._visible(),
            invisible=OnDemand(self.transitions_called.keys, self._invisible),
            variables_called=partial(namesakes, self.places),
            actions_called=partial(namesakes, self.transitions),
            counts=True,
        )

    def _visible(self) -> dict[str, tuple[int, ...]]:
        """Return the actions that each id or name means, invisible ones left out."""
        called, invisible = self.transitions_called, self.notes.invisible
        if not invisible:
            return called
        own = {name: tuple(t for t in ts if t not in invisible)
               for name, ts in called.items()}  # fmt: skip
        return {name: ts for name, ts in own.items() if ts}

    def _invisible(self, text: str) -> tuple[int, ...] | None:
        """Return the transitions that a text means, if all are invisible."""
        own = self.transitions_called.get(text, ())
        return own if own and self.notes.invisible.issuperset(own) else None

    def _final(self) -> Expression:
        """Return the proposition that the marking is a final one."""
        return any_of(self._is_marking(dict(m)) for m in self.notes.final)

    def _is_marking(self, tokens: dict[int, int]) -> Expression:
        held: list[Expression] = [
            Operation("==", (Variable(place), Number(n))) for place, n in tokens.items()
        ]
        others = [p for p in range(len(self.places)) if p not in tokens]
        held += [Operation("==", (Variable(place), Number(0))) for place in others]
        return _all_of(tuple(held))

    @property
    def about(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a file says beside the net, and how it was read."""
        lines, notes = [], self.notes
        if notes.units:
            safe = ", safe as the file asserts" if notes.safe else ""
            units = counted(len(notes.units), "unit")
            lines.append(f"nested-unit Petri net of {units}{safe}")
        if notes.refined:
            names = ", ".join(map(quoted_name, notes.refined))
            lines.append(f"nets in the place of the sub-processes {names}")
        if limits := len(self.limits.place):
            lines.append(f"{counted(limits, 'limit')}, of inhibitor arcs or capacities")
        if resets := len(self.resets.place):
            lines.append(counted(resets, "reset arc"))
        if notes.invisible:
            n = counted(len(notes.invisible), "invisible transition")
            lines.append(f"{n}, which no formula can name as an action")
        if notes.final:
            lines.append(f"{counted(len(notes.final), 'final marking')}: {FINAL}")
        return tuple(lines)

    def _fireable(self, text: str) -> Expression | None:
        """Return when a transition can fire that has an id or name.

        The conditions of all would take longer than those that a property names.
        """
        own = self.transitions_called.get(text, ())
        if not own:
            return None
        return any_of(enabling_condition(self.transitions[t]) for t in own)

    @property
    def place_numbers(self) -> dict[str, int]:
        """The numbers of places by ids, and by names that no other place has."""
        called = self.places_called.items()
        return {text: own[0] for text, own in called if len(own) == 1}

    @cached_property
    def bounds(self) -> Bounds:  # type: ignore[override]
        """What invariants say about the places."""
        return complete(place_bounds(self))

    def prepared(self) -> Job[None]:
        """Find out what packing needs to know, once: `bounds`."""
        if "bounds" not in vars(self):
            vars(self)["bounds"] = yield from place_bounds(self)

    @property
    def step_work(self) -> float:
        """Microseconds that the step by one transition takes, roughly."""
        return 5.0 + 0.005 * len(self.places)

    def _sizes(self) -> dict[str, int]:
        return {"place": len(self.places), "transition": len(self.transitions)}

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the tokens by the names of their places."""
        return dict(zip(self.variables, state, strict=True))

    def packing(
        self, propositions: Sequence[Expression], **layout: Any
    ) -> Job[PackedNet]:
        """Lay out the tables for one property (see `Model.packing`)."""
        # Imported here: reading nets and simulation need no Numba.

        from ltlpipe.systems.nets.packing import pack_net

        yield from self.prepared()
        packed = yield from pack_net(self, propositions, **layout)
        return packed

    def pack(self, propositions: Sequence[Expression], **layout: Any) -> PackedNet:
        """Do `packing` at once."""
        return complete(self.packing(propositions, **layout))


class PetriNet(NetModel):
    """A place/transition net of plain arcs; see `NetModel`."""

    kind = Transition
    pre: Arcs  # what transitions take
    post: Arcs  # what they put

    def _take_arcs(self) -> Job[None]:
        self.pre = yield from arcs_of([t.pre for t in self.transitions])
        self.post = yield from arcs_of([t.post for t in self.transitions])
        none = np.zeros(len(self.transitions) + 1, dtype=np.int64)
        self.needs, self.limits = self.pre, Arcs(none, none[:0], none[:0])
        self.resets = self.limits

    def _n_arcs(self) -> np.ndarray:
        n_arcs: np.ndarray = np.diff(self.pre.first) + np.diff(self.post.first)
        return n_arcs

    def effects(self, transitions: np.ndarray) -> Entries:
        """Return what firing some transitions adds; see `Net.effects`."""
        taker, source, taken = self.pre.of(transitions)
        putter, target, put = self.post.of(transitions)
        owner = np.concatenate([taker, putter])
        place = np.concatenate([source, target])
        order = np.lexsort((place, owner))
        owner, place = owner[order], place[order]
        begins = group_begins(owner, place)
        change = np.add.reduceat(np.concatenate([-taken, put])[order], begins)
        begins, change = begins[change != 0], change[change != 0]
        return owner[begins], place[begins], change

    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a marking, in the order of the transitions.

        Each transition makes at most one, so its number tells the step; the packed
        net has another order.
        """
        for number, transition in enumerate(self.transitions):
            if _is_enabled(transition, state):
                yield Step(number, _fired(transition, state))

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield the step of a marking by a transition, if it is enabled."""
        transition = self.transitions[action]
        if _is_enabled(transition, state):
            yield Step(action, _fired(transition, state))


class ExtendedNet(NetModel):
    """A net with inhibitor or reset arcs, or limited capacities; see `NetModel`."""

    kind = SpecialTransition
    changes: Arcs  # what transitions add, after they have emptied what they reset

    def _take_arcs(self) -> Job[None]:
        own = self.transitions
        self.needs = yield from arcs_of([t.needs for t in own])
        self.limits = yield from arcs_of([t.limits for t in own])
        resets = [dict.fromkeys(sorted(t.resets), 1) for t in own]
        self.resets = yield from arcs_of(resets)
        self.changes = yield from arcs_of([t.differences() for t in own])

    def _n_arcs(self) -> np.ndarray:
        sides = (self.needs, self.limits, self.resets, self.changes)
        n_arcs: np.ndarray = np.sum([np.diff(s.first) for s in sides], axis=0)
        return n_arcs

    def effects(self, transitions: np.ndarray) -> Entries:
        """Return what firing some transitions adds; see `Net.effects`."""
        owner, place, change = self.changes.of(transitions)
        order = np.lexsort((place, owner))
        order = order[change[order] != 0]
        return owner[order], place[order], change[order]

    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a marking, in the order of the transitions."""
        for number in range(len(self.transitions)):
            yield from self.steps_by(state, number)

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield the step of a marking by a transition, if it is enabled."""
        transition = self.transitions[action]
        if any(state[place] < least for place, least in transition.needs.items()):
            return
        if any(state[place] > most for place, most in transition.limits.items()):
            return
        tokens = list(state)
        for place in transition.resets:
            tokens[place] = 0
        for place, added in transition.adds.items():
            tokens[place] += added
        yield Step(action, tuple(tokens))


def any_of(conditions: Iterable[Expression]) -> Expression:
    """Return the proposition that one of some holds."""
    parts = tuple(dict.fromkeys(conditions))
    if len(parts) < 2:
        return parts[0] if parts else Number(0)
    return Operation("||", parts)


def enabling_condition(transition: AnyTransition) -> Expression:
    """Return the proposition that places hold what is needed, and not too much."""
    limits = (
        Operation("<=", (Variable(number), Number(most)))
        for number, most in transition.limits.items()
    )
    return _all_of((*_at_least(transition.needs), *limits))


def at_least(weights: Mapping[int, int]) -> Expression:
    """Return the proposition that variables, by their numbers, have so much."""
    return _all_of(_at_least(weights))


def _at_least(weights: Mapping[int, int]) -> tuple[Expression, ...]:
    return tuple(
        Operation("<=", (Number(weight), Variable(number)))
        for number, weight in weights.items()
    )


def _all_of(conditions: tuple[Expression, ...]) -> Expression:
    if not conditions:
        return Number(1)
    return conditions[0] if len(conditions) == 1 else Operation("&&", conditions)


def _is_enabled(transition: Transition, state: Valuation) -> bool:
    return all(state[place] >= weight for place, weight in transition.pre.items())


def _fired(transition: Transition, state: Valuation) -> Valuation:
    tokens = list(state)
    for place, weight in transition.pre.items():
        tokens[place] -= weight
    for place, weight in transition.post.items():
        tokens[place] += weight
    return tuple(tokens)
