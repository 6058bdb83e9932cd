"""Which steps of a model may stand for all steps of a state.

The actions of a model are put into groups (`processes` for DVE models, `clusters` for
nets).  If one action of a group is enabled, then

- whatever the other actions do, until one of the group is taken, exactly the same
  actions of the group stay enabled, and
- they can be swapped with each step of the others.

So the enabled actions of a group fulfil C0 and C1.  Actions that change what a
proposition looks at, and some of each cycle, are blocked: a group with an enabled
blocked action is no ample set (C2, C3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.por.models.clusters import codes_of_clusters
from ltlpipe.por.models.processes import (
    Atom,
    codes_of_processes,
    names_steps,
    watched,
)
from ltlpipe.systems.ample_kernels import LEADS, Entry
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.programs.model import DveModel

if TYPE_CHECKING:
    from collections.abc import Sequence

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
