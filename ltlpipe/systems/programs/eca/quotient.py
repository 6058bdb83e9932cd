"""A small machine that does what a program does: guessed from a prefix, then proved.

*Guess.*  States of the prefix whose next k inputs and outputs are the same are one
class.  States less than k steps before the end of the prefix have none.  Where one more
step tells no more classes apart, the classes are the states of a machine.

*Proof.*  An invariant, for each class a list of *cells*: sets of values, one for each
variable.  Some variables, which had few values, have one value in a cell.  The cells
begin with what the prefix has; each rule is run on each cell, for each input
(`ltlpipe.systems.programs.eca.sets`), and what comes out is joined to the cells of the
class to which the machine goes, until nothing grows.  If all states of a cell print
what the machine prints, and end where it ends, in all cells, then the machine is
bisimilar to the program: docs/rers.md has the proof.  Otherwise it is refuted, or not
proved, and a machine that is told by more steps is tried.

Source: the combination is of its own.  For the guess, R. Paige and R. E. Tarjan, "Three
partition refinement algorithms", SIAM Journal on Computing 16(6), 1987, Sec. 3, round
by round and by hashes, which only a guess may be; for the proof, P. Cousot and R.
Cousot, "Systematic design of program analysis frameworks", POPL 1979, Sec. 10.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.liveness import DEAD, REGION
from ltlpipe.systems.programs.eca.program import ERROR, INPUT
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
    from ltlpipe.systems.programs.eca.sets import Choice, Step

PROVING = "proving a quotient"

_MOST_ROUNDS = 64  # steps by which classes are told apart
_MOST_TRIES = 3  # machines that are looked at
_MOST_CLASSES = 1 << 12
_MOST_CELLS = 1 << 11
_MOST_CASES = 64  # cells in which the states of one path end
_MOST_VALUES = 1 << 17  # of a variable in a cell
_FEW_VALUES = 64  # of a variable that has one value in a cell
_PATIENCE = 32  # growths of a variable in a cell before values are added that might be
_MOST_WORK = 10_000_000  # microseconds of one proof, roughly
_RULE_WORK = 40.0  # microseconds of a rule on a cell, roughly
_VALUES = 30  # values that are joined in a microsecond

Cell: TypeAlias = tuple[int, tuple[int, ...]]
"""A class, and the values of some variables."""


class RefutedError(Exception):
    """The machine is not the program's, as far as sets can tell."""


class Guess(NamedTuple):
    """A machine: its classes, and the states of the prefix in each."""

    classes: np.ndarray  # int64, by state, -1 without
    members: np.ndarray  # int64[n_classes], a state of each
    steps: list[dict[int, tuple[int, int]]]  # output and class behind, by input


def proved(prepared: Prepared, machine: Machine) -> Job[Machine | None]:
    """Return a machine that does what the program does; None if none was proved.

    `machine` is a prefix of it; inputs and outputs are as there.
    """
    classes = _Classes(machine)
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
            return _machine(machine, guess)
    return None


def _machine(prefix: Machine, guess: Guess) -> Machine:
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
    return replace(
        prefix,
        first=np.array(first, dtype=np.int64),
        label=np.array(label, dtype=np.int16).reshape(-1, 2),
        target=np.array(target, dtype=np.int32),
        n_expanded=len(order),
        depth=len(order),
        rows=prefix.rows[guess.members[order]],
        n_seen=prefix.n_states,
    )


# --- the guess --------------------------------------------------------------


class _Classes:
    """Classes of the states of a prefix, by what they do in a number of steps.

    Attributes
    ----------
    current : int64[n]
        The class of each state, or -1.
    members : int64[n_classes]
        The first state of each class.
    n_rounds, n_with : int
        The steps, and the states with a class.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        n = machine.n_states
        given, output = machine.label.T.astype(np.uint64)
        self._labels = given * np.uint64(1 << 16) + output
        self._is_whole = np.arange(n) < machine.n_expanded
        self.current = np.zeros(n, dtype=np.int64)
        self.members = np.zeros(1, dtype=np.int64)
        self.n_rounds, self.n_with = 0, n

    def refined(self) -> Guess | None:
        """Tell classes apart by one more step.

        Returns the machine of the classes before, if none of them has been split.
        """
        before, members = self.current, self.members
        behind = before[self._machine.target]
        mixed = _mixed(_mixed(self._labels) ^ behind.astype(np.uint64))
        signature, lacking = self._summed(mixed), self._summed(behind < 0)
        states = np.flatnonzero(self._is_whole & (before >= 0) & (lacking == 0))
        _, first, number = np.unique(
            signature[states], return_index=True, return_inverse=True
        )
        self.current = np.full(len(before), -1, dtype=np.int64)
        self.current[states] = number
        self.members = states[first]
        self.n_rounds, self.n_with = self.n_rounds + 1, len(states)
        if len(self.members) != len(members):
            return None
        classes = before[self.members]
        if len(np.unique(classes)) != len(members):
            return None
        steps: list[dict[int, tuple[int, int]]] = [{} for _ in members]
        for own, state in zip(classes.tolist(), self.members.tolist(), strict=True):
            begin, end = self._machine.first[state : state + 2].tolist()
            for k in range(begin, end):
                given, output = self._machine.label[k].tolist()
                steps[own][given] = output, int(behind[k])
        return Guess(before, members, steps)

    def _summed(self, values: np.ndarray) -> np.ndarray:
        """Return the sum over the steps of each state."""
        sums = np.zeros(len(values) + 1, dtype=np.uint64)
        np.cumsum(values, dtype=np.uint64, out=sums[1:])
        found: np.ndarray = np.diff(sums[self._machine.first])
        return found


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Return numbers that look random, uint64."""
    mixed = (numbers + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0x94D049BB133111EB)
    found: np.ndarray = mixed ^ mixed >> np.uint64(32)
    return found


# --- the proof --------------------------------------------------------------


class _Ready(NamedTuple):
    """A rule as it is run on sets."""

    behaviour: Behaviour
    body: tuple[Step | Choice, ...]
    dead: dict[int, np.ndarray]  # what variables become whose value does not matter
    regions: tuple[int, ...]  # variables of which only the region does


class _Induction:
    """The cells of a machine."""

    def __init__(self, prepared: Prepared, machine: Machine, guess: Guess) -> None:
        self._guess = guess
        self._machine = machine
        self._ranges = prepared.ranges
        self._rules = prepared.ranges.rules
        self._inputs = [np.array([x], dtype=np.int64) for x in prepared.inputs]
        self._cells: dict[Cell, Sets] = {}
        self._waiting: dict[Cell, None] = {}  # ordered, each once
        self._keyed: list[int] = []
        self._stored = np.flatnonzero(machine.fields[:, 2]).tolist()
        self._ready = [self._prepared(b) for b in prepared.behaviours]
        self._candidates: dict[tuple[int, ...], list[_Ready]] = {}
        self._regions: dict[int, tuple[np.ndarray, np.ndarray]] = {}
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
        regions = tuple(v for v in self._stored if needs[v] == REGION)
        body = needed_part(behaviour.body, list(needs), self._rules)
        return _Ready(behaviour, body, dead, regions)

    # --- the prefix ---------------------------------------------------------

    def _column(self, variable: int, states: np.ndarray) -> np.ndarray:
        """Return the values of a variable in some states."""
        word, shift, mask, low = self._machine.fields[variable].tolist()
        bits = self._machine.rows[states, word] >> np.uint64(shift)
        return (bits & np.uint64(mask)).astype(np.int64) + low

    def seeded(self, is_keyed: bool) -> Job[None]:
        """Make the cells of the states of the prefix.

        `is_keyed` is whether variables with few values have one value in a cell.
        """
        states = np.flatnonzero(self._guess.classes >= 0)
        cells = self._guess.classes[states]
        cost = Progress(PROVING, len(states) / 5, 8.0 * len(states) * 8)
        counts = []
        for v in self._stored if is_keyed else ():
            counts.append((len(np.unique(self._column(v, states))), v))
            yield cost
        for n_values, v in sorted(counts):
            if n_values > _FEW_VALUES:
                break
            values, number = np.unique(self._column(v, states), return_inverse=True)
            kinds, finer = np.unique(cells * len(values) + number, return_inverse=True)
            yield cost
            if len(kinds) <= _MOST_CELLS // 2:
                cells = finer
                self._keyed.append(v)
        _, first, cells = np.unique(cells, return_index=True, return_inverse=True)
        if len(first) > _MOST_CELLS:
            raise DoubtError
        nothing = [np.array([low]) for low in self._machine.fields[:, 3].tolist()]
        found = [nothing.copy() for _ in first]
        for v in self._stored:
            column = self._column(v, states)
            order = np.lexsort((column, cells))
            ends = np.flatnonzero(np.diff(cells[order])) + 1
            for sets, part in zip(found, np.split(column[order], ends), strict=True):
                sets[v] = np.unique(part)
            yield cost
        for state, sets in zip(states[first].tolist(), found, strict=True):
            key = tuple(int(sets[v][0]) for v in self._keyed)
            cell = int(self._guess.classes[state]), key
            self._cells[cell] = sets
            self._waiting[cell] = None

    # --- the fixpoint -------------------------------------------------------

    def closed(self) -> Job[None]:
        """Let the cells grow until nothing leads out of them."""
        ticks = Ticks(PROVING)
        while self._waiting:
            cell = next(iter(self._waiting))
            del self._waiting[cell]
            sets = self._cells[cell]
            size = sum(map(len, sets)) / _VALUES
            for number in range(len(self._inputs)):
                n_rules = self._taken(cell, sets, number)
                work = _RULE_WORK * (1 + n_rules) + size
                self._work += work
                if self._work > _MOST_WORK:
                    raise DoubtError
                if ticks.over(work):
                    yield ticks.progress

    def _taken(self, cell: Cell, sets: Sets, number: int) -> int:
        """Let the states of a cell take an input; return how many rules were run."""
        expected = self._guess.steps[cell[0]].get(number)
        n_rules = 0
        for rule, own in self._fired(cell, sets, number):
            n_rules += 1
            output = ERROR
            if rule is not None:
                output = self._rules.rules[rule.behaviour.number].output
            if output == ERROR:
                paths, ends = [], True
            else:
                paths, ends = run(rule.body, own)
            if ends and expected is not None:
                raise RefutedError
            if not paths:
                continue
            if expected is None or self._machine.outputs[expected[0]] != output:
                raise RefutedError
            for path in paths:
                self._arrive(expected[1], self._settled(rule, path))
        return n_rules

    def _fired(
        self, cell: Cell, sets: Sets, number: int
    ) -> Iterator[tuple[_Ready | None, Sets]]:
        """Yield the rules that take an input, each with the states in which it does.

        None is for those in which none does.
        """
        rest: Sets | None = sets.copy()
        rest[INPUT] = self._inputs[number]
        for ready in self._possible(cell[1]):
            rule = self._rules.rules[ready.behaviour.number]
            if number not in rule.inputs:
                continue
            here, left = rest, None
            for variable, spans in rule.literals:
                here, outside = by_literal(variable, spans, here)
                left = either(left, outside)
                if here is None:
                    break
            else:
                for condition in rule.conditions:
                    told = split(condition, here)
                    if told.failed is not None:
                        raise DoubtError
                    here, left = told.yes, either(left, told.no)
                    if here is None:
                        break
            if here is not None:
                yield ready, here
                rest = left
                if rest is None:
                    return
        yield None, rest

    def _possible(self, key: tuple[int, ...]) -> list[_Ready]:
        """Return the rules that are possible for some values of keyed variables."""
        if key not in self._candidates:
            values = dict(zip(self._keyed, key, strict=True))
            self._candidates[key] = [
                ready
                for ready in self._ready
                if all(
                    any(low <= values[v] <= high for low, high in spans)
                    for v, spans in self._rules.rules[ready.behaviour.number].literals
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
            found[v] = np.unique(low[np.searchsorted(cuts, path[v], side="right")])
        return found

    def _arrive(self, own: int, sets: Sets) -> None:
        """Join states to the cells of a class."""
        choices: list[Sequence[int]] = [sets[v].tolist() for v in self._keyed]
        n_cases = 1
        for choice in choices:
            n_cases *= len(choice)
        if n_cases > _MOST_CASES:
            raise DoubtError
        for key in product(*choices):
            cell = own, key
            old = self._cells.get(cell)
            if old is None:
                if len(self._cells) == _MOST_CELLS:
                    raise DoubtError
                new = sets.copy()
                for v, value in zip(self._keyed, key, strict=True):
                    new[v] = np.array([value], dtype=np.int64)
                self._cells[cell] = new
                self._waiting[cell] = None
                continue
            for v in self._stored:
                if sets[v] is old[v] or v in self._keyed:
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
