"""Statements that a process executes together with the one before them: merged.

Where all that a process can do in one of its states is its own affair, and invisible,
nothing is lost if it does not stop there: whoever comes there keeps control, as inside
``atomic``.  These are the places whose actions may be taken before all others
(`ltlpipe.por.groups`) and none of which is blocked, so every cycle has a state in which
processes stop.  Ample sets store such a state; here it is passed by.  The proof is in
docs/models-por.md.

Spin merges sequences of statements (its switch ``-o3`` leaves that out).  Here choices
are merged, too, and so are statements that may block, for who waits for what nobody
else can change waits for ever.
"""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.components.progress import STATIC
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.packing import LEADS
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.por.groups import Place
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.programs.model import ProgramModel
    from ltlpipe.systems.programs.program import Program

_MOST_MOVES = 64
"""Moves behind one in all ways together; then a process stops after all."""

_STEP_WORK = 20  # units


def passed_places(program: Program, codes: np.ndarray) -> frozenset[Place]:
    """Return the places that processes need not stop in.

    `codes`, int64[n_actions, 3], are those of `ltlpipe.por.groups.find_groups`.
    """
    if not program.can_pass:
        return frozenset()
    leading: dict[Place, list[Place]] = defaultdict(list)
    others: set[Place] = set()
    for action, (kind, first, second) in zip(
        program.actions, codes.tolist(), strict=True
    ):
        if kind == LEADS and first == second:
            leader = action.leader
            place = leader.process, leader.source
            leading[place].append((leader.process, leader.target))
        else:
            others |= {(t.process, t.source) for t in action.transitions}
    return _bounded({p: to for p, to in leading.items() if p not in others})


def _bounded(leading: Mapping[Place, list[Place]]) -> frozenset[Place]:
    """Return places of a graph without cycles behind which there are few moves."""
    moves: dict[Place, int] = {}
    for root in leading:
        path = [root]
        while path:
            place = path[-1]
            todo = [p for p in leading[place] if p in leading and p not in moves]
            path += todo
            if not todo:
                path.pop()
                number = sum(1 + moves.get(target, 0) for target in leading[place])
                moves[place] = number if number <= _MOST_MOVES else 0
    return frozenset(place for place, number in moves.items() if number)


def run_in_single_moves(merged: ProgramModel, run: Run) -> Job[Run]:
    """Return a run of a model with merged statements as one of the model itself."""
    actions: list[int] = []
    states = [run.states[0].tolist()]
    length, ticks = 0, Ticks(STATIC, _STEP_WORK)
    for number, action in enumerate(run.actions.tolist()):
        if number == run.length:
            length = len(actions)
        before, after = (tuple(s) for s in run.states[number : number + 2].tolist())
        steps = [(action, after)]
        if action >= 0:
            steps = _ways(merged, before, action, after)
        for own, state in steps:
            actions.append(own)
            states.append(list(state))
        yield from ticks.worked(len(steps))
    if run.length == len(run.actions):
        length = len(actions)
    return Run(
        np.array(actions, dtype=run.actions.dtype),
        np.array(states, dtype=run.states.dtype),
        length,
    )


def _ways(
    merged: ProgramModel, before: Valuation, action: int, after: Valuation
) -> list[tuple[int, Valuation]]:
    """Return the moves of the model that lead from one state to another.

    First `action` is taken, then what leaves the places that are passed.
    """
    model, program = merged.unmerged, merged.program
    assert model is not None
    found: dict[Valuation, tuple[int, Valuation | None]] = {
        step.state: (action, None)
        for step in model.each_step(before)
        if step.action == action
    }
    waiting = deque(found)
    while after not in found:
        state = waiting.popleft()
        for step in model.each_step(state):
            leader = program.actions[step.action].leader
            is_passed = (leader.process, leader.source) in program.merged
            if is_passed and step.state not in found:
                found[step.state] = step.action, state
                waiting.append(step.state)
    way: list[tuple[int, Valuation]] = []
    state_or_none: Valuation | None = after
    while state_or_none is not None:
        own, previous = found[state_or_none]
        way.append((own, state_or_none))
        state_or_none = previous
    return way[::-1]
