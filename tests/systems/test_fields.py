"""Where numbers lie in the words of rows."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import allocation
from ltlpipe.systems.networks.packing import PACKING
from tests.example_counts import examples


def placed(bits, reserve=0):
    """Fields for numbers of so many bits, and the bits that each word has."""
    sizes = [1 << n for n in bits]
    fields = complete(allocation(sizes, Ticks(PACKING), reserve))
    words = defaultdict(int)
    for field in fields:
        words[field.word] += field.bits
    return fields, [words[word] for word in sorted(words)]


@given(st.lists(st.integers(0, 64), max_size=30), st.integers(0, 20))
@settings(max_examples=examples(200))
def test_fields_have_bits_of_their_own(bits, reserve):
    """However they are spread over words, and over no more words than first-fit."""
    fields, words = placed(bits, reserve)
    assert [field.bits for field in fields] == bits
    taken = [{(f.word, f.shift + k) for k in range(f.bits)} for f in fields]
    assert sum(map(len, taken)) == len(set().union(*taken))
    assert all(f.shift + f.bits <= 64 for f in fields)
    used = []
    for n in sorted(bits, reverse=True):
        word = next((w for w, k in enumerate(used) if k + n <= 64), len(used))
        used[word:] = [used[word] + n, *used[word + 1 :]] if used[word:] else [n]
    assert len(words) == max(len(used), min(len(bits), 1))


def test_words_are_filled_evenly():
    """And the last one has room for what is added behind the others."""
    assert placed([4] * 28)[1] == [56, 56]
    assert placed([4] * 28, 12)[1] == [60, 52]
    assert placed([4] * 31, 12)[1] == [64, 60]  # not without a third word
    assert placed([60, 3, 3, 3])[1] == [60, 9]
