"""Classes of states by what they do in some steps, from which a machine is guessed.

States of a prefix whose next k inputs and outputs are the same are one class.  States
less than k steps before the end of the prefix have none.  Where one more step tells no
more classes apart, they are the states of a machine.

Source: R. Paige and R. E. Tarjan, "Three partition refinement algorithms", SIAM Journal
on Computing 16(6), 1987, Sec. 1, the naive algorithm.  Differences from the source:
states are compared by hashes, which only a guess may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.systems.programs.eca.enumeration import Machine


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
