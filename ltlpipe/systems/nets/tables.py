"""The tables of a packed net (layout: `ltlpipe.systems.nets.kernels`).

They are made by whole arrays, for some thousand arcs at a time.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.systems.nets.kernels import (
    CANDIDATE_STRIDE,
    CELL_STRIDE,
    CHANGE_STRIDE,
    TEST_STRIDE,
    WORD_BITS,
    Candidate,
    Header,
    Part,
)
from ltlpipe.systems.nets.structure import group_begins, ranges
from ltlpipe.systems.propositions.tables import assemble, taken_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks
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
            candidates[done : done + len(piece), :3] = begins + n_before
            done += len(piece)
            n_before += len(words)
            parts.append(words)
            if ticks.over(len(piece) + len(words)):
                yield ticks.progress
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
            owner, place, weight = self.net.pre.of(piece)
            # The less often the owner is marked, the fewer are tried in vain.
            order = np.lexsort((share[place], owner))
            first = order[group_begins(owner)]
            owners[piece[owner[first]]] = place[first]
            owners[piece[owner[weight > self.most[place]]]] = _LEFT_OUT
            if ticks.over(len(piece) + len(owner)):
                yield ticks.progress
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
        """Return where the tests and changes of some candidates begin, and the words.

        int64[n, 3] and uint64[m].
        """
        kinds = (*self._tests(piece, owners), self._changes(piece))
        strides = np.array([TEST_STRIDE, TEST_STRIDE, CHANGE_STRIDE])
        n_entries = [np.bincount(kind.owner, minlength=len(piece)) for kind in kinds]
        sizes = (np.column_stack(n_entries) * strides).ravel()
        begins = (np.cumsum(sizes) - sizes).reshape(-1, len(kinds))
        words = np.zeros(sizes.sum(), dtype=np.uint64)
        for k, (kind, count) in enumerate(zip(kinds, n_entries, strict=True)):
            words[ranges(begins[:, k], count * strides[k])] = kind.words.ravel()
        return begins, words

    def _tests(
        self, piece: np.ndarray, owners: np.ndarray
    ) -> tuple[_Entries, _Entries]:
        """Return pairs (word, needed), for narrow fields and for others.

        The words least likely to have what is needed come first.
        """
        owner, place, weight = self.net.pre.of(piece)
        order = np.lexsort((self.net.bounds.share[place], owner))
        owner, place, weight = owner[order], place[order], weight[order]
        needed = (place != owners[owner]) | (weight != 1)  # an owner is marked
        owner, place, weight = owner[needed], place[needed], weight[needed]
        tokens = weight.astype(np.uint64) << self.shift[place]
        is_narrow = self.bits[place] == 1
        narrow, counted = (
            _by_word(owner[chosen], self.word[place[chosen]], tokens[chosen, None])
            for chosen in (is_narrow, ~is_narrow)
        )
        return narrow, counted

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
