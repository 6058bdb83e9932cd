"""Budgets of searches of sets count the sets that are generated.

`--timeout 8` took 11 s: budgets counted sets that are expanded, and each of these may
have millions of successors.
"""

from __future__ import annotations

import pytest

from ltlpipe.search.registers import Reg, Status
from ltlpipe.symmetry.sets import powerset_search
from ltlpipe.symmetry.sets.powerset_search import KINDS, PowersetSearch
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Every,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from tests.symmetry.sets.brute_force_sets import question

N_CALLS = 600
BUDGET = 64
MOST = BUDGET + powerset_search._FIRST_RESULTS
"""Sets that a call may generate: its budget, and what there is room for."""


def coloured_meeting(n, k):
    """n people choose among k topics; nothing happens after all have chosen."""

    def sort(name, size):
        names = tuple(f"{name}{c}" for c in range(1, size + 1))
        return Sort(name, name, ENUMERATION, names, tuple(map(str, range(1, size + 1))))

    x, y = Bound(0, 0, n), Bound(1, 0, k)
    return SymmetricNet(
        ColouredNet(
            "meeting",
            (sort("person", n), sort("topic", k)),
            (Variable("x", "x", 0), Variable("y", "y", 1)),
            (
                ColouredPlace("free", "free", (0,), Tokens(1, (Every(n),))),
                ColouredPlace("chosen", "chosen", (0, 1), EMPTY),
                ColouredPlace("never", "never", (0,), EMPTY),
            ),
            (
                ColouredTransition(
                    "choose",
                    "choose",
                    TRUE,
                    ((0, Tokens(1, (x,))),),
                    ((1, Tokens(1, (x, y))),),
                ),
            ),
        )
    )


def assert_within(automaton, name):
    """No call of the first ones generates more sets than it may, though sets have more.

    Nor do the results of an operation need more room.
    """
    search = PowersetSearch(automaton, name)
    most = in_turns = 0
    for _ in range(N_CALLS):
        generated = (Reg.TRANSITIONS, Reg.PARTS)
        before = sum(int(search.registers[register]) for register in generated)
        status = search.step(BUDGET)
        after = sum(int(search.registers[register]) for register in generated)
        most = max(most, after - before)
        in_turns += search.registers[Reg.PENDING] != 0
        if status == Status.GROW:
            list(search.grow(float("inf")))
        elif status != Status.RUNNING:
            break
    assert len(search.arrays.ids) == powerset_search._FIRST_RESULTS
    assert BUDGET < most <= MOST
    assert in_turns > 0


@pytest.mark.parametrize("name", KINDS)
def test_symmetric_nets(name):
    """Ten people, of whom the property tells six apart once all have chosen."""
    some = " || ".join(f"chosen.{i}.{i % 4 + 1} == 1" for i in range(1, 7))
    text = f'!F("free == 0" & X(!"{some}" U "never == 1"))'
    asked = question(coloured_meeting(10, 4), text)

    assert_within(asked.made.automaton, name)
