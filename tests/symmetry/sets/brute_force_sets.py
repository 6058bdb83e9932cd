"""What the rows of a symbolic product of a net stand for, written out by brute force.

Shares no code with the kernels: colours are permuted one exchange at a time, steps are
those of the unfolded net.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ltlpipe.automata.translation import table_over_states
from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.symmetry.colours import group_of_colours, layout_of
from ltlpipe.symmetry.sets.tables import symbolic_product
from ltlpipe.systems.propositions.letters import evaluate
from tests.symmetry.sets.properties import Underlying


class Question(NamedTuple):
    """A net with its group, and a property of it."""

    net: object
    group: object
    made: object
    table: object
    propositions: list
    stutter: bool


def question(net, text, *, stutter=True, closes=False):
    """The search for a violation of a formula; None without any symmetry."""
    group = complete(group_of_colours(net.coloured))
    if group.is_trivial:
        return None
    formula = text if isinstance(text, Formula) else parse(text)
    propositions = [net.meaning(p) for p in formula.propositions]
    names = list(formula.propositions)
    table = table_over_states(formula, "tgba", names)
    layout = complete(layout_of(net, group))
    layout.bits |= {orbit: bits + 4 for orbit, bits in layout.bits.items()}
    job = symbolic_product(layout, propositions, table, stutter=stutter, closes=closes)
    return Question(net, group, run(job), table, propositions, stutter)


class Expansion:
    """Rows of a symbolic product, written out."""

    def __init__(self, asked):
        self.asked = asked
        net = asked.net
        self.names = [net.cells.split(cell) for cell in range(len(net.cells))]
        self.numbers = {name: k for k, name in enumerate(self.names)}
        self.domains = [place.domain for place in net.coloured.places]
        self.members = [
            (number, sort, colour)
            for number, (sort, colours) in enumerate(asked.group.classes)
            for colour in colours
        ]

    def read(self, row, place):
        if place is None:  # a cell that is never marked
            return 0
        return int(row[place.word]) >> place.shift & ((1 << place.bits) - 1)

    def generators(self, row):
        """Exchanges that generate the group of a row."""
        made = self.asked.made
        blocks = [self.read(row, place) for place in made.of_members]
        for j, (cls, sort, colour) in enumerate(self.members):
            for i in range(j):
                if blocks[i] == blocks[j]:
                    assert self.members[i][0] == cls, "a block of two classes"
                    other = self.members[i][2]
                    yield {(sort, colour): other, (sort, other): colour}

    def permuted(self, state, permutation):
        """The image of a marking; None if a colour is marked that never is."""
        tokens = [0] * len(self.names)
        for (place, colours), count in zip(self.names, state[0], strict=True):
            if count:
                pairs = zip(self.domains[place], colours, strict=True)
                image = place, tuple(permutation.get(p, p[1]) for p in pairs)
                if image not in self.numbers:
                    return None
                tokens[self.numbers[image]] = count
        return tuple(tokens), state[1]

    def __call__(self, row):
        made = self.asked.made
        tokens = tuple(self.read(row, place) for place in made.places)
        start = tokens, self.read(row, made.of_property)
        generators = list(self.generators(row))
        found, waiting = {start}, [start]
        while waiting:
            state = waiting.pop()
            for permutation in generators:
                other = self.permuted(state, permutation)
                if other is not None and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found


def underlying(asked):
    """The plain product of the unfolded net and the property, in cells."""
    net, table = asked.net, asked.table
    unfolded = complete(net.unfolding())
    cells = unfolded.kept_cells
    numbers = unfolded.kept_moves

    def spread(tokens):
        whole = [0] * len(net.cells)
        for cell, count in zip(cells, tokens, strict=True):
            whole[cell] = count
        return tuple(whole)

    def letter(tokens, action, dead):
        return sum(
            1 << k
            for k, p in enumerate(asked.propositions)
            if evaluate(p, tokens, action=action, dead=dead)
        )

    @cache
    def moves(tokens):
        found = {
            (letter(tokens, numbers[step.action], False), spread(step.state))
            for step in unfolded.each_step(tuple(tokens[cell] for cell in cells))
        }
        if not found and asked.stutter:
            found.add((letter(tokens, None, True), tokens))
        return found

    @cache
    def steps(state):
        tokens, watching = state
        found = set()
        for read, after in moves(tokens):
            at = watching * table.n_letters + read
            first, last = table.first_edge[at : at + 2].tolist()
            for edge in range(first, last):
                marks = int(table.edge_marks[edge])
                found.add((marks, (after, int(table.edge_dst[edge]))))
        return found

    initial = frozenset({(net.initial(), table.initial)})
    return Underlying(initial=initial, steps=steps, n_marks=table.n_marks)
