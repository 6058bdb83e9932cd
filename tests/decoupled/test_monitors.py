"""Monitors: moves of properties, acceptors, and the counter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.automata.letters import OTHER, universal
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.components.alphabet import letters_of
from ltlpipe.decoupled.monitors import (
    Monitor,
    counted,
    monitor_of,
)
from ltlpipe.logic.formulas import parse

SYSTEM = Network(
    [
        LTS.from_transitions([(0, "a", 0), (0, "g", 0), (0, "x", 0)]),
        LTS.from_transitions([(0, "b", 0), (0, "g", 0)]),
    ]
)
TWO = Network(
    [
        LTS.from_transitions([(0, "g", 1), (1, "g", 0)], accepting=[0]),
        LTS.from_transitions([(0, "g", 1), (1, "g", 0)], accepting=[1]),
        LTS.from_transitions([(0, "x", 0)]),
    ]
)


def acceptance_monitor(network, **options):
    """What waits for the acceptance of components alone."""
    letters = [OTHER] * len(network.actions)
    return monitor_of(network, universal(), letters, (), **options)


def violations(text, acceptance="tgba"):
    names = [a for a in parse(text).propositions if a in SYSTEM.action_index]
    table = table_over_actions(parse(text), acceptance, names)
    letters = letters_of(SYSTEM, names).tolist()
    visible = range(OTHER + 1, OTHER + 1 + len(names))
    return monitor_of(SYSTEM, table, letters, visible), table


def test_what_a_monitor_sees():
    """Labels of several components, and visible ones; x is neither."""
    monitor, _ = violations("GF a")
    names = {SYSTEM.actions[i].name for i in monitor.actions}
    assert names == {"a", "g"}


@pytest.mark.parametrize("text", ["GF a", "!(GF a & GF b)", "F(a & X(b | F a))"])
def test_moves_are_the_transitions(text):
    """Each transition of the automaton is in exactly one move of its letter."""
    monitor, table = violations(text)
    first = table.first_edge.tolist()
    letters = letters_of(SYSTEM, list(parse(text).propositions)).tolist()
    for action, moves in monitor.actions.items():
        found = sorted(
            (src, dst, marks) for move in moves for src, (dst, marks) in move.items()
        )
        expected = []
        for state in range(table.n_states):
            at = state * table.n_letters + letters[action]
            expected += [
                (state, int(table.edge_dst[e]), int(table.edge_marks[e]))
                for e in range(first[at], first[at + 1])
            ]
        assert found == sorted(expected)


def test_resting_states():
    """Where nothing more has to happen: after the last a of FG !a, not in GF a."""
    monitor, table = violations("GF a")  # violated by FG !a
    assert monitor.resting
    monitor, table = violations("F G !a")
    assert not monitor.resting
    assert table.n_states == monitor.n_states


def test_acceptors_of_components():
    """One for all or one for each; what happens has a mark of its own."""
    together = acceptance_monitor(TWO)
    assert [group for group, _ in together.acceptors] == [(0, 1)]
    assert together.n_marks == 2
    each = acceptance_monitor(TWO, together=False)
    assert [group for group, _ in each.acceptors] == [(0,), (1,)]
    assert each.n_marks == 3
    (g,) = each.actions
    assert each.actions[g][0] == {0: (0, 1)}
    assert acceptance_monitor(Network(TWO.components[2:])).acceptors == ()


def test_the_counter_waits_for_acceptors_in_turn():
    """Something happens, the first accepts, the second accepts, and so on."""
    monitor = counted(acceptance_monitor(TWO, together=False))
    assert (monitor.n_states, monitor.n_marks) == (4, 1)
    (moves,) = monitor.actions.values()
    (first, second) = (move for _, move in monitor.acceptors)
    state, level = monitor.initial, []
    for move in (moves[0], first, second, moves[0]):
        assert state in move
        state = move[state][0]
        level.append(state in monitor.accepting)
    assert level == [False, False, True, False]
    assert not {*first} & {*second}
    assert not {*first} & {*monitor.accepting}


def test_no_marks_accept_everything():
    """Every state of the counter is accepting then."""
    monitor, _ = violations("0")
    assert monitor.n_marks == 0
    assert counted(monitor).accepting == frozenset(range(counted(monitor).n_states))


MARKS = st.integers(0, 7)


@given(
    st.lists(st.dictionaries(st.integers(0, 2), st.tuples(st.integers(0, 2), MARKS))),
    st.lists(st.integers(0, 20), min_size=1, max_size=12),
)
def test_the_counter_accepts_what_has_all_marks(moves, choices):
    """A lasso of moves is accepted iff its cycle has all three marks."""
    monitor = Monitor(3, 0, 3, {0: tuple(moves)}, (), frozenset())
    own = counted(monitor)
    state, counter = 0, own.initial
    seen: dict[tuple[int, int], int] = {}
    history = []
    for choice in choices * 50:  # long enough for the pair to come again
        (several,) = own.actions.values()
        if not moves or state not in moves[choice % len(moves)]:
            assert not moves or counter not in several[choice % len(moves)]
            return
        key = (len(history) % len(choices), counter)
        if key in seen:
            turn = history[seen[key] :]
            marks = 0
            for mark, _ in turn:
                marks |= mark
            assert (marks == 7) == any(accepts for _, accepts in turn)
            return
        seen[key] = len(history)
        state, marks = moves[choice % len(moves)][state]
        counter, accepts = several[choice % len(moves)][counter]
        assert bool(accepts) == (counter in own.accepting)
        history.append((marks, counter in own.accepting))
