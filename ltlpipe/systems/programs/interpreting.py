"""What a model does, in plain Python over its checked tree.

This shares nothing with the generated successor function (`generating`): lasso replay
and tests rely on that.

A step that fails (`EvaluationError`) leads to the state it leaves, with the variable
of kind "error" set to 1; nothing moves in such a state.  In a synchronous system all
processes take one transition each, computed from the state that they leave together;
two that write to the same variable or array are a step that fails.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ltlpipe.systems.programs.program import (
    Action,
    EvaluationError,
    converted,
    evaluate,
    position,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.systems.programs.program import Assignment, Program

State = tuple[int, ...]


class Interpreter:
    """The steps of a model."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield all steps of a state: the number of the action, and the target."""
        if state[self.program.error]:
            return
        if self.program.synchronous:
            yield from self._joint_steps(state)
            return
        processes = self.program.processes
        committed = any(state[p.state] in p.committed for p in processes)
        for number, action in enumerate(self.program.actions):
            if committed and not all(
                t.source in processes[t.process].committed for t in action.transitions
            ):
                continue
            target = self.target(action, state)
            if target is not None:
                yield number, target

    def target(self, action: Action, state: State) -> State | None:
        """Return where an action leads, None if it is not enabled."""
        moving = action.transitions
        processes = self.program.processes
        if any(state[processes[t.process].state] != t.source for t in moving):
            return None
        try:
            if not all(evaluate(c, state) for t in moving for c in t.conditions):
                return None
            values = list(state)
            _assign(self.program.exchange(action), values)
            for transition in reversed(moving):
                values[processes[transition.process].state] = transition.target
                for effect in transition.effects:
                    _assign([effect], values)
        except EvaluationError:
            return _failed(state)
        return tuple(values)

    def _joint_steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield the steps of a synchronous system; the first process varies first."""
        choices = []
        radix = 1
        for process in self.program.processes:
            own = []
            for number, transition in enumerate(process.transitions):
                target = self.target(Action(transition, None), state)
                if target is not None:
                    own.append(
                        (number * radix, self.program.writes(transition), target)
                    )
            choices.append(own)
            radix *= len(process.transitions)
        for reverse in itertools.product(*reversed(choices)):
            joint = reverse[::-1]
            yield sum(choice[0] for choice in joint), _combined(joint, state)


def _assign(assignments: Sequence[Assignment], values: list[int]) -> None:
    """Have assignments at once: all values are known before one is assigned."""
    assigned = [converted(evaluate(a.value, values), a.bounds) for a in assignments]
    for assignment, value in zip(assignments, assigned, strict=True):
        values[position(assignment.target, values)] = value


def _failed(state: State) -> State:
    return (*state[:-1], 1)


def _combined(joint: Sequence[tuple[int, set[int], State]], state: State) -> State:
    """Return the state behind one transition of each process.

    They are given as numbers, slots that they write to, and where each leads alone.
    """
    values = list(state)
    written: set[int] = set()
    for _, writes, target in joint:
        if target[-1] or written & writes:
            return _failed(state)
        written |= writes
        for variable, value in enumerate(target):
            if value != state[variable]:
                values[variable] = value
    return tuple(values)
