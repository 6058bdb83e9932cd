"""Where the variables of a model lie in a row, packed by the values they can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.systems.fields import Field, allocate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.programs.program import Program

WORD_BITS = 64


class Chunk(NamedTuple):
    """Elements of an array that lie side by side in one word.

    Element ``first + i`` of the array has its field at ``shift + i * bits``.
    """

    first: int
    size: int
    word: int
    shift: int


@dataclass(frozen=True)
class Layout:
    """The fields of a model's rows."""

    places: tuple[Field, ...]  # where each variable lies
    chunks: dict[int, tuple[Chunk, ...]]  # of each array, by its first variable
    n_words: int  # words that the model needs

    def packed(self, values: Sequence[int], n_words: int) -> np.ndarray:
        """Return the row, uint64[n_words], of a state."""
        words = [0] * n_words
        for value, place in zip(values, self.places, strict=True):
            words[place.word] |= value - place.low << place.shift
        return np.array(words, dtype=np.uint64)

    def with_extra(self, n_values: int) -> Field:
        """Return a field for numbers below `n_values` that the model leaves free.

        It lies behind the model's fields of a word, or in a word of its own.  The
        model's own fields never depend on it, so the generated code does not.
        """
        bits = max(n_values - 1, 0).bit_length()
        if not bits:
            return Field(0, 0, 0)
        used = [0] * self.n_words
        for place in self.places:
            used[place.word] = max(used[place.word], place.shift + place.bits)
        for word, taken in enumerate(used):
            if taken + bits <= WORD_BITS:
                return Field(word, taken, bits)
        return Field(self.n_words, 0, bits)


def lay_out(program: Program, ranges: Sequence[tuple[int, int]]) -> Layout:
    """Place the variables of a model by the least and the largest value of each.

    They are the same for all elements of an array.
    """
    lows, bits = [], []
    for low, high in ranges:
        # Where it costs no bit, values are stored as they are.
        if low > 0 and high.bit_length() == (high - low).bit_length():
            low = 0
        lows.append(low)
        bits.append((high - low).bit_length())
    units: list[tuple[int, int]] = []  # first variable and number of variables
    for slot in dict.fromkeys(program.slots):
        size = len(program.slot_variables(slot))
        most = WORD_BITS // bits[slot] if bits[slot] else size
        units += [(slot + i, min(most, size - i)) for i in range(0, size, most)]
    fields = allocate([1 << bits[first] * size for first, size in units])
    places: list[Field] = []
    chunks: dict[int, tuple[Chunk, ...]] = {}
    for (first, size), field in zip(units, fields, strict=True):
        slot, width = program.slots[first], bits[first]
        chunk = Chunk(first - slot, size, field.word, field.shift)
        chunks[slot] = (*chunks.get(slot, ()), chunk)
        for i in range(size):
            shift = min(field.shift + i * width, WORD_BITS - 1)
            places.append(Field(field.word, shift, width, lows[first + i]))
    return Layout(tuple(places), chunks, 1 + max(place.word for place in places))
