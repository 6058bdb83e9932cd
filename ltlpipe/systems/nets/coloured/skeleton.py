"""The skeleton of a symmetric net: the net that is left without colours.

A place has as many tokens as the coloured place has of all colours together, and a
transition takes and puts as many as it does under any binding.  So each run of the
symmetric net is one of the skeleton, which may have more: what none of its runs does
no run of the symmetric net does.

Source: S. Wallner and K. Wolf, "Skeleton Abstraction for Universal Temporal
Properties", Petri Nets 2021, LNCS 12734.

Differences from the source: it serves linear programs, which conclude nothing from what
is enabled in the skeleton; transitions that are never taken by the colours that places
can have at all are left out, and which of the others are enabled wherever they are in
the skeleton is known.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NoReturn

from ltlpipe.logic.propositions.syntax import Enabled, Number, Operation
from ltlpipe.systems.models import Model
from ltlpipe.systems.nets.coloured.bindings import conjuncts, narrowed
from ltlpipe.systems.nets.coloured.cells import SubtractionError, counted, holds
from ltlpipe.systems.nets.coloured.net import (
    TRUE,
    Bound,
    Difference,
    Every,
    Sum,
    Tokens,
    signed_tokens,
    variables_of,
)
from ltlpipe.systems.nets.net import PetriNet, any_of, enabling_condition
from ltlpipe.systems.nets.structure import (
    MAX_TOKENS,
    Place,
    Transition,
    numbers_called,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.errors import UnsupportedError
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.nets.coloured.net import (
        ColouredNet,
        ColouredTransition,
        Multiset,
    )
    from ltlpipe.systems.propositions.binding import Vocabulary

_MOST_BINDINGS = 100_000
"""Bindings under which a difference of multisets is looked at."""


class Skeleton(PetriNet):
    """A symmetric net without its colours.

    Attributes
    ----------
    exact : list of int
        Transitions that the symmetric net can take under some binding in all markings
        in which the skeleton can.
    """

    coloured: ColouredNet
    exact: list[int]
    kept: dict[int, int]  # transitions by their numbers in the symmetric net

    def _fireable(self, text: str) -> Expression | None:
        called = [(own.id, own.name) for own in self.coloured.transitions]
        meant = numbers_called(called).get(text)
        return None if meant is None else any_of(map(self._can_fire, meant))

    def _can_fire(self, number: int) -> Expression:
        """Return when a transition can be taken, as far as the skeleton tells."""
        if number not in self.kept:
            return Number(0)
        own = self.kept[number]
        condition = enabling_condition(self.transitions[own])
        if own in self.exact:
            return condition
        return Operation("&&", (condition, Enabled(number, _unknown)))


class BareNet(Model):
    """A symmetric net that is too large to be unfolded, by what it has without colours.

    Its steps are not known, and it is no net: only `skeleton` may be reasoned about.

    Parameters
    ----------
    bare : Skeleton
        The net without colours.
    refusal : UnsupportedError
        Why it is not unfolded.
    """

    has_colours = True
    is_unfolded = False

    def __init__(self, bare: Skeleton, refusal: UnsupportedError) -> None:
        self.coloured, self.refusal, self._bare = bare.coloured, refusal, bare
        self.name = bare.name
        self.variables, self.actions = bare.variables, bare.actions
        self.about = (f"asked without colours: {refusal}",)

    @property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """The names of places and transitions, without colours."""
        return self._bare.vocabulary

    def initial(self) -> Valuation:
        """Return the tokens of the places."""
        return self._bare.initial()

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the tokens by the names of their places."""
        return self._bare.shown(state)

    def _sizes(self) -> dict[str, int]:
        return self._bare._sizes()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise self.refusal

    unfolding = each_step = packing = pack = prepared = _refuse


def _unknown(*_: Any) -> NoReturn:
    raise TypeError(
        "a skeleton does not tell under which colours a transition can fire"
    )


def skeleton(net: ColouredNet, ticks: Ticks) -> Job[Skeleton | None]:
    """Return the skeleton of a net.

    None if it may subtract what is not there, or has too many tokens in all.
    """
    every = [*multisets(net)]
    if not all(map(is_valid, every)):
        return None
    if any(_size(what) > MAX_TOKENS for *_, what in every):
        return None
    known = yield from narrowed(net, ticks)
    places = [Place(place.id, place.name, _size(place.marking)) for place in net.places]
    taken = [k for k, colours in enumerate(known) if colours is not None]
    transitions = [
        Transition(own.id, own.name, *map(_sizes, (own.pre, own.post)))
        for own in (net.transitions[k] for k in taken)
    ]
    result = Skeleton.__new__(Skeleton)
    yield from result.fill(places, transitions, net.name)
    result.coloured = net
    result.kept = {number: k for k, number in enumerate(taken)}
    result.exact = [
        k for k, number in enumerate(taken) if _is_exact(net, net.transitions[number])
    ]
    return result


def _sizes(side: tuple[tuple[int, Multiset], ...]) -> dict[int, int]:
    sizes = {place: _size(what) for place, what in side}
    return {place: size for place, size in sizes.items() if size}


def _size(what: Multiset) -> int:
    """Return how many tokens a multiset has, under any binding."""
    return sum(
        weight * prod(e.size for e in tokens.entries if isinstance(e, Every))
        for weight, tokens in signed_tokens(what, 1)
    )


def _is_exact(net: ColouredNet, transition: ColouredTransition) -> bool:
    """Whether a transition can be taken wherever its places have enough tokens.

    It takes one token of each place, of any colours, or there is one colour.
    """
    used: list[int] = []
    for place, what in transition.pre:
        if all(size == 1 for size in net.sizes(place)):
            continue
        if not isinstance(what, Tokens) or what.weight != 1:
            return False
        if not all(isinstance(entry, Bound) for entry in what.entries):
            return False
        used += variables_of(what)
    return transition.guard == TRUE and len(set(used)) == len(used)


def multisets(net: ColouredNet) -> Iterator[tuple[ColouredNet, Any, Multiset]]:
    """Yield all multisets of a net, with the guards under which they are meant."""
    for place in net.places:
        yield net, TRUE, place.marking
    for transition in net.transitions:
        for _, what in (*transition.pre, *transition.post):
            yield net, transition.guard, what


def is_valid(asked: tuple[ColouredNet, Any, Multiset]) -> bool:
    """Whether a multiset never subtracts what is not there, as far as is looked at."""
    net, guard, what = asked
    if not has_difference(what):
        return True
    used = sorted(set(variables_of(what)))
    sizes = [net.size(net.variables[v].sort) for v in used]
    if prod(sizes) > _MOST_BINDINGS:
        return False
    conditions = [own for own in conjuncts(guard) if {*variables_of(own)} <= {*used}]
    binding = [0] * len(net.variables)
    for colours in product(*map(range, sizes)):
        for variable, colour in zip(used, colours, strict=True):
            binding[variable] = colour
        if all(holds(own, binding) for own in conditions):
            try:
                counted(what, binding)
            except SubtractionError:
                return False
    return True


def has_difference(what: Multiset) -> bool:
    """Whether something is subtracted in a multiset."""
    if isinstance(what, Sum):
        return any(map(has_difference, what.parts))
    return isinstance(what, Difference)
