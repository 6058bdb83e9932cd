"""Stubborn sets against what they are for, by enumeration of paths."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import check
from ltlpipe.families.networks import philosophers
from ltlpipe.por import tables as stubborn
from ltlpipe.por.component_sets import new_tables
from ltlpipe.por.stubborn_sets import (
    choice_on_cycles,
    first_choices,
    more_choices,
    stubborn_bytes,
    stubborn_tables,
)
from ltlpipe.por.tables import enabling_of, relation_of
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.growth import total_bytes
from ltlpipe.systems.networks.lts import LTS, Network
from tests.example_counts import examples
from tests.hypothesis_strategies import networks
from tests.oracles import compose
from tests.packed import pack
from tests.por.test_component_sets import row_of


@njit
def call_choices(tables, row, actions, n_steps):
    """All sets of invisible steps."""
    n = first_choices(tables, tables.stubborn, row, actions, n_steps)
    return more_choices(tables, tables.stubborn, actions, n_steps, n)


@njit
def call_on_cycles(tables, actions, n_steps):
    """The set with all visible actions."""
    return choice_on_cycles(tables, tables.stubborn, actions, n_steps)


def chosen_in(tables, actions, at):
    """The actions whose bits are in a set."""
    chosen = tables.closures[at]
    return {a for a in actions.tolist() if (tables.participants[a] & chosen).any()}


class Graph:
    """A composed network, by state and action."""

    def __init__(self, network):
        self.states, edges = compose(network)
        self.after = [defaultdict(set) for _ in self.states]
        for src, action, dst in edges:
            self.after[src][action].add(dst)

    def without(self, state, chosen):
        """The states that are reached from one without some actions."""
        seen, left = {state}, [state]
        while left:
            for action, targets in self.after[left.pop()].items():
                fresh = set() if action in chosen else targets - seen
                seen |= fresh
                left += fresh
        return seen

    def is_settled(self, state, chosen):
        """Whether some actions can be taken first, whatever else is taken meanwhile.

        Wherever one comes without them they are enabled if they were, and each step
        of them commutes with each other step.
        """
        enabled = chosen & set(self.after[state])
        for src in self.without(state, chosen):
            after = self.after[src]
            if chosen & set(after) != enabled:
                return False
            for other in set(after) - chosen:
                for dst in after[other]:
                    for b in enabled:
                        first = {u for t in after[b] for u in self.after[t][other]}
                        one_by_one = [self.after[t][other] for t in after[b]]
                        last = self.after[dst][b]
                        if not last <= first:
                            return False
                        if not all(last & targets for targets in one_by_one):
                            return False
        return True


def assert_sets_are_stubborn(network, named):
    """Every set that is offered in the first states is settled and fit for its use."""
    visible = np.array([a.name in named and not a.internal for a in network.actions])
    shown = set(np.flatnonzero(visible).tolist())
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    tables = stubborn_tables(enabling_of(network, packed), visible, 64)
    graph = Graph(network)
    found = 0
    for number, state in enumerate(graph.states[:12]):
        after = graph.after[number]
        actions = np.array([a for a in after for _ in after[a]], dtype=np.int32)
        if len(actions) < 2:
            continue
        row = row_of(packed, state)
        n = call_choices(tables, row, actions, len(actions))
        for k in range(n):
            chosen = chosen_in(tables, actions, k)
            assert chosen
            assert not chosen & shown
            assert tables.sizes[k] == sum(len(after[a]) for a in chosen) < len(actions)
            assert graph.is_settled(number, chosen)
        found += n
        if call_on_cycles(tables, actions, len(actions)) == 0:
            chosen = chosen_in(tables, actions, 0)
            assert chosen
            assert chosen - shown or not set(after) - shown
            assert graph.is_settled(number, chosen)
            reached = graph.without(number, chosen)
            assert not any((shown - chosen) & set(graph.after[t]) for t in reached)
            found += 1
    return found


NETWORKS = networks(max_components=4, max_states=3, max_transitions=6, internal=["d"])
NAMED = st.sets(st.sampled_from(["a", "b", "c"]), max_size=2)


@given(NETWORKS, NAMED)
@settings(max_examples=examples(300))
def test_sets_are_stubborn(network, named):
    """By definition: what else happens meanwhile neither enables nor disables them."""
    assert_sets_are_stubborn(network, named)


@pytest.mark.slow
@given(NETWORKS, NAMED)
@settings(max_examples=examples(10_000))
def test_sets_are_stubborn_by_the_thousand(network, named):
    """The same, 10,000 times."""
    assert_sets_are_stubborn(network, named)


def test_sets_are_found():
    """In philosophers who think of nothing but eating."""
    assert assert_sets_are_stubborn(philosophers(3), {"eat0"}) > 5


def test_one_that_disables_is_enough():
    """`e` is in the way of `a`, which waits for ever for its second participant.

    What its third one does does not matter.  A closed set of components has the third.
    """
    network = Network(
        [
            LTS.from_transitions([(0, "e", 1), (0, "a", 1)]),
            LTS.from_transitions([(1, "a", 0)]),
            LTS.from_transitions([(0, "v", 1), (1, "a", 0)]),
        ]
    )
    named = network.action_index
    visible = np.array([a.name == "v" for a in network.actions])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    actions = np.array([named["e"], named["v"]], dtype=np.int32)
    stubborn = stubborn_tables(enabling_of(network, packed), visible, 4)
    closed = new_tables(relation_of(network, packed), visible, 4)

    assert call_choices(closed, packed.initial, actions, 2) == 0
    assert call_choices(stubborn, packed.initial, actions, 2) == 1
    assert chosen_in(stubborn, actions, 0) == {named["e"]}


def test_on_cycles_visible_actions_are_enough():
    """Where each component can always meet another, closed sets are of all components.

    Stubborn sets of all visible actions leave out whom these have nothing to do with.
    """
    components = []
    for i in range(8):
        met = f"meet{i // 2}"
        rows = [(0, f"move{i}", 1), (1, f"back{i}", 0), (0, met, 0), (1, met, 1)]
        components.append(LTS.from_transitions(rows))
    network = Network(components)
    states = {}
    for sets in ("stubborn", "components"):
        verdict = check(
            network,
            "G(move0 -> X(!move0 W back0))",
            reduce="ample",
            emptiness="se05",
            ample_sets=sets,
        )
        assert verdict.verdict == "holds"
        states[sets] = verdict.stats.states
    assert states["stubborn"] < 20 < 256 <= states["components"]


def leads_of(component, q, label):
    """The labels to which one leads from a local state, by its definition."""
    steps = list(component.transitions())
    todo = {dst for src, a, dst in steps if (src, a) == (q, label) and dst != q}
    seen = set()
    while todo:
        state = todo.pop()
        seen.add(state)
        after = {dst for src, _, dst in steps if src == state}
        todo |= after - seen - {q}
    return {a for src, a, _ in steps if src in seen}


@pytest.mark.parametrize("work", [0, 40, 400, stubborn.MAX_WORK])
def test_what_leads_where(work, monkeypatch):
    """By the definition, where work suffices; where it does not, everywhere."""
    monkeypatch.setattr(stubborn, "MAX_WORK", work)
    rng = random.Random(work)
    n_exact = 0
    for _ in range(30):
        n = rng.randrange(1, 7)
        steps = [
            (rng.randrange(n), rng.choice("abcd"), rng.randrange(n))
            for _ in range(rng.randrange(1, 12))
        ]
        component = LTS.from_transitions(steps)
        network = Network([component])
        packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
        enabling = enabling_of(network, packed)
        for row, state in enumerate(packed.local_states[0].tolist()):
            for pair in range(*enabling.first[row : row + 2]):
                action = network.actions[enabling.actions[pair]].name
                found = {
                    label
                    for place, label in enumerate(component.labels)
                    if enabling.leads[pair, 0] >> np.uint64(place) & np.uint64(1)
                }
                expected = leads_of(component, state, action)
                assert found >= expected
                if work > 400:
                    assert found == expected
                n_exact += found == expected
    assert n_exact > 0


def test_a_long_way_back_is_not_watched_for_long():
    """The labels of 3,000 states in a row, numbered against their order."""
    n = 3000
    edges = [(k, f"a{k % 60}", k - 1) for k in range(1, n)] + [(0, "b", n - 1)]
    network = Network([LTS.from_transitions(edges)])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    enabling = enabling_of(network, packed)
    everywhere = (enabling.leads == ~np.uint64(0)).all(axis=1)
    assert not everywhere[0]  # some states are looked at, then work is spent
    assert everywhere[n // 4 :].all()


def test_bytes_of_the_tables():
    """What is reserved is what is taken, roughly from above."""
    hub = LTS.from_transitions([(0, f"a{k % 70}", k) for k in range(2000)])
    network = Network([hub, *[LTS.from_transitions([(0, "a1", 0)])] * 3])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    visible = np.zeros(len(network.actions), dtype=np.bool_)
    enabling = enabling_of(network, packed)
    tables = stubborn_tables(enabling, visible, packed.max_successors)

    assert total_bytes(tables) <= stubborn_bytes(network, packed) + 200
