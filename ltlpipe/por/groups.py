"""Which steps of a model may stand for all steps of a state.

The actions of a model are put into groups (those of DVE models by
`ltlpipe.por.processes`).  If one action of a group is enabled, then

- whatever the other actions do, until one of the group is taken, exactly the same
  actions of the group stay enabled, and
- they can be swapped with each step of the others.

So the enabled actions of a group fulfil C0 and C1.  Actions that change what a
proposition looks at, and some of each cycle, are blocked: a group with an enabled
blocked action is no ample set (C2, C3).

Groups of nets.  Transitions are in one *cluster* if they take from a common place, or
are joined by others that do.  The group of a cluster is all of it, if all its
transitions take the same tokens from the same places, and at least one: then they are
enabled together, and no other process can disable them (docs/models-por.md has the
proof).

Sources: R. Kurshan, V. Levin, M. Minea, D. Peled and H. Yenigün, "Static Partial Order
Reduction", TACAS 1998, LNCS 1384, pp. 345-357.  Clusters whose transitions take the
same are those of free-choice nets (J. Desel and J. Esparza, "Free Choice Petri Nets",
Cambridge 1995, Sec. 4.1), here one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import ITEMS, counting
from ltlpipe.por.cycles import feedback_vertices
from ltlpipe.por.processes import (
    Atom,
    codes_of_processes,
    names_steps,
    watched,
)
from ltlpipe.systems.ample_kernels import LEADS, Entry
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.programs.model import DveModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model


@dataclass(frozen=True)
class Groups:
    """The groups of a model's actions, for one property."""

    # int64[n_actions, 3], for `ltlpipe.systems.ample_kernels.keep_ample`; None if no
    # state would ever be reduced.
    codes: np.ndarray | None
    reason: str  # why, for people


def find_groups(model: Model, propositions: Sequence[Expression]) -> Job[Groups]:
    """Find the groups of a model's actions for propositions bound to it."""
    if any(map(names_steps, propositions)):
        # Invisible steps may move before a visible one, and then
        # the run begins with another letter.
        return Groups(None, "a proposition is about steps, not only about states")
    atoms: set[Atom] = {atom for p in propositions for atom in watched(p)}
    if isinstance(model, DveModel):
        if model.program.synchronous:
            return Groups(None, "all processes of a synchronous system move at once")
        codes = yield from codes_of_processes(
            model.program, model.ranges.failing, atoms
        )
    elif isinstance(model, PetriNet):
        codes = yield from codes_of_clusters(model, atoms)
    else:
        return Groups(None, f"nothing is known of the steps of {model.name}")
    n_free = int(np.count_nonzero(codes[:, Entry.KIND] == LEADS))
    if not n_free:
        return Groups(None, "every step may matter to another one, or to the property")
    return Groups(
        codes, f"{n_free} of {len(codes)} actions can be taken before all others"
    )


def codes_of_clusters(net: PetriNet, atoms: Set[Atom]) -> Job[np.ndarray]:
    """Find the code of each transition, int64[n_transitions, 3]; see `keep_ample`.

    `atoms` are what the property looks at.  The place of a transition is the number of
    its group, from 1 on, or 0.  Groups that are an ample set nowhere are left out, so
    nothing is blocked.
    """
    visible = {atom.variable for atom in atoms}
    groups = []
    looked_at = 0
    for group in (yield from _groups(net)):
        if not any(visible & net.transitions[t].differences().keys() for t in group):
            groups.append(group)
        looked_at += len(group)
        if looked_at > ITEMS:
            yield counting(looked_at)
            looked_at = 0
    feeds = yield from _feeds(net, groups)
    dropped = yield from feedback_vertices(feeds)
    codes = np.zeros((len(net.transitions), len(Entry)), dtype=np.int64)
    for number, group in enumerate(groups):
        if number not in dropped:
            codes[group] = (LEADS, number + 1, number + 1)
    return codes


def _groups(net: PetriNet) -> Job[list[list[int]]]:
    """List the clusters whose transitions all take the same."""
    consumers = yield from _by_place(
        (t, transition.pre) for t, transition in enumerate(net.transitions)
    )
    groups = []
    for number, transition in enumerate(net.transitions):
        if number % ITEMS == ITEMS - 1:
            yield counting(ITEMS)
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


def _feeds(net: PetriNet, groups: list[list[int]]) -> Job[list[list[int]]]:
    """List for each group those that take what it puts."""
    takers = yield from _by_place(
        (k, net.transitions[g[0]].pre) for k, g in enumerate(groups)
    )
    feeds = []
    looked_at = 0
    for group in groups:
        fed: set[int] = set()
        for transition in group:
            for place in net.transitions[transition].post:
                some = takers.get(place, [])
                fed.update(some)
                looked_at += 1 + len(some)
            if looked_at > ITEMS:
                yield counting(looked_at)
                looked_at = 0
        feeds.append(sorted(fed))
    return feeds


def _by_place(taken: Iterable[tuple[int, Iterable[int]]]) -> Job[dict[int, list[int]]]:
    """List the transitions that take from each place."""
    found: dict[int, list[int]] = {}
    looked_at = 0
    for number, places in taken:
        for place in places:
            found.setdefault(place, []).append(number)
            looked_at += 1
        if looked_at > ITEMS:
            yield counting(looked_at)
            looked_at = 0
    return found
