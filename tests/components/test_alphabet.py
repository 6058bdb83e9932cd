"""Alphabet trimming against composition and against its rule, one step at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.automata.interrupts import to_spot
from ltlpipe.automata.translation import table_over_actions
from ltlpipe.components import alphabet
from ltlpipe.components.alphabet import letters_of
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import run
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas, networks
from tests.oracles import compose


def trim(network, barred=()):
    return run(alphabet.trim(network, barred))


def trim_alone(network, actions):
    return run(alphabet.trim_alone(network, actions))


def trim_with(network, table, actions):
    return run(alphabet.trim_with(network, table, actions))


def saturate(network, barred=()):
    return run(alphabet.saturate(network, barred))


NETWORKS = networks(max_components=4, max_transitions=6, internal=["d"])
ACTIONS = st.sets(st.integers(0, 5))


def chain(*labels, extra=()):
    """A component that offers labels one after the other."""
    steps = [(k, label, k + 1) for k, label in enumerate(labels)]
    return LTS.from_transitions([*steps, *extra])


def transitions(network):
    """Those of every component."""
    return [component.transitions() for component in network.components]


def naive(network, barred=()):
    """Reached states and actions that happen, from the definition."""
    reached = [{c.initial} for c in network.components]
    while True:
        offered = [
            {a for s, a, _ in c.transitions() if s in states}
            for c, states in zip(network.components, reached, strict=True)
        ]
        going = {
            (p, action.name)
            for k, action in enumerate(network.actions)
            if k not in barred
            and all(action.name in offered[q] for q in action.participants)
            for p in action.participants
        }
        more = [
            states
            | {d for s, a, d in c.transitions() if s in states and (p, a) in going}
            for p, (c, states) in enumerate(
                zip(network.components, reached, strict=True)
            )
        ]
        if more == reached:
            return reached, going
        reached = more


def trimmed_as_in_the_source(network):
    """What is left when labels that somebody lacks and unreachable states go."""
    left = transitions(network)
    while True:
        before = [len(part) for part in left]
        for action in network.actions:
            if any(
                all(a != action.name for _, a, _ in left[p])
                for p in action.participants
            ):
                for p in action.participants:
                    left[p] = [step for step in left[p] if step[1] != action.name]
        for p, component in enumerate(network.components):
            reached = {component.initial}
            for _ in range(component.n_states):
                reached |= {d for s, _, d in left[p] if s in reached}
            left[p] = [step for step in left[p] if step[0] in reached]
        if [len(part) for part in left] == before:
            return left


def barring(network, chosen):
    return {action for action in chosen if action < len(network.actions)}


@given(NETWORKS, ACTIONS)
@settings(max_examples=examples(300))
def test_against_the_definition(network, chosen):
    """What is kept starts in reached states with actions that happen."""
    barred = barring(network, chosen)
    reached, going = naive(network, barred)
    assert transitions(trim(network, barred)) == [
        [
            (s, a, d)
            for s, a, d in c.transitions()
            if s in reached[p] and (p, a) in going
        ]
        for p, c in enumerate(network.components)
    ]
    _, happening = saturate(network, barred)
    assert happening.tolist() == [
        (action.participants[0], action.name) in going for action in network.actions
    ]


@given(NETWORKS)
@settings(max_examples=examples(300))
def test_the_composition_stays_as_it_is(network):
    """Reachable states, transitions and so deadlocks, under the same numbers."""
    trimmed = trim(network)

    assert [c.labels for c in trimmed.components] == [
        c.labels for c in network.components
    ]
    assert trimmed.actions == network.actions
    states, edges = compose(network)
    left, steps = compose(trimmed)
    assert left == states
    assert steps == edges


@given(NETWORKS)
@settings(max_examples=examples(300))
def test_nothing_is_left_that_the_source_removes(network):
    """Its rule, applied until nothing changes, keeps all that ours keeps."""
    for ours, theirs in zip(
        transitions(trim(network)), trimmed_as_in_the_source(network), strict=True
    ):
        assert set(ours) <= set(theirs)


@given(NETWORKS, ACTIONS)
@settings(max_examples=examples(300))
def test_trimming_twice_changes_nothing(network, chosen):
    """And says so by returning the network itself."""
    barred = barring(network, chosen)
    trimmed = trim(network, barred)
    assert trim(trimmed, barred) is trimmed
    assert trim(trimmed) is trimmed


@given(NETWORKS, ACTIONS)
@settings(max_examples=examples(300))
def test_barred_actions(network, chosen):
    """Exactly the runs without them are left."""
    barred = barring(network, chosen)
    states, edges = compose(network)
    allowed = [(s, a, d) for s, a, d in edges if a not in barred]
    reached = {0}
    for _ in states:
        reached |= {d for s, _, d in allowed if s in reached}
    left, steps = compose(trim(network, barred))
    assert {states[s] for s in reached} == set(left)
    assert {(states[s], a, states[d]) for s, a, d in allowed if s in reached} == {
        (left[s], a, left[d]) for s, a, d in steps
    }


def test_what_another_component_lacks():
    """b is never offered on the right, where it is a label of an unreachable state."""
    left = chain("a", "b", "c")
    right = LTS.from_transitions([(0, "a", 0), (1, "b", 1), (0, "c", 0)])
    assert transitions(trim(Network([left, right]))) == [[(0, "a", 1)], [(0, "a", 0)]]


def test_a_label_that_is_gone_still_blocks():
    """Without its transitions on b the right component still has b."""
    left = chain("b", extra=[(0, "a", 0)])
    right = LTS.from_transitions([(1, "b", 0)])
    trimmed = trim(Network([left, right]))
    assert trimmed.components[1].labels == ("b",)
    assert len(compose(trimmed)[0]) == 1


def test_three_parties():
    """One of three that lacks a label is enough; a nondeterministic one has both."""
    first = LTS.from_transitions([(0, "a", 1), (0, "a", 2), (1, "b", 0), (2, "c", 0)])
    second = LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "c", 0)])
    third = LTS.from_transitions([(0, "a", 0), (0, "c", 0), (1, "b", 0)])
    assert transitions(trim(Network([first, second, third]))) == [
        [(0, "a", 1), (0, "a", 2), (2, "c", 0)],
        [(0, "a", 1), (1, "c", 0)],
        [(0, "a", 0), (0, "c", 0)],
    ]


def test_two_that_wait_for_each_other():
    """The rule of the source keeps them: each offers what the other needs."""
    left = chain("a", "b")
    right = chain("b", "a")
    network = Network([left, right])
    assert transitions(trim(network)) == [[], []]
    assert trimmed_as_in_the_source(network) == transitions(network)


def test_internal_labels_wait_for_nobody():
    """They have one participant, whatever they are called."""
    left = LTS.from_transitions([(0, "i", 1), (1, "a", 0)], internal=["i"])
    right = LTS.from_transitions([(1, "i", 0), (0, "a", 0)])
    network = Network([left, right])
    assert transitions(trim(network)) == [
        [(0, "i", 1), (1, "a", 0)],
        [(0, "a", 0)],
    ]


def test_acceptance_and_names_stay():
    """Only transitions go."""
    component = LTS.from_transitions(
        [(0, "a", 0), (1, "a", 1)], accepting=[1], name="left"
    )
    network = Network([component], name="both")
    trimmed = trim(network)
    (left,) = trimmed.components
    assert trimmed.name == "both"
    assert left.name == "left"
    assert left.n_states == 2
    assert left.accepting.tolist() == [False, True]


def test_far_more_states_than_transitions():
    """Only states that are named cost anything."""
    huge = 2**31 - 1
    component = LTS(
        n_states=huge,
        initial=huge - 1,
        labels=("a",),
        src=np.array([huge - 1, 5], dtype=np.int32),
        label=np.zeros(2, dtype=np.int32),
        dst=np.array([7, 6], dtype=np.int32),
    )
    assert transitions(trim(Network([component]))) == [[(huge - 1, "a", 7)]]


@pytest.mark.parametrize("barred", [(), (0,)])
def test_without_transitions(barred):
    """There is nothing to remove."""
    network = Network([LTS.from_transitions([])])
    if not barred:
        assert trim(network, barred) is network
    assert trim(Network([chain("a")]), [0]).components[0].n_transitions == 0


# -- with the property --


def test_what_the_property_lacks():
    """No violation of F a has an a: neither may happen what comes after one."""
    network = Network(
        [
            LTS.from_transitions([(0, "a", 1), (1, "b", 1), (0, "c", 0)]),
            LTS.from_transitions([(0, "b", 0), (0, "e", 0)]),
        ]
    )
    formula = parse("F a & F(b -> X c)")
    table = table_over_actions(parse("F a"), "ba", ["a"])
    trimmed = trim_with(network, table, ["a"])
    assert transitions(trimmed.network) == [[(0, "c", 0)], [(0, "e", 0)]]
    assert trimmed.actions == []
    assert trimmed.table.n_letters == 1
    assert formula.propositions == ("a", "b", "c")


def test_back_and_forth():
    """What the system lacks makes the property lack something, and on."""
    # b needs a before it; the violations need c at once, so no a, so no b.
    network = Network(
        [LTS.from_transitions([(0, "a", 1), (1, "b", 1), (0, "c", 2), (2, "d", 2)])]
    )
    table = table_over_actions(parse("!(c & XG(d | b))"), "ba", ["b", "c", "d"])
    trimmed = trim_with(network, table, ["b", "c", "d"])
    assert transitions(trimmed.network) == [[(0, "c", 2), (2, "d", 2)]]
    assert trimmed.actions == ["c", "d"]


@given(NETWORKS, formulas())
@settings(max_examples=examples(300))
def test_with_the_property(network, text):
    """The product accepts the same words, and both sides have the same actions."""
    formula = parse(text)
    names = [n for n in formula.propositions if n in network.action_index]
    smaller, known = trim_alone(network, names)
    table = table_over_actions(formula, "ba", known)
    trimmed = trim_with(smaller, table, known)

    together = trim_alone(trimmed.network, trimmed.actions)
    assert together == (trimmed.network, trimmed.actions)
    whole = table_over_actions(formula, "ba", names)
    assert accepted(network, whole, names) == accepted(*trimmed)
    again = trim_with(*trimmed)
    assert again.network is trimmed.network
    assert again.table is trimmed.table
    counts = np.diff(trimmed.table.first_edge).reshape(trimmed.table.n_states, -1)
    occurring = {
        int(letter)
        for letter, alive in zip(
            letters_of(trimmed.network, trimmed.actions),
            saturate(trimmed.network)[1],
            strict=True,
        )
        if alive
    }
    assert occurring <= set(np.flatnonzero(counts.sum(axis=0)).tolist())


def accepted(network, table, names):
    """Whether the product accepts something, by Spot, over the bits of letters."""
    import buddy
    import spot

    violations = to_spot(table)
    letters = letters_of(network, names)
    n_bits = (table.n_letters - 1).bit_length()
    graph = spot.make_twa_graph(violations.get_dict())
    variables = [graph.register_ap(f"bit{i}") for i in range(n_bits)]
    states, edges = compose(network)
    graph.new_states(len(states))
    graph.set_init_state(0)
    for src, action, dst in edges:
        cube = buddy.bddtrue
        for i, variable in enumerate(variables):
            literal = (
                buddy.bdd_ithvar if letters[action] >> i & 1 else buddy.bdd_nithvar
            )
            cube &= literal(variable)
        graph.new_edge(src, dst, cube)
    return bool(violations.intersects(graph))
