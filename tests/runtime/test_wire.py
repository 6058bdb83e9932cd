"""Messages between processes: what is sent arrives, and nothing else is sent."""

import socket

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.wire import (
    SMALL,
    Message,
    Receiver,
    error_from_dict,
    error_to_dict,
    packed,
    unpacked,
)
from tests.example_counts import examples

DTYPES = st.sampled_from(["i4", "u4", "u8", "i8", "u1", "f8", "?"]).map(np.dtype)
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | arrays_of.arrays(DTYPES, arrays_of.array_shapes(min_dims=0, min_side=0))
)
KEYS = st.sampled_from(["$", "a", ""]) | st.text()
VALUES = st.recursive(
    LEAVES, lambda parts: st.lists(parts) | st.dictionaries(KEYS, parts), max_leaves=8
)


def sent(*values):
    """Return values as they arrive, sent one after the other."""
    ours, theirs = socket.socketpair()
    receiver = Receiver(theirs)
    with ours:
        for value in values:
            Message(value).send(ours)
        found = [receiver.receive()[0] for _ in values]
    with pytest.raises(EOFError):
        receiver.receive()
    receiver.close()
    return found


def same(one, other):
    """Whether two values are equal, arrays with their types and shapes."""
    if isinstance(one, np.ndarray):
        return (
            one.dtype == other.dtype
            and one.shape == other.shape
            and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        )
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[k], other[k]) for k in one)
    return type(one) is type(other) and one == other


@settings(max_examples=examples(40))
@given(st.lists(VALUES, min_size=1, max_size=3))
def test_what_is_sent_arrives(values):
    assert same(sent(*values), values)


@pytest.mark.parametrize("n_bytes", [SMALL - 100, SMALL, SMALL + 1, 10 * SMALL])
def test_large_values_arrive_and_can_be_changed(n_bytes):
    """Large ones travel as files; small ones before and after keep their order."""
    array = np.arange(n_bytes, dtype=np.uint8)
    first, found, last = sent("first", {"array": array, "text": "ä"}, "last")

    assert (first, last) == ("first", "last")
    assert same(found, {"array": array, "text": "ä"})
    found["array"][0] = 7


def test_arrays_of_any_order_and_numbers_of_numpy():
    array = np.arange(12).reshape(3, 4)

    assert same(sent(array.T[::2])[0], array.T[::2].copy())
    assert sent((np.int32(3), np.float64(0.5), np.bool_(True)))[0] == [3, 0.5, True]


@pytest.mark.parametrize(
    "value", [object(), {1: 2}, {1, 2}, np.array(["a"]), np.array([None])]
)
def test_what_cannot_be_sent(value):
    with pytest.raises(TypeError):
        Message([value])


def test_who_is_not_there():
    """A message that has not come is waited for elsewhere; an end is an EOFError."""
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    receiver = Receiver(theirs)

    assert receiver.receive() is None
    ours.send(b"\0\0")
    assert receiver.receive() is None
    ours.close()
    with pytest.raises(EOFError):
        receiver.receive()
    receiver.close()


@pytest.mark.parametrize(
    "error",
    [
        InputError("bad", file="x.hoa", line=7),
        InputError("bad", file="x.hoa"),
        FormulaError("bad", formula="a U", position=3),
        FormulaError("bad", formula="a U", position=3, file="f.ltl", line=2),
        UnsupportedError("use something else"),
        StoppedError("max-states"),
    ],
)
def test_errors_keep_what_they_carry(error):
    found = error_from_dict(sent(error_to_dict(error))[0])

    assert type(found) is type(error)
    assert str(found) == str(error)
    assert vars(found) == vars(error)


def test_other_errors_keep_their_traceback():
    try:
        {}["missing"]
    except KeyError as error:
        found = error_from_dict(error_to_dict(error))
    memory = error_from_dict(error_to_dict(MemoryError()))

    assert type(found) is RuntimeError
    assert "test_wire.py" in str(found)
    assert "KeyError: 'missing'" in str(found)
    assert isinstance(memory, StoppedError)
    assert memory.reason == "memory"


@given(VALUES)
def test_as_bytes(value):
    """The same without a socket; arrays can be written to, as kernels want it."""
    found = unpacked(packed({"value": value}))["value"]

    assert same(found, value)
    if isinstance(found, np.ndarray):
        assert found.flags.writeable


@pytest.mark.parametrize("unit", ["a", "\n", "ä", "\U0001d11e", "\ud800", '"\\'])
@pytest.mark.parametrize("length", [4096, 4097, 100_000])
def test_long_texts_arrive(unit, length):
    """Beside the JSON, whatever characters they have."""
    value = {"$": unit * length, "a": [unit * length, unit]}
    assert sent(value) == [value]
