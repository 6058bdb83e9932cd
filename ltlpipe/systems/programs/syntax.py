"""The syntax tree of the DVE language, before names are looked up.

Every node of the tree knows its place, for messages.  The nodes are called like the
rules of the grammar, and their fields are the parts of a rule in order;
`ltlpipe.systems.programs.reading` looks names up and checks the tree.

Texts are read by `ltlpipe.systems.programs.parsing`; its tests have the grammar.

Source: J. Barnat, L. Brim, V. Havel et al., "DiVinE 3.0: An Explicit-State Model
Checker for Multithreaded C & C++ Programs", CAV 2013, the grammar of DiVinE 2
(``dve_grammar.yy``), and the parser of DiVinE 3 (``divine/dve/parse.h``).

Differences from the source: operators bind as in C, where DiVinE has one level for
``and`` and ``or`` and one for ``&``, ``|`` and ``^``; version 2 groups operators of one
level from the left, version 3 from the right (`ltlpipe.systems.programs.reading` warns
where that matters); the parts ``init``,
``commit``, ``accept`` and ``assert`` come in any order; sizes of arrays and channels
are constant expressions; the last semicolon of the transitions may be missing; ``!``
also means ``not``.  There are no probabilistic transitions and no acceptance but
``accept`` with a list of states.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ltlpipe.runtime.errors import InputError


class Place(NamedTuple):
    """Where something stands in the file, both counted from 1."""

    line: int
    column: int


class Literal(NamedTuple):
    """A number, or ``true`` or ``false``, as it is written."""

    place: Place
    text: str


class Name(NamedTuple):
    """A variable or constant, an element of an array if there is a subscript.

    ``P->x`` names the variable `x` of the process `P`.
    """

    place: Place
    process: str | None
    name: str
    subscript: Expression | None


class StateOf(NamedTuple):
    """``P.s``: whether the process `P` is in its state `s`."""

    place: Place
    process: str
    state: str


class Unary(NamedTuple):
    """An operator before its operand: ``-``, ``~`` or ``not``."""

    place: Place
    op: str
    operand: Expression


class Binary(NamedTuple):
    """An operator, as C writes it (``and`` is ``&&``), or ``imply``, with operands."""

    place: Place
    left: Expression
    op: str
    right: Expression


class Closed(NamedTuple):
    """An expression in parentheses."""

    place: Place
    inner: Expression


Opened: TypeAlias = Literal | Name | StateOf | Unary | Binary
Expression: TypeAlias = Opened | Closed


class Values(NamedTuple):
    """A list of values in braces."""

    place: Place
    values: tuple[Expression, ...]


class Declared(NamedTuple):
    """One name of a declaration: a variable, a constant or a channel.

    `size` is None for what is no array, and for a channel without one.
    """

    place: Place
    name: str
    size: Expression | None
    initial: Expression | Values | None = None


class Variables(NamedTuple):
    """A declaration of variables, or of constants."""

    place: Place
    constant: str | None
    kind: str  # "byte" or "int"
    declared: tuple[Declared, ...]


class Channels(NamedTuple):
    """A declaration of channels; `types` is None if they have none."""

    place: Place
    types: tuple[str, ...] | None
    declared: tuple[Declared, ...]


class Label(NamedTuple):
    """A name with its place: a state, mostly."""

    place: Place
    name: str


class Assertion(NamedTuple):
    """An assertion about a state of a process."""

    place: Place
    state: Label
    condition: Expression


class Section(NamedTuple):
    """A part of a process behind its states.

    Of kind ``init``, ``commit`` or ``accept`` it has labels, of ``assert`` assertions.
    """

    place: Place
    kind: str
    entries: tuple[Label | Assertion, ...]


class Synchronisation(NamedTuple):
    """``channel!values`` or ``channel?targets``."""

    place: Place
    channel: str
    mark: str
    values: tuple[Expression, ...] | None


class Assignment(NamedTuple):
    """One assignment of an effect."""

    place: Place
    target: Name
    value: Expression


class Transition(NamedTuple):
    """A transition; `source` is None where it is that of the one before."""

    place: Place
    source: Label | None
    target: Label
    guards: tuple[Expression, ...] | None
    sync: Synchronisation | None
    effects: tuple[Assignment, ...] | None


class Process(NamedTuple):
    """A process with its declarations, states and transitions."""

    place: Place
    name: str
    declarations: tuple[Variables, ...]
    states: tuple[Label, ...]
    sections: tuple[Section, ...]
    transitions: tuple[Transition, ...] | None


class File(NamedTuple):
    """A whole model; `mode` is "sync" or "async"."""

    place: Place
    declarations: tuple[Variables | Channels, ...]
    processes: tuple[Process, ...]
    mode: str
    property: Label | None


def input_error(message: str, place: Place, file: str) -> InputError:
    """Return an error at a place of a model."""
    return InputError(f"column {place.column}: {message}", file=file, line=place.line)
