"""Decoupled search of models: known answers, deadlocks, divergence, refusals."""

from __future__ import annotations

import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.decoupled import star_parts, stars
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model
from tests.portfolio_settings import all_playing

SEARCHES = ["decoupled-scc", "decoupled-ndfs"]


def dve(*lines, system="async"):
    return read_dve_model("\n".join([*lines, f"system {system};"]), "star.dve")


def clients(n_clients):
    """Clients that think, then own a resource for a time."""
    return dve(
        "byte owner = 255;",
        *(
            f"""process C{i} {{ byte x; state idle, think, want, owns; init idle;
            trans idle -> think {{ guard x < 3; effect x = x + 1; }},
            think -> idle {{}}, think -> want {{}},
            want -> owns {{ guard owner == 255; effect owner = {i}; }},
            owns -> idle {{ effect owner = 255, x = 0; }}; }}"""
            for i in range(n_clients)
        ),
    )


def leaf(number, *transitions, states="s, t"):
    """A process that begins in its first state."""
    return (
        f"process L{number} {{ byte x; state {states}; init {states[0]}; "
        f"trans {', '.join(transitions)}; }}"
    )


def ask(model, formula, **options):
    """What both searches say, and the search state by state."""
    whole = check(model, formula, reduce="none", **options)
    for emptiness in SEARCHES:
        found = check(
            model, formula, reduce="decoupled", emptiness=emptiness, **options
        )
        assert found.verdict == whole.verdict
        assert found.plan.reductions == ("decoupled",)
        assert found.plan.emptiness == emptiness
    return found


@pytest.mark.parametrize(
    ("formula", "verdict"),
    [
        ("G(owner == 0 -> F owner == 255)", "holds"),
        ("G((owner == 0) -> ((owner == 0) W (owner == 255)))", "holds"),
        ("GF(owner == 255)", "holds"),
        ("F(owner == 1)", "violated"),
        ("!GF(owner == 1)", "violated"),
    ],
)
def test_clients(formula, verdict):
    """What others can do while one client owns the resource comes to an end."""
    assert ask(clients(2), formula).verdict == verdict


def test_states_are_saved():
    """One state of each owner, and those in which clients have waited and have not."""
    formula = "G((owner == 0) -> ((owner == 0) W (owner == 255)))"
    whole = check(clients(4), formula, reduce="none")
    found = check(clients(4), formula, reduce="decoupled")

    assert found.stats.states * 100 < whole.stats.states
    assert "4 leaves interact with a centre alone" in found.plan.reasons[-1]


def test_a_net():
    """Two loops that take the token of the centre, each with a step of its own."""
    places = ["z", "a0", "a1", "a2", "b0", "b1", "b2"]
    moves = [
        ({k: 1}, {k + 1: 1})
        for k in (1, 4)  # a step of its own
    ]
    moves += [({k: 1, 0: 1}, {k + 1: 1}) for k in (2, 5)]
    moves += [({k: 1}, {k - 2: 1, 0: 1}) for k in (3, 6)]
    net = PetriNet(
        [Place(p, p, int(p in ("z", "a0", "b0"))) for p in places],
        [Transition(f"t{k}", f"t{k}", *move) for k, move in enumerate(moves)],
    )

    assert ask(net, "GF(z == 0)").verdict == "holds"
    assert ask(net, "FG(z == 0)").verdict == "violated"


def test_a_deadlock_of_both():
    """Each leaf may get stuck, and only both together end a run."""
    stuck = [leaf(i, "s -> t {}", "t -> s { effect a = 1 - a; }") for i in (0, 1)]
    ends = [
        leaf(
            i, "s -> t {}", "t -> s { effect a = 1 - a; }", "t -> u {}", states="s,t,u"
        )
        for i in (0, 1)
    ]
    for leaves, verdict in [(stuck, "holds"), (ends, "violated")]:
        assert ask(dve("byte a;", *leaves), "GF(a == 0)").verdict == verdict
    lasso = ask(dve("byte a;", *ends), "GF(a == 0)").lasso
    assert lasso.action_names[-1] == "<stutter>"
    assert ask(dve("byte a;", *ends), "GF(a==0)", deadlock="ignore").verdict == "holds"
    # The third leaf goes on.
    more = [*ends, leaf(2, "s -> t {}", "t -> s { effect a = 1 - a; }")]
    assert ask(dve("byte a;", *more), "GF(a == 0)").verdict == "holds"


def test_what_the_centre_offers_decides_on_deadlocks():
    """A leaf that waits for a value is stuck unless the centre has it."""
    waits = leaf(0, "s -> t {}", "t -> s { guard a == 2; }")
    other = leaf(1, "s -> t {}", "t -> s { guard a == 3; }")
    sets = "process S { state s, t, u; init s; trans s -> t { effect a = VALUE; }; }"
    for value, verdict in [(2, "holds"), (1, "violated")]:
        model = dve("byte a;", waits, other, sets.replace("VALUE", str(value)))
        # Either a run ends with a != 0, or it goes on with a == 2.
        assert ask(model, "!FG(a == 1)").verdict == verdict
        assert ask(model, "F(a != 0)").verdict == "holds"


def test_a_leaf_goes_round_for_ever():
    """The centre need not move any more, whatever else could."""
    loops = [
        leaf(i, "s -> t {}", "t -> s {}", "s -> s { effect a = 1; }") for i in (0, 1)
    ]
    assert ask(dve("byte a;", *loops), "F(a == 1)").verdict == "violated"
    ends = [leaf(i, "s -> t {}", "t -> t { effect a = 1; }") for i in (0, 1)]
    assert ask(dve("byte a;", *ends), "F(a == 1)").verdict == "holds"


def test_the_centre_goes_round_for_ever():
    """Steps that the property does not see are internal to the centre, too."""
    leaves = [
        leaf(i, "s -> t {}", "t -> s { guard b == 1; effect a = 1; }") for i in (0, 1)
    ]
    toggles = "process S { state s; init s; trans s -> s { effect b = 1 - b; }; }"
    assert ask(dve("byte a, b;", toggles, *leaves), "F(a == 1)").verdict == "violated"


@pytest.mark.parametrize(
    ("deadlock", "verdict"), [("stutter", "violated"), ("ignore", "holds")]
)
def test_a_step_that_fails(deadlock, verdict):
    """Nothing moves any more, not even a leaf that would go round for ever."""
    fails = leaf(0, "s -> t {}", "t -> s { effect a = 1 / x; }")
    loops = leaf(1, "s -> t {}", "t -> s {}")
    last = leaf(2, "s -> t {}", "t -> t { guard a < 9; effect a = 1; }")
    model = dve("byte a;", fails, loops, last)
    assert ask(model, "G(error == 0)", deadlock=deadlock).verdict == verdict
    only = dve("byte a;", fails, leaf(1, "s -> t {}"))
    assert ask(only, "G(a == 0)", deadlock=deadlock).verdict == "holds"
    assert ask(only, "GF(a == 1)", deadlock=deadlock).verdict == verdict


def test_a_step_that_fails_writes_nothing():
    """Neither what it would have written nor the first value is there afterwards."""
    fails = leaf(0, "s -> t { effect a = 1; }", "t -> s { effect a = 2 / x; }")
    model = dve("byte a;", fails, *(leaf(i, "s -> t {}") for i in (1, 2)))
    assert ask(model, "F G(a == 1)").verdict == "holds"
    assert ask(model, "G(error == 0)").verdict == "violated"


def test_values_that_are_exchanged():
    """What a leaf sends is what arrives, whatever it might have sent."""
    server = "process S { byte v; state s; init s; trans s -> s { sync c?v; }; }"
    sends = [
        leaf(i, f"s -> t {{ effect x = {i + 1}; }}", "t -> s { sync c!x; }")
        for i in (0, 1)
    ]
    model = dve("channel {byte} c[0];", server, *sends)
    assert ask(model, "G(S.v < 3)").verdict == "holds"
    assert ask(model, "G(S.v < 2)").verdict == "violated"
    buffered = dve("channel {byte} c[1];", server, *sends)
    assert ask(buffered, "G(S.v < 3)").verdict == "holds"
    assert ask(buffered, "!GF(S.v == 2)").verdict == "violated"


TWO = dve(
    "byte a;", *(leaf(i, "s -> t {}", "t -> s { effect a = 1; }") for i in (0, 1))
)
ONE = dve("byte a;", leaf(0, "s -> t {}", "t -> s { effect a = 1; }"))


@pytest.mark.parametrize(
    ("model", "formula", "reason"),
    [
        (TWO, "X(a == 1)", "the formula is not stutter-invariant"),
        (TWO, "F deadlock", "a proposition is about steps"),
        (TWO, "G !(action=='L0: s -> t')", "a proposition is about steps"),
        (TWO, "GF(L0 == 's') | GF(L1 == 's')", "fewer than two parts of the model"),
        (ONE, "F(a == 1)", "fewer than two parts of the model"),
        (
            dve("byte a;", leaf(0, "s -> t {}"), leaf(1, "s -> t {}"), system="sync"),
            "F(a == 1)",
            "synchronous system",
        ),
        (
            dve(
                "byte a; process L0 { state s, t; commit t; init s; "
                "trans s -> t {}, t -> s {}; }",
                leaf(1, "s -> t {}"),
            ),
            "F(a == 1)",
            "a committed state holds up all other processes",
        ),
    ],
    ids=["next", "deadlock", "action", "all seen", "one leaf", "synchronous", "commit"],
)
def test_what_is_no_star(model, formula, reason):
    with pytest.raises(UnsupportedError, match=reason):
        check(model, formula, reduce="decoupled")


@pytest.mark.parametrize(
    ("module", "limit", "value", "reason"),
    [
        (star_parts, "MAX_CENTRE", 1, "the centre has more than 1 local states"),
        (star_parts, "MAX_LEAF", 3, "fewer than two parts of the model"),
        (star_parts, "MAX_TRANSITIONS", 5, "fewer than two parts of the model"),
        (stars, "MAX_LOOKS", 0, "0 looks at actions have shown no star"),
        (stars, "MAX_LOOKS", 10, "10 looks at actions have shown no star"),
        (stars, "MAX_LABELS", 1, "more than 1 global labels"),
        (stars, "MAX_ENTRIES", 10, "would have more than 10 entries"),
    ],
)
def test_stars_that_are_too_large(monkeypatch, module, limit, value, reason):
    monkeypatch.setattr(module, limit, value)
    with pytest.raises(UnsupportedError, match=reason):
        check(clients(2), "GF(owner == 255)", reduce="decoupled")


def test_a_leaf_that_is_too_large_is_divided(monkeypatch):
    """What joins two processes goes to the centre, for all leaves of that size."""
    monkeypatch.setattr(star_parts, "MAX_LEAF", 7)  # eight states
    cells = [
        leaf(i, "s -> t {}", f"t -> s {{ effect b{i // 2} = 1 - b{i // 2}; }}")
        for i in range(4)
    ]
    model = dve("byte a, b0, b1;", *cells, leaf(4, "s -> t { effect a = 1; }"))
    found = ask(model, "F(a == 1)")
    assert found.verdict == "violated"
    assert "5 leaves" in found.plan.reasons[-1]


def test_options():
    """What goes with it, and what does not."""
    formula = "GF(owner == 255)"
    model = clients(3)
    assert check(model, formula, emptiness="decoupled-scc").plan.strategy == "decoupled"
    with pytest.raises(UnsupportedError, match="fairness depends on which actions"):
        check(
            model,
            formula,
            reduce="decoupled",
            fairness="weak",
            fair_sets=["C0: want -> owns"],
        )
    holds = "G((owner == 0) -> ((owner == 0) W (owner == 255)))"
    found = check(model, holds, reduce="decoupled", max_states=3)
    assert (found.verdict, found.reason) == ("unknown", "max-states")
    with pytest.raises(UnsupportedError, match="se05 looks at one state at a time"):
        check(model, formula, reduce="decoupled", emptiness="se05")


def test_stars_that_are_searched_unasked():
    """From a fifth of all actions within leaves on, as networks are."""
    with all_playing():
        found = check(clients(5), "G((owner == 0) -> ((owner == 0) W (owner == 255)))")
    assert (found.verdict, found.plan.strategy) == ("holds", "decoupled")
    busy = [f"s -> s {{ guard a == {k}; effect a = {k + 1}; }}" for k in range(8)]
    model = dve("byte a;", *(leaf(i, "s -> t {}", *busy) for i in range(4)))
    with all_playing():
        found = check(model, "G(a < 9)")
    (reason,) = [t.reason for t in found.plan.tried if t.strategy == "decoupled"]
    assert reason.startswith("11% of the actions are steps of leaves alone")


def test_automata_instead_of_formulas():
    """Of violations: any that are stutter-invariant, if none has Fin."""
    (violations,) = parse_automata(
        'HOA: v1 States: 2 Start: 0 AP: 1 "owner == 255" acc-name: Buchi '
        "Acceptance: 1 Inf(0) --BODY-- State: 0 [t] 0 [0] 1 State: 1 {0} [0] 1 --END--",
        "violations.hoa",
    )
    found = check(clients(2), automaton=violations, reduce="decoupled")
    assert found.verdict == "violated"
    (fin,) = parse_automata(
        'HOA: v1 States: 1 Start: 0 AP: 1 "owner == 1" acc-name: co-Buchi '
        "Acceptance: 1 Fin(0) --BODY-- State: 0 [0] 0 {0} [!0] 0 --END--",
        "fin.hoa",
    )
    with pytest.raises(UnsupportedError, match="makes it generalised"):
        check(clients(2), automaton=fin, reduce="decoupled")


def test_without_a_lasso():
    found = check(clients(3), "GF(owner == 1)", reduce="decoupled", lasso=False)
    assert (found.verdict, found.lasso) == ("violated", None)
