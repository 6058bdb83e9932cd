"""Monitors of stars: what they read, where they rest, what deadlocks are to them."""

from __future__ import annotations

import pytest

from ltlpipe.automata.translation import translated
from ltlpipe.decoupled.monitors import monitor_of_valuations
from ltlpipe.decoupled.stars import find_star
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.programs.model import read_dve_model

TEXT = """byte a;
process A { state s, t, u; init s; trans s -> t {}, t -> u { effect a = 1; }; }
process B { state s, t; init s; trans s -> t {}, t -> s { guard a == 0; }; }
system async;"""


@pytest.fixture(scope="module")
def star():
    model = read_dve_model(TEXT, "star.dve")
    complete(model.prepared())
    return complete(find_star(model, [model.meaning("a==1")], stutters=True))


def monitor_for(star, formula):
    """What watches for the violations of a formula about `a==1`."""
    table = complete(translated(parse(formula), "ba", ["a==1"], over_states=True))
    return monitor_of_valuations(star, table), table


def test_what_the_star_is(star):
    """Two labels of A, as a may be 1 before; one of B; one of all deadlocks."""
    assert [v.letter for v in star.valuations] == [0, 1]
    shared = [k for k, a in enumerate(star.network.actions) if not a.internal]
    changes = [star.changes[k] for k in shared if k not in star.deadlocks]
    assert sorted(changes, key=str) == [(0, 1), None, None]
    assert len(star.deadlocks) == 1


def test_valuations_are_part_of_the_state(star):
    """Violated by a == 0 for ever: the monitor rests until A has moved."""
    monitor, table = monitor_for(star, "F(a==1)")
    (change,) = [k for k, c in enumerate(star.changes) if c == (0, 1)]
    (dead,) = star.deadlocks
    stopped = monitor.n_states - 1

    assert table.n_states == 1
    assert 0 in monitor.resting
    assert stopped not in monitor.resting
    ((after, _),) = [move[0] for move in monitor.actions[change]]
    assert after not in monitor.resting
    (move,) = monitor.actions[dead]
    assert set(move) == {0, stopped}
    assert set(move.values()) == {(stopped, (1 << monitor.n_marks) - 1)}


def test_letters_are_read_before_the_step(star):
    """Violated by a == 1: the step that makes it true does not see it."""
    monitor, _ = monitor_for(star, "G(!(a==1))")
    (change,) = [k for k, c in enumerate(star.changes) if c == (0, 1)]
    targets = {move[0][0] for move in monitor.actions[change]}
    assert targets.isdisjoint({0})
    assert any(target in monitor.resting for target in targets)
    assert 0 not in monitor.resting
