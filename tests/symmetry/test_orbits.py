"""Quotients of packed systems against orbits that are written out."""

from __future__ import annotations

import random
from math import factorial

import numpy as np
import pytest

from ltlpipe import LTS, Network, UnsupportedError, check
from ltlpipe.automata.letters import universal
from ltlpipe.families.networks import coloured_client_server
from ltlpipe.runtime.jobs import run
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.search.counting import product_size_of
from ltlpipe.search.problem import make_problem
from ltlpipe.symmetry.groups import group
from ltlpipe.symmetry.groups.models import Propositions, group_of_net
from ltlpipe.symmetry.groups.systems import group_of_network, group_of_program
from ltlpipe.symmetry.orbits import quotient, table_bytes
from ltlpipe.systems.fields import row_of
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.networks.packing_kernels import normalise
from ltlpipe.systems.plain_steps import NetworkSteps
from tests.example_counts import at_least, examples
from tests.packed import pack
from tests.symmetry.groups import random_systems as systems

LIMIT = 400  # states of a system that is explored

NOTHING = Propositions([], np.zeros(1, dtype=np.int64))


class Case:
    """A random system: its steps in plain Python, its group, its packed form."""

    def __init__(self, seed):
        rng = random.Random(seed)
        # Models of DVE have to be compiled.
        self.kind = "dve" if seed % 20 == 19 else ("network", "net")[seed % 2]
        if self.kind == "network":
            self.system = systems.network(rng)
            kinds = np.zeros(len(self.system.actions), dtype=np.int64)
            self.group = run(group_of_network(self.system, kinds))
            view = NetworkSteps(self.system, limited=False)
            self.initial = view.initial()
            self.successors = lambda s: {t.state for t in view.each_step(s)}
            return
        make = systems.net if self.kind == "net" else systems.dve_model
        group_of = group_of_net if self.kind == "net" else group_of_program
        self.system = make(rng)
        run(self.system.prepared())
        self.group = run(group_of(self.system, NOTHING))
        self.initial = self.system.initial()
        self.successors = lambda s: {t.state for t in self.system.steps(s)}

    def explored(self):
        """All states, or None if they are too many."""
        states, waiting = {self.initial}, [self.initial]
        while waiting:
            for target in self.successors(waiting.pop()) - states:
                if len(states) == LIMIT:
                    return None
                states.add(target)
                waiting.append(target)
        return states

    def packed(self):
        """The packed quotient; values of fields are as they are unpacked."""
        if self.kind == "network":
            packed = pack(self.system, np.zeros(len(self.system.actions), np.int32))
        else:
            packed = self.system.pack([])
        return quotient(packed, self.group)


def images(group, state):
    """The orbit of a state, by closing it under the elements that are known."""
    orbit, waiting = {state}, [state]
    while waiting:
        own = np.array(waiting.pop(), dtype=np.int64)
        for factor in group.factors:
            for image in group.space.images(factor.elements, own).tolist():
                if tuple(image) not in orbit:
                    orbit.add(tuple(image))
                    waiting.append(tuple(image))
    return orbit


def numbers(case):
    """States, orbits, and states that a search of the quotient meets.

    The initial state stands for itself: it may be a state more.
    """
    states = case.explored()
    if states is None:
        return None
    for state in sorted(states)[:20]:
        assert_steps_are_moved(case, state)
    orbits = {min(images(case.group, state)) for state in states}
    entered = {t for state in states for t in case.successors(state)}
    n_least = len(orbits)
    if case.group.exact:
        found = {min(images(case.group, state)) for state in entered}
        n_least = len(found | {case.initial})
    packed = case.packed()
    size = run(product_size_of(make_problem(packed, universal()), packed.bits))
    if packed.overflowed() is not None:
        return None  # fields would have to be wider
    return len(states), len(orbits), n_least, size.states


def assert_steps_are_moved(case, state):
    """The steps of what an element makes of a state are what it makes of its steps."""
    space = case.group.space
    for factor in case.group.factors:
        for element in factor.elements[:10]:
            moved, *goals = (
                tuple(space.image(element, np.array(s, dtype=np.int64)).tolist())
                for s in (state, *case.successors(state))
            )
            assert case.successors(moved) == set(goals)


@njit
def normalise_row(ints, row):
    """Make a row a representative."""
    normalise(ints, row)


def renaming_members(rng):
    """A network of members of two components, whose states are numbered at random.

    And for each member its components with the numbers of their states.
    """
    shapes = (
        [(0, "x", 1), (1, "x", 2), (2, "y", 0), (0, "y", 2)],
        [(0, "y", 1), (1, "y", 2), (2, "y", 2), (2, "z", 0)],
    )
    parts = []
    for member in range(rng.randint(2, 5)):
        for shape in shapes:
            names = rng.sample(range(3), 3)
            moves = [(names[s], f"{label}{member}", names[t]) for s, label, t in shape]
            name = f"c{len(parts)}"
            part = LTS.from_transitions(moves, initial=names[0], n_states=3, name=name)
            parts.append((part, member, names))
    rng.shuffle(parts)
    members = {}
    for number, (part, member, names) in enumerate(parts):
        own = members.setdefault(member, {})
        own[f"x{member}" in part.labels] = number, names
    listed = [[own[True], own[False]] for own in members.values()]
    return Network([part for part, _, _ in parts]), listed


def exchanged(state, members):
    """A state in which each member is what the one before it was."""
    moved = np.array(state)
    for own, before in zip(members, members[-1:] + members[:-1], strict=True):
        for (component, names), (other, others) in zip(own, before, strict=True):
            moved[component] = names[others.index(state[other])]
    return moved


@pytest.mark.parametrize(
    "limits", [{}, {"MAX_LISTED": 1}, {"MAX_LISTED": 3, "MAX_COSETS": 1}]
)
def test_numbers_of_orbits(monkeypatch, limits):
    """One representative for each orbit; some for each if cosets are too many."""
    for name, value in limits.items():
        monkeypatch.setattr(group, name, value)
    smaller = several = 0
    for seed in range(examples(60)):
        case = Case(seed)
        found = numbers(case)
        if found is None:
            continue
        n_states, n_orbits, n_least, n_found = found
        if case.group.exact:
            assert n_found == n_least, seed
        else:
            assert n_orbits <= n_found, seed
            several += 1
        smaller += n_orbits < n_states

    assert smaller >= at_least(20)
    assert ("MAX_COSETS" in limits) <= several or not at_least(1)


def test_a_representative_and_what_leads_there():
    """They are those of the state that the permutation is applied to."""
    rng = random.Random(1)
    for seed in range(examples(40)):
        case = Case(seed)
        states = case.explored() or {case.initial}
        for state in rng.sample(sorted(states), min(5, len(states))):
            own = np.array(state, dtype=np.int64)
            representative, permutation = case.group.normalised(own)
            moved = case.group.space.image(permutation, own)
            assert moved.tolist() == representative.tolist()
            assert tuple(representative.tolist()) in images(case.group, state)
            if case.group.exact:
                others = np.array(sorted(images(case.group, state)))
                found = {tuple(case.group.normalised(o)[0].tolist()) for o in others}
                assert found == {tuple(representative.tolist())}


def test_the_size_of_tables_is_announced():
    """What is granted for the table of a group is about what it takes."""
    for seed in range(examples(30)):
        case = Case(seed)
        grown = case.packed().ints.nbytes
        assert grown <= table_bytes(case.group) + 8 * 4_000


def test_fields_that_change_places_are_as_wide():
    """Whatever overflows first: no invariant tells how many tokens there can be."""
    places = [Place(f"p{k}", f"p{k}", 1) for k in range(3)]
    places += [Place("budget", "budget", 20), Place("never", "never", 0)]
    spend = [Transition(f"t{k}", f"t{k}", {k: 1, 3: 1}, {k: 2}) for k in range(3)]
    dead = Transition("dead", "dead", {4: 1}, {0: 5, 1: 5, 2: 5})
    net = PetriNet(places, [*spend, dead])
    for most, verdict in ((22, "violated"), (23, "holds")):
        formula = f"G(p0 + p1 + p2 <= {most})"
        plain = check(net, formula, reduce="none")
        found = check(net, formula, reduce="automorphisms")
        assert plain.verdict == found.verdict == verdict
        if verdict == "holds":
            assert 5 * found.stats.states < plain.stats.states + 500


def test_members_that_rename_their_states_are_sorted():
    """Members of several components: a state and its images are sorted to one state."""
    rng = random.Random(7)
    for _ in range(examples(20)):
        network, members = renaming_members(rng)
        group = run(group_of_network(network, np.zeros(len(network.actions), np.int64)))
        assert group.order == factorial(len(members))
        (factor,) = group.factors
        assert [len(own) for own in factor.classes] == [len(members)]
        packed = pack(network, np.zeros(len(network.actions), np.int32))
        least = quotient(packed, group)
        for _ in range(5):
            state = np.array([rng.randrange(3) for _ in network.components])
            expected, _ = group.normalised(state)
            rng.shuffle(members)
            moved = exchanged(state, members)
            assert group.normalised(moved)[0].tolist() == expected.tolist()
            pairs = zip(packed.local_states, moved, strict=True)
            values = [int(np.searchsorted(known, own)) for known, own in pairs]
            rows = row_of(packed.fields, values, len(packed.initial))[None]
            normalise_row(least.ints, rows[0])
            assert packed.unpack(rows)[0].tolist() == expected.tolist()


def test_members_of_a_large_group_are_sorted():
    """Twelve members of three places each: one representative for each orbit."""
    found = check(
        SymmetricNet(coloured_client_server(12, 1)),
        "G F (waiting == 0) | F G (free == 1) | G F (free == 0) | F G (idle > 0)",
        reduce="automorphisms",
        max_states=100_000,
    )
    assert "one representative" in " ".join(found.plan.reasons)
    assert found.verdict == "holds"
    assert found.stats.states < 500


def test_many_successors_are_not_made_representatives():
    """They would be without a pause, for seconds or minutes."""
    edges = [(0, "a", 0), (0, "a", 1), (1, "a", 0), (1, "a", 1), (1, "b", 0)]
    network = Network([LTS.from_transitions(edges) for _ in range(21)])

    with pytest.raises(UnsupportedError, match="too many for representatives"):
        check(network, "G(a -> F b)", reduce="symmetry")
