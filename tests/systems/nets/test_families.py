"""Families of nets: numbers of markings, and files that give them back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.families.nets import dining, kanban, token_ring
from ltlpipe import UnsupportedError
from ltlpipe.automata.letters import universal
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.reading import parse_pnml
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.nets.writing import pnml_text, save_pnml
from ltlpipe.systems.reading import load
from tests.complete_searches import Limits, drive
from tests.hypothesis_strategies import AWKWARD_LABELS, petri_nets
from tests.oracles import reachable_markings


def n_markings(net):
    packed = net.pack(())
    search = Exploration(make_problem(packed, universal()))
    drive(search, Limits())
    assert packed.overflowed() is None
    return search.registers[Reg.VISITED]


def round_the_table(n):
    neighbours = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 0]])
    return np.trace(np.linalg.matrix_power(neighbours, n))


@pytest.mark.parametrize("n", [2, 3, 10])
def test_dining(n):
    assert n_markings(dining(n)) == round_the_table(n)
    if n < 10:
        net = dining(n)
        assert len(reachable_markings(net, 100)) == round_the_table(n)
        dead = [m for m in reachable_markings(net, 100) if not net.steps(m)]
        assert dead == [(0, 1, 0, 0) * n]


@pytest.mark.parametrize("n", [2, 3, 12])
def test_token_ring(n):
    net = token_ring(n)
    assert n_markings(net) == 3 * n * 2 ** (n - 1)
    assert net.bounds.tokens == [1] * (4 * n)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (3, 4, 3), (2, 5, 5), (3, 9)])
def test_kanban(sizes):
    cells, cards, *_ = sizes
    net = kanban(*sizes)
    assert n_markings(net) == math.comb(cards + 2, 2) ** cells
    assert net.bounds.tokens == [cards] * (3 * cells)


@pytest.mark.parametrize(
    ("family", "sizes"),
    [(dining, (1,)), (token_ring, (1,)), (kanban, (0, 1)), (kanban, (1, 2, 3))],
)
def test_sizes_that_make_no_net(family, sizes):
    with pytest.raises(UnsupportedError, match="use"):
        family(*sizes)


def same(net, other):
    assert (net.name, net.places, net.transitions) == (
        other.name,
        other.places,
        other.transitions,
    )


@pytest.mark.parametrize("name", ["m.pnml", "m.pnml.gz"])
def test_files_give_families_back(name, tmp_path):
    for net in (dining(3), token_ring(2), kanban(2, 5, 2)):
        save_pnml(net, tmp_path / name)
        same(net, load(tmp_path / name))


@given(petri_nets(), st.data())
def test_text_gives_nets_back(net, data):
    """Whatever ids and names, quotes and markup in them."""
    texts = AWKWARD_LABELS.map(str.strip).filter(bool)
    n = len(net.places) + len(net.transitions)
    ids = iter(data.draw(st.lists(texts, min_size=n, max_size=n, unique=True)))
    net = PetriNet(
        [Place(next(ids), data.draw(texts), p.tokens) for p in net.places],
        [
            Transition(next(ids), data.draw(texts), t.pre, t.post)
            for t in net.transitions
        ],
        name=data.draw(texts),
    )
    read = parse_pnml(pnml_text(net).encode(), "m")
    assert (read.places, read.transitions) == (net.places, net.transitions)


def test_what_xml_does_not_hold():
    with pytest.raises(UnsupportedError, match="XML"):
        pnml_text(PetriNet([Place("a\0", "a")], []))
