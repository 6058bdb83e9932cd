"""A checker of Def. 5 of Baarir & Duret-Lutz 2006, and of what operations promise.

For automata small enough that each set can be written out, state by state.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.search.registers import Reg
from ltlpipe.symmetry.sets.powerset_search import PowersetSearch, call

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from ltlpipe.symmetry.sets.powerset_search import PowersetAutomaton


class Underlying(NamedTuple):
    """What the sets are made of; states are anything hashable."""

    initial: frozenset
    steps: Callable[[Any], set]  # the pairs of marks and state one step after a state
    n_marks: int


class Called:
    """The operations of an automaton over sets, called from Python."""

    def __init__(self, automaton: PowersetAutomaton, room: int | None = None) -> None:
        self.automaton = automaton
        self._search = PowersetSearch(automaton, "tec")
        if room is not None:  # for so many results at first
            arrays = self._search.arrays
            names = ("out_rows", "out_marks", "ids", "hashes")
            little = {name: getattr(arrays, name)[:room].copy() for name in names}
            self._search.arrays = arrays._replace(**little)
        self._operations = self._search.operations

    def successors(self, row: np.ndarray) -> list[tuple[int, np.ndarray]]:
        """The successors of a set, each with its marks, however many calls it takes."""
        found, other, more = [], row, True
        while more:
            n = self._results(self._operations.successors, row, other)
            other, more = row[:0], n < 0
            n = -2 - n if more else n
            arrays = self._search.arrays
            marks = arrays.out_marks[:n].tolist()
            found += zip(marks, arrays.out_rows[:n].copy(), strict=True)
        return found

    def decompose(self, row: np.ndarray, other: np.ndarray) -> list[np.ndarray]:
        """What completes a subset."""
        n = self._results(self._operations.decompose, row, other)
        return list(self._search.arrays.out_rows[:n].copy())

    def includes(self, row: np.ndarray, other: np.ndarray) -> bool:
        """Whether one set includes another."""
        return self._search.includes(row, other)

    def key(self, row: np.ndarray) -> int:
        """The number that comparable sets share."""
        return self._search.key(row)

    def _results(self, operation: Any, row: np.ndarray, other: np.ndarray) -> int:
        search = self._search
        while True:
            n = call(operation, self._operations, search.arrays, row, other)
            if n != -1:
                return n
            search.registers[Reg.MORE] = 1
            list(search.grow(float("inf")))


class Seen(NamedTuple):
    """What the checker has looked at."""

    sets: dict[frozenset, np.ndarray]
    inclusions: int  # pairs of different sets of which one includes the other
    pieces: int  # sets that decompositions gave
    missed: int = 0  # inclusions that were not found
    overlaps: int = 0  # states that are in several pieces


class Checker:
    """The sets that come up, each written out once."""

    def __init__(self, automaton, expand, underlying, *, exact=True):
        self.exact = exact
        self.missed = 0  # inclusions that are not found
        self.overlaps = 0  # states that are in several pieces
        self.called = Called(automaton)
        self.in_turns = Called(automaton, room=1)
        self.expand = expand
        self.underlying = underlying
        self.sets = {}
        self.by_row = {}

    def states(self, row):
        """Write a set out; rows are canonical, and no set is empty (property 1)."""
        name = row.tobytes()
        if name not in self.by_row:
            states = frozenset(self.expand(row))
            assert states, "property 1: an empty set"
            if self.exact:
                assert states not in self.sets, "two rows stand for one set"
            self.by_row[name] = states
            self.sets[states] = row.copy()
        return self.by_row[name]

    def follow(self, row):
        """Check properties 4 and 5 of a set; return its successors."""
        image = defaultdict(set)
        for state in self.states(row):
            for marks, after in self.underlying.steps(state):
                image[marks].add(after)
        covered = defaultdict(set)
        found = self.called.successors(row)
        again = self.in_turns.successors(row)
        assert [(m, r.tolist()) for m, r in again] == [
            (m, r.tolist()) for m, r in found
        ], "successors that come in turns"
        for marks, after in found:
            states = self.states(after)
            assert states <= image[marks], "property 5: no predecessor"
            covered[marks] |= states
        for marks, states in image.items():
            assert states <= covered[marks], "property 4: no successor"
        return [after for _, after in found]

    def compare(self, row, other):
        """Check what the operations say of two sets; return what completes one."""
        whole, part = self.states(row), self.states(other)
        included = self.called.includes(row, other)
        assert included <= (part <= whole), "inclusion"
        if not included:
            self.missed += part <= whole
            assert not self.exact or not part <= whole, "inclusion not found"
            return []
        assert self.called.key(row) == self.called.key(other), "keys"
        rest = self.called.decompose(row, other)
        pieces = [self.states(piece) for piece in rest]
        overlap = sum(map(len, pieces)) + len(part) - len(whole)
        assert overlap == 0 or not self.exact, "pieces overlap"
        self.overlaps += overlap
        assert frozenset().union(part, *pieces) == whole, "pieces do not complete"
        return rest


def assert_powerset(
    automaton: PowersetAutomaton,
    expand: Callable[[np.ndarray], Any],
    underlying: Underlying,
    *,
    most_sets: int = 60,
    exact: bool = True,
) -> Seen:
    """Check properties 1 to 5, and inclusion, decomposition, keys and canonical rows.

    Parameters
    ----------
    automaton : PowersetAutomaton
        Whose sets are looked at: the initial ones, what they reach and what
        decompositions give; of more than `most_sets` the first are followed and
        compared.
    expand : callable
        Gives the states, an iterable, of the set that a row uint64[n_words] stands for.
    underlying : Underlying
        What the states do.
    most_sets : int
        Bound on the work, not on what is checked of the sets that are looked at.
    exact : bool
        Whether each set has one row, each inclusion is found and pieces are disjoint;
        else some may not, and the answer says how many.
    """
    checker = Checker(automaton, expand, underlying, exact=exact)
    assert automaton.n_marks == underlying.n_marks, "property 2: marks"
    initial = [checker.states(row) for row in automaton.initial]
    assert frozenset().union(*initial) == underlying.initial, "property 3: initial"
    inclusions = n_pieces = 0
    waiting = list(automaton.initial)
    followed: list[np.ndarray] = []
    known = {row.tobytes() for row in waiting}
    while waiting and len(followed) < most_sets:
        row = waiting.pop(0)
        found = checker.follow(row)
        followed.append(row)
        for other in followed:
            for whole, part in ((row, other), (other, row)):
                pieces = checker.compare(whole, part)
                inclusions += checker.states(part) < checker.states(whole)
                n_pieces += len(pieces)
                found += pieces
        for after in found:
            if after.tobytes() not in known:
                known.add(after.tobytes())
                waiting.append(after)
    missed, overlaps = checker.missed, checker.overlaps
    return Seen(checker.sets, inclusions, n_pieces, missed, overlaps)
