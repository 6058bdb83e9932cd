"""What the rows of a symbolic product stand for, written out by brute force.

Shares no code with the kernels: permutations come from the tables of `Symmetry`, steps
from the components of the network.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from ltlpipe.automata.translation import from_formula
from ltlpipe.components.alphabet import letters_of
from ltlpipe.logic.formulas import parse
from ltlpipe.runtime.jobs import run
from ltlpipe.symmetry.classes.detection import find_symmetry
from ltlpipe.symmetry.sets.networks.tables import symbolic_product
from ltlpipe.systems.networks.packing import pack
from tests.symmetry.sets.properties import Underlying


class Question(NamedTuple):
    """A network with its symmetry, and a property of it."""

    network: object
    symmetry: object
    packed: object
    table: object
    letters: object
    stutter: bool

    def automaton(self):
        """The symbolic product."""
        job = symbolic_product(
            self.symmetry, self.packed, self.table, self.letters, stutter=self.stutter
        )
        return run(job)


def question(network, text, *, stutter=False, told=0, seed=None):
    """The search for a violation of a formula; None without any symmetry.

    The property's letters tell `told` marks of the network; its steps are shuffled by
    `seed`.
    """
    symmetry = run(find_symmetry(network, least=2))
    if symmetry is None:
        return None
    formula = parse(text)
    actions = [p for p in formula.propositions if p in network.action_index]
    acceptance = "ba" if told else "tgba"
    table = from_formula(formula, acceptance, actions, system_marks=told)
    letters = letters_of(network, actions)
    packed = pack(network, letters, extra_values=table.n_states, seed=seed)
    return Question(network, symmetry, packed, table, letters, stutter)


class Expansion:
    """Rows of a symbolic product, written out."""

    def __init__(self, asked):
        self.asked = asked
        symmetry = asked.symmetry
        self.n_system = asked.packed.initial.shape[0]
        self.bits = max((symmetry.n_members - 1).bit_length(), 1)
        self.back = {
            component: {number: s for s, number in enumerate(row.tolist())}
            for component, row in symmetry.canonical.items()
        }

    def blocks(self, row):
        """The block of each member."""
        each = 64 // self.bits
        return [
            int(row[self.n_system + m // each]) >> (m % each * self.bits)
            & ((1 << self.bits) - 1)
            for m in range(self.asked.symmetry.n_members)
        ]

    def swapped(self, state, first, second):
        """Exchange two members of a class in a state (local states, property's)."""
        symmetry = self.asked.symmetry
        local = list(state[0])
        pairs = zip(symmetry.members[first], symmetry.members[second], strict=True)
        for a, b in pairs:
            of_a = int(symmetry.canonical[a][local[a]])
            of_b = int(symmetry.canonical[b][local[b]])
            local[a], local[b] = self.back[a][of_b], self.back[b][of_a]
        swap = int(symmetry.swap_of[first, second])
        for component in symmetry.moved:
            images = symmetry.state_swaps[component][swap]
            local[component] = int(images[local[component]])
        return tuple(local), state[1]

    def representative(self, row):
        """The state that the row's first words are."""
        packed = self.asked.packed
        extra = packed.extra
        watching = int(row[extra.word]) >> extra.shift & extra.mask
        local = packed.unpack(row[None, : self.n_system])[0]
        return tuple(local.tolist()), watching

    def colours(self, state):
        """What the group sees of each member, in the order of colours."""
        symmetry, local = self.asked.symmetry, state[0]
        return [
            (
                *(int(symmetry.canonical[c][local[c]]) for c in components),
                *(int(symmetry.roles[c][local[c], m]) for c in symmetry.moved),
            )
            for m, components in enumerate(symmetry.members)
        ]

    def row_of(self, state, labels):
        """The canonical row of the permutations of a state among equal labels."""
        asked = self.asked
        automaton, packed = asked.automaton(), asked.packed
        members = range(asked.symmetry.n_members)
        states = self.permuted(state, labels)
        blocks = list(members)
        for j in members:
            alike = [i for i in range(j) if self.keeps(states, i, j)]
            blocks[j] = blocks[alike[0]] if alike else 1 + max(blocks[:j], default=-1)
        for _ in members:
            for j in members:
                for i in range(j):
                    colours = self.colours(state)
                    if blocks[i] == blocks[j] and colours[i] > colours[j]:
                        state = self.swapped(state, i, j)
        row = np.zeros(automaton.n_words, dtype=np.uint64)
        local, watching = state
        for field, known, own in zip(
            packed.fields, packed.local_states, local, strict=True
        ):
            value = known.tolist().index(own)
            row[field.word] |= np.uint64(value << field.shift)
        row[packed.extra.word] |= np.uint64(watching << packed.extra.shift)
        each = 64 // self.bits
        for m, block in enumerate(blocks):
            at = np.uint64(block << (m % each * self.bits))
            row[self.n_system + m // each] |= at
        return row

    def keeps(self, states, first, second):
        """Whether a swap takes a set to itself."""
        return self.asked.symmetry.swap_of[first, second] >= 0 and all(
            self.swapped(state, first, second) in states for state in states
        )

    def __call__(self, row):
        """All states that permutations within the blocks make of the representative."""
        return self.permuted(self.representative(row), self.blocks(row))

    def permuted(self, start, blocks):
        """All states that permutations within blocks make of one."""
        members = range(len(blocks))
        pairs = [(i, j) for j in members for i in range(j) if blocks[i] == blocks[j]]
        found, waiting = {start}, [start]
        while waiting:
            state = waiting.pop()
            for pair in pairs:
                other = self.swapped(state, *pair)
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def assert_coarsest(self, row, states):
        """Two members are in one block iff their swap takes the set to itself."""
        blocks = self.blocks(row)
        for j in range(len(blocks)):
            for i in range(j):
                keeps = self.keeps(states, i, j)
                assert keeps == (blocks[i] == blocks[j]), (i, j)


def watched(asked):
    """The sets of actions that transitions of the property allow."""
    table = asked.table
    sets = defaultdict(set)
    for src in range(table.n_states):
        for letter in range(table.n_letters):
            base = src * table.n_letters + letter
            first, last = table.first_edge[base : base + 2].tolist()
            told = letter & ((1 << table.system_marks) - 1)
            own = letter >> table.system_marks
            actions = set(np.flatnonzero(asked.letters == own).tolist())
            for edge in range(first, last):
                dst, marks = int(table.edge_dst[edge]), int(table.edge_marks[edge])
                sets[src, told, dst, marks] |= actions
    return list(sets.values())


def beginnings(asked):
    """What swaps that no transition of the property sees make of the initial state."""
    symmetry, sets = asked.symmetry, watched(asked)
    pairs = []
    for i, j in combinations(range(symmetry.n_members), 2):
        swap = symmetry.swap_of[i, j]
        if swap >= 0:
            images = symmetry.action_swaps[swap].tolist()
            if all({images[a] for a in own} == own for own in sets):
                pairs.append((i, j))
    expand = Expansion(asked)
    start = tuple(c.initial for c in asked.network.components), asked.table.initial
    found, waiting = {start}, [start]
    while waiting:
        state = waiting.pop()
        for other in {expand.swapped(state, *pair) for pair in pairs} - found:
            found.add(other)
            waiting.append(other)
    return frozenset(found)


def underlying(asked):
    """The plain product of the network and the property.

    It begins in all states that cannot be told from the initial one.
    """
    network, table = asked.network, asked.table
    targets = []
    for component in network.components:
        after = defaultdict(list)
        for src, label, dst in component.transitions():
            after[src, label].append(dst)
        targets.append(after)

    @cache
    def moves(local):
        found = set()
        for number, action in enumerate(network.actions):
            choices = [targets[c][local[c], action.name] for c in action.participants]
            for chosen in product(*choices):
                after = list(local)
                for component, dst in zip(action.participants, chosen, strict=True):
                    after[component] = dst
                found.add((int(asked.letters[number]), tuple(after)))
        if not found and asked.stutter:
            found.add((0, local))
        return found

    def marks_of(local):
        if not network.has_acceptance:
            return 0
        accepts = all(
            c.accepting is None or bool(c.accepting[s])
            for c, s in zip(network.components, local, strict=True)
        )
        return int(accepts)

    @cache
    def steps(state):
        local, watching = state
        found = set()
        for letter, after in moves(local):
            own = marks_of(local)
            told = own if table.system_marks else 0
            at = watching * table.n_letters + (letter << table.system_marks | told)
            first, last = table.first_edge[at : at + 2].tolist()
            for edge in range(first, last):
                marks = int(table.edge_marks[edge])
                if not table.system_marks:
                    marks |= own << table.n_marks
                found.add((marks, (after, int(table.edge_dst[edge]))))
        return found

    return Underlying(
        initial=beginnings(asked),
        steps=steps,
        n_marks=table.n_marks + int(network.has_acceptance and not table.system_marks),
    )
