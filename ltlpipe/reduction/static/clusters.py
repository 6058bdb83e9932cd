"""Groups of the steps of nets: transitions that take the same.

Transitions are in one *cluster* if they take from a common place, or are joined by
others that do.  The group of a cluster is all of it, if all its transitions take the
same tokens from the same places, and at least one: then they are enabled together,
and nobody else can disable them (docs/models-por.md has the proof).

Source: clusters whose transitions take the same are those of free-choice nets (J. Desel
and J. Esparza, "Free Choice Petri Nets", Cambridge 1995, Sec. 4.1), here one by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.static.cycles import feedback_vertices
from ltlpipe.systems.ample_kernels import LEADS, Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Set

    from ltlpipe.reduction.static.watched import Atom
    from ltlpipe.systems.pnml.net import PetriNet


def codes_of_clusters(net: PetriNet, atoms: Set[Atom]) -> np.ndarray:
    """Return the code of each transition; see `keep_ample`.

    Parameters
    ----------
    net : PetriNet
        It is not changed.
    atoms : set of Atom
        What the property looks at.

    Returns
    -------
    int64[n_transitions, 3]
        The place of a transition is the number of its group, from 1 on, or 0.  Groups
        that are an ample set nowhere are left out, so nothing is blocked.
    """
    visible = {atom.variable for atom in atoms}
    groups = [
        group
        for group in _groups(net)
        if not any(visible & net.transitions[t].differences().keys() for t in group)
    ]
    dropped = feedback_vertices(_feeds(net, groups))
    codes = np.zeros((len(net.transitions), len(Entry)), dtype=np.int64)
    for number, group in enumerate(groups):
        if number not in dropped:
            codes[group] = (LEADS, number + 1, number + 1)
    return codes


def _groups(net: PetriNet) -> list[list[int]]:
    """Return the clusters whose transitions all take the same."""
    consumers = _by_place(
        (t, transition.pre) for t, transition in enumerate(net.transitions)
    )
    groups = []
    for number, transition in enumerate(net.transitions):
        if not transition.pre:
            continue
        group = consumers[min(transition.pre)]
        # Each place of the first one's preset has the same consumers, which all take
        # what it takes: so the group is the whole cluster.
        if (
            group[0] == number
            and all(consumers[place] == group for place in transition.pre)
            and all(net.transitions[t].pre == transition.pre for t in group)
        ):
            groups.append(group)
    return groups


def _feeds(net: PetriNet, groups: list[list[int]]) -> list[list[int]]:
    """Return for each group those that take what it puts."""
    takers = _by_place((k, net.transitions[g[0]].pre) for k, g in enumerate(groups))
    return [
        sorted(
            {
                taker
                for transition in group
                for place in net.transitions[transition].post
                for taker in takers.get(place, ())
            }
        )
        for group in groups
    ]


def _by_place(taken: Iterable[tuple[int, Iterable[int]]]) -> dict[int, list[int]]:
    """Return who takes from each place."""
    found: dict[int, list[int]] = {}
    for number, places in taken:
        for place in places:
            found.setdefault(place, []).append(number)
    return found
