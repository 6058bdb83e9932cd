"""Interpreter of a model, in plain Python over its checked tree.

This shares nothing with the generated successor function (`generating`): lasso replay
and tests rely on that.

Where a process keeps control (`ATOMIC`, `D_STEP`), the states in between are none of
the system: a step goes on until nobody keeps control, or who does cannot move.  Then
control is lost, unless it is on an only way, which is a failure.  Where nothing can
move, steps may wait for that (``timeout``).

A step that fails (`EvaluationError`) leads to the state it leaves, with the variable
of kind "error" set to 1; nothing moves in such a state.  In a synchronous system all
processes take one transition each, computed from the state that they leave together;
two that write to the same variable or array are a step that fails.
"""

from __future__ import annotations

import itertools
from functools import cached_property
from typing import TYPE_CHECKING

from ltlpipe.systems.programs.program import (
    ATOMIC,
    BLOCKED,
    D_STEP,
    ENDLESS,
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

MAX_WALKS = 1 << 12
"""Moves of all steps of a state together beyond which a step fails."""


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
        if self.program.has_control:
            for path, to in self.walks(state):
                yield path[0], to
            return
        processes = self.program.processes
        committed = any(state[p.state] in p.committed for p in processes)
        for number, action in self._leaving(state):
            if committed and not all(
                t.source in processes[t.process].committed for t in action.transitions
            ):
                continue
            target = self.target(action, state)
            if target is not None:
                yield number, target

    @cached_property
    def _by_place(self) -> list[dict[int, list[tuple[int, Action, int, int]]]]:
        """For each process and state of it the actions that it leads, numbered.

        With the variable of the state of who moves last, and the state to be there.
        """
        processes = self.program.processes
        found: list[dict[int, list[tuple[int, Action, int, int]]]] = [
            {} for _ in processes
        ]
        for number, action in enumerate(self.program.actions):
            leader, last = action.leader, action.transitions[-1]
            entry = number, action, processes[last.process].state, last.source
            found[leader.process].setdefault(leader.source, []).append(entry)
        return found

    def _leaving(
        self, state: State, process: int | None = None
    ) -> Iterator[tuple[int, Action]]:
        """Yield the actions that processes, or one, lead where all are in place."""
        for number, own in enumerate(self.program.processes):
            if process is not None and process != number:
                continue
            for action in self._by_place[number].get(state[own.state], ()):
                if state[action[2]] == action[3]:
                    yield action[:2]

    def moves(
        self, state: State, process: int | None = None
    ) -> Iterator[tuple[int, State]]:
        """Yield what processes, or one of them, can do at once."""
        for number, action in self._leaving(state, process):
            target = self.target(action, state)
            if target is not None:
                yield number, target

    def walks(self, state: State) -> Iterator[tuple[tuple[int, ...], State]]:
        """Yield the steps of a state where processes keep control, move by move."""
        error, timeout = self.program.error, self.program.timeout
        found = list(self.moves(state))
        if not found and timeout >= 0:
            waiting = (*state[:timeout], 1, *state[timeout + 1 :])
            found = [
                (number, (*to[:timeout], 0, *to[timeout + 1 :]))
                for number, to in self.moves(waiting)
            ]
        walks: list[tuple[tuple[int, ...], State]] = [
            ((number,), target) for number, target in found
        ]
        stored = []
        seen = set()
        for path, target in walks:  # which grows meanwhile
            holder, keeps = self.program.keeper(self.program.actions[path[-1]])
            if not keeps or target[error]:
                stored.append((path, target))
                continue
            if keeps == ATOMIC and (path[0], holder, target) in seen:
                continue
            moves = list(self.moves(target, holder))
            if keeps == D_STEP:
                del moves[1:]
            elif moves:
                seen.add((path[0], holder, target))
            if not moves:
                is_blocked = keeps == D_STEP
                stored.append((path, _failed(state, BLOCKED) if is_blocked else target))
            walks += [((*path, number), to) for number, to in moves]
            if len(walks) > MAX_WALKS:
                stored.clear()
                break
        if walks and not stored:  # nor does a step end that goes round for ever
            stored.append((walks[0][0], _failed(state, ENDLESS)))
        yield from stored

    def target(self, action: Action, state: State) -> State | None:
        """Return where an action leads, None if it is not enabled."""
        moving = action.transitions
        processes = self.program.processes
        if any(state[processes[t.process].state] != t.source for t in moving):
            return None
        try:
            if not all(evaluate(c, state) for c in action.conditions):
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


def _failed(state: State, fault: int = 1) -> State:
    return (*state[:-1], fault)


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
