"""The block normal form: of hidden steps only whether there are some counts.

A *block* is a maximal sequence of hidden steps between two visible ones, or behind the
last one.  The block normal form of a component is deterministic and has one hidden step
for each block that is finite, and hidden steps for ever where the component can run so
(docs/erasable.md has the definition and what it is good for).

It is had by the means that determinise with respect to visible labels.  Beside each
state s there is s', where a block has begun, and the first hidden step of a block
becomes a visible one with a label of its own, which leads from s to the s' that
follow.  Hidden steps from there on are silent.  So a word of this LTS has the label
once for each block, and its divergences are those of the component in which the last
block goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.equivalence.transition_arrays import Steps, breadth_first
from ltlpipe.components.progress import ENTRY_WORK, reducing

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job


def with_blocks(steps: Steps) -> Job[Steps]:
    """Return steps in which blocks have a label: the one behind the visible labels.

    Of n states of `steps`, which carry no marks, s + n is s where a block has begun.
    The result is what can be reached, numbered anew.
    """
    n, block = steps.n_states, steps.n_labels
    silent = steps.label == block
    src, label, dst = steps.src, steps.label, steps.dst
    progress = reducing(len(src) * ENTRY_WORK, 2 * steps.memory_bytes)
    yield progress
    begun = np.where(silent, dst + n, dst)
    doubled = Steps(
        2 * n,
        steps.initial,
        block + 1,
        np.concatenate([src, src + n]).astype(np.int32),
        np.concatenate([label, label + silent]).astype(np.int32),
        np.concatenate([begun, begun]).astype(np.int32),
        np.zeros(2 * n, dtype=np.bool_),
    )
    yield progress
    return (yield from breadth_first(doubled))


def unfolded(steps: Steps) -> Steps:
    """Return deterministic steps in which marks have become steps of blocks for ever.

    They lead to one more state, which does nothing else; nothing is marked any more.
    """
    marked = np.flatnonzero(steps.marked).astype(np.int32)
    if not len(marked):
        return steps
    n = steps.n_states
    src = np.append(marked, np.int32(n))
    return steps._replace(
        n_states=n + 1,
        src=np.concatenate([steps.src, src]),
        label=np.concatenate([steps.label, np.full_like(src, steps.n_labels - 1)]),
        dst=np.concatenate([steps.dst, np.full_like(src, n)]),
        marked=np.zeros(n + 1, dtype=np.bool_),
    )
