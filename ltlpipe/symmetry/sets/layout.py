"""Layout of the arrays of kernels on sets of markings.

An *element* is a colour of a sort; elements of all sorts are numbered one after the
other.  Those that can be exchanged with others are *members*.  A *cell* is a place with
a tuple of colours, whether it is ever marked or not; its number is that of the place's
first cell and the tuple read as a number of mixed radix.

A row has a field for each cell that may be marked (the marking of a representative),
one for the property's state, and one for the block of each member.
"""

from __future__ import annotations

from enum import IntEnum


class Head(IntEnum):
    """The first entries of `ints`; places are where the tables begin."""

    WORDS = 0  # of a row
    ELEMENTS = 1  # number of elements
    MEMBERS = 2  # number of members
    MEMBER_ELEMENTS = 3  # place: the element of each member
    ELEMENT_MEMBERS = 4  # place: the member of each element, or -1
    CLASSES = 5  # place: the class of each member
    ARITY = 6  # most colours of a tuple, at least 1
    PLACES = 7  # place: PLACE + ARITY entries for each place
    CELLS = 8  # place: CELL + ARITY entries for each cell
    BITS = 9  # place: the cell of each bit of a row, or -1
    BLOCK_FIELDS = 10  # place: FIELD entries for each member
    PROPERTY = 11  # place: FIELD entries
    PROPOSITIONS = 12  # place of the tables of `letter_of`
    TAKEN = 13  # whether letters tell which transition is taken
    STUTTER = 14  # whether a dead marking repeats itself
    CLOSES = 15  # whether successors are closed
    CLOSED_MORE = 16  # whether some successor is larger than what is reached
    OVERFLOW = 17  # whether some field was too narrow
    NOTED = 18  # place: which cells were
    APPROXIMATE = 19  # times that a representative was taken before all were compared
    PHASES = 20  # place: the first phase of each state of the property
    PHASE_CELLS = 21  # place: PHASE entries for each phase
    CLOSURES = 22  # place: blocks that each state tells no difference of
    TRANSITIONS = 23  # number of transitions
    TRANSITION_CELLS = 24  # place: TRANSITION entries for each
    ROUNDS = 25  # of refinement
    N_CELLS = 26
    MOST_LEAVES = 27  # markings that are compared for one representative
    ASKED = 28  # number of transitions that propositions ask of: can they be taken?
    ASKED_CELLS = 29  # place: these; the answers are bits behind the row STATE
    PHASE = 30  # of a set with more successors: the phase in which they go on
    IS_LEFT = 31  # whether its arrangement has been left for them
    ENDS = 32  # place: whether all markings repeat in each state of the property


class PlaceAt(IntEnum):
    """Of a place; the strides of its cells follow."""

    OF_COLOURS = 0  # the cell of a tuple is this and each stride times the colour
    OF_ELEMENTS = 1  # likewise with elements


class Cell(IntEnum):
    """Of a cell; its elements follow, -1 behind them."""

    WORD = 0
    SHIFT = 1
    MASK = 2  # 0 if it is never marked
    PLACE = 3


class Phase(IntEnum):
    """Of a phase: places."""

    BLOCKS = 0  # of the members
    OFFSETS = 1  # the first transition of each letter, and the end
    EDGES = 2  # target and marks of each transition


class Move(IntEnum):
    """Of a transition of the net."""

    SLOTS = 0  # number of variables, in the order in which they are bound
    SLOT_CELLS = 1  # place: SLOT entries for each
    PRE = 2  # place: number of tokens, then these
    POST = 3  # place: likewise
    LETTERS = 4  # place: bits of the letter, then NAMED entries; or -1
    CONDITIONS = 5  # place: conditions without variables


class Named(IntEnum):
    """Which bits of the letter a transition has, and some of its bindings besides."""

    BITS = 0
    COUNT = 1  # of such bindings
    BINDINGS = 2  # the number and the bits of each


class Slot(IntEnum):
    """Of a variable that is bound."""

    FIRST = 0  # element of its sort
    SIZE = 1
    STRIDE = 2  # of the bindings' numbers
    CONDITIONS = 3  # place: how many guards can be looked at, and these
    TESTS = 4  # place: how many tokens are surely taken, and these


class Token(IntEnum):
    """Of tokens of one term; ENTRY entries for each colour follow."""

    PLACE = 0
    WEIGHT = 1  # negative if they are subtracted


class Entry(IntEnum):
    """Of a colour: of a variable, a constant, or every one."""

    SLOT = 0  # the variable, or a Constant
    VALUE = 1  # how many colours follow it, or the constant
    SIZE = 2  # of the sort


CONSTANT, EVERY, NONE = -1, -2, -3
"""Slots that are no variables; NONE is behind the last colour."""


class Guard(IntEnum):
    """Instructions of a guard."""

    END = 0
    COMPARE = 1  # a Relation, then two terms
    ALL = 2  # n: the conjunction of so many
    SOME = 3  # n: their disjunction


class Relation(IntEnum):
    """Of two numbers."""

    EQUAL = 0
    DIFFERENT = 1
    LESS = 2
    AT_MOST = 3


FIELD = 3  # word, shift, mask
TERM = 4  # an Entry, then the place of the elements of a partition, or -1


class Row(IntEnum):
    """The rows of `scratch`."""

    SOURCE_CELLS = 0  # those marked in the representative of a set
    SOURCE_COUNTS = 1
    CELLS = 2  # those marked in another marking
    COUNTS = 3
    HEAD = 4  # the first link of each element
    NEXT = 5  # the next link
    BLOCKS = 6
    FINER = 7
    LOCAL = 8  # the first twin of each member in its block
    LEADERS = 9  # the first twin of each member
    SETTLED = 10
    JOINED = 11
    COARSE = 12
    LABELS = 13
    MIXED = 14
    ORDER = 15
    WANTED = 16
    LEFT = 17
    CURSOR = 18
    PERMUTATION = 19
    BEST = 20  # the permutation to the representative
    POSITIONS = 21
    SORTED = 22
    EXAMPLES = 23
    PATH = 24
    BEST_PATH = 25
    EARLIER = 26  # the element before in a dynamic subclass
    NEEDED = 27
    PUT = 28
    TOUCHED = 29
    SEEN = 30
    BINDING = 31
    STACK = 32
    OTHER_BLOCKS = 33
    GOAL = 34
    SIZES = 35
    PIECES = 36
    CHANGES = 37
    KEYS = 38


class Word(IntEnum):
    """The first rows of `step_rows`; signatures for each depth follow."""

    STATE = 0  # the marking that is expanded
    STEP = 1  # a marking that is reached
    TRIAL = 2
    BEST = 3
    FRESH = 4
    SIMPLE = 5
    OWN = 6
    SIGNATURES = 7
