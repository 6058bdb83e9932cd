"""Channels and the messages that transitions send and receive over them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.systems.dve.names import ChannelName, kind_of
from ltlpipe.systems.dve.program import BOUNDS, Array, Channel, Message, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.dve import syntax
    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.names import Scope
    from ltlpipe.systems.dve.resolving import Resolver


def declared_channel(
    declared: syntax.DeclaredChannel, capacity: int, first: int
) -> tuple[Channel, list[Variable], list[Array]]:
    """Return a channel, the variables that hold its contents, and their arrays.

    Parameters
    ----------
    declared : syntax.DeclaredChannel
        What the file says.
    capacity : int
        How many messages it holds; 0 without buffer.
    first : int
        The number that the first variable is going to have.
    """
    name, types = declared.name, declared.types
    if not capacity:
        return Channel(name, types, 0), [], []
    types = types or ()
    variables = [Variable(f"{name}.length", "length", (0, capacity), 0)]
    arrays = []
    for number, kind in enumerate(types):
        # A message of one part is what the channel holds, and goes by its name.
        part = name if len(types) == 1 else f"{name}.part{number}"
        arrays.append(Array(part, first + len(variables), capacity))
        variables += [
            Variable(f"{part}[{i}]", kind, BOUNDS[kind], 0) for i in range(capacity)
        ]
    cells = tuple(a.first for a in arrays)
    return Channel(name, types, capacity, first, cells), variables, arrays


class MessageReader:
    """Reads synchronisations; both ends of a channel have to agree.

    Parameters
    ----------
    resolver : Resolver
        For the expressions in messages.
    channels : sequence of Channel
        All channels; it may grow.
    """

    def __init__(self, resolver: Resolver, channels: Sequence[Channel]) -> None:
        self.resolver = resolver
        self.channels = channels
        self._parts: dict[int, tuple[int, int]] = {}  # of untyped channels; the line

    def message(self, tree: syntax.Synchronisation, scope: Scope) -> Message:
        """Return what a transition sends or receives.

        Raises
        ------
        InputError
            The name is no channel, or the message does not have as many parts as the
            channel's messages have.
        """
        meaning = scope.look_up(tree.channel, tree.place)
        if not isinstance(meaning, ChannelName):
            message = f"{tree.channel!r} is {kind_of(meaning)}, expected a channel"
            raise self.resolver.error(message, tree.place)
        self._check_parts(meaning.channel, tree)
        values: tuple[Expression, ...]
        if tree.sends:
            values = tuple(self.resolver.expression(v, scope) for v in tree.values)
        else:
            values = tuple(self.resolver.target(v, scope) for v in tree.values)
        return Message(meaning.channel, tree.sends, values)

    def _check_parts(self, number: int, tree: syntax.Synchronisation) -> None:
        channel = self.channels[number]
        given = len(tree.values)
        if channel.types is not None:
            expected, where = len(channel.types), "declared with"
        else:
            expected, line = self._parts.setdefault(number, (given, tree.place.line))
            where = f"used in line {line} with"
        if given != expected:
            raise self.resolver.error(
                f"{given} values for the channel {channel.name!r}, {where} {expected}",
                tree.place,
            )
