"""A model with all names looked up: what interpreter, analysis and generator read.

The state of a model is a tuple of values, one per `Variable`: global variables, the
contents of channels, and for each process its state followed by its variables.

A *step* is what happens at once in an asynchronous system: one transition of one
process, or one that sends together with one that receives over a channel without
buffer.  In a synchronous system every process takes a transition at every step.

Source: DiVinE's ``divine/dve/compiler.cpp``, whose semantics the published state
counts of BEEM have been made with.

Semantics of a step, decided here once (docs/dve.md says the same for users): guards
are evaluated in the state, sender's first; values are sent as they are in that state;
the receiver gets them, moves, and has its effects, then the sender moves and has its
effects.  If a process is in a committed state, only steps begin in which all
processes that move are in one.  Behind a transition that *keeps* control its process
goes on alone, and no state is stored until nobody keeps control or who does cannot
move; a transition that starts a process moves with how that one begins, which has its
effects first.

In expressions names have become numbers of variables, and constants are folded.
Arithmetic is that of 32-bit integers in C: a result is taken modulo 2**32, division
truncates towards zero, a shift uses the lowest five bits of its right operand.  A
comparison is 1 or 0; ``&&``, ``||`` and ``imply`` look at their right operand only if
it matters.  An index out of range and a division by zero are errors
(`EvaluationError`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
COMMUTATIVE = frozenset({"+", "*", "==", "!=", "&", "|", "^"})
"""Operators whose operands may change places.

Those that may leave their second operand unevaluated are not among them.
"""

LOGICAL = frozenset({"&&", "||", "imply"})


class EvaluationError(Exception):
    """A division by zero, or an index out of range."""


@dataclass(frozen=True, eq=False)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, eq=False)
class Read:
    """The value of a variable."""

    variable: int

    @property
    def first(self) -> int:
        """The variable, as of an `Element`."""
        return self.variable


@dataclass(frozen=True, eq=False)
class Element:
    """The element of an array that an expression names.

    The array's elements are the variables `first` to ``first + size - 1``.
    """

    first: int
    size: int
    index: Expression


@dataclass(frozen=True, eq=False)
class Lookup:
    """The element of an array of constants that an expression names."""

    values: tuple[int, ...]
    index: Expression

    @property
    def size(self) -> int:
        """The number of elements."""
        return len(self.values)


@dataclass(frozen=True, eq=False)
class Unary:
    """``-``, ``~`` or ``not``."""

    op: str
    operand: Expression


@dataclass(frozen=True, eq=False)
class Binary:
    """An operator as C writes it, or ``imply``."""

    op: str
    left: Expression
    right: Expression


@dataclass(frozen=True, eq=False)
class Conditional:
    """One of two values, of which only that one is evaluated."""

    test: Expression
    yes: Expression
    no: Expression


# Nodes are compared and hashed by identity: what is known of one is known of one place.
Expression: TypeAlias = Number | Read | Element | Lookup | Unary | Binary | Conditional


def parts(expression: Expression) -> tuple[Expression, ...]:
    """Return the operands of an expression, or its index."""
    if isinstance(expression, Binary):
        return expression.left, expression.right
    if isinstance(expression, Unary):
        return (expression.operand,)
    if isinstance(expression, Conditional):
        return expression.test, expression.yes, expression.no
    return () if isinstance(expression, (Number, Read)) else (expression.index,)


def nodes_in(*expressions: Expression) -> Iterator[Expression]:
    """Yield expressions and all that they consist of."""
    todo = list(expressions)
    while todo:
        expression = todo.pop()
        yield expression
        todo += parts(expression)


def may_fail(expression: Expression) -> bool:
    """Whether a value might be lacking, by the form of an expression."""
    return any(map(_is_partial, nodes_in(expression)))


def _is_partial(node: Expression) -> bool:
    if not (isinstance(node, Binary) and node.op in ("/", "%")):
        return isinstance(node, (Lookup, Element))
    return not (isinstance(node.right, Number) and node.right.value)


def is_truth(expression: Expression) -> bool:
    """Whether the value of an expression is 0 or 1 by its form."""
    if isinstance(expression, Unary):
        return expression.op == "not"
    if isinstance(expression, Binary):
        return expression.op in COMPARISONS or expression.op in LOGICAL
    return False


def wrapped(value: int) -> int:
    """Return a number as a signed integer of 32 bits."""
    return (value + 0x80000000 & 0xFFFFFFFF) - 0x80000000


def divided(a: int, b: int) -> int:
    """Return a quotient as C has it."""
    if b == 0:
        raise EvaluationError("division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divided,
    "%": lambda a, b: a - b * divided(a, b),
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << (b & 31),
    ">>": lambda a, b: a >> (b & 31),
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}


def evaluate(expression: Expression, values: Sequence[int]) -> int:
    """Return the value of an expression, evaluated from left to right.

    Raises
    ------
    EvaluationError
        An index is out of range, or a divisor is 0.
    """
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Read):
        return values[expression.variable]
    if isinstance(expression, Element):
        return values[position(expression, values)]
    if isinstance(expression, Lookup):
        return expression.values[_index(expression, values)]
    if isinstance(expression, Unary):
        operand = evaluate(expression.operand, values)
        if expression.op == "not":
            return int(not operand)
        return wrapped(-operand if expression.op == "-" else ~operand)
    if isinstance(expression, Conditional):
        test = evaluate(expression.test, values)
        return evaluate(expression.yes if test else expression.no, values)
    left = evaluate(expression.left, values)
    if expression.op in LOGICAL:
        if expression.op == "||" and left:
            return 1
        if expression.op != "||" and not left:
            return int(expression.op == "imply")
        return int(evaluate(expression.right, values) != 0)
    right = evaluate(expression.right, values)
    return wrapped(_ARITHMETIC[expression.op](left, right))


def folded(expression: Expression) -> Expression:
    """Replace what is constant by its value; what must fail is left to do so."""
    if isinstance(expression, Conditional) and isinstance(expression.test, Number):
        return expression.yes if expression.test.value else expression.no
    if isinstance(expression, Element):
        index = expression.index
        if isinstance(index, Number) and 0 <= index.value < expression.size:
            return Read(expression.first + index.value)
        return expression
    if isinstance(expression, Binary) and expression.op in LOGICAL:
        left, right = expression.left, expression.right
        if isinstance(left, Number):
            if bool(left.value) == (expression.op == "||"):
                return Number(int(expression.op != "&&"))
            if not isinstance(right, Number):
                return right if is_truth(right) else Binary("!=", right, Number(0))
    inner = parts(expression)
    if not inner or not all(isinstance(part, Number) for part in inner):
        return expression
    try:
        return Number(evaluate(expression, ()))
    except EvaluationError:
        return expression


def position(target: Read | Element, values: Sequence[int]) -> int:
    """Return the variable that a target names; raise if an index is out of range."""
    if isinstance(target, Read):
        return target.variable
    return target.first + _index(target, values)


def _index(node: Element | Lookup, values: Sequence[int]) -> int:
    index = evaluate(node.index, values)
    if not 0 <= index < node.size:
        raise EvaluationError("index out of range")
    return index


BOUNDS = {"byte": (0, 255), "int": (-(1 << 15), (1 << 15) - 1)}
"""The values of each type; what is assigned is taken modulo their number."""


def converted(value: int, bounds: tuple[int, int]) -> int:
    """Return a value as a variable with some bounds holds it."""
    low, high = bounds
    return low + (value - low) % (high - low + 1)


ATOMIC, D_STEP = 1, 2
"""How a process keeps control: while it can move, or on its only way."""

FAILED, ASSERTION, BLOCKED, FULL, TRACE, NO_CHANNEL, IN_D_STEP, ENDLESS = range(1, 9)
"""Why a step has failed: an expression, an assertion, an only way that is blocked, no
room for a process, a message that a trace does not allow, a variable that stands for no
channel, too many moves without losing control.
"""

ERROR = "error"
"""The kind of the variable that tells whether a step has failed."""


class Variable(NamedTuple):
    """One entry of a state."""

    name: str
    """As propositions name it: ``x``, ``P.x``, ``a[2]``; a process's own name for its
    state."""
    kind: str  # "byte", "int", "state" (of a process), "length" (of a channel), "error"
    bounds: tuple[int, int]  # the least and the largest value that it can hold
    initial: int
    states: tuple[str, ...] = ()  # the names of a process's states


class Array(NamedTuple):
    """An array: its elements are consecutive variables."""

    name: str
    first: int
    size: int


class Channel(NamedTuple):
    """A channel."""

    name: str
    types: tuple[str, ...] | None  # of the parts of a message; None without types
    capacity: int  # messages that it holds; 0 if sender and receiver move together
    length: int = -1  # the variable that counts its messages, if there are any
    cells: tuple[int, ...] = ()
    """For each part of a message the variable that holds it in the first message; those
    of the later messages follow."""


class Assignment(NamedTuple):
    """One assignment; the value is taken modulo the size of a range."""

    target: Read | Element
    value: Expression
    bounds: tuple[int, int]

    @classmethod
    def to(
        cls,
        target: Read | Element,
        value: Expression,
        variables: Sequence[Variable],
        kind: str = "int",
    ) -> Assignment:
        """Return the assignment of a value that is sent with a type, if with any."""
        bounds = variables[target.first].bounds
        return cls(target, value, BOUNDS["byte"] if kind == "byte" else bounds)


class Message(NamedTuple):
    """What a transition sends or receives."""

    channel: int
    sends: bool
    values: tuple[Any, ...]
    """Expressions; of one that receives, targets, and None for what it drops."""
    matches: tuple[Expression | None, ...] = ()
    """Of one that receives, the values that parts must have; None where any will do."""
    escapes: tuple[tuple[Expression, tuple[Expression | None, ...]], ...] = ()
    """Of one that receives, when other receivers take its place, and their matches."""

    @property
    def checks(self) -> tuple[Expression | None, ...]:
        """What decides whether a message is received; None where any value will do."""
        found = self.matches
        for condition, matches in self.escapes:
            found = (*found, condition, *matches)
        return found


@dataclass(frozen=True, eq=False)
class Transition:
    """A transition of a process; `source` and `target` are numbers of its states."""

    process: int
    source: int
    target: int
    guard: Expression | None
    message: Message | None
    effects: tuple[Assignment, ...]
    conditions: tuple[Expression, ...]
    """The guard, and that the channel has room or a message if it has a buffer."""
    exchange: tuple[Assignment, ...]
    """What the message does to the buffer of its channel and to its targets, at
    once."""
    keeps: int = 0
    """`ATOMIC` or `D_STEP` if its process keeps control behind it."""
    start: Transition | None = None
    """How the process that it starts begins."""
    text: str = ""
    """What it is called, if not by its process and states."""

    def expressions(self) -> Iterator[Expression]:
        """Yield guard, message and effects as they are written, with all parts."""
        todo = [] if self.guard is None else [self.guard]
        if self.message is not None:
            todo += [v for v in self.message.values if v is not None]
            todo += [c for c in self.message.checks if c is not None]
        for effect in self.effects:
            todo += effect[:2]
        yield from nodes_in(*todo)


def buffered(
    channel: Channel,
    message: Message,
    variables: Sequence[Variable],
    place: int = 0,
    *,
    stays: bool = False,
) -> tuple[Expression, tuple[Assignment, ...]]:
    """Return when a buffer lets a message in or out, and what that does.

    What is received is the message at a `place`, which may stay in the buffer.
    """

    def length() -> Read:  # every place has a node of its own
        return Read(channel.length)

    pairs: list[tuple[Read | Element, Expression]]
    if message.sends:
        condition = Binary("<", length(), Number(channel.capacity))
        ends: list[Read | Element] = [
            Read(cell)
            if channel.capacity == 1
            else Element(cell, channel.capacity, length())
            for cell in channel.cells
        ]
        pairs = list(zip(ends, message.values, strict=True))
        pairs.append((length(), Binary("+", length(), Number(1))))
    else:
        condition = Binary(">", length(), Number(place))
        pairs = [] if stays else [(length(), Binary("-", length(), Number(1)))]
        for cell in () if stays else channel.cells:
            last = cell + channel.capacity - 1
            pairs += [(Read(k), Read(k + 1)) for k in range(cell + place, last)]
            pairs.append((Read(last), Number(0)))
        received = zip(message.values, channel.cells, strict=True)
        pairs += [(t, Read(cell + place)) for t, cell in received if t is not None]
    return condition, tuple(Assignment.to(*pair, variables) for pair in pairs)


def fitting(sent: Message, received: Message | None) -> tuple[Expression, ...] | None:
    """Return what has to hold for a message to be received; None if it never is."""
    if received is None or received.sends or sent.channel != received.channel:
        return None
    checks = _agreement(sent, received.matches)
    if checks is None:
        return None
    for condition, matches in received.escapes:
        others = _agreement(sent, matches)
        if others is None:
            continue
        both = reduce(lambda a, b: Binary("&&", a, b), others, condition)
        checks = (*checks, Unary("not", both))
    return checks


def _agreement(
    sent: Message, matches: Sequence[Expression | None]
) -> tuple[Expression, ...] | None:
    """Return what has to hold for the values of a message to match; None if never."""
    checks: list[Expression] = []
    for value, match in zip(sent.values, matches, strict=False):
        if match is None:
            continue
        if isinstance(value, Number) and isinstance(match, Number):
            if value.value != match.value:
                return None
        else:
            checks.append(Binary("==", value, match))
    return tuple(checks)


class Process(NamedTuple):
    """A process; `state` is the variable that holds its state."""

    name: str
    state: int
    committed: frozenset[int]
    accepting: frozenset[int]
    transitions: tuple[Transition, ...]
    variables: tuple[int, ...]  # its own, without its state


class Action(NamedTuple):
    """A step of an asynchronous system.

    If `leader` sends, `partner` receives; if it starts a process, that one begins.
    """

    leader: Transition
    partner: Transition | None
    checks: tuple[Expression, ...] = ()
    """What has to hold of the message, beside the conditions of both."""

    @property
    def conditions(self) -> Iterator[Expression]:
        """What has to hold, in order."""
        for transition in self.transitions:
            yield from transition.conditions
        yield from self.checks

    @property
    def holder(self) -> Transition | None:
        """The transition whose process keeps control, if one does.

        Control goes with a message to the process that receives it.
        """
        starts = self.leader.start is not None
        last = self.leader if self.partner is None or starts else self.partner
        return last if last.keeps else None

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """One or both, the leader first."""
        leader, partner, _ = self
        return (leader,) if partner is None else (leader, partner)


@dataclass(frozen=True)
class Program:
    """A checked model."""

    name: str  # the file's
    variables: tuple[Variable, ...]  # the entries of a state
    arrays: tuple[Array, ...]  # among the variables; contents of channels, too
    channels: tuple[Channel, ...]
    processes: tuple[Process, ...]
    synchronous: bool  # all processes move at every step
    assertions: tuple[tuple[int, int, Expression], ...]  # process, state, what holds
    timeout: int = -1
    """The variable that is 1 while there is no other step; 0 in every state."""
    can_be_full: bool = False
    """Whether a step can fail for want of room (`FULL`)."""
    merged: frozenset[tuple[int, int]] = frozenset()
    """Processes in states in which they are not stopped: behind a move to one of them,
    the process keeps control."""

    @cached_property
    def has_control(self) -> bool:
        """Whether steps are more than single moves.

        That a process can keep control, wait for there being no other step, or fail for
        want of room.
        """
        keeps = self.merged or any(t.keeps for t in self.transitions())
        return bool(keeps) or self.can_be_full or self.timeout >= 0

    @property
    def can_pass(self) -> bool:
        """Whether there can be places that are `merged`.

        With committed states what a process can do depends on those of others.
        """
        committed = any(process.committed for process in self.processes)
        return not (self.synchronous or committed)

    def keeper(self, action: Action) -> tuple[int, int]:
        """Return which process keeps control behind an action, and how; 0 is not."""
        holder = action.holder
        if holder is not None:
            return holder.process, holder.keeps
        for transition in reversed(action.transitions):
            if (transition.process, transition.target) in self.merged:
                return transition.process, ATOMIC
        return 0, 0

    violations: str | None = None
    """The automaton, in HOA, of the property process."""

    @property
    def initial(self) -> tuple[int, ...]:
        """The first state."""
        return tuple(v.initial for v in self.variables)

    @property
    def error(self) -> int:
        """The variable that tells whether a step has failed, the last of all."""
        return len(self.variables) - 1

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The steps of an asynchronous system in the order of generation.

        By process and transition, senders standing for both; then by receiver.  In a
        synchronous system, which has no messages, they are its transitions.
        """
        receivers = self._receivers()
        actions: list[Action] = []
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is None:
                actions.append(Action(transition, transition.start))
            elif message.sends:
                for partner in receivers.get(message.channel, ()):
                    if partner.process != transition.process:
                        checks = fitting(message, partner.message)
                        if checks is not None:
                            actions.append(Action(transition, partner, checks))
        return tuple(actions)

    @property
    def n_actions(self) -> int:
        """The number of `actions`, which may be far too many to be listed."""
        receivers = self._receivers()
        own = Counter((c, t.process) for c, all_ in receivers.items() for t in all_)
        number = 0
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is None:
                number += 1
            elif message.sends:
                number += len(receivers.get(message.channel, ()))
                number -= own[message.channel, transition.process]
        return number

    def transitions(self) -> Iterator[Transition]:
        """Yield the transitions of all processes."""
        for process in self.processes:
            yield from process.transitions

    def _receivers(self) -> dict[int, list[Transition]]:
        """Return for each channel without buffer the transitions that receive."""
        receivers: dict[int, list[Transition]] = {}
        for transition in self.transitions():
            message = self.rendezvous(transition)
            if message is not None and not message.sends:
                receivers.setdefault(message.channel, []).append(transition)
        return receivers

    @cached_property
    def slots(self) -> tuple[int, ...]:
        """For each variable the first of its array, or itself if it is in none."""
        slots = list(range(len(self.variables)))
        for array in self.arrays:
            slots[array.first : array.first + array.size] = [array.first] * array.size
        return tuple(slots)

    def slot_variables(self, slot: int) -> range:
        """Return the variables of a slot: the elements of an array, or one."""
        end = slot + 1
        while end < len(self.variables) and self.slots[end] == slot:
            end += 1
        return range(slot, end)

    def writes(self, transition: Transition) -> set[int]:
        """Return the slots that the effects of a transition write to, and its state."""
        written = {self.processes[transition.process].state}
        return written | {self.slots[e.target.first] for e in transition.effects}

    def shared_slots(self) -> list[int]:
        """Return the slots that several processes write to."""
        writers: dict[int, set[int]] = {}
        for transition in self.transitions():
            for slot in self.writes(transition):
                writers.setdefault(slot, set()).add(transition.process)
        return sorted(slot for slot, numbers in writers.items() if len(numbers) > 1)

    def exchange(self, action: Action) -> tuple[Assignment, ...]:
        """Return the assignments that the message of an action is, all at once."""
        leader, partner, _ = action
        if partner is None or leader.start is not None:
            return leader.exchange
        assert leader.message is not None
        assert partner.message is not None
        sent, received = leader.message.values, partner.message.values
        kinds = self.channels[leader.message.channel].types or ("int",) * len(sent)
        return tuple(
            Assignment.to(target, value, self.variables, kind)
            for target, value, kind in zip(received, sent, kinds, strict=True)
            if target is not None
        )

    def rendezvous(self, transition: Transition) -> Message | None:
        """Return the message of a transition over a channel without buffer, if any."""
        message = transition.message
        if message is None or self.channels[message.channel].capacity:
            return None
        return message

    def described(self, *transitions: Transition) -> str:
        """Return what moves in a step in words: ``P: a -> b c! | Q: s -> t c?``.

        Transitions of a process that would be called the same are numbered in the order
        of the file: ``P: a -> b #2``.
        """
        numbers = self._numbers
        texts = (
            f"{self._described(transition)} #{numbers[transition]}"
            if transition in numbers and not transition.text
            else self._described(transition)
            for transition in transitions
        )
        return " | ".join(filter(None, texts))

    def class_of(self, *transitions: Transition) -> str:
        """Return what moves in a step without the numbers of transitions."""
        return " | ".join(filter(None, map(self._described, transitions)))

    @cached_property
    def _numbers(self) -> dict[Transition, int]:
        """The numbers of transitions that would be called the same, from 1."""
        alike: dict[str, list[Transition]] = {}
        for transition in self.transitions():
            alike.setdefault(self._described(transition), []).append(transition)
        return {
            transition: number
            for some in alike.values()
            for number, transition in enumerate(some, start=1)
            if len(some) > 1
        }

    def _described(self, transition: Transition) -> str:
        if transition.text:
            return transition.text
        process = self.processes[transition.process]
        states = self.variables[process.state].states
        source, target = states[transition.source], states[transition.target]
        text = f"{process.name}: {source} -> {target}"
        if transition.message is None:
            return text
        mark = "!" if transition.message.sends else "?"
        return f"{text} {self.channels[transition.message.channel].name}{mark}"
