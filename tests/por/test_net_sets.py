"""Stubborn sets of nets that follow the automaton: by brute force, by definition."""

from __future__ import annotations

import random

import numpy as np
import pytest

from ltlpipe import UnsupportedError, check
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.por.net_sets import table_of
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.property import FOLLOWING
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.jobs import complete
from ltlpipe.strategies import explicit
from ltlpipe.systems.propositions.letters import Letters
from tests.cross.test_models import explored, net_atoms, random_formula, spot_verdict
from tests.example_counts import at_least, examples
from tests.por.models.random_models import random_net
from tests.random_nets import net_of
from tests.search.explicit_automata import Explicit
from tests.systems.nets.test_packing import marking, steps

MOST = 40
"""Markings of the nets that are compared."""


def random_automaton(rng, n_bits):
    """An automaton most of whose states have loops, with up to two marks."""
    n, m, n_marks = rng.randint(1, 3), 1 << n_bits, rng.choice([0, 1, 1, 2])
    by_state = [rng.randrange(1 << n_marks) for _ in range(n)]
    state_based = rng.random() < 0.4
    first, dst, marks = [0], [], []
    for q in range(n):
        likely = [q] * rng.randint(1, 4) + list(range(n))
        for _ in range(m):
            for _ in range(rng.choice([0, 1, 1, 1, 1, 2])):
                dst.append(rng.choice(likely))
                own = by_state[q] if state_based else rng.randrange(1 << n_marks)
                marks.append(own)
            first.append(len(dst))
    return PropertyAutomaton(
        n_states=n,
        initial=0,
        n_letters=m,
        first_edge=np.array(first, dtype=np.int32),
        edge_dst=np.array(dst, dtype=np.int32),
        edge_marks=np.array(marks, dtype=np.uint32),
        n_marks=n_marks,
        state_based=state_based,
    )


class Case:
    """A net with an automaton over some propositions, and the table of its sets."""

    def __init__(self, seed):
        rng = random.Random(seed)
        self.net = random_net(rng)
        atoms = net_atoms(rng, self.net)
        texts = [a for a in atoms if a != "deadlock" and "action==" not in a]
        texts = rng.sample(texts, min(rng.randint(1, 3), len(texts)))
        texts[0] = f"{texts[0]} {rng.choice(['&&', '||'])} {rng.choice(atoms[1:])}"
        texts = [text for text in texts if "action==" not in text]
        meanings = [self.net.meaning(text) for text in texts]
        self.automaton = random_automaton(rng, len(meanings))
        self.stutters = rng.random() < 0.5
        self.letters = Letters(meanings)
        found = table_of(self.net, meanings, self.automaton, stutters=self.stutters)
        self.table = complete(found)
        self.packed = None
        if self.table is not None:
            n = self.automaton.n_states
            self.packed = self.net.pack(meanings, extra_values=n, ample=self.table)

    def edges(self, state, letter):
        """The transitions of the automaton, (target, marks)."""
        at = self.automaton.n_letters * state + letter
        own = slice(*self.automaton.first_edge[at : at + 2])
        pairs = (self.automaton.edge_dst[own], self.automaton.edge_marks[own])
        return list(zip(*(part.tolist() for part in pairs), strict=True))

    def kept(self, state, row):
        """The steps of a state of the product that are left, (action, row)."""
        packed, own = self.packed, row.copy()
        own[packed.extra.word] |= np.uint64(state << packed.extra.shift)
        mask = ~np.uint64(packed.extra.mask << packed.extra.shift)
        found = []
        for action, letter, target in steps(packed, own):
            assert letter == self.letters.of_state(marking(packed, row))
            target[packed.extra.word] &= mask
            found.append((action, target.copy()))
        assert packed.overflowed() is None
        return found

    def product(self, steps_of):
        """The product with the steps that `steps_of` gives, (marking, state) by number.

        None if it is too large.
        """
        start = (0, self.net.initial())
        index, found, waiting = {start: 0}, [], [start]
        for state, tokens in waiting:
            letter = self.letters.of_state(tokens)
            targets = steps_of(state, tokens)
            if not targets and self.stutters:
                targets = [tokens]
            for target in targets:
                for after, marks in self.edges(state, letter):
                    pair = after, target
                    if pair not in index:
                        if len(index) == 3 * MOST:
                            return None
                        index[pair] = len(index)
                        waiting.append(pair)
                    found.append((index[state, tokens], marks, index[pair]))
        return Explicit(len(index), self.automaton.n_marks, tuple(found))


def whole_steps(case):
    return lambda _, tokens: [step.state for step in case.net.steps(tokens)]


def reduced_steps(case):
    """The steps that are left, by markings; fields are as wide as they have to be."""
    rows = {case.net.initial(): case.packed.initial}

    def kept(state, tokens):
        found = []
        for _, row in case.kept(state, rows[tokens]):
            target = marking(case.packed, row)
            rows[target] = row
            found.append(target)
        return found

    return kept


def small(seed):
    """A case with few markings that is packed wide enough; None if it is another."""
    case = Case(seed)
    graph = explored(case.net)
    if case.packed is None or graph is None or len(graph[0]) > MOST:
        return None, None
    while max(max(state) for state in graph[0]) >= 1 << min(case.packed.widths.bits):
        places = range(len(case.net.places))
        wider = case.packed.widths.widened(places)
        case.packed = complete(case.packed.repacked(widths=wider))
    return case, graph


def compared(seed):
    """Compare both products; return how many transitions are left out."""
    case, _ = small(seed)
    if case is None:
        return 0
    whole, reduced = case.product(whole_steps(case)), case.product(reduced_steps(case))
    if whole is None:
        return 0
    assert reduced.has_accepting_cycle() == whole.has_accepting_cycle()
    return len(whole.transitions) - len(reduced.transitions)


def test_the_same_products_are_empty():
    saved = [compared(seed) for seed in range(examples(300))]

    assert sum(n > 0 for n in saved) >= at_least(60)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(40))
def test_the_same_products_are_empty_by_the_thousand(part):
    for seed in range(10_000 + 200 * part, 10_200 + 200 * part):
        compared(seed)


def loop(case, state, letter):
    """The marks of the loop that has those of all others; None if there is none."""
    own = {marks for target, marks in case.edges(state, letter) if target == state}
    return next((m for m in own if all(m | other == m for other in own)), None)


def is_end(case, state, letter):
    universal = case.automaton.universal_states()
    return case.stutters and any(universal[t] for t, _ in case.edges(state, letter))


def does_more(case, state, letter, marks):
    """Whether the automaton can do more on a letter than a loop with some marks."""
    own = loop(case, state, letter)
    leaves = any(target != state for target, _ in case.edges(state, letter))
    stays = any(target == state for target, _ in case.edges(state, letter))
    return leaves or (stays and own is None) or (own is not None and own & ~marks != 0)


def assert_set(case, state, tokens, kept):
    """Check the conditions of docs/stubborn.md, section 5, along paths without them."""
    net, letter = case.net, case.letters.of_state(tokens)
    marks = loop(case, state, letter)
    assert marks is not None
    assert not does_more(case, state, letter, marks)
    before = {step.action: step.state for step in net.steps(tokens)}
    full = (1 << case.automaton.n_marks) - 1
    stays = set(kept)
    seen, waiting = {tokens}, [tokens]
    for here in waiting:
        assert not does_more(case, state, case.letters.of_state(here), marks)  # W
        found = {step.action: step.state for step in net.steps(here)}
        stays &= found.keys()
        for action in kept:
            if action in found:
                assert action in before
                assert_worth(case, state, here, found[action])  # S
        for action, after in found.items():
            if action in kept:
                continue
            for own in kept:  # C
                if own in found:
                    behind = {s.action: s.state for s in net.steps(found[own])}
                    assert action in behind
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    assert stays or marks != full or not before  # K


def assert_worth(case, state, tokens, after):
    """A step of a set does not lead from where the automaton waits to less."""
    before, behind = (case.letters.of_state(t) for t in (tokens, after))
    marks, own = loop(case, state, before), loop(case, state, behind)
    if marks is None or does_more(case, state, before, marks):
        return
    assert is_end(case, state, behind) or (own is not None and marks & ~own == 0)


def checked(seed):
    """Check all sets of a case; return how many there are."""
    case, graph = small(seed)
    if case is None:
        return 0
    rows, n = {case.net.initial(): case.packed.initial}, 0
    for tokens in graph[0]:  # breadth first: each is known when its turn comes
        steps_here = case.net.steps(tokens)
        for step in steps_here:
            if step.state not in rows:
                rows[step.state] = row_of(case, step.state)
        for state in range(case.automaton.n_states):
            kept = [action for action, _ in case.kept(state, rows[tokens])]
            if len(kept) < len(steps_here):
                assert_set(case, state, tokens, set(kept))
                n += 1
    return n


def row_of(case, tokens):
    row = np.zeros_like(case.packed.initial)
    for held, field in zip(tokens, case.packed.fields, strict=True):
        row[field.word] |= np.uint64(held << field.shift)
    return row


def test_sets_by_definition():
    assert sum(map(checked, range(examples(100)))) >= at_least(200)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_sets_by_definition_by_the_thousand(part):
    for seed in range(5_000 + 100 * part, 5_100 + 100 * part):
        checked(seed)


@pytest.fixture
def without_groups(monkeypatch):
    """Let `ample` take the sets wherever there are some, and never groups."""

    def refused(*_):
        raise NotApplicableError("groups are out of the question")

    monkeypatch.setattr(ModelQuestion, "grouped_product", refused)


WAYS = [
    {},
    {"emptiness": "se05"},
    {"emptiness": "couvreur99", "acceptance": "tgba", "seed": 5},
]


def answered(seed):
    """Compare answers with Spot's, X included; return whether steps were left out."""
    rng = random.Random(seed)
    net = random_net(rng)
    graph = explored(net)
    if graph is None:
        return False
    atoms = net_atoms(rng, net)
    texts = [a for a in atoms if a != "deadlock" and "action==" not in a]
    formula = random_formula(rng, rng.sample(texts, min(rng.randint(1, 3), len(texts))))
    deadlock = rng.choice(["stutter", "ignore"])
    expected = spot_verdict(net, graph, formula, deadlock == "stutter")
    how = {"deadlock": deadlock, **WAYS[seed % len(WAYS)]}
    try:
        found = check(net, formula, reduce="ample", **how)
    except UnsupportedError:
        return False
    assert found.verdict == expected, f"{formula.text}: {how}"
    whole = check(net, formula, reduce="none", **how)
    assert whole.verdict == expected
    if seed % 3 == 0:  # runs that end are violations of their own then
        left, every = (
            check(net, formula, reduce=reduce, deadlock="error").verdict
            for reduce in ("ample", "none")
        )
        assert left == every, formula.text
    return found.stats.transitions < whole.stats.transitions


@pytest.mark.usefixtures("without_groups")
def test_answers_are_those_of_the_explicit_product():
    assert sum(map(answered, range(examples(90)))) >= at_least(12)


@pytest.mark.slow
@pytest.mark.usefixtures("without_groups")
@pytest.mark.parametrize("part", range(30))
def test_answers_are_those_of_the_explicit_product_by_the_thousand(part):
    for seed in range(1_000 + 100 * part, 1_100 + 100 * part):
        answered(seed)


def grid(n):
    """Two tokens that walk n places each, independently."""
    moves = [({k: 1}, {k + 1: 1}) for k in range(2 * n + 1) if k != n]
    return net_of([1] + n * [0] + [1] + n * [0], *moves)


@pytest.mark.usefixtures("without_groups")
@pytest.mark.parametrize(
    ("formula", "verdict", "states"),
    [
        # A way to p9 is all that counts; the automaton then accepts everything.
        ("G(p9 == 0)", "violated", 11),
        # Each state of the automaton is left by one letter, X or not.
        ("X G(p9 == 0)", "violated", 11),
        # Two sums that say how far both are: no step may wait for long.
        ("G(p9 + p19 < 2)", "violated", 20),
        # The way that looks as if it led there.
        ("G(p9 < 2)", "holds", 10),
        # None does: nothing is left of the initial state.
        ("G(p0 < 2)", "holds", 1),
    ],
)
def test_only_ways_to_what_counts_are_walked(formula, verdict, states):
    net = grid(9)
    how = {"deadlock": "stutter", "lasso": False}
    found = check(net, formula, reduce="ample", **how)

    assert (found.verdict, found.plan.reductions) == (verdict, ("ample",))
    assert found.stats.states <= states
    whole = check(net, formula, reduce="none", **how)
    assert whole.verdict == verdict


def test_groups_are_used_where_sets_leave_too_many_steps(monkeypatch):
    """By the first states; by name there are sets where there are no groups."""
    rings = [({k: 1}, {k - k % 3 + (k + 1) % 3: 1}) for k in range(18)]
    net = net_of(6 * [1, 0, 0], *rings)
    how = {"reduce": "ample", "deadlock": "stutter", "lasso": False}
    found = check(net, "G(p2 < 2)", **how)
    assert FOLLOWING in found.plan.reasons[-1]
    assert (found.verdict, found.stats.states) == ("holds", 3)

    monkeypatch.setattr(explicit, "_TAKEN", 0.0)
    grouped = check(net, "G(p2 < 2)", **how)
    assert "can be taken before all others" in grouped.plan.reasons[-1]
    assert (grouped.verdict, grouped.stats.states > 3) == ("holds", True)
    tells_steps = "F((p0 == 1) && X(p0 == 1) && X X(p0 == 1))"
    found = check(net, tells_steps, **how)
    assert FOLLOWING in found.plan.reasons[-1]
    assert found.verdict == check(net, tells_steps, deadlock="stutter").verdict


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"fairness": "weak"}, "fair"),
        ({}, "about steps"),
    ],
)
def test_refusals(option, said):
    formula = "F(p9 == 1)" if option else 'F(action=="t1")'
    with pytest.raises(UnsupportedError, match=said):
        check(grid(9), formula, reduce="ample", **option)


def test_a_step_that_overflows_begins_again():
    """A field that is too narrow is met inside a set."""
    net = net_of([1, 0, 1], ({0: 1}, {0: 1, 1: 1}), ({2: 1}, {2: 1}), ({1: 70}, {}))

    found = check(net, "G(p1 < 60)", reduce="ample", deadlock="stutter")

    assert found.verdict == "violated"


def test_tables_that_would_be_large_are_not_made():
    """Fourteen propositions: 16,384 letters for each state of the automaton."""
    net = grid(14)
    meanings = [net.meaning(f"p{k} == 1") for k in range(14)]
    automaton = random_automaton(random.Random(3), 14)

    assert complete(table_of(net, meanings, automaton, stutters=True)) is None
