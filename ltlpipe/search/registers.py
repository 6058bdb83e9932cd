"""The scalars of a search: what its kernels and the driver both know.

Registers are one int64 array that outlives every call of a step kernel.  The
first ones are common to all algorithms; the rest belong to the algorithm.
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
    """Places in the registers."""

    STORED = 0  # states in the store
    ID_BITS = 1  # bits of a slot that hold a state id; the rest is a tag
    VISITED = 2  # states that the search has entered
    TRANSITIONS = 3  # transitions generated, those generated again counted again
    EXPANSIONS = 4  # calls of the successor function
    DEPTH = 5  # states on the call stack
    MAX_DEPTH = 6  # its largest value
    TOP = 7  # entries of the stack array
    MAX_STATES = 8  # VISITED may not exceed it
    CLOSING = 9  # se05, FOUND: the state at which the accepting cycle closes
    RED_BASE = 10  # se05: stack entries below the red search, 0 if none runs
    ACCEPTING = 11  # se05: accepting states on the blue stack
    COUNT = 12  # couvreur99: highest DFS number in use
    N_ROOTS = 13  # couvreur99: entries of the stack of roots
    MAX_ROOTS = 14  # couvreur99: its largest value
    N_DEAD = 15  # couvreur99: dead intervals of DFS numbers
    MARK_BITS = 16  # couvreur99: bits per set of marks on the stack


N_REGISTERS = len(Reg)
