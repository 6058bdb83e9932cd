"""The scalars of a search: what its kernels and the driver both know.

Registers are one int64 array that outlives every call of a step kernel.  The first
places are common to all searches.  What only one search has, it declares itself, in an
`IntEnum` that begins at `PRIVATE`::

    class TelaReg(IntEnum):
        LEVEL = PRIVATE  # SCCs that are being taken apart
        MAX_LEVEL = PRIVATE + 1

Searches that share kernels share such an enumeration.  Keys of `Search.counts` and of a
layout may be members of either.
"""

from __future__ import annotations

from enum import IntEnum


class Status(IntEnum):
    """What a step kernel returns."""

    RUNNING = 0  # the budget is spent, call again
    GROW = 1  # an array is full, nothing half done: grow and call again
    EMPTY = 2  # no accepting run
    FOUND = 3  # an accepting run, described by the algorithm's registers
    LIMIT = 4  # Reg.MAX_STATES states have been entered and one more waits


class Reg(IntEnum):
    """Places in the registers that several searches have."""

    STORED = 0  # states in the store
    ID_BITS = 1  # bits of a slot that hold a state id; the rest is a tag
    VISITED = 2  # states that the search has entered
    TRANSITIONS = 3  # transitions generated, those generated again counted again
    EXPANSIONS = 4  # calls of the successor function
    DEPTH = 5  # states on the call stack
    MAX_DEPTH = 6  # its largest value
    TOP = 7  # entries of the stack array
    MAX_STATES = 8  # VISITED may not exceed it
    CLOSING = 9  # FOUND: the state on the path at which the cycle closes; a deadlock
    RED_BASE = 10  # stack entries below the red search, 0 if none runs
    N_ROOTS = 11  # entries of the stack of roots
    MARK_BITS = 12  # bits per set of marks, where such sets are packed
    REDUCED = 13  # states expanded by fewer than all of their steps
    ATTEMPTS = 14  # states for which an ample set has been looked for
    EXAMINED = 15  # actions that were looked at to choose among steps

    # Searches for SCCs
    COUNT = 85  # highest DFS number in use
    MAX_ROOTS = 86  # its largest value
    N_SCCS = 92  # sccs: complete SCCs

    # Decoupled searches; each tree over visited states has registers of its own
    NODES = 28  # nodes of the tree
    DUPLICATES = 29  # states that had been visited
    DOMINATED = 30  # other states that a visited one dominates
    NODES_SEEN = 31  # nodes that look-ups have met
    COMPARED = 32  # visited states that look-ups have compared with
    INNER_ROOTS = 34  # inner searches so far
    STACK_TEST = 35  # whether inner states are compared with the stack
    EXACT = 46  # decoupled-scc: whether the second pass has begun
    UNITED = 52  # words of sets that have been united
    COVERED = 75  # states whose members had all been visited
    HIGHEST = 76  # decoupled-scc: the highest level of a state so far
    PATIENCE = 77  # decoupled-scc: states to enter before cycles are looked for
    TURN = 78  # decoupled-scc: labels to look at before the other search goes on

    # Searches for acceptance with Fin
    N_FSTATES = 36  # entries of the list of states behind Fin transitions
    REENTERED = 37  # states entered once more, by a later pair or inside an SCC
    IS_LATER = 38  # whether the product has been searched to its end before
    EMPTY_ACCEPTS = 44  # tela: whether a cycle without marks is accepting

    # Searches of automata over sets
    KIND = 47  # which of the checks it is
    ALL_MARKS = 48  # what an accepting SCC has
    REPLACED = 49  # sets that one on the stack stood in for
    PARTS = 50  # sets that completed those
    MORE = 51  # whether the results of an operation need more room
    PENDING = 64  # the set whose successors are not all known yet, plus 1; or 0
    WORK = 65  # sets looked at, generated and compared: what budgets count
    INSIDE_LIMIT = 63  # VISITED may not exceed it while an alarm is being realised


PRIVATE = 16
"""The first place that a search may declare for itself."""

N_REGISTERS = 96
"""Places of all registers."""

EXAMINED_PER_TRANSITION = 200
"""Actions looked at for ample sets while a transition is generated, roughly."""
