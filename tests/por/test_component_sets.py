"""Candidates for ample sets against the definitions, state by state."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError
from ltlpipe.automata.interrupts import first_violation
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.families.networks import species
from ltlpipe.logic.formulas import parse
from ltlpipe.por.component_sets import Inner, ample_bytes, find_candidates, new_tables
from ltlpipe.por.tables import enabling_of, relation_of
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import advance
from ltlpipe.search.growth import total_bytes
from ltlpipe.search.problem import make_problem
from ltlpipe.search.reduced import TRIAL_EFFORT, visit_again
from ltlpipe.search.registers import EXAMINED_PER_TRANSITION, Reg, Status
from ltlpipe.search.stacks import Colour
from ltlpipe.systems.networks.lts import LTS, Network
from tests.complete_searches import Limits, drive
from tests.example_counts import examples
from tests.hypothesis_strategies import networks
from tests.oracles import compose, reaches
from tests.packed import pack
from tests.search.explicit_automata import outcome_of


@njit
def call_candidates(tables, row, actions, n_steps):
    """As a search asks for them."""
    return find_candidates(tables, row, actions, n_steps)


def row_of(packed, state):
    """The packed row of a composed state."""
    row = np.zeros(packed.initial.shape[0], dtype=np.uint64)
    for value, field, names in zip(
        state, packed.fields, packed.local_states, strict=True
    ):
        place = int(np.searchsorted(names, value))
        row[field.word] |= np.uint64(place << field.shift)
    return row


def closed_sets(network, state):
    """All sets of components that are closed under R_q, by enumeration."""
    n = len(network.components)
    who = {}
    for action in network.actions:
        for i in action.participants:
            who[i, action.name] = set(action.participants)
    related = [
        set().union(
            *(
                who[i, label]
                for src, label, _ in component.transitions()
                if src == state[i]
            )
        )
        for i, component in enumerate(network.components)
    ]
    return [
        chosen
        for bits in range(1, 1 << n)
        for chosen in [{i for i in range(n) if bits >> i & 1}]
        if all(related[i] <= chosen for i in chosen)
    ]


@given(
    networks(max_components=4, max_states=3, max_transitions=5, internal=["d"]),
    st.sets(st.sampled_from(["a", "b", "c"]), max_size=2),
)
@settings(max_examples=examples(200))
def test_candidates_are_the_smallest_closed_sets(network, named):
    """Those with enabled invisible actions only, and not all of them."""
    visible = np.array([a.name in named and not a.internal for a in network.actions])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    tables = new_tables(relation_of(network, packed), visible, 64)
    states, edges = compose(network)
    for number, state in enumerate(states[:20]):
        steps = sorted({(a, d) for s, a, d in edges if s == number})
        actions = np.array([a for a, _ in steps], dtype=np.int32)
        taken = [set(network.actions[a].participants) for a in actions]
        eligible = set()
        for chosen in closed_sets(network, state):
            inside = [k for k, parts in enumerate(taken) if parts & chosen]
            silent = not any(visible[actions[k]] for k in inside)
            if silent and 0 < len(inside) < len(steps):
                eligible.add(frozenset(inside))
        n = call_candidates(tables, row_of(packed, state), actions, len(steps))
        found = {
            frozenset(
                k
                for k, parts in enumerate(taken)
                if any(int(tables.closures[c, 0]) >> i & 1 for i in parts)
            ): int(tables.sizes[c])
            for c in range(n)
        }
        assert all(len(inside) == size for inside, size in found.items())
        assert set(found) <= eligible
        if eligible:
            assert min(map(len, found)) == min(map(len, eligible))


def test_a_closure_that_reaches_a_visible_step_is_refused():
    """`u` is its component's own, which offers `t` to the one that shows `a`."""
    shows = LTS.from_transitions([(0, "a", 0), (0, "t", 0)])
    shares = LTS.from_transitions([(0, "u", 0), (0, "t", 0)])
    apart = LTS.from_transitions([(0, "c", 0)])
    network = Network([shows, shares, apart])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    named = network.action_index
    visible = np.zeros(len(named), dtype=np.bool_)
    visible[named["a"]] = True
    tables = new_tables(relation_of(network, packed), visible, len(named))
    actions = np.array([named[a] for a in ("a", "t", "u", "c")], dtype=np.int32)

    assert call_candidates(tables, packed.initial, actions, 4) == 1
    assert int(tables.closures[0, 0]) == 0b100


def test_more_components_than_bits_in_a_word():
    """A hundred components, chained so that closing has to go back and forth."""
    n = 100
    order = [(37 * i) % n for i in range(n)]
    parts = [[] for _ in range(n)]
    for k in range(60):  # component order[k] shares a label with the next one
        for i in (order[k], order[k + 1]):
            parts[i].append((0, f"s{k}", 0))
    components = [
        LTS.from_transitions([*rows, (0, f"own{i}", 0)]) for i, rows in enumerate(parts)
    ]
    network = Network(components)
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    visible = np.zeros(len(network.actions), dtype=np.bool_)
    tables = new_tables(relation_of(network, packed), visible, len(network.actions))
    named = network.action_index
    taken = [named[f"own{order[k]}"] for k in (30, 45, 80)]
    actions = np.array(taken, dtype=np.int32)
    n_found = call_candidates(tables, packed.initial, actions, 3)

    assert n_found == 2  # the first two actions have the same closure
    sets = [
        {i for i in range(n) if int(tables.closures[c, i // 64]) >> (i % 64) & 1}
        for c in range(2)
    ]
    assert sets == [set(order[:61]), {order[80]}]
    assert tables.sizes[:2].tolist() == [2, 1]


KINDS = [("se05", Inner.FULL), ("se05", Inner.STORED), ("dfs-weak", Inner.FULL)]
KINDS += [("couvreur99", Inner.FULL)]
MODES = [
    (*kind, tables_of) for tables_of in (relation_of, enabling_of) for kind in KINDS
]


def search_for(network, mode, formula, action="a"):
    """A search for a formula that is in normal form as Spot translates it."""
    name, inner, tables_of = mode
    table = table_over_actions(parse(formula), "ba", [action])
    assert first_violation(table, [1]) is None
    letters = np.array([int(a.name == action) for a in network.actions], dtype=np.int32)
    packed = pack(network, letters, extra_values=table.n_states)
    relation = tables_of(network, packed)
    problem = make_problem(
        packed, table, relation=relation, visible=letters == 1, inner=inner
    )
    return SEARCHES[name]()(problem)


@given(
    networks(max_components=4, max_states=4, max_transitions=8, internal=["d"]),
    st.sampled_from(MODES),
    st.sampled_from(["FG!a", "F a", "G !a"]),
    st.integers(1, 5),
)
@settings(max_examples=examples(200))
def test_where_a_step_stops_changes_nothing(network, mode, formula, budget):
    """Searches may stop, and their arrays grow, after any state."""
    assume(mode[0] != "dfs-weak" or formula != "FG!a")  # GF a is not weak
    whole = outcome_of(search_for(network, mode, formula))
    with patch("ltlpipe.search.emptiness.FIRST_ENTRIES", 0):
        assert outcome_of(search_for(network, mode, formula), budget) == whole


@pytest.mark.parametrize("name", ["dfs-weak", "couvreur99", "ufscc"])
def test_sets_that_are_never_found_are_seldom_looked_for(name):
    """After a trial period choosing takes no longer than generating transitions."""
    network = species(30)  # any two agents can meet: nothing can be put off
    mode = name, Inner.FULL, enabling_of
    search = search_for(network, mode, "G !revived", "revived")

    complete(advance(search, max_states=6_000))

    registers = search.registers
    assert registers[Reg.VISITED] == 6_000
    assert registers[Reg.REDUCED] == 0
    effort = registers[Reg.EXAMINED]
    allowed = EXAMINED_PER_TRANSITION * registers[Reg.TRANSITIONS]
    assert TRIAL_EFFORT < effort < TRIAL_EFFORT + 1.1 * allowed
    assert search.work_per_step * search.n_steps > effort / 1000


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
@pytest.mark.parametrize("mode", MODES)
def test_arrays_grow(mode):
    """From no room to thousands of states, along one path and in breadth."""
    length = 3000
    chain = [(i, f"t{i}", i + 1) for i in range(length)]
    fan = [(length, f"u{i}", length + 1 + i) for i in range(length)]
    shared = [(0, "t5", 1), (1, "v", 0)]
    other = LTS.from_transitions([*shared, (0, "t7", 0)])
    network = Network([LTS.from_transitions([*chain, *fan]), other])
    with patch("ltlpipe.search.emptiness.FIRST_ENTRIES", 0):
        outcome = outcome_of(search_for(network, mode, "G !a"))
    assert outcome.status == Status.EMPTY
    assert outcome.states > 2 * length
    assert outcome.max_depth > length


@pytest.mark.parametrize(
    ("tables_of", "what"), [(relation_of, "components"), (enabling_of, "actions")]
)
def test_too_many_sets_to_note(tables_of, what):
    """A number of 16 bits says which component's, or action's, set was taken."""
    loop = LTS.from_transitions([(0, "a", 0)])
    network = Network([loop, loop, LTS.from_transitions([(0, "b", 0)])])
    with (
        patch("ltlpipe.search.nested.ndfs.MAX_SEED", 1),
        pytest.raises(UnsupportedError, match=f"takes at most 1 {what}"),
    ):
        search_for(network, ("se05", Inner.STORED, tables_of), "G !a")


def test_room_for_candidates_is_that_of_the_components():
    """A state with a million steps has no more candidates than components."""
    hub = LTS.from_transitions([(0, "a", k) for k in range(5000)])
    network = Network([hub, *[LTS.from_transitions([(0, "b", 0)])] * 3])
    packed = pack(network, np.zeros(len(network.actions), dtype=np.int32))
    visible = np.zeros(len(network.actions), dtype=np.bool_)
    relation = relation_of(network, packed)
    tables = new_tables(relation, visible, packed.max_successors)

    assert packed.max_successors > 5000 - 1
    assert tables.closures.shape[0] == len(network.components) + 2
    assert total_bytes(tables) <= ample_bytes(packed, len(network.actions)) + 100


@given(
    networks(max_components=4, max_states=3, max_transitions=6, internal=["d"]),
    st.sampled_from(["F a", "G !a"]),
    st.sampled_from([relation_of, enabling_of]),
)
@settings(max_examples=examples(300))
def test_some_state_of_every_cycle_takes_all_steps(network, formula, tables_of):
    """Condition 4 itself, on the graph of the steps that the blue search took.

    Or it takes a stubborn set of all visible actions, which has a seed of its own.
    """
    search = search_for(network, ("se05", Inner.STORED, tables_of), formula)
    drive(search, Limits())
    problem, seeds = search.problem, search.arrays.reduction.seeds
    showing = len(network.actions) + 1 if tables_of is enabling_of else -1
    colours = search.colours()
    followers = [set() for _ in range(search.n_stored)]
    for state in np.flatnonzero(colours == Colour.BLUE).tolist():
        if 0 < seeds[state] != showing:  # only states with an ample set
            n = call_again(
                problem.expand,
                problem.product,
                search.store,
                search.registers,
                state,
                search.arrays.colours,
                search.arrays.reduction,
            )
            followers[state] = set(problem.product.ids[:n].tolist())
            assert -1 not in followers[state]
    assert not any(
        reaches(followers, dst, state)
        for state, after in enumerate(followers)
        for dst in after
    )


@njit
def call_again(expand, product, store, registers, state, colours, reduction):
    """As the red search takes the steps of the blue one."""
    return visit_again(expand, product, store, registers, state, colours, reduction)
