"""Marks of fairness: on steps, by the definition, and as a condition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.automata.conditions import fairness_to, generalised_buchi
from ltlpipe.automata.letters import PropertyAutomaton, universal
from ltlpipe.runtime import jobs
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from ltlpipe.search.scc.tela import Tela
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import networks
from tests.oracles import compose, enabled_actions, is_accepting
from tests.packed import pack


def problem_of(network, sets, *, strong, n_marks=0, stutter=False):
    """The network alone, or with a property of one state and some marks."""
    table = universal()
    if n_marks:
        table = PropertyAutomaton(
            n_states=1,
            initial=0,
            n_letters=1,
            first_edge=np.array([0, 1], dtype=np.int32),
            edge_dst=np.zeros(1, dtype=np.int32),
            edge_marks=np.array([(1 << n_marks) - 1], dtype=np.uint32),
            n_marks=n_marks,
            state_based=True,
        )
    letters = np.zeros(len(network.actions), dtype=np.int32)
    fairness = fairness_to(sets, len(network.actions), strong=strong)
    return make_problem(
        pack(network, letters, extra_values=1),
        table,
        fairness=fairness,
        stutter=stutter,
    )


@pytest.mark.parametrize(
    ("n_sets", "strong", "condition"),
    [
        (1, False, "Inf(0)"),
        (3, False, "Inf(0)&Inf(1)&Inf(2)"),
        (1, True, "Fin(0)|Inf(1)"),
        (2, True, "(Fin(0)|Inf(1))&(Fin(2)|Inf(3))"),
    ],
)
def test_conditions(n_sets, strong, condition):
    """Weak fairness is generalised Büchi, strong fairness Streett."""
    fairness = fairness_to([{0}] * n_sets, 1, strong=strong)
    assert str(fairness.condition) == condition
    assert fairness.n_marks == fairness.condition.n_marks


def test_weak_marks():
    """A step that leaves a state where nothing is enabled has all marks."""
    fairness = fairness_to([{0}, {0, 1}], 3, strong=False)
    assert fairness.idle == 0b11
    assert fairness.enabled.tolist() == [0b11, 0b10, 0]
    assert fairness.taken.tolist() == [0b11, 0b10, 0]


def test_strong_marks():
    """Two marks per set: it is enabled, it is taken."""
    fairness = fairness_to([{0}, {0, 1}], 3, strong=True)
    assert fairness.idle == 0
    assert fairness.enabled.tolist() == [0b0101, 0b0100, 0]
    assert fairness.taken.tolist() == [0b1010, 0b1000, 0]


@given(
    st.one_of(networks(internal=["d"]), networks(max_components=2, acceptance=True)),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
    st.data(),
)
@settings(max_examples=examples(200))
def test_marks_of_products(network, strong, stutter, n_marks, data):
    """The cycles of the product see marks that the definition of fairness gives.

    The same product is made by hand, with marks behind the property's and the
    system's, and the search decides both alike, for random conditions on them.
    """
    actions = st.sets(st.integers(0, max(0, len(network.actions) - 1)), min_size=1)
    sets = data.draw(st.lists(actions, min_size=1, max_size=3))
    problem = problem_of(network, sets, strong=strong, n_marks=n_marks, stutter=stutter)
    search = Tela(problem)
    found = drive(search, Limits(), max_budget=2).status == Status.FOUND
    assert found == fair_run_exists(network, sets, strong=strong, stutter=stutter)


def fair_run_exists(network, sets, *, strong, stutter):
    """Whether some accepted run is fair, by closed walks over the composition."""
    states, edges = compose(network)
    enabled = enabled_actions(len(states), edges)
    accepts = any(part.accepting is not None for part in network.components)
    if stutter:
        edges = [*edges, *((s, -1, s) for s, now in enumerate(enabled) if not now)]

    def step_marks(src, action):
        """(1 unless acceptance is missing, per set: enabled, disabled, taken)."""
        marks = [not accepts or is_accepting(network, states[src])]
        for some in sets:
            marks += [bool(enabled[src] & some), not enabled[src] & some]
            marks.append(action in some)
        return sum(1 << i for i, holds in enumerate(marks) if holds)

    def is_fair(seen):
        fair = bool(seen & 1)
        for k in range(len(sets)):
            can, cannot, takes = (bool(seen >> (1 + 3 * k + i) & 1) for i in range(3))
            fair &= takes or (not can if strong else cannot)
        return fair

    following = {}
    for src, action, dst in edges:
        following.setdefault(src, set()).add((dst, step_marks(src, action)))
    for start in range(len(states)):
        seen = set()
        todo = list(following.get(start, ()))
        while todo:
            state, marks = todo.pop()
            if state == start and is_fair(marks):
                return True
            if (state, marks) not in seen:
                seen.add((state, marks))
                todo += [(t, marks | more) for t, more in following.get(state, ())]
    return False


def test_all_thirty_two_marks():
    """Of 32 sets weakly, and of 16 strongly; one mark of the property is too many."""
    loops = [(0, f"a{k}", 0) for k in range(32)]
    network = Network([LTS.from_transitions(loops)])
    for n_sets, strong in ((32, False), (16, True)):
        sets = [{k} for k in range(n_sets)]
        search = Tela(problem_of(network, sets, strong=strong))
        assert drive(search, Limits()).status == Status.FOUND
        taken = set(jobs.run(search.lasso()).cycle_actions.tolist())
        assert taken >= set(range(n_sets))
        with pytest.raises(UnsupportedError, match="33 acceptance marks"):
            problem_of(network, sets, strong=strong, n_marks=1)


def test_marks_of_accepting_components_count():
    """The message is about the product, also where fairness alone has room."""
    loops = [(0, f"a{k}", 0) for k in range(16)]
    network = Network([LTS.from_transitions(loops, accepting=[0])])
    for strong, n_sets in ((True, 16), (False, 32)):
        sets = [{k % 16} for k in range(n_sets)]
        with pytest.raises(UnsupportedError, match="33 acceptance marks"):
            problem_of(network, sets, strong=strong)


def test_a_network_without_actions():
    """A deadlock from the start is fair to everybody, if it repeats itself."""
    network = Network([LTS.from_transitions([], initial=0, n_states=1)])
    for strong in (False, True):
        for stutter in (False, True):
            problem = problem_of(network, [set()], strong=strong, stutter=stutter)
            found = drive(Tela(problem), Limits()).status == Status.FOUND
            assert found == stutter


def test_weak_fairness_is_generalised_buchi():
    """So that every search takes it that takes several marks."""
    network = Network([LTS.from_transitions([(0, "a", 0)])])
    problem = problem_of(network, [{0}, {0}], strong=False, n_marks=1)
    assert (problem.condition, problem.n_marks) == (None, 3)
    assert not problem.state_based
    joint = problem_of(network, [{0}], strong=True, n_marks=1).condition
    assert str(joint) == "Inf(0)&(Fin(1)|Inf(2))"
    assert joint != generalised_buchi(3)
