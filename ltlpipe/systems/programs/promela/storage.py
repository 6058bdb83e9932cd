"""Places of the variables and channels of a model in a program's state.

Processes live in *slots*, one for each number that a process can have.  A slot has a
variable for the place of its process, 0 while there is none, and the parameters and
variables of each proctype that can be there, 0 while another one is.  A channel is a
length and an array of cells for each field.  What never changes has no variable: most
variables of type ``chan``, and parameters that are the same for every process of a
slot.

A channel comes from the declaration of a variable, its *site*.  Variables, parameters
and fields of messages hold channels of those sites that can flow into them, wherever
the statements are (`Sites`): the smallest solution of the inclusions that assignments,
messages and ``run`` are.

Source: L. O. Andersen, "Program Analysis and Specialization for the C Programming
Language", PhD thesis, DIKU, University of Copenhagen 1994, Ch. 4.  Differences from
the source: there are no pointers to variables.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs.program import (
    ASSERTION,
    BLOCKED,
    ENDLESS,
    ERROR,
    FAILED,
    FULL,
    IN_D_STEP,
    NO_CHANNEL,
    TRACE,
    Array,
    Channel,
    Variable,
)
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Flow, names_of_places
from ltlpipe.systems.programs.promela.syntax import nodes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MAX_VARIABLES = 1 << 14
"""Entries of a state beyond which a model is refused."""

FAULTS = {
    FAILED: "an index out of range, a division by zero, or a look at no channel",
    ASSERTION: "a failed assertion",
    BLOCKED: "a d_step that blocks behind its first statement",
    FULL: "more processes than there is room for",
    TRACE: (
        "a channel used otherwise than the trace allows, or a message that two of its "
        "events match"
    ),
    NO_CHANNEL: (
        "a channel that has not been initialised, has other fields, or was that of a "
        "process that has ended"
    ),
    IN_D_STEP: "a rendezvous that a d_step sends",
    ENDLESS: "an atomic sequence of too many steps",
}
"""What the values of the variable for errors mean."""


class Made(NamedTuple):
    """A channel by where it is declared, which its number in a program is not told by.

    It is that of an element of a variable, of the process in a slot; -1 if global.
    """

    slot: int
    site: syntax.Variable
    element: int


class Plan(NamedTuple):
    """Which proctypes can be in each slot.

    `births` are the calls of ``run``, by their nodes, with the slot of the process that
    executes it (-1 for any) and that which it may fill; None stands for all.  `fixed`
    are parameters with the same value in every process of a slot.  If a plan
    `is_complete`, no process ever finds it otherwise.  Where a process is started, the
    youngest ends before if it is at its end and of one of the proctypes `ending`.
    """

    slots: tuple[tuple[int, ...], ...]
    births: frozenset[tuple[syntax.Run, int, int]] | None = None
    fixed: dict[tuple[int, syntax.Variable], int | Made] = {}  # noqa: RUF012
    is_complete: bool = False
    ending: frozenset[int] = frozenset()


class Frame(NamedTuple):
    """Whose names an expression may use: a proctype in a slot, or -1 and -1."""

    slot: int
    proctype: int


GLOBAL = Frame(-1, -1)


@dataclass
class Storage:
    """The variables, arrays and channels of a program that is being made."""

    model: syntax.Model
    plan: Plan
    flows: Sequence[Flow]
    has_last: bool = True  # whether there is ``_last``, where the text mentions it
    variables: list[Variable] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    fields: list[tuple[syntax.Type, ...]] = field(default_factory=list)  # of these
    states: list[int] = field(default_factory=list)  # of each slot
    own: list[list[int]] = field(default_factory=list)  # of each slot, without these
    offsets: dict[Frame, int] = field(default_factory=dict)
    """For each proctype in a slot what is added to the numbers of its nodes."""
    timeout: int = -1
    last: int = -1
    event: int = -1  # the place of a trace
    priorities: int = -1
    """The variable for the priority of the first slot, if there are any."""

    def __post_init__(self) -> None:
        model, plan = self.model, self.plan
        self.sites = Sites(model)
        self.written = written(model)
        is_hidden = any(variable.hidden for variable in model.variables)
        self.read = _read(model) if is_hidden else set()
        self.addresses: dict[tuple[int, syntax.Variable], int] = {}
        self.constants: dict[tuple[int, syntax.Variable], tuple[int, ...]] = {}
        self.made: dict[tuple[int, syntax.Variable], range] = {}
        self.channels_at: dict[Site, list[int]] = defaultdict(list)
        self.origins: list[Made] = []  # of channels
        for variable in model.variables:
            self._declare(variable, -1)
        for slot, proctypes in enumerate(plan.slots):
            self._slot(slot, proctypes)
        for site in model.variables:
            self._channels(site, -1)
        for slot, proctypes in enumerate(plan.slots):
            for number in proctypes:
                for site in model.proctypes[number].variables:
                    self._channels(site, slot)
        for key, value in plan.fixed.items():
            if isinstance(value, Made):
                channel = self.made[value.slot, value.site][value.element]
                self.constants[key] = (channel + 1,)
        special = {
            node.name
            for part in (model.proctypes, model.claims)
            for node in nodes_in(part)
            if isinstance(node, syntax.Special)
        }
        moving = {
            node.name
            for node in nodes_in(model.proctypes)
            if isinstance(node, syntax.Special)
        }
        if "timeout" in special:
            self.timeout = self._add([Variable("timeout", "timeout", (0, 1), 0)])
        if "_last" in model.mentions and (self.has_last or "_last" in moving):
            self.last = self._add([Variable("_last", "pid", (0, 255), 0)])
        for claim in model.claims:
            if claim.kind != "never":
                places = len(Flow(claim.body).nodes)
                self.event = self._add([Variable("_event", "byte", (0, places), 1)])
        if "priority" in model.mentions:
            n_slots = len(plan.slots)
            self.priorities = self._add(
                [
                    Variable(f"_priority[{i}]", "byte", (0, 255), 0)
                    for i in range(n_slots)
                ]
            )
            self.arrays.append(Array("_priority", self.priorities, n_slots))
        self.error = -1

    def finish(self) -> None:
        """Append the variable for errors."""
        names = {v.name for v in self.variables}
        name = "error"
        while name in names:
            name += "_"
        self.error = self._add([Variable(name, ERROR, (0, len(FAULTS)), 0)])

    def address(self, variable: syntax.Variable, frame: Frame) -> int:
        """Return the number of a variable, or of its first element."""
        return self.addresses[self._key(variable, frame), variable]

    def constant(
        self, variable: syntax.Variable, frame: Frame
    ) -> tuple[int, ...] | None:
        """Return the values of a variable that has no place."""
        return self.constants.get((self._key(variable, frame), variable))

    def _key(self, variable: syntax.Variable, frame: Frame) -> int:
        return -1 if variable.proctype is None else frame.slot

    def slot_name(self, slot: int) -> str:
        """Return what the process of a slot is called."""
        names = [self.model.proctypes[p].name for p in self.plan.slots[slot]]
        return f"{'|'.join(names)}[{slot}]"

    def channels_of(self, sites: set[syntax.Variable]) -> list[int]:
        """Return the channels of some sites."""
        return sorted(n for site in sites for n in self.channels_at[site])

    def held(self, variable: syntax.Variable, value: int) -> int | Made | None:
        """Return what a value of a variable means; None if that is not certain."""
        sites = self.sites.of_variable(variable)
        if variable.type == syntax.CHAN and 0 < value <= len(self.channels):
            made = self.origins[value - 1]
            if made.site in sites:
                return made
        return None if sites and value else value

    def leaves(self, frame: Frame) -> Iterator[syntax.Variable]:
        """Yield parameters and variables of a proctype that have places."""
        proctype = self.model.proctypes[frame.proctype]
        for variable in (*proctype.parameters, *proctype.variables):
            if (frame.slot, variable) in self.addresses:
                yield variable

    def _add(self, variables: list[Variable]) -> int:
        first = len(self.variables)
        self.variables += variables
        if len(self.variables) > MAX_VARIABLES:
            raise UnsupportedError(
                f"{self.model.file}: more than {MAX_VARIABLES} variables, elements of "
                "arrays and cells of channels"
            )
        return first

    def _slot(self, slot: int, proctypes: Sequence[int]) -> None:
        names = ["-"]
        for number in proctypes:
            name = self.model.proctypes[number].name
            flow = self.flows[number]
            self.offsets[Frame(slot, number)] = len(names) - 1
            prefix = f"{name}:" if len(proctypes) > 1 else ""
            names += names_of_places(flow, prefix)
        state = Variable(
            self.slot_name(slot), "state", (0, len(names) - 1), 0, tuple(names)
        )
        self.states.append(self._add([state]))
        first = len(self.variables)
        for number in proctypes:
            proctype = self.model.proctypes[number]
            for variable in (*proctype.parameters, *proctype.variables):
                value = self.plan.fixed.get((slot, variable))
                if value is None:
                    self._declare(variable, slot)
                elif isinstance(value, int):
                    self.constants[slot, variable] = (value,)
        self.own.append(list(range(first, len(self.variables))))

    def _declare(self, variable: syntax.Variable, slot: int) -> None:
        """Give a variable a place, unless it has a channel of its own for ever."""
        is_site = isinstance(variable.initial, syntax.NewChannel)
        if is_site and variable not in self.written:
            return
        if variable.hidden and variable not in self.read:
            return
        kind, bounds = kind_of(variable.type), variable.type.bounds
        names = [self._named(variable, i, slot) for i in range(variable.size)]
        first = self._add([Variable(n, kind, bounds, 0) for n in names])
        if variable.dimensions:
            name = self._prefix(variable, slot) + variable.name
            self.arrays.append(Array(name, first, variable.size))
        self.addresses[slot, variable] = first

    def _prefix(self, variable: syntax.Variable, slot: int) -> str:
        return "" if slot < 0 else f"{variable.proctype}[{slot}]:"

    def _named(self, variable: syntax.Variable, number: int, slot: int) -> str:
        """Return the name of an element, or of what is no array."""
        indices: list[int] = []
        for size in reversed(variable.dimensions):
            number, index = divmod(number, size)
            indices.insert(0, index)
        form = variable.form or variable.name + "[{}]" * len(indices)
        return self._prefix(variable, slot) + form.format(*indices)

    def _channels(self, site: syntax.Variable, slot: int) -> None:
        """Make the channels of a variable that is declared with them."""
        new = site.initial
        if not isinstance(new, syntax.NewChannel):
            return
        first = len(self.channels)
        for i in range(site.size):
            name = self._named(site, i, slot)
            self.channels.append(self._channel(name, new))
            self.fields.append(new.fields)
        own = range(first, len(self.channels))
        self.made[slot, site] = own
        self.channels_at[site] += own
        self.origins += [Made(slot, site, i) for i in range(site.size)]
        if site not in self.written:
            self.constants[slot, site] = tuple(n + 1 for n in own)

    def _channel(self, name: str, new: syntax.NewChannel) -> Channel:
        if not new.capacity:
            return Channel(name, None, 0)
        # Propositions call the length `len(q)`, which no variable can be called.
        length = Variable(f"len({name})", "length", (0, new.capacity), 0)
        first = self._add([length])
        cells = []
        for number, kind in enumerate(new.fields):
            part = name if len(new.fields) == 1 else f"{name}.{number}"
            cells.append(len(self.variables))
            self._add(
                [
                    Variable(f"{part}[{i}]", kind_of(kind), kind.bounds, 0)
                    for i in range(new.capacity)
                ]
            )
            self.arrays.append(Array(part, cells[-1], new.capacity))
        return Channel(name, None, new.capacity, first, tuple(cells))


def kind_of(type_: syntax.Type) -> str:
    """Return a type by its name, with that of its set of constants."""
    return f"{type_.name}:{type_.names}" if type_.names else type_.name


def _read(model: syntax.Model) -> set[syntax.Variable]:
    """Return the variables that are read anywhere."""
    parts: list[Any] = [model.proctypes, model.claims]
    parts += [v.initial for v in model.variables]
    parts += [v.initial for p in model.proctypes for v in p.variables]
    parts += [tuple(f.propositions.values()) for f in model.formulas]
    return set(variables_in(tuple(parts)))


def variables_in(part: Any) -> Iterator[syntax.Variable]:
    """Yield the variables that a part reads, but those that assign to themselves."""
    if isinstance(part, tuple):
        for one in part:
            yield from variables_in(one)
    elif isinstance(part, syntax.Assign):
        yield from variables_in(part.target.indices)
        own = part.target.variable
        yield from (v for v in variables_in(part.value) if v is not own)
    elif isinstance(part, syntax.Argument) and part.kind == "store":
        yield from variables_in(part.value.indices)  # type: ignore[union-attr]
    elif isinstance(part, syntax.Tree) and not isinstance(part, syntax.Variable):
        if isinstance(part, syntax.Reference):
            yield part.variable
        yield from variables_in(tuple(vars(part).values()))


def _targets(parts: Iterable[Any]) -> set[Any]:
    """Return what statements write to, `Declare` left out."""
    found: set[Any] = set()
    for node in nodes_in(tuple(parts)):
        if isinstance(node, syntax.Assign):
            found.add(node.target)
        elif isinstance(node, syntax.Argument) and node.kind == "store":
            found.add(node.value)
    return found


Site: TypeAlias = syntax.Variable


def written(model: syntax.Model) -> set[syntax.Variable]:
    """Return the variables that statements write to, `Declare` left out."""
    return {target.variable for target in _targets(p.body for p in model.proctypes)}


def _first_values(variable: syntax.Variable) -> tuple[Any, ...]:
    """Return the expressions that a variable is initialised with."""
    initial = variable.initial
    if initial is None or isinstance(initial, syntax.NewChannel):
        return ()
    return initial if isinstance(initial, tuple) else (initial,)


def _fits(send: syntax.Send, receive: syntax.Receive) -> bool:
    """Whether constants, as they are written, allow that what is sent is received."""
    pairs = zip(send.values, receive.arguments, strict=False)
    return len(send.values) == len(receive.arguments) and not any(
        isinstance(value, syntax.Number)
        and isinstance(argument.value, syntax.Number)
        and value.value != argument.value.value
        for value, argument in pairs
    )


def _received(
    send: syntax.Send, receive: syntax.Receive
) -> Iterator[tuple[syntax.Variable, Any]]:
    """Yield the variables in which a message is stored, with its fields."""
    for value, argument in zip(send.values, receive.arguments, strict=False):
        if argument.kind == "store":
            assert isinstance(argument.value, syntax.Reference)
            yield argument.value.variable, value


class Sites:
    """The sites of the channels of variables and fields."""

    def __init__(self, model: syntax.Model) -> None:
        self._known: dict[syntax.Variable, set[Site]] = defaultdict(set)
        self._parameters = {p.name: p.parameters for p in model.proctypes}
        variables = [
            *model.variables,
            *(v for p in model.proctypes for v in p.variables),
        ]
        for variable in variables:
            if isinstance(variable.initial, syntax.NewChannel):
                self._known[variable].add(variable)
        self._first = [(v, value) for v in variables for value in _first_values(v)]
        self._nodes = [n for p in model.proctypes for n in nodes_in(p.body)]
        size = -1
        while size != self._size():
            size = self._size()
            for variable, value in self._stored(lambda *_: True):
                self._known[variable] |= self.of(value)
        for variable, value in self._stored(_fits):
            self._refuse(variable.type, value)

    def _size(self) -> int:
        return sum(map(len, self._known.values()))

    def of(self, expression: Any) -> set[Site]:
        """Return the sites of the channels that an expression can stand for."""
        if isinstance(expression, syntax.Conditional):
            return self.of(expression.yes) | self.of(expression.no)
        if isinstance(expression, syntax.RemoteVariable):
            expression = expression.reference
        if isinstance(expression, syntax.Reference):
            return self._known[expression.variable]
        return set()

    def of_variable(self, variable: syntax.Variable) -> set[Site]:
        """Return the sites of the channels that a variable can stand for."""
        return self._known[variable]

    def _refuse(self, type_: syntax.Type, value: Any) -> None:
        """Refuse a number as a channel: which one it is would be by chance."""
        if isinstance(value, syntax.Conditional):
            self._refuse(type_, value.yes)
            self._refuse(type_, value.no)
            return
        if isinstance(value, syntax.RemoteVariable):
            value = value.reference
        is_none = isinstance(value, syntax.Number) and not value.value
        if type_ != syntax.CHAN or is_none or self.of(value):
            return
        if not isinstance(value, syntax.Reference) or value.variable.type != type_:
            raise UnsupportedError(f"{value.place}: a number, expected a channel")

    def _stored(
        self, fits: Callable[[syntax.Send, syntax.Receive], bool]
    ) -> Iterator[tuple[syntax.Variable, Any]]:
        """Yield variables with the expressions that are stored in them.

        `fits` is whether a message can be received.
        """
        yield from self._first
        sends = [node for node in self._nodes if isinstance(node, syntax.Send)]
        for node in self._nodes:
            if isinstance(node, syntax.Assign):
                yield node.target.variable, node.value
            elif isinstance(node, syntax.Run):
                parameters = self._parameters[node.proctype]
                yield from zip(parameters, node.arguments, strict=False)
            elif isinstance(node, syntax.Receive):
                sites = self.of(node.channel)
                for send in sends:
                    if sites & self.of(send.channel) and fits(send, node):
                        yield from _received(send, node)
