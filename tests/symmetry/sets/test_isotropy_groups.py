"""What a property tells apart at each kind of step, against the definition."""

from __future__ import annotations

import random

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.translation import automaton, table_over_states
from ltlpipe.families.networks import coloured_client_server, priorities
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import complete
from ltlpipe.symmetry.colours import group_of_colours
from ltlpipe.symmetry.sets.isotropy_groups import isotropy_groups, kinds_of
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from tests.cross.test_agreement import ask
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import formula, lively_net

SEARCHES = ("tec", "iec", "aec", "aec-closed")


def groups_of(net, constraint):
    """The blocks of clients for each kind of step, in the one state of a constraint."""
    (allowed,) = parse_automata(constraint, "constraint")
    names = [ap.ap_name() for ap in allowed.ap()]
    propositions = [net.meaning(name) for name in names]
    table = table_over_states(allowed, None, names)
    kinds = kinds_of(net.moves, propositions)
    group = complete(group_of_colours(net.coloured))
    (phases,) = complete(isotropy_groups(group, net, propositions, table, kinds))
    return {
        (phase.group, bool((edge.letters >> len(names)).any()))
        for phase in phases
        for edge in phase.edges
    }


def test_priorities_tell_clients_apart_where_one_is_served():
    """Other steps keep everybody; `serve.c` those before c, and those behind it."""
    found = groups_of(SymmetricNet(coloured_client_server(4, 1)), priorities(4, 1))

    assert found == {
        ((0, 0, 0, 0), False),
        ((0, 1, 1, 1), True),
        ((0, 1, 2, 2), True),
        ((0, 0, 2, 3), True),
        ((0, 0, 0, 3), True),
    }


def test_a_proposition_that_is_written_twice():
    """What is about the same marking counts once."""
    text = """HOA: v1
States: 1
Start: 0
AP: 3 "waiting.1==1" "1==waiting.1" "served.1.1==1"
Acceptance: 0 t
--BODY--
State: 0
[(0 & !2) | !1] 0
--END--
"""
    found = groups_of(SymmetricNet(coloured_client_server(4, 1)), text)

    assert found == {((0, 1, 1, 1), False)}


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("m", [1, 2])
def test_the_constraint_says_who_is_served(n, m):
    """Client c is served while none before it waits, whatever else happens."""
    net = coloured_client_server(n, m)
    (constraint,) = parse_automata(priorities(n, m), "constraint")
    for c in range(1, n + 1):
        before = " && ".join(f"waiting.{b} == 0" for b in range(1, c)) or "true"
        for s in range(1, m + 1):
            kept = f'G(action == "serve.{c}.{s}" -> {before})'
            for how in ({"reduce": "none"}, {"reduce": "symmetry"}):
                known = check(SymmetricNet(net), kept, constraint=constraint, **how)
                assert known.verdict == "holds"
            if c > 1:
                free = check(SymmetricNet(net), kept, reduce="none")
                assert free.verdict == "violated"


def assert_agree(seed, counts):
    """Each search gives the verdict of the plain product, under a random constraint."""
    rng = random.Random(seed)
    net = lively_net(rng)
    text = formula(rng, net)
    if rng.random() < 0.3:
        allowed = formula(rng, net)
    else:  # as that of priorities, it tells steps apart
        alive = complete(net.unfolding())
        first, second = (rng.choice(alive.actions) for _ in range(2))
        place = alive.variables[rng.randrange(len(alive.places))]
        allowed = parse(
            f'G(action == "{first}" -> {place} >= 1) && '
            f'G(action == "{second}" -> {place} == 0)'
        )
    constraint = automaton(allowed, acceptance="tgba")
    plain = ask(net, text, constraint=constraint, reduce="none", max_states=2_000)
    if plain.verdict == "unknown":
        return
    for search in SEARCHES:
        how = {"reduce": "symmetry", "emptiness": search, "max_states": 6_000}
        try:
            found = ask(net, text, constraint=constraint, **how)
        except UnsupportedError:  # no symmetry
            return
        if found.verdict != "unknown":
            assert found.verdict == plain.verdict, (seed, search)
    counts[plain.verdict] = counts.get(plain.verdict, 0) + 1


def test_constraints():
    """Sixty questions under random constraints."""
    counts = {}
    for seed in range(examples(60)):
        assert_agree(seed, counts)

    assert counts["holds"] >= at_least(12)
    assert counts["violated"] >= at_least(12)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_constraints(part):
    """Three thousand."""
    counts = {}
    for seed in range(1_000 + 300 * part, 1_300 + 300 * part):
        assert_agree(seed, counts)
