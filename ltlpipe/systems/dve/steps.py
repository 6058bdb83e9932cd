"""The steps of an asynchronous system as Python source, process by process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.dve.effects import Loaded, Outcome, Source
from ltlpipe.systems.dve.expressions import Element, Number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.layout import Layout
    from ltlpipe.systems.dve.program import Action, Message, Program, Transition
    from ltlpipe.systems.dve.ranges import Ranges


class StepWriter:
    """Writes the code that takes steps.

    Parameters
    ----------
    program, ranges, layout
        The model, what is known of it, and where its variables are.
    names : sequence of str
        What the code calls each variable.
    finish : callable
        Writes the lines behind a step: takes the lines' `Source`, the words of the
        row that the step leads to, the number of the action, and whether it failed.
    """

    def __init__(
        self,
        program: Program,
        ranges: Ranges,
        layout: Layout,
        names: Sequence[str],
        finish: Callable[[Source, list[str], int, bool], None],
    ) -> None:
        self.program = program
        self.ranges = ranges
        self.layout = layout
        self.names = names
        self.finish = finish
        self._source = Source()
        self._loaded = Loaded(names, layout)

    def process(
        self, number: int, actions: Sequence[tuple[int, Action]], source: Source
    ) -> None:
        """Write the steps that a process leads, by its states.

        Parameters
        ----------
        number : int
            The process.
        actions : sequence of (int, Action)
            Its actions with their numbers.
        source : Source
            Where lines go.
        """
        process = self.program.processes[number]
        states = self.program.variables[process.state].states
        source.line(f"# {process.name}")
        by_state: dict[int, list[tuple[int, Action]]] = {}
        for numbered, action in actions:
            by_state.setdefault(action.leader.source, []).append((numbered, action))
        place = self.layout.places[process.state]
        if place.bits:
            loaded = Loaded(self.names, self.layout)
            loaded.read(process.state)
            for text in loaded.lines():
                source.line(text)
        keyword = "if"
        for state in sorted(by_state):
            if not place.bits:
                if state != place.low:
                    continue  # a state that is never reached
                self._state(by_state[state], source)
                continue
            name = self.names[process.state]
            source.line(f"{keyword} {name} == {state}:  # {states[state]}")
            source.indent += 1
            self._state(by_state[state], source)
            source.indent -= 1
            keyword = "elif"

    def _state(self, actions: list[tuple[int, Action]], source: Source) -> None:
        """Write the steps from one state, behind the variables that they read."""
        begin = len(source.lines)
        self._source = source
        self._loaded = Loaded(self.names, self.layout)
        for number, action in actions:
            self._action(number, action)
        body = source.lines[begin:]
        del source.lines[begin:]
        state = self.program.processes[actions[0][1].leader.process].state
        self._loaded.used.pop(state, None)  # read before, to find the state
        for text in self._loaded.lines():
            source.line(text)
        source.lines += body
        if not body:
            source.line("pass")

    def _action(self, number: int, action: Action) -> None:
        """Write one action: its conditions, then its effects."""
        leader, partner = action
        described = self.program.described(leader)
        if partner is not None:
            described += f" | {self.program.described(partner)}"
        conditions = self._conditions(action)
        if conditions is None:
            return
        self._source.line(f"# {described}")
        indent = self._source.indent
        outcome = self._outcome()
        self._check(conditions, number, outcome)
        self._take(number, action, outcome)
        self._source.indent = indent

    def _outcome(self) -> Outcome:
        return Outcome(
            self.program, self.ranges, self.layout, self._source, self._loaded
        )

    def _conditions(self, action: Action) -> list[Expression | str] | None:
        """Return what has to hold for an action, in order; None if it never does."""
        partner = action.partner
        committed = [self._is_committed(t) for t in action if t is not None]
        if len(set(committed)) > 1:
            return None  # either both processes are in committed states or none is
        conditions: list[Expression | str] = []
        if not committed[0] and self.has_commits:
            conditions.append("not committed")
        if partner is not None:
            state = self.program.processes[partner.process].state
            place = self.layout.places[state]
            if place.bits:
                conditions.append(f"{self._loaded.read(state)} == {partner.source}")
            elif place.low != partner.source:
                return None
        for transition in action:
            if transition is not None:
                conditions += self._guards(transition)
        if any(isinstance(c, Number) and not c.value for c in conditions):
            return None
        return [c for c in conditions if not isinstance(c, Number)]

    @property
    def has_commits(self) -> bool:
        """Whether some state is committed; where all move at once, it means nothing."""
        if self.program.synchronous:
            return False
        return any(process.committed for process in self.program.processes)

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
        if message.sends:
            conditions.append(f"{length} < {channel.capacity}")
        else:
            conditions.append(f"{length} > 0")
        return conditions

    def _check(
        self, conditions: list[Expression | str], number: int, outcome: Outcome
    ) -> None:
        """Write the tests of conditions; what follows is what they guard."""
        pending: list[str] = []
        translator = outcome.translator
        for condition in conditions:
            if isinstance(condition, str):
                pending.append(condition)
                continue
            failure = translator.fails(condition)
            if failure is not None:
                self._test(pending)
                pending = []
                self._fail_if(failure, number)
                self._source.indent -= 1
                self._source.lines.pop()  # the "else:"; one test does for both
                self._source.line(f"elif {translator.truth(condition)}:")
                self._source.indent += 1
                continue
            text = translator.truth(condition)
            pending.append(f"({text})" if " or " in text else text)
        self._test(pending)

    def _test(self, conditions: list[str]) -> None:
        if len(conditions) == 1:
            text = conditions[0]
            if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
                text = text[1:-1]
            self._source.line(f"if {text}:")
        elif conditions:
            self._source.line(f"if {' and '.join(conditions)}:")
        else:
            return
        self._source.indent += 1

    def _fail_if(self, failure: str | None, number: int) -> None:
        """Write a test for failure; what follows happens if there is none."""
        if failure is None:
            return
        source = self._source
        source.line(f"if {failure}:")
        source.indent += 1
        outcome = self._outcome()
        outcome.set_variable(self.program.error, "1")
        self.finish(source, outcome.final_words(), number, True)
        source.indent -= 1
        source.line("else:")
        source.indent += 1

    def _take(self, number: int, action: Action, outcome: Outcome) -> None:
        """Write the effects of an action."""
        leader, partner = action
        if partner is not None:
            self._transfer(number, leader, partner, outcome)
            self._move(number, partner, outcome)
        elif leader.message is not None:
            if leader.message.sends:
                self._put(number, leader.message, outcome)
            else:
                self._get(number, leader.message, outcome)
        self._move(number, leader, outcome)
        self.finish(self._source, outcome.final_words(), number, False)

    def _move(self, number: int, transition: Transition, outcome: Outcome) -> None:
        outcome.move(transition.process, transition.target)
        for effect in transition.effects:
            self._fail_if(outcome.translator.fails(effect.value), number)
            kind = outcome.kind_of(effect.target)
            value = outcome.named(outcome.converted(effect.value, kind))
            self._assign(number, effect.target, value, outcome)

    def _assign(
        self, number: int, target: Expression, value: str, outcome: Outcome
    ) -> None:
        if isinstance(target, Element):
            self._fail_if(outcome.translator.fails(target), number)
        outcome.assign(target, value)

    def _transfer(
        self, number: int, sender: Transition, receiver: Transition, outcome: Outcome
    ) -> None:
        """Write the assignments of what is sent to what receives it."""
        assert sender.message is not None
        assert receiver.message is not None
        types = self.program.channels[sender.message.channel].types
        sent = []
        for i, value in enumerate(sender.message.values):
            self._fail_if(outcome.translator.fails(value), number)
            target = receiver.message.values[i]
            kind = outcome.kind_of(target)
            if types is None or types[i] == kind:
                sent.append(outcome.named(outcome.converted(value, kind)))
                continue
            between = outcome.named(outcome.converted(value, types[i]))
            sent.append(outcome.named(_retyped(between, types[i], kind)))
        for target, text in zip(receiver.message.values, sent, strict=True):
            self._assign(number, target, text, outcome)

    def _put(self, number: int, message: Message, outcome: Outcome) -> None:
        """Write what appends a message to a channel."""
        channel = self.program.channels[message.channel]
        assert channel.types is not None
        length = outcome.read(channel.length)
        sent = []
        for value, kind in zip(message.values, channel.types, strict=True):
            self._fail_if(outcome.translator.fails(value), number)
            sent.append(outcome.named(outcome.converted(value, kind)))
        for cell, text in zip(channel.cells, sent, strict=True):
            if channel.capacity == 1:
                outcome.set_variable(cell, text)
            else:
                outcome.store_at(cell, channel.capacity, length, text)
        outcome.set_variable(channel.length, f"{length} + 1")

    def _get(self, number: int, message: Message, outcome: Outcome) -> None:
        """Write what takes the first message from a channel."""
        channel = self.program.channels[message.channel]
        assert channel.types is not None
        received = [outcome.named(outcome.read(cell)) for cell in channel.cells]
        outcome.set_variable(channel.length, f"{outcome.read(channel.length)} - 1")
        for cell in channel.cells:
            last = cell + channel.capacity - 1
            for variable in range(cell, last):
                outcome.set_variable(variable, outcome.read(variable + 1))
            outcome.set_variable(last, "0")
        for target, text, kind in zip(
            message.values, received, channel.types, strict=True
        ):
            own = outcome.kind_of(target)
            value = text if kind == own else outcome.named(_retyped(text, kind, own))
            self._assign(number, target, value, outcome)


def _retyped(text: str, kind: str, wanted: str) -> str:
    """Return a value of one type as a variable of another one holds it."""
    return f"{text} & 255" if (kind, wanted) == ("int", "byte") else text
