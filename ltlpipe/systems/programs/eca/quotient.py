"""A small machine that does what a program does: guessed from a prefix, then proved.

The guess is `ltlpipe.systems.programs.eca.sampling`.  The proof is an invariant: for
each class a list of *cells*, which are sets of values, one for each variable.  Some
variables, which had few values, have one value in a cell.  The cells begin with what
the prefix has; each rule is run on each cell, for each input
(`ltlpipe.systems.programs.eca.sets`), and what comes out is joined to the cells of the
class to which the machine goes, until nothing grows.  If all states of a cell print
what the machine prints, and end where it ends, in all cells, then the machine is
bisimilar to the program: docs/rers.md has the proof.  Otherwise nothing is known, and a
machine that is told by more steps is tried.

Source: P. Cousot and R. Cousot, "Systematic design of program analysis frameworks",
POPL 1979, Sec. 10 (partitioned invariants); P. Granger, "Static analysis of
arithmetical congruences", International Journal of Computer Mathematics 30, 1989, for
the values that are added to sets that grow and grow.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ltlpipe.runtime.arrays import distinct
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.liveness import DEAD, REGION
from ltlpipe.systems.programs.eca.program import ERROR, INPUT
from ltlpipe.systems.programs.eca.sampling import Classes, told_apart
from ltlpipe.systems.programs.eca.sets import (
    DoubtError,
    Sets,
    by_literal,
    either,
    needed_part,
    run,
    split,
)
from ltlpipe.systems.programs.eca.tables import least, representative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.enumeration import Machine, Prepared
    from ltlpipe.systems.programs.eca.liveness import Behaviour
    from ltlpipe.systems.programs.eca.rules import Rule
    from ltlpipe.systems.programs.eca.sampling import Guess
    from ltlpipe.systems.programs.eca.sets import Choice, Step

PROVING = "proving a quotient"

_MOST_ROUNDS = 64  # steps by which classes are told apart
_MOST_TRIES = 3  # machines that are looked at
_MOST_CLASSES = 1 << 12
_MOST_CELLS = 1 << 11
_CELLS = 8  # of a class, in the mean, to begin with
_MOST_CASES = 64  # cells in which the states of one path end
_MOST_VALUES = 1 << 17  # of a variable in a cell
_PATIENCE = 32  # growths of a variable in a cell before values are added that might be
_MOST_WORK = 10_000_000  # microseconds of one proof, roughly
_RULE_WORK = 40.0  # microseconds of a rule on a cell, roughly
_VALUES = 30  # values that are joined in a microsecond

Cell: TypeAlias = tuple[int, tuple[int, ...]]
"""A class, and the values of some variables."""


class RefutedError(Exception):
    """The machine is not the program's, as far as sets can tell."""


def proved(prepared: Prepared, machine: Machine) -> Job[Machine | None]:
    """Return a machine that does what the program does; None if none was proved.

    `machine` is a prefix of it; inputs and outputs are as there.
    """
    classes = Classes(machine)
    n_tried = tried = 0
    while tried < _MOST_TRIES and classes.n_rounds < _MOST_ROUNDS:
        guess = classes.refined()
        yield Progress(PROVING, (machine.n_states + len(machine.target)) / 10)
        if 2 * len(classes.members) > classes.n_with or classes.current[0] < 0:
            break
        if len(classes.members) > _MOST_CLASSES:
            break
        if guess is None or len(guess.members) <= n_tried:
            continue
        n_tried, tried = len(guess.members), tried + 1
        for is_keyed in (True, False):
            induction = _Induction(prepared, machine, guess)
            try:
                yield from induction.seeded(is_keyed)
                yield from induction.closed()
            except (DoubtError, RefutedError):
                continue
            return _machine(machine, guess, induction)
    return None


def _machine(prefix: Machine, guess: Guess, induction: _Induction) -> Machine:
    """Return the machine of a guess, with the classes that are reached."""
    order = [int(guess.classes[0])]
    place = {order[0]: 0}
    first, label, target = [0], [], []
    for each in order:
        for given, (output, behind) in sorted(guess.steps[each].items()):
            if behind not in place:
                place[behind] = len(order)
                order.append(behind)
            label.append((given, output))
            target.append(place[behind])
        first.append(len(target))
    cells = {
        (place[own], key): sets
        for (own, key), sets in induction.cells.items()
        if own in place
    }
    assert prefix.grounds is not None
    return replace(
        prefix,
        first=np.array(first, dtype=np.int64),
        label=np.array(label, dtype=np.int16).reshape(-1, 2),
        target=np.array(target, dtype=np.int32),
        n_expanded=len(order),
        depth=len(order),
        rows=prefix.rows[guess.members[order]],
        n_seen=prefix.n_states,
        grounds=prefix.grounds._replace(keyed=induction.keyed, cells=cells),
    )


# --- the proof --------------------------------------------------------------


class _Ready(NamedTuple):
    """A rule as it is run on sets."""

    rule: Rule
    body: tuple[Step | Choice, ...]
    dead: dict[int, np.ndarray]  # what variables become whose value does not matter
    regions: tuple[int, ...]  # variables of which only the region does


class _Induction:
    """The cells of a machine.

    Attributes
    ----------
    cells : dict
        The values of variables, by class and the values of those that are `keyed`.
    keyed : list of int
        Variables that have one value in each cell.
    """

    def __init__(self, prepared: Prepared, machine: Machine, guess: Guess) -> None:
        self._guess = guess
        self._machine = machine
        self._ranges = prepared.ranges
        self._rules = prepared.ranges.rules
        self._inputs = [np.array([x], dtype=np.int64) for x in prepared.inputs]
        self.cells: dict[Cell, Sets] = {}
        self._waiting: dict[Cell, None] = {}  # ordered, each once
        self.keyed: list[int] = []
        self._stored = np.flatnonzero(machine.fields[:, 2]).tolist()
        self._ready = [self._prepared(b) for b in prepared.behaviours]
        self._candidates: dict[tuple[int, ...], list[_Ready]] = {}
        self._regions: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self._room = 0  # for cells
        self._growths: dict[tuple[Cell, int], int] = {}
        self._work = 0.0

    def _prepared(self, behaviour: Behaviour) -> _Ready:
        needs = behaviour.needs.tolist()
        dead = {}
        for v in self._stored:
            if needs[v] == DEAD:
                known = behaviour.after[v]
                value = representative(self._ranges, v, known.low, known, DEAD)
                dead[v] = np.array([value], dtype=np.int64)
        rule = self._rules.rules[behaviour.number]
        regions = tuple(v for v in self._stored if needs[v] == REGION)
        body = needed_part(behaviour.body, list(needs), self._rules)
        return _Ready(rule, body, dead, regions)

    # --- the prefix ---------------------------------------------------------

    def seeded(self, is_keyed: bool) -> Job[None]:
        """Make the cells of the states of the prefix.

        `is_keyed` is whether variables with few values have one value in a cell.
        """
        states = np.flatnonzero(self._guess.classes >= 0)
        cells = self._guess.classes[states]
        cost = Progress(PROVING, len(states) / 5, 8.0 * len(states) * 8)
        if is_keyed:
            most = min(_MOST_CELLS // 2, _CELLS * len(self._guess.members))
            found = yield from told_apart(self._machine, states, cells, most)
            self.keyed, cells = found
        _, first, cells = np.unique(cells, return_index=True, return_inverse=True)
        if len(first) > _MOST_CELLS:
            raise DoubtError
        nothing = [np.array([low]) for low in self._machine.fields[:, 3].tolist()]
        self._room = min(_MOST_CELLS, 4 * len(first) + _CELLS)
        made = [nothing.copy() for _ in first]
        for v in self._stored:
            column = self._machine.values(v, states)
            order = np.lexsort((column, cells))
            ends = np.flatnonzero(np.diff(cells[order])) + 1
            for sets, part in zip(made, np.split(column[order], ends), strict=True):
                sets[v] = distinct(part)
            yield cost
        for state, sets in zip(states[first].tolist(), made, strict=True):
            key = tuple(int(sets[v][0]) for v in self.keyed)
            cell = int(self._guess.classes[state]), key
            self.cells[cell] = sets
            self._waiting[cell] = None

    # --- the fixpoint -------------------------------------------------------

    def closed(self) -> Job[None]:
        """Let the cells grow until nothing leads out of them."""
        ticks = Ticks(PROVING)
        while self._waiting:
            cell = next(iter(self._waiting))
            del self._waiting[cell]
            sets = self.cells[cell]
            size = sum(map(len, sets)) / _VALUES
            for number in range(len(self._inputs)):
                n_rules = self._taken(cell, sets, number)
                work = _RULE_WORK * (1 + n_rules) + size
                self._work += work
                if self._work > _MOST_WORK:
                    raise DoubtError
                yield from ticks.worked(work)

    def _taken(self, cell: Cell, sets: Sets, number: int) -> int:
        """Let the states of a cell take an input; return how many rules were run."""
        expected = self._guess.steps[cell[0]].get(number)
        n_rules = 0
        for ready, own in self._fired(cell, sets, number):
            n_rules += 1
            if ready is None or ready.rule.output == ERROR:
                if expected is not None:
                    raise RefutedError
                continue
            paths, ends = run(ready.body, own)
            if ends and expected is not None:
                raise RefutedError
            if not paths:
                continue
            if (
                expected is None
                or self._machine.outputs[expected[0]] != ready.rule.output
            ):
                raise RefutedError
            for path in paths:
                self._arrive(expected[1], self._settled(ready, path))
        return n_rules

    def _fired(
        self, cell: Cell, sets: Sets, number: int
    ) -> Iterator[tuple[_Ready | None, Sets]]:
        """Yield the rules that take an input, each with the states in which it does.

        None is for those in which none does.
        """
        rest = sets.copy()
        rest[INPUT] = self._inputs[number]
        for ready in self._possible(cell[1]):
            if number not in ready.rule.inputs:
                continue
            here, left = _guarded(ready.rule, rest)
            if here is not None:
                yield ready, here
            if left is None:
                return
            rest = left
        yield None, rest

    def _possible(self, key: tuple[int, ...]) -> list[_Ready]:
        """Return the rules that are possible for some values of keyed variables."""
        if key not in self._candidates:
            values = dict(zip(self.keyed, key, strict=True))
            self._candidates[key] = [
                ready
                for ready in self._ready
                if all(
                    any(low <= values[v] <= high for low, high in spans)
                    for v, spans in ready.rule.literals
                    if v in values
                )
            ]
        return self._candidates[key]

    def _settled(self, ready: _Ready, path: Sets) -> Sets:
        """Return the states that stand for those behind a rule."""
        found = path.copy()
        for v, value in ready.dead.items():
            found[v] = value
        for v in ready.regions:
            if v not in self._regions:
                cuts = np.array(self._rules.cuts[v], dtype=np.int64)
                values = [least(self._ranges, v, k) for k in range(len(cuts) + 1)]
                self._regions[v] = cuts, np.array(values, dtype=np.int64)
            cuts, low = self._regions[v]
            found[v] = distinct(low[np.searchsorted(cuts, path[v], side="right")])
        return found

    def _arrive(self, own: int, sets: Sets) -> None:
        """Join states to the cells of a class."""
        choices: list[Sequence[int]] = [sets[v].tolist() for v in self.keyed]
        n_cases = 1
        for choice in choices:
            n_cases *= len(choice)
        if n_cases > _MOST_CASES:
            raise DoubtError
        for key in product(*choices):
            cell = own, key
            old = self.cells.get(cell)
            if old is None:
                if len(self.cells) == self._room:
                    raise DoubtError
                new = sets.copy()
                for v, value in zip(self.keyed, key, strict=True):
                    new[v] = np.array([value], dtype=np.int64)
                self.cells[cell] = new
                self._waiting[cell] = None
                continue
            for v in self._stored:
                if sets[v] is old[v] or v in self.keyed:
                    continue
                joined = np.union1d(old[v], sets[v])
                if len(joined) > len(old[v]):
                    grown = self._growths[cell, v] = 1 + self._growths.get((cell, v), 0)
                    if grown > _PATIENCE:
                        joined = self._widened(v, old[v], joined)
                    if len(joined) > _MOST_VALUES:
                        raise DoubtError
                    old[v] = joined
                    self._waiting[cell] = None

    def _widened(self, v: int, old: np.ndarray, new: np.ndarray) -> np.ndarray:
        """Return more values than a variable has had, for there is no end of them.

        They have the remainder that all have had by the largest possible divisor, and
        reach further by the width where they have grown, within what is known.
        """
        low, high = int(new[0]), int(new[-1])
        known, width = self._ranges.always[v], high - low
        if low < old[0]:
            low = max(known.low, low - width)
        if high > old[-1]:
            high = min(known.high, high + width)
        divisor = int(np.gcd.reduce(np.diff(new)))
        if (high - low) // divisor >= _MOST_VALUES:
            raise DoubtError
        low += int(new[0] - low) % divisor
        return np.arange(low, high + 1, divisor, dtype=np.int64)


def _guarded(rule: Rule, sets: Sets) -> tuple[Sets | None, Sets | None]:
    """Return the states for which the guard of a rule holds, and the others."""
    here, left = sets, None
    for variable, spans in rule.literals:
        inside, outside = by_literal(variable, spans, here)
        left = either(left, outside)
        if inside is None:
            return None, left
        here = inside
    for condition in rule.conditions:
        told = split(condition, here)
        if told.failed is not None:
            raise DoubtError
        left = either(left, told.no)
        if told.yes is None:
            return None, left
        here = told.yes
    return here, left
