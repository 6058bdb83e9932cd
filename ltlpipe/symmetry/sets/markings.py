"""Markings in rows: reading, permuting and writing them; colours that are twins.

A marking is handled as its *support*: the cells that are marked, and how many tokens
they hold.  A permutation is an array over elements; it takes a cell to the cell of the
same place with the images of its colours.

*Twins* are colours whose exchange leaves a marking as it is.  To be twins is an
equivalence; the twins of one block are a *dynamic subclass*.  Blocks
whose members are all twins of each other act on the marking like the identity, so those
of one class of twins are made one block, and a block is as coarse as it may be.

Source: G. Chiola, C. Dutheillet, G. Franceschinis and S. Haddad, "Stochastic
Well-Formed Colored Nets and Symmetric Modeling Applications", IEEE Transactions on
Computers 42(11), 1993, pp. 1343-1360, Sec. IV (symbolic markings).

Differences from the source: a row has one marking of the set and its blocks, and
dynamic subclasses are found in it, where the source stores the marking over subclasses.

An *element* is a colour of a sort; elements of all sorts are numbered one after the
other.  Those that can be exchanged with others are *members*.  A *cell* is a place with
a tuple of colours, whether it is ever marked or not; its number is that of the place's
first cell and the tuple read as a number of mixed radix.

A row has a field for each cell that may be marked (the marking of a representative),
one for the property's state, and one for the block of each member.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ltlpipe.runtime.kernels.jit import called, inlined, trailing_zeros


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


_CELL = len(Cell)
_PLACE = len(PlaceAt)


@inlined
def cell_at(ints, cell):
    """Return the place of the table of a cell."""
    return ints[Head.CELLS] + cell * (_CELL + ints[Head.ARITY])


@called
def copy(one, other, n):
    """Copy the first n entries of an array to another one."""
    for k in range(n):
        other[k] = one[k]


@called
def are_equal(one, other, n):
    """Whether two arrays begin with the same n numbers."""
    same = True
    for k in range(n):
        same = same and one[k] == other[k]
    return same


@called
def order_by(keys, n, order):
    """Write 0 to n - 1 in the order of their keys; equal ones stay in their order."""
    for place in range(n):
        at = np.int64(place)
        while at > 0 and keys[order[at - 1]] > keys[place]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = place


@called
def tokens_in(ints, row, cell):
    """Return how many tokens a cell holds."""
    at = cell_at(ints, cell)
    word = row[ints[at + Cell.WORD]] >> np.uint64(ints[at + Cell.SHIFT])
    return np.int64(word & np.uint64(ints[at + Cell.MASK]))


@called
def put_tokens(ints, row, cell, count):
    """Write how many tokens a cell holds, where it has held none."""
    at = cell_at(ints, cell)
    moved = np.uint64(count) << np.uint64(ints[at + Cell.SHIFT])
    row[ints[at + Cell.WORD]] |= moved


@called
def read(ints, at, row):
    """Return the value of the field at ``ints[at]``."""
    word = row[ints[at]] >> np.uint64(ints[at + 1])
    return np.int64(word & np.uint64(ints[at + 2]))


@called
def write(ints, at, row, value):
    """Write the field at ``ints[at]``."""
    shift = np.uint64(ints[at + 1])
    word = row[ints[at]] & ~(np.uint64(ints[at + 2]) << shift)
    row[ints[at]] = word | np.uint64(value) << shift


@called
def read_group(ints, row, blocks):
    """Write the block of each member."""
    for member in range(ints[Head.MEMBERS]):
        blocks[member] = read(ints, ints[Head.BLOCK_FIELDS] + FIELD * member, row)


@called
def write_group(ints, row, blocks):
    """Do the reverse of `read_group`."""
    for member in range(ints[Head.MEMBERS]):
        at = ints[Head.BLOCK_FIELDS] + FIELD * member
        write(ints, at, row, blocks[member])


@called
def read_support(ints, words, row, cells, counts):
    """Write the cells that are marked, and their tokens; return their number.

    ``words[:n_words]`` are the bits of rows in which markings are.
    """
    n = np.int64(0)
    bits = ints[Head.BITS]
    for w in range(ints[Head.WORDS]):
        left = row[w] & words[w]
        while left != 0:
            cell = ints[bits + 64 * w + trailing_zeros(left)]
            at = cell_at(ints, cell)
            mask, shift = (
                np.uint64(ints[at + Cell.MASK]),
                np.uint64(ints[at + Cell.SHIFT]),
            )
            cells[n] = cell
            counts[n] = np.int64((row[w] >> shift) & mask)
            left &= ~(mask << shift)
            n += 1
    return n


@called
def image_of(ints, cell, permutation):
    """Return the cell to which a permutation takes a cell."""
    at = cell_at(ints, cell)
    place = ints[Head.PLACES] + ints[at + Cell.PLACE] * (_PLACE + ints[Head.ARITY])
    image = ints[place + PlaceAt.OF_ELEMENTS]
    for k in range(ints[Head.ARITY]):
        element = ints[at + _CELL + k]
        if element < 0:
            break
        image += ints[place + _PLACE + k] * permutation[element]
    return image


@called
def swapped(ints, cell, first, second):
    """Return the cell to which the exchange of two elements takes a cell."""
    at = cell_at(ints, cell)
    place = ints[Head.PLACES] + ints[at + Cell.PLACE] * (_PLACE + ints[Head.ARITY])
    image = cell
    for k in range(ints[Head.ARITY]):
        element = ints[at + _CELL + k]
        if element == first:
            image += ints[place + _PLACE + k] * (second - first)
        elif element == second:
            image += ints[place + _PLACE + k] * (first - second)
    return image


@called
def write_permuted(ints, cells, counts, n, permutation, row):
    """Write the image of a support of n cells to a row; nothing else is in it."""
    row[: ints[Head.WORDS]] = 0
    for k in range(n):
        put_tokens(ints, row, image_of(ints, cells[k], permutation), counts[k])


@called
def stay(ints, permutation):
    """Write the permutation that moves nothing."""
    for element in range(ints[Head.ELEMENTS]):
        permutation[element] = element


@called
def link(ints, cells, n, head, following):
    """Write for each element the chain of its entries in a support of n cells.

    Entry ``k * arity + i`` is colour i of the cell k; -1 is the end of a chain.
    """
    arity = ints[Head.ARITY]
    head[: ints[Head.ELEMENTS]] = -1
    for k in range(n):
        at = cell_at(ints, cells[k]) + _CELL
        for i in range(arity):
            element = ints[at + i]
            if element < 0:
                break
            following[k * arity + i] = head[element]
            head[element] = k * arity + i


_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S1, _S2, _S3 = np.uint64(30), np.uint64(27), np.uint64(31)


@inlined
def mix(value):
    """Return a hash of a number (the finaliser of SplitMix64)."""
    value = (value ^ (value >> _S1)) * _M1
    value = (value ^ (value >> _S2)) * _M2
    return value ^ (value >> _S3)


@called
def is_kept(ints, row, first, second, head, following, cells, counts):
    """Whether the exchange of two elements leaves the links of the first as they are.

    The support is that of the row.
    """
    arity = ints[Head.ARITY]
    entry = head[first]
    while entry >= 0:
        k = entry // arity
        image = swapped(ints, cells[k], first, second)
        if tokens_in(ints, row, image) != counts[k]:
            return False
        entry = following[entry]
    return True


@called
def are_twins(ints, row, first, second, scratch):
    """Whether the exchange of two elements leaves a marking as it is.

    Its support is in CELLS and COUNTS, its links in HEAD and NEXT.
    """
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    return is_kept(
        ints, row, first, second, head, following, cells, counts
    ) and is_kept(ints, row, second, first, head, following, cells, counts)


@called
def find_mixed(n_members, blocks, leaders, scratch):
    """Write the first member of each block (LABELS), and whether it is MIXED.

    That is, whether its members are not all twins of each other.
    """
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    first[: 2 * n_members] = -1
    mixed[: 2 * n_members] = 0
    for member in range(n_members):
        block = blocks[member]
        if first[block] < 0:
            first[block] = member
        elif leaders[first[block]] != leaders[member]:
            mixed[block] = 1


@called
def settle(ints, blocks, leaders, scratch, settled):
    """Write blocks, made as coarse as the twins allow, numbered from 0.

    Blocks are numbered below 2 * n_members.
    """
    n = ints[Head.MEMBERS]
    first, mixed = scratch[Row.LABELS], scratch[Row.MIXED]
    find_mixed(n, blocks, leaders, scratch)
    for member in range(n):
        block = blocks[member]
        # A block of twins is known by the first twin of all, any other by itself.
        settled[member] = leaders[member] if mixed[block] == 0 else n + first[block]
    first[: 2 * n] = -1
    n_blocks = np.int64(0)
    for member in range(n):
        label = settled[member]
        if first[label] < 0:
            first[label] = n_blocks
            n_blocks += 1
        settled[member] = first[label]


@called
def read_marking(tables, row):
    """Write the support of a row to CELLS and COUNTS, and its twins to LEADERS.

    These are the first twin of each member.  Returns how many cells are marked; writes
    HEAD and NEXT, and hashes of what unary twins have in common to the row SIMPLE.
    """
    ints, scratch, simple = tables.ints, tables.scratch, tables.step_rows[Word.SIMPLE]
    cells, counts = scratch[Row.CELLS], scratch[Row.COUNTS]
    head, following = scratch[Row.HEAD], scratch[Row.NEXT]
    leaders, elements = scratch[Row.LEADERS], ints[Head.MEMBER_ELEMENTS]
    n = read_support(ints, tables.words, row, cells, counts)
    if ints[Head.MEMBERS] == 0:
        return n
    link(ints, cells, n, head, following)
    arity = ints[Head.ARITY]
    for member in range(ints[Head.MEMBERS]):
        element = ints[elements + member]
        total = np.uint64(0)
        entry = head[element]
        while entry >= 0:
            k = entry // arity
            place = ints[cell_at(ints, cells[k]) + Cell.PLACE]
            said = np.uint64(place * arity + entry % arity) * _M2
            total += mix(said + np.uint64(counts[k]))
            entry = following[entry]
        simple[member] = total
        leaders[member] = member
        of = ints[ints[Head.CLASSES] + member]
        for other in range(member):
            if (
                leaders[other] == other
                and simple[other] == total
                and ints[ints[Head.CLASSES] + other] == of
                and are_twins(ints, row, ints[elements + other], element, scratch)
            ):
                leaders[member] = other
                break
    return n


@called
def settle_group(tables, blocks):
    """Write blocks, made as coarse as the marking just read allows, to SETTLED."""
    ints, scratch = tables.ints, tables.scratch
    settle(ints, blocks, scratch[Row.LEADERS], scratch, scratch[Row.SETTLED])


@called
def keep_source(tables, n, blocks):
    """Keep a support of n cells as the source's, and its twins in blocks (LOCAL)."""
    scratch = tables.scratch
    copy(scratch[Row.CELLS], scratch[Row.SOURCE_CELLS], n)
    copy(scratch[Row.COUNTS], scratch[Row.SOURCE_COUNTS], n)
    leaders, local = scratch[Row.LEADERS], scratch[Row.LOCAL]
    for member in range(tables.ints[Head.MEMBERS]):
        local[member] = member
        for earlier in range(member):
            is_twin = leaders[earlier] == leaders[member]
            if is_twin and blocks[earlier] == blocks[member]:
                local[member] = earlier
                break
