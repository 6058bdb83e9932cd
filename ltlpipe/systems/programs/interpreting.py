"""Interpreter of a model, in plain Python over its checked tree.

This shares nothing with the generated successor function (`generating`): lasso replay
and tests rely on that.

Where a process keeps control (`ATOMIC`, `D_STEP`), the states in between are none of
the system: a step goes on until nobody keeps control, or who does cannot move.  Then
control is lost, unless it is on an only way, which is a failure.  Where nothing can
move, steps may wait for that (``timeout``).

A step that fails (`EvaluationError`) leads to the state it leaves, with the variable
of kind "error" set to 1; nothing moves in such a state.  In a synchronous system all
processes take one transition each, computed from the state that they leave together;
two that write to the same variable or array are a step that fails.

Expressions are evaluated by a walk over their trees (`evaluate`).  For a search, an
action that is tried often becomes a function of Python (`_function`), which takes a
fifth of the time; replays and the checker of certificates only walk.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ltlpipe.systems.programs.program import (
    ATOMIC,
    BLOCKED,
    COMPARISONS,
    D_STEP,
    ENDLESS,
    LOGICAL,
    Action,
    Binary,
    Conditional,
    Element,
    EvaluationError,
    Lookup,
    Number,
    Read,
    Unary,
    converted,
    divided,
    evaluate,
    position,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe.systems.programs.program import Assignment, Expression, Program

State = tuple[int, ...]

MAX_WALKS = 1 << 12
"""Moves of all steps of a state together beyond which a step fails."""

_OFTEN = 48
"""Times that an action is tried before a function of it is worth its compilation."""


class Interpreter:
    """The steps of a model; actions that are tried often become functions if asked."""

    def __init__(self, program: Program, *, compiles: bool = False) -> None:
        self.program = program
        self._compiles = compiles
        self._functions: dict[int, Callable[[State], State | None]] = {}

    @cached_property
    def _tried(self) -> dict[int, int]:
        """How often each action has been tried that may become a function."""
        actions = self.program.actions if self._compiles else ()
        return {id(action): 0 for action in actions}

    def steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield all steps of a state: the number of the action, and the target."""
        if state[self.program.error]:
            return
        if self.program.synchronous:
            yield from self._joint_steps(state)
            return
        if self.program.has_control:
            for path, to in self.walks(state):
                yield path[0], to
            return
        processes = self.program.processes
        committed = any(state[p.state] in p.committed for p in processes)
        for number, action in self._leaving(state):
            if committed and not all(
                t.source in processes[t.process].committed for t in action.transitions
            ):
                continue
            target = self.target(action, state)
            if target is not None:
                yield number, target

    @cached_property
    def _by_place(self) -> list[dict[int, list[tuple[int, Action, int, int]]]]:
        """For each process and state of it the actions that it leads, numbered.

        With the variable of the state of who moves last, and the state to be there.
        """
        processes = self.program.processes
        found: list[dict[int, list[tuple[int, Action, int, int]]]] = [
            {} for _ in processes
        ]
        for number, action in enumerate(self.program.actions):
            leader, last = action.leader, action.transitions[-1]
            entry = number, action, processes[last.process].state, last.source
            found[leader.process].setdefault(leader.source, []).append(entry)
        return found

    def _leaving(
        self, state: State, process: int | None = None
    ) -> Iterator[tuple[int, Action]]:
        """Yield the actions that processes, or one, lead where all are in place."""
        for number, own in enumerate(self.program.processes):
            if process is not None and process != number:
                continue
            for action in self._by_place[number].get(state[own.state], ()):
                if state[action[2]] == action[3]:
                    yield action[:2]

    def moves(
        self, state: State, process: int | None = None
    ) -> Iterator[tuple[int, State]]:
        """Yield what processes, or one of them, can do at once."""
        for number, action in self._leaving(state, process):
            target = self.target(action, state)
            if target is not None:
                yield number, target

    def walks(self, state: State) -> Iterator[tuple[tuple[int, ...], State]]:
        """Yield the steps of a state where processes keep control, move by move."""
        error, timeout = self.program.error, self.program.timeout
        found = list(self.moves(state))
        if not found and timeout >= 0:
            waiting = (*state[:timeout], 1, *state[timeout + 1 :])
            found = [
                (number, (*to[:timeout], 0, *to[timeout + 1 :]))
                for number, to in self.moves(waiting)
            ]
        walks: list[tuple[tuple[int, ...], State]] = [
            ((number,), target) for number, target in found
        ]
        stored = []
        seen = set()
        for path, target in walks:  # which grows meanwhile
            holder, keeps = self.program.keeper(self.program.actions[path[-1]])
            if not keeps or target[error]:
                stored.append((path, target))
                continue
            if keeps == ATOMIC and (path[0], holder, target) in seen:
                continue
            moves = list(self.moves(target, holder))
            if keeps == D_STEP:
                del moves[1:]
            elif moves:
                seen.add((path[0], holder, target))
            if not moves:
                is_blocked = keeps == D_STEP
                stored.append((path, _failed(state, BLOCKED) if is_blocked else target))
            walks += [((*path, number), to) for number, to in moves]
            if len(walks) > MAX_WALKS:
                stored.clear()
                break
        if walks and not stored:  # nor does a step end that goes round for ever
            stored.append((walks[0][0], _failed(state, ENDLESS)))
        yield from stored

    def target(self, action: Action, state: State) -> State | None:
        """Return where an action leads, None if it is not enabled."""
        function = self._functions.get(id(action))
        if function is not None:
            try:
                return function(state)
            except EvaluationError:
                return _failed(state)
        tried = self._tried.get(id(action))
        if tried is not None:  # it is one of the program, and lives as long
            self._tried[id(action)] = tried + 1
            if tried == _OFTEN:
                with suppress(RecursionError, MemoryError, SyntaxError):  # too deep
                    self._functions[id(action)] = _function(self.program, action)
        moving = action.transitions
        processes = self.program.processes
        if any(state[processes[t.process].state] != t.source for t in moving):
            return None
        try:
            if not all(evaluate(c, state) for c in action.conditions):
                return None
            values = list(state)
            _assign(self.program.exchange(action), values)
            for transition in reversed(moving):
                values[processes[transition.process].state] = transition.target
                for effect in transition.effects:
                    _assign([effect], values)
        except EvaluationError:
            return _failed(state)
        return tuple(values)

    def _joint_steps(self, state: State) -> Iterator[tuple[int, State]]:
        """Yield the steps of a synchronous system; the first process varies first."""
        choices = []
        radix = 1
        for process in self.program.processes:
            own = []
            for number, transition in enumerate(process.transitions):
                target = self.target(Action(transition, None), state)
                if target is not None:
                    own.append(
                        (number * radix, self.program.writes(transition), target)
                    )
            choices.append(own)
            radix *= len(process.transitions)
        for reverse in itertools.product(*reversed(choices)):
            joint = reverse[::-1]
            yield sum(choice[0] for choice in joint), _combined(joint, state)


def _function(program: Program, action: Action) -> Callable[[State], State | None]:
    """Return the function that tells where an action leads, None if nowhere."""
    moving = action.transitions
    tests = [f"s[{program.processes[t.process].state}] == {t.source}" for t in moving]
    tests += [_truth(condition) for condition in action.conditions]
    lines = [f"if not ({' and '.join(tests)}): return None", "s = [*s]"]
    lines += _assigned(program.exchange(action))
    for transition in reversed(moving):
        state = program.processes[transition.process].state
        lines.append(f"s[{state}] = {transition.target}")
        for effect in transition.effects:
            lines += _assigned([effect])
    text = "".join(f" {line}\n" for line in [*lines, "return tuple(s)"])
    names: dict[str, Any] = {
        "at": _within,
        "divided": divided,
        "remainder": lambda a, b: a - b * divided(a, b),
    }
    exec(f"def function(s):\n{text}", names)
    return names["function"]  # type: ignore[no-any-return]


def _within(index: int, size: int) -> int:
    if 0 <= index < size:
        return index
    raise EvaluationError("index out of range")


def _assigned(assignments: Sequence[Assignment]) -> list[str]:
    """Return lines of a function for assignments at once."""
    found = [_converted(a.value, a.bounds) for a in assignments]
    names = [f"t{k}" for k in range(len(found))] if len(found) > 1 else found
    lines = [f"{name} = {value}" for name, value in zip(names, found, strict=True)]
    places = [_place(assignment.target) for assignment in assignments]
    assigned = [f"s[{p}] = {name}" for p, name in zip(places, names, strict=True)]
    return [*(lines if len(found) > 1 else ()), *assigned]


def _converted(value: Expression, bounds: tuple[int, int]) -> str:
    """Return the text of a value as a variable with some bounds holds it."""
    low, high = bounds
    if isinstance(value, Number):
        return str(converted(value.value, bounds))
    if not low and not high & (high + 1):
        return f"{_value(value)} & {high}"
    return f"{low} + ({_value(value)} - {low}) % {high - low + 1}"


def _place(target: Read | Element) -> str:
    if isinstance(target, Read):
        return str(target.variable)
    return f"{target.first} + at({_value(target.index)}, {target.size})"


def _truth(node: Expression) -> str:
    """Return text that is true where an expression is not 0."""
    if isinstance(node, Unary) and node.op == "not":
        return f"(not {_truth(node.operand)})"
    if isinstance(node, Binary) and node.op in COMPARISONS:
        return f"({_value(node.left)} {node.op} {_value(node.right)})"
    if isinstance(node, Binary) and node.op in LOGICAL:
        left, right = _truth(node.left), _truth(node.right)
        if node.op == "imply":
            return f"(not {left} or {right})"
        return f"({left} {'and' if node.op == '&&' else 'or'} {right})"
    return _value(node)


def _value(node: Expression) -> str:
    """Return text with the value of an expression in a state ``s``."""
    if isinstance(node, Number):
        return f"({node.value})"
    if isinstance(node, (Read, Element)):
        return f"s[{_place(node)}]"
    if isinstance(node, Lookup):
        return f"{node.values}[at({_value(node.index)}, {node.size})]"
    if isinstance(node, Conditional):
        yes, no = _value(node.yes), _value(node.no)
        return f"({yes} if {_truth(node.test)} else {no})"
    if isinstance(node, Unary):
        if node.op == "not":
            return f"int(not {_truth(node.operand)})"
        return _wrapped(f"{node.op}{_value(node.operand)}")
    if node.op in COMPARISONS or node.op in LOGICAL:
        return f"(1 if {_truth(node)} else 0)"
    left, right = _value(node.left), _value(node.right)
    if node.op in ("/", "%"):
        name = "divided" if node.op == "/" else "remainder"
        return _wrapped(f"{name}({left}, {right})")
    if node.op in ("<<", ">>"):
        right = f"({right} & 31)"
    return _wrapped(f"({left} {node.op} {right})")


def _wrapped(text: str) -> str:
    """Return the text of a number as a signed integer of 32 bits (`wrapped`)."""
    return f"(({text} + 0x80000000 & 0xFFFFFFFF) - 0x80000000)"


def _assign(assignments: Sequence[Assignment], values: list[int]) -> None:
    """Have assignments at once: all values are known before one is assigned."""
    assigned = [converted(evaluate(a.value, values), a.bounds) for a in assignments]
    for assignment, value in zip(assignments, assigned, strict=True):
        values[position(assignment.target, values)] = value


def _failed(state: State, fault: int = 1) -> State:
    return (*state[:-1], fault)


def _combined(joint: Sequence[tuple[int, set[int], State]], state: State) -> State:
    """Return the state behind one transition of each process.

    They are given as numbers, slots that they write to, and where each leads alone.
    """
    values = list(state)
    written: set[int] = set()
    for _, writes, target in joint:
        if target[-1] or written & writes:
            return _failed(state)
        written |= writes
        for variable, value in enumerate(target):
            if value != state[variable]:
                values[variable] = value
    return tuple(values)
