"""Formulas of finite runs, and of the past, against Spot and brute force.

The runs of small random systems are followed by hand.  For formulas without a past the
verdict is that of Spot's product with ``from_ltlf``; with one, all words of few steps
are judged by definition.  A run that violates a formula is followed and judged, too.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import spot
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ltlpipe import UnsupportedError, check
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.propositions.parsing import parse_proposition
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.question.options import Options
from ltlpipe.runtime.errors import silenced
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.systems.runs import Run
from ltlpipe.verdict.finite_runs import cut
from ltlpipe.verdict.lasso import FINAL, MAXIMAL
from tests import oracles
from tests.example_counts import examples
from tests.hypothesis_strategies import networks, petri_nets
from tests.logic.past_formulas import is_true, is_true_on_lasso, text_of, trees

MOST = 60  # states
WAYS = [
    {},
    {"emptiness": "se05"},
    {"emptiness": "dfs-weak"},
    {"emptiness": "couvreur99"},
    {"emptiness": "tela"},
    {"emptiness": "ufscc", "workers": 2},
    {"reduce": "ample"},
    {"reduce": "ample", "ample_sets": "components"},
    {"reduce": "alphabet,factoring"},
    {"reduce": "none", "emptiness": "gv04", "seed": 5},
    {"reduce": "components"},
    {"reduce": "components,ample"},
    {"reduce": "symmetry"},
    {"reduce": "automorphisms"},
    {"reduce": "walks"},
    {"reduce": "subset"},
    {"reduce": "isolated"},
    {"reduce": "decoupled"},
    {"bitstate": 1.0},
    {"acceptance": "tgra"},
    {"acceptance": "ba", "reduce": "none", "emptiness": "cvwy92"},
]


class Steps:
    """A system as a graph: letters on edges, and a last letter where runs end.

    Of a network the last letter is None: the word is that of the edges.
    """

    def __init__(self, edges, ends):
        self.edges, self.ends = (
            edges,
            ends,
        )  # by state: (letter, target); letter or None

    def words(self, most):
        """All words of runs that end, of so many steps at most."""
        known = [((), 0)]
        for _ in range(most + 1):
            for word, state in known:
                if state in self.ends:
                    last = self.ends[state]
                    yield word if last is None else (*word, last)
            known = [
                ((*word, letter), target)
                for word, state in known
                for letter, target in self.edges[state]
            ][:3_000]

    def violates(self, formula, names):
        """Whether Spot finds a word that violates a formula without a past."""
        import buddy  # which Spot brings

        graph = spot.make_twa_graph(spot.make_bdd_dict())
        bits = {n: buddy.bdd_ithvar(graph.register_ap(n)) for n in [*names, "alive"]}
        graph.new_states(len(self.edges) + 1)
        sink = len(self.edges)

        def cube(holding):
            found = buddy.bddtrue
            for name, bit in bits.items():
                found &= bit if name in holding else buddy.bdd_not(bit)
            return found

        for state, edges in enumerate(self.edges):
            for letter, target in edges:
                graph.new_edge(state, target, cube({*letter, "alive"}))
            last = self.ends.get(state, ())
            if state in self.ends:
                told = cube(()) if last is None else cube({*last, "alive"})
                graph.new_edge(state, sink, told)
        graph.new_edge(sink, sink, cube(()))
        wrong = spot.formula_Not(spot.formula(formula))
        automaton = spot.translate(
            spot.from_ltlf(wrong, "alive"), dict=graph.get_dict()
        )
        return not spot.product(graph, automaton).is_empty()


def steps_of_network(network):
    """The composition, and where runs end."""
    states, edges = oracles.compose(network)
    assume(len(states) <= MOST)
    found = [[] for _ in states]
    for src, action, dst in edges:
        taken = network.actions[action]
        found[src].append((() if taken.internal else (taken.name,), dst))
    final = network.has_acceptance
    ends = {
        k: None
        for k, state in enumerate(states)
        if not found[k] or (final and oracles.is_accepting(network, state))
    }
    return Steps(found, ends)


def steps_of_net(net, names, final=None):
    """The markings; the letter of a step is what holds where it begins.

    `final` holds in those that are final.
    """
    is_final = net.bound(final or Number(0), "final")
    meanings = {short: net.meaning(text) for short, text in names.items()}

    def letter(state, action, *, dead):
        return tuple(
            short
            for short, means in meanings.items()
            if evaluate(means, state, action=action, dead=dead)
        )

    index = {tuple(net.initial()): 0}
    found, ends = [], {}
    for k, state in enumerate(known := [*index]):
        found.append([])
        for action, target in islice(net.each_step(state), 60):
            if tuple(target) not in index:
                index[tuple(target)] = len(known)
                known.append(tuple(target))
            taken = letter(state, action, dead=False)
            found[k].append((taken, index[tuple(target)]))
        if len(known) > MOST:  # it may be unbounded
            return None
        dead = not found[k]
        if dead or evaluate(is_final, state, action=None, dead=False):
            ends[k] = letter(state, None, dead=dead)
    return Steps(found, ends)


def agrees(system, steps, tree, way, names):
    """Assert that `check` says what is right; unsupported ways are passed over.

    `names` are what the propositions of the tree are called.
    """
    text, short = text_of(tree, names), {name: own for own, name in names.items()}
    past = any(f"'{operator}'" in str(tree) for operator in "YZOHST")
    with silenced():
        try:
            options = {"semantics": "finite", "unknown": "never", "past": past, **way}
            verdict = check(system, text, **options)
        except UnsupportedError:
            return
    if verdict.verdict == "violated":
        run = verdict.finite_run
        assert run.kind in (MAXIMAL, FINAL)
        told_of, letters, numbers = run.spelling
        told = [{short.get(p, p) for p in letters[k]} for k in numbers.tolist()]
        word = [letter & {*names} for letter in told]
        assert not is_true(tree, word), (text, word)
        used = {short[p] for p in told_of if p in short}
        assert is_word(steps, word, used), (text, word)
    if verdict.verdict == "unknown":
        assert verdict.reason in ("bitstate", "walks")
    elif past:
        some = (word for word in steps.words(4) if word)
        wrong = any(not is_true(tree, word) for word in some)
        assert not (wrong and verdict.verdict == "holds"), text
    else:
        wrong = steps.violates(text_of(tree), names)
        assert verdict.verdict == ("violated" if wrong else "holds"), text


def is_word(steps, word, names):
    """Whether a word is that of a run that ends, as far as some names tell."""
    letters = [frozenset(letter) for letter in word]
    last = letters.pop() if any(e is not None for e in steps.ends.values()) else None
    states = {0}
    for letter in letters:
        states = {
            target
            for state in states
            for own, target in steps.edges[state]
            if names & set(own) == letter
        }
    ends = [steps.ends[state] for state in states if state in steps.ends]
    return any(end is None or names & set(end) == last for end in ends)


def test_a_long_run_is_cut_by_a_job_that_yields():
    """Each of 1,500 states is final, so that the word up to each of them is judged."""
    n = 1_500
    net = PetriNet([Place("p", "p", n)], [Transition("t", "t", {0: 1}, {})])
    final = parse_proposition("p >= 0")
    net.vocabulary = replace(net.vocabulary, facts={"final": final})
    states = np.arange(n, -1, -1, dtype=np.int32).reshape(-1, 1)
    taken = np.append(np.zeros(n, dtype=np.int32), np.int32(-1))
    way = Run(taken, np.concatenate([states, states[-1:]]), n)
    formula = parse("G(p >= 1)", finite=True)
    job = cut(net, formula, Options(semantics="finite"), way)
    turns = 0
    while True:
        try:
            next(job)
        except StopIteration as end:
            found = end.value
            break
        turns += 1
    assert len(found.actions) == n
    assert turns > 50


ACTIONS = {name: name for name in "abc"}


@pytest.mark.parametrize("way", WAYS, ids=lambda w: "-".join(map(str, w.values())))
@given(networks(internal=("b",), max_components=2, acceptance=True), trees("abc"))
@settings(max_examples=examples(40))
def test_networks(way, network, tree):
    """Every search and reduction, with final states and without."""
    agrees(network, steps_of_network(network), tree, way, ACTIONS)


@given(
    networks(max_components=2, acceptance=True),
    trees("abc", past=True),
    st.sampled_from(WAYS),
)
@settings(max_examples=examples(150))
def test_networks_with_a_past(network, tree, way):
    """All words of four steps, by definition."""
    agrees(network, steps_of_network(network), tree, way, ACTIONS)


INFINITE = [
    *({}, {"emptiness": "couvreur99"}, {"emptiness": "se05"}, {"reduce": "ample"}),
    *(
        {"reduce": "components"},
        {"deadlock": "stutter"},
        {"emptiness": "decoupled-scc"},
    ),
    *({"reduce": "symmetry"}, {"acceptance": "tgra"}, {"fairness": "weak"}),
    *({"reduce": "subset"}, {"reduce": "isolated"}),
]


def lassos(steps, most):
    """Words of short lassos, as prefix and cycle; a deadlock repeats nothing."""
    known = [((), (0,))]
    for _ in range(most):
        longer = []
        for word, states in known:
            for letter, target in steps.edges[states[-1]]:
                if target in states:
                    first = states.index(target)
                    whole = [*word, letter]
                    yield whole[:first], whole[first:]
                longer.append(((*word, letter), (*states, target)))
        known = longer[:400]


@pytest.mark.parametrize("way", INFINITE, ids=lambda w: "-".join(map(str, w.values())))
@given(networks(max_components=2), trees("abc", past=True, finite=False))
@settings(max_examples=examples(40))
def test_infinite_runs_with_a_past(way, network, tree):
    """Short lassos, by definition; a lasso that is found is judged so, too."""
    steps, text = steps_of_network(network), text_of(tree)
    with silenced():
        try:
            verdict = check(network, text, unknown="never", past=True, **way)
        except UnsupportedError:
            return
    if verdict.lasso is not None:
        _, letters, numbers = verdict.lasso.spelling
        word, k = [letters[n] for n in numbers.tolist()], len(verdict.lasso.prefix)
        assert not is_true_on_lasso(tree, word[:k], word[k:]), text
    if verdict.verdict == "holds" and not way.get("fairness"):
        for prefix, cycle in lassos(steps, 5):
            assert is_true_on_lasso(tree, prefix, cycle), (text, prefix, cycle)


NETS = [
    *({}, {"emptiness": "se05"}, {"emptiness": "couvreur99"}, {"reduce": "ample"}),
    *({"reduce": "automorphisms"}, {"reduce": "walks"}, {"reduce": "decoupled"}),
]


@pytest.mark.parametrize("way", NETS, ids=lambda w: "-".join(map(str, w.values())))
@given(
    petri_nets(max_places=3, max_transitions=3),
    st.one_of(trees("ab"), trees("ab", past=True)),
)
@settings(max_examples=examples(60))
def test_nets(way, net, tree):
    """Propositions about markings, and about the step that leaves one."""
    if not (net.places and net.transitions):
        return
    names = {
        "a": f"{net.places[0].id} <= 1",
        "b": f'action=="{net.transitions[-1].id}"',
    }
    names = {short: str(parse_proposition(text)) for short, text in names.items()}
    if (steps := steps_of_net(net, names)) is not None:
        agrees(net, steps, tree, way, names)


@pytest.mark.parametrize("way", NETS, ids=lambda w: "-".join(map(str, w.values())))
@given(
    petri_nets(max_places=3, max_transitions=3),
    st.one_of(trees("ab"), trees("ab", past=True)),
    st.integers(0, 2),
)
@settings(max_examples=examples(60))
def test_final_markings(way, net, tree, tokens):
    """A run may end in a marking of so many tokens, and go on."""
    if not (net.places and net.transitions):
        return
    final = parse_proposition(f"{net.places[-1].id} == {tokens}")
    net.vocabulary = replace(net.vocabulary, facts={"final": final})
    names = {"a": f"{net.places[0].id} <= 1", "b": f'action=="{net.transitions[0].id}"'}
    names = {short: str(parse_proposition(text)) for short, text in names.items()}
    if (steps := steps_of_net(net, names, final)) is not None:
        agrees(net, steps, tree, way, names)


@pytest.mark.slow
@given(
    networks(internal=("b",), acceptance=True),
    st.one_of(trees("abc", max_leaves=9), trees("abc", past=True, max_leaves=9)),
    st.sampled_from(WAYS),
)
@settings(max_examples=examples(3000))
def test_many_networks(network, tree, way):
    """The same, often."""
    agrees(network, steps_of_network(network), tree, way, ACTIONS)


@pytest.mark.slow
@given(
    petri_nets(max_places=4, max_transitions=4),
    st.one_of(trees("ab", max_leaves=9), trees("ab", past=True, max_leaves=9)),
    st.sampled_from(NETS),
)
@settings(max_examples=examples(3000))
def test_many_nets(net, tree, way):
    """The same, often."""
    test_nets.hypothesis.inner_test(way, net, tree)


@pytest.mark.slow
@given(
    networks(),
    trees("abc", past=True, finite=False, max_leaves=9),
    st.sampled_from(INFINITE),
)
@settings(max_examples=examples(3000))
def test_many_infinite_runs(network, tree, way):
    """The same, often."""
    test_infinite_runs_with_a_past.hypothesis.inner_test(way, network, tree)
