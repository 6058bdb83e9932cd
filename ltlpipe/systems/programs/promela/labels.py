"""Labels of a body: which label each ``goto`` means.

A label belongs to the block in braces where it stands, so that an inline with labels
can be called twice.  A ``goto`` means the label of its own block, else of a block
around it, else of any other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.names import nearest
from ltlpipe.systems.programs.promela.syntax import (
    Goto,
    Labelled,
    Sequence,
    with_statements,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from ltlpipe.systems.programs.promela.syntax import Place

Block: TypeAlias = tuple[int, ...]


@dataclass
class _Mention:
    name: str
    block: Block
    place: Place
    step: int  # the d_step around it, or 0


class Labels:
    """The labels of a body, and the places from where they are gone to.

    While a body is read, labels are called by numbers.
    """

    def __init__(self) -> None:
        self.labels: list[_Mention] = []
        self.gotos: list[_Mention] = []
        self.steps = 0
        self.step = 0
        self.names: list[str] = []  # unique ones, in the order of `labels`

    def enter_step(self) -> None:
        """Begin a d_step."""
        self.steps += 1
        self.step = self.steps

    def declared(self, name: str, block: Block, place: Place) -> str:
        """Note a label; return its number."""
        for other in self.labels:
            if other.name == name and other.block == block:
                where = f"line {other.place.line}"
                raise input_error(f"label {name!r} is also in {where}", place)
        self.labels.append(_Mention(name, block, place, self.step))
        return str(len(self.labels) - 1)

    def used(self, name: str, block: Block, place: Place) -> str:
        """Note a ``goto``; return its number."""
        self.gotos.append(_Mention(name, block, place, self.step))
        return str(len(self.gotos) - 1)

    def written(self, label: str) -> str:
        """Return the name of a label, by its number."""
        return self.labels[int(label)].name

    def resolved(self, body: Sequence) -> Sequence:
        """Return a body with the names of labels for their numbers."""
        taken: set[str] = set()
        for label in self.labels:
            name = label.name
            while name in taken:
                name = f"{name}@{label.place.line}"
            taken.add(name)
            self.names.append(name)
        targets = [self.names[self._target(goto)] for goto in self.gotos]
        renamed: Sequence = _renamed(body, self.names, targets)
        return renamed

    def _target(self, goto: _Mention) -> int:
        """Return the number of the label that a ``goto`` means."""
        found = [k for k, label in enumerate(self.labels) if label.name == goto.name]
        if not found:
            known = nearest(goto.name, [label.name for label in self.labels])
            message = f"no label is called {goto.name!r}{known}"
            raise input_error(message, goto.place)

        def nearness(number: int) -> tuple[bool, int]:
            block = self.labels[number].block
            around = goto.block[: len(block)] == block
            return around, len(block) if around else 0

        best = max(found, key=nearness)
        label = self.labels[best]
        if label.step != goto.step:
            direction = "out of" if goto.step else "into"
            raise input_error(f"'goto' {direction} a d_step", goto.place)
        return best


def _renamed(statement: Any, labels: list[str], targets: list[str]) -> Any:
    """Return a statement with the names of labels, and of those that are gone to."""
    if isinstance(statement, Goto):
        return replace(statement, label=targets[int(statement.label)])
    if isinstance(statement, Labelled):
        statement = replace(statement, label=labels[int(statement.label)])
    return with_statements(statement, lambda inner: _renamed(inner, labels, targets))
