"""Fields of bits in the words of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.runtime.ticks import Ticks

_WORD_BITS = 64


class Field(NamedTuple):
    """Where a number lies in a row: `bits` bits at `shift` in word `word`.

    The number is `low` more than that of the bits.
    """

    word: int
    shift: int
    bits: int
    low: int = 0

    @property
    def mask(self) -> int:
        """The field's bits, moved to bit 0."""
        return (1 << self.bits) - 1

    def values(self, rows: np.ndarray) -> np.ndarray:
        """Return the numbers, int64[n], in rows uint64[n, w]."""
        bits = rows[:, self.word] >> np.uint64(self.shift) & np.uint64(self.mask)
        return bits.astype(np.int64) + self.low


def row_of(fields: Iterable[Field], values: Iterable[int], n_words: int) -> np.ndarray:
    """Return the row, uint64[n_words], with numbers in their fields."""
    words = [0] * n_words
    for field, value in zip(fields, values, strict=True):
        words[field.word] |= (value - field.low & field.mask) << field.shift
    return np.array(words, dtype=np.uint64)


def allocation(sizes: list[int], ticks: Ticks, reserve: int = 0) -> Job[list[Field]]:
    """Place numbers below `sizes` into as few words as first-fit finds.

    Several words get about as many bits each, the last one `reserve` fewer, if that
    takes no more words: rows then share more of their words (`--compress`).  Returns
    one field per size.
    """
    bits = [max(size - 1, 0).bit_length() for size in sizes]
    fields = yield from _first_fit(bits, _WORD_BITS, ticks)
    n_words = 1 + max((field.word for field in fields), default=0)
    even = -(-(sum(bits) + reserve) // n_words)
    if n_words > 1 and even < _WORD_BITS:
        balanced = yield from _first_fit(bits, even, ticks)
        if max(field.word for field in balanced) < n_words:
            return balanced
    return fields


def _first_fit(bits: list[int], room: int, ticks: Ticks) -> Job[list[Field]]:
    """Return fields of so many bits, in words of which `room` bits are used."""
    used: list[int] = []
    fields: dict[int, Field] = {}
    # Large fields first need fewer words; equal ones keep neighbours together.
    word, latest = 0, -1
    for i in sorted(range(len(bits)), key=lambda i: -bits[i]):
        if bits[i] != latest:  # where the last one did not fit, no equal one does
            word, latest = 0, bits[i]
        while word < len(used) and used[word] + bits[i] > room:
            word += 1
        if word == len(used):
            used.append(0)
        taken = used[word]
        fields[i] = Field(word, min(taken, _WORD_BITS - 1), bits[i])
        used[word] = taken + bits[i]
        yield from ticks.worked()
    return [fields[i] for i in range(len(bits))]
