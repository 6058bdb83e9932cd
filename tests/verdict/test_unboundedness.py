"""Questions about nets with infinitely many markings: they end, and say why."""

from __future__ import annotations

import pytest

from ltlpipe import check, deadlocks
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.errors import SystemWarning
from ltlpipe.runtime.jobs import Grant, Progress, StoppedError
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    TRUE,
    ColouredPlace,
    ColouredTransition,
    Every,
    Tokens,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.verdict import deadlocks as watching

SOURCE = PetriNet(
    [Place("p", "p"), Place("q", "q")], [Transition("t", "t", {}, {0: 1})]
)
SENDER = PetriNet(
    [Place("idle", "idle", 1), Place("box", "box")],
    [
        Transition("send", "send", {0: 1}, {0: 1, 1: 1}),
        Transition("recv", "recv", {1: 1}, {}),
    ],
)
TOLD = "the net is unbounded: send can be repeated without end, each time with more"


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Searches that end soon."""
    monkeypatch.setattr(watching, "PATIENCE", 5e4)
    monkeypatch.setattr(watching, "_FIRST", 1e4)


@pytest.mark.parametrize(
    "way", [{}, {"emptiness": "se05"}, {"reduce": "none"}, {"workers": 2}]
)
def test_no_answer(way):
    """`send` for ever is a violation without a lasso."""
    with pytest.warns(SystemWarning, match=TOLD):
        found = check(SENDER, 'G F action=="recv"', **way)
    assert (found.verdict, found.reason) == ("unknown", "unbounded")


@pytest.mark.parametrize(
    ("net", "formula", "verdict"),
    [
        (SOURCE, "G(1<=q)", "violated"),
        (SOURCE, "G(p<=5)", "violated"),
        (SENDER, "G(box<=300)", "violated"),
        (SENDER, "G F(box==0)", "violated"),
        (SENDER, "G !deadlock -> true", "holds"),
        (SENDER, "F(box==1)", "holds"),
    ],
)
def test_answers(net, formula, verdict):
    """A violation that is found is one, and a product may be finite."""
    found = check(net, formula)
    assert found.verdict == verdict
    if formula == "G(p<=5)":
        assert len(found.finite_run.prefix) == 6


@pytest.mark.parametrize(("proves", "pieces"), [(False, 5), (True, 20)])
def test_a_proof_without_states_has_more_time(monkeypatch, proves, pieces):
    """What is known of the markings does not end it; a search of them would not end."""
    monkeypatch.setattr(watching, "PATIENCE", 50.0)
    monkeypatch.setattr(watching, "PROOF_PATIENCE", 200.0)
    net = PetriNet(SENDER.places, SENDER.transitions)

    def endless():
        while True:
            yield Progress("searching", work=10.0)

    watched = watching.watched(endless(), net, None, proves=lambda: proves)
    next(watched)
    watching._GROWTH.of(net).growth = "unbounded"
    for _ in range(pieces - 1):
        watched.send(Grant())
    with pytest.warns(SystemWarning), pytest.raises(StoppedError, match="unbounded"):
        watched.send(Grant())


def test_a_translation_is_no_search():
    """A worker that has just started takes its time, and ends no search."""
    net = PetriNet(SENDER.places, SENDER.transitions)

    def translated():
        for _ in range(9):
            yield Progress("translating", work=watching.PATIENCE, waits=(0,))

    watching._GROWTH.of(net).growth = "unbounded"
    assert len(list(watching.watched(translated(), net, None))) == 9


def test_deadlocks():
    with pytest.warns(SystemWarning, match=TOLD):
        found = deadlocks(SENDER)
    assert (found.verdict, found.reason) == ("unknown", "unbounded")
    ends = PetriNet(
        SENDER.places, [*SENDER.transitions, Transition("stop", "stop", {0: 1}, {})]
    )
    assert deadlocks(ends).verdict == "violated"


def test_a_limit_of_states_is_kept():
    found = check(SENDER, 'G F action=="recv"', max_states=5_000)
    assert (found.verdict, found.reason) == ("unknown", "max-states")


def test_coloured_nets():
    """They are walked through unfolded, as far as that is cheap."""
    coloured = coloured_client_server(2, 1)
    box = ColouredPlace("box", "box", coloured.places[0].domain, EMPTY)
    every = tuple(Every(coloured.size(sort)) for sort in box.domain)
    send = ColouredTransition(
        "send", "send", TRUE, (), ((len(coloured.places), Tokens(1, every)),)
    )
    net = SymmetricNet(
        coloured._replace(
            places=(*coloured.places, box), transitions=(*coloured.transitions, send)
        )
    )
    with pytest.warns(SystemWarning, match="the net is unbounded: send can"):
        found = check(net, "G !deadlock")
    assert (found.verdict, found.reason) == ("unknown", "unbounded")
