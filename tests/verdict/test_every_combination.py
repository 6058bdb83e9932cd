"""Every `emptiness` with every `reduce` on every kind of system: refused or answered.

What is refused is refused by an `UnsupportedError`, and what is answered is right.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations, product

import pytest

from benchmarks.families.nets import coloured_token_ring, token_ring
from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.question.conditions import EMPTINESS_NAMES, REDUCTION_NAMES
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from tests.cross.test_agreement import ask
from tests.example_counts import examples
from tests.spot_graphs import random_automaton, random_kripke

LIMIT = 300
"""States: one net is unbounded."""


def twins(accepting=None):
    """Two clients that can be exchanged, and a server."""
    parts = [
        LTS.from_transitions(
            [(0, f"ask{k}", 1), (1, f"get{k}", 0), (0, f"rest{k}", 0)],
            accepting=accepting,
            name=f"client{k}",
        )
        for k in range(2)
    ]
    serve = [(0, f"ask{k}", 1 + k) for k in range(2)]
    serve += [(1 + k, f"get{k}", 0) for k in range(2)]
    return Network([*parts, LTS.from_transitions(serve, name="server")])


def net(tokens, transitions):
    """A net of places with tokens, and transitions (places taken from, put into)."""
    places = [Place(f"p{k}", f"p{k}", n) for k, n in enumerate(tokens)]
    made = [
        Transition(f"t{k}", f"t{k}", dict.fromkeys(pre, 1), dict.fromkeys(post, 1))
        for k, (pre, post) in enumerate(transitions)
    ]
    return PetriNet(places, made)


DVE = """
byte turn = 0;
process A { state q, r; init q;
  trans q -> r { guard turn == 0; effect turn = 1; }, r -> q {}; }
process B { state q, r; init q;
  trans q -> r { guard turn == 1; effect turn = 0; }, r -> q {}; }
system async;
"""

SYSTEMS = {
    "network": (twins, "get0"),
    "terminating network": (
        lambda: Network([LTS.from_transitions([(0, "a", 1), (0, "b", 1)])]),
        "a",
    ),
    "accepting network": (lambda: twins([0]), "get0"),
    "DVE": (lambda: read_dve_model(DVE, "model.dve"), '"A.r"'),
    "net": (lambda: token_ring(3), "fireable(enter0)"),
    "marked cycle": (lambda: net([1, 0], [((0,), (1,)), ((1,), (0,))]), '"p1 == 1"'),
    "net without places": (lambda: net([], [((), ())]), "deadlock"),
    "net without transitions": (lambda: net([1], []), '"p0 == 1"'),
    "empty net": (lambda: net([], []), "deadlock"),
    "unmarked net": (lambda: net([0, 0], [((0,), (1,))]), "deadlock"),
    "source": (lambda: net([0], [((), (0,))]), '"p0 >= 1"'),
    "coloured net": (lambda: SymmetricNet(coloured_client_server(2, 1)), "deadlock"),
    "rotated net": (lambda: SymmetricNet(coloured_token_ring(2)), "deadlock"),
    "Kripke structure": (lambda: random_kripke(3), "p"),
    "Büchi automaton": (lambda: random_automaton(5, "Buchi"), "p"),
    "Rabin automaton": (lambda: random_automaton(8, "Rabin"), "p"),
}
QUESTIONS = ("", "GF {}", "!GF {}", "G !{}", "X {}", "true")
"""The first asks for an accepting run."""

REDUCTIONS = ("auto", "none", *REDUCTION_NAMES)
PAIRS = tuple(",".join(two) for two in combinations(REDUCTION_NAMES, 2))


@cache
def system(kind):
    return SYSTEMS[kind][0]()


@cache
def plain(kind, question, deadlock):
    """The verdict of the plain search; "unknown" if there are too many states."""
    return answer(kind, question, deadlock, reduce="none")


def answer(kind, question, deadlock, **way):
    """The verdict; None where the options are refused."""
    asked = {"formula": question.format(SYSTEMS[kind][1])} if question else {}
    if not question:
        asked["empty"] = True
    try:
        found = ask(system(kind), deadlock=deadlock, max_states=LIMIT, **asked, **way)
    except UnsupportedError:
        return None
    if found.verdict == "violated" and found.reason is None:
        assert found.lasso is not None or getattr(found, "finite_run", None) is not None
    return found.verdict


def cases(questions, deadlocks, reductions):
    """All that is asked of a system, and the ways."""
    emptiness = ("auto", *EMPTINESS_NAMES)
    return [*product(questions, deadlocks, reductions, emptiness)]


def assert_answered_or_refused(kind, chosen):
    for question, deadlock, reduce, emptiness in chosen:
        way = {"reduce": reduce, "emptiness": emptiness}
        found = answer(kind, question, deadlock, **way)
        right = plain(kind, question, deadlock)
        if not {None, "unknown"} & {found, right}:
            assert found == right, (kind, question, deadlock, way)


TABLE = cases(["", "GF {}", "true"], [None], REDUCTIONS)


@pytest.mark.parametrize("kind", SYSTEMS)
def test_some(kind):
    """Some twenty entries of the table for each kind of system."""
    step = len(TABLE) // max(examples(200), 1)
    assert_answered_or_refused(kind, TABLE[[*SYSTEMS].index(kind) % step :: step])


@pytest.mark.thorough("the whole table: minutes, while a sample stays")
@pytest.mark.parametrize("kind", SYSTEMS)
def test_table(kind):
    assert_answered_or_refused(kind, TABLE)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SYSTEMS)
def test_more_questions_and_pairs_of_reductions(kind):
    """Deadlocks that stutter, further formulas, two reductions at a time."""
    both = [None, "stutter"]
    assert_answered_or_refused(kind, cases(QUESTIONS, both, REDUCTIONS))
    pairs = random.Random(kind).sample(cases(QUESTIONS, both, PAIRS), examples(1_000))
    assert_answered_or_refused(kind, pairs)
