"""Every emptiness check on every kind of system, with its lasso, against brute force.

Questions are small and random; acceptance is sparse in some and dense in others.  A
check may refuse a question that does not suit it.  What it answers is right, a
violation comes with a lasso (which has been replayed), and a lasso that is said to be a
shortest one is as short as any that another check finds; where no property is asked, as
the shortest that enumeration finds.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from typing import NamedTuple

import pytest
import spot

from ltlpipe import LTS, Network, UnsupportedError, is_empty
from ltlpipe.question.conditions import EMPTINESS_NAMES
from ltlpipe.runtime.jobs import complete
from ltlpipe.search.catalogue import DECOUPLED, POWERSET
from tests import oracles
from tests.cross import test_models as models
from tests.cross.test_agreement import ask
from tests.cross.test_spot_graphs import known
from tests.example_counts import at_least, examples
from tests.spot_graphs import (
    ACCEPTANCES,
    as_automaton,
    negated,
    random_automaton,
    random_formula,
    random_kripke,
    spot_finds,
)
from tests.symmetry.groups import random_systems as systems
from tests.symmetry.sets import random_nets as nets

LIMIT = 3_000
"""States: some nets are unbounded."""


class Question(NamedTuple):
    """A system, what is asked of it, and what is right."""

    system: object
    asked: dict
    expected: str
    formula: object = None  # Spot's tree
    length: int | None = None  # of the shortest accepting lasso, if that is asked for


# --- brute force ------------------------------------------------------------


def shortest_lasso(initial, edges, accepts):
    """The fewest steps of a lasso whose cycle collects accepted marks; None if none.

    `edges` are (source, target, marks), with marks as bits.
    """
    steps = {}
    for src, dst, marks in edges:
        steps.setdefault(src, []).append((dst, marks))
    away = distances({initial}, lambda s: [dst for dst, _ in steps.get(s, ())])
    found = []
    for start, prefix in away.items():
        first = {(dst, marks) for dst, marks in steps.get(start, ())}
        collected = distances(
            first,
            lambda node: [(d, node[1] | m) for d, m in steps.get(node[0], ())],
        )
        found += [
            prefix + 1 + cycle
            for (state, marks), cycle in collected.items()
            if state == start and accepts(marks)
        ]
    return min(found, default=None)


def distances(starts, following):
    """How many steps lead to each node, breadth first."""
    known = dict.fromkeys(starts, 0)
    waiting = list(known)
    for node in waiting:
        for after in following(node):
            if after not in known:
                known[after] = known[node] + 1
                waiting.append(after)
    return known


def verdict_of(length):
    return "holds" if length is None else "violated"


# --- questions --------------------------------------------------------------


def drawn_network(rng, *, accepting):
    """Up to three components over four labels."""
    share = rng.choice([0.15, 0.8])
    parts = []
    for _ in range(rng.randint(1, 3)):
        n = rng.randint(1, 4)
        steps = [
            (rng.randrange(n), rng.choice("abcd"), rng.randrange(n))
            for _ in range(rng.randint(1, 2 * n))
        ]
        goals = [s for s in range(n) if rng.random() < share] if accepting else None
        parts.append(LTS.from_transitions(steps, n_states=n, accepting=goals))
    return Network(parts)


def network(rng):
    system = drawn_network(rng, accepting=False)
    formula = random_formula(rng.randrange(1 << 30), "abcd")
    deadlock = rng.choice(["ignore", "stutter"])
    expected = oracles.spot_verdict(system, formula, stutter=deadlock == "stutter")
    asked = {"formula": formula, "deadlock": deadlock}
    return Question(system, asked, expected, formula)


def accepting_network(rng):
    """Components accept together, or each for itself; often that is all."""
    system = drawn_network(rng, accepting=True)
    together = rng.random() < 0.6
    way = {"network_acceptance": "together" if together else "each"}
    if rng.random() < 0.3:
        formula = random_formula(rng.randrange(1 << 30), "abcd", size=5)
        expected = oracles.spot_verdict(system, formula, together=together)
        return Question(system, way | {"formula": formula}, expected, formula)
    states, edges = oracles.compose(system)
    marked = []
    for src, _, dst in edges:
        own = [
            oracles.is_accepting_locally(c, local)
            for c, local in zip(system.components, states[src], strict=True)
        ]
        marks = all(own) if together else sum(a << i for i, a in enumerate(own))
        marked.append((src, dst, int(marks)))
    full = 1 if together else (1 << len(system.components)) - 1
    length = shortest_lasso(0, marked, lambda marks: marks == full)
    return Question(system, way | {"empty": True}, verdict_of(length), length=length)


def about_model(rng, model, formula, states_of=None):
    """A question about a model, whose states `states_of` enumerates."""
    graph = models.explored(states_of or model)
    if graph is None:
        return None
    stutters = rng.random() < 0.7
    asked = {"deadlock": "stutter" if stutters else "ignore"}
    if rng.random() < 0.2:
        edges = [(s, d, 0) for s, own in enumerate(graph[1]) for _, d in own]
        if stutters:
            edges += [(s, s, 0) for s, own in enumerate(graph[1]) if not own]
        length = shortest_lasso(0, edges, lambda _: True)
        asked["empty"] = True
        return Question(model, asked, verdict_of(length), length=length)
    expected = models.spot_verdict(states_of or model, graph, formula, stutters)
    return Question(model, asked | {"formula": formula}, expected, formula.spot)


@cache
def dve_model(seed):
    """Few, as each is compiled."""
    return systems.dve_model(random.Random(seed))


def dve(rng):
    model = dve_model(rng.randrange(max(examples(12), 2)))
    atoms = models.dve_atoms(rng, model)
    return about_model(rng, model, models.random_formula(rng, atoms))


def net(rng):
    system = systems.net(rng)
    atoms = models.net_atoms(rng, system)
    return about_model(rng, system, models.random_formula(rng, atoms))


def coloured_net(rng):
    system = nets.lively_net(rng)
    formula = nets.formula(rng, system)
    return about_model(rng, system, formula, complete(system.unfolding()))


def about_graph(rng, graph):
    if rng.random() < 0.4:
        marked = as_automaton(graph)
        edges = [
            (edge.src, edge.dst, sum(1 << mark for mark in edge.acc.sets()))
            for edge in marked.edges()
            if edge.cond != spot.buddy.bddfalse
        ]
        accepts = marked.acc().accepting

        def accepted(marks):
            return accepts(spot.mark_t([k for k in range(32) if marks >> k & 1]))

        length = shortest_lasso(graph.get_init_state_number(), edges, accepted)
        return Question(graph, {"empty": True}, verdict_of(length), length=length)
    formula = known(random_formula(rng.randrange(1 << 30)), graph)
    finds = spot_finds(graph, negated(formula, graph.get_dict()))
    expected = "violated" if finds else "holds"
    return Question(graph, {"formula": formula}, expected, formula)


def kripke(rng):
    return about_graph(rng, random_kripke(rng.randrange(1 << 30)))


def automaton(rng):
    """Often Büchi automata, with few marks on states or many."""
    if rng.random() < 0.5:
        return about_graph(rng, buchi_automaton(rng))
    kind = rng.choice([*ACCEPTANCES])
    return about_graph(rng, random_automaton(rng.randrange(1 << 30), kind))


def buchi_automaton(rng):
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.set_buchi()
    p = graph.register_ap("p")
    n, share = rng.randint(1, 8), rng.choice([0.15, 0.8])
    graph.new_states(n)
    marks = [[0] if rng.random() < share else [] for _ in range(n)]
    literals = [spot.buddy.bdd_ithvar(p), spot.buddy.bdd_nithvar(p)]
    for _ in range(rng.randint(n, 3 * n)):
        src = rng.randrange(n)
        label = rng.choice([spot.buddy.bddtrue, *literals])
        graph.new_edge(src, rng.randrange(n), label, marks[src])
    return graph


KINDS = {
    "network": network,
    "accepting network": accepting_network,
    "DVE": dve,
    "net": net,
    "coloured net": coloured_net,
    "Kripke structure": kripke,
    "automaton": automaton,
}


def question(kind, seed):
    """A question about a system of a kind, with few enough states."""
    rng = random.Random(seed)
    while (drawn := KINDS[kind](rng)) is None:
        pass
    return drawn


# --- answers ----------------------------------------------------------------


def assert_right(kind, asked, name, counts, lengths, **way):
    """A check refuses the question, or is right; see the module.

    `lengths` are those of the lassos so far, by whether they are said to be shortest.
    """
    case = (kind, name, asked.asked, way)
    try:
        found = ask(
            asked.system, emptiness=name, max_states=LIMIT, **asked.asked, **way
        )
    except UnsupportedError:
        counts[name, kind, "refused"] += 1
        return
    counts[name, kind, "answered"] += 1
    if found.verdict == "unknown":
        assert "net" in kind, case  # more states than its steps from the first have
        assert found.reason in ("max-states", "walks"), case
        return
    assert found.verdict == asked.expected, case
    counts[found.verdict] += 1
    if found.verdict == "holds" or getattr(found, "finite_run", None) is not None:
        return
    lasso = found.lasso
    assert lasso is not None, case
    length = len(lasso.prefix) + len(lasso.cycle)
    if asked.length is not None:
        assert length >= asked.length, case
        assert length == asked.length or not lasso.shortest, case
        counts["shortest"] += lasso.shortest
    lengths.setdefault(lasso.shortest, set()).add(length)
    if True in lengths:
        assert lengths[True] == {min(lengths[True] | lengths.get(False, set()))}, case
    if asked.formula is not None:
        # Words of graphs share the graph's dictionary, others Spot's own.
        dictionary = getattr(asked.system, "get_dict", spot.translate("1").get_dict)()
        assert lasso.word.intersects(negated(asked.formula, dictionary)), case


OF_SETS = (*DECOUPLED, *POWERSET)
NEVER = {
    "accepting network": ("decoupled-scc",),
    "DVE": POWERSET,
    "net": POWERSET,
    "Kripke structure": OF_SETS,
    "automaton": OF_SETS,
}
"""Checks that refuse every question about a kind of system."""


@pytest.mark.parametrize("kind", KINDS)
def test_some(kind):
    """A few of the checks for each question, each of them sometimes."""
    counts = Counter()
    for number in range(examples(60)):
        asked, lengths = question(kind, number), {}
        for offset in range(3):
            name = EMPTINESS_NAMES[(3 * number + offset) % len(EMPTINESS_NAMES)]
            shortest = number % 2 == 0
            assert_right(kind, asked, name, counts, lengths, shortest=shortest)

    assert min(counts["holds"], counts["violated"]) >= at_least(10)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind, part):
    """All checks for 90 questions about each kind, with and without `shortest`."""
    counts = Counter()
    for number in range(examples(30)):
        asked, lengths = question(kind, 1_000 * (part + 1) + number), {}
        for name in EMPTINESS_NAMES:
            for shortest in (False, True):
                assert_right(kind, asked, name, counts, lengths, shortest=shortest)

    for name in EMPTINESS_NAMES:
        answered = counts[name, kind, "answered"]
        if name in NEVER.get(kind, ()):
            assert answered == 0, name
        elif name not in OF_SETS:  # which need much of a system
            assert answered >= at_least(1), name


MARKS_ON_STATES = ("cvwy92", "hpy96", "gmz04", "se05")


@pytest.mark.parametrize("name", MARKS_ON_STATES)
def test_runs_of_buchi_automata(name):
    """The cycle goes through an accepting state, as the replay wants it to."""
    found = 0
    for seed in range(examples(400)):
        graph = buchi_automaton(random.Random(seed))
        result = is_empty(graph, emptiness=name)
        assert result.empty == graph.is_empty(), seed
        found += not result.empty
    assert found >= at_least(50)


@pytest.mark.parametrize("name", ["gmz04", "se05"])
def test_early_detection_on_graphs(name):
    """A step back to an accepting state on the stack is reported when it is met.

    State 1 has a step back to the accepting state 0, and one to a chain of ten: neither
    the chain is entered, nor a red search begun.
    """
    graph = spot.make_twa_graph(spot.make_bdd_dict())
    graph.set_buchi()
    graph.new_states(12)
    graph.new_edge(0, 1, spot.buddy.bddtrue, [0])
    graph.new_edge(1, 0, spot.buddy.bddtrue)
    for state in range(1, 11):
        graph.new_edge(state, state + 1, spot.buddy.bddtrue)
    graph.new_edge(11, 11, spot.buddy.bddtrue)
    result = is_empty(graph, emptiness=name)

    assert str(result.run) == "(0 1)"
    assert result.stats.states == 2
