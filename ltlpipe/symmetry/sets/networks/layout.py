"""How the tables of symmetric products are laid out."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

_WORD_BITS = 64


class Sym(IntEnum):
    """The first entries of `Tables.ints`; those in capitals are places in it."""

    MEMBERS = 0  # number of members
    COLUMNS = 1  # components of a member, at most
    COLUMN_CELLS = 2  # place of COLUMN entries per member and column
    MOVED = 3  # number of other components that swaps move
    MOVED_CELLS = 4  # place of MOVED entries for each
    SWAPS = 5  # place of the swap of each pair of members
    CLASSES = 6  # place of the class of each member
    BLOCK_WORD = 7  # the first word with blocks
    BLOCK_BITS = 8
    BLOCKS_PER_WORD = 9
    N_ACTIONS = 10
    ACTION_SWAPS = 11  # place of where each swap takes each action
    PROPERTY = 12  # place of the field (word, shift, mask) of the property's state
    PHASES = 13  # place of the first phase of each of its states, and of the end
    PHASE_CELLS = 14  # place of PHASE entries for each
    CLOSURES = 15  # place of the blocks that each of its states tells apart itself
    LETTER_SHIFT = 16  # the system's marks that letters tell
    SYSTEM_SHIFT = 17  # the property's marks; the system's follow
    STUTTER = 18  # whether a state without successors repeats itself
    SYSTEM_WORDS = 19  # words of a row that are the network's
    ROLES = 20  # numbers of `read_roles`
    CLOSES = 21  # whether successors are closed under those blocks
    CLOSED_MORE = 22  # whether a set has become larger by that
    NETWORK = 23  # of orbits: place of the network's own table
    BEFORE = 24  # of orbits: place of the previous member of each one's block, or -1
    OWN_COLOURS = 25  # of orbits: room for the colours of a state
    STEP_COLOURS = 26  # of orbits: room for those of a successor
    PHASE = 27  # of a set with more successors: the phase in which they go on
    IS_LEFT = 28  # whether its arrangement has been left for them
    ENDS = 29  # place of whether all states repeat in each state of the property


COLUMN = 6
"""Word, shift, mask; number of states; places of the tables from values to canonical
states and back."""

MOVED = 7
"""Word, shift, mask; number of roles; places of roles (by value and member) and of
swaps (by swap and value); number of values."""

PHASE = 3
"""Places of the block of each member, of the first edge for each letter and of the
edges (state, marks)."""


class Blocks(NamedTuple):
    """Where a row has the blocks' numbers: behind the words of the network."""

    word: int  # the first word with blocks
    bits: int  # of a number
    per_word: int  # numbers in a word
    n_words: int  # of the whole row


def blocks_behind(n_system: int, n_members: int) -> Blocks:
    """Return where rows with so many words of the network have so many blocks."""
    bits = max((n_members - 1).bit_length(), 1)
    per_word = _WORD_BITS // bits
    return Blocks(n_system, bits, per_word, n_system - (-n_members // per_word))


class Row(IntEnum):
    """Rows of `Tables.scratch`, one entry for each member."""

    COLOURS = 0  # of the set that is looked at
    BLOCKS = 1
    FINER = 2  # its blocks, cut by a phase of the property
    BEFORE = 3  # the previous member of each one's block
    WANTED = 4  # the colours of an arrangement
    CURRENT = 5  # those of a state on the way there
    ORDER = 6  # members in an order in which those of a block lie together
    CHOICE = 7  # where the colours of an arrangement are taken from
    USED = 8  # what it has taken
    STEP_COLOURS = 9  # of a successor
    STEP_BLOCKS = 10
    MIXED = 11  # whether the block of a first member has several colours
    OTHER_COLOURS = 12  # of the second set
    OTHER_BLOCKS = 13
    PARTS = 14  # the blocks of a part of the set
    POOL = 15  # colours, ascending
    GATHERED = 16  # colours, ascending
    FIRST = 17  # the first member of each one's block
    ROLES = 18  # of a state that is expanded, as one number for each member
    STEP_ROLES = 19  # of a successor
    CLOSED = 20  # the blocks of a successor that is closed
    CLOSED_BEFORE = 21
    CLOSED_FIRST = 22
