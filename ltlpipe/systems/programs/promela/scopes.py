"""Names of a Promela model: variables, the leaves of records, and labels.

A label belongs to the block in braces where it stands, so that an inline with labels
can be called twice.  A ``goto`` means the label of its own block, else of a block
around it, else of any other.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ltlpipe.runtime.names import nearest
from ltlpipe.systems.programs.promela.syntax import (
    BIT,
    BOOL,
    BYTE,
    CHAN,
    INT,
    MTYPE,
    PID,
    SHORT,
    Goto,
    Labelled,
    NewChannel,
    Sequence,
    Type,
    Variable,
    with_statements,
)
from ltlpipe.systems.programs.promela.tokens import input_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.systems.programs.promela.syntax import Expression, Place, Run

BASIC = {t.name: t for t in (BIT, BOOL, BYTE, CHAN, INT, MTYPE, PID, SHORT)}
PREDEFINED = ("_pid", "_nr_pr", "_last", "_", "_priority")
Initial: TypeAlias = "NewChannel | Expression | tuple[Expression, ...] | None"


class Field(NamedTuple):
    """A field of a typedef."""

    name: str
    type: Type | str  # or the name of a typedef
    size: int | None
    initial: Initial


@dataclass(frozen=True, eq=False)
class Symbol:
    """A variable as it is declared: one basic variable, or the leaves of a record."""

    place: Place
    name: str
    type: Type | str
    is_array: bool
    leaves: dict[tuple[str, ...], Variable]  # by the names of fields


@dataclass
class Table:
    """What a whole model declares."""

    typedefs: dict[str, tuple[Field, ...]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)  # of all sets of mtypes
    sets: dict[str, dict[str, int]] = field(default_factory=dict)
    proctypes: dict[str, Place] = field(default_factory=dict)
    symbols: dict[str, Symbol] = field(default_factory=dict)  # the global ones
    locals: dict[str, dict[str, Symbol]] = field(default_factory=dict)
    """Of each proctype that has been read, the variables and parameters."""
    runs: list[Run] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)

    def leaves(
        self,
        name: str,
        type_: Type | str,
        size: int | None,
        make: Callable[[str, str, Type, tuple[int, ...], Initial], Variable],
        initial: Initial = None,
    ) -> dict[tuple[str, ...], Variable]:
        """Return the basic variables of a declaration, which `make` makes."""
        found = {}
        for path, kind, sizes, own in self._parts(type_, size, initial):
            names = (name, *path)
            form = ".".join(
                part if extent is None else part + "[{}]"
                for part, extent in zip(names, sizes, strict=True)
            )
            dimensions = tuple(extent for extent in sizes if extent is not None)
            found[path] = make(".".join(names), form, kind, dimensions, own)
        return found

    def _parts(
        self, type_: Type | str, size: int | None, initial: Initial
    ) -> Iterator[tuple[tuple[str, ...], Type, tuple[int | None, ...], Initial]]:
        if isinstance(type_, Type):
            yield (), type_, (size,), initial
            return
        for part in self.typedefs[type_]:
            for path, kind, sizes, own in self._parts(
                part.type, part.size, part.initial
            ):
                yield (part.name, *path), kind, (size, *sizes), own


class Scope:
    """The names of one proctype or claim, block by block; or the global ones."""

    def __init__(self, table: Table, owner: str | None = None) -> None:
        self.table = table
        self.owner = owner
        self.known: ChainMap[str, Symbol] = ChainMap({}, table.symbols)
        if owner is None:
            self.known = ChainMap(table.symbols)
        self.block: tuple[int, ...] = ()  # of the text where this is
        self.blocks = 0
        self.variables: list[Variable] = []
        self.symbols: dict[str, Symbol] = {}  # of all blocks
        self.at_birth = True  # until the first statement
        self.names: set[str] = set()

    def enter(self) -> None:
        """Begin a block in braces."""
        self.blocks += 1
        self.block = (*self.block, self.blocks)
        self.known = self.known.new_child()
        self.at_birth = False

    def leave(self) -> None:
        """End the block."""
        self.block = self.block[:-1]
        self.known = self.known.parents

    def declare(self, symbol: Symbol) -> None:
        """Make a variable known.

        Raises
        ------
        InputError
            Its name has a meaning here.
        """
        self.refuse_redeclaration(symbol.name, symbol.place)
        self.known[symbol.name] = symbol
        self.symbols.setdefault(symbol.name, symbol)
        self.variables += symbol.leaves.values()

    def refuse_redeclaration(self, name: str, place: Place) -> None:
        """Raise `InputError` if a name has a meaning."""
        before = self.known.get(name)
        if before is not None:
            where = f"declared in line {before.place.line}"
        elif name in self.table.constants:
            where = "a constant of an mtype"
        elif name in PREDEFINED:
            where = "predefined"
        else:
            return
        raise input_error(f"redeclaration of {name!r}, {where}", place)

    def unique(self, name: str, place: Place) -> str:
        """Return the name for a variable, which others of the proctype do not have."""
        shown = name
        while shown in self.names:
            shown = f"{shown}@{place.line}"
        self.names.add(shown)
        return shown

    def find(self, name: str, place: Place) -> Symbol:
        """Return the variable that a name means.

        Raises
        ------
        InputError
            It means none.
        """
        found = self.known.get(name)
        if found is None:
            meant = nearest(name, [*self.known, *self.table.constants])
            raise input_error(f"undeclared variable {name!r}{meant}", place)
        return found


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
            raise input_error(f"no label is called {goto.name!r}{known}", goto.place)

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
