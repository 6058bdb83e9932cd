"""Fairness as marks on the steps of a system.

A set of actions is *enabled* in a state if some action of it is, and *taken* by a step
with one of its actions.  A run is weakly fair to it if it does not happen that from
some point on the set is enabled in every state and never taken; strongly fair if it
does not happen that it is enabled again and again and from some point on never taken.

Weak fairness is one mark per set, on the steps that take it and on all that leave a
state in which it is not enabled: each has to come infinitely often.  Strong fairness is
two: one on the steps that leave a state in which it is enabled, one on those that take
it; each set asks for ``Fin(enabled) | Inf(taken)``.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 4.3, which has livelocks
without fairness; the two kinds of fairness are the usual ones (C. Baier and J.-P.
Katoen, "Principles of Model Checking", MIT Press 2008, Def. 3.46).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.automata.conditions import conjunction, fin, generalised_buchi, inf

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.automata.conditions import Condition

WEAK, STRONG = "weak", "strong"


class Fairness(NamedTuple):
    """The marks of fairness, from 0 on; sets of them are bits.

    A step that leaves a state in which no set is enabled, and takes none, has the marks
    `idle`.
    """

    n_marks: int
    condition: Condition  # what a fair run satisfies
    idle: int
    enabled: np.ndarray  # uint32[n_actions]: change where the action is enabled
    taken: np.ndarray  # uint32[n_actions]: those that a step with it has besides


def fairness_to(
    sets: Sequence[Collection[int]], n_actions: int, *, strong: bool
) -> Fairness:
    """Return the marks that say whether a run is fair to sets of actions.

    The actions are those of a network, which has `n_actions`; `strong` is strong
    fairness, else weak.
    """
    # Never empty: that says that there is no fairness.
    enabled = np.zeros(max(n_actions, 1), dtype=np.uint32)
    taken = np.zeros(max(n_actions, 1), dtype=np.uint32)
    n_marks = 2 * len(sets) if strong else len(sets)
    for k, actions in enumerate(sets):
        marks = (1 << 2 * k, 1 << 2 * k + 1) if strong else (1 << k, 1 << k)
        for action in actions:
            # What is beyond 32 marks is refused when the product is made.
            enabled[action] |= np.uint32(marks[0] & 0xFFFFFFFF)
            taken[action] |= np.uint32(marks[1] & 0xFFFFFFFF)
    if strong:
        pairs = range(len(sets))
        condition = conjunction(fin(2 * k) | inf(2 * k + 1) for k in pairs)
        return Fairness(n_marks, condition, 0, enabled, taken)
    idle = (1 << n_marks) - 1
    return Fairness(n_marks, generalised_buchi(n_marks), idle, enabled, taken)
