"""The tables of a packed net (layout: `ltlpipe.systems.pnml.kernels`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.systems.pnml.kernels import (
    CANDIDATE_STRIDE,
    CELL_STRIDE,
    WORD_BITS,
    Candidate,
    Header,
    Part,
)
from ltlpipe.systems.propositions.tables import assemble, taken_bits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.systems.fields import Field
    from ltlpipe.systems.pnml.structure import Net, Transition

_ALL_BITS = (1 << WORD_BITS) - 1


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
        self.proven = proven
        self.share = net.bounds.share.tolist()

    def build(
        self, propositions: Sequence[Expression], seed: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return `ints` and `words`; `seed` shuffles the transitions.

        Raises
        ------
        UnsupportedError
            There are too many propositions.
        """
        letters = taken_bits(propositions, len(self.net.transitions))
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
            entry[Candidate.LETTER] = letters[number]
        candidates[-1, Candidate.TESTS] = len(words)
        cells = np.zeros((WORD_BITS * self.n_words, CELL_STRIDE), dtype=np.int64)
        for k, number in enumerate(listed):
            self._extend_cells(cells, owners[number], k)
        header = np.zeros(len(Header), dtype=np.int64)
        header[Header.CELLS] = len(header)
        header[Header.CANDIDATES] = len(header) + cells.size
        header[Header.N_FREE] = sum(owners[number] is None for number in listed)
        header[Header.N_WORDS] = self.n_words
        header[Header.PROPOSITIONS] = len(header) + cells.size + candidates.size
        table = assemble(propositions, self.fields)
        ints = np.concatenate([header, cells.ravel(), candidates.ravel(), table])
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
        for place, field in enumerate(self.fields):
            top = 1 << field.shift + field.bits - 1
            words[n * Part.TOPS + field.word] |= top
            if place in owners:
                bits = field.mask << field.shift
                words[n * Part.OWNED + field.word] |= bits
                for bit in range(field.shift, field.shift + field.bits):
                    at = n * Part.KEPT + WORD_BITS * field.word + bit
                    words[at] = _ALL_BITS & ~bits
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
        for place, difference in transition.differences().items():
            field = self.fields[place]
            put, total = changes.get(field.word, (0, 0))
            if difference > 0 and not self.proven[place]:
                put |= difference << field.shift
            total += difference << field.shift
            changes[field.word] = put, total
        return [
            entry
            for word, (put, total) in sorted(changes.items())
            for entry in (word, put, total & _ALL_BITS)
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
