"""The syntax tree of a DVE model, before names are looked up.

Every node knows its place, for messages.  `ltlpipe.systems.dve.grammar` builds the
tree, `ltlpipe.systems.dve.reading` looks names up and checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Place(NamedTuple):
    """Where something stands in the file, both counted from 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Literal:
    """A number; ``true`` and ``false`` are 1 and 0."""

    place: Place
    value: int


@dataclass(frozen=True)
class Name:
    """A variable or constant, an element of an array if there is an index.

    ``P->x`` names the variable `x` of the process `P`.
    """

    place: Place
    name: str
    index: Expression | None = None
    process: str | None = None


@dataclass(frozen=True)
class StateOf:
    """``P.s``: whether the process `P` is in its state `s`."""

    place: Place
    process: str
    state: str


@dataclass(frozen=True)
class Unary:
    """An operator before its operand: ``-``, ``~`` or ``not``."""

    place: Place
    op: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    """An operator between its operands.

    `op` is as C writes it (``and`` is ``&&``), or ``imply``; `closed` tells whether
    the expression stands in parentheses.
    """

    place: Place
    op: str
    left: Expression
    right: Expression
    closed: bool = False


Expression: TypeAlias = Literal | Name | StateOf | Unary | Binary


@dataclass(frozen=True)
class Declared:
    """One name of a declaration of variables or constants.

    `size` is None for what is no array; `initial` None where nothing is said, and
    `braces` tells whether it is a list in braces.
    """

    place: Place
    name: str
    kind: str  # "byte" or "int"
    constant: bool
    size: Expression | None
    initial: tuple[Expression, ...] | None
    braces: bool


@dataclass(frozen=True)
class DeclaredChannel:
    """One channel; `types` is None if it has none, `size` None if it is not given."""

    place: Place
    name: str
    types: tuple[str, ...] | None
    size: Expression | None


@dataclass(frozen=True)
class Label:
    """A name with its place: a state, mostly."""

    place: Place
    name: str


@dataclass(frozen=True)
class Section:
    """A part of a process behind its states: ``init``, ``commit`` or ``accept``."""

    place: Place
    kind: str
    states: tuple[Label, ...]


@dataclass(frozen=True)
class Assertion:
    """What is said to hold whenever a process is in a state."""

    state: Label
    condition: Expression


@dataclass(frozen=True)
class Assertions:
    """All assertions of an ``assert`` part."""

    place: Place
    assertions: tuple[Assertion, ...]


@dataclass(frozen=True)
class Synchronisation:
    """``channel!values`` (`sends`) or ``channel?targets``."""

    place: Place
    channel: str
    sends: bool
    values: tuple[Expression, ...]


@dataclass(frozen=True)
class Assignment:
    """One assignment of an effect; the target is a `Name`."""

    place: Place
    target: Expression
    value: Expression


@dataclass(frozen=True)
class Transition:
    """A transition; `source` is None where it is that of the one before."""

    place: Place
    source: Label | None
    target: Label
    guards: tuple[Expression, ...]
    sync: Synchronisation | None
    effects: tuple[Assignment, ...]


@dataclass(frozen=True)
class Process:
    """A process with its declarations, states and transitions."""

    place: Place
    name: str
    declared: tuple[Declared, ...]
    states: tuple[Label, ...]
    sections: tuple[Section | Assertions, ...]
    transitions: tuple[Transition, ...]


@dataclass(frozen=True)
class File:
    """A whole model."""

    declared: tuple[Declared | DeclaredChannel, ...]
    processes: tuple[Process, ...]
    synchronous: bool
    property: Label | None
