"""What the transitions of DVE processes read and write."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.reduction.static.watched import Atom
from ltlpipe.systems.dve.expressions import (
    Binary,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.program import Message, Program, Transition


class Accesses(NamedTuple):
    """What a transition reads and writes.

    The state of a process is known by `atoms_of_state`, everything else by its
    variable.  That a transition needs its own source is no access.
    """

    reads: frozenset[Atom]
    writes: frozenset[Atom]


def accesses(program: Program, transition: Transition) -> Accesses:
    """Return what a transition reads and writes, its message included."""
    reads: set[Atom] = set()
    writes: set[Atom] = set()
    process = program.processes[transition.process]
    if transition.source != transition.target:
        writes.add(Atom(process.state, transition.source))
        writes.add(Atom(process.state, transition.target))
    if transition.guard is not None:
        reads |= _read(program, transition.guard)
    if transition.message is not None:
        _add_message(program, transition.message, reads, writes)
    for effect in transition.effects:
        reads |= _read(program, effect.value)
        _add_target(program, effect.target, reads, writes)
    return Accesses(frozenset(reads), frozenset(writes))


def expressions(transition: Transition) -> Iterator[Expression]:
    """Yield the expressions that a transition evaluates, with all their parts."""
    todo: list[Expression] = [] if transition.guard is None else [transition.guard]
    if transition.message is not None:
        todo += transition.message.values
    for effect in transition.effects:
        todo += [effect.target, effect.value]
    while todo:
        expression = todo.pop()
        yield expression
        todo += _parts(expression)


def atoms_of_state(program: Program, variable: int) -> set[Atom]:
    """Return the atoms of a process's state."""
    n_states = len(program.variables[variable].states)
    return {Atom(variable, state) for state in range(n_states)}


def _parts(expression: Expression) -> list[Expression]:
    if isinstance(expression, (Number, Read)):
        return []
    if isinstance(expression, (Element, Lookup)):
        return [expression.index]
    if isinstance(expression, Unary):
        return [expression.operand]
    assert isinstance(expression, Binary)
    return [expression.left, expression.right]


def _read(program: Program, expression: Expression) -> set[Atom]:
    """Return what the value of an expression depends on."""
    if isinstance(expression, Binary) and expression.op in ("==", "!="):
        for some, other in (
            (expression.left, expression.right),
            (expression.right, expression.left),
        ):
            if (
                isinstance(some, Read)
                and isinstance(other, Number)
                and program.variables[some.variable].states
            ):
                return {Atom(some.variable, other.value)}
    if isinstance(expression, Read):
        if program.variables[expression.variable].states:
            return atoms_of_state(program, expression.variable)
        return {Atom(expression.variable)}
    found: set[Atom] = set()
    if isinstance(expression, Element):
        found = _elements(expression)
    for part in _parts(expression):
        found |= _read(program, part)
    return found


def _elements(element: Element) -> set[Atom]:
    return {Atom(element.first + i) for i in range(element.size)}


def _add_target(
    program: Program, target: Expression, reads: set[Atom], writes: set[Atom]
) -> None:
    """Add what an assignment writes to, and what its index reads."""
    if isinstance(target, Read):
        writes.add(Atom(target.variable))
        return
    assert isinstance(target, Element)
    writes |= _elements(target)
    reads |= _read(program, target.index)


def _add_message(
    program: Program, message: Message, reads: set[Atom], writes: set[Atom]
) -> None:
    """Add what sending or receiving reads and writes, the channel's contents too."""
    channel = program.channels[message.channel]
    for value in message.values:
        if message.sends:
            reads |= _read(program, value)
        else:
            _add_target(program, value, reads, writes)
    if channel.capacity:
        contents = {Atom(channel.length)}
        for cell in channel.cells:
            contents |= {Atom(cell + i) for i in range(channel.capacity)}
        reads |= contents
        writes |= contents
