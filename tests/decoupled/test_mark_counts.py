"""Counting marks against the longest counts in the explicit product, and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.decoupled import decoupled_scc
from ltlpipe.decoupled.decoupled_scc import NO_END, DecoupledSCC
from ltlpipe.decoupled.mark_counts import MOST_LEVELS, MarkCounts, count_step
from ltlpipe.families.networks import random_network
from ltlpipe.search.registers import N_REGISTERS, Reg, Status
from tests.complete_searches import drive
from tests.decoupled.jobs import decoupled_of, extracted
from tests.decoupled.test_decoupled_scc import FORMULAS, HARD, NETWORKS, asked
from tests.oracles import compose

NEVER = 1 << 60


def counted(network, monitor, n_levels, *, table):
    """Count to the end, whatever cycles there are; return the counting, and Status."""
    registers = np.zeros(N_REGISTERS, dtype=np.int64)
    registers[Reg.VISITED], registers[Reg.MAX_STATES] = 1, NEVER
    registers[Reg.PATIENCE], registers[Reg.TURN] = NEVER, NO_END
    counting = MarkCounts(decoupled_of(network, monitor), registers, n_levels)
    if table:
        counting.search.add_table(math.inf)
    status = Status.GROW
    while status in (Status.GROW, Status.RUNNING):
        for _ in counting.grow(math.inf):
            pass
        status = Status(count_step(*counting.arguments(1 << 10)))
    return counting, status


def most_in_turn(network, monitor, most):
    """The most marks that a run of the explicit product sees in turn, up to `most`."""
    _, edges = compose(network)
    leaving = {}
    for src, action, dst in edges:
        leaving.setdefault(src, []).append((action, dst))
    n_marks = monitor.n_marks or 1
    best = {(0, monitor.initial): 0}
    pending = list(best)
    while pending:
        state, watching = pending.pop()
        count = best[state, watching]
        for action, dst in leaving.get(state, []):
            moves = monitor.actions.get(action)
            if moves is None:
                reached = [(watching, count)]
            else:
                taken = [move[watching] for move in moves if watching in move]
                reached = [
                    (q, after(count, marks if monitor.n_marks else 1, n_marks))
                    for q, marks in taken
                ]
            for q, seen in reached:
                found = dst, q
                if min(seen, most) > best.get(found, -1):
                    best[found] = min(seen, most)
                    pending.append(found)
    return max(best.values())


def after(count, marks, n_marks):
    """A count after some marks, of which each is waited for in turn."""
    for _ in range(n_marks):
        if not marks >> count % n_marks & 1:
            break
        count += 1
    return count


@given(NETWORKS, st.one_of(FORMULAS, HARD), st.integers(2, 5), st.booleans())
def test_the_highest_level_is_what_a_run_sees(network, text, n_levels, table):
    """As the explicit product has it, with and without a table of members."""
    monitor = asked(network, text)
    counting, status = counted(network, monitor, n_levels, table=table)
    if status == Status.FOUND:  # a component goes on alone
        return
    most = most_in_turn(network, monitor, n_levels - 1)
    assert int(counting.registers[Reg.HIGHEST]) == most
    assert counting.is_conclusive == (most < n_levels - 1)


def line(n):
    """A component that does `a` n times, and then `b` for ever, with another one."""
    steps = [(k, "a", k + 1) for k in range(n)]
    return Network(
        [
            LTS.from_transitions([*steps, (n, "b", n)]),
            LTS.from_transitions([(0, "a", 0), (0, "b", 0)]),
        ]
    )


@pytest.mark.parametrize("n", [1, 5, MOST_LEVELS - 2])
def test_a_mark_that_is_seen_n_times(n):
    """Counting proves that it is not seen for ever."""
    network = line(n)
    monitor = asked(network, "!GF a")
    counting, status = counted(network, monitor, MOST_LEVELS, table=True)
    assert status == Status.EMPTY
    assert counting.is_conclusive
    assert counting.registers[Reg.HIGHEST] == n


def test_marks_that_are_seen_too_often():
    """Counting ends without an answer, and the search for SCCs has it."""
    network = line(6)
    monitor = asked(network, "!GF a")
    counting, status = counted(network, monitor, 4, table=False)
    assert status == Status.EMPTY
    assert not counting.is_conclusive
    search = DecoupledSCC(decoupled_of(network, monitor), n_levels=4)
    assert drive(search).status == Status.EMPTY


def test_both_searches_end_a_long_question(monkeypatch):
    """Turns change; the answer is that of the search for SCCs alone, replayed."""
    monkeypatch.setattr(decoupled_scc, "SEARCHING_TURN", 16)
    monkeypatch.setattr(decoupled_scc, "COUNTING_TURN", 48)
    for seed in range(4):
        network = random_network(4, seed=seed, n_states=(8, 16), local_ratio=0.2)
        network = Network(
            [
                LTS.from_transitions(c.transitions(), n_states=c.n_states)
                for c in network.components
            ]
        )
        names = sorted(a.name for a in network.actions if len(a.participants) > 1)
        monitor = asked(network, "!(" + " & ".join(f"GF {n}" for n in names[:3]) + ")")
        alone = DecoupledSCC(decoupled_of(network, monitor), n_levels=0)
        both = DecoupledSCC(decoupled_of(network, monitor))
        status = drive(both).status
        assert status == drive(alone).status
        assert both.statistics()["counted_states"] > 0
        if status == Status.FOUND:
            assert extracted(network, both).length >= 0
