"""What pictures of lassos show: cut, shared, with the components that take part."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LtlpipeError
from ltlpipe.report import lasso_pictures
from ltlpipe.report.lasso_pictures import Part, cut, parts_of, pictures
from ltlpipe.systems.networks.lts import LTS, Network

names = st.lists(st.text(max_size=3), max_size=30)


def lasso(prefix, cycle, files=None):
    return json.dumps(prefix), json.dumps(cycle), files


def no_system(files):
    raise AssertionError(files)


def steps(drawn, part):
    return [drawn.actions[action] for action in part.steps]


@given(names, st.integers(min_value=1, max_value=20))
def test_cut_in_the_middle(actions, longest):
    """The ends stay, the first half is the longer one, the count is right."""
    kept, left_out = cut(actions, longest)
    assert len(kept) + left_out == len(actions)
    assert len(kept) == min(longest, len(actions))
    head = (len(kept) + 1) // 2 if left_out else len(kept)
    assert kept[:head] == actions[:head]
    assert kept[head:] == actions[len(actions) - len(kept) + head :]


@given(st.lists(st.one_of(st.none(), st.tuples(names, names)), max_size=8))
def test_every_row_has_its_lasso(rows):
    """Equal ones share a picture, and none shows another's steps."""
    lassos = [None if row is None else lasso(*row) for row in rows]
    drawn = pictures(lassos, no_system)
    assert len(drawn.of_row) == len(rows)
    for row, number in zip(rows, drawn.of_row, strict=True):
        assert (row is None) == (number is None)
        if row is not None:
            picture = drawn.pictures[number]
            assert (steps(drawn, picture.prefix), steps(drawn, picture.cycle)) == row
            assert picture.prefix.left_out == picture.cycle.left_out == 0
            assert picture.system is None
    distinct = {lasso for lasso in lassos if lasso is not None}
    assert len(drawn.pictures) == len(distinct)


def test_a_page_has_a_budget(monkeypatch):
    """All parts get shorter together, until they fit or are as short as can be."""
    monkeypatch.setattr(lasso_pictures, "BUDGET", 100)
    long = [f"a{k}" for k in range(300)]
    one = pictures([lasso(long, ["b"])], no_system).pictures[0]
    assert (len(one.prefix.steps), one.prefix.left_out) == (60, 240)
    assert one.cycle == ((one.cycle.steps[0],), 0, None)
    rows = [lasso([f"{k}", *long], ["b"]) for k in range(50)]
    many = pictures(rows, no_system).pictures
    assert {(len(p.prefix.steps), p.prefix.left_out) for p in many} == {(12, 289)}


def test_who_takes_an_action():
    """All that share it; of an internal one with several owners, one of them."""
    network = Network(
        [
            LTS.from_transitions([(0, "a", 1), (1, "i", 0)], internal=["i"], name="x"),
            LTS.from_transitions([(0, "a", 0), (0, "tau", 0)], internal=["tau"]),
            LTS.from_transitions([(0, "i", 0)], internal=["i"]),
        ]
    )
    assert parts_of(network) == {
        "a": Part((0, 1), True),
        "i": Part((0, 2), False),
        "tau": Part((1,), True),
    }
    loaded = []

    def load(files):
        loaded.append(files)
        return network

    rows = [lasso(["a"], ["i", "<stutter>"], ("f",)), lasso([], ["tau"], ("f",))]
    drawn = pictures(rows, load)
    assert loaded == [("f",)]
    (system,) = drawn.systems
    assert system.components == ["x", "", ""]
    assert {drawn.actions[action]: part for action, part in system.parts.items()} == {
        "a": Part((0, 1), True),
        "i": Part((0, 2), False),
        "tau": Part((1,), True),
    }
    assert [picture.system for picture in drawn.pictures] == [0, 0]


def test_the_same_steps_in_two_systems_are_two_pictures():
    """Other components may take part; one that is gone makes a third."""
    ring = Network([LTS.from_transitions([(0, "a", 0)])])
    pair = Network([*ring.components, *ring.components])
    systems = {("ring",): ring, ("pair",): pair, ("gone",): None}
    drawn = pictures(
        [lasso([], ["a"], files) for files in (*systems, None)], systems.get
    )
    assert [picture.system for picture in drawn.pictures] == [0, 1, None]
    assert drawn.of_row == [0, 1, 2, 2]
    parts = [list(system.parts.values()) for system in drawn.systems]
    assert parts == [[Part((0,), True)], [Part((0, 1), True)]]


@pytest.mark.parametrize(
    "text", ["", "a b", "{}", "[1]", '["a"', "null", "[" * 100_000], ids=str.__len__
)
def test_what_is_no_lasso(text):
    with pytest.raises(LtlpipeError, match="expected a JSON list"):
        pictures([("[]", text, None)], no_system)


def test_states_by_name(monkeypatch):
    """Of the steps that are shown; of the first pictures if there are too many."""
    fork = LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "b", 1), (1, "c", 1)])
    network = Network([replace(fork, state_names=("idle", "busy"))])
    rows = [lasso(["a"] + ["c"] * 200, ["b", "a"], ("f",)), lasso(["a"], ["c"], ("f",))]
    drawn = pictures(rows, lambda _: network)
    (system,) = drawn.systems
    assert system.states == ["idle", "busy"]
    first, second = drawn.pictures
    assert first.prefix.states == (0, 1) + (1, 1) * 119
    assert first.cycle.states == (1, 0, 0, 1)
    assert second.cycle.states == (1, 1)
    assert drawn.has_all_states
    unclear = pictures([lasso(["a", "b"], ["c"], ("f",))], lambda _: network)
    assert unclear.pictures[0].prefix.states == (0, 1, 1, 1)
    unclear = pictures([lasso(["a"], ["b"], ("f",))], lambda _: network)
    assert unclear.pictures[0].cycle.states == (1, 1)
    monkeypatch.setattr(lasso_pictures, "REPLAYED", 203)
    drawn = pictures(rows, lambda _: network)
    assert not drawn.has_all_states
    assert [picture.cycle.states for picture in drawn.pictures] == [(1, 0, 0, 1), None]
