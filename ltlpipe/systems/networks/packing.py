"""A network as integer tables, and its successor function.

A composed state is a *row* of 64-bit words; each component owns a bit field
of one word.  A *move* is one way in which the participants of an action can
take it together: three words (mask, required value, xor) per word of the
system, so that testing and taking a move are three operations whatever the
number of participants.  Moves are listed under the local state of one
participant, the owner.  An action with more than `MAX_MOVES` joint moves
(many participants with many choices each) is *wide*: its successors are
multiplied out when a state is expanded.

Every kind of system offers a successor function of one signature::

    expand(ints, words, row, select, out_rows, out_letters, out_actions,
           out_marks) -> count

ints, words : int64[...], uint64[...]
    The tables of the system; their layout is the system's own affair.
row : uint64[n_words]
    The state.  Bits that the system does not own (the property's) are copied
    to every successor.
select : int
    ``Select.ALL`` for all successors; ``Select.STUTTER`` for the one step in
    which the state repeats itself, with action -1.
out_rows, out_letters, out_actions, out_marks
    uint64[k, n_words], int32[k], int32[k], uint32[k] with k >= the system's
    `max_successors`: row, letter, action and acceptance marks of each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import MAX_MARKS
from ltlpipe.automata.letters import OTHER
from ltlpipe.runtime.arrays import distinct
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.objects import Beside
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import Field, allocation, row_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.automata.conditions import Condition
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network

PACKING = "packing"
"""Phase of jobs that lay out tables."""

_PER_TRANSITION = 0.5  # microseconds, roughly, of all that is done to one
_FEW = 64  # states that are numbered as they are, whatever the transitions
_reached: Beside[list[np.ndarray]] = Beside(list)
"""For each component the states that it reaches, once they are known."""

_NARROW = 64  # states that wait; more are looked at together

MAX_SUCCESSORS = 1 << 22
"""Successors of one state that a search can take in."""


class Entry(IntEnum):
    """What the table of static ample sets has for each action of a model."""

    KIND = 0  # LEADS, BLOCKED or both
    FIRST = 1  # the place that takes part in it
    SECOND = 2  # the other one, or the same


LEADS = 1
"""Where this action is enabled, the actions of its places are a group."""

BLOCKED = 2
"""A group with this action is no ample set where the action is enabled."""


def _not_widened() -> Job[None]:
    yield from ()


class Interim(NamedTuple):
    """What takes the place of successor functions until they are compiled.

    For tables of a system its functions do the same as the system's own, if slower.
    """

    expand: Callable[..., int]
    expand_orbits: Callable[..., int]
    seconds: float  # of searching by them before the system's own are compiled


@dataclass(frozen=True, kw_only=True)
class PackedSystem:
    """What a search sees of a system, whatever its kind.

    Parameters
    ----------
    expand : function
        The successor function, not yet compiled (see `expand_pointer`).
    ints, words : int64[...], uint64[...]
        Its tables.
    initial : uint64[n_words]
        The initial row; the bits of `extra` are 0.
    extra : Field
        The field that was reserved for the caller.
    max_successors : int
        No state has more.
    n_marks : int
        Acceptance marks of the system's own.
    condition : Condition, optional
        What a run has to satisfy of them; None is each infinitely often.
    state_based : bool
        Whether all steps of a state carry the same of them.
    overflowed : callable
        Returns the number of a variable that got a value for which its place is too
        narrow, so that successors are missing; None if there was none.
    expand_orbits : function, optional
        The successor function of representatives
        (`ltlpipe.systems.networks.packing_kernels`).
    interim : Interim, optional
        What takes the place of the successor function until it is compiled.
    widened : callable
        The job that packs the system again with wider places where they were too
        narrow; it returns None if there are no wider ones.
    fields : tuple of Field
        Where each component, or variable, lies.
    local_states : tuple of int32[k]
        For each component of a network the states of the LTS that the field's values
        mean; elsewhere empty.
    dtype : type
        That of unpacked states.
    """

    expand: Callable[..., int]
    ints: np.ndarray
    words: np.ndarray
    initial: np.ndarray
    extra: Field
    max_successors: int
    n_marks: int = 0
    condition: Condition | None = None
    state_based: bool = True
    overflowed: Callable[[], int | None] = lambda: None
    expand_orbits: Callable[..., int] | None = None
    interim: Interim | None = None
    widened: Callable[[], Job[PackedSystem | None]] = _not_widened
    fields: tuple[Field, ...] = ()
    local_states: tuple[np.ndarray, ...] = ()
    dtype: type = np.int32

    def ready(self) -> Job[None]:
        """Have the successor function, or what takes its place, compiled or loaded."""
        from ltlpipe.runtime.kernels.compilation import ready_expand_pointer

        interim = self._interim_now
        return ready_expand_pointer(self.expand if interim is None else interim.expand)

    def pointer(self) -> Any:
        """Return the successor function in the form in which searches accept it.

        If it has to be compiled first, its interim takes its place until that is worth
        it, and done.
        """
        from ltlpipe.runtime.kernels.jit import expand_pointer, interim_pointer

        interim = self._interim_now
        if interim is None:
            return expand_pointer(self.expand)
        return interim_pointer(interim.expand, self.expand, interim.seconds)

    @property
    def _interim_now(self) -> Interim | None:
        """What takes the place of a function that has to be compiled first."""
        from ltlpipe.runtime.kernels.compilation import has_own_code

        interim = self.interim
        return None if interim is None or has_own_code(self.expand) else interim

    @property
    def bits(self) -> int:
        """The bits of a word that fields take at most; all where none are known."""
        if not self.fields:
            return 64
        return max(field.shift + field.bits for field in (*self.fields, self.extra))

    def unpack(self, rows: np.ndarray) -> np.ndarray:
        """Return the states, [n, n_fields], of rows uint64[n, w]."""
        shape = len(rows), len(self.fields)
        states: np.ndarray = np.empty(shape, dtype=self.dtype)
        for k, field in enumerate(self.fields):
            values = field.values(rows)
            states[:, k] = self.local_states[k][values] if self.local_states else values
        return states


def pack_network(
    network: Network,
    letters: np.ndarray,
    *,
    extra_values: int = 1,
    seed: int | None = None,
    together: bool = True,
    repeated: int = OTHER,
) -> Job[PackedSystem]:
    """Lay out the tables of a network for one property.

    It has a mark for all components with accepting states, or one for each of them.

    Parameters
    ----------
    network : Network
        It is not changed.
    letters : int32[n_actions]
        The letter of each action of the network for this property.
    extra_values : int
        Values of the field that is reserved for the caller in every row.
    seed : int, optional
        Shuffles the order in which successors are generated; None keeps the
        order of the components and of their transitions.
    together : bool
        Whether components that accept have to do so in the same state, which is one
        mark; else each has a mark of its own.
    repeated : int
        The letter of the step in which a state repeats itself.

    Raises
    ------
    UnsupportedError
        One state can have more than `MAX_SUCCESSORS` successors, or too many components
        accept, each for itself.

    Notes
    -----
    Local states that their own component cannot reach, whatever the others do,
    get no value; the alphabets are those of the whole components.
    """
    # Imported here: reading systems and simulation need no Numba.
    from ltlpipe.systems.networks.packing_kernels import (
        Header,
        expand_network,
        expand_network_orbits,
    )
    from ltlpipe.systems.networks.packing_tables import TableBuilder

    rng = None if seed is None else np.random.default_rng(seed)
    ticks = Ticks(PACKING, _PER_TRANSITION)
    local = []
    for component in network.components:
        local.append((yield from reachable_states(component, ticks)))
    *fields, extra = yield from allocation([*map(len, local), extra_values], ticks)
    n_words = 1 + max(f.word for f in (*fields, extra))
    groups = network.accepting_groups(together=together)
    if len(groups) > MAX_MARKS:
        raise UnsupportedError(
            f"--network-acceptance=each: {len(groups)} components accept, and the "
            f"limit of a search state by state is {MAX_MARKS}"
        )
    builder = TableBuilder(network, fields, local, n_words, groups)
    yield from builder.collect(ticks)
    bound = builder.bound
    if bound > MAX_SUCCESSORS:
        action, count = builder.widest()
        raise UnsupportedError(
            f"one state can have up to {bound} successors, "
            f"{count} of them by action {action.name!r}"
            f" of {len(action.participants)} components; the limit is "
            f"{MAX_SUCCESSORS}: make the components less nondeterministic"
        )
    ints, words = yield from builder.build(letters, rng, ticks)
    ints[Header.REPEATED] = repeated
    pairs = zip(network.components, local, strict=True)
    initial = [int(np.searchsorted(states, lts.initial)) for lts, states in pairs]
    return PackedSystem(
        expand=expand_network,
        expand_orbits=expand_network_orbits,
        ints=ints,
        words=words,
        initial=row_of(fields, initial, n_words),
        extra=extra,
        max_successors=max(bound, 1),
        n_marks=len(groups),
        fields=tuple(fields),
        local_states=tuple(local),
    )


def relabelled(packed: PackedSystem, letters: np.ndarray) -> PackedSystem:
    """Return a packed network for another property, which has these letters.

    All but the letters is shared; `extra` has to be wide enough for that property.
    """
    from ltlpipe.systems.networks.packing_kernels import Header

    ints = packed.ints.copy()
    first = int(ints[Header.MOVES])
    moves = ints[first : first + 2 * len(packed.words) // (3 * len(packed.initial))]
    moves[1::2] = letters[moves[::2]]
    first = int(ints[Header.WIDE])
    for place in ints[first : first + int(ints[Header.N_WIDE])].tolist():
        ints[place + 1] = letters[ints[place]]
    return replace(packed, ints=ints)


def reachable_states(component: LTS, ticks: Ticks) -> Job[np.ndarray]:
    """Return the states that the component reaches by its own transitions.

    int32[k], ascending; the component remembers them.  It may have far more states than
    transitions.
    """
    known = _reached.of(component)
    if known:
        return known[0]
    m = component.n_transitions
    src, dst, start = component.src, component.dst, component.initial
    if component.n_states <= 4 * m + _FEW:
        named = np.arange(component.n_states)
    else:
        named = distinct(np.concatenate([src, dst, [start]]))
        src, dst = np.searchsorted(named, src), np.searchsorted(named, dst)
        start = int(np.searchsorted(named, start))
    ordered = dst[np.argsort(src, kind="stable")]
    counts = np.bincount(src, minlength=len(named))
    bounds = np.concatenate([[0], np.cumsum(counts)])
    begins, targets = bounds.data, ordered.data
    yield from ticks.worked(m)
    seen = bytearray(len(named))
    is_seen = np.frombuffer(seen, dtype=np.bool_)  # the same memory
    waiting = [start]
    seen[waiting[0]] = True
    while waiting:
        if len(waiting) > _NARROW:  # one after the other takes longer
            level = np.array(waiting)
            n = counts[level]
            ends = np.cumsum(n)
            found = ordered[
                np.repeat(bounds[level] - ends + n, n) + np.arange(ends[-1])
            ]
            found = distinct(found[~is_seen[found]])
            is_seen[found] = True
            waiting = found.tolist()
            yield from ticks.worked(len(level) / 4)
            continue
        state = waiting.pop()
        for target in targets[begins[state] : begins[state + 1]]:
            if not seen[target]:
                seen[target] = True
                waiting.append(target)
        if ticks.over():
            yield ticks.progress
    known.append(named[is_seen].astype(np.int32))
    return known[0]
