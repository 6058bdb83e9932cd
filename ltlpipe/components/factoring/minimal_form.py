"""What is factored of a component: its quotient by strong bisimilarity.

Of a minimal component the exact splits are those into isomorphic copies
(docs/factoring.md, Theorem 1), which counting decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.components.progress import factoring

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS

MOST_PLAIN = 4_096
"""Transitions of a component that is refined in plain Python."""

MOST_LOOKS = 20_000
"""Looks at states in all rounds of that: about ten milliseconds."""

_PLAIN_WORK = 1.0
_FIXED = 100

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    """Find the quotient of a component; internal labels are labels like others.

    Small components are refined in plain Python: most networks have no others, and
    kernels would have to be compiled, or loaded, for what takes a millisecond.
    """
    if component.n_transitions <= MOST_PLAIN:
        found = _plain_form(component)
        yield factoring(_PLAIN_WORK * (component.n_transitions + _FIXED))
        if found is not None:
            return found
    return (yield from _compiled_form(component))


def _plain_form(component: LTS) -> MinimalForm | None:
    """Do `minimal_form` in plain Python; None if that takes too long."""
    n, n_labels = component.n_states, len(component.labels)
    src, label, dst = _sorted(n, n_labels, component)
    first, ends = np.searchsorted(src, np.arange(n + 1)).tolist(), dst.tolist()
    reached = [component.initial]
    number = {component.initial: 0}
    for state in reached:  # grows while it is read
        for target in ends[first[state] : first[state + 1]]:
            if target not in number:
                number[target] = len(reached)
                reached.append(target)
    place = np.full(n, -1, dtype=np.int64)
    place[reached] = np.arange(len(reached))
    inside = place[src] >= 0
    src, label, dst = place[src[inside]], label[inside], place[dst[inside]]
    flags = None if component.accepting is None else component.accepting[reached]
    classes = _plain_classes(len(reached), n_labels, (src, label, dst), flags)
    if classes is None:
        return None
    count, block = classes
    columns = _unique(count, n_labels, block[src], label, block[dst])
    accepting = None
    if flags is not None:
        accepting = np.zeros(count, dtype=np.bool_)
        accepting[block[flags]] = True
    state_of = np.append(block, -1)[place]
    return MinimalForm(count, n_labels, *columns, accepting, state_of)


def _plain_classes(
    n: int, n_labels: int, columns: Columns, flags: np.ndarray | None
) -> tuple[int, np.ndarray] | None:
    """Refine by signatures, all states in each round: the classes, and whose.

    A signature is the class so far, and the labels with the classes that they lead to.
    """
    src, label, dst = columns
    block = np.zeros(n, dtype=np.int64) if flags is None else flags.astype(np.int64)
    count, span = len(np.unique(block)), n * max(n_labels, 1)
    for _ in range(max(2, MOST_LOOKS // n)):
        keys = np.unique(src * span + label * n + block[dst])
        bounds = np.searchsorted(keys, np.arange(n + 1) * span) * keys.itemsize
        offers = (keys % span).tobytes()
        known: dict[tuple[int, bytes], int] = {}
        ends = bounds.tolist()
        block = np.array(
            [
                known.setdefault((own, offers[begin:end]), len(known))
                for own, begin, end in zip(
                    block.tolist(), ends[:-1], ends[1:], strict=True
                )
            ],
            dtype=np.int64,
        )
        if len(known) == count:
            return count, block
        count = len(known)
    return None


def _sorted(n: int, n_labels: int, component: LTS) -> Columns:
    columns = component.src, component.label, component.dst
    return _unique(n, n_labels, *(column.astype(np.int64) for column in columns))


def _unique(
    n: int, n_labels: int, src: np.ndarray, label: np.ndarray, dst: np.ndarray
) -> Columns:
    """Sort transitions, each once."""
    rest, dst = np.divmod(np.unique((src * n_labels + label) * n + dst), n)
    src, label = np.divmod(rest, max(n_labels, 1))
    return src, label, dst


def _compiled_form(component: LTS) -> Job[MinimalForm]:
    """Do `minimal_form` with the kernels of component reduction."""
    from ltlpipe.components.equivalence.refinement import classes
    from ltlpipe.components.equivalence.transition_arrays import (
        Steps,
        by_least_member,
        numbered,
        sort_steps,
    )

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
