"""A place/transition net packed for a search.

Each place owns a bit field of a row (`ltlpipe.systems.nets.packing`).  A field that
turns out to be too narrow is noted by the successor function, which leaves the
successor out: the caller looks at ``overflowed()`` and begins again with what
``widened()`` returns.

Invariants tell how many tokens some places can ever hold; such fields are as wide as
that.  The others begin with the bits of the initial marking, and are widened when a
search has met a marking that they cannot hold.

The tables (layout: `ltlpipe.systems.nets.kernels`) are made by whole arrays, for some
thousand arcs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.runtime.arrays import group_begins, ranges
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import allocation, row_of
from ltlpipe.systems.nets.kernels import (
    CANDIDATE_STRIDE,
    CELL_STRIDE,
    CHANGE_STRIDE,
    PAIR_STRIDE,
    WORD_BITS,
    Candidate,
    Header,
    Part,
    expand_net,
    expand_net_orbits,
)
from ltlpipe.systems.nets.stubborn_kernels import FIELD
from ltlpipe.systems.networks.packing import PACKING, PackedSystem
from ltlpipe.systems.propositions.kernels import assemble, taken_bits
from ltlpipe.systems.propositions.letters import TooLargeNumberError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.nets.structure import Net

_FREE = -1
"""The owner of a transition that takes nothing."""

_LEFT_OUT = -2
"""That of a transition that takes more than a field can hold."""


class _Entries(NamedTuple):
    """What the candidates point to: m entries of as many words."""

    owner: np.ndarray  # int64[m], ascending: the place of the candidate in its piece
    words: np.ndarray  # uint64[m, stride]


class TableBuilder:
    """Lays out the tables of a net, of which each place has one of the `fields`.

    A row has `n_words`; fields that are `proven` are known to be wide enough.
    """

    def __init__(
        self,
        net: Net,
        fields: Sequence[Field],
        n_words: int,
        proven: Sequence[bool],
    ) -> None:
        self.net = net
        self.fields = fields
        self.n_words = n_words
        self.proven = np.array(proven, dtype=np.bool_)
        self.word, shift, self.bits = (
            np.fromiter(map(itemgetter(i), fields), dtype=np.int64) for i in range(3)
        )
        self.shift = shift.astype(np.uint64)
        self.first_bit = WORD_BITS * self.word + shift
        mask = (np.uint64(1) << self.bits.astype(np.uint64)) - np.uint64(1)
        self.most = mask.astype(np.int64)  # tokens
        self.taken = mask << self.shift  # bits of a word

    def build(
        self, propositions: Sequence[Expression], seed: int | None, ticks: Ticks
    ) -> Job[tuple[np.ndarray, np.ndarray]]:
        """Return `ints` and `words`; `seed` shuffles the transitions.

        Raises
        ------
        UnsupportedError
            There are too many propositions.
        """
        letters = taken_bits(propositions, len(self.net.transitions))
        table = assemble(propositions, self.fields)
        owners = yield from self._owners(ticks)
        listed = self._listed(owners, seed)
        places, counts = np.unique(owners[listed], return_counts=True)
        places, counts = places[places != _FREE], counts[places != _FREE]
        n_free = len(listed) - int(counts.sum())
        parts = [self._word_parts(places)]
        n_before = len(parts[0])
        candidates = np.zeros((len(listed) + 1, CANDIDATE_STRIDE), dtype=np.int64)
        candidates[:-1, Candidate.NUMBER] = listed
        candidates[:-1, Candidate.LETTER] = letters[listed]
        done = 0
        for piece in self.net.pieces(listed):
            begins, words = self._laid_out(piece, owners[piece])
            candidates[done : done + len(piece), : Candidate.NUMBER] = begins + n_before
            done += len(piece)
            n_before += len(words)
            parts.append(words)
            yield from ticks.worked(len(piece) + len(words))
        candidates[-1, Candidate.TESTS] = n_before
        cells = self._cells(places, counts, n_free)
        header = np.zeros(len(Header), dtype=np.int64)
        header[Header.CELLS] = len(header)
        header[Header.CANDIDATES] = len(header) + cells.size
        header[Header.N_FREE] = n_free
        header[Header.N_WORDS] = self.n_words
        header[Header.PROPOSITIONS] = len(header) + cells.size + candidates.size
        ints = np.concatenate([header, cells.ravel(), candidates.ravel(), table])
        return ints, np.concatenate(parts)

    def _owners(self, ticks: Ticks) -> Job[np.ndarray]:
        """Return the place under which each transition is listed, int64[n].

        Transitions that take more than a field can hold are left out.
        """
        owners = np.full(len(self.net.transitions), _FREE, dtype=np.int64)
        share = self.net.bounds.share
        for piece in self.net.pieces():
            owner, place, weight = self.net.needs.of(piece)
            # The less often the owner is marked, the fewer are tried in vain.
            order = np.lexsort((share[place], owner))
            first = order[group_begins(owner)]
            owners[piece[owner[first]]] = place[first]
            owners[piece[owner[weight > self.most[place]]]] = _LEFT_OUT
            yield from ticks.worked(len(piece) + len(owner))
        return owners

    def _listed(self, owners: np.ndarray, seed: int | None) -> np.ndarray:
        """Return the candidates, free ones first, then as their owners lie in a row."""
        numbers = np.arange(len(owners))
        if seed is not None:
            numbers = np.random.default_rng(seed).permutation(numbers)
        numbers = numbers[owners[numbers] != _LEFT_OUT]
        rank = np.append(self.first_bit, -1)[owners[numbers]]  # that of _FREE is last
        listed: np.ndarray = numbers[np.argsort(rank, kind="stable")]
        return listed

    def _word_parts(self, owners: np.ndarray) -> np.ndarray:
        """Return the entries of `Part`, one after the other; `owners` are places."""
        n = self.n_words
        words = np.zeros(n * Part.KEPT + n * WORD_BITS, dtype=np.uint64)
        top = self.shift + (self.bits - 1).astype(np.uint64)
        np.bitwise_or.at(words, n * Part.TOPS + self.word, np.uint64(1) << top)
        owned = n * Part.OWNED + self.word[owners]
        np.bitwise_or.at(words, owned, self.taken[owners])
        bits = n * Part.KEPT + self._bits_of(owners)
        words[bits] = ~np.repeat(self.taken[owners], self.bits[owners])
        return words

    def _bits_of(self, places: np.ndarray) -> np.ndarray:
        """Return the numbers of all bits of some places in a row."""
        return ranges(self.first_bit[places], self.bits[places])

    def _cells(self, owners: np.ndarray, counts: np.ndarray, n_free: int) -> np.ndarray:
        """Return the first candidate and the last + 1 of each bit of a row.

        `owners` are places, each of which has so many candidates.
        """
        cells = np.zeros((WORD_BITS * self.n_words, CELL_STRIDE), dtype=np.int64)
        order = np.argsort(self.first_bit[owners])
        owners, counts = owners[order], counts[order]
        ends = n_free + np.cumsum(counts)
        spans = np.column_stack([ends - counts, ends])
        cells[self._bits_of(owners)] = np.repeat(spans, self.bits[owners], axis=0)
        return cells

    def _laid_out(
        self, piece: np.ndarray, owners: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return where the entries of some candidates begin, and the words.

        int64[n, 4], for tests, limits, clears and changes, and uint64[m].
        """
        kinds = (
            self._tests(piece, owners),
            self._limits(piece),
            self._clears(piece),
            self._changes(piece),
        )
        strides = np.array([*3 * [PAIR_STRIDE], CHANGE_STRIDE])
        n_entries = [np.bincount(kind.owner, minlength=len(piece)) for kind in kinds]
        sizes = (np.column_stack(n_entries) * strides).ravel()
        begins = (np.cumsum(sizes) - sizes).reshape(-1, len(kinds))
        words = np.zeros(sizes.sum(), dtype=np.uint64)
        for k, (kind, count) in enumerate(zip(kinds, n_entries, strict=True)):
            words[ranges(begins[:, k], count * strides[k])] = kind.words.ravel()
        return begins, words

    def _tests(self, piece: np.ndarray, owners: np.ndarray) -> _Entries:
        """Return pairs (word, needed).

        The words least likely to have what is needed come first.
        """
        owner, place, weight = self.net.needs.of(piece)
        order = np.lexsort((self.net.bounds.share[place], owner))
        owner, place, weight = owner[order], place[order], weight[order]
        needed = (place != owners[owner]) | (weight != 1)  # an owner is marked
        owner, place, weight = owner[needed], place[needed], weight[needed]
        tokens = weight.astype(np.uint64) << self.shift[place]
        return _by_word(owner, self.word[place], tokens[:, None])

    def _limits(self, piece: np.ndarray) -> _Entries:
        """Return pairs (word, the most): all bits where there is no limit."""
        owner, place, most = self.net.limits.of(piece)
        counts = most < self.most[place]
        owner, place, most = owner[counts], place[counts], most[counts]
        less = (self.most[place] - most).astype(np.uint64) << self.shift[place]
        return _without(_by_word(owner, self.word[place], less[:, None]))

    def _clears(self, piece: np.ndarray) -> _Entries:
        """Return pairs (word, bits that are kept)."""
        owner, place, _ = self.net.resets.of(piece)
        cleared = self.taken[place][:, None]
        return _without(_by_word(owner, self.word[place], cleared))

    def _changes(self, piece: np.ndarray) -> _Entries:
        """Return triples (word, tokens put where they may not fit, difference)."""
        owner, place, change = self.net.effects(piece)
        total = change.astype(np.uint64) << self.shift[place]
        in_doubt = (change > 0) & ~self.proven[place]
        put = np.where(in_doubt, total, np.uint64(0))
        order = np.lexsort((self.word[place], owner))
        owner, place = owner[order], place[order]
        values = np.column_stack([put, total])[order]
        return _by_word(owner, self.word[place], values)


def _without(entries: _Entries) -> _Entries:
    """Turn the second words: all bits without what they have."""
    entries.words[:, 1] = ~entries.words[:, 1]
    return entries


def _by_word(owner: np.ndarray, word: np.ndarray, values: np.ndarray) -> _Entries:
    """Add the values, uint64[m, k], of each word of each owner.

    The words of an owner come in the order in which they are first met; `owner` is
    ascending.
    """
    order = np.lexsort((word, owner))
    begins = group_begins(owner[order], word[order])
    sums = np.add.reduceat(values[order], begins, axis=0)
    first = order[begins]
    met = np.argsort(first)
    first = first[met]
    words = np.column_stack([word[first].astype(np.uint64), sums[met]])
    return _Entries(owner[first], words)


MAX_BITS = 63
"""Bits of the widest field: markings are signed numbers of 64 bits."""


def wider(bits: int) -> int:
    """Return twice as many bits; of many fewer, or sums of places might not fit."""
    return min(2 * bits, (bits + MAX_BITS + 1) // 2)


_PATIENCE = 3  # restarts before all fields without a bound are widened


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
        """Return these with at least those of `places` widened; None at the end.

        A net with many places that overflow one after the other would be started
        many times, so after a few restarts all that might are widened.
        """
        if any(self.bits[place] == MAX_BITS for place in places):
            return None
        chosen = set(places)
        if self.restarts >= _PATIENCE:
            chosen.update(p for p, proven in enumerate(self.proven) if not proven)
        bits = [wider(b) if p in chosen else b for p, b in enumerate(self.bits)]
        return Widths(tuple(bits), self.proven, self.restarts + 1)


def first_widths(net: Net, ticks: Ticks) -> Job[Widths]:
    """Return how wide fields are at first.

    Whatever a transition adds to an empty place fits.
    """
    added = np.ones(len(net.places), dtype=np.int64)
    for piece in net.pieces():
        _, place, change = net.effects(piece)
        np.maximum.at(added, place, change)
        yield from ticks.worked(len(piece) + len(place))
    held = zip(net.initial(), added.tolist(), net.bounds.tokens, strict=True)
    bits, proven = [], []
    for tokens, put, bound in held:
        least = max(tokens, put, bound or 0).bit_length()
        bits.append(min(least, MAX_BITS))
        proven.append(bound is not None and bound.bit_length() <= bits[-1])
        yield from ticks.worked()
    return Widths(tuple(bits), tuple(proven))


_PER_THING = 0.5  # microseconds, roughly, of all that is done to an arc or a place


@dataclass(frozen=True)
class PackedNet(PackedSystem):
    """What a search sees of a net.

    Parameters
    ----------
    widths : Widths
        How wide fields are, and which may be too narrow.
    repacked : callable
        The job that packs the net with fields of other `widths`.
    """

    widths: Widths = field(kw_only=True)
    repacked: Callable[..., Job[PackedNet]] = field(kw_only=True)


def pack_net(
    net: Net,
    propositions: Sequence[Expression] = (),
    *,
    extra_values: int = 1,
    seed: int | None = None,
    ample: np.ndarray | None = None,
    widths: Widths | None = None,
) -> Job[PackedNet]:
    """Lay out the tables of `net`.

    Parameters
    ----------
    net : Net
        It is not changed.
    propositions : sequence of Expression
        Bound; letters are sets of them.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated; None keeps that of
        places and transitions, as far as places own transitions.
    ample : int64[n_transitions, 3] or int64[m], optional
        See `ltlpipe.systems.models.Model.packing`; or a table of `keep_stubborn`.
    widths : Widths, optional
        How wide fields are, if not what `first_widths` says.

    Raises
    ------
    UnsupportedError
        There are too many propositions.
    """
    ticks = Ticks(PACKING, _PER_THING)
    if widths is None:
        widths = yield from first_widths(net, ticks)
    order = np.arange(len(net.places))
    if seed is not None:
        order = np.random.default_rng(seed).permutation(order)
    sizes = [1 << widths.bits[place] for place in order.tolist()]
    *placed, extra = yield from allocation([*sizes, extra_values], ticks)
    places = [placed[k] for k in np.argsort(order).tolist()]
    n_words = 1 + max(place.word for place in (*places, extra))
    builder = TableBuilder(net, places, n_words, widths.proven)
    ints, words = yield from builder.build(propositions, seed, ticks)
    if ample is not None and ample.ndim == 1:
        at = ints[Header.STUBBORN] = len(ints)
        cells = [number for f in places for number in (f.word, f.shift, f.mask)]
        ints = np.concatenate([ints, ample, np.array(cells, dtype=np.int64)])
        ints[at : at + FIELD] = extra.word, extra.shift, extra.mask
    elif ample is not None:
        ints[Header.AMPLE] = len(ints)
        ints = np.concatenate([ints, ample.ravel()])
    how: dict[str, Any] = {"extra_values": extra_values, "seed": seed, "ample": ample}
    repacked = partial(pack_net, net, propositions, **how)

    def widened() -> Job[PackedNet | None]:
        wider = widths.widened(too_narrow(ints, words, places))
        try:
            return None if wider is None else (yield from repacked(widths=wider))
        except TooLargeNumberError:
            return None

    return PackedNet(
        expand=expand_net,
        expand_orbits=expand_net_orbits,
        ints=ints,
        words=words,
        initial=row_of(places, net.initial(), n_words),
        extra=extra,
        max_successors=max(len(net.transitions), 1),
        fields=tuple(places),
        dtype=np.int64,
        overflowed=lambda: next(iter(too_narrow(ints, words, places)), None),
        widened=widened,
        widths=widths,
        repacked=repacked,
    )


def too_narrow(
    ints: np.ndarray, words: np.ndarray, places: Sequence[Field]
) -> list[int]:
    """Return the places of a net whose fields were too narrow for some successor."""
    if not ints[Header.OVERFLOW]:
        return []
    noted = words[ints[Header.N_WORDS] * Part.PASSED :].tolist()
    return [
        number
        for number, place in enumerate(places)
        if noted[place.word] >> place.shift + place.bits - 1 & 1
    ]
