"""The steps of a system as Python source, process by process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.packing import PACKING
from ltlpipe.systems.programs.effects import Loaded, Outcome, Source
from ltlpipe.systems.programs.expressions import Element, Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.effects import Blueprint
    from ltlpipe.systems.programs.expressions import Expression
    from ltlpipe.systems.programs.program import Action, Message, Transition


_ACTION_WORK, _CHARACTER_WORK = 50, 0.5  # units


class StepWriter:
    """Writes the code that takes the steps of an asynchronous system."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.program = blueprint.program
        self.places = blueprint.layout.places
        self.has_commits = not self.program.synchronous and any(
            process.committed for process in self.program.processes
        )
        # While an action is written: its number, where lines go, what is read, and
        # what becomes of the row.
        self._number = 0
        self._source = Source(blueprint.room)
        self._loaded = Loaded(blueprint)
        self._outcome = self._new_outcome()
        self._ticks = Ticks(PACKING)

    def finish(self, words: list[str], number: int, failed: bool) -> list[str]:  # noqa: ARG002
        """Return the lines behind the step with a number that leads to some words."""
        stores = [f"out_rows[count, {i}] = {word}" for i, word in enumerate(words)]
        return [*stores, f"out_actions[count] = {number}", "count += 1"]

    def process(
        self, number: int, actions: Sequence[tuple[int, Action]], source: Source
    ) -> Job[None]:
        """Write the steps that a process leads, by its states.

        `actions` are those of its actions that are to be written, with their numbers.
        """
        process = self.program.processes[number]
        states = self.program.variables[process.state].states
        source.line(f"# {process.name}")
        by_state: dict[int, list[tuple[int, Action]]] = {}
        for numbered, action in actions:
            by_state.setdefault(action.leader.source, []).append((numbered, action))
        place = self.places[process.state]
        loaded = Loaded(self.blueprint)
        name = loaded.read(process.state)
        loaded.write(source)
        keyword = "if"
        for state in sorted(by_state):
            if place.bits:
                source.line(f"{keyword} {name} == {state}:  # {states[state]}")
                source.indent += 1
                yield from self._state(by_state[state], source)
                source.indent -= 1
                keyword = "elif"
            elif state == place.low:  # others are never reached
                yield from self._state(by_state[state], source)

    def _state(self, actions: list[tuple[int, Action]], source: Source) -> Job[None]:
        """Write the steps from one state, behind the variables that they read."""
        begin = len(source.lines)
        self._source = source
        self._loaded = Loaded(self.blueprint)
        for number, action in actions:
            before = source.room.length
            self._action(number, action)
            written = source.room.length - before
            if self._ticks.over(_ACTION_WORK + _CHARACTER_WORK * written):
                self._ticks.memory_bytes = source.room.length
                yield self._ticks.progress
        body = source.lines[begin:]
        del source.lines[begin:]
        state = self.program.processes[actions[0][1].leader.process].state
        self._loaded.used.pop(state, None)  # read before, to find the state
        self._loaded.write(source)
        source.lines += body
        if not body:
            source.line("pass")

    def _action(self, number: int, action: Action) -> None:
        """Write one action: its conditions, then its effects."""
        conditions = self._conditions(action)
        if conditions is None:
            return
        self._source.line(f"# {self.program.described(*action.transitions)}")
        indent = self._source.indent
        self._number = number
        self._outcome = self._new_outcome()
        self._check(conditions)
        self._take(action)
        self._finish(self._outcome, failed=False)
        self._source.indent = indent

    def _new_outcome(self) -> Outcome:
        return Outcome(self.blueprint, self._source, self._loaded)

    def _finish(self, outcome: Outcome, *, failed: bool) -> None:
        for text in self.finish(outcome.final_words(), self._number, failed):
            self._source.line(text)

    def _conditions(self, action: Action) -> list[Expression | str] | None:
        """Return what has to hold for an action, in order; None if it never does."""
        partner = action.partner
        committed = {self._is_committed(t) for t in action.transitions}
        if len(committed) > 1:
            return None  # either both processes are in committed states or none is
        conditions: list[Expression | str] = []
        if committed == {False} and self.has_commits:
            conditions.append("not committed")
        if partner is not None:
            state = self.program.processes[partner.process].state
            if self.places[state].bits:
                conditions.append(f"{self._loaded.read(state)} == {partner.source}")
            elif self.places[state].low != partner.source:
                return None
        for transition in action.transitions:
            conditions += self._guards(transition)
        if any(isinstance(c, Number) and not c.value for c in conditions):
            return None
        return [c for c in conditions if not isinstance(c, Number)]

    def _is_committed(self, transition: Transition) -> bool:
        process = self.program.processes[transition.process]
        return transition.source in process.committed

    def _guards(self, transition: Transition) -> list[Expression | str]:
        conditions: list[Expression | str] = []
        if transition.guard is not None:
            conditions.append(transition.guard)
        message = transition.message
        if message is None or not self.program.channels[message.channel].capacity:
            return conditions
        channel = self.program.channels[message.channel]
        length = self._loaded.read(channel.length)
        room = f"< {channel.capacity}" if message.sends else "> 0"
        return [*conditions, f"{length} {room}"]

    def _check(self, conditions: list[Expression | str]) -> None:
        """Write the tests of conditions; what follows is what they guard."""
        pending: list[str] = []
        for condition in conditions:
            if isinstance(condition, str):
                pending.append(condition)
                continue
            text = self._outcome.truth(condition)
            if self._outcome.fails(condition) is None:
                pending.append(f"({text})" if " or " in text else text)
                continue
            self._test(pending)
            pending = []
            self._fail_if(condition, otherwise=f"elif {text}:")
        self._test(pending)

    def _test(self, conditions: list[str]) -> None:
        if not conditions:
            return
        text = " and ".join(conditions)
        in_brackets = text.startswith("(") and text.endswith(")")
        if len(conditions) == 1 and in_brackets and text.count("(") == 1:
            text = text[1:-1]
        self._source.line(f"if {text}:")
        self._source.indent += 1

    def _fail_if(self, expression: Expression, otherwise: str = "else:") -> None:
        """Write a test whether an expression fails; what follows is behind `otherwise`.

        Nothing is written if it never fails.
        """
        failure = self._outcome.fails(expression)
        if failure is None:
            return
        source = self._source
        source.line(f"if {failure}:")
        source.indent += 1
        outcome = self._new_outcome()
        outcome.set(self.program.error, "1")
        self._finish(outcome, failed=True)
        source.indent -= 1
        source.line(otherwise)
        source.indent += 1

    def _take(self, action: Action) -> None:
        """Write the effects of an action."""
        leader, partner = action
        if partner is not None:
            self._transfer(leader, partner)
            self._move(partner)
        elif leader.message is not None:
            exchange = self._put if leader.message.sends else self._get
            exchange(leader.message)
        self._move(leader)

    def _move(self, transition: Transition) -> None:
        state = self.program.processes[transition.process].state
        self._outcome.set(state, str(transition.target))
        for target, value in transition.effects:
            self._assign(target, self._computed(value, self._outcome.kind_of(target)))

    def _computed(self, value: Expression, kind: str) -> str:
        """Return a name for the value of an expression as a variable holds it."""
        self._fail_if(value)
        return self._outcome.named(self._outcome.converted(value, kind))

    def _assign(self, target: Expression, value: str) -> None:
        if isinstance(target, Element):
            self._fail_if(target)
        self._outcome.assign(target, value)

    def _receive(self, target: Expression, value: str, kind: str | None) -> None:
        """Write the assignment of a part of a message, of some type or of none."""
        if kind == "int" and self._outcome.kind_of(target) == "byte":
            value = self._outcome.named(f"{value} & 255")
        self._assign(target, value)

    def _transfer(self, sender: Transition, receiver: Transition) -> None:
        """Write the assignments of what is sent to what receives it."""
        sent, received = sender.message, receiver.message
        assert sent is not None
        assert received is not None
        types = self.program.channels[sent.channel].types
        texts = []
        for i, value in enumerate(sent.values):
            kind = self._outcome.kind_of(received.values[i])
            texts.append(self._computed(value, types[i] if types else kind))
        for i, text in enumerate(texts):
            self._receive(received.values[i], text, types[i] if types else None)

    def _put(self, message: Message) -> None:
        """Write what appends a message to a channel."""
        channel = self.program.channels[message.channel]
        length = self._outcome.read(channel.length)
        sent = [
            self._computed(value, kind)
            for value, kind in zip(message.values, channel.types or (), strict=True)
        ]
        for cell, text in zip(channel.cells, sent, strict=True):
            if channel.capacity == 1:
                self._outcome.set(cell, text)
            else:
                self._outcome.store(cell, channel.capacity, length, text)
        self._outcome.set(channel.length, f"{length} + 1")

    def _get(self, message: Message) -> None:
        """Write what takes the first message from a channel."""
        outcome = self._outcome
        channel = self.program.channels[message.channel]
        received = [outcome.named(outcome.read(cell)) for cell in channel.cells]
        outcome.set(channel.length, f"{outcome.read(channel.length)} - 1")
        for cell in channel.cells:
            last = cell + channel.capacity - 1
            for variable in range(cell, last):
                outcome.set(variable, outcome.read(variable + 1))
            outcome.set(last, "0")
        for target, text, kind in zip(
            message.values, received, channel.types or (), strict=True
        ):
            self._receive(target, text, kind)
