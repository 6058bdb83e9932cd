"""What a property automaton tells apart of the letters that it reads.

A permutation of letters leaves an automaton as it is if each of its states goes by a
letter where it goes by the image of that, with the same marks.  Then a permutation of
the system that takes steps to steps with the image of their letter is an automorphism
of the product.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.symmetry.groups.graph import PHASE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job


def letter_classes(automaton: PropertyAutomaton) -> Job[np.ndarray]:
    """Return, for each letter, the first one that the automaton cannot tell from it.

    int64[n]; of letters that tell marks of the system, without the marks.
    """
    ticks = Ticks(PHASE)
    own = automaton.system_marks
    n_letters = automaton.n_letters >> own
    first = automaton.first_edge.tolist()
    targets, marks = automaton.edge_dst.tolist(), automaton.edge_marks.tolist()
    signatures: list[list[object]] = [[] for _ in range(n_letters)]
    for state in range(automaton.n_states):
        for letter in range(automaton.n_letters):
            at = state * automaton.n_letters + letter
            begin, end = first[at], first[at + 1]
            edges = zip(targets[begin:end], marks[begin:end], strict=True)
            signatures[letter >> own].append(frozenset(edges))
            if ticks.over():
                yield ticks.progress
    known: dict[tuple[object, ...], int] = {}
    classes = [known.setdefault(tuple(s), k) for k, s in enumerate(signatures)]
    return np.array(classes, dtype=np.int64)


def is_kept(classes: np.ndarray, images: Sequence[int]) -> bool:
    """Whether a permutation of propositions leaves an automaton as it is.

    Parameters
    ----------
    classes : int64[2**n]
        What `letter_classes` says of letters that are sets of n propositions, as bits.
    images : sequence of int
        Where each proposition is taken.
    """
    letters = np.arange(len(classes))
    moved = np.zeros(len(classes), dtype=np.int64)
    for proposition, image in enumerate(images):
        moved |= (letters >> proposition & 1) << image
    return bool((classes[moved] == classes).all())
