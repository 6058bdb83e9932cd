"""Random graphs of Spot, and what Spot itself says of them."""

from __future__ import annotations

import random

import spot
from spot import buddy

NAMES = ("p", "q", "r", "s")


def as_true(graph):
    """The letters of a graph's propositions, as variables of BDDs."""
    return [graph.register_ap(p) for p in graph.ap()]


def random_condition(rng, variables, *, cubes):
    """A condition over variables: a valuation if `cubes`, else a random one, or 0."""
    if cubes and rng.random() < 0.9:
        condition = buddy.bddtrue
        for variable in variables:
            condition &= _literal(rng, variable)
        return condition
    condition = buddy.bddtrue if rng.random() < 0.7 else buddy.bddfalse
    for _ in range(rng.randint(0, 3)):
        if not variables:
            break
        literal = _literal(rng, rng.choice(variables))
        condition = condition & literal if rng.random() < 0.6 else condition | literal
    return condition


def _literal(rng, variable):
    return rng.choice([buddy.bdd_ithvar, buddy.bdd_nithvar])(variable)


def random_edges(rng, n, m):
    """About m pairs of states below n; some states are left without."""
    live = [state for state in range(n) if rng.random() < 0.9] or [0]
    return [(rng.choice(live), rng.randrange(n)) for _ in range(m)]


def random_kripke(seed, max_states=7, dictionary=None):
    """A Kripke structure; states may lack successors, or allow several valuations."""
    rng = random.Random(seed)
    graph = spot.make_kripke_graph(dictionary or spot.make_bdd_dict())
    variables = [graph.register_ap(p) for p in NAMES[: rng.randint(0, len(NAMES))]]
    n = rng.randint(1, max_states)
    for _ in range(n):
        graph.new_state(random_condition(rng, variables, cubes=True))
    for edge in sorted(set(random_edges(rng, n, rng.randint(0, 3 * n)))):
        graph.new_edge(*edge)
    graph.set_init_state(rng.randrange(n))
    return graph


ACCEPTANCES = {
    "all": lambda rng: "t",
    "none": lambda rng: "f",
    "Buchi": lambda rng: "Inf(0)",
    "co-Buchi": lambda rng: "Fin(0)",
    "generalized-Buchi": lambda rng: f"generalized-Buchi {rng.randint(1, 4)}",
    "generalized-co-Buchi": lambda rng: f"generalized-co-Buchi {rng.randint(1, 4)}",
    "Rabin": lambda rng: f"Rabin {rng.randint(1, 3)}",
    "Streett": lambda rng: f"Streett {rng.randint(1, 3)}",
    "generalized-Rabin": lambda rng: f"generalized-Rabin 2 {rng.randint(0, 2)} 1",
    "parity": lambda rng: (
        f"parity {rng.choice(['min', 'max'])} {rng.choice(['odd', 'even'])} "
        f"{rng.randint(1, 5)}"
    ),
    "random": lambda rng: f"random {rng.randint(1, 6)}",
}
"""Acceptance conditions as `spot.acc_code` reads them, by their kind."""


def random_automaton(seed, kind, max_states=7, dictionary=None):
    """An automaton; some conditions of edges are false, some edges are there twice."""
    rng = random.Random(seed)
    spot.srand(seed % (1 << 31))
    graph = spot.make_twa_graph(dictionary or spot.make_bdd_dict())
    code = spot.acc_code(ACCEPTANCES[kind](rng))
    n_marks = code.used_sets().max_set()
    graph.set_acceptance(n_marks, code)
    variables = [graph.register_ap(p) for p in NAMES[: rng.randint(0, len(NAMES))]]
    n = rng.randint(1, max_states)
    graph.new_states(n)
    of_state = [
        [mark for mark in range(n_marks) if rng.random() < 0.3] for _ in range(n)
    ]
    on_states = rng.random() < 0.3
    for src, dst in random_edges(rng, n, rng.randint(0, 3 * n)):
        marks = [mark for mark in range(n_marks) if rng.random() < 0.3]
        condition = random_condition(rng, variables, cubes=False)
        graph.new_edge(src, dst, condition, of_state[src] if on_states else marks)
    graph.set_init_state(rng.randrange(n))
    return graph


def random_formula(seed, names=NAMES, size=9):
    """A formula over some of these names."""
    found = spot.randltl(list(names), seed=seed % (1 << 31), tree_size=size)
    return next(iter(found))


def negated(formula, dictionary):
    """Spot's automaton of the words that violate a formula."""
    return spot.translate(spot.formula_Not(formula), "Buchi", dict=dictionary)


def as_automaton(graph):
    """A graph as an automaton."""
    if isinstance(graph, spot.twa_graph):
        return graph
    return spot.make_twa_graph(graph, spot.twa_prop_set.all(), True)


def spot_finds(graph, violations):
    """Whether Spot finds a run of a graph that an automaton accepts."""
    return not spot.product(as_automaton(graph), violations).is_empty()
