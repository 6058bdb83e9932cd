"""The invariants that modules of searches state, asserted between two steps.

What a search inherits is asserted of it, too.
"""

from functools import singledispatch

import numpy as np

from ltlpipe.decoupled.dominance import LEAF_ROWS, VisitedSets
from ltlpipe.runtime.jobs import complete
from ltlpipe.search.emptiness import StoredSearch
from ltlpipe.search.exploring import Breadth, Exploration, Recording
from ltlpipe.search.nested.bits import BLOCK, Flag
from ltlpipe.search.nested.bitstate import ApproximateSE05
from ltlpipe.search.nested.ndfs import CVWY92, NestedDFS
from ltlpipe.search.nested.tauriainen03 import RedReg, Tauriainen03
from ltlpipe.search.net_firing import At
from ltlpipe.search.net_walks import NetWalks
from ltlpipe.search.registers import Reg
from ltlpipe.search.scc.couvreur99 import Couvreur99
from ltlpipe.search.scc.rabin import Rabin
from ltlpipe.search.scc.ranks import RankedSearch
from ltlpipe.search.scc.rules import NOTED, SccReg
from ltlpipe.search.scc.scc_enumeration import SCCs
from ltlpipe.search.scc.tarjan72 import Tarjan72, TarjanReg
from ltlpipe.search.scc.tela import Level, Tela, TelaReg
from ltlpipe.search.shared.cndfs import BLUE, CNDFS, MET, RED
from ltlpipe.search.shared.search import SharedSearch
from ltlpipe.search.shared.ufscc import UFSCC
from ltlpipe.search.stacks import Colour, stack_frames, unpacked_colours
from ltlpipe.search.union_find import HIGH, LOCK, LOW
from ltlpipe.symmetry.sets.inclusion_checks import TEC
from ltlpipe.symmetry.sets.powerset_search import PowersetSearch


@singledispatch
def assert_consistent(search):
    """Check the invariants that the module of a search states, if it states any."""
    assert isinstance(search, StoredSearch)


@assert_consistent.register
def exploration_invariants(search: Exploration):
    """Check that what is expanded is stored, and what is counted generated."""
    registers = search.registers
    assert 0 <= registers[Reg.VISITED] <= registers[Reg.STORED]
    assert 0 <= search.fin_transitions <= registers[Reg.TRANSITIONS]


@assert_consistent.register
def recording_invariants(search: Recording):
    """Check that levels and transitions are in order, and lead to stored states."""
    arrays, registers, n = search.arrays, search.registers, search.n_stored
    ends = arrays.ends[: registers[Reg.VISITED]]
    assert (np.diff(ends, prepend=0) >= 0).all()
    assert not len(ends) or ends[-1] == search.n_transitions
    dst = arrays.dst[: search.n_transitions]
    assert not len(dst) or 0 <= dst.min() <= dst.max() < n
    assert (np.diff(arrays.levels[: registers[Breadth.N_LEVELS]]) > 0).all()
    if arrays.parent is not None:
        assert (arrays.parent[1:n] < np.arange(1, n)).all()


def assert_blue_is_cyan(search, base):
    """Check that; the blue frames lie below `base`, or are all if it is 0."""
    blue = stack_frames(search.arrays.stack[: base or search.registers[Reg.TOP]])
    cyan = np.flatnonzero(search.colours() == Colour.CYAN)
    assert sorted(blue.tolist()) == cyan.tolist()


@assert_consistent.register
def nested_dfs_invariants(search: NestedDFS):
    """Check that exactly the states with a blue frame are cyan."""
    assert_blue_is_cyan(search, search.registers[Reg.RED_BASE])


@assert_consistent.register
def cvwy92_invariants(search: CVWY92):
    """Check nothing: a state does not say whether it is on the stack."""


@assert_consistent.register
def approximate_se05_invariants(search: ApproximateSE05):
    """Check that the table of the path has the blue frames, and no others."""
    shared = search.flagged(Flag.SHARED)[: search.n_entered_frames]
    slots = search.arrays.slots
    id_mask = (1 << int(search.registers[Reg.ID_BITS])) - 1
    blocks = (slots[slots != 0] & id_mask).astype(np.int64) - 1
    assert sorted(blocks.tolist()) == (np.flatnonzero(~shared) // BLOCK).tolist()


@assert_consistent.register
def tauriainen03_invariants(search: Tauriainen03):
    """Check that exactly the states with a blue frame are cyan."""
    assert_blue_is_cyan(search, search.registers[RedReg.POST_BASE])


@assert_consistent.register
def couvreur99_invariants(search: Couvreur99):
    """Check the invariants that the module states."""
    roots = search.arrays.roots[: search.registers[Reg.N_ROOTS]]
    assert (np.diff(roots) > 0).all()
    if search.registers[SccReg.REMOVE_BASE] > 0:
        return
    numbers = search.arrays.numbers[: search.n_stored]
    live = np.sort(numbers[(numbers > 0) & ~search._dead(numbers)])
    assert set(roots.tolist()) <= set(live.tolist())
    if search.arrays.dead is None:
        assert len(np.unique(live)) == len(live)
        return
    every = np.arange(1, int(search.registers[Reg.COUNT]) + 1)
    assert live.tolist() == every[~search._dead(every)].tolist()
    n_dead = search.registers[SccReg.N_DEAD]
    first, last = (interval[:n_dead] for interval in search.arrays.dead)
    assert (first <= last).all()
    assert (first[1:] > last[:-1] + 1).all()


@assert_consistent.register
def rabin_invariants(search: Rabin):
    """Check the invariants that the module states."""
    couvreur99_invariants(search)
    if search.arrays.fin is None:
        return
    numbers = search.arrays.numbers[: search.n_stored]
    listed = search.arrays.fin.states[: search.registers[Reg.N_FSTATES]]
    assert len(np.unique(listed)) == len(listed)
    assert set(np.flatnonzero(numbers == NOTED)) <= set(listed.tolist())


@assert_consistent.register
def ranked_search_invariants(search: RankedSearch):
    """Check the invariants that the module states."""
    couvreur99_invariants(search)
    count = int(search.registers[Reg.COUNT])
    assert search.arrays.ranks is not None
    live = search.arrays.ranks.live[:count]
    assert search.arrays.numbers[live].tolist() == list(range(1, count + 1))
    assert (search.arrays.numbers[: search.n_stored] > 0).sum() == count


@assert_consistent.register
def sccs_invariants(search: SCCs):
    """Check that every state entered is live or counted in a complete SCC."""
    couvreur99_invariants(search)
    every = np.arange(1, int(search.registers[Reg.COUNT]) + 1)
    live = (~search._dead(every)).sum()
    assert search.table()["states"].sum() + live == search.registers[Reg.VISITED]


@assert_consistent.register
def tarjan72_invariants(search: Tarjan72):
    """Check the invariants that the module states."""
    n_current = int(search.registers[TarjanReg.N_CURRENT])
    places = np.arange(1, n_current + 1)
    numbers = search.arrays.numbers[: search.n_stored]
    current = search.arrays.current[:n_current]
    assert numbers[current].tolist() == places.tolist()
    assert sorted(numbers[numbers > 0].tolist()) == places.tolist()
    assert (search.arrays.lowlinks[:n_current] <= places).all()
    path = search.arrays.path[: search.registers[Reg.DEPTH]]
    assert (np.diff(path) > 0).all()


@assert_consistent.register
def tela_invariants(search: Tela):
    """Check the invariants that the module states."""
    registers, arrays = search.registers, search.arrays
    level, n_current = registers[[TelaReg.LEVEL, TelaReg.N_CURRENT]].tolist()
    numbers = arrays.numbers[: search.n_stored]
    roots = arrays.roots[: registers[Reg.N_ROOTS]]
    assert (np.diff(roots) > 0).all()
    live = np.ones(n_current, dtype=np.bool_)
    end = 0
    for fields in arrays.levels[1 : level + 1]:
        assert end <= fields[Level.BEGIN] < fields[Level.END] <= n_current
        end = int(fields[Level.END])
        if not registers[TelaReg.IS_CHOOSING] or end < n_current:
            live[fields[Level.BEGIN] : end] = False
    places = np.flatnonzero(live)
    if not registers[TelaReg.IS_CHOOSING]:
        assert (numbers[arrays.current[places]] == places + 1).all()


@assert_consistent.register
def shared_search_invariants(search: SharedSearch):
    """Check that no row is stored twice, and that each has a slot."""
    slots = search.store.slots
    mask = np.uint32((1 << int(search.registers[Reg.ID_BITS])) - 1)
    ids = np.sort((slots[slots != 0] & mask).astype(np.int64) - 1)
    assert ids.tolist() == np.flatnonzero(search._is_stored()).tolist()
    assert len(np.unique(search.store.rows[ids], axis=0)) == len(ids)


@assert_consistent.register
def cndfs_invariants(search: CNDFS):
    """Check the invariants that the module states."""
    shared_search_invariants(search)
    n = search.n_stored
    known = search.arrays.known[:n]
    assert (known[known & BLUE != 0] & MET != 0).all()
    assert (known[known & RED != 0] & MET != 0).all()
    for arrays in search._of_workers:
        entries = arrays.stack[: arrays.own[Reg.TOP]].astype(np.int64)
        frames = (-1 - entries[entries < 0]) >> 1
        colours = unpacked_colours(arrays.colours, n)
        cyan = np.flatnonzero(colours == Colour.CYAN)
        assert sorted(frames.tolist()) == cyan.tolist()


@assert_consistent.register
def ufscc_invariants(search: UFSCC):
    """Check the invariants that the module states."""
    shared_search_invariants(search)
    roots = complete(search.roots())
    assert_lists_are_whole(
        search._words(0), search._words(1), roots, search._of_round()
    )


@assert_consistent.register
def net_walks_invariants(search: NetWalks):
    """Check the invariants that the module states, and that tables agree."""
    frame, walk = search.frame, search.walk
    steps = int(walk.at[At.STEPS])
    if not walk.at[At.WALKS]:
        return
    marking = frame.initial.copy()
    values = frame.values.copy()
    for action in walk.actions[:steps].tolist():
        if action >= 0:
            own = slice(frame.change_first[action], frame.change_first[action + 1])
            marking[frame.change_place[own]] += frame.change[own]
            own = slice(frame.row_first[action], frame.row_first[action + 1])
            values[frame.row[own]] += frame.row_change[own]
    assert walk.marking.tolist() == marking.tolist()
    assert walk.values.tolist() == values.tolist()
    users = np.repeat(np.arange(len(marking)), np.diff(frame.user_first))
    lacks = frame.user[marking[users] < frame.user_needs]
    lacking = np.bincount(lacks, minlength=len(walk.lacking))
    assert walk.lacking.tolist() == lacking.tolist()
    enabled = walk.enabled[: walk.at[At.N_ENABLED]]
    assert sorted(enabled.tolist()) == np.flatnonzero(lacking == 0).tolist()
    holds = np.r_[values <= 0, walk.held[len(values) :] >= frame.least[len(values) :]]
    nodes = np.repeat(np.arange(len(holds)), np.diff(frame.parent_first))
    held = np.bincount(frame.parent[holds[nodes]], minlength=len(holds))
    assert walk.held.tolist() == held.tolist()


@assert_consistent.register
def visited_sets_invariants(search: VisitedSets):
    """Check the invariants that the module states; for tests."""
    nodes, rows, n = search.arrays, search.arrays.store.rows, search.n_stored
    groups = [(0, np.arange(n))] if n else []  # nodes, and what has to be below
    for node, below in groups:  # grows while it is read
        union = np.bitwise_or.reduce(rows[below], axis=0)
        assert np.array_equal(union, nodes.union[node])
        bit, child = int(nodes.bit[node]), int(nodes.child[node])
        if bit >= 0:
            side = rows[below, bit // 64] >> np.uint64(bit % 64)
            groups += [(child + k, below[side & np.uint64(1) == k]) for k in range(2)]
            continue
        known = []
        while child >= 0:
            known.append(child)
            child = int(nodes.next_row[child])
        assert sorted(known) == below.tolist()
        assert len(known) == nodes.size[node] <= LEAF_ROWS


@assert_consistent.register
def powerset_search_invariants(search: PowersetSearch):
    """Check the invariants of `inclusion_checks`."""
    arrays, registers = search.arrays, search.registers
    count, n_roots = int(registers[Reg.COUNT]), int(registers[Reg.N_ROOTS])
    active = arrays.active[:count]
    assert np.array_equal(arrays.numbers[active], np.arange(1, count + 1))
    assert np.count_nonzero(arrays.numbers[: search.n_stored] > 0) == count
    roots = arrays.roots[:n_roots]
    assert (np.diff(roots) > 0).all()
    assert n_roots == 0 or (roots[0] == 1 and roots[-1] <= count)
    listed = []
    for first in arrays.chains.heads.tolist():
        while first:
            listed.append(first - 1)
            first = int(arrays.chains.following[first - 1])
    assert len(set(listed)) == len(listed)
    if registers[Reg.KIND] != TEC:
        assert set(active.tolist()) <= set(listed)
    assert (arrays.numbers[listed] != 0).all()


def assert_lists_are_whole(
    parent: np.ndarray, following: np.ndarray, roots: np.ndarray, visited: np.ndarray
) -> None:
    """Check sets and lists; no worker is at work.

    `parent` and `following` uint32[n] are words of nodes, `roots` int64[n] those of the
    sets of all states, `visited` bool[n] says which are to be looked at.
    """
    n = len(parent)
    assert not (parent & LOCK)[visited].any()
    assert not (following & LOCK)[visited].any()
    is_tombstone = (following & HIGH) != 0
    dead = (parent & HIGH != 0)[roots]
    places = (following & LOW).astype(np.int64)
    behind = np.where(places == 0, np.arange(n), places - 1)
    assert (roots[behind] == roots)[visited].all()  # lists stay in their sets
    live = visited & ~is_tombstone
    assert not (live & dead).any()
    for state in np.flatnonzero(live).tolist():
        on_list = cycle_from(behind, state)
        members = set(np.flatnonzero(live & (roots == roots[state])).tolist())
        assert members <= on_list
    has_live = np.zeros(n, dtype=np.bool_)
    has_live[roots[live]] = True
    assert (has_live | dead | ~visited)[roots[visited]].all()


def cycle_from(behind: np.ndarray, state: int) -> set[int]:
    """Return the states on a cyclic list; it comes back to where it began."""
    seen: list[int] = []
    place = state
    while place not in seen:
        seen.append(place)
        place = int(behind[place])
    assert place == state
    return set(seen)
