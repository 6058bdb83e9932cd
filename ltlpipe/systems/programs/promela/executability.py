"""Executability of statements: ``else``, ``unless``, ``provided``, priorities.

All of them are conditions about what else is possible, in the state that a step leaves.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from ltlpipe.systems.programs.program import (
    Assignment,
    Binary,
    Conditional,
    Element,
    Message,
    Number,
    Read,
    fitting,
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Edge, Node, leaving
from ltlpipe.systems.programs.promela.messages import Alternative, Messages
from ltlpipe.systems.programs.promela.syntax import nodes_in
from ltlpipe.systems.programs.promela.tokens import input_error
from ltlpipe.systems.programs.promela.translation import all_of, any_of, equal, negated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.programs.program import Expression
    from ltlpipe.systems.programs.promela.storage import Frame, Storage


class Executability(Messages):
    """Translates what statements need to be executed."""

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self._being_asked: list[Frame] = []
        """For which ``enabled`` is being translated, outermost first."""

    @abstractmethod
    def _ways(self, frame: Frame, node: Node, edge: Edge) -> list[Alternative]:
        """Return in what ways a statement can be executed."""

    @abstractmethod
    def _ended(self, frame: Frame) -> Alternative:
        """Return how a process ends."""

    def _allowed(self, frame: Frame) -> list[Expression]:
        """Return when the process of a slot may move at all."""
        provided = self._provided(frame)
        first = self.storage.priorities
        if first < 0:
            return provided
        for other in self.storage.offsets:
            if other.slot != frame.slot:
                higher = Binary(">", Read(first + other.slot), Read(first + frame.slot))
                can = all_of([higher, *self._provided(other), self._enabled(other)])
                provided.append(negated(can))
        return provided

    def _provided(self, frame: Frame) -> list[Expression]:
        provided = self.model.proctypes[frame.proctype].provided
        return [] if provided is None else [self.value(provided, frame)]

    def _enabled(self, frame: Frame) -> Expression:
        """Return whether a slot's process could move by itself, as Spin tests it.

        A message without buffer can be sent then, whoever waits for it.
        """
        storage = self.storage
        flow, offset = storage.flows[frame.proctype], storage.offsets[frame]
        state, ways = storage.states[frame.slot], []
        for node in flow.nodes:
            found = [
                all_of([*self._unescaped(frame, edge), *way.conditions])
                for edge in leaving(node)
                for way in self._ways(frame, node, edge)
                if way.message is None or way.message.sends
            ]
            if node is flow.end:
                found.append(all_of(self._ended(frame).conditions))
            here = equal(Read(state), Number(offset + node.number))
            ways.append(all_of([here, any_of(found)]))
        return any_of(ways)

    def called(self, tree: syntax.Call, frame: Frame) -> Expression:
        """Return the value of a function of processes."""
        storage = self.storage
        pid = self.value(tree.arguments[0], frame)
        if tree.name == "get_priority":
            if storage.priorities < 0:
                return Number(1)
            n_slots = len(storage.states)
            priority = Element(storage.priorities, n_slots, pid)
            return Conditional(self._is_slot(tree, frame), priority, Number(0))
        if tree.name == "set_priority":
            return Number(1)
        values: list[tuple[Expression, Expression]] = []
        for other, offset in storage.offsets.items():
            here = equal(self.value(tree.arguments[0], frame), Number(other.slot))
            if isinstance(here, Number) and not here.value:
                continue
            if tree.name == "enabled":
                # As in Spin, a process that asks for itself is an error.
                none = Binary("/", Number(0), Number(0))
                values.append(
                    (here, none if other == frame else self._asked(tree, other))
                )
            else:
                place = Binary("-", Read(storage.states[other.slot]), Number(offset))
                values.append((all_of([here, self.alive(other)]), place))
        if tree.name == "enabled":
            return any_of(all_of(pair) for pair in values)
        return self._chosen(values)

    def _asked(self, tree: syntax.Call, frame: Frame) -> Expression:
        """Return ``enabled(p)``, unless that depends on itself."""
        if frame in self._being_asked:
            message = "whether the process is enabled depends on this 'enabled' itself"
            raise input_error(message, tree.place)
        self._being_asked.append(frame)
        try:
            return self._enabled(frame)
        finally:
            self._being_asked.pop()

    def _is_slot(self, tree: syntax.Call, frame: Frame) -> Expression:
        pid, again = (self.value(tree.arguments[0], frame) for _ in range(2))
        n_slots = Number(len(self.storage.states))
        return all_of([Binary(">=", pid, Number(0)), Binary("<", again, n_slots)])

    def _reset(self, tree: syntax.Expression, frame: Frame) -> list[Assignment]:
        """Return the assignments that ``set_priority`` is."""
        calls = [
            node
            for node in nodes_in(tree)
            if isinstance(node, syntax.Call) and node.name == "set_priority"
        ]
        effects = []
        for call in calls:
            for slot, state in enumerate(self.storage.states):
                pid, value = (self.value(a, frame) for a in call.arguments)
                here = all_of(
                    [equal(pid, Number(slot)), Binary("!=", Read(state), Number(0))]
                )
                target = Read(self.storage.priorities + slot)
                chosen = Conditional(here, value, Read(target.variable))
                effects.append(self._set(target, chosen))
        return effects

    def _unescaped(self, frame: Frame, edge: Edge) -> list[Expression]:
        """Return that no escape from a statement can be executed."""
        return [
            negated(self._can_leave(frame, escape.resolved.node))
            for escape in edge.escapes
        ]

    def _preferred(self, frame: Frame, node: Node, edge: Edge) -> list[Expression]:
        """Return that no statement can be executed that comes before this one."""
        if not edge.rivals or isinstance(edge.step, syntax.Else):
            return []
        return [negated(self._can_leave(frame, node, edge.rivals))]

    def _can_leave(
        self, frame: Frame, node: Node, edges: Sequence[Edge] | None = None
    ) -> Expression:
        """Return whether a statement at a place, or one of some, can be executed."""
        some = node.edges if edges is None else edges
        return any_of(self._executable(frame, node, edge) for edge in some)

    def _executable(self, frame: Frame, node: Node, edge: Edge) -> Expression:
        return any_of(
            all_of([*way.conditions, self._paired(frame, way.message)])
            for way in self._ways(frame, node, edge)
        )

    def _paired(self, frame: Frame, message: Message | None) -> Expression:
        """Return whether another process waits for a message that is sent."""
        if message is None:
            return Number(1)
        if not message.sends:
            return Number(0)
        ready = []
        for other, offset in self.storage.offsets.items():
            if other.slot == frame.slot:
                continue
            flow = self.storage.flows[other.proctype]
            state = self.storage.states[other.slot]
            for node in flow.nodes:
                for edge in leaving(node):
                    if not isinstance(edge.step, syntax.Receive):
                        continue
                    here = equal(Read(state), Number(offset + node.number))
                    for way in self._received(edge.step, other):
                        checks = fitting(message, way.message)
                        if checks is not None:
                            some = (*self._allowed(other), *way.conditions, *checks)
                            ready.append(all_of([here, *some]))
        return any_of(ready)
