"""Machines that are guessed from some states, by signatures, and the states for that.

Breadth first, most states are far from a deep behaviour, and half of them have unknown
successors.  Here few states are chosen for each combination of the values of *telling*
variables, those that have few values; what they do is followed for some steps.

States whose next k inputs and outputs are the same are one class.  States less than k
steps before the end of what is known have none.  Where one more step tells no more
classes apart, they are the states of a machine.

Source: R. Paige and R. E. Tarjan, "Three partition refinement algorithms", SIAM Journal
on Computing 16(6), 1987, Sec. 1, the naive algorithm.  Differences from the source:
states are compared by hashes, which only a guess may be.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.arrays import distinct
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.systems.programs.eca.enumeration import ENUMERATING, beginning, grown
from ltlpipe.systems.programs.eca.kernels import Reg, expand_listed

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.enumeration import Machine, Prepared


class Guess(NamedTuple):
    """A machine: its classes, and the states of the prefix in each."""

    classes: np.ndarray  # int64, by state, -1 without
    members: np.ndarray  # int64[n_classes], a state of each
    steps: list[dict[int, tuple[int, int]]]  # output and class behind, by input


class Classes:
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
        hashes = mixed(mixed(self._labels) ^ behind.astype(np.uint64))
        signature, lacking = self._summed(hashes), self._summed(behind < 0)
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


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Return numbers that look random, uint64."""
    found = (numbers + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
    found ^= found >> np.uint64(29)
    found *= np.uint64(0x94D049BB133111EB)
    last: np.ndarray = found ^ found >> np.uint64(32)
    return last


_FEW_VALUES = 64  # of a telling variable
_PREFIX = 32  # states of a prefix for each combination of telling values, at least
_CHOSEN = 2  # states of each
_STEPS = 8  # that are followed behind each
_BUDGET = 1 << 12  # states of a call


def told_apart(
    machine: Machine, states: np.ndarray, kinds: np.ndarray, most: int
) -> Job[tuple[list[int], np.ndarray]]:
    """Find variables with few values that divide kinds of states into at most `most`.

    Those that can have the fewest come first.  Returns the variables, and the kinds of
    the states, from 0, as they divide them.
    """
    cost = Progress(ENUMERATING, len(states) / 5, 64.0 * len(states))
    found = []
    widths = machine.fields[:, 2]
    for v in np.argsort(widths, kind="stable").tolist():
        if not widths[v]:
            continue
        values, number = np.unique(machine.values(v, states), return_inverse=True)
        yield cost
        if len(values) > _FEW_VALUES:
            continue
        finer = kinds * len(values) + number
        different, finer = np.unique(finer, return_inverse=True)
        yield cost
        if len(different) <= most:
            kinds = finer
            found.append(v)
    return found, kinds


def sampled(prepared: Prepared, prefix: Machine, limit: int) -> Job[Machine]:
    """Return a machine of states that are chosen, and of what lies around them.

    Its states whose steps are known come first.  It has about `limit` states at most.
    """
    every = np.arange(prefix.n_states)
    most = prefix.n_states // _PREFIX
    telling, _ = yield from told_apart(prefix, every, 0 * every, most)
    space = prepared.space
    row, n_fields, depth = space.rows[0].copy(), space.values.shape[1], len(space.stack)
    space, registers = yield from beginning(row, n_fields, depth)
    own = replace(prepared, space=space, registers=registers)
    sample = _Sample(own, prefix.fields[telling], limit)
    frontier = sample.chosen()
    while len(frontier) and registers[Reg.STORED] < limit:
        for steps in range(_STEPS, 0, -1):
            yield from sample.expand(frontier)
            frontier = sample.behind(frontier, steps - 1)
        frontier = sample.chosen()
        yield Progress(ENUMERATING, len(sample.credit) / 5)
    return sample.machine(prefix)


class _Sample:
    """States that are known, and the steps of some.

    Attributes
    ----------
    credit : int8[n]
        How many steps are followed behind each state, -1 for those met last.
    """

    def __init__(self, prepared: Prepared, telling: np.ndarray, limit: int) -> None:
        self._prepared = prepared
        self._limit = limit
        self._telling = telling
        self._spans = np.zeros((2, 0), dtype=np.int64)  # of steps, -1 if unknown
        self._n_chosen: dict[int, int] = {}  # by kind
        self._n_seen = 0  # states that could be chosen
        self.credit = np.zeros(0, dtype=np.int8)

    def _known(self) -> None:
        """Make room for the states that have been met."""
        more = int(self._prepared.registers[Reg.STORED]) - len(self.credit)
        self.credit = np.append(self.credit, np.full(more, -1, dtype=np.int8))
        unknown = np.full((2, more), -1, dtype=np.int64)
        self._spans = np.concatenate([self._spans, unknown], axis=1)

    def chosen(self) -> np.ndarray:
        """Choose among the states that have been met since the last time."""
        self._known()
        rows = self._prepared.space.rows[self._n_seen : len(self.credit)]
        kinds = np.zeros(len(rows), dtype=np.uint64)
        for word, shift, mask, _ in self._telling.tolist():
            bits = rows[:, word] >> np.uint64(shift) & np.uint64(mask)
            kinds = mixed(kinds ^ bits)
        found = []
        for state, kind in enumerate(kinds.tolist(), self._n_seen):
            n_others = self._n_chosen.get(kind, 0)
            if n_others < _CHOSEN:
                self._n_chosen[kind] = n_others + 1
                found.append(state)
        self._n_seen = len(self.credit)
        states = np.array(found, dtype=np.int64)
        self.credit[states] = _STEPS
        return states

    def expand(self, states: np.ndarray) -> Job[None]:
        """Find the steps of states of which they are not known, up to the limit."""
        states = states[self._spans[0, states] < 0]
        spans = np.zeros((2, len(states)), dtype=np.int64)
        own, begin = self._prepared, 0
        while begin < len(states) and own.registers[Reg.STORED] < self._limit:
            end = min(begin + _BUDGET, len(states))
            arguments = own.tables, own.space, own.registers, states, spans, begin, end
            reached = int((yield from called(expand_listed, *arguments)))
            held = sum(array.nbytes for array in own.space)
            yield Progress(ENUMERATING, 1 + reached - begin, held)
            if reached < end:
                own.space = yield from grown(own.space, own.registers, held)
            begin = reached
        self._spans[:, states[:begin]] = spans[:, :begin]

    def behind(self, states: np.ndarray, steps: int) -> np.ndarray:
        """Return the successors behind which fewer steps than these are followed."""
        self._known()
        targets = distinct(self._prepared.space.target[self._steps_of(states)])
        found: np.ndarray = targets[self.credit[targets] < steps]
        self.credit[found] = steps
        return found

    def _steps_of(self, states: np.ndarray) -> np.ndarray:
        """Return the numbers of the steps of states, one state after the other."""
        begin, end = self._spans[:, states]  # the same where they are not known
        lengths = end - begin
        offsets = np.cumsum(lengths) - lengths
        found: np.ndarray = np.arange(lengths.sum()) + np.repeat(
            begin - offsets, lengths
        )
        return found

    def machine(self, prefix: Machine) -> Machine:
        """Return what is known, with the states whose steps are known first."""
        space, is_open = self._prepared.space, self._spans[0] < 0
        order = np.argsort(is_open, kind="stable")
        place = np.argsort(order)
        n, n_expanded = len(order), int(np.count_nonzero(~is_open))
        whole = order[:n_expanded]
        steps = self._steps_of(whole)
        first = np.full(n + 1, len(steps), dtype=np.int64)
        first[0] = 0
        first[1 : n_expanded + 1] = np.cumsum(np.diff(self._spans[:, whole], axis=0)[0])
        return replace(
            prefix,
            first=first,
            label=space.label[steps],
            target=place[space.target[steps]].astype(np.int32),
            n_expanded=n_expanded,
            depth=0,
            rows=space.rows[order],
        )
