"""The example that runs through Baarir & Duret-Lutz 2006, as far as their prose tells.

Fig. 1 itself is not available: this is a reconstruction.  The prose says that there are
two acceptance conditions, f and g, that S0, S1, S3 and S4 are states of B, that S4 is
included in S1, that no run through S1 is accepting (before Prop. 2), and that S0 S3 S0
S3... is the only accepting run of B (after Def. 3).  What the states of A are, S2, and
where S1 and S4 are reached from and lead to, is made up here.
"""

from __future__ import annotations

import pytest

from ltlpipe.runtime import jobs
from ltlpipe.search.registers import Reg, Status
from ltlpipe.symmetry.sets.inclusion_checks import REMOVED
from ltlpipe.symmetry.sets.powerset_search import KINDS, PowersetSearch
from ltlpipe.symmetry.sets.runs import SetRuns
from tests.complete_searches import Limits, drive
from tests.invariants import assert_consistent
from tests.symmetry.sets.explicit import explicit_powerset, states_of
from tests.symmetry.sets.properties import Called, Underlying, assert_powerset
from tests.symmetry.sets.reference import Plain, Reference, Sets

F, G = 1, 2
A = Plain(
    n_states=6,
    transitions=(
        *((0, 0, s) for s in (1, 2, 3)),
        *((s, 0, 4) for s in (1, 2, 3)),
        (4, F, 4),
        (0, F, 2),
        (0, F, 3),
        (0, G, 5),
        (5, F, 0),
    ),
    initial=frozenset({0}),
    n_marks=2,
)
S0, S1, S2, S3, S4 = map(frozenset, ({0}, {1, 2, 3}, {4}, {5}, {2, 3}))
B = {
    (S0, 0, S1),
    (S0, F, S4),
    (S0, G, S3),
    (S1, 0, S2),
    (S2, F, S2),
    (S3, F, S0),
    (S4, 0, S2),
}
GROUPS = [S0, S1, S2, S3]


@pytest.fixture
def automaton():
    """B, an automaton over sets of states of A."""
    return explicit_powerset(6, A.transitions, [S0], GROUPS, n_marks=2)


def searched(automaton, name):
    """A search driven to its end, which is a cycle."""
    search = PowersetSearch(automaton, name)
    assert drive(search, Limits()).status == Status.FOUND
    assert_consistent(search)
    return search


def set_ids(search):
    """The number of each set in the store."""
    rows = search.store.rows[: search.n_stored]
    return {states_of(row): i for i, row in enumerate(rows)}


def test_it_has_the_properties(automaton):
    """Properties 1 to 5 hold (after Def. 4), and B is what is said of it."""
    seen = assert_powerset(automaton, states_of, Underlying(A.initial, A.steps, 2))
    called = Called(automaton)
    transitions = {
        (states, marks, states_of(row))
        for states in (S0, S1, S2, S3, S4)
        for marks, row in called.successors(seen.sets[states])
    }

    assert transitions == B
    assert S4 < S1
    assert called.includes(seen.sets[S1], seen.sets[S4])


def test_its_only_accepting_run():
    """Whatever else B does: S0 S3 S0 S3... is the only run that is accepting."""
    sets = Sets(A, [S0], GROUPS)
    for start in (S1, S2, S4):
        assert not Reference(Sets(A, [start], GROUPS), "tec").finds()
    assert Reference(sets, "tec").finds()
    # Who leaves S0 and S3 never comes back, and between them there is one cycle.
    assert {t for t in B if {t[0], t[2]} <= {S0, S3}} == {(S0, G, S3), (S3, F, S0)}
    assert not any(dst in (S0, S3) for src, _, dst in B if src not in (S0, S3))


@pytest.mark.parametrize("name", KINDS)
def test_all_checks_find_it(automaton, name):
    """The run of sets is the paper's."""
    search = searched(automaton, name)
    run = jobs.run(SetRuns(search).accepting())
    cycle = [states_of(row) for row in search.store.rows[run.cycle]]

    assert run.prefix.tolist() == [0]
    assert cycle == [S0, S3, S0]
    assert run.cycle_marks.tolist() == [G, F]
    assert not search.registers[Reg.REPLACED]


@pytest.mark.parametrize("name", ["nsiec", "iec", "aec"])
def test_s4_is_left_out(automaton, name):
    """S1 is removed when S4 comes up, and includes it (Prop. 2)."""
    search = searched(automaton, name)
    ids = set_ids(search)

    assert search.arrays.numbers[ids[S1]] == REMOVED
    assert search.arrays.numbers[ids[S4]] == REMOVED
    assert search.registers[Reg.DOMINATED] == 1
    assert search.registers[Reg.VISITED] == 4  # S0, S1, S2, S3


def test_tec_visits_s4(automaton):
    """Without inclusion it is visited like any other set."""
    search = searched(automaton, "tec")

    assert search.registers[Reg.DOMINATED] == 0
    assert search.registers[Reg.VISITED] == 5
