"""From a run of orbits back to one of the network.

A run of the quotient goes from representative to representative: a step of the network
leads from one to a state of which the next is the representative, so that a permutation
stands between the two.  All permutations so far, one after the other, take the
representative to the state of the network's run, and the action of its step to the one
that is taken there.  Once round the cycle they have moved on by the permutation of one
turn; when the state comes again, after as many turns as that permutation's order at
most, the network's cycle is closed.

Source: E. A. Emerson and A. P. Sistla, "Symmetry and Model Checking", Formal Methods in
System Design 9, 1996, pp. 105-131, Sec. 3 (runs of the quotient are runs of the
system).

Cost: one expansion per step of the quotient's run, and an exchange of two members for
each member and step of the network's run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.jobs import MEMORY, Progress, StoppedError
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.memory import most_steps
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.search.driver import EXTRACTING
from ltlpipe.symmetry.orbits.stabiliser import exchange_two, find_step
from ltlpipe.symmetry.sets.networks.starts import (
    Permutation,
    arranged,
    initial_state,
    transpositions,
)
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.symmetry.classes.group import Symmetry
    from ltlpipe.systems.networks.packing import PackedNetwork

_STEP_WORK = 100  # microseconds of a step, roughly


def lifted(
    symmetry: Symmetry,
    packed: PackedNetwork,
    blocks: Sequence[int],
    found: Run,
) -> Job[Run]:
    """Return a run of the network for one of its orbits.

    Parameters
    ----------
    symmetry : Symmetry
        Of the network.
    packed : PackedNetwork
        What `ltlpipe.symmetry.orbits.stabiliser.orbits` returned.
    blocks : sequence of int
        For each member the first one of its block.
    found : Run
        Its states are representatives.

    Raises
    ------
    StoppedError
        The run has more steps than `most_steps` allows.
    """
    grant = yield Progress(EXTRACTING)
    lifting = _Lifting(symmetry, packed, blocks, found)
    most = most_steps(grant.memory_bytes, len(symmetry.network.components))
    # The first representative is that of the initial state.
    _, back = arranged(symmetry, initial_state(symmetry), blocks)
    permutation = yield from lifting.walk(0, found.length, back)
    start = yield from lifting.state(found.length, permutation)
    n_prefix = len(lifting.actions)
    while True:
        if len(lifting.actions) > most:
            raise StoppedError(MEMORY)
        permutation = yield from lifting.walk(
            found.length, len(found.actions), permutation
        )
        if np.array_equal((yield from lifting.state(-1, permutation)), start):
            break
    rows = np.array([*lifting.rows, start])
    return Run(np.array(lifting.actions, dtype=np.int32), packed.unpack(rows), n_prefix)


class _Lifting:
    """The steps of the network's run, one after the other."""

    def __init__(
        self,
        symmetry: Symmetry,
        packed: PackedNetwork,
        blocks: Sequence[int],
        found: Run,
    ) -> None:
        self.symmetry = symmetry
        self.packed = packed
        self.blocks = blocks
        self.found = found
        self.representatives = packed.rows_of(found.states)
        self.actions: list[int] = []
        self.rows: list[np.ndarray] = []  # the states before them
        self._turned: dict[int, Permutation] = {}  # back from representatives
        self._ticks = Ticks(EXTRACTING, _STEP_WORK)
        n = packed.max_successors
        self._buffers = (
            np.zeros((n, self.representatives.shape[1]), dtype=np.uint64),
            np.zeros(n, dtype=np.int32),
            np.zeros(n, dtype=np.int32),
            np.zeros(n, dtype=np.uint32),
        )

    def walk(self, first: int, last: int, permutation: Permutation) -> Job[Permutation]:
        """Take the run's steps from `first` up to `last`; return where they lead to."""
        for k in range(first, last):
            if self._ticks.over():
                yield self._ticks.progress
            self.rows.append((yield from self.state(k, permutation)))
            action = int(self.found.actions[k])
            if k not in self._turned:
                self._turned[k] = yield from self._back(k, action)
            self.actions.append(self._moved(action, permutation))
            back = self._turned[k]
            permutation = tuple(permutation[place] for place in back)
        return permutation

    def state(self, k: int, permutation: Permutation) -> Job[np.ndarray]:
        """Return the row that a permutation makes of a representative."""
        row: np.ndarray = self.representatives[k].copy()
        for first, second in transpositions(permutation):
            yield from called(exchange_two, self.packed.ints, row, first, second)
        return row

    def _moved(self, action: int, permutation: Permutation) -> int:
        """Return where a permutation takes an action."""
        if action >= 0:
            symmetry = self.symmetry
            for first, second in transpositions(permutation):
                swap = symmetry.swap_of[first, second]
                action = int(symmetry.action_swaps[swap, action])
        return action

    def _back(self, k: int, action: int) -> Job[Permutation]:
        """Return what takes the representative after a step to the step's target."""
        members = range(self.symmetry.n_members)
        if action < 0:
            return tuple(members)
        row = self.representatives[k].copy()
        colours = np.zeros(len(members), dtype=np.int64)
        arguments = (
            self.packed.ints,
            self.packed.words,
            row,
            action,
            self.representatives[k + 1],
            self._buffers,
            colours,
        )
        if not (yield from called(find_step, *arguments)):
            raise ReplayError("the search reported a step that is not there")
        back = list(members)
        for block in set(self.blocks):
            places = [m for m in members if self.blocks[m] == block]
            ascending = sorted(places, key=lambda m: colours[m])
            for place, source in zip(places, ascending, strict=True):
                back[place] = source
        return tuple(back)
