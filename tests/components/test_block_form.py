"""The block normal form against its definition, built naively."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS
from ltlpipe.components import TooLargeError, reduce
from tests.example_counts import examples
from tests.hypothesis_strategies import lts

COMPONENTS = lts(max_states=6, max_transitions=14, internal=["d"])
HIDDEN = st.sets(st.sampled_from(["a", "b", "nowhere"]))
DIV = "div"


class Definition:
    """The form of docs/erasable.md, Sec. 4; None stands for the hidden label."""

    def __init__(self, component, hidden):
        silent = set(hidden) | component.internal
        self.steps = [
            (src, None if label in silent else label, dst)
            for src, label, dst in component.transitions()
        ]
        live = set(range(component.n_states))
        for _ in range(component.n_states):
            live = {
                s for s, a, t in self.steps if a is None and s in live and t in live
            }
        self.live = live
        start = (frozenset([component.initial]), 0)
        self.rows = {}
        todo = [start]
        while todo:
            state = todo.pop()
            if state not in self.rows:
                self.rows[state] = self.row(state)
                todo += self.rows[state].values()
        self.start = start

    def post(self, states, label):
        return frozenset(t for s, a, t in self.steps if s in states and a == label)

    def row(self, state):
        if state == DIV:
            return {None: DIV}
        states, begun = state
        labels = {a for s, a, _ in self.steps if s in states} - {None}
        row = {a: (self.post(states, a), 0) for a in labels}
        behind = self.post(states, None)
        while not self.post(behind, None) <= behind:
            behind |= self.post(behind, None)
        if begun and states & self.live:
            row[None] = DIV
        elif not begun and behind:
            row[None] = (behind, 1)
        return row

    def n_classes(self):
        block = dict.fromkeys(self.rows, 0)
        while True:
            finer = {
                s: frozenset((a, block[t]) for a, t in row.items())
                for s, row in self.rows.items()
            }
            if len(set(finer.values())) == len(set(block.values())):
                return len(set(block.values()))
            numbers = {key: k for k, key in enumerate(set(finer.values()))}
            block = {s: numbers[finer[s]] for s in self.rows}


def assert_is_the_form(component, hidden):
    """Deterministic, with the same words, and as few states as can be."""
    definition = Definition(component, hidden)
    result = reduce(component, hidden, "block")
    moves = {}
    for src, label, dst in result.transitions():
        key = src, None if label in result.internal else label
        assert key not in moves
        moves[key] = dst
    together = {(result.initial, definition.start)}
    todo = list(together)
    while todo:
        here, there = todo.pop()
        row = definition.rows[there]
        assert {a for s, a in moves if s == here} == set(row)
        new = {(moves[here, a], row[a]) for a in row} - together
        together |= new
        todo += new
    assert result.n_states == definition.n_classes()
    assert reduce(result, (), "block") == result


@given(COMPONENTS, HIDDEN)
@settings(max_examples=examples(300))
def test_definition(component, hidden):
    """On random components."""
    assert_is_the_form(component, hidden)


@pytest.mark.slow
@given(lts(max_states=9, max_transitions=24, internal=["d"]), HIDDEN)
@settings(max_examples=examples(5000))
def test_definition_by_the_thousand(component, hidden):
    """On larger ones."""
    assert_is_the_form(component, hidden)


def test_a_block_is_one_step_or_none():
    """Two hidden steps are one; where there need be none, there still need not."""
    component = LTS.from_transitions(
        [(0, "x", 1), (1, "x", 2), (2, "a", 0), (0, "a", 0), (1, "b", 1)]
    )
    assert reduce(component, {"x"}, "block").transitions() == [
        (0, "a", 0),
        (0, "i", 1),
        (1, "a", 0),
        (1, "b", 2),
        (2, "b", 2),
        (2, "i", 3),
        (3, "a", 0),
    ]


def test_a_block_without_an_end():
    """It stays; `trace` would have a loop where it begins."""
    component = LTS.from_transitions([(0, "a", 1), (1, "x", 1)])
    assert reduce(component, {"x"}, "block") == reduce(component, {"x"}, "strong")


def test_limit():
    """The deterministic form may be exponential."""
    steps = [(0, "a", 0), (0, "b", 0), (0, "a", 1)]
    steps += [(k, label, k + 1) for k in range(1, 12) for label in "ab"]
    with pytest.raises(TooLargeError):
        reduce(LTS.from_transitions(steps), (), "block", cap=100)
