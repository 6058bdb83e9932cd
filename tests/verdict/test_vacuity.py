"""Vacuity: against brute force, on known examples, and within limits."""

from __future__ import annotations

import random
import warnings

import pytest
import spot

from ltlpipe import (
    LTS,
    LtlpipeWarning,
    Network,
    UnsupportedError,
    check,
    is_empty,
    load,
)
from ltlpipe.logic.actions import action_equivalent
from ltlpipe.runtime.jobs import INTERRUPTED, StoppedError
from ltlpipe.verdict.vacuity import VacuityDetection
from tests.cli.command_line import HARD, MANY
from tests.example_counts import at_least, examples
from tests.oracles import compose, satisfies, spot_verdict
from tests.processes import SOON
from tests.spot_graphs import random_formula, random_kripke, spot_finds

EXAMPLES, MANY_EXAMPLES = 150, 3000


def network(*transitions):
    return Network([LTS.from_transitions(list(transitions))])


SERVER = network((0, "req", 1), (1, "ack", 0), (0, "idle", 0))
RING = network((0, "req", 1), (1, "ack", 0))
SILENT = network((0, "idle", 0), (1, "req", 0), (0, "ack", 0))
DEAD = network((0, "req", 1), (1, "ack", 2))


def vacuity(system, formula, **options):
    """The verdict; propositions that no action has are expected here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LtlpipeWarning)
        return check(system, formula, vacuity=True, unknown="never", **options)


# --- brute force ------------------------------------------------------------


def replacements(formula):
    """What is left of a formula without each occurrence of a subformula, by recursion.

    The first is what is left without the formula itself.
    """
    make = spot.formula

    def apply(node, parts):
        kind = node.kindstr().removeprefix("strong_")
        joined = kind in ("And", "Or")
        return getattr(make, kind)(parts) if joined else getattr(make, kind)(*parts)

    def without(node, positive):
        kind = node.kindstr()
        if kind in ("Equiv", "Xor"):
            left, right = node
            other = make.Not(right) if kind == "Xor" else right
            node = make.Or(
                [make.And([left, other]), make.And([make.Not(left), make.Not(other)])]
            )
        if node.kindstr() not in ("tt", "ff"):
            yield make.ff() if positive else make.tt()
        parts = list(node)
        for k, part in enumerate(parts):
            flips = kind == "Not" or (kind == "Implies" and k == 0)
            for left in without(part, positive != flips):
                yield apply(node, [*parts[:k], left, *parts[k + 1 :]])

    return list(without(formula, True))


def is_vacuous(formula, holds, equivalent):
    """By the definition, with all occurrences; the formula holds."""
    left = replacements(formula)
    if equivalent(formula, spot.formula.tt()) or holds(spot.formula.ff()):
        return True
    return any(holds(g) and not equivalent(formula, g) for g in left)


def assert_agrees(found, formula, holds, equivalent, violates):
    """`found` says of a formula what brute force says, and can show it."""
    known = found.vacuity
    assert known.vacuous == is_vacuous(formula, holds, equivalent), known
    assert known.reason is None
    if known.vacuous:
        stronger = spot.formula(known.stronger)
        possible = [spot.formula.tt(), *replacements(formula)]
        assert any(spot.are_equivalent(stronger, g) for g in possible)
        assert holds(stronger)
        assert known.witness is None
        return
    # The witness violates what is left without one of the parts that it shows.
    assert not violates(known.witness, formula)
    # All may be equivalent to the formula: then it shows that there is a run.
    within = [g for g in replacements(formula)[1:] if not holds(g)]
    within = within or [spot.formula.ff()]
    assert any(violates(known.witness, g) for g in within)
    assert known.part is known.stronger is None


def has_run(net, lasso):
    """Whether a network has the actions of a lasso as a run."""
    _, edges = compose(net)
    states = {0}
    n_rounds = 1 + len({src for src, _, _ in edges})
    for action in [*lasso.prefix, *(n_rounds * lasso.cycle)]:
        states = {
            dst
            for src, number, dst in edges
            if src in states and net.actions[number].name == action
        }
    return bool(states)


def random_net(rng):
    def component():
        n = rng.randint(1, 3)
        moves = [
            (rng.randrange(n), rng.choice("abcd"), rng.randrange(n))
            for _ in range(rng.randint(1, 6))
        ]
        return LTS.from_transitions(moves, n_states=n)

    return Network([component() for _ in range(rng.randint(1, 2))])


def assert_random_networks(n):
    counts = {True: 0, False: 0}
    for seed in range(n):
        rng = random.Random(seed)
        net = random_net(rng)
        formula = random_formula(rng.randrange(1 << 30), "abc", rng.randint(3, 11))
        if formula.is_constant():
            continue
        if spot_verdict(net, formula) == "violated":
            formula = spot.formula.Not(formula)
        if spot_verdict(net, formula) == "violated":
            continue
        print("seed", seed, formula)
        found = vacuity(net, formula)

        def holds(g, net=net):
            return spot_verdict(net, g) == "holds"

        def violates(lasso, g):
            return not satisfies(g, lasso.prefix, lasso.cycle)

        assert_agrees(found, formula, holds, action_equivalent, violates)
        if found.witness is not None:
            assert has_run(net, found.witness)
        counts[found.vacuous] += 1
    assert min(counts.values()) >= at_least(n // 20)


def test_random_networks():
    """Vacuous iff some occurrence of a subformula can be replaced, by Spot."""
    assert_random_networks(examples(EXAMPLES))


@pytest.mark.slow
def test_random_networks_by_the_thousand():
    assert_random_networks(examples(MANY_EXAMPLES))


def test_random_kripke_structures():
    """Sets of propositions instead of actions, and equivalence of formulas."""
    counts = {True: 0, False: 0}
    for seed in range(examples(EXAMPLES)):
        rng = random.Random(seed)
        graph = random_kripke(seed)
        names = sorted(p.ap_name() for p in graph.ap())
        if not names:
            continue
        formula = random_formula(rng.randrange(1 << 30), names, rng.randint(3, 9))

        def holds(g, graph=graph):
            negated = spot.translate(spot.formula.Not(g), dict=graph.get_dict())
            return not spot_finds(graph, negated)

        def violates(lasso, g):
            negated = spot.translate(
                spot.formula.Not(g), dict=lasso.word.as_automaton().get_dict()
            )
            return lasso.word.intersects(negated)

        if formula.is_constant():
            continue
        if not holds(formula):
            formula = spot.formula.Not(formula)
        if not holds(formula):
            continue
        print("seed", seed, formula)
        found = vacuity(graph, formula)
        assert_agrees(found, formula, holds, spot.are_equivalent, violates)
        if found.witness is not None:
            assert set(found.witness.spelling.propositions) == {
                p.ap_name() for p in spot.atomic_prop_collect(formula)
            }
        counts[found.vacuous] += 1
    assert min(counts.values()) >= at_least(10)


# --- known examples ---------------------------------------------------------


@pytest.mark.parametrize(
    ("system", "formula", "part", "stronger"),
    [
        (SILENT, "G(req -> F ack)", "F ack", "G!req"),  # Kupferman & Vardi, Sec. 1
        (RING, "G(req -> F ack)", "req", "GFack"),
        (RING, "G(req -> (F ack & F req))", "req", "G(Fack & Freq)"),
        (SILENT, "G(req <-> X req)", "req & Xreq", "G(!req & !Xreq)"),
        (SERVER, "F(req | idle)", None, None),
        (SERVER, "G(req -> X ack)", None, None),
        # A part that no system needs does not count, nor a word that no network has.
        (SERVER, "G(req -> F(ack | (ack & X ack)))", None, None),
        (SERVER, "G(req -> F(ack | (ack & req)))", None, None),
        (SERVER, "G !(req & ack)", "G !(req & ack)", "1"),
        (DEAD, "G(req -> X ack)", "G(req -> X ack)", "0"),
        (DEAD, "0", "0", "0"),
        (RING, "1", "1", "1"),
    ],
)
def test_examples(system, formula, part, stronger):
    """The largest part, as it is written; or a run that shows what matters."""
    found = vacuity(system, formula)
    assert (found.verdict, found.vacuous) == ("holds", part is not None)
    assert (found.vacuous_part, found.vacuity.stronger) == (part, stronger)
    assert (found.witness is None) == (part is not None)


def test_a_witness():
    """One run shows that both propositions matter: it requests, and not for ever."""
    found = vacuity(SERVER, "G(req -> F ack)")
    assert found.witness_part == "req, ack"
    assert (found.witness.prefix, found.witness.cycle) == (["req", "ack"], ["idle"])
    assert [step.holds for step in found.witness.steps] == [("req",), ("ack",), ()]
    assert found.lasso is None
    assert found.witness.bad_prefix is None


def test_a_run_for_each_part():
    """No run shows that both matter; the witness says what it shows."""
    system = network((0, "a", 1), (1, "a", 1), (0, "b", 2), (2, "b", 2))
    found = vacuity(system, "G a | G b")
    assert found.vacuous is False
    assert (found.witness.cycle, found.witness_part) in ((["a"], "a"), (["b"], "b"))


def test_without_lassos():
    """The answer is the same."""
    for system in (SERVER, SILENT):
        found = vacuity(system, "G(req -> F ack)", lasso=False)
        assert found.vacuous == (system is SILENT)
        assert found.witness is None


def test_only_runs_that_count():
    """Fairness, and what is done in deadlocks, are those of the question."""
    system = network((0, "req", 1), (1, "ack", 0), (0, "idle", 0), (1, "wait", 1))
    sets = {"fairness": "weak", "fair_sets": ["ack", "req"]}
    found = vacuity(system, "G(req -> F ack)", **sets)
    assert found.vacuous_part == "req"  # for a fair run requests again and again
    assert vacuity(DEAD, "G(req -> X ack)").vacuity.stronger == "0"
    assert vacuity(DEAD, "G(req -> X ack)", deadlock="stutter").vacuous is False


@pytest.mark.parametrize(
    "options",
    [
        {"emptiness": "couvreur99"},
        {"emptiness": "se05", "reduce": "none"},
        {"acceptance": "tela"},
        {"seed": 3, "shortest": True},
    ],
)
def test_by_other_searches(options):
    """Whatever the options, each part is asked about with them."""
    assert vacuity(SERVER, "G(req -> F ack)", **options).vacuous is False
    assert vacuity(SILENT, "G(req -> F ack)", **options).vacuous_part == "F ack"


def test_under_a_constraint():
    """Only runs count that the automaton accepts."""
    never_idle = spot.translate("G !idle")
    formula = "G(req -> F ack)"
    assert vacuity(SERVER, formula).vacuous is False
    assert vacuity(SERVER, formula, constraint=never_idle).vacuous_part == "req"


# --- other systems ----------------------------------------------------------


def of_model(model, formula, **options):
    """What brute force says of a model, over Spot's Kripke structure of it."""
    found = vacuity(model, formula, **options)
    tree = load_formula(formula)
    graph = model.to_spot([p.ap_name() for p in spot.atomic_prop_collect(tree)])

    def holds(g):
        negated = spot.translate(spot.formula.Not(g), dict=graph.get_dict())
        return not spot_finds(graph, negated)

    def violates(lasso, g):
        negated = spot.translate(
            spot.formula.Not(g), dict=lasso.word.as_automaton().get_dict()
        )
        return lasso.word.intersects(negated)

    if not found.vacuous or found.vacuity.stronger in "01":
        assert_agrees(found, tree, holds, spot.are_equivalent, violates)
    else:
        assert is_vacuous(tree, holds, spot.are_equivalent)
    return found


def load_formula(text):
    from ltlpipe import parse

    return parse(text).spot


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        ('G(P_0=="waiting" -> F P_0=="critical")', None),
        ('G !(P_0=="critical" & P_1=="critical")', None),
        ('G(turn>=2 -> F P_1=="idle")', 'F P_1=="idle"'),
        ('G(turn <= 1 -> (P_0=="critical" -> P_1!="critical"))', "turn <= 1"),
    ],
)
def test_a_dve_model(formula, part):
    """Peterson's mutual exclusion."""
    model = load("examples/dve/peterson.dve")
    found = of_model(model, formula)
    assert found.vacuous_part == part
    if part is None:
        assert found.witness.moves


def test_a_net():
    """Philosophers, who wait for each other in the end."""
    model = load("examples/pnml/dining-4.pnml")
    found = of_model(model, "G(eat0>=1 -> eat1<=0)")
    assert found.vacuous is False
    assert found.witness_part == "1<=eat0, eat1<=0"
    assert of_model(model, "G(eat0>=2 -> F eat1>=1)").vacuous_part == 'F"1<=eat1"'


# --- limits and refusals ----------------------------------------------------


def test_a_limit_costs_no_verdict(tmp_path):
    """What is left takes minutes to translate; the formula does not."""
    path = tmp_path / "many.aut"
    path.write_text(MANY)
    system = load(path)
    with pytest.warns(LtlpipeWarning) as warned:
        found = check(
            system, f"F never -> {HARD}", vacuity=True, unknown="never", timeout=1
        )
    assert "not decided: timeout" in str(warned[-1].message)
    assert (found.verdict, found.reason) == ("holds", None)
    assert (found.vacuous, found.vacuity.reason) == (None, "timeout")
    assert any("not decided" in warning for warning in found.warnings)
    assert found.stats.seconds < SOON


def test_interrupted(monkeypatch):
    """As for a violation, the verdict stays and the reason says what happened."""

    def job(self):
        yield from ()
        raise StoppedError(INTERRUPTED)

    monkeypatch.setattr(VacuityDetection, "job", job)
    found = vacuity(RING, "G(req -> F ack)")
    assert (found.verdict, found.reason) == ("holds", INTERRUPTED)
    assert found.vacuous is None


def test_what_is_known_already_is_kept(monkeypatch):
    """A part that can be replaced is known before the largest is."""

    def largest(self, places, leaves):
        yield from ()
        raise StoppedError("timeout")

    monkeypatch.setattr(VacuityDetection, "_largest", largest)
    found = vacuity(SILENT, "G(req -> F ack)")
    assert (found.vacuous, found.vacuous_part) == (True, "ack")


def test_a_comparison_that_takes_too_long(monkeypatch):
    """What holds may be the same formula in other words: that is no vacuity."""
    formula = "G(req -> F ack)"
    assert vacuity(SILENT, formula).vacuous
    monkeypatch.setattr("ltlpipe.verdict.vacuity._COMPARING", 0.0)
    found = vacuity(SILENT, formula)
    assert (found.vacuous, found.vacuity.reason) == (None, "timeout")


def test_a_formula_with_too_many_parts():
    """An exclusive disjunction of twelve actions, of which one always happens."""
    system = network(*((0, f"a{k}", 0) for k in range(12)))
    formula = " xor ".join(f"a{k}" for k in range(12))
    with pytest.warns(LtlpipeWarning, match="not decided: unsupported"):
        found = check(system, formula, vacuity=True)
    assert (found.verdict, found.vacuity.reason) == ("holds", "unsupported")


def test_only_formulas():
    """An automaton has no parts, nor has nothing."""
    with pytest.raises(UnsupportedError, match="vacuity= requires a formula"):
        check(RING, empty=True, vacuity=True)
    with pytest.raises(UnsupportedError, match="vacuity= requires a formula"):
        check(RING, automaton=spot.translate("F a"), vacuity=True)
    with pytest.raises(UnsupportedError, match="vacuity= requires a formula"):
        is_empty(spot.translate("F a"), vacuity=True)


def test_only_what_holds():
    """Nothing is said of a violation, nor where it was not asked."""
    assert vacuity(RING, "G !ack").vacuity is None
    assert check(RING, "G(req -> F ack)").vacuity is None


def test_unknown_names_are_told_of_once():
    """Although several questions are asked."""
    with pytest.warns(LtlpipeWarning) as warned:
        found = check(RING, "G(nack -> F never)", unknown="never", vacuity=True)
    assert len(warned) == 1
    assert len(found.warnings) == 1
