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

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Do nothing: it is for type checkers, and in Python 3.10 not there."""
        return lambda kind: kind


class Place(NamedTuple):
    """Where something stands, line and column counted from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


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


@dataclass_transform(eq_default=False, frozen_default=True)
@dataclass(frozen=True, eq=False)
class Tree:
    """A node, with its place; its classes are dataclasses by being its subclasses."""

    place: Place

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)


class NewChannel(Tree):
    """``[capacity] of { fields }``, an initial value: a channel of its own for each
    element of the variable, made when the variable is.
    """

    capacity: int
    fields: tuple[Type, ...]  # records flattened


class Variable(Tree):
    """A variable of a basic type, or an array of them."""

    name: str
    """As it is written, ``x`` or ``s.p.x``; of equal names in blocks of one proctype,
    all but the first have ``@LINE`` behind it."""
    type: Type
    dimensions: tuple[int, ...] = ()
    initial: NewChannel | Expression | tuple[Expression, ...] | None = None
    """One value is that of all elements; a tuple has the values of the first ones, of
    which the last is that of all others; so in each record of an array."""
    proctype: str | None = None  # whose it is; None if it is global
    hidden: bool = False  # no part of the state
    at_birth: bool = True
    """A local one that is not made at birth has a `Declare` where it is set."""
    form: str = ""
    """The name of an element, to be formatted with the indices: ``s[{}].p[{}].x``."""

    @property
    def size(self) -> int:
        """How many elements it has, 1 if it is no array."""
        return math.prod(self.dimensions)


def nodes_in(tree: Any) -> Iterator[Any]:
    """Yield a node and all within it, but not declarations of variables."""
    todo = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple):
            todo += reversed(node)
        elif isinstance(node, Tree) and not isinstance(node, Variable):
            yield node
            todo += reversed(vars(node).values())


def with_parts(node: Any, again: Callable[[Any], Any]) -> Any:
    """Return a node with what `again` makes of each node in it, variables apart."""

    def made(part: Any) -> Any:
        if type(part) is tuple:
            return tuple(map(made, part))
        is_node = isinstance(part, Tree) and not isinstance(part, Variable)
        return again(part) if is_node else part

    return replace(node, **{name: made(part) for name, part in vars(node).items()})


# Expressions


class Number(Tree):
    """A constant; of an mtype with its name."""

    value: int
    name: str = ""


class Reference(Tree):
    """A variable or an element, one index for each dimension."""

    variable: Variable
    indices: tuple[Expression, ...] = ()


class Special(Tree):
    """``_pid``, ``_nr_pr``, ``_last``, ``np_`` or ``timeout``."""

    name: str


class Unary(Tree):
    """``-``, ``~`` or ``!``."""

    op: str
    operand: Expression


class Binary(Tree):
    """An operator of C: arithmetic, bits, shifts, comparisons, ``&&``, ``||``."""

    op: str
    left: Expression
    right: Expression


class Conditional(Tree):
    """``(condition -> yes : no)``."""

    condition: Expression
    yes: Expression
    no: Expression


class Measure(Tree):
    """``len``, ``full``, ``empty``, ``nfull`` or ``nempty`` of a channel."""

    name: str
    channel: Expression


class Poll(Tree):
    """``q?[...]`` or ``q??[...]``: whether that receive could be made."""

    channel: Expression
    anywhere: bool  # ``??``
    arguments: tuple[Argument, ...]


class Run(Tree):
    """``run P(arguments)``; the value is the number of the process, or 0."""

    proctype: str
    arguments: tuple[Expression, ...]
    priority: int | None = None


class Call(Tree):
    """``enabled``, ``pc_value``, ``get_priority`` (one argument) or ``set_priority``
    (two), of the number of a process.
    """

    name: str
    arguments: tuple[Expression, ...]


class RemoteLabel(Tree):
    """``P[pid]@label``: whether that process is there; without `pid`, the only one."""

    proctype: str
    pid: Expression | None
    label: str


class RemoteVariable(Tree):
    """``P[pid]:x``, the value of a variable of another process."""

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


class Argument(Tree):
    """One field of a receive, a poll or an event."""

    kind: str
    """``store`` (in a `Reference`), ``match`` (a constant or ``eval``) or ``any``
    (``_``)."""
    value: Expression | None = None


# Statements


class Assign(Tree):
    """An assignment, also ``x++`` and ``x--``."""

    target: Reference
    value: Expression
    text: str = ""


class Condition(Tree):
    """An expression as a statement, ``skip`` (the number 1) and ``run`` too."""

    expression: Expression
    text: str = ""


class Else(Tree):
    """``else``."""

    text: str = "else"


class Assert(Tree):
    """``assert(expression)``."""

    expression: Expression
    text: str = ""


class Print(Tree):
    """``printf`` or ``printm``: a step without effect.

    So is ``_ = e``, whose format is empty.
    """

    format: str
    values: tuple[Expression, ...]
    text: str = ""


class Send(Tree):
    """``channel!values``, or ``!!``, which sorts."""

    channel: Expression
    sorted: bool
    values: tuple[Expression, ...]
    text: str = ""


class Receive(Tree):
    """``?``, ``??`` (anywhere in the channel), ``?<>`` (the message stays)."""

    channel: Expression
    anywhere: bool
    stays: bool
    arguments: tuple[Argument, ...]
    text: str = ""


class Event(Tree):
    """What a ``trace`` assertion expects: ``channel!arguments`` or ``?``."""

    channel: Expression
    sends: bool
    arguments: tuple[Argument, ...]  # of kinds ``match`` and ``any``
    text: str = ""


class Declare(Tree):
    """A declaration behind the first statement: a step that sets the variables (the
    leaves of one record, else one) to their initial values, or to 0.
    """

    variables: tuple[Variable, ...]
    text: str = ""


class Goto(Tree):
    """``goto label``."""

    label: str
    text: str = ""


class Break(Tree):
    """``break``."""

    text: str = "break"


class Sequence(Tree):
    """Statements, one after the other; a block in braces too."""

    statements: tuple[Statement, ...]


class Choice(Tree):
    """``if`` or ``do``."""

    repeats: bool
    options: tuple[Sequence, ...]


class Atomic(Tree):
    """``atomic`` or ``d_step``."""

    deterministic: bool
    body: Sequence


class Unless(Tree):
    """``body unless escape``."""

    body: Sequence
    escape: Sequence


class Labelled(Tree):
    """A label and its statement."""

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


def with_statements(statement: Any, again: Callable[[Any], Any]) -> Any:
    """Return a statement with what `again` makes of those inside of it."""
    has_others = isinstance(statement, (Sequence, Choice, Atomic, Unless, Labelled))
    return with_parts(statement, again) if has_others else statement


# Declarations


class Proctype(Tree):
    """A proctype; ``init`` is one, named so, active once and without parameters."""

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


class Claim(Tree):
    """A ``never`` claim, or a ``trace`` or ``notrace`` assertion."""

    kind: str  # "never", "trace" or "notrace"
    name: str  # of a never claim, or ""
    variables: tuple[Variable, ...]
    body: Sequence
    labels: tuple[str, ...] = ()


class Formula(Tree):
    """An ``ltl`` block: a formula over propositions, which are expressions."""

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
