"""Place/transition nets, and their interpreter in plain Python.

A marking gives each place a number of tokens.  A transition is enabled iff each
place holds at least the tokens that it takes from there; firing it takes them and
puts others.  Both arc weights and markings are arbitrary numbers here: a field that
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

from ltlpipe.logic.propositions.syntax import Expression, Number, Operation, Variable
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.models import Model, Step
from ltlpipe.systems.nets.invariants import place_bounds
from ltlpipe.systems.nets.structure import Net, namesakes
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.packing import PackedNet
    from ltlpipe.systems.nets.structure import Bounds, Place, Transition


Meaning = TypeVar("Meaning")


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


class PetriNet(Net, Model):
    """A place/transition net.

    Parameters
    ----------
    places, transitions : sequence of Place, of Transition
        In the order of their numbers.
    name : str
        The net's name for people.

    Raises
    ------
    ValueError
        An id stands twice, or tokens, weights or places of arcs are none.
    """

    def __init__(
        self,
        places: Sequence[Place],
        transitions: Sequence[Transition],
        *,
        name: str = "net",
    ) -> None:
        for _ in self.fill(places, transitions, name):
            pass

    @classmethod
    def building(
        cls, places: Sequence[Place], transitions: Sequence[Transition], name: str
    ) -> Job[PetriNet]:
        """Return the job that builds a net, as calling the class does."""
        net = cls.__new__(cls)
        yield from net.fill(places, transitions, name)
        return net

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """Ids and names of places and transitions."""
        return Vocabulary(
            self.place_numbers,
            fireable=OnDemand(self.transitions_called.keys, self._fireable),
            actions=self.transitions_called,
            variables_called=partial(namesakes, self.places),
            actions_called=partial(namesakes, self.transitions),
        )

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


def any_of(conditions: Iterable[Expression]) -> Expression:
    """Return the proposition that one of some holds."""
    parts = tuple(dict.fromkeys(conditions))
    if len(parts) < 2:
        return parts[0] if parts else Number(0)
    return Operation("||", parts)


def enabling_condition(transition: Transition) -> Expression:
    """Return the proposition that each place holds what is taken from it."""
    return at_least(transition.pre)


def at_least(weights: Mapping[int, int]) -> Expression:
    """Return the proposition that variables, by their numbers, have so much."""
    conditions = tuple(
        Operation("<=", (Number(weight), Variable(number)))
        for number, weight in weights.items()
    )
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
