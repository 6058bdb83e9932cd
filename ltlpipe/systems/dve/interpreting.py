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
import math
from typing import TYPE_CHECKING, TypeAlias

from ltlpipe.systems.dve.expressions import (
    Element,
    EvaluationError,
    Read,
    evaluate,
    position,
)
from ltlpipe.systems.dve.program import Action, Transition, converted

if TYPE_CHECKING:
    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.program import Message, Program

State = tuple[int, ...]


# A transition of a process: its number there, itself, and what it makes of the state.
_Choice: TypeAlias = tuple[int, Transition, State]


class Interpreter:
    """The steps of a model."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.actions = program.actions()

    def steps(self, state: State) -> list[tuple[int, State]]:
        """Return all steps of a state: the number of the action, and the target."""
        if state[self.program.error]:
            return []
        if self.program.synchronous:
            return self._joint_steps(state)
        committed = any(
            state[process.state] in process.committed
            for process in self.program.processes
        )
        steps = []
        for number, action in enumerate(self.actions):
            if committed and not self._is_committed(action):
                continue
            target = self._target(action, state)
            if target is not None:
                steps.append((number, target))
        return steps

    def _is_committed(self, action: Action) -> bool:
        """Whether all transitions of an action leave committed states."""
        processes = self.program.processes
        return all(
            t.source in processes[t.process].committed for t in action.transitions
        )

    def _target(self, action: Action, state: State) -> State | None:
        """Return where an action leads, None if it is not enabled."""
        leader, partner = action
        if not self._is_at_source(leader, state):
            return None
        if partner is not None and not self._is_at_source(partner, state):
            return None
        try:
            if not self._is_enabled(leader, state):
                return None
            if partner is not None and not self._is_enabled(partner, state):
                return None
            return self._taken(action, state)
        except EvaluationError:
            return self._failed(state)

    def _is_at_source(self, transition: Transition, state: State) -> bool:
        process = self.program.processes[transition.process]
        return state[process.state] == transition.source

    def _is_enabled(self, transition: Transition, state: State) -> bool:
        """Whether guard and channel of a transition allow it."""
        guard, message = transition.guard, transition.message
        if guard is not None and not evaluate(guard, state):
            return False
        if message is None:
            return True
        channel = self.program.channels[message.channel]
        if not channel.capacity:
            return True
        length = state[channel.length]
        return length < channel.capacity if message.sends else length > 0

    def _taken(self, action: Action, state: State) -> State:
        """Return the state behind an action that is enabled."""
        values = list(state)
        leader, partner = action
        if partner is not None:
            self._transfer(leader, partner, state, values)
            self._move(partner, values)
        elif leader.message is not None:
            exchange = self._put if leader.message.sends else self._get
            exchange(leader.message, values)
        self._move(leader, values)
        return tuple(values)

    def _transfer(
        self, sender: Transition, receiver: Transition, state: State, values: list[int]
    ) -> None:
        """Give what the sender sends in `state` to the receiver."""
        assert sender.message is not None
        assert receiver.message is not None
        types = self.program.channels[sender.message.channel].types
        sent = [evaluate(value, state) for value in sender.message.values]
        if types is not None:
            sent = [converted(v, t) for v, t in zip(sent, types, strict=True)]
        for target, value in zip(receiver.message.values, sent, strict=True):
            self._assign(target, value, values)

    def _put(self, message: Message, values: list[int]) -> None:
        """Append a message to the contents of its channel."""
        channel = self.program.channels[message.channel]
        assert channel.types is not None
        sent = [evaluate(value, values) for value in message.values]
        for cell, value, kind in zip(channel.cells, sent, channel.types, strict=True):
            values[cell + values[channel.length]] = converted(value, kind)
        values[channel.length] += 1

    def _get(self, message: Message, values: list[int]) -> None:
        """Take the first message from the contents of its channel."""
        channel = self.program.channels[message.channel]
        received = [values[cell] for cell in channel.cells]
        values[channel.length] -= 1
        for cell in channel.cells:
            last = cell + channel.capacity - 1
            values[cell : last + 1] = [*values[cell + 1 : last + 1], 0]
        for target, value in zip(message.values, received, strict=True):
            self._assign(target, value, values)

    def _move(self, transition: Transition, values: list[int]) -> None:
        """Let a process move, then have the effects of its transition."""
        values[self.program.processes[transition.process].state] = transition.target
        for effect in transition.effects:
            value = evaluate(effect.value, values)
            self._assign(effect.target, value, values)

    def _assign(self, target: Expression, value: int, values: list[int]) -> None:
        assert isinstance(target, (Read, Element))
        variable = position(target, values)
        values[variable] = converted(value, self.program.variables[variable].kind)

    def _failed(self, state: State) -> State:
        return (*state[:-1], 1)

    def _joint_steps(self, state: State) -> list[tuple[int, State]]:
        """Return the steps of a synchronous system; the first process varies first."""
        choices: list[list[_Choice]] = [
            [
                (number, transition, after)
                for number, transition in enumerate(process.transitions)
                if (after := self._target(Action(transition, None), state)) is not None
            ]
            for process in self.program.processes
        ]
        sizes = [len(process.transitions) for process in self.program.processes]
        steps = []
        for reverse in itertools.product(*reversed(choices)):
            joint = reverse[::-1]
            number = sum(
                choice[0] * math.prod(sizes[:i]) for i, choice in enumerate(joint)
            )
            steps.append((number, self._combined(joint, state)))
        return steps

    def _combined(self, joint: tuple[_Choice, ...], state: State) -> State:
        """Return the state behind one transition of each process."""
        values = list(state)
        written: set[int] = set()
        for _, transition, after in joint:
            writes = self.program.writes(transition)
            if after[self.program.error] or written & writes:
                return self._failed(state)
            written |= writes
            for slot in writes:
                for variable in self.program.slot_variables(slot):
                    values[variable] = after[variable]
        return tuple(values)
