"""Nets without places or tokens, and searches that do not fit: answered or refused."""

from __future__ import annotations

import pytest

from benchmarks.families.nets import coloured_dining, kanban
from ltlpipe import UnsupportedError, check
from ltlpipe.logic.propositions.syntax import escaped
from ltlpipe.question.conditions import AMPLE, AUTOMORPHISMS, WALKS
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.search.catalogue import OF_SETS
from ltlpipe.systems.nets.coloured.net import (
    DOT,
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Every,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet, symmetric_net
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from tests.portfolio_settings import searching_at_once

DVE = "process P { state a, b; init a; trans a -> b {}, b -> a {}; }\nsystem async;"

COLOURS = tuple(f"c{k}" for k in range(10))
TEN = Sort("S", "S", ENUMERATION, COLOURS, COLOURS)


def unmarked():
    """A coloured net whose only place has no token."""
    taken = ((0, Tokens(1, (Bound(0, 0, 10),))),)
    return SymmetricNet(
        ColouredNet(
            "unmarked",
            (TEN,),
            (Variable("v", "v", 0),),
            (ColouredPlace("p", "p", (0,), EMPTY),),
            (ColouredTransition("t", "t", TRUE, taken, ()),),
        )
    )


def _proves_nothing(*_):
    yield Progress()
    return {"proved": False, "programs": 0}


def test_a_simpler_formula_of_a_coloured_net_is_lost_once(monkeypatch):
    """Only the run by t loses it, and ends: the search began again without end.

    Linear programs, which know that r is empty, do not come before the search.
    """
    monkeypatch.setattr("ltlpipe.strategies.linear.proof_of", _proves_nothing)
    pair, one = Tokens(2, (Bound(0, 0, 10),)), Tokens(1, (Bound(0, 0, 10),))
    marked = Tokens(1, (Every(10),))
    tokens = {"p": marked, "q": EMPTY, "r": EMPTY, "x": EMPTY, "y": marked}
    moves = {
        "t": (((0, one),), ((1, one),)),
        "u": (((3, one),), ((3, one),)),
        "w": (((4, pair),), ((3, pair),)),
    }
    net = SymmetricNet(
        ColouredNet(
            "lost",
            (TEN,),
            (Variable("v", "v", 0),),
            tuple(ColouredPlace(p, p, (0,), own) for p, own in tokens.items()),
            tuple(ColouredTransition(t, t, TRUE, *own) for t, own in moves.items()),
        )
    )
    options = {"reduce": "linear", "deadlock": "ignore", "timeout": 60}
    with searching_at_once(1):
        verdict = check(net, "G(q == 0) && G(r == 0)", **options)
    assert (verdict.verdict, verdict.plan.strategy) == ("holds", "explicit")


@pytest.mark.parametrize("reduce", [AUTOMORPHISMS, "none", "auto"])
@pytest.mark.parametrize(
    ("net", "dead"),
    [
        (PetriNet([], []), True),
        (PetriNet([], [Transition("t", "t", {}, {})]), False),
        (PetriNet([Place("p", "p", 0)], [Transition("t", "t", {0: 1}, {})]), True),
        (unmarked(), True),
    ],
    ids=["nothing", "no place", "unmarked", "unmarked colours"],
)
def test_nothing_to_search(net, dead, reduce):
    """The group of no points is a group; a lasso of no numbers is one."""
    for formula, holds in (("G deadlock", dead), ("G !deadlock", not dead)):
        verdict = check(net, formula, reduce=reduce)

        assert verdict.verdict == ("holds" if holds else "violated")
        assert holds or verdict.lasso is not None


@pytest.mark.parametrize("emptiness", OF_SETS)
@pytest.mark.parametrize("reduce", [AMPLE, AUTOMORPHISMS, WALKS])
@pytest.mark.parametrize(
    "model",
    [
        kanban(2, 1),
        SymmetricNet(coloured_dining(3)),
        read_dve_model(DVE, "m.dve"),
    ],
    ids=["net", "coloured", "dve"],
)
def test_searches_of_sets_beside_reductions_of_states(model, reduce, emptiness):
    """They are refused by name: a model had ample sets with any search."""
    with pytest.raises(UnsupportedError, match=emptiness):
        check(model, "true", reduce=reduce, emptiness=emptiness)


def test_a_sort_of_more_colours_than_numbers_have():
    """Cells are counted, not listed; what is never marked has none."""
    domain = (0,) * 24
    places = (
        ColouredPlace("p", "p", domain, EMPTY),
        ColouredPlace("q", "q", (1,), EMPTY),
    )
    stays = ColouredTransition("t", "t", TRUE, (), ())
    dot = Sort("dot", "dot", DOT, ("dot",), ("dot",))
    coloured = ColouredNet("large", (TEN, dot), (), places, (stays,))

    net = complete(symmetric_net(coloured, "large"))

    assert check(net, "G p == 0").verdict == "holds"
    with pytest.raises(UnsupportedError, match="tuples of colours"):
        check(net, "G p == 0", reduce="symmetry")
    marking = Tokens(1, (Every(10),) * 24)
    full = coloured._replace(places=(places[0]._replace(marking=marking), places[1]))
    with pytest.raises(UnsupportedError, match="unfolds into more than"):
        complete(symmetric_net(full, "large"))


def test_transitions_with_brackets_in_their_names():
    """As for places, ``t[0]`` is the name where there is no array."""
    net = PetriNet([Place("p", "p", 1)], [Transition("t[0]", "t[0]", {0: 1}, {})])
    assert check(net, "fireable(t[0]) && X !fireable(t[0])").verdict == "holds"


@pytest.mark.parametrize("name", ["X-ray", "F p", "FG-1", "x[1].y", "q[a-b]", "H\\"])
def test_names_that_look_like_operators_or_paths(name):
    """They can be written as `escaped` writes them, and read as they were written."""
    net = PetriNet([Place(name, name, 1)], [Transition("t", name, {0: 1}, {0: 1})])
    text = escaped(name)
    assert check(net, f"G({text} <= 1 && fireable({text}))").verdict == "holds"
    assert check(net, f"F {text} + {text} == 3").verdict == "violated"
