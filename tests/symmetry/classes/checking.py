"""Whether a symmetry is one, by its definition; shares no code with the search.

All in dictionaries and sets: states of the composed network are tuples, transitions are
taken from the components' triples.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, product

from ltlpipe.symmetry.classes.group import NO_SWAP, UNREACHABLE

#: Composed states that a check looks at.
MOST_STATES = 500


def reached(component):
    """The states that a component reaches alone."""
    seen, waiting = {component.initial}, [component.initial]
    triples = component.transitions()
    while waiting:
        src = waiting.pop()
        for s, _, d in triples:
            if s == src and d not in seen:
                seen.add(d)
                waiting.append(d)
    return seen


class Swap:
    """One swap as functions on components, actions and local states."""

    def __init__(self, symmetry, i, j):
        self.number = int(symmetry.swap_of[i, j])
        self.symmetry = symmetry
        components = range(len(symmetry.network.components))
        self.component = {c: c for c in components}
        for c, d in zip(symmetry.members[i], symmetry.members[j], strict=True):
            self.component |= {c: d, d: c}
        self.inverse = {
            (c, int(number)): s
            for c, table in symmetry.canonical.items()
            for s, number in enumerate(table)
            if number != UNREACHABLE
        }

    def action(self, a):
        return int(self.symmetry.action_swaps[self.number, a])

    def local(self, c, state):
        """Where a local state of component c goes: a component and a state of it."""
        if c in self.symmetry.state_swaps:
            return c, int(self.symmetry.state_swaps[c][self.number, state])
        image = self.component[c]
        if image == c:
            return c, state
        return image, self.inverse[image, int(self.symmetry.canonical[c][state])]

    def composed(self, state):
        image = dict(self.local(c, s) for c, s in enumerate(state))
        return tuple(image[c] for c in range(len(state)))


def swaps_of(symmetry):
    pairs = combinations(range(symmetry.n_members), 2)
    return {
        (i, j): Swap(symmetry, i, j)
        for i, j in pairs
        if symmetry.class_of[i] == symmetry.class_of[j]
    }


def action_numbers(network):
    """The action of each component's label."""
    return {
        (c, a.name): k
        for k, a in enumerate(network.actions)
        for c in a.participants
        if a.internal == (a.name in network.components[c].internal)
    }


def assert_symmetry(symmetry):
    """All that the docstring of `Symmetry` says, but for the roles."""
    assert_shape(symmetry)
    swaps = swaps_of(symmetry)
    for swap in swaps.values():
        assert_automorphism(symmetry.network, swap)
    assert_group(symmetry, swaps)
    steps = successors(symmetry.network)
    states = first_states(symmetry.network, steps)
    for swap in swaps.values():
        assert_same_runs(states, steps, swap)


def assert_shape(symmetry):
    network = symmetry.network
    columns = [c for member in symmetry.members for c in member]
    assert len(set(columns)) == len(columns)
    assert sorted(symmetry.canonical) == sorted(columns)
    assert not set(symmetry.moved) & set(columns)
    assert set(symmetry.moved) == set(symmetry.state_swaps) == set(symmetry.roles)
    classes = symmetry.class_of.tolist()
    assert classes == sorted(classes)
    assert set(classes) == set(range(symmetry.n_classes))
    numbers = set()
    for i, j in product(range(symmetry.n_members), repeat=2):
        number = int(symmetry.swap_of[i, j])
        assert number == symmetry.swap_of[j, i]
        assert (number == NO_SWAP) == (i == j or classes[i] != classes[j])
        numbers.add(number)
    assert numbers - {NO_SWAP} == set(range(len(symmetry.action_swaps)))
    assert symmetry.action_swaps.shape[1] == len(network.actions)
    for k, member in enumerate(symmetry.members):
        first = symmetry.members[classes.index(classes[k])]
        for c, d in zip(first, member, strict=True):
            mine = reached(network.components[d])
            table = symmetry.canonical[d].tolist()
            assert len(table) == network.components[d].n_states
            assert {s for s, n in enumerate(table) if n != UNREACHABLE} == mine
            assert {table[s] for s in mine} == reached(network.components[c])
    for c in symmetry.moved:
        states = set(range(network.components[c].n_states))
        mine = reached(network.components[c])
        table = symmetry.state_swaps[c]
        assert (table != range(len(states))).any()
        for s in states - mine:
            assert (table[:, s] == s).all()


def assert_automorphism(network, swap):
    """Component by component: alphabets, transitions and accepting states."""
    numbers = action_numbers(network)
    actions = [swap.action(a) for a in range(len(network.actions))]
    assert sorted(actions) == list(range(len(network.actions)))
    for a, image in enumerate(actions):
        assert network.actions[a].internal == network.actions[image].internal
    for c, component in enumerate(network.components):
        image = network.components[swap.component[c]]
        alphabet = {actions[numbers[c, x]] for x in component.labels}
        assert alphabet == {numbers[swap.component[c], x] for x in image.labels}
        states = {s: swap.local(c, s) for s in reached(component)}
        assert {k for k, _ in states.values()} == {swap.component[c]}
        assert {s for _, s in states.values()} == reached(image)
        taken = {
            (states[s][1], actions[numbers[c, x]], states[d][1])
            for s, x, d in component.transitions()
            if s in states
        }
        assert taken == {
            (s, numbers[swap.component[c], x], d)
            for s, x, d in image.transitions()
            if s in reached(image)
        }
        assert (component.accepting is None) == (image.accepting is None)
        if component.accepting is not None:
            for s, (_, t) in states.items():
                assert component.accepting[s] == image.accepting[t]


def assert_group(symmetry, swaps):
    """Swap of i and j, conjugated by that of k and l, is that of their images."""
    everything = [
        *(("action", a) for a in range(len(symmetry.network.actions))),
        *(
            (c, s)
            for c, component in enumerate(symmetry.network.components)
            for s in reached(component)
        ),
    ]

    def apply(swap, thing):
        kind, number = thing
        if kind == "action":
            return kind, swap.action(number)
        return swap.local(kind, number)

    tables = {p: {x: apply(s, x) for x in everything} for p, s in swaps.items()}
    for (i, j), table in tables.items():
        assert all(table[table[x]] == x for x in everything)
        for (k, m), other in tables.items():
            exchanged = {i: j, j: i}
            pair = tuple(sorted((exchanged.get(k, k), exchanged.get(m, m))))
            assert all(table[other[table[x]]] == tables[pair][x] for x in everything)


def successors(network):
    """The steps, {(action, state)}, of each state of the composed network."""
    moves = [{} for _ in network.components]
    numbers = action_numbers(network)
    for c, component in enumerate(network.components):
        for s, x, d in component.transitions():
            moves[c].setdefault((s, numbers[c, x]), set()).add(d)

    @cache
    def steps(state):
        found = set()
        for a, action in enumerate(network.actions):
            targets = [
                moves[c].get((s, a), set()) if c in action.participants else {s}
                for c, s in enumerate(state)
            ]
            found |= {(a, target) for target in product(*targets)}
        return found

    return steps


def first_states(network, steps):
    """The states from the initial one on, `MOST_STATES` at most."""
    waiting = [tuple(c.initial for c in network.components)]
    seen = set(waiting)
    for state in waiting:
        for target in sorted({target for _, target in steps(state)} - seen):
            if len(seen) < MOST_STATES:
                seen.add(target)
                waiting.append(target)
    return waiting


def assert_same_runs(states, steps, swap):
    """A swap takes the successors of a composed state to those of its image."""
    for state in states:
        moved = {(swap.action(a), swap.composed(t)) for a, t in steps(state)}
        assert moved == steps(swap.composed(state))


def assert_roles(symmetry):
    """The three conditions on `Symmetry.roles`, as they are written there."""
    swaps = swaps_of(symmetry)
    for c in symmetry.moved:
        table = symmetry.roles[c]
        states = sorted(reached(symmetry.network.components[c]))
        for s in states:
            for (i, j), swap in swaps.items():
                stays = swap.local(c, s)[1] == s
                assert (table[s, i] == table[s, j]) == stays
                exchanged = table[s].copy()
                exchanged[[i, j]] = exchanged[[j, i]]
                assert (table[swap.local(c, s)[1]] == exchanged).all()
        known = {tuple(table[s].tolist()) for s in states}
        assert len(known) == len(states)
        orbits = orbits_of(symmetry, c, states, swaps)
        used = [{n for s in orbit for n in table[s].tolist()} for orbit in orbits]
        assert sum(map(len, used)) == len(set().union(*used))


def orbits_of(symmetry, c, states, swaps):
    """States that permutations take to each other: list of sets."""
    orbits, left = [], set(states)
    while left:
        orbit, waiting = set(), [min(left)]
        while waiting:
            s = waiting.pop()
            if s not in orbit:
                orbit.add(s)
                waiting.extend(swap.local(c, s)[1] for swap in swaps.values())
        orbits.append(orbit)
        left -= orbit
    return orbits


def found_names(symmetry):
    """Classes as sets of sets of names of all components of a member."""
    classes = [set() for _ in range(symmetry.n_classes)]
    for member, k in zip(symmetry.members, symmetry.class_of, strict=True):
        components = symmetry.network.components
        classes[k].add(frozenset(components[c].name for c in member))
    return classes
