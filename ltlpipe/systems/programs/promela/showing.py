"""States of a Promela model as people see them.

Values of type ``mtype`` and ``chan`` have names; a channel is shown by its messages;
processes that are not there have no variables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.programs.program import Program
    from ltlpipe.systems.programs.promela.storage import Storage

NO_CHANNEL = "-"
_SHOWN_MESSAGES = 12


class Shown:
    """Names and values of variables for people."""

    def __init__(
        self, program: Program, storage: Storage, sets: Mapping[str, Mapping[str, int]]
    ) -> None:
        self.program = program
        self.constants = {
            name: {value: constant for constant, value in own.items()}
            for name, own in sets.items()
        }
        self.channel_of: dict[int, int] = {}  # of lengths and cells
        for number, channel in enumerate(program.channels):
            for first in channel.cells:
                for cell in range(first, first + channel.capacity):
                    self.channel_of[cell] = number
            if channel.capacity:
                self.channel_of[channel.length] = number
        self.frames = _frames(storage)
        self.alive: dict[int, list[tuple[int, range]]] = {}
        for frame, places, variables in self.frames:
            for variable in variables:
                self.alive.setdefault(variable, []).append((frame, places))

    def state(self, state: Valuation) -> dict[str, int | str]:
        """Return a valuation by the names of variables and channels."""
        shown: dict[str, int | str] = {}
        for number, variable in enumerate(self.program.variables):
            value = state[number]
            if variable.kind in ("error", "timeout") and not value:
                continue
            if number in self.channel_of:
                channel = self.program.channels[self.channel_of[number]]
                if number == channel.length:
                    shown[channel.name] = self.messages(self.channel_of[number], state)
                continue
            owners = self.alive.get(number)
            if owners and not any(state[slot] in places for slot, places in owners):
                continue
            shown[variable.name] = self.value(variable.kind, value, variable.states)
        return shown

    def name(self, number: int) -> str:
        """Return the name under which a variable is shown."""
        channel = self.channel_of.get(number)
        if channel is not None:
            return self.program.channels[channel].name
        return self.program.variables[number].name

    def value(self, kind: str, value: int, states: Sequence[str] = ()) -> int | str:
        """Return a value of a type as it is written."""
        if states:
            return states[value]
        if kind.startswith("mtype"):
            return self.constants.get(kind[len("mtype:") :], {}).get(value, value)
        if kind == "chan":
            if not value:
                return NO_CHANNEL
            channels = self.program.channels  # or a number that came in a message
            return channels[value - 1].name if value <= len(channels) else value
        return value

    def messages(self, number: int, state: Valuation) -> str:
        """Return the messages in a channel: ``[ping,1 pong,2]``."""
        channel = self.program.channels[number]
        length = state[channel.length]
        texts = []
        for k in range(min(length, _SHOWN_MESSAGES)):
            cells = [first + k for first in channel.cells]
            kinds = [self.program.variables[cell].kind for cell in cells]
            values = [
                self.value(kind, state[c]) for kind, c in zip(kinds, cells, strict=True)
            ]
            texts.append(",".join(map(str, values)))
        left = length - len(texts)
        return "[" + " ".join(texts + ([f"... {left} more"] if left else [])) + "]"


def _frames(storage: Storage) -> list[tuple[int, range, list[int]]]:
    """Return for each proctype in a slot the variable for its place, the values of
    that, and its own variables.
    """
    found = []
    for frame, offset in storage.offsets.items():
        places = range(
            offset + 1, offset + 1 + len(storage.flows[frame.proctype].nodes)
        )
        own: list[int] = []
        for variable in storage.leaves(frame):
            first = storage.address(variable, frame)
            own += range(first, first + variable.size)
        found.append((storage.states[frame.slot], places, own))
    return found
