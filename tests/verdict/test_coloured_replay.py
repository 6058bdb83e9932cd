"""Symmetric nets are replayed by an interpreter that shares nothing with their search.

`fireable(t)` of a transition with variables and one binding was constantly false, and
the replay, which shared what names mean with the search, agreed.
"""

from __future__ import annotations

import random

import pytest

from ltlpipe import check
from ltlpipe.logic.propositions.syntax import Number
from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured.bindings import Firing
from ltlpipe.systems.nets.coloured.net import (
    DOT,
    EMPTY,
    ENUMERATION,
    TRUE,
    AnyOf,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Every,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.coloured.vocabulary import Coloured
from ltlpipe.systems.propositions.letters import evaluate
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import atoms, lively_net

ONE = Bound(0, 0, 1)
MANY = Bound(1, 0, 4)
DOTTED = Bound(2, 0, 1)


def sort(name, size):
    ids = tuple(f"{name}{k}" for k in range(size))
    return Sort(name, name, ENUMERATION, ids, ids)


def of_one_colour(entry, guard=TRUE, *, back=True):
    """A token of one colour that t takes and may put back, and others that move."""
    domain = (2,) if entry is DOTTED else (0,)
    one = Tokens(1, (entry,))
    many = Tokens(1, (MANY,))
    whole = Tokens(1, (Every(1),))
    return SymmetricNet(
        ColouredNet(
            "one",
            (sort("c", 1), sort("d", 4), Sort("dot", "dot", DOT, ("dot",), ("dot",))),
            (Variable("v", "v", 0), Variable("w", "w", 1), Variable("x", "x", 2)),
            (
                ColouredPlace("p", "p", domain, whole),
                ColouredPlace("q", "q", (1,), Tokens(1, (Every(4),))),
                ColouredPlace("r", "r", (1,), EMPTY),
            ),
            (
                ColouredTransition(
                    "t", "t", guard, ((0, one),), ((0, one),) if back else ()
                ),
                ColouredTransition("u", "u", TRUE, ((1, many),), ((2, many),)),
                ColouredTransition("back", "back", TRUE, ((2, many),), ((1, many),)),
            ),
        )
    )


@pytest.mark.parametrize("reduce", ["symmetry", "none"])
@pytest.mark.parametrize(
    "entry", [ONE, Constant(0), Every(1), DOTTED], ids=["v", "c0", "all", "dot"]
)
@pytest.mark.parametrize(
    ("formula", "stays", "verdict"),
    [
        ("G X fireable(t)", True, "holds"),
        ("G fireable(t)", False, "violated"),
        ("G !fireable(t)", False, "violated"),
        ("fireable(t)", False, "holds"),
        ('G F action=="t"', True, "violated"),
        ('F(action=="t" && X !fireable(t))', False, "violated"),
        ('G(action=="t" -> X G !fireable(t))', False, "holds"),
    ],
)
def test_one_binding(entry, reduce, formula, stays, verdict):
    """A transition with one binding or without variables can fire if it can."""
    net = of_one_colour(entry, back=stays)

    assert check(net, formula, reduce=reduce).verdict == verdict


@pytest.mark.parametrize("entry", [ONE, Constant(0)], ids=["v", "c0"])
def test_no_binding(entry):
    """A transition whose guard is false under its only binding never fires."""
    net = of_one_colour(entry, AnyOf(()))

    for reduce in ("symmetry", "none"):
        assert check(net, "G !fireable(t)", reduce=reduce).verdict == "holds"
        assert check(net, 'F action=="t"', reduce=reduce).verdict == "violated"


def test_names_that_lie_are_noticed(monkeypatch):
    """What the search takes for the meaning of a name is not what the replay takes."""
    monkeypatch.setattr(Coloured, "_fireable", lambda *_: Number(0))

    with pytest.raises(ReplayError):
        check(of_one_colour(ONE), "G X fireable(t)", reduce="symmetry")


def test_steps_that_lie_are_noticed(monkeypatch):
    """Bindings that the search finds are not those of the replay."""
    monkeypatch.setattr(Firing, "can_fire", lambda *_: False)
    backwards = Firing.each_step_onto

    def untimely(self, state, admits=None):
        for step in backwards(self, state, admits):
            yield step and step._replace(action=len(self.moves) - 1)

    monkeypatch.setattr(Firing, "each_step_onto", untimely)
    with pytest.raises(ReplayError):
        check(of_one_colour(ONE), "G r == 0", reduce="symmetry")


def assert_same(seed):
    """Propositions, bound and unfolded, are what the interpreter makes of texts."""
    rng = random.Random(seed)
    net = lively_net(rng)
    unfolded = complete(net.unfolding())
    texts = [text for text in atoms(rng, net, named=True) if text != "deadlock"]
    bound = {text: net.meaning(text) for text in texts}
    plain = {text: unfolded.meaning(text) for text in texts}
    cells = unfolded.kept_cells
    moves = unfolded.kept_moves
    state, n = net.initial(), 0
    for _ in range(8):
        steps = net.steps(state)
        tokens = tuple(state[cell] for cell in cells)
        expected = {
            (moves[step.action], step.state) for step in unfolded.each_step(tokens)
        }
        assert {
            (step.action, tuple(step.state[cell] for cell in cells)) for step in steps
        } == expected, seed
        for action in [-1, *(step.action for step in steps)]:
            taken = None if action < 0 else action
            own = None if action < 0 else moves.index(action)
            told = set(net.interpreter.holding(texts, state, action))
            for text in texts:
                holds = text in told
                assert holds == evaluate(bound[text], state, action=taken), (seed, text)
                assert holds == evaluate(plain[text], tokens, action=own), (seed, text)
                n += holds
        if not steps:
            break
        state = rng.choice(steps).state
    return n


def test_the_interpreter_on_random_nets():
    """The unfolded net and the bound propositions agree with it in states of walks."""
    assert sum(map(assert_same, range(examples(40)))) >= at_least(250)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_the_interpreter_on_many(part):
    """2,000 more."""
    for seed in range(10_000 + 500 * part, 10_500 + 500 * part):
        assert_same(seed)
