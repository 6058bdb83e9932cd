"""Unfolded nets against an interpreter of coloured ones, and against the contest's."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from itertools import islice
from math import comb, factorial
from pathlib import Path

import pytest
import spot
from hypothesis import given, settings
from hypothesis import strategies as st

import ltlpipe
from benchmarks.families.nets import (
    coloured_dining,
    coloured_peers,
    coloured_token_ring,
    shared_memory,
)
from ltlpipe import UnsupportedError
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured import unfolding
from ltlpipe.systems.nets.coloured.net import AnyOf, from_plain, to_plain
from ltlpipe.systems.nets.coloured.unfolding import unfolded
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.writing import pnml_text
from tests.example_counts import examples
from tests.oracles import reachable_markings
from tests.systems.nets.coloured.oracle import ColouredOracle, NegativeError
from tests.systems.nets.coloured.random_nets import symmetric_nets
from tests.systems.nets.test_families import n_markings

DEFAULT = Path(__file__).parents[5] / "shared" / "benchmarks"
FOLDER = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "mcc" / "models"

LIMIT = 60


class Symmetric:
    """What the ids of a symmetric net are."""

    def __init__(self, net):
        self.places = list(map(net.place_names.id, range(len(net.cells))))
        self.transition = net.move_names.id


class Unfolded:
    """What the ids of an unfolded net are."""

    def __init__(self, net):
        self.places = [place.id for place in net.places]
        self.transition = lambda number: net.transitions[number].id


def marking_of(ids, state):
    """A marking by the ids of places, as the oracle shows it."""
    pairs = zip(ids.places, state, strict=True)
    return frozenset((place, n) for place, n in pairs if n)


def agrees(net):
    """Markings and steps are those that the oracle finds in the net's file.

    Those of the symmetric net, and of the unfolded one.
    """
    text = pnml_text(net)
    oracle = ColouredOracle(text)
    read = parse_pnml(text.encode(), "m.pnml")

    assert read.coloured == net
    assert from_plain(to_plain(net)) == net
    graph = oracle.graph(LIMIT)
    for net, kind in ((read, Symmetric), (complete(read.unfolding()), Unfolded)):
        states = reachable_markings(net, LIMIT + 1)
        assert (graph is None) == (len(states) > LIMIT)
        if graph is not None:
            assert graph_of(net, kind(net), states) == graph
    return None if graph is None else (read, oracle, graph)


def graph_of(net, ids, states):
    """The steps of markings, by ids."""
    found = {}
    for state in states:
        found[marking_of(ids, state)] = {
            (ids.transition(step.action), marking_of(ids, step.state))
            for step in net.steps(state)
        }
        assert len(found[marking_of(ids, state)]) == len(net.steps(state))
    return found


@given(symmetric_nets())
@settings(max_examples=examples(300))
def test_agrees_with_the_interpreter(net):
    """The same markings and steps, by the names of colours."""
    agrees(net)


@pytest.mark.slow
@given(symmetric_nets(max_places=4, max_transitions=4))
@settings(max_examples=examples(4000))
def test_thousands_agree_with_the_interpreter(net):
    agrees(net)


@given(symmetric_nets(wild=True))
@settings(max_examples=examples(200))
def test_differences_that_are_none(net):
    """They are refused where the oracle finds some; else the net is right."""
    try:
        ColouredOracle(pnml_text(net)).graph(LIMIT)
    except NegativeError:
        with suppress(UnsupportedError):  # the binding may be one that is never reached
            unfolded(net)
        return
    agrees(net)


@pytest.mark.parametrize(
    ("net", "states"),
    [
        (coloured_dining(5), 243),
        (coloured_token_ring(5), 166),
        (shared_memory(5), 1_863),
        (coloured_dining(8), 3**8),
        (coloured_client_server(4, 3), sum(
            comb(4, k) * factorial(3) // factorial(3 - k) * 2 ** (4 - k)
            for k in range(4)
        )),
        (coloured_peers(5), sum(
            factorial(5) // (factorial(k) * factorial(5 - 2 * k)) * 5 ** (5 - 2 * k)
            for k in range(3)
        )),
    ],
    ids=lambda value: getattr(value, "name", ""),
)  # fmt: skip
def test_numbers_of_markings(net, states):
    """Of the first three they are published: Philosophers-COL-000005 and its like."""
    assert n_markings(unfolded(net)) == states


@pytest.mark.parametrize(
    "net",
    [coloured_dining(3), coloured_token_ring(2), shared_memory(2),
     coloured_client_server(2, 2), coloured_peers(3)],
    ids=lambda net: net.name,
)  # fmt: skip
def test_families_agree_with_the_interpreter(net):
    assert agrees(net) is not None


PLACES = {
    "memory": "Memory", "active": "Active", "queue": "Queue", "own": "OwnMemAcc",
    "other": "Ext_Mem_Acc", "bus": "Ext_Bus", "state": "State",
}  # fmt: skip


def contest_name(own):
    """What the contest's place/transition net calls a place of ours."""
    kind, *colours = own.split(".")
    return "_".join([PLACES[kind], *(re.sub("[a-z]", "", c) for c in colours)])


@pytest.mark.skipif(not FOLDER.is_dir(), reason="no benchmarks (LTLPIPE_BENCHMARKS)")
@pytest.mark.parametrize(
    ("net", "model"),
    [
        (shared_memory(10), "SharedMemory-PT-000010"),
        (coloured_token_ring(10), "TokenRing-PT-010"),
    ],
)
def test_unfolded_nets_of_the_contest(net, model):
    """The unfolding is the contest's own, place by place, transition by transition."""
    published = ltlpipe.load(FOLDER / f"{model}.pnml.gz")
    ours = unfolded(net)

    names = dict(zip(published.variables, range(len(published.variables)), strict=True))
    number = [names[contest_name(place.id)] for place in ours.places]
    assert sorted(number) == list(range(len(published.places)))
    tokens = [published.places[k].tokens for k in number]
    assert tokens == list(ours.initial())

    def moves(net, place):
        return sorted(
            tuple(
                sorted((place(p), n) for p, n in side.items())
                for side in (t.pre, t.post)
            )
            for t in net.transitions
        )

    assert moves(ours, number.__getitem__) == moves(published, int)


def test_limits_are_found_before_anything_is_made(monkeypatch):
    monkeypatch.setattr(unfolding, "MAX_TRANSITIONS", 59)
    with pytest.raises(UnsupportedError, match=r"more than 59 transitions"):
        unfolded(shared_memory(5))
    monkeypatch.setattr(unfolding, "MAX_TRANSITIONS", 60)
    assert len(unfolded(shared_memory(5)).transitions) == 55
    monkeypatch.setattr(unfolding, "MAX_ARCS", 10)
    with pytest.raises(UnsupportedError, match=r"unfolds into more than 10 arcs"):
        unfolded(shared_memory(5))


def test_a_guard_that_never_holds_is_written():
    """It has no parts, and equals one that always holds."""
    net = coloured_dining(2)
    dead, *others = net.transitions
    net = net._replace(transitions=(dead._replace(guard=AnyOf(())), *others))
    read = parse_pnml(pnml_text(net).encode(), "m.pnml")
    assert isinstance(read.coloured.transitions[0].guard, AnyOf)


def test_ids_and_names_can_be_mixed():
    """A node means the same, however its colours are called."""
    net = unfolded(coloured_client_server(2, 2))
    for kind in ("served.{} == 1", "fireable(serve.{})", 'action=="serve.{}"'):
        texts = [kind.format(own) for own in ("1.2", "client1.server2", "client1.2")]
        first, *others = [net.meaning(text) for text in texts]
        assert others == [first, first]


def test_unreachable_colours_are_left_out():
    """One philosopher at the table takes two of the three forks."""
    net = coloured_dining(3)
    think = net.places[0]._replace(marking=net.places[0].marking._replace(
        entries=(from_plain(["Constant", 0]),)
    ))  # fmt: skip
    alone = unfolded(net._replace(places=(think, *net.places[1:])))
    assert {place.id for place in alone.places} == {
        *(f"{kind}.philosopher1" for kind in ("think", "left", "right", "eat")),
        *(f"fork.philosopher{k}" for k in (1, 2, 3)),
    }
    assert len(alone.transitions) == 5


@given(symmetric_nets(), st.data())
@settings(max_examples=examples(200))
def test_verdicts_and_lassos(net, data):
    """Verdicts are Spot's on the oracle's graph, lassos runs of the coloured net."""
    result = agrees(net)
    if result is None:
        return
    read, oracle, graph = result
    slots = sorted({slot for marking in graph for slot, _ in marking})
    text = data.draw(st.sampled_from(FORMULAS))
    meanings = {
        "A": tokens_at_most("p0", 1),
        "B": lambda m: any(n.split(".")[0] == "t0" for n, _ in graph[m]),
        "C": lambda m: False,
    }
    texts = {"A": "p0 <= 1", "B": "fireable(t0)", "C": "false"}
    if slots:
        slot = data.draw(st.sampled_from(slots))
        texts["C"] = f"1 <= {slot}".replace("-", "\\-")
        meanings["C"] = lambda m: slot in dict(m)

    formula = "".join(f"({texts[c]})" if c in texts else c for c in text)
    verdict = ltlpipe.check(read, formula)

    import buddy

    kripke = spot.make_kripke_graph(spot._bdd_dict)
    bits = {c: spot.formula_ap(c) for c in meanings}
    variables = {c: buddy.bdd_ithvar(kripke.register_ap(c)) for c in bits}
    numbers = {}
    for marking in graph:
        letter = buddy.bddtrue
        for c, meaning in meanings.items():
            literal = variables[c] if meaning(marking) else -variables[c]
            letter = letter & literal
        numbers[marking] = kripke.new_state(letter)
    for marking, steps in graph.items():
        for target in {after for _, after in steps} or {marking}:
            kripke.new_edge(numbers[marking], numbers[target])
    kripke.set_init_state(numbers[shown_initial(oracle)])
    negated = spot.formula_Not(spot.formula(text))
    holds = not spot.translate(negated).intersects(kripke)
    assert verdict.verdict == ("holds" if holds else "violated")
    if not holds:
        replay(verdict.lasso, graph, shown_initial(oracle), read)


FORMULAS = ["G A", "F B", "G F C", "F G A", "A U B", "G(B -> F C)", "X X C", "F G !C"]


def tokens_at_most(place, most):
    def holds(marking):
        own = [n for slot, n in marking if slot.split(".")[0] == place]
        return sum(own) <= most

    return holds


def shown_initial(oracle):
    from tests.systems.nets.coloured.oracle import shown

    return shown(oracle.initial)


def replay(lasso, graph, initial, net):
    """Step a lasso through the graph of the coloured net."""
    own = Symmetric(net)
    ids = dict(zip(net.variables, own.places, strict=True))
    called = {name: own.transition(k) for k, name in enumerate(net.actions)}
    states = [
        frozenset((ids[name], n) for name, n in state.items() if n)
        for state in [*lasso.prefix, *lasso.cycle]
    ]
    names = [*lasso.prefix_actions, *lasso.cycle_actions]
    states.append(states[len(lasso.prefix)])
    assert states[0] == initial
    for before, name, after in zip(states, names, islice(states, 1, None)):  # noqa: B905
        if name == "<stutter>":
            assert not graph[before]
            assert before == after
        else:
            assert (called[name], after) in graph[before]
