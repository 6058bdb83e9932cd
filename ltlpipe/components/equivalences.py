"""Equivalent components with fewer states, by the name of the equivalence.

What can be observed of a component with hidden labels is the pair of its *traces*,
the words of visible labels that it can perform, and its *divergences*, the traces
after which it can run for ever without a visible label.  Internal labels count as
hidden.

=============  ==================================================  ===============
equivalence    keeps                                               never larger
=============  ==================================================  ===============
``trace``      traces and divergences, and nothing else            no
``block``      words in which blocks of hidden steps are one step  no
``branching``  divergence-preserving branching bisimilarity        yes
``strong``     strong bisimilarity, hidden labels all alike        yes
=============  ==================================================  ===============

`least` chooses between ``trace`` and what simulation leaves
(`ltlpipe.components.simulation`), by the number of states.

Each keeps what those above it keep, but for ``branching``, which does not keep what
``block`` does.  ``trace`` is the least deterministic
LTS, with a silent loop at states after divergences: two components with the same traces
and divergences over the same labels become identical.  Before the subset construction
the states are merged by ``branching``: this costs little beside it and makes the
subsets smaller.

A *block* is a maximal sequence of hidden steps between two visible ones, or behind the
last one.  The block normal form (``block``) is deterministic and has one hidden step
for each block that is finite, and hidden steps for ever where the component can run so
(docs/erasable.md has the definition and what it is good for).  It is had by the means
that determinise with respect to visible labels.  Beside each state s there is s', where
a block has begun, and the first hidden step of a block becomes a visible one with a
label of its own, which leads from s to the s' that follow.  Hidden steps from there on
are silent.  So a word of this LTS has the label once for each block, and its
divergences are those of the component in which the last block goes on.

Sources: R. J. van Glabbeek, B. Luttik and N. Trcka, "Branching Bisimilarity with
Explicit Divergence", Fundamenta Informaticae 93(4), 2009, pp. 371-392; A. Valmari,
"The State Explosion Problem", Lectures on Petri Nets I, LNCS 1491, 1998, pp. 429-528
(traces and divergence traces, and that hiding and composing keep them).

Differences from the sources: deadlocks are not kept by ``trace``; a property of
infinite runs cannot tell.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.determinise import TooLargeError, determinise
from ltlpipe.components.progress import ENTRY_WORK, reducing
from ltlpipe.components.refinement import quotient
from ltlpipe.components.simulation import reduced
from ltlpipe.components.transition_arrays import (
    Steps,
    breadth_first,
    collapse,
    is_deterministic,
    steps_of,
    with_steps,
)
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ltlpipe.runtime.jobs import Job

__all__ = ["EQUIVALENCES", "SIMULATION", "least", "reduce"]

EQUIVALENCES = ("trace", "block", "branching", "strong")
"""No name stands before one that keeps less."""

SIMULATION = "simulation"
"""What is told of a group that simulation has reduced."""

FEW_SUBSETS = 1_000
"""Subsets that may be made even if fewer states are known to suffice."""

_FIXED_WORK = 500  # however small the component


def reduce(
    lts: LTS,
    hidden: Collection[str] = (),
    equivalence: str = "trace",
    *,
    cap: int | None = None,
) -> Job[LTS]:
    """Find an equivalent component: `ltlpipe.components.reduce` as a job.

    `cap` does not count what is deterministic already.  The labels are the visible ones
    of `lts`, all and in order, for a label without transitions still blocks other
    components; behind them is one internal label (``i`` if that is free) iff there is a
    silent transition.  With ``strong`` and nothing hidden the labels are those of
    `lts`, and internal ones are distinguished.
    """
    if equivalence not in EQUIVALENCES:
        expected = ", ".join(EQUIVALENCES)
        raise UnsupportedError(f"equivalence {equivalence!r}: expected {expected}")
    if equivalence == "strong":
        return (yield from _strong(lts, hidden))
    if lts.accepting is not None:
        raise UnsupportedError(
            f"{equivalence} equivalence of a component with accepting states:"
            " use strong equivalence"
        )
    steps, visible = yield from _bisimilar(lts, hidden, blocks=equivalence == "block")
    if equivalence != "branching" and not (yield from is_deterministic(steps)):
        steps = yield from determinise(steps, cap)
        steps = yield from quotient(steps)
    if equivalence == "block":
        steps = yield from quotient(unfolded(steps))
    return (yield from _with_loops(steps, visible, lts.name))


def least(
    lts: LTS, hidden: Collection[str], *, cap: int | None = None
) -> Job[tuple[LTS, str]]:
    """Find a small component with the same traces and divergences.

    That is the deterministic one of `reduce`, or one whose states were merged by
    simulation, whichever has fewer states; its equivalence comes with it.
    """
    steps, visible = yield from _bisimilar(lts, hidden)
    name = "trace"
    if not (yield from is_deterministic(steps)):
        steps, name = yield from _least(steps, cap)
    return (yield from _with_loops(steps, visible, lts.name)), name


def _least(steps: Steps, cap: int | None) -> Job[tuple[Steps, str]]:
    """Return what has the fewest states, and its equivalence."""
    similar = yield from reduced(steps)
    most = max(FEW_SUBSETS, similar.n_states)
    name = "branching" if similar is steps else SIMULATION
    try:
        found = yield from determinise(similar, most if cap is None else min(most, cap))
    except TooLargeError:
        return similar, name
    found = yield from quotient(found)
    if found.n_states <= similar.n_states:
        return found, "trace"
    return similar, name


def _bisimilar(
    lts: LTS, hidden: Collection[str], *, blocks: bool = False
) -> Job[tuple[Steps, tuple[str, ...]]]:
    """Find the quotient by branching bisimilarity, and the visible labels."""
    yield reducing(_FIXED_WORK)
    letters, visible = _letters(lts, hidden)
    marked = np.zeros(lts.n_states, dtype=np.bool_)
    steps = yield from steps_of(lts, letters, len(visible), marked)
    if blocks:
        steps = yield from with_blocks(steps)
    steps = yield from collapse(steps)
    return (yield from quotient(steps)), visible


def _with_loops(steps: Steps, visible: tuple[str, ...], name: str) -> Job[LTS]:
    """Return a component in which marks, of divergent states, are silent loops."""
    loops = np.flatnonzero(steps.marked)
    steps = with_steps(steps, loops, len(visible), loops)
    return lts_of((yield from breadth_first(steps)), visible, name)


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
    longer = with_steps(steps, src, steps.n_labels - 1, np.full_like(src, n))
    return longer._replace(n_states=n + 1, marked=np.zeros(n + 1, dtype=np.bool_))


def _strong(lts: LTS, hidden: Collection[str]) -> Job[LTS]:
    """Find the quotient by strong bisimilarity; accepting states stay apart."""
    yield reducing(_FIXED_WORK)
    flags = lts.accepting
    marked = np.zeros(lts.n_states, dtype=np.bool_) if flags is None else flags
    apart = not any(label in lts.labels for label in hidden)
    if apart:
        letters = np.arange(len(lts.labels), dtype=np.int32)
        visible = lts.labels
    else:
        letters, visible = _letters(lts, hidden)
    # One label more than visible ones, so that silent steps are steps like others.
    steps = yield from steps_of(lts, letters, len(visible) + 1, marked)
    steps = yield from quotient(steps)
    steps = yield from breadth_first(steps)
    found = lts_of(steps, visible, lts.name)
    accepting = None if flags is None else steps.marked
    internal = lts.internal if apart else found.internal
    return replace(found, accepting=accepting, internal=internal)


def _letters(lts: LTS, hidden: Collection[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the number of each label, int32[len(lts.labels)], and the visible ones.

    The number of hidden and internal labels is that of visible ones.
    """
    concealed = lts.internal.union(hidden)
    visible = tuple(label for label in lts.labels if label not in concealed)
    numbers = {label: number for number, label in enumerate(visible)}
    letters = [numbers.get(label, len(visible)) for label in lts.labels]
    return np.array(letters, dtype=np.int32), visible


def lts_of(steps: Steps, visible: Sequence[str], name: str) -> LTS:
    """Return the steps as a component, with an internal label if there is need.

    That is ``i`` if no visible one is called so.
    """
    labels, internal = tuple(visible), frozenset[str]()
    if (steps.label == len(labels)).any():
        names = chain(["i", "tau"], (f"i_{k}" for k in count(2)))
        internal = frozenset([next(name for name in names if name not in labels)])
    return LTS(
        steps.n_states,
        steps.initial,
        (*labels, *internal),
        *(steps.src, steps.label, steps.dst),
        internal=internal,
        name=name,
    )
