"""Nets of merged colours, and skeletons, against symmetric nets state by state."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.families.nets import coloured_dining
from ltlpipe import UnsupportedError, check, deadlocks, load
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import SystemWarning
from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.linear import proof_of, skeleton_of
from ltlpipe.systems.nets.coloured import merging, symmetric, unfolding
from ltlpipe.systems.nets.coloured.merging import ClassCells
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    EMPTY,
    RANGE,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Constant,
    Difference,
    Every,
    Sort,
    Sum,
    Tokens,
    Variable,
)
from ltlpipe.systems.nets.coloured.skeleton import skeleton
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.writing import save_pnml
from ltlpipe.verdict.inquiry import question_of
from tests.cross.test_models import explored, random_formula, spot_verdict
from tests.example_counts import at_least, examples
from tests.symmetry.sets.random_nets import lively_net
from tests.systems.nets.coloured.random_nets import symmetric_nets

SEEDS = st.integers(0, 1 << 30)


def people(n, guard=TRUE):
    """Build a net of n numbered people who come, and all leave where they came."""
    names = tuple(map(str, range(1, n + 1)))
    sort = Sort("p", "p", RANGE, names, names)
    one = Tokens(1, (Bound(0, 0, n),))
    return ColouredNet(
        "people",
        (sort,),
        (Variable("x", "x", 0),),
        (
            ColouredPlace("out", "out", (0,), Tokens(1, (Every(n),))),
            ColouredPlace("inside", "inside", (0,), EMPTY),
        ),
        (
            ColouredTransition("come", "come", guard, ((0, one),), ((1, one),)),
            ColouredTransition("leave", "leave", TRUE, ((1, one),), ((0, one),)),
        ),
    )


def test_people_are_alike():
    """Whoever comes, as many are inside; with a guard there are two kinds of people."""
    net = complete(SymmetricNet(people(50)).merging())
    assert [place.tokens for place in net.places] == [50, 0]
    assert len(net.transitions) == 2
    first = Comparison("<=", Bound(0, 0, 50), Constant(9))
    net = complete(SymmetricNet(people(50, first)).merging())
    assert sorted(place.tokens for place in net.places) == [0, 10, 40]
    assert len(net.transitions) == 2


def test_neighbours_are_told_apart():
    """A philosopher's forks are those beside it."""
    assert complete(SymmetricNet(coloured_dining(5)).merging()) is None


def rows_net(tokens, taken):
    """Build a net that takes something from a place of pairs."""
    names = ("1", "2", "3")
    sort = Sort("p", "p", RANGE, names, names)
    return ColouredNet(
        "rows",
        (sort,),
        (Variable("x", "x", 0),),
        (
            ColouredPlace("a", "a", (0, 0), tokens),
            ColouredPlace("b", "b", (0,), EMPTY),
        ),
        (
            ColouredTransition(
                "take",
                "take",
                TRUE,
                ((0, taken),),
                ((1, Tokens(1, (Bound(0, 0, 3),))),),
            ),
        ),
    )


@pytest.mark.parametrize("reduce", ["auto", "none", "structural"])
def test_a_variable_beside_all_is_told_apart(reduce):
    """Tokens of all second colours do not do where their first ones differ."""
    own = [Tokens(1, (Constant(k), Constant(k))) for k in range(3)]
    net = rows_net(Sum(tuple(own)), Tokens(1, (Bound(0, 0, 3), Every(3))))
    found = check(SymmetricNet(net), "F fireable(take)", reduce=reduce)
    assert found.verdict == "violated"


def test_runs_take_differences_of_merged_places():
    """Where a place is merged partly, runs that take parts of it get colours back."""
    own = [Tokens(1, (Constant(j), Constant(k))) for j, k in ((1, 0), (2, 0), (1, 1))]
    first = Tokens(1, (Every(3), Constant(0)))
    others = Difference(first, Tokens(1, (Constant(0), Constant(0))))
    net = SymmetricNet(rows_net(Sum(tuple(own)), others))
    assert complete(net.merging()) is not None
    assert check(net, "G(a == 3)", reduce="structural").verdict == "violated"


def wheels(*sizes):
    """Build a net of wheels that turn together, by one colour at a time."""
    names = [tuple(map(str, range(n))) for n in sizes]
    return ColouredNet(
        "wheels",
        tuple(Sort(f"s{k}", f"s{k}", CYCLIC, n, n) for k, n in enumerate(names)),
        tuple(Variable(f"x{k}", f"x{k}", k) for k in range(len(sizes))),
        tuple(
            ColouredPlace(f"p{k}", f"p{k}", (k,), Tokens(1, (Constant(0),)))
            for k in range(len(sizes))
        ),
        (
            ColouredTransition(
                "turn",
                "turn",
                TRUE,
                tuple((k, Tokens(1, (Bound(k, 0, n),))) for k, n in enumerate(sizes)),
                tuple((k, Tokens(1, (Bound(k, 1, n),))) for k, n in enumerate(sizes)),
            ),
        ),
    )


@pytest.mark.parametrize("reduce", ["structural", "walks,structural"])
def test_a_violation_is_known_though_its_run_gets_no_colours(reduce, monkeypatch):
    """All strategies drop out: two wheels are as before after 15 turns, which is late.

    The verdict is not lost, nor is a strategy refused that is named.
    """
    net = SymmetricNet(wheels(3, 5))
    monkeypatch.setattr(merging, "_MOST_STEPS", 10)
    found = check(net, "F(p0 == 2)", reduce=reduce)
    told = found.verdict, found.reason, found.lasso
    assert told == ("violated", "lasso-limit", None)
    assert "repeats no marking soon" in str(found.plan.tried)


def test_names_with_colours_are_not_merged():
    """A property that names a colour is about the unfolded net."""
    net = SymmetricNet(people(3))
    assert check(net, "G(out.1 + inside.1 == 1)").verdict == "holds"
    verdict = check(net, "G(inside <= 2)")
    assert verdict.verdict == "violated"
    assert any("merged" in reason for reason in verdict.plan.reasons)
    assert len(verdict.lasso.prefix) + len(verdict.lasso.cycle) >= 3


def graph_of_classes(net, merged):
    """The steps of markings by classes, those of each marking the same."""
    states, steps = explored(net)
    numbers = ClassCells(merged.classes)

    def of_classes(state):
        counts = Counter()
        for cell, count in enumerate(state):
            counts[numbers.number(*net.cells.split(cell))] += count
        return frozenset((cell, n) for cell, n in counts.items() if n)

    found = {}
    for state, own in zip(states, steps, strict=True):
        does = {
            (net.moves.split(action)[0], of_classes(states[after]))
            for action, after in own
        }
        assert found.setdefault(of_classes(state), does) == does
    return found


def is_bisimilar(coloured):
    """Whether colours are merged; then steps are those of the symmetric net."""
    try:
        net = SymmetricNet(coloured)
        merged = complete(net.merging())
        if merged is None or explored(net) is None:
            return False
    except UnsupportedError:
        return False
    states, steps = explored(merged)

    def own(state):
        cells = zip(merged.kept_cells, state, strict=True)
        return frozenset((cell, n) for cell, n in cells if n)

    assert {
        own(state): {
            (net.moves.split(merged.kept_moves[a])[0], own(states[b])) for a, b in does
        }
        for state, does in zip(states, steps, strict=True)
    } == graph_of_classes(net, merged)
    return True


def test_merged_nets_are_bisimilar():
    """Markings with as many tokens in each class take the same steps."""
    n_merged = 0
    for seed in range(examples(100)):
        n_merged += is_bisimilar(lively_net(random.Random(seed)).coloured)
    assert n_merged >= at_least(15)


@given(symmetric_nets())
@settings(max_examples=examples(100))
def test_wild_nets_are_bisimilar(net):
    """The same, of nets with all kinds of terms."""
    is_bisimilar(net)


@pytest.mark.slow
@given(symmetric_nets(max_places=4, max_transitions=4, wild=True), SEEDS)
@settings(max_examples=examples(4000))
def test_thousands_are_bisimilar(net, seed):
    is_bisimilar(net)
    is_bisimilar(lively_net(random.Random(seed)).coloured)


def colour_blind(rng, coloured):
    """Formulas that name no colour."""
    atoms = ["deadlock"]
    for place in coloured.places:
        atoms += [f"{place.id} >= {rng.randint(1, 3)}", f"{place.id} == 0"]
    for transition in coloured.transitions:
        atoms += [f"fireable({transition.id})", f'action=="{transition.id}"']
    return random_formula(rng, atoms)


def verdict_of(rng, coloured, formula, deadlock):
    """What brute force says, and the net; None if it is too large."""
    try:
        net = SymmetricNet(coloured)
        graph = explored(net)
        if graph is None:
            return None
        expected = spot_verdict(net, graph, formula, deadlock == "stutter")
        complete(net.unfolding())
    except UnsupportedError:
        return None
    return net, expected


def agrees(seed):
    """Ask about merged colours; return whether some were."""
    rng = random.Random(seed)
    coloured = lively_net(rng).coloured
    formula, deadlock = colour_blind(rng, coloured), rng.choice(["stutter", "ignore"])
    known = verdict_of(rng, coloured, formula, deadlock)
    if known is None or complete(known[0].merging()) is None:
        return False
    strategy = rng.choice(["auto", "structural", "structural,linear"])
    found = check(known[0], formula, deadlock=deadlock, reduce=strategy)
    assert found.verdict == known[1], (seed, formula.text, strategy)
    return True


def test_verdicts_about_merged_colours():
    """Verdicts are those of brute force, and runs replay with their colours."""
    assert sum(map(agrees, range(examples(60)))) >= at_least(5)


@pytest.mark.slow
def test_thousands_of_verdicts_about_merged_colours():
    assert sum(map(agrees, range(1000, 1000 + examples(4000)))) >= at_least(600)


def proved_by_skeleton(seed):
    """Whether linear programs about the skeleton prove a formula, which then holds."""
    rng = random.Random(seed)
    coloured = lively_net(rng).coloured
    formula, deadlock = colour_blind(rng, coloured), rng.choice(["stutter", "ignore"])
    known = verdict_of(rng, coloured, formula, deadlock)
    if known is None:
        return False
    question = question_of(known[0], Property(formula), Options(deadlock=deadlock))
    bare = complete(skeleton_of(question))
    if bare is None:
        return False
    found = complete(proof_of(question, bare.system, bare.propositions))
    if found["proved"]:
        assert known[1] == "holds", (seed, formula.text)
    return found["proved"]


def test_proofs_by_skeletons():
    """What is proved without colours holds."""
    assert sum(map(proved_by_skeleton, range(examples(60)))) >= at_least(3)


@pytest.mark.slow
def test_thousands_of_proofs_by_skeletons():
    found = map(proved_by_skeleton, range(1000, 1000 + examples(5000)))
    assert sum(found) >= at_least(300)


def is_covered(coloured):
    """Whether there is a skeleton; then it takes all steps of the symmetric net."""
    bare = complete(skeleton(coloured, Ticks("a test")))
    net = SymmetricNet(coloured)
    graph = explored(net)
    if bare is None or graph is None:
        return False

    def total(state):
        return tuple(
            sum(state[k] for k in net.cells.range_of(place))
            for place in range(len(coloured.places))
        )

    states, steps = graph
    for state, own in zip(states, steps, strict=True):
        does = {(bare.kept[net.moves.split(a)[0]], total(states[b])) for a, b in own}
        known = {(step.action, step.state) for step in bare.steps(total(state))}
        assert does <= known
        assert {(a, b) for a, b in known if a in bare.exact} <= does
    return True


def test_skeletons_take_all_steps():
    """Exact transitions are enabled where those of the skeleton are."""
    nets = [lively_net(random.Random(seed)).coloured for seed in range(examples(100))]
    assert sum(map(is_covered, nets)) >= at_least(30)


def test_a_skeleton_proves_without_unfolding(monkeypatch):
    """The net would have more transitions than unfolding takes."""

    def fail(net, file):
        raise UnsupportedError("it is unfolded")
        yield

    monkeypatch.setattr("ltlpipe.systems.nets.coloured.symmetric.unfolding", fail)
    found = check(SymmetricNet(coloured_dining(7)), "G(eat <= 7)")
    assert found.verdict == "holds"
    assert found.plan.strategy == "linear"


def test_deadlocks_of_merged_colours():
    """Where a formula holds, runs that end are told of without names of colours."""
    net = people(4)
    dying = net._replace(transitions=net.transitions[:1])
    with pytest.warns(SystemWarning, match="there is no infinite run"):
        check(SymmetricNet(dying), "G(inside <= 4)", deadlock="ignore")


@pytest.fixture
def too_large(monkeypatch, tmp_path):
    """A net that is too large to be unfolded, and for its tuples to have numbers."""
    monkeypatch.setattr(symmetric, "MOST_CELLS", 1)
    monkeypatch.setattr(unfolding, "MAX_TRANSITIONS", 1)
    path = tmp_path / "net.pnml"
    save_pnml(people(4), path)
    return load(path)


def test_a_net_that_is_too_large(too_large):
    """Proofs without colours are all that there is; nothing else reads the skeleton."""
    assert check(too_large, "G(inside + out == 4)").verdict == "holds"
    assert too_large.vocabulary.variables["inside"] == 1
    for formula in ("G(inside <= 3)", "F(inside == 4)", "G !fireable(leave)"):
        with pytest.raises(UnsupportedError, match="unfolds into more than"):
            check(too_large, formula)
    for reduce in ("symmetry", "structural", "automorphisms", "decoupled", "walks"):
        with pytest.raises(UnsupportedError):
            check(too_large, "G(inside <= 3)", reduce=reduce)
    with pytest.raises(UnsupportedError, match="unfolds into more than"):
        too_large.steps(too_large.initial())
    with pytest.raises(UnsupportedError, match="unfolds into more than"):
        deadlocks(too_large)


def test_colours_beside_all_of_a_sort_are_told_apart():
    """All (k, x) are taken for one x: tokens of different x do not serve."""
    sorts = [Sort(s, s, RANGE, ("1", "2"), ("1", "2")) for s in ("s", "r")]
    both = Tokens(1, (Every(2), Bound(0, 0, 2)))
    full = Tokens(1, (Every(2), Every(2)))
    net = ColouredNet(
        "pairs",
        tuple(sorts),
        (Variable("x", "x", 1),),
        (ColouredPlace("p", "p", (0, 1), full),),
        (ColouredTransition("t", "t", TRUE, ((0, both),), ()),),
    )
    assert complete(SymmetricNet(net).merging()) is None
