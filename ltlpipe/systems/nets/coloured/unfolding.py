"""Unfolding a symmetric net into a place/transition net.

1. The bindings of each transition are listed (`ltlpipe.systems.nets.coloured.bindings`)
   and counted: where they are too many, nothing has been made of them.
2. Starting with the colours of the initial marking, transitions whose places have been
   marked mark others.  What is never reached so is left out: it is never taken, for
   tokens are not even counted here.
3. What is left becomes places and transitions, in the order of the coloured net, and
   of colours and bindings by their numbers.

A difference of multisets has to be one: where a binding subtracts what is not there,
and the transition might be taken under it, the net is refused.
"""

from __future__ import annotations

from collections import Counter
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.nets.coloured.bindings import (
    SubtractionError,
    bindings,
    counted,
    most_counted,
    narrowed,
)
from ltlpipe.systems.nets.coloured.names import Node, called
from ltlpipe.systems.nets.coloured.net import DOT, variables_of
from ltlpipe.systems.nets.coloured.unfolded import UnfoldedNet
from ltlpipe.systems.nets.structure import MAX_TOKENS, Place, Transition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.net import (
        Colour,
        ColouredNet,
        Multiset,
    )

MAX_TRANSITIONS = 1_000_000
"""Transitions of an unfolded net, those that are left out later among them."""

MAX_ARCS = 10_000_000
"""Arcs of these transitions, and tuples of the initial marking."""

_PHASE = "unfolding"
_BINDING_BYTES = 120
_ARC_BYTES = 150
_PER_ARC = 2.0  # microseconds, roughly, of all that is done to an arc


def unfolded(net: ColouredNet) -> UnfoldedNet:
    """Unfold a symmetric net.

    Parameters
    ----------
    net : ColouredNet
        It is not changed.

    Returns
    -------
    UnfoldedNet
        Its markings are those of the coloured net, its steps those under the bindings.

    Raises
    ------
    UnsupportedError
        There are more than `MAX_TRANSITIONS` bindings or `MAX_ARCS` arcs; names of
        colours make one name of two nodes; or a binding subtracts what is not there.
    """
    return complete(unfolding(net, net.name))


def unfolding(net: ColouredNet, file: str) -> Job[UnfoldedNet]:
    """Return the job that `unfolded` does; messages name `file`."""
    ticks = Ticks(_PHASE)
    yield ticks.progress
    instances = yield from _Instances(net, file).listed(ticks)
    taken, marked = yield from _reached(instances, ticks)
    _check_subtraction(net, file, instances, taken)
    return (yield from _built(net, file, instances, taken, marked, ticks))


class _Found(NamedTuple):
    """All that may be part of the unfolded net."""

    nodes: list[Node]  # transitions under bindings
    pre: list[dict[int, int]]  # tokens by the numbers of slots
    post: list[dict[int, int]]
    slots: list[Node]  # places and colours
    initial: dict[int, int]  # tokens by the numbers of slots
    wrong: dict[int, int]  # nodes that subtract what is not there, and the place


class _Instances:
    """Lists the transitions of a net under bindings, with their arcs."""

    def __init__(self, net: ColouredNet, file: str) -> None:
        self.net = net
        self.file = file
        self.slots: dict[Node, int] = {}
        self.n_arcs = 0

    def listed(self, ticks: Ticks) -> Job[_Found]:
        initial: dict[int, int] = {}
        for number, marked in enumerate(self.net.places):
            self._count(most_counted(marked.marking))
            held = self._taken(number, marked.marking, [])
            if held is None:
                raise UnsupportedError(
                    f"{self.file}: the initial marking of the place {marked.name!r} "
                    "subtracts more than there is"
                )
            initial |= held
            if ticks.over(len(initial)):
                yield ticks.progress
        nodes = yield from self._nodes(ticks)
        found = _Found(nodes, [], [], [], initial, {})
        kept: dict[tuple[int, ...], dict[int, int] | None] = {}
        binding = [0] * len(self.net.variables)
        last = -1
        sides: list[list[tuple[int, Multiset, list[int]]]] = []
        for k, (number, colours) in enumerate(nodes):
            transition = self.net.transitions[number]
            if number != last:
                last = number
                kept.clear()
                sides = [
                    [
                        (place, what, sorted({*variables_of(what)}))
                        for place, what in side
                    ]
                    for side in (transition.pre, transition.post)
                ]
            for variable, colour in zip(transition.variables, colours, strict=True):
                binding[variable] = colour
            for i, (side, weights) in enumerate(
                zip(sides, (found.pre, found.post), strict=True)
            ):
                every: dict[int, int] = {}
                for place, what, used in side:
                    key = (i, place, *(binding[v] for v in used))
                    if key not in kept:
                        self._count(most_counted(what))
                        kept[key] = self._taken(place, what, binding)
                    known = kept[key]
                    if known is None:
                        found.wrong[k] = place
                    else:
                        self._count(len(known))
                        every |= known
                weights.append(every)
                if ticks.over(_PER_ARC * (3 + len(every))):
                    ticks.memory_bytes = (
                        _BINDING_BYTES * len(nodes) + _ARC_BYTES * self.n_arcs
                    )
                    yield ticks.progress
        found.slots.extend(self.slots)
        return found

    def _nodes(self, ticks: Ticks) -> Job[list[Node]]:
        """List the transitions under bindings; they are few enough."""
        known = yield from narrowed(self.net, ticks)
        growing = {
            place
            for transition, colours in zip(
                self.net.transitions, known.variables, strict=True
            )
            if colours is not None
            for place, what in transition.post
            if dict(transition.pre).get(place) != what
        }
        unchanged = {
            number: counted(place.marking, [])
            for number, place in enumerate(self.net.places)
            if number not in growing
        }
        nodes: list[Node] = []
        for number, transition in enumerate(self.net.transitions):
            inside = known.variables[number]
            if inside is None:
                continue
            for colours in bindings(self.net, transition, inside, unchanged):
                if colours is not None:
                    nodes.append(Node(number, colours))
                    if len(nodes) > MAX_TRANSITIONS:
                        self._refuse(f"{MAX_TRANSITIONS:,} transitions")
                if ticks.over(4):
                    ticks.memory_bytes = _BINDING_BYTES * len(nodes)
                    yield ticks.progress
        return nodes

    def _taken(
        self, place: int, what: Multiset, binding: list[int]
    ) -> dict[int, int] | None:
        try:
            return self._slots(place, counted(what, binding))
        except SubtractionError:
            return None

    def _slots(self, place: int, counts: dict[Colour, int]) -> dict[int, int]:
        """Return tokens by the numbers of their slots."""
        if max(counts.values(), default=0) > MAX_TOKENS:
            raise UnsupportedError(
                f"{self.file}: more than {MAX_TOKENS} tokens of a colour at once"
            )
        slots = self.slots
        return {
            slots.setdefault(Node(place, colour), len(slots)): count
            for colour, count in counts.items()
        }

    def _count(self, n_arcs: int) -> None:
        self.n_arcs += n_arcs
        if self.n_arcs > MAX_ARCS:
            self._refuse(f"{MAX_ARCS:,} arcs")

    def _refuse(self, limit: str) -> None:
        raise UnsupportedError(
            f"{self.file}: the symmetric net unfolds into more than {limit}"
        )


def _reached(found: _Found, ticks: Ticks) -> Job[tuple[list[int], list[int]]]:
    """Return the nodes and slots that can be reached, if tokens are not counted."""
    marked = [False] * len(found.slots)
    missing = list(map(len, found.pre))
    takers: list[list[int]] = [[] for _ in found.slots]
    for k, weights in enumerate(found.pre):
        for slot in weights:
            takers[slot].append(k)
        if ticks.over(1 + len(weights)):
            yield ticks.progress
    taken = [k for k, n in enumerate(missing) if n == 0]
    waiting = list(found.initial)
    for slot in waiting:
        marked[slot] = True
    done = 0
    while waiting or done < len(taken):
        for slot in waiting:
            for k in takers[slot]:
                missing[k] -= 1
                if missing[k] == 0:
                    taken.append(k)
            if ticks.over(1 + len(takers[slot])):
                yield ticks.progress
        waiting = []
        for k in taken[done:]:
            for slot in found.post[k]:
                if not marked[slot]:
                    marked[slot] = True
                    waiting.append(slot)
            if ticks.over(1 + len(found.post[k])):
                yield ticks.progress
            done += 1
    slots = [slot for slot, is_marked in enumerate(marked) if is_marked]
    return sorted(taken), slots


def _check_subtraction(
    net: ColouredNet, file: str, found: _Found, taken: Iterable[int]
) -> None:
    for k in taken:
        if k in found.wrong:
            message = subtraction_message(net, file, *found.nodes[k], found.wrong[k])
            raise UnsupportedError(message)


def subtraction_message(
    net: ColouredNet, file: str, number: int, colours: Colour, place: int
) -> str:
    """Say that a transition subtracts too much at a place, under a binding."""
    transition = net.transitions[number]
    known = [net.variables[v] for v in transition.variables]
    shown = ", ".join(
        f"{variable.name} = {net.sorts[variable.sort].names[colour]}"
        for variable, colour in zip(known, colours, strict=True)
    )
    return (
        f"{file}: the transition {transition.name!r} subtracts more than there "
        f"is at the place {net.places[place].name!r}, for {shown or 'no variable'}"
    )


def _built(
    net: ColouredNet,
    file: str,
    found: _Found,
    taken: list[int],
    marked: list[int],
    ticks: Ticks,
) -> Job[UnfoldedNet]:
    """Return the net of what can be reached."""
    marked.sort(key=lambda slot: found.slots[slot])
    domains = [place.domain for place in net.places]
    places: list[Place] = []
    number = {}
    for slot in marked:
        of, colours = found.slots[slot]
        names = called(net.sorts, net.places[of], domains[of], colours)
        number[slot] = len(places)
        places.append(Place(*names, found.initial.get(slot, 0)))
        if ticks.over(3):
            yield ticks.progress
    sorts = [variable.sort for variable in net.variables]
    domains = [tuple(sorts[v] for v in t.variables) for t in net.transitions]
    transitions: list[Transition] = []
    for k in taken:
        of, colours = found.nodes[k]
        names = called(net.sorts, net.transitions[of], domains[of], colours)
        pre, post = (
            {number[slot]: weight for slot, weight in side[k].items()}
            for side in (found.pre, found.post)
        )
        transitions.append(Transition(*names, pre, post))
        if ticks.over(5 + _PER_ARC * (len(pre) + len(post))):
            yield ticks.progress
    _check_ids(net, file, [*places, *transitions])
    result = UnfoldedNet.__new__(UnfoldedNet)
    yield from result.fill(places, transitions, net.name)
    result.coloured = net
    result.colours = [found.slots[slot].colours for slot in marked]
    result.bindings = [found.nodes[k].colours for k in taken]
    owners = (found.slots[slot].number for slot in marked)
    result.place_ranges = _ranges(owners, len(net.places))
    owners = (found.nodes[k].number for k in taken)
    result.transition_ranges = _ranges(owners, len(net.transitions))
    return result


def _check_ids(
    net: ColouredNet, file: str, nodes: Iterable[Place | Transition]
) -> None:
    """Refuse ids with colours that stand for two nodes, here or in `net`."""
    counts = Counter(node.id for node in nodes)
    # A coloured node is one of its own, unless it has no colours.
    sorts = [variable.sort for variable in net.variables]
    domains = [(place.id, place.domain) for place in net.places]
    domains += [(t.id, tuple(sorts[v] for v in t.variables)) for t in net.transitions]
    counts.update(
        own
        for own, domain in domains
        if any(net.sorts[sort].kind != DOT for sort in domain)
    )
    for own, count in counts.items():
        if count > 1:
            raise UnsupportedError(
                f"{file}: with the names of colours, {own!r} is the id of several "
                "places or transitions"
            )


def _ranges(owners: Iterable[int], n: int) -> list[range]:
    """Return where the parts of each of `n` owners lie; they are in order."""
    counts = Counter(owners)
    ends = list(accumulate(counts[k] for k in range(n)))
    return [range(end - counts[k], end) for k, end in enumerate(ends)]
