"""Certificates for networks: their tables, and the check of all states."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.certificates.checking.automaton import Automaton
    from ltlpipe.certificates.checking.document import Clause
    from ltlpipe.certificates.checking.automaton import Fairness
    from ltlpipe.certificates.checking.kernels import Net, Proof, Room
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network

CHECKING = "checking the certificate"
_BUDGET = 1 << 13  # states of one call of the kernel
_STATE_WORK = 2.0  # microseconds
_BATCH = 256
_MOST_RANK = (1 << 31) - 1


class Layout(NamedTuple):
    """Where the local states of a composed state lie, and the automaton's behind them.

    Arrays have an entry for each of the n components, and one more.
    """

    n_values: list[int]
    word: np.ndarray  # int64[n + 1]
    shift: np.ndarray  # uint64[n + 1]
    mask: np.ndarray  # uint64[n + 1]

    @property
    def n_words(self) -> int:
        """Words of a row."""
        return int(self.word[-1]) + 1


def layout_of(n_values: list[int]) -> Layout:
    """Lay out fields one after the other; none straddles two words."""
    word, shift, mask = [], [], []
    at, used = 0, 0
    for count in n_values:
        width = max((count - 1).bit_length(), 1)
        if used + width > 64:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << width) - 1)
        used += width
    return Layout(
        n_values,
        np.array(word, dtype=np.int64),
        np.array(shift, dtype=np.uint64),
        np.array(mask, dtype=np.uint64),
    )


class NetworkProof:
    """The states of a certificate for a network, as they are read and then checked.

    Parameters
    ----------
    network : Network
        As it has been read.
    automaton : Automaton
        Whose propositions are actions of the network, or never hold.
    clauses : sequence of Clause
        What the ranks are for.
    fairness : Fairness
        The marks that it adds.
    n_states : int
        How many states there are to be.
    stutters : bool
        Whether a state without steps repeats itself.
    """

    def __init__(
        self,
        network: Network,
        automaton: Automaton,
        clauses: Sequence[Clause],
        fairness: Fairness,
        n_states: int,
        *,
        stutters: bool,
    ) -> None:
        self._network, self._automaton = network, automaton
        self._clauses, self._fairness = clauses, fairness
        self._stutters = stutters
        sizes = [c.n_states for c in network.components]
        self.layout = layout_of([*sizes, len(automaton.edges)])
        self._n_states = n_states
        self.n_entries = len(sizes)
        slots = 1 << max(n_states + n_states // 2, 1).bit_length()
        self.memory_bytes = n_states * (8 * self.layout.n_words + 4 * len(clauses))
        self.memory_bytes += 4 * slots
        self._n_slots = slots
        self._filled = 0
        self.transitions = 0

    def begin(self) -> None:
        """Make the arrays."""
        n = self._n_states
        self._rows = np.zeros((n, self.layout.n_words), dtype=np.uint64)
        self._slots = np.zeros(self._n_slots, dtype=np.int32)
        self._ranks = np.zeros((n, len(self._clauses)), dtype=np.int32)

    def add(self, columns: list[np.ndarray]) -> Job[None]:
        """Take in a block of states.

        Raises
        ------
        RefusedError
            A value is none of its component, or a state stands twice.
        """
        from ltlpipe.certificates.checking.kernels import enter_rows
        from ltlpipe.runtime.kernels.compilation import ready

        layout, n = self.layout, len(columns[0])
        first = self._filled
        rows = self._rows[first : first + n]
        for i, count in enumerate(layout.n_values):
            column = columns[i]
            if column.min() < 0 or column.max() >= count:
                raise RefusedError(f"{self._entry(i)} has no state as high as is said")
            rows[:, layout.word[i]] |= column.astype(np.uint64) << layout.shift[i]
        for c in range(len(self._clauses)):
            column = columns[len(layout.n_values) + c]
            if column.min() < 0 or column.max() > _MOST_RANK:
                raise RefusedError("a rank is too large")
            self._ranks[first : first + n, c] = column
        self._filled = first + n
        arguments = self._rows, self._slots, first, first + n
        yield from ready(enter_rows, *arguments)
        twice = enter_rows(*arguments)
        if twice >= 0:
            raise RefusedError(
                f"a state stands twice: {self._shown(self._rows[twice])}"
            )

    def check(self) -> Job[None]:
        """Check that the initial state is there, and all steps of all states.

        Raises
        ------
        RefusedError
            Something does not prove what is claimed.
        """
        from ltlpipe.certificates.checking.kernels import (
            At,
            Fault,
            Proof,
            check_step,
            look_up,
        )
        from ltlpipe.runtime.kernels.compilation import ready

        layout = self.layout
        initial = [c.initial for c in self._network.components]
        wanted = np.zeros((1, layout.n_words), dtype=np.uint64)
        for i, value in enumerate([*initial, self._automaton.initial]):
            wanted[0, layout.word[i]] |= np.uint64(value) << layout.shift[i]
        yield from ready(look_up, self._rows, self._slots, wanted)
        if look_up(self._rows, self._slots, wanted) < 0:
            raise RefusedError("the initial state is not in the certificate")
        net = yield from tables_of(
            self._network,
            self._automaton,
            layout,
            self._fairness,
            stutters=self._stutters,
        )
        lacks = [1 << mark for clause in self._clauses for mark in clause.lacks]
        ends = np.cumsum([0, *(len(clause.lacks) for clause in self._clauses)])
        proof = Proof(
            rows=self._rows,
            slots=self._slots,
            ranks=self._ranks,
            fin=np.array([c.fin for c in self._clauses], dtype=np.uint32),
            lacks_first=ends.astype(np.int64),
            lacks=np.array(lacks, dtype=np.uint32),
        )
        room = _room(net, layout)
        at = np.zeros(len(At), dtype=np.int64)
        yield from ready(check_step, net, proof, room, at, _BUDGET)
        while check_step(net, proof, room, at, _BUDGET):
            yield Progress(
                CHECKING,
                work=_BUDGET * _STATE_WORK,
                memory_bytes=self.memory_bytes,
                states=int(at[At.STATE]),
            )
        if at[At.FAULT] != Fault.NONE:
            raise RefusedError(self._fault(proof, room, at))
        self.transitions = int(at[At.TRANSITIONS])

    def _fault(self, proof: Proof, room: Room, at: np.ndarray) -> str:
        """Return what is wrong with a step, for people."""
        from ltlpipe.certificates.checking.kernels import At, Fault

        number = int(at[At.ACTION])
        name = "its repetition"
        if number >= 0:
            name = f"the step {self._network.actions[number].name!r}"
        src = self._shown(proof.rows[at[At.SRC]])
        dst = self._shown(room.batch[at[At.ENTRY]])
        said = f"of state {src} {name} leads to {dst}"
        if at[At.FAULT] == Fault.OPEN:
            return f"{said}, which is not in the certificate"
        clause = int(at[At.CLAUSE])
        here, there = proof.ranks[[at[At.SRC], at[At.DST]], clause].tolist()
        return wrong_rank(said, self._clauses[clause], clause, here, there)

    def _entry(self, i: int) -> str:
        known = i < len(self._network.components)
        return f"component {i + 1}" if known else "the automaton"

    def _shown(self, row: np.ndarray) -> str:
        layout = self.layout
        values = (row[layout.word] >> layout.shift) & layout.mask
        *local, state = values.tolist()
        return f"({', '.join(map(str, local))}; {state})"


def wrong_rank(said: str, clause: Clause, number: int, here: int, there: int) -> str:
    """Return what to say of a step between two ranks that do not fit."""
    if there == here and clause.lacks:
        mark = clause.lacks[here % len(clause.lacks)]
        why = f"with mark {mark}, which rank {here} lacks"
    elif there == here:
        why = f"and rank {here} of clause {number + 1} does not fall"
    else:
        why = f"and rank {here} of clause {number + 1} rises to {there}"
    return f"{said}, {why}"


def _room(net: Net, layout: Layout) -> Room:
    from ltlpipe.certificates.checking.kernels import Room

    n = len(net.offset)
    sizes = np.diff(net.group_first)
    bounds = [*net.offset.tolist(), len(sizes)]
    most = sum(int(sizes[first:end].max(initial=0)) for first, end in pairwise(bounds))
    widest = int(np.diff(net.part_first).max(initial=1))
    return Room(
        local=np.zeros(n + 1, dtype=np.int64),
        found=np.zeros((most + 1) * widest, dtype=np.int64),
        choice=np.zeros(n, dtype=np.int64),
        row=np.zeros(layout.n_words, dtype=np.uint64),
        batch=np.zeros((_BATCH, layout.n_words), dtype=np.uint64),
        hashes=np.zeros(_BATCH, dtype=np.uint64),
        src=np.zeros(_BATCH, dtype=np.int64),
        marks=np.zeros(_BATCH, dtype=np.uint32),
        actions=np.zeros(_BATCH, dtype=np.int64),
    )


def tables_of(
    network: Network,
    automaton: Automaton,
    layout: Layout,
    fairness: Fairness,
    *,
    stutters: bool,
) -> Job[Net]:
    """Return the tables of a network and an automaton for the kernels."""
    from ltlpipe.certificates.checking.kernels import Net, Number

    actions, components = network.actions, network.components
    internal = {
        (a.participants[0], a.name): k for k, a in enumerate(actions) if a.internal
    }
    shared = network.action_index
    counts, numbers, targets, sizes = [], [], [], []
    for i, lts in enumerate(components):
        index = np.array(
            [internal.get((i, name), shared.get(name, -1)) for name in lts.labels],
            dtype=np.int64,
        )
        per_state, action, length, dst = _grouped(lts, index)
        counts.append(per_state)
        numbers.append(action)
        sizes.append(length)
        targets.append(dst)
        yield Progress(CHECKING, work=1 + lts.n_transitions / 10)
    named = [k for k, name in enumerate(automaton.propositions) if name in shared]
    letter = np.zeros(len(actions), dtype=np.int32)
    for letter_number, k in enumerate(named, start=1):
        letter[shared[automaton.propositions[k]]] = letter_number
    by_letter = [automaton.successors(0)]
    by_letter += [automaton.successors(1 << k) for k in named]
    edges = [
        by_letter[own][state]
        for state in range(len(automaton.edges))
        for own in range(len(by_letter))
    ]
    flat = [edge for cell in edges for edge in cell]
    acceptance = 0
    if network.has_acceptance:
        acceptance = 1 << automaton.n_marks
    shift = automaton.n_marks + network.has_acceptance
    settings = np.zeros(len(Number), dtype=np.int64)
    settings[Number.N_LETTERS] = len(by_letter)
    settings[Number.STUTTERS] = stutters
    settings[Number.ACCEPTANCE] = acceptance
    settings[Number.IDLE] = fairness.idle << shift
    parts = [a.participants for a in actions]
    return Net(
        word=layout.word,
        shift=layout.shift,
        mask=layout.mask,
        offset=_first([c.n_states for c in components])[:-1].copy(),
        group_first=_first(np.concatenate(counts)),
        group_action=np.concatenate(numbers).astype(np.int32),
        target_first=_first(np.concatenate(sizes)),
        target=np.concatenate(targets).astype(np.int32),
        part_first=_first([len(who) for who in parts]),
        part=np.array([i for who in parts for i in who], dtype=np.int32),
        letter=letter,
        enabled=_shifted(fairness.enabled, shift, len(actions)),
        taken=_shifted(fairness.taken, shift, len(actions)),
        accepting=np.concatenate([_accepting(c) for c in components]),
        edge_first=_first([len(cell) for cell in edges]),
        edge_dst=np.array([dst for dst, _ in flat], dtype=np.int32),
        edge_marks=np.array([marks for _, marks in flat], dtype=np.uint32),
        numbers=settings,
    )


def _grouped(lts: LTS, index: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a component's transitions by state and action.

    How many groups each state has; the action, and how many transitions, of each; and
    where these lead.  Transitions that stand twice are one.
    """
    action = index[lts.label] if len(lts.label) else np.zeros(0, dtype=np.int64)
    table = np.unique(np.stack([lts.src, action, lts.dst], axis=1), axis=0)
    src, action, dst = table.T
    begins = np.ones(len(src), dtype=np.bool_)
    begins[1:] = (src[1:] != src[:-1]) | (action[1:] != action[:-1])
    first = np.flatnonzero(begins)
    lengths = np.diff(np.append(first, len(src)))
    per_state = np.bincount(src[first], minlength=lts.n_states)
    return per_state, action[first], lengths, dst


def _first(counts: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return where the entries of each begin, int64[n + 1]."""
    first = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(np.asarray(counts, dtype=np.int64), out=first[1:])
    return first


def _shifted(marks: list[int], shift: int, n_actions: int) -> np.ndarray:
    return np.array([m << shift for m in marks] or [0] * n_actions, dtype=np.uint32)


def _accepting(component: LTS) -> np.ndarray:
    if component.accepting is None:
        return np.ones(component.n_states, dtype=np.uint8)
    return component.accepting.astype(np.uint8)
