"""The checks of Baarir & Duret-Lutz 2006 over frozensets, from Fig. 4 and Sec. 4.

Written from the source's text, line by line, without a look at the kernels; and the
plain automaton below, whose emptiness is what all of them are about.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple


class Plain(NamedTuple):
    """An unlabelled generalised Büchi automaton (Def. 1)."""

    n_states: int
    transitions: tuple[tuple[int, int, int], ...]  # src, marks, dst
    initial: frozenset[int]
    n_marks: int

    def steps(self, state):
        """What a state reaches in one step, as pairs of marks and state."""
        return {(marks, dst) for src, marks, dst in self.transitions if src == state}

    def has_accepting_run(self):
        """Whether a reachable SCC has all marks on the transitions inside of it."""
        reach = [self._after({s}) for s in range(self.n_states)]
        live = self.initial | self._after(self.initial)
        for state in live:
            if state not in reach[state]:
                continue
            scc = {s for s in reach[state] if state in reach[s]}
            seen = 0
            for src, marks, dst in self.transitions:
                if src in scc and dst in scc:
                    seen |= marks
            if seen == (1 << self.n_marks) - 1:
                return True
        return False

    def _after(self, states):
        """The states one step or more after some."""
        found = set()
        waiting = list(states)
        while waiting:
            src = waiting.pop()
            for _, dst in self.steps(src):
                if dst not in found:
                    found.add(dst)
                    waiting.append(dst)
        return found


@dataclass
class Sets:
    """An automaton over sets of states of a plain one, gathered by groups."""

    plain: Plain
    initial: list[frozenset]
    groups: list[frozenset]
    pieces: bool = False

    def successors(self, states):
        """Pairs of marks and set: what is reached with some marks, group by group."""
        image = defaultdict(set)
        for state in states:
            for marks, dst in self.plain.steps(state):
                image[marks].add(dst)
        return {
            (marks, group & reached)
            for marks, reached in image.items()
            for group in self.groups
            if group & reached
        }

    def completing(self, whole, part):
        """Decomp, without the part itself: disjoint sets that complete it."""
        rest = whole - part
        if not self.pieces:
            return [rest] if rest else []
        found = []
        for group in self.groups:
            if rest & group:
                found.append(rest & group)
            rest -= group
        return found


@dataclass
class Reference:
    """Fig. 4; `kind` is iec, or one of the variants of Secs. 3, 4 and 7."""

    sets: Sets
    kind: str
    todo: list = field(default_factory=list)
    scc: list = field(default_factory=list)  # [root, la, acc, rem]
    numbers: dict = field(default_factory=dict)  # H
    greatest: int = 0
    left_out: int = 0
    replaced: int = 0

    def finds(self):
        """Main: whether an accepting component is found."""
        for initial in self.sets.initial:
            # Not in the source: a set that has been visited is not visited again.
            if self._removed_around(initial):
                continue
            self._push(0, initial)
            while self.todo:
                if not self.todo[-1][1]:
                    self._pop()
                elif self._one(*self.todo[-1][1].pop()):
                    return True
        return False

    def _one(self, marks, target):
        """Lines 14-25, for one transition."""
        if self._removed_around(target):
            self.left_out += target not in self.numbers
        elif target not in self.numbers:
            other = self._related(target)
            if other is None:
                self._push(marks, target)
            else:
                self.replaced += 1
                waiting = self.todo[-1][1]
                if self.kind == "iec":
                    parts = self.sets.completing(target, other)
                    waiting.extend((marks, part) for part in parts)
                waiting.append((marks, other))
        elif self.numbers[target] > 0:
            return self._merge(marks, self.numbers[target])
        return False

    def _removed_around(self, target):
        """Line 15; tec asks for equality only."""
        if self.kind == "tec":
            return self.numbers.get(target) == 0
        return any(target <= d for d, number in self.numbers.items() if number == 0)

    def _related(self, target):
        """Line 18, or that of Sec. 4."""
        for other, number in self.numbers.items():
            if number > 0 and (
                (self.kind == "iec" and other <= target)
                or (self.kind == "aec" and target <= other)
            ):
                return other
        return None

    def _push(self, marks, states):
        self.greatest += 1
        self.numbers[states] = self.greatest
        self.scc.append([self.greatest, marks, 0, set()])
        self.todo.append((states, sorted(self.sets.successors(states), key=_order)))

    def _pop(self):
        states, _ = self.todo.pop()
        root, _, _, removing = self.scc[-1]
        removing.add(states)
        if self.numbers[states] == root:
            for removed in removing:
                self.numbers[removed] = 0
            self.scc.pop()

    def _merge(self, marks, number):
        removing = set()
        while number < self.scc[-1][0]:
            _, before, inside, own = self.scc.pop()
            marks |= inside | before
            removing |= own
        self.scc[-1][2] |= marks
        self.scc[-1][3] |= removing
        return self.scc[-1][2] == (1 << self.sets.plain.n_marks) - 1


def _order(pair):
    marks, states = pair
    return marks, sorted(states)


def random_sets(rng, *, most_states=12, most_marks=2):
    """A random automaton over sets; `rng` is a random.Random."""
    n = rng.randint(1, most_states)
    n_marks = rng.choice([0, *range(1, most_marks + 1), most_marks])
    density = rng.uniform(1, 3)
    rarity = rng.uniform(0.1, 0.4)
    backwards = rng.choice([0.05, 0.2, 1])  # few: more SCCs, and sets that are removed
    transitions = []
    for _ in range(int(density * n)):
        src, dst = rng.randrange(n), rng.randrange(n)
        if dst < src and rng.random() > backwards:
            src, dst = dst, src
        marks = sum(1 << mark for mark in range(n_marks) if rng.random() < rarity)
        transitions.append((src, marks, dst))
    states = range(n)
    if rng.random() < 0.5:  # a partition, few large groups most of the time
        cells = [rng.randrange(rng.randint(1, 3)) for _ in states]
        groups = [frozenset(s for s in states if cells[s] == c) for c in set(cells)]
    else:
        groups = [frozenset(s for s in states if rng.random() < 0.5) for _ in states]
        groups = [g for g in groups[: rng.randint(1, 3)] if g]
        groups += [frozenset({s}) for s in states if not any(s in g for g in groups)]
    initial = [
        frozenset(rng.sample(states, rng.randint(1, min(n, 3))))
        for _ in range(rng.randint(1, 2))
    ]
    plain = Plain(n, tuple(transitions), frozenset().union(*initial), n_marks)
    return Sets(plain, initial, groups, pieces=rng.random() < 0.5)
