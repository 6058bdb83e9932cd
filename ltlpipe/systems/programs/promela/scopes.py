"""Names of a Promela model: what is declared where, and the leaves of records."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

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
    NewChannel,
    Type,
    Variable,
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
