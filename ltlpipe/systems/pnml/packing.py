"""A place/transition net as integer tables (layout: `ltlpipe.systems.pnml.kernels`).

Each place owns a bit field of a row.  Invariants tell how many tokens some places
can ever hold; such fields are as wide as that.  The others begin with the bits of the
initial marking: a field that turns out to be too narrow is noted by the successor
function, which leaves the successor out.  The caller looks at `PackedNet.overflowed`
and begins again with what `PackedNet.widened` returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.systems.packing import allocate
from ltlpipe.systems.pnml.invariants import place_bounds
from ltlpipe.systems.pnml.kernels import (
    CANDIDATE_STRIDE,
    CELL_STRIDE,
    WORD_BITS,
    Candidate,
    Header,
    Part,
    expand_net,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ltlpipe.systems.packing_tables import Field
    from ltlpipe.systems.pnml.invariants import Bounds
    from ltlpipe.systems.pnml.net import PetriNet, Transition

MAX_BITS = 63
"""Bits of the widest field: markings are signed numbers of 64 bits."""

_PATIENCE = 3  # restarts before all fields without a bound are widened


@dataclass(frozen=True)
class PackedNet:
    """What a search sees of a net.

    Parameters
    ----------
    net : PetriNet
        The net.
    expand : function
        The successor function, not yet compiled.
    ints, words : int64[...], uint64[...]
        Its tables.
    initial : uint64[n_words]
        The initial row; the bits of `extra` are 0.
    extra : Field
        The field that was reserved for the caller.
    max_successors : int
        No state has more.
    fields : tuple of Field
        One per place.
    widths : Widths
        How wide fields are, and which may be too narrow.
    repack : function
        Packs the net again with other widths.
    n_marks : int
        0: nets have no acceptance.
    """

    net: PetriNet
    expand: Callable[..., int]
    ints: np.ndarray
    words: np.ndarray
    initial: np.ndarray
    extra: Field
    max_successors: int
    fields: tuple[Field, ...]
    widths: Widths
    repack: Callable[[Widths], PackedNet]
    n_marks: int = 0

    @property
    def n_actions(self) -> int:
        """Number of transitions."""
        return len(self.net.transitions)

    def action_name(self, number: int) -> str:
        """Return what people call a transition."""
        return self.net.actions[number]

    def unpack(self, rows: np.ndarray) -> np.ndarray:
        """Return the markings, int64[n, n_places], of rows uint64[n, w]."""
        markings = np.empty((len(rows), len(self.fields)), dtype=np.int64)
        for i, field in enumerate(self.fields):
            tokens = rows[:, field.word] >> np.uint64(field.shift)
            markings[:, i] = tokens & np.uint64(field.mask)
        return markings

    def _passed(self) -> list[int]:
        """Return the places whose fields were too narrow for some successor."""
        if not self.ints[Header.OVERFLOW]:
            return []
        n_words = len(self.initial)
        noted = self.words[Part.PASSED * n_words :][:n_words].tolist()
        return [
            place
            for place, field in enumerate(self.fields)
            if field.bits and noted[field.word] >> field.shift + field.bits - 1 & 1
        ]

    def overflowed(self) -> int | None:
        """Return a place whose field was too narrow for some successor so far.

        None if there was none: then no successor has been left out.
        """
        return next(iter(self._passed()), None)

    def widened(self) -> PackedNet | None:
        """Return the net packed with wider fields where they were too narrow.

        None if there is no wider field.
        """
        widths = self.widths.widened(self._passed())
        return None if widths is None else self.repack(widths)


@dataclass(frozen=True)
class Widths:
    """How many bits fields have.

    Parameters
    ----------
    bits : tuple of int
        One per place.
    proven : tuple of bool
        Which of them are known to be wide enough.
    restarts : int
        How often fields have been widened.
    """

    bits: tuple[int, ...]
    proven: tuple[bool, ...]
    restarts: int = 0

    def widened(self, places: Sequence[int]) -> Widths | None:
        """Return these with at least those of `places` doubled; None at the end.

        A net with many places that overflow one after the other would be started
        many times, so after a few restarts all that might are widened.
        """
        if any(self.bits[place] == MAX_BITS for place in places):
            return None
        wider = set(places)
        if self.restarts >= _PATIENCE:
            wider.update(p for p, proven in enumerate(self.proven) if not proven)
        bits = [
            min(2 * b, MAX_BITS) if p in wider else b for p, b in enumerate(self.bits)
        ]
        return Widths(tuple(bits), self.proven, self.restarts + 1)


def first_widths(net: PetriNet, bounds: Bounds) -> Widths:
    """Return how wide fields are at first.

    Whatever a transition adds to an empty place fits.
    """
    least = [max(tokens, 1).bit_length() for tokens in net.initial()]
    for transition in net.transitions:
        for place, difference in _differences(transition).items():
            least[place] = max(least[place], max(difference, 1).bit_length())
    bits = [
        min(max(b, (tokens or 0).bit_length()), MAX_BITS)
        for b, tokens in zip(least, bounds.tokens, strict=True)
    ]
    proven = [
        tokens is not None and tokens.bit_length() <= b
        for b, tokens in zip(bits, bounds.tokens, strict=True)
    ]
    return Widths(tuple(bits), tuple(proven))


def pack_net(
    net: PetriNet,
    *,
    extra_values: int = 1,
    seed: int | None = None,
    widths: Widths | None = None,
    bounds: Bounds | None = None,
) -> PackedNet:
    """Lay out the tables of `net`.

    Parameters
    ----------
    net : PetriNet
        It is not changed.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated; None keeps that of
        places and transitions, as far as places own transitions.
    widths : Widths, optional
        How wide fields are, if not what `first_widths` says.
    bounds : Bounds, optional
        What is known of the places already.
    """
    if bounds is None:
        bounds = place_bounds(net)
    if widths is None:
        widths = first_widths(net, bounds)
    n_places = len(net.places)
    order = np.arange(n_places)
    if seed is not None:
        order = np.random.default_rng(seed).permutation(n_places)
    sizes = [1 << widths.bits[place] for place in order.tolist()]
    *placed, extra = allocate([*sizes, extra_values])
    fields = [placed[k] for k in np.argsort(order).tolist()]
    n_words = 1 + max(field.word for field in (*fields, extra))
    builder = _TableBuilder(net, fields, n_words, widths, bounds)
    ints, words = builder.build(seed)
    initial = np.zeros(n_words, dtype=np.uint64)
    for field, tokens in zip(fields, net.initial(), strict=True):
        initial[field.word] |= np.uint64(tokens << field.shift)
    return PackedNet(
        net=net,
        expand=expand_net,
        ints=ints,
        words=words,
        initial=initial,
        extra=extra,
        max_successors=max(len(net.transitions), 1),
        fields=tuple(fields),
        widths=widths,
        repack=lambda wider: pack_net(
            net, extra_values=extra_values, seed=seed, widths=wider, bounds=bounds
        ),
    )


def _differences(transition: Transition) -> dict[int, int]:
    """Return what firing changes: the difference at each place, none of them 0."""
    places = {*transition.pre, *transition.post}
    changes = {
        place: transition.post.get(place, 0) - transition.pre.get(place, 0)
        for place in sorted(places)
    }
    return {place: change for place, change in changes.items() if change}


class _TableBuilder:
    """Lays out the candidates of a net."""

    def __init__(
        self,
        net: PetriNet,
        fields: list[Field],
        n_words: int,
        widths: Widths,
        bounds: Bounds,
    ) -> None:
        self.net = net
        self.fields = fields
        self.n_words = n_words
        self.widths = widths
        self.share = bounds.share.tolist()

    def build(self, seed: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return `ints` and `words`; `seed` shuffles the transitions."""
        owners = self._owners(seed)
        listed = sorted(owners, key=lambda t: self._rank(owners[t]))
        words = self._word_parts(set(owners.values()))
        candidates = np.zeros((len(listed) + 1, CANDIDATE_STRIDE), dtype=np.int64)
        for entry, number in zip(candidates, listed, strict=False):
            transition = self.net.transitions[number]
            entry[Candidate.TESTS] = len(words)
            narrow, counted = self._tests(transition, owners[number])
            words += narrow
            entry[Candidate.COUNTED] = len(words)
            words += counted
            entry[Candidate.CHANGES] = len(words)
            words += self._changes(transition)
            entry[Candidate.NUMBER] = number
        candidates[-1, Candidate.TESTS] = len(words)
        cells = np.zeros((WORD_BITS * self.n_words, CELL_STRIDE), dtype=np.int64)
        for k, number in enumerate(listed):
            self._extend_cells(cells, owners[number], k)
        header = np.zeros(len(Header), dtype=np.int64)
        header[Header.CELLS] = len(header)
        header[Header.CANDIDATES] = len(header) + cells.size
        header[Header.N_FREE] = sum(owners[number] is None for number in listed)
        ints = np.concatenate([header, cells.ravel(), candidates.ravel()])
        return ints, np.array(words, dtype=np.uint64)

    def _owners(self, seed: int | None) -> dict[int, int | None]:
        """Return the place under which each transition is listed, None for free ones.

        Transitions that take more than a field can hold are left out.
        """
        numbers = list(range(len(self.net.transitions)))
        if seed is not None:
            numbers = np.random.default_rng(seed).permutation(numbers).tolist()
        owners: dict[int, int | None] = {}
        for number in numbers:
            pre = self.net.transitions[number].pre
            if all(weight <= self.fields[p].mask for p, weight in pre.items()):
                # The less often the owner is marked, the fewer are tried in vain.
                owners[number] = min(pre, key=lambda p: self.share[p], default=None)
        return owners

    def _rank(self, owner: int | None) -> tuple[int, int]:
        """Return where the candidates of an owner stand: free ones first."""
        if owner is None:
            return (-1, 0)
        return (self.fields[owner].word, self.fields[owner].shift)

    def _word_parts(self, owners: set[int | None]) -> list[int]:
        """Return the entries of `Part`, one after the other."""
        n = self.n_words
        words = [0] * (n * Part.KEPT + n * WORD_BITS)
        everything = (1 << WORD_BITS) - 1
        for place, field in enumerate(self.fields):
            if field.bits:
                top = 1 << field.shift + field.bits - 1
                words[n * Part.TOPS + field.word] |= top
            if place in owners:
                bits = field.mask << field.shift
                words[n * Part.OWNED + field.word] |= bits
                for bit in range(field.shift, field.shift + field.bits):
                    at = n * Part.KEPT + WORD_BITS * field.word + bit
                    words[at] = everything & ~bits
        return words

    def _tests(
        self, transition: Transition, owner: int | None
    ) -> tuple[list[int], list[int]]:
        """Return pairs (word, needed), for narrow fields and for others.

        The words least likely to have what is needed come first.
        """
        needed: tuple[dict[int, int], dict[int, int]] = {}, {}
        for place in sorted(transition.pre, key=lambda p: self.share[p]):
            weight = transition.pre[place]
            if place == owner and weight == 1:
                continue  # it is marked
            field = self.fields[place]
            kind = needed[field.bits > 1]
            kind[field.word] = kind.get(field.word, 0) | weight << field.shift
        narrow, counted = ([x for pair in k.items() for x in pair] for k in needed)
        return narrow, counted

    def _changes(self, transition: Transition) -> list[int]:
        """Return triples (word, tokens put where they may not fit, difference)."""
        changes: dict[int, tuple[int, int]] = {}
        for place, difference in _differences(transition).items():
            field = self.fields[place]
            put, total = changes.get(field.word, (0, 0))
            if difference > 0 and not self.widths.proven[place]:
                put |= difference << field.shift
            total += difference << field.shift
            changes[field.word] = put, total
        everything = (1 << WORD_BITS) - 1
        return [
            entry
            for word, (put, total) in sorted(changes.items())
            for entry in (word, put, total & everything)
        ]

    def _extend_cells(self, cells: np.ndarray, owner: int | None, k: int) -> None:
        """Let the cells of an owner's bits end with candidate `k`."""
        if owner is None:
            return
        field = self.fields[owner]
        first = WORD_BITS * field.word + field.shift
        for cell in cells[first : first + field.bits]:
            if not cell[1]:
                cell[0] = k
            cell[1] = k + 1
