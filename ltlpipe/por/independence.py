"""The dependency relation R_q: the tables of ample sets for a packed network.

Source: S. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata, and
Reduction", CAV 2020, Sec. 4.2: the relation R_q = {(i, j) | E_i and A_j meet}, where
E_i are the labels that component i enables in its local state and A_j is the
alphabet of component j.  It depends on one local state only, so it is a set of
components per local state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.networks.packing import PackedNetwork

_WORD_BITS = 64


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


def relation_of(network: Network, packed: PackedNetwork) -> Relation:
    """Build the relation of a network in the layout in which it is packed."""
    n = len(network.components)
    n_words = (n + _WORD_BITS - 1) // _WORD_BITS
    participants = np.zeros((len(network.actions), n_words), dtype=np.uint64)
    for number, action in enumerate(network.actions):
        for who in action.participants:
            bit = np.uint64(1) << np.uint64(who % _WORD_BITS)
            participants[number, who // _WORD_BITS] |= bit
    index = {
        (action.name, who): number
        for number, action in enumerate(network.actions)
        for who in action.participants
    }
    rows = []
    components = np.zeros((n, 4), dtype=np.int64)
    first = 0
    for who, (component, field, names) in enumerate(
        zip(network.components, packed.fields, packed.local_states, strict=True)
    ):
        numbers = [index[label, who] for label in component.labels]
        rows.append(_related(component, names, participants[numbers]))
        components[who] = (field.word, field.shift, field.mask, first)
        first += len(names)
    return Relation(components, np.concatenate(rows), participants)


def _related(component: LTS, names: np.ndarray, by_label: np.ndarray) -> np.ndarray:
    """Return uint64[k, b]: per local state the union over its labels.

    `names` int32[k] are the states that the values of the field mean, ascending;
    `by_label` uint64[n_labels, b].
    """
    related = np.zeros((len(names), by_label.shape[1]), dtype=np.uint64)
    value = np.searchsorted(names, component.src)
    known = value < len(names)
    known[known] = names[value[known]] == component.src[known]
    np.bitwise_or.at(related, value[known], by_label[component.label[known]])
    return related
