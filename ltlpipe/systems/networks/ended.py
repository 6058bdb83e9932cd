"""Networks whose finite runs count: what happens where a run ends.

A run ends in a deadlock, or, if components accept, in a state in which all of them do:
then it may go on, too.  From such a state all components take the action `END` to a
state of their own, in which they stay with it for ever.  A deadlock repeats itself with
the same letter (`ltlpipe.question.network`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

END = "<end>"
"""The action of the end; no other action is called so."""


def ended(network: Network) -> Network:
    """Return a network of which runs that end go on with `END`.

    Components, states and actions keep their numbers; nothing accepts.

    Raises
    ------
    UnsupportedError
        An action is called `END`.
    """
    if END in network.action_index:
        raise UnsupportedError(f"--semantics=finite: an action is called {END!r}")
    if not network.has_acceptance:
        return network
    return Network(list(map(_ended, network.components)), network.name)


def numbers_before(network: Network) -> np.ndarray:
    """Return the actions of `network` that those of `ended` of it are, by number.

    int32[n + 1]; -1 is the end, and what repeats a state, whose number is -1.
    """
    number = {action: k for k, action in enumerate(network.actions)}
    known = [number.get(action, -1) for action in ended(network).actions]
    return np.array([*known, -1], dtype=np.int32)


def _ended(lts: LTS) -> LTS:
    """Return a component with a last state, to which accepting ones lead."""
    last, label = lts.n_states, len(lts.labels)
    final = np.arange(last) if lts.accepting is None else np.flatnonzero(lts.accepting)
    src = np.append(final, last).astype(np.int32)
    return replace(
        lts,
        n_states=last + 1,
        labels=(*lts.labels, END),
        src=np.concatenate([lts.src, src]),
        label=np.concatenate([lts.label, np.full(len(src), label, dtype=np.int32)]),
        dst=np.concatenate([lts.dst, np.full(len(src), last, dtype=np.int32)]),
        accepting=None,
        state_names=None if lts.state_names is None else (*lts.state_names, END),
    )
