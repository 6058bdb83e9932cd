"""Intervals: that they hold what they should, and are as small as rows need."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.programs.program import _ARITHMETIC, EvaluationError
from ltlpipe.systems.programs.ranges import Interval, combined
from tests.example_counts import examples
from tests.processes import SOON
from tests.systems.programs.test_generating import compare

BOUNDS = st.integers(-9, 40)
INTERVALS = st.tuples(BOUNDS, BOUNDS).map(lambda ends: Interval(*sorted(ends)))


@pytest.mark.parametrize("op", sorted(_ARITHMETIC))
@given(INTERVALS, INTERVALS)
@settings(max_examples=examples(60), deadline=None)
def test_operators(op, a, b):
    """Every pair of values is inside."""
    found = combined(op, a, b)
    for x in range(a.low, a.high + 1):
        for y in range(b.low, b.high + 1):
            try:
                value = _ARITHMETIC[op](x, y)
            except EvaluationError:
                continue
            assert found.low <= value <= found.high


def bits(declarations, transitions, states="s", local=""):
    """The bits of each variable of a model with one process."""
    text = f"""{declarations}
    process P {{ {local} state {states}; init s; trans {transitions}; }}
    system async;"""
    compare(text, 600)
    model = read_dve_model(text, "model.dve")
    return {
        name: place.bits
        for name, place in zip(model.variables, model.layout.places, strict=True)
    }


@pytest.mark.parametrize(
    ("declarations", "transitions", "expected"),
    [
        ("byte x;", "s -> s { guard x < 5; effect x = x + 1; }", 3),
        ("byte x = 200;", "s -> s { guard x < 203; effect x = x + 1; }", 2),
        ("int x;", "s -> s { effect x = x + (x < 31); }", 5),
        ("int x = -3;", "s -> s { guard x != 4; effect x = x + 1; }", 3),
        ("int x;", "s -> s { effect x = (x + 1) % 12; }", 4),
        ("byte x;", "s -> s { effect x = x + 1; }", 8),
        ("int x;", "s -> s { effect x = x * 3 + 1; }", 16),
        ("byte x = 9;", "s -> s { guard not (x <= 2); effect x = x - 1; }", 3),
        (
            "byte x;",
            "s -> s { guard (x < 3 && x < 2) || x == 3; effect x = x + 1; }",
            2,
        ),
        ("byte x = 77;", "s -> s { guard x < 5; effect x = 1; }", 0),
    ],
)
def test_fields(declarations, transitions, expected):
    """As many bits as the values that can be reached need."""
    assert bits(declarations, transitions)["x"] == expected


def test_variables_of_processes():
    """By state of the process: what is large in one may be small in the other."""
    found = bits(
        "byte y;",
        """s -> c { guard x < 200; effect x = x & 3; },
        c -> s { effect y = x, x = 100; }""",
        states="s, c",
        local="byte x;",
    )
    assert found["y"] == 2
    assert found["P.x"] == 7


def test_failures_that_cannot_be():
    """No bit where no step can fail."""
    safe = "s -> s { guard x < 3; effect t[x] = 1, x = x + 1, x = 7 / x; }"
    assert bits("byte x, t[3];", safe)["error"] == 0
    risky = "s -> s { guard x < 4; effect t[x] = 1, x = x + 1; }"
    assert bits("byte x, t[3];", risky)["error"] == 1


def test_elements_that_are_replaced_again():
    """What is put into a row for a moment has to fit there, too."""
    found = bits(
        "byte a = 8, t[1];",
        "s -> s { effect t[0] = a, t[a & 0] = (t[a & 0] + 1) % 2; }",
    )
    assert found["t[0]"] == 4


def test_wide_arrays():
    """Elements over several words, read and written by computed indices."""
    text = """int t[13] = {1, -2, 3}, s; byte k;
    process P { state s; init s; trans
      s -> s { guard k < 13; effect t[k] = t[(k + 5) % 13] - 300 * k, k = k + 1; },
      s -> s { guard k == 13; effect s = t[t[12] & 7] + t[k - 9], k = 14; },
      s -> s { guard k == 14; effect s = t[s & 15], k = 15; }; } system async;"""
    states = compare(text, 100)
    assert len(states) == 16
    assert states[-1][13] == states[-2][states[-2][13] & 15]


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
def test_a_long_process_takes_linear_time():
    """What variables are anywhere is not joined anew at every step."""
    states = ", ".join(f"s{k}" for k in range(10_000))
    steps = ",\n".join(
        f"s{k} -> s{k + 1} {{ effect x = {k % 7}; }}" for k in range(9_999)
    )
    text = f"int x; process P {{ state {states}; init s0; trans\n{steps}; }}"
    model = read_dve_model(text + " system async;", "long.dve")

    began = time.process_time()
    ranges = model.ranges
    assert time.process_time() - began < SOON  # 1 s
    assert ranges.variables == [(0, 6), (0, 9_999), (0, 0)]
