"""The checked syntax tree of a Promela model.

What the resolver hands over: macros and inlines are expanded, ``for`` and ``select``
are loops, every name is resolved to its declaration, records are flattened.  A
`Variable` has a basic type and any number of dimensions: the field ``p[3].x`` of an
array ``s[2]`` of records is one variable ``s.p.x`` of dimensions (2, 3), and a record
as a message, a field of a message or an argument is the tuple of its leaves.

Nodes are compared by identity.  Their places are those of the text before it was
preprocessed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias


class Place(NamedTuple):
    """Where something stands, line and column counted from 1."""

    file: str
    line: int
    column: int


class Type(NamedTuple):
    """A basic type; values are truncated to it as C does."""

    name: str
    """``bit``, ``bool``, ``byte``, ``pid``, ``short``, ``int``, ``unsigned``,
    ``mtype`` or ``chan``."""
    bits: int
    signed: bool = False
    names: str = ""
    """Of an ``mtype:NAME``, the name of its set of constants."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest value."""
        if self.signed:
            return -(1 << self.bits - 1), (1 << self.bits - 1) - 1
        return 0, (1 << self.bits) - 1


BIT, BOOL = Type("bit", 1), Type("bool", 1)
BYTE, PID, MTYPE, CHAN = (Type(n, 8) for n in ("byte", "pid", "mtype", "chan"))
SHORT, INT = Type("short", 16, signed=True), Type("int", 32, signed=True)


@dataclass(frozen=True, eq=False)
class NewChannel:
    """``[capacity] of { fields }``, an initial value: a channel of its own for each
    element of the variable, made when the variable is.
    """

    place: Place
    capacity: int
    fields: tuple[Type, ...]  # records flattened


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of a basic type, or an array of them."""

    place: Place
    name: str
    """As it is written, ``x`` or ``s.p.x``; of equal names in blocks of one proctype,
    all but the first have ``@LINE`` behind it."""
    type: Type
    dimensions: tuple[int, ...] = ()
    initial: NewChannel | Expression | tuple[Expression, ...] | None = None
    """One value is that of all elements; a tuple has the values of the first ones."""
    proctype: str | None = None  # whose it is; None if it is global
    hidden: bool = False  # no part of the state
    at_birth: bool = True
    """A local one that is not made at birth has a `Declare` where it is set."""
    form: str = ""
    """The name of an element, to be formatted with the indices: ``s[{}].p[{}].x``."""


# Expressions


@dataclass(frozen=True, eq=False)
class Number:
    """A constant; of an mtype with its name."""

    place: Place
    value: int
    name: str = ""


@dataclass(frozen=True, eq=False)
class Reference:
    """A variable or an element, one index for each dimension."""

    place: Place
    variable: Variable
    indices: tuple[Expression, ...] = ()


@dataclass(frozen=True, eq=False)
class Special:
    """``_pid``, ``_nr_pr``, ``_last``, ``np_`` or ``timeout``."""

    place: Place
    name: str


@dataclass(frozen=True, eq=False)
class Unary:
    """``-``, ``~`` or ``!``."""

    place: Place
    op: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """An operator of C: arithmetic, bits, shifts, comparisons, ``&&``, ``||``."""

    place: Place
    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Conditional:
    """``(condition -> yes : no)``."""

    place: Place
    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True, eq=False)
class Measure:
    """``len``, ``full``, ``empty``, ``nfull`` or ``nempty`` of a channel."""

    place: Place
    name: str
    channel: Expression


@dataclass(frozen=True, eq=False)
class Poll:
    """``q?[...]`` or ``q??[...]``: whether that receive could be made."""

    place: Place
    channel: Expression
    anywhere: bool  # ``??``
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, eq=False)
class Run:
    """``run P(arguments)``; the value is the number of the process, or 0."""

    place: Place
    proctype: str
    arguments: tuple[Expression, ...]
    priority: int | None = None


@dataclass(frozen=True, eq=False)
class Call:
    """``enabled``, ``pc_value``, ``get_priority`` (one argument) or ``set_priority``
    (two), of the number of a process.
    """

    place: Place
    name: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, eq=False)
class RemoteLabel:
    """``P[pid]@label``: whether that process is there; without `pid`, the only one."""

    place: Place
    proctype: str
    pid: Expression | None
    label: str


@dataclass(frozen=True, eq=False)
class RemoteVariable:
    """``P[pid]:x``, the value of a variable of another process."""

    place: Place
    proctype: str
    pid: Expression | None
    reference: Reference


Expression: TypeAlias = (
    Number
    | Reference
    | Special
    | Unary
    | Binary
    | Conditional
    | Measure
    | Poll
    | Run
    | Call
    | RemoteLabel
    | RemoteVariable
)


@dataclass(frozen=True, eq=False)
class Argument:
    """One field of a receive, a poll or an event."""

    place: Place
    kind: str
    """``store`` (in a `Reference`), ``match`` (a constant or ``eval``) or ``any``
    (``_``)."""
    value: Expression | None = None


# Statements


@dataclass(frozen=True, eq=False)
class Assign:
    """An assignment, also ``x++`` and ``x--``."""

    place: Place
    target: Reference
    value: Expression
    text: str = ""


@dataclass(frozen=True, eq=False)
class Condition:
    """An expression as a statement, ``skip`` (the number 1) and ``run`` too."""

    place: Place
    expression: Expression
    text: str = ""


@dataclass(frozen=True, eq=False)
class Else:
    """``else``."""

    place: Place
    text: str = "else"


@dataclass(frozen=True, eq=False)
class Assert:
    """``assert(expression)``."""

    place: Place
    expression: Expression
    text: str = ""


@dataclass(frozen=True, eq=False)
class Print:
    """``printf`` or ``printm``: a step without effect.

    So is ``_ = e``, whose format is empty.
    """

    place: Place
    format: str
    values: tuple[Expression, ...]
    text: str = ""


@dataclass(frozen=True, eq=False)
class Send:
    """``channel!values``, or ``!!``, which sorts."""

    place: Place
    channel: Expression
    sorted: bool
    values: tuple[Expression, ...]
    text: str = ""


@dataclass(frozen=True, eq=False)
class Receive:
    """``?``, ``??`` (anywhere in the channel), ``?<>`` (the message stays)."""

    place: Place
    channel: Expression
    anywhere: bool
    stays: bool
    arguments: tuple[Argument, ...]
    text: str = ""


@dataclass(frozen=True, eq=False)
class Event:
    """What a ``trace`` assertion expects: ``channel!arguments`` or ``?``."""

    place: Place
    channel: Expression
    sends: bool
    arguments: tuple[Argument, ...]  # of kinds ``match`` and ``any``
    text: str = ""


@dataclass(frozen=True, eq=False)
class Declare:
    """A declaration behind the first statement: a step that sets the variables (the
    leaves of one record, else one) to their initial values, or to 0.
    """

    place: Place
    variables: tuple[Variable, ...]
    text: str = ""


@dataclass(frozen=True, eq=False)
class Goto:
    """``goto label``."""

    place: Place
    label: str
    text: str = ""


@dataclass(frozen=True, eq=False)
class Break:
    """``break``."""

    place: Place
    text: str = "break"


@dataclass(frozen=True, eq=False)
class Sequence:
    """Statements, one after the other; a block in braces too."""

    place: Place
    statements: tuple[Statement, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """``if`` or ``do``."""

    place: Place
    repeats: bool
    options: tuple[Sequence, ...]


@dataclass(frozen=True, eq=False)
class Atomic:
    """``atomic`` or ``d_step``."""

    place: Place
    deterministic: bool
    body: Sequence


@dataclass(frozen=True, eq=False)
class Unless:
    """``body unless escape``."""

    place: Place
    body: Sequence
    escape: Sequence


@dataclass(frozen=True, eq=False)
class Labelled:
    """A label and its statement."""

    place: Place
    label: str
    statement: Statement


Step: TypeAlias = (
    Assign
    | Condition
    | Else
    | Assert
    | Print
    | Send
    | Receive
    | Event
    | Declare
    | Goto
    | Break
)
"""What is one statement of the text; `text` is what Spin would print for it."""

Statement: TypeAlias = Step | Sequence | Choice | Atomic | Unless | Labelled


# Declarations


@dataclass(frozen=True, eq=False)
class Proctype:
    """A proctype; ``init`` is one, named so, active once and without parameters."""

    place: Place
    name: str
    parameters: tuple[Variable, ...]
    variables: tuple[Variable, ...]
    """All local ones, without the parameters; those at birth in the order in which
    they are made."""
    body: Sequence
    active: int = 0  # instances at the start
    priority: int | None = None
    provided: Expression | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Claim:
    """A ``never`` claim, or a ``trace`` or ``notrace`` assertion."""

    place: Place
    kind: str  # "never", "trace" or "notrace"
    name: str  # of a never claim, or ""
    variables: tuple[Variable, ...]
    body: Sequence
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Formula:
    """An ``ltl`` block: a formula over propositions, which are expressions."""

    place: Place
    name: str
    text: str  # in the project's syntax, over the names of `propositions`
    propositions: dict[str, Expression] = field(default_factory=dict)
    written: str = ""  # as the model has it


@dataclass(frozen=True, eq=False)
class Model:
    """A checked model."""

    file: str
    mtypes: dict[str, dict[str, int]]  # by set ("" has no name): constants and values
    variables: tuple[Variable, ...]  # the global ones
    proctypes: tuple[Proctype, ...]  # in the order of the text, init among them
    claims: tuple[Claim, ...]
    formulas: tuple[Formula, ...]
    macros: dict[str, str] = field(default_factory=dict)
    """Macros without parameters, with what they stand for."""
    mentions: frozenset[str] = frozenset()
    """Which of ``_last``, ``np_``, ``_nr_pr``, ``enabled``, ``pc_value`` and
    ``priority`` the text has, apart from formulas and claims."""
    names: Any = None
    """The `ltlpipe.systems.programs.promela.scopes.Table`, for propositions."""
