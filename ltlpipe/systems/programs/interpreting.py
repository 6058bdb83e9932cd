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
from typing import TYPE_CHECKING, TypeAlias

from ltlpipe.systems.programs.expressions import (
    Element,
    EvaluationError,
    Read,
    evaluate,
    position,
)
from ltlpipe.systems.programs.program import Action, Transition, converted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.programs.expressions import Expression
    from ltlpipe.systems.programs.program import Message, Program

State = tuple[int, ...]


# A transition of a process: its number there, the slots that it writes to, and the
# variables that it assigns to with their values; None if it fails.
_Choice: TypeAlias = tuple[int, set[int], dict[int, int] | None]


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
        committed = any(
            state[process.state] in process.committed
            for process in self.program.processes
        )
        for number, action in enumerate(self.program.actions):
            if committed and not self._is_committed(action):
                continue
            target = self.target(action, state)
            if target is not None:
                yield number, target

    def _is_committed(self, action: Action) -> bool:
        """Whether all transitions of an action leave committed states."""
        processes = self.program.processes
        return all(
            t.source in processes[t.process].committed for t in action.transitions
        )

    def target(self, action: Action, state: State) -> State | None:
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

    def _move(self, transition: Transition, values: list[int]) -> list[int]:
        """Let a process move, then have the effects of its transition.

        Returns the variables that it has assigned to.
        """
        moved = self.program.processes[transition.process].state
        values[moved] = transition.target
        assigned = [moved]
        for effect in transition.effects:
            value = evaluate(effect.value, values)
            assigned.append(self._assign(effect.target, value, values))
        return assigned

    def _assign(self, target: Expression, value: int, values: list[int]) -> int:
        """Assign a value; return the variable."""
        assert isinstance(target, (Read, Element))
        variable = position(target, values)
        values[variable] = converted(value, self.program.variables[variable].kind)
        return variable

    def _failed(self, state: State) -> State:
        return (*state[:-1], 1)

    def _joint_steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield the steps of a synchronous system; the first process varies first."""
        choices = []
        radix = 1
        for process in self.program.processes:
            choices.append(
                [
                    (number * radix, self.program.writes(transition), change)
                    for number, transition in enumerate(process.transitions)
                    if (change := self._change(transition, state)) != {}
                ]
            )
            radix *= len(process.transitions)
        for reverse in itertools.product(*reversed(choices)):
            joint = reverse[::-1]
            yield sum(choice[0] for choice in joint), self._combined(joint, state)

    def _change(self, transition: Transition, state: State) -> dict[int, int] | None:
        """Return what a transition assigns to which variables.

        None is that it fails, and nothing that it is not enabled.
        """
        if not self._is_at_source(transition, state):
            return {}
        values = list(state)
        try:
            if not self._is_enabled(transition, state):
                return {}
            return {
                variable: values[variable]
                for variable in self._move(transition, values)
            }
        except EvaluationError:
            return None

    def _combined(self, joint: tuple[_Choice, ...], state: State) -> State:
        """Return the state behind one transition of each process."""
        values = list(state)
        written: set[int] = set()
        for _, writes, change in joint:
            if change is None or written & writes:
                return self._failed(state)
            written |= writes
            for variable, value in change.items():
                values[variable] = value
        return tuple(values)
