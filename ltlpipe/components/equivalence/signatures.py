"""Strong and branching bisimulation by signatures, for changed states only.

The signature of a state is the set of (label, block of the target) over its steps
and, in branching bisimulation, over those of the states that it reaches by *inert*
steps: silent ones inside its block.  Inert steps themselves do not count.  A
partition is refined by signatures until none differ inside a block; what comes out
is the coarsest bisimulation.

A state is *dirty* if its signature may have changed.  All *clean* states of a block
have one signature.  When a block is split, the largest part keeps its number, so
that only the states before the smaller parts become dirty.

Sources: S. Blom and S. Orzan, "Distributed Branching Bisimulation Reduction of State
Spaces", PDMC 2003, ENTCS 89(1), pp. 99-113 (signatures for branching bisimulation);
J. Jacobs and T. Wissmann, "Fast Coalgebraic Bisimilarity Minimization", POPL 2023,
PACMPL 7, article 52 (dirty states, the largest part keeps its number).

Differences from the sources:

- Dirty states for branching bisimulation: with a state, all that reach it by inert
  steps are dirty; so from a clean state inert steps lead to clean states only, and
  to a *bottom* state, without inert steps, whose own steps are the signature of all.
- Divergence counts: a mark is a visible loop.  With silent SCCs collapsed and those
  that can run silently for ever marked, this is divergence-preserving branching
  bisimulation.
- Signatures are not closed over inert steps: such sets grow from step to step and can
  take quadratic space.  The states of a block are taken from the bottom up.  One
  whose own steps are all in the signature of the group to which its inert successors
  belong joins that group.  Any other is *mixed*: it reaches inertly a state with a
  smaller signature.  No mixed state is bisimilar to one that is not, since all that
  the latter reaches inertly has one signature.  So the mixed ones can be split off as
  a block, in which silent steps to the groups found so far are steps like others, and
  the bottom states of that block are known at once: all levels of mixture are found
  in one pass, and groups of different levels are kept apart.

Invariants: a block is in the queue iff it has dirty states, and those are the last
of its elements; no silent step lies on a cycle.

Cost: a look at a state of d steps sorts those that are not inert.  For strong
bisimulation each state is moved to another block at most log2(n) times, and each move
makes its predecessors dirty, so a state is looked at O(d log n) times.  For branching
bisimulation there is no such bound, since dirt spreads over inert steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.equivalence.refinement import (
    Partition,
    Reg,
    Room,
    Status,
    refine,
)
from ltlpipe.components.equivalence.transition_arrays import (
    Steps,
    by_least_member,
    graph_of,
)
from ltlpipe.components.progress import ENTRY_WORK, reducing
from ltlpipe.runtime.kernels.compilation import called

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job

_BUDGET = 1 << 13  # dirty states of a call, or those of one block if they are more
_STATE_WORK = 2  # of a dirty state
_STATE_BYTES = 130  # of a state in a partition, a room and a graph
_EDGE_BYTES = 24


def quotient(steps: Steps) -> Job[Steps]:
    """Merge bisimilar states; no silent step lies on a cycle.

    Without silent steps this is strong bisimulation, otherwise (divergence-preserving)
    branching bisimulation; only states with equal marks are merged, or states that
    reach a mark inertly.  The steps are in no particular order, inert ones left out;
    others may stand twice.
    """
    n_blocks, block = yield from classes(steps)
    if n_blocks == steps.n_states:
        return steps
    block = by_least_member(n_blocks, block)
    src, dst, label = block[steps.src], block[steps.dst], steps.label
    inert = (label == steps.n_labels) & (src == dst)
    if inert.any():
        src, dst, label = src[~inert], dst[~inert], label[~inert]
    marked = np.zeros(n_blocks, dtype=np.bool_)
    marked[block[steps.marked]] = True
    initial = int(block[steps.initial])
    return Steps(n_blocks, initial, steps.n_labels, src, label, dst, marked)


def classes(steps: Steps) -> Job[tuple[int, np.ndarray]]:
    """Find the number of bisimulation classes and the class of each state, int32[n].

    The argument is that of `quotient`.
    """
    n = steps.n_states
    graph = yield from graph_of(steps)
    held = steps.memory_bytes + _EDGE_BYTES * len(graph.dst) + _STATE_BYTES * n
    yield reducing(len(graph.dst) * ENTRY_WORK, held)
    widest = int(np.diff(graph.first).max())
    states = np.arange(n, dtype=np.int32)
    partition = Partition(
        block=np.zeros(n, dtype=np.int32),
        elements=states,
        place=states.copy(),
        begin=np.zeros(n, dtype=np.int32),
        clean=np.zeros(n, dtype=np.int32),
        end=np.full(n, n, dtype=np.int32),
        queue=np.zeros(n, dtype=np.int32),
    )
    room = Room(
        keys=np.empty(len(graph.dst) + n + widest + 1, dtype=np.int64),
        key_begin=np.zeros(n + 2, dtype=np.int64),
        hashes=np.empty(n + 1, dtype=np.uint64),
        slots=np.zeros(1 << (2 * n + 2).bit_length(), dtype=np.int32),
        slot_of=np.empty(n + 1, dtype=np.int64),
        size=np.empty(n + 1, dtype=np.int64),
        start=np.empty(n + 1, dtype=np.int64),
        level=np.empty(n + 1, dtype=np.int64),
        group=np.empty(n, dtype=np.int32),
        missing=np.zeros(n, dtype=np.int32),
        order=np.empty(n, dtype=np.int32),
    )
    registers = np.zeros(len(Reg), dtype=np.int64)
    registers[Reg.N_BLOCKS] = 1
    registers[Reg.QUEUED] = 1
    registers[Reg.N_LABELS] = steps.n_labels + 2
    work = _STATE_WORK * min(_BUDGET, n)
    status = Status.RUNNING
    while status != Status.DONE:
        status = yield from called(refine, graph, partition, room, registers, _BUDGET)
        yield reducing(work, held)
    return int(registers[Reg.N_BLOCKS]), partition.block
