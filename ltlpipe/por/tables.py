"""The tables of ample sets for a packed network, found once.

The dependency relation R_q = {(i, j) | E_i and A_j meet}, where E_i are the labels that
component i enables in its local state and A_j is the alphabet of component j
(`ltlpipe.por.component_sets`).  It depends on one local state only, so it is a set of
components per local state.

The enabling relation: for each local state of each component the actions that it
enables there, which of them can change it, and which others they lead to: all that a
stubborn set of actions asks for (`ltlpipe.por.stubborn_sets`).

Sources: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2; A. Valmari, "Stubborn Sets for Reduced State Space
Generation", Advances in Petri Nets 1990, LNCS 483, pp. 491-515.

Cost: of the first a bit per local state and component; of the second one per local
state and label of the component, twice, and as many bits again for each pair of a local
state and a label that it enables.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.kernels.compilation import ready
from ltlpipe.runtime.kernels.jit import njit
from ltlpipe.systems.networks.packing_tables import transitions_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.networks.packing import PackedSystem

_WORD_BITS = 64
MAX_WORK = 1 << 26
"""Words that are looked at for what leads where, some 30 ms; beyond, all leads."""


@dataclass(frozen=True)
class Relation:
    """The relation R of every local state, as bit sets of components."""

    # int64[n, 4]: where a row holds the local state of each component (word, shift,
    # mask), and the first row of `related` that belongs to it.
    components: np.ndarray
    # uint64[r, b]: for the local state with value v of component i, in row
    # ``components[i, 3] + v``, the components with a label that it enables.
    related: np.ndarray
    participants: np.ndarray  # uint64[n_actions, b], the participants of each action


class Enabling(NamedTuple):
    """The tables, of r local states of c components with at most w words of labels.

    Component i has the rows from ``components[i, 3]`` on, one per value of its field; a
    *pair* is a row with an action that is enabled there.
    """

    components: np.ndarray  # int64[c, 4]: word, shift, mask, first row
    first: np.ndarray  # int64[r + 1], the first pair of each row
    actions: np.ndarray  # int32[pairs]
    moves: np.ndarray  # uint8[pairs], whether it can change the local state
    leads: np.ndarray  # uint64[pairs, w], labels that it can enable: see `leading`
    enables: np.ndarray  # uint64[r, w], the labels of a row's pairs
    stays: np.ndarray  # uint64[r, w], those that cannot change the local state
    first_part: np.ndarray  # int64[n_actions + 1], the first part of each action
    parts: np.ndarray  # int64[n_parts, 2]: a participant, and its label's bit


def relation_of(network: Network, packed: PackedSystem) -> Relation:
    """Build the relation of a network in the layout in which it is packed."""
    n_words = -(-len(network.components) // _WORD_BITS)
    participants = np.zeros((len(network.actions), n_words), dtype=np.uint64)
    for number, action in enumerate(network.actions):
        for who in action.participants:
            bit = np.uint64(1) << np.uint64(who % _WORD_BITS)
            participants[number, who // _WORD_BITS] |= bit
    rows = []
    for component, names, numbers in _parts(network, packed):
        related = np.zeros((len(names), n_words), dtype=np.uint64)
        src, label, _ = transitions_between(component, names)
        np.bitwise_or.at(related, src, participants[numbers[label]])
        rows.append(related)
    return Relation(_layout(packed), np.concatenate(rows), participants)


def enabling_of(network: Network, packed: PackedSystem) -> Enabling:
    """Build the tables of a network in the layout in which it is packed.

    The kernel that this needs is compiled, unless `ready_tables` has seen to it.
    """
    n_words = label_words(network)
    n_pairs, work = 0, MAX_WORK
    starts, found = [], []
    for component, names, numbers in _parts(network, packed):
        first, rows, work = _rows_of(component, names, numbers, n_words, work)
        starts.append(first[:-1] + n_pairs)
        n_pairs += int(first[-1])
        found.append(rows)
    actions, moves, leads, enables, stays = map(
        np.concatenate, zip(*found, strict=True)
    )
    parts: list[list[tuple[int, int]]] = [[] for _ in network.actions]
    for who, own in enumerate(network.label_actions):
        for bit, number in enumerate(own):
            parts[number].append((who, bit))
    return Enabling(
        components=_layout(packed),
        first=np.concatenate([*starts, [n_pairs]]).astype(np.int64),
        actions=actions,
        moves=moves,
        leads=leads,
        enables=enables,
        stays=stays,
        first_part=np.cumsum([0, *map(len, parts)], dtype=np.int64),
        parts=np.array(list(chain(*parts)), dtype=np.int64).reshape(-1, 2),
    )


def _layout(packed: PackedSystem) -> np.ndarray:
    """Return int64[n, 4]: where rows hold each component, and its first local state."""
    first = np.cumsum([0, *map(len, packed.local_states)])
    fields = [(field.word, field.shift, field.mask) for field in packed.fields]
    return np.column_stack([fields, first[:-1]]).astype(np.int64)


def _parts(
    network: Network, packed: PackedSystem
) -> Iterator[tuple[LTS, np.ndarray, np.ndarray]]:
    """Yield each component, what the values of its field mean, its labels' actions."""
    actions = network.label_actions
    parts = zip(network.components, packed.local_states, actions, strict=True)
    for component, names, numbers in parts:
        yield component, names, np.array(numbers, dtype=np.int32)


def ready_tables() -> Job[None]:
    """Have compiled what `enabling_of` needs."""
    edges = (np.zeros(0, dtype=np.int64),) * 3
    sets = (np.zeros((0, 1), dtype=np.uint64),) * 3
    yield from ready(leading, *edges, *sets, 0)


def label_words(network: Network) -> int:
    """Return the words that hold a bit for each label of any component."""
    most = max(len(component.labels) for component in network.components)
    return max(1, -(-most // _WORD_BITS))


def enabling_bytes(network: Network, packed: PackedSystem) -> int:
    """Return the bytes of the tables, before they are made."""
    rows = sum(map(len, packed.local_states))
    pairs = sum(component.n_transitions for component in network.components)
    parts = sum(len(component.labels) for component in network.components)
    n_words = label_words(network)
    return (
        8 * (rows + 1)
        + (8 * n_words + 5) * pairs
        + 16 * n_words * rows
        + 16 * parts
        + 8 * (len(network.actions) + 1)
        + 32 * len(network.components)
    )


def _rows_of(
    component: LTS, names: np.ndarray, numbers: np.ndarray, n_words: int, work: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...], int]:
    """Return the rows of a component, from 0 on, and what is left of `work`.

    That is, the first pair of each row and the end, and `actions`, `moves`, `leads`,
    `enables` and `stays` as in `Enabling`.

    Parameters
    ----------
    component : LTS
        Transitions between states without a value do not count.
    names : int32[k]
        The states that the values of the field mean, ascending.
    numbers : int32[n_labels]
        The actions of the labels.
    n_words : int
        Words of a set of labels.
    work : int
        Words that may be looked at for what leads where.
    """
    k, n_labels = len(names), len(component.labels)
    src, label, dst = transitions_between(component, names)
    pair, of_pair = np.unique(src * n_labels + label, return_inverse=True)
    row, label_of = np.divmod(pair, max(1, n_labels))
    moves = np.zeros(len(pair), dtype=np.uint8)
    np.maximum.at(moves, of_pair, (src != dst).astype(np.uint8))
    enables = np.zeros((k, n_words), dtype=np.uint64)
    stays = np.zeros((k, n_words), dtype=np.uint64)
    word, bit = (
        label_of // _WORD_BITS,
        np.uint64(1) << (label_of % _WORD_BITS).astype(np.uint64),
    )
    np.bitwise_or.at(enables, (row, word), bit)
    still = moves == 0
    np.bitwise_or.at(stays, (row[still], word[still]), bit[still])
    leads = np.full((len(pair), n_words), ~np.uint64(0), dtype=np.uint64)
    if k * len(src) * n_words <= work:  # else it is spent before the end
        order = np.argsort(src, kind="stable")
        edges = [src[order], dst[order], of_pair[order].astype(np.int64)]
        work = int(leading(*edges, enables, leads, np.zeros_like(enables), work))
    first = np.searchsorted(row, np.arange(k + 1))
    return first, (numbers[label_of], moves, leads, enables, stays), work


@njit
def leading(src, dst, pair, enables, leads, reached, work):
    """Find which labels each pair of a local state and a label can enable.

    Returns what is left of `work`, words that may be looked at; states that it does not
    suffice for keep what `leads` says of them.

    A label is among those of a pair (q, a) if a path that begins with a step by a from
    q to another state, and does not come back to q, leads to a state that enables it.

    src, dst, pair : int64[m]
        The transitions, by `src`, and the pair of each.
    enables : uint64[k, w]
    leads : uint64[n_pairs, w]
        All labels; the result.
    reached : uint64[k, w]
        A buffer.
    """
    k, n_words = enables.shape
    m = src.shape[0]
    begin = 0
    for q in range(k):
        end = begin
        while end < m and src[end] == q:
            end += 1
        for state in range(k):
            for w in range(n_words):
                reached[state, w] = enables[state, w]
        changed = True
        while changed:
            if work < m * n_words:
                return work
            work -= m * n_words
            changed = False
            for back in range(m):
                edge = m - 1 - back
                s, d = src[edge], dst[edge]
                if s == q or d == q:
                    continue
                for w in range(n_words):
                    if reached[d, w] & ~reached[s, w]:
                        reached[s, w] |= reached[d, w]
                        changed = True
        for edge in range(begin, end):
            for w in range(n_words):
                leads[pair[edge], w] = 0
        for edge in range(begin, end):
            if dst[edge] != q:
                for w in range(n_words):
                    leads[pair[edge], w] |= reached[dst[edge], w]
        begin = end
    return work
