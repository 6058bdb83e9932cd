"""What is factored of a component: its quotient by strong bisimilarity.

Of a minimal component the exact splits are those into isomorphic copies
(docs/factoring.md, Theorem 1), which counting decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.reduction.equivalence.signatures import classes
from ltlpipe.reduction.equivalence.transition_arrays import (
    Steps,
    by_least_member,
    numbered,
    sort_steps,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.lts import LTS


class MinimalForm(NamedTuple):
    """The quotient of the reachable part of a component: n states, m transitions.

    The initial state is 0; transitions are sorted, each once.
    """

    n_states: int
    n_labels: int  # of the whole alphabet
    src: np.ndarray  # int64[m]
    label: np.ndarray  # int64[m], as the component numbers labels
    dst: np.ndarray  # int64[m]
    accepting: np.ndarray | None  # bool[n]
    state_of: np.ndarray  # int64[component.n_states], -1 where not reachable

    @property
    def n_transitions(self) -> int:
        """Number of transitions."""
        return len(self.src)


def minimal_form(component: LTS) -> Job[MinimalForm]:
    """Find the quotient of a component; internal labels are labels like others."""
    n_labels = len(component.labels)
    flags = component.accepting
    marked = np.zeros(component.n_states, dtype=np.bool_) if flags is None else flags
    columns = component.src, component.label, component.dst
    # One label more than there are, so that no step is silent.
    whole = Steps(component.n_states, component.initial, n_labels + 1, *columns, marked)
    steps, number = yield from numbered(whole)
    n_states, block = yield from classes(steps)
    src, label, dst, marked = steps.src, steps.label, steps.dst, steps.marked
    if n_states < steps.n_states:
        block = by_least_member(n_states, block)
        src, label, dst = yield from sort_steps(
            n_states, n_labels + 1, block[src], label, block[dst]
        )
        marked = np.zeros(n_states, dtype=np.bool_)
        marked[block[steps.marked]] = True
        number = np.where(number >= 0, block[number], -1)
    return MinimalForm(
        n_states,
        n_labels,
        src.astype(np.int64),
        label.astype(np.int64),
        dst.astype(np.int64),
        None if flags is None else marked,
        number.astype(np.int64),
    )
