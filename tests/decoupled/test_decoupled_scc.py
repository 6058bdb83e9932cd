"""The search for SCCs of decoupled states against Spot and the nested search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.formula_sets import random_interruptible
from ltlpipe import LTS, Network
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.components.alphabet import letters_of
from ltlpipe.decoupled.decoupled_ndfs import DecoupledNDFS
from ltlpipe.decoupled.decoupled_scc import DEAD, DecoupledSCC
from ltlpipe.decoupled.monitors import counted, monitor_of
from ltlpipe.families.networks import random_network
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import run as run_job
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.decoupled.jobs import decoupled_of, extracted
from tests.decoupled.reference import Composition
from tests.hypothesis_strategies import networks
from tests.invariants import assert_consistent
from tests.oracles import satisfies, spot_verdict

NETWORKS = networks(max_components=4, max_states=5, max_transitions=9, internal=("d",))
FORMULAS = st.builds(
    lambda seed, depth: str(
        random_interruptible(["a", "b", "c"], seed=seed, depth=depth)
    ),
    st.integers(0, 10**6),
    st.integers(1, 3),
)
#: 0: no counting, None: as many as are worth it.
LEVELS = st.sampled_from([0, 2, 3, 5, None])
#: With several accepting SCCs, and with several marks.
HARD = st.sampled_from(["!(GF a & GF b)", "!(GF a & GF b & GF c)", "GF a -> GF b"])


def asked(network, text, acceptance="tgba"):
    """The monitor of a formula."""
    formula = parse(text)
    actions = [p for p in formula.propositions if p in network.action_index]
    table = table_over_actions(formula, acceptance, actions)
    letters = letters_of(network, actions).tolist()
    return monitor_of(network, table, letters, range(1, len(actions) + 1))


def run(network, monitor, *, budget=None, limits=None, n_levels=0):
    """Without levels the two passes that search for SCCs are all there is."""
    search = DecoupledSCC(decoupled_of(network, monitor), n_levels=n_levels)
    if n_levels != 0:
        search.registers[Reg.TURN] = 1  # small networks are counted, too
    outcome = drive(search, limits or Limits(), max_budget=budget)
    assert_places(search)
    return search, outcome


def assert_places(search):
    """Live states have their places, roots ascend, others are dead or unknown."""
    assert_consistent(search.visited)
    registers, parts = search.registers, search.arrays
    n_live, n_roots = int(registers[Reg.COUNT]), int(registers[Reg.N_ROOTS])
    live = parts.live[:n_live]
    assert parts.number[live].tolist() == list(range(n_live))
    assert (np.diff(parts.roots[:n_roots]) > 0).all()
    numbers = parts.number[: search.visited.n_stored]
    assert np.count_nonzero(numbers >= 0) == n_live
    path = search.arrays.states[: int(registers[Reg.DEPTH])]
    assert parts.place[path].tolist() == list(range(len(path)))


def word(network, found):
    names = [
        "" if network.actions[a].internal else network.actions[a].name
        for a in found.actions.tolist()
    ]
    return names[: found.length], names[found.length :]


@given(NETWORKS, st.one_of(FORMULAS, HARD), LEVELS)
def test_answers_as_spot(network, text, n_levels):
    """And so does the nested search with the counter; lassos violate the formula."""
    formula = parse(text)
    expected = spot_verdict(network, formula.spot) == "violated"
    monitor = asked(network, text)
    search, outcome = run(network, monitor, n_levels=n_levels)
    assert (outcome.status == Status.FOUND) == expected
    nested = DecoupledNDFS(decoupled_of(network, counted(monitor)))
    assert (drive(nested, Limits()).status == Status.FOUND) == expected
    for found in (search, nested) if expected else ():
        ours = extracted(network, found)
        assert not satisfies(formula.spot, *word(network, ours))


@given(NETWORKS, st.one_of(FORMULAS, HARD), st.integers(1, 3), LEVELS)
def test_where_a_step_stops_changes_nothing(network, text, budget, n_levels):
    """Answer, statistics and traces are those of the uncut search."""
    monitor = asked(network, text)
    cut, ended = run(network, monitor, budget=budget, n_levels=n_levels)
    uncut, expected = run(network, monitor, n_levels=n_levels)
    assert ended == expected
    assert cut.statistics() == uncut.statistics()
    if ended.status == Status.FOUND:
        assert run_job(cut.trace()) == run_job(uncut.trace())


@given(NETWORKS, st.one_of(FORMULAS, HARD))
def test_dead_states_accept_nothing(network, text):
    """A search that begins in a dead state finds nothing (docs/decoupled.md)."""
    monitor = asked(network, text)
    search, _ = run(network, monitor)
    rows = search.visited.arrays.store.rows
    numbers = search.arrays.number[: search.visited.n_stored]
    for state in np.flatnonzero(numbers == DEAD)[:4]:
        begun = decoupled_of(network, monitor)._replace(initial=rows[state])
        again = DecoupledSCC(begun, n_levels=0)
        assert drive(again, Limits()).status == Status.EMPTY


def test_the_smallest_false_cycle():
    """Dominance alone is wrong: `a` can be done once, from {0, 1} to {1}."""
    network = Network([LTS.from_transitions([(0, "i", 1), (0, "a", 1)])])
    search, outcome = run(network, asked(network, "!GF a"))
    assert outcome.status == Status.EMPTY
    assert search.is_exact
    assert search.statistics()["refuted_cycles"] == 1


def test_a_cycle_that_is_found_in_the_exact_pass():
    """Its word is none of those that the relaxed pass has tried."""
    for seed in range(400):
        network = random_network(
            4, seed=seed, n_states=(3, 6), local_ratio=0.4, n_labels=1
        )
        network = Network([_without_acceptance(c) for c in network.components])
        names = [a.name for a in network.actions if len(a.participants) > 1]
        text = "!(" + " & ".join(f'GF "{name}"' for name in names[:2]) + ")"
        search, outcome = run(network, asked(network, text))
        if outcome.status == Status.FOUND and search.is_exact:
            break
    else:
        pytest.fail("no such network")
    found = extracted(network, search)
    assert not satisfies(parse(text).spot, *word(network, found))


def _without_acceptance(component):
    return LTS.from_transitions(component.transitions(), n_states=component.n_states)


def test_limits_end_the_search():
    """It can be driven on, and then answers as if it had not been stopped."""
    network = random_network(3, seed=5, n_states=(15, 30), local_ratio=0.4)
    network = Network([_without_acceptance(c) for c in network.components])
    monitor = asked(network, "!(GF g0 & GF g1 & GF g2)")
    whole, expected = run(network, monitor)
    search, outcome = run(network, monitor, limits=Limits(max_states=4))
    assert outcome.reason == "max-states"
    assert search.registers[Reg.VISITED] == 4
    assert drive(search, Limits()) == expected
    assert search.visited.n_stored == whole.visited.n_stored
    assert run(network, monitor, limits=Limits(memory_mib=0.001))[1].reason == "memory"


@given(NETWORKS)
def test_every_reachable_state_is_in_a_state_that_is_not_pruned(network):
    """Where nothing accepts, all of the composition is covered (Theorem 1)."""
    search, outcome = run(network, asked(network, "1"))
    assert outcome.status == Status.EMPTY
    plain = Composition(network)
    assert search.network.unpack(search.network.initial)[:-1] == plain.initial
