"""A model with all names looked up: what interpreter, analysis and generator read.

The state of a model is a tuple of values, one per `Variable`: global variables, the
contents of channels, and for each process its state followed by its variables.

A *step* is what happens at once in an asynchronous system: one transition of one
process, or one that sends together with one that receives over a channel without
buffer.  In a synchronous system every process takes a transition at every step.

Source: DiVinE's ``divine/dve/compiler.cpp``, whose semantics the published state
counts of BEEM have been made with.

Semantics of a step, decided here once (docs/dve.md says the same for users): guards
are evaluated in the state, sender's first; values are sent as they are in that state;
the receiver gets them, moves, and has its effects, then the sender moves and has its
effects.  If a process is in a committed state, only steps begin in which all
processes that move are in one.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.systems.programs.expressions import Read

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.programs.expressions import Element, Expression

BOUNDS = {"byte": (0, 255), "int": (-(1 << 15), (1 << 15) - 1)}
"""The values of each type; what is assigned is taken modulo their number."""


def converted(value: int, kind: str) -> int:
    """Return a value as a variable of a type holds it."""
    low, high = BOUNDS[kind]
    return low + (value - low) % (high - low + 1)


ERROR = "error"
"""The kind of the variable that tells whether a step has failed."""


class Variable(NamedTuple):
    """One entry of a state."""

    name: str
    """As propositions name it: ``x``, ``P.x``, ``a[2]``; a process's own name for its
    state."""
    kind: str  # "byte", "int", "state" (of a process), "length" (of a channel), "error"
    bounds: tuple[int, int]  # the least and the largest value that it can hold
    initial: int
    states: tuple[str, ...] = ()  # the names of a process's states


class Array(NamedTuple):
    """An array: its elements are consecutive variables."""

    name: str
    first: int
    size: int


class Channel(NamedTuple):
    """A channel."""

    name: str
    types: tuple[str, ...] | None  # of the parts of a message; None without types
    capacity: int  # messages that it holds; 0 if sender and receiver move together
    length: int = -1  # the variable that counts its messages, if there are any
    cells: tuple[int, ...] = ()
    """For each part of a message the variable that holds it in the first message; those
    of the later messages follow."""


class Effect(NamedTuple):
    """One assignment."""

    target: Read | Element
    value: Expression


class Message(NamedTuple):
    """What a transition sends or receives."""

    channel: int
    sends: bool
    values: tuple[Expression, ...]  # targets, unless it `sends`


@dataclass(frozen=True, eq=False)
class Transition:
    """A transition of a process; `source` and `target` are numbers of its states."""

    process: int
    source: int
    target: int
    guard: Expression | None
    message: Message | None
    effects: tuple[Effect, ...]


class Process(NamedTuple):
    """A process; `state` is the variable that holds its state."""

    name: str
    state: int
    committed: frozenset[int]
    accepting: frozenset[int]
    transitions: tuple[Transition, ...]
    variables: tuple[int, ...]  # its own, without its state


class Action(NamedTuple):
    """A step of an asynchronous system: if `leader` sends, `partner` receives."""

    leader: Transition
    partner: Transition | None

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """One or both, the leader first."""
        leader, partner = self
        return (leader,) if partner is None else (leader, partner)


@dataclass(frozen=True)
class Program:
    """A checked model."""

    name: str  # the file's
    variables: tuple[Variable, ...]  # the entries of a state
    arrays: tuple[Array, ...]  # among the variables; contents of channels, too
    channels: tuple[Channel, ...]
    processes: tuple[Process, ...]
    synchronous: bool  # all processes move at every step
    assertions: tuple[tuple[int, int, Expression], ...]  # process, state, what holds

    @property
    def initial(self) -> tuple[int, ...]:
        """The first state."""
        return tuple(v.initial for v in self.variables)

    @property
    def error(self) -> int:
        """The variable that tells whether a step has failed, the last of all."""
        return len(self.variables) - 1

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The steps of an asynchronous system in the order of generation.

        By process and transition, senders standing for both; then by receiver.  In a
        synchronous system, which has no messages, they are its transitions.
        """
        receivers = self._receivers()
        actions: list[Action] = []
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is None:
                actions.append(Action(transition, None))
            elif message.sends:
                actions += [
                    Action(transition, partner)
                    for partner in receivers.get(message.channel, ())
                    if partner.process != transition.process
                ]
        return tuple(actions)

    @property
    def n_actions(self) -> int:
        """The number of `actions`, which may be far too many to be listed."""
        receivers = self._receivers()
        own = Counter((c, t.process) for c, all_ in receivers.items() for t in all_)
        number = 0
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is None:
                number += 1
            elif message.sends:
                number += len(receivers.get(message.channel, ()))
                number -= own[message.channel, transition.process]
        return number

    def transitions(self) -> Iterator[Transition]:
        """Yield the transitions of all processes."""
        for process in self.processes:
            yield from process.transitions

    def _receivers(self) -> dict[int, list[Transition]]:
        """Return for each channel without buffer the transitions that receive."""
        receivers: dict[int, list[Transition]] = {}
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is not None and not message.sends:
                receivers.setdefault(message.channel, []).append(transition)
        return receivers

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """For each variable the first of its array, or itself if it is in none."""
        slots = list(range(len(self.variables)))
        for array in self.arrays:
            slots[array.first : array.first + array.size] = [array.first] * array.size
        return tuple(slots)

    def slot_variables(self, slot: int) -> range:
        """Return the variables of a slot: the elements of an array, or one."""
        end = slot + 1
        while end < len(self.variables) and self.slots[end] == slot:
            end += 1
        return range(slot, end)

    def writes(self, transition: Transition) -> set[int]:
        """Return the slots that the effects of a transition write to, and its state."""
        written = {self.processes[transition.process].state}
        for effect in transition.effects:
            target = effect.target
            first = target.variable if isinstance(target, Read) else target.first
            written.add(self.slots[first])
        return written

    def rendezvous(self, transition: Transition) -> Message | None:
        """Return the message of a transition over a channel without buffer, if any."""
        message = transition.message
        if message is None or self.channels[message.channel].capacity:
            return None
        return message

    def described(self, *transitions: Transition) -> str:
        """Return what moves in a step in words: ``P: a -> b c! | Q: s -> t c?``."""
        return " | ".join(map(self._described, transitions))

    def _described(self, transition: Transition) -> str:
        process = self.processes[transition.process]
        states = self.variables[process.state].states
        source, target = states[transition.source], states[transition.target]
        text = f"{process.name}: {source} -> {target}"
        if transition.message is None:
            return text
        mark = "!" if transition.message.sends else "?"
        return f"{text} {self.channels[transition.message.channel].name}{mark}"
