"""Liveness of variables of processes, and programs that forget dead values.

A variable is *live* in a state of its process if some transition that can come later
reads it before it is assigned for certain; otherwise its value does not matter, it is
*dead*.  A process of a program that forgets sets its variables to 0 where they die, so
that valuations which differ only there become one.  What it forgets are variables of
its own that no other process, no assertion and no proposition reads; and variables
that nobody reads at all.

Valuations that agree but for dead variables have the same steps, by the same actions,
to such valuations (docs/models-por.md): the program that forgets is bisimilar to the
program, so every property keeps its verdict.  A step fails that has too many moves, of
which those to one valuation count once: where there could be so many, what is assigned
on the way is kept.

An assignment reads its operands even where its target is dead: a run that repeats a
valuation of the program that forgets repeats one of the program after one more turn.

Source: F. Nielson, H. R. Nielson and C. Hankin, "Principles of Program Analysis",
Springer 1999, Sec. 2.1.4; Spin's dead variables (its switch ``-o2`` leaves them out).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import ReplayError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.interpreting import MAX_WALKS
from ltlpipe.systems.programs.program import (
    ATOMIC,
    Assignment,
    Element,
    Number,
    Read,
    may_fail,
    nodes_in,
)
from ltlpipe.systems.runs import Run

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Model, Valuation
    from ltlpipe.systems.programs.program import Expression, Program, Transition

_NONE: frozenset[int] = frozenset()

_WORK = 20  # units, of a transition that is looked at

_MOST_TURNS = 3
"""Turns of a cycle after which its program has repeated a valuation (two suffice)."""


@dataclass(frozen=True)
class Forgetting:
    """A program that forgets, and what it forgets where.

    Attributes
    ----------
    program : Program
        Its variables, states and actions have the numbers that they had.
    """

    program: Program
    _dead: Mapping[tuple[int, int], frozenset[int]]  # by process and its state
    _unread: frozenset[int]

    @property
    def variables(self) -> frozenset[int]:
        """Those whose values are forgotten somewhere."""
        return self._unread.union(*self._dead.values())

    def of(self, values: Sequence[int]) -> tuple[int, ...]:
        """Return a valuation of the program that was given as one that is forgotten."""
        kept = list(values)
        for number, process in enumerate(self.program.processes):
            for variable in self._dead.get((number, values[process.state]), _NONE):
                kept[variable] = 0
        for variable in self._unread:
            kept[variable] = 0
        return tuple(kept)


def forgetting(program: Program, seen: Collection[int]) -> Job[Forgetting | None]:
    """Return the program whose processes forget dead values; None if there are none.

    Parameters
    ----------
    program : Program
        It is not changed.
    seen : collection of int
        The variables that propositions read.
    """
    if program.synchronous:
        return None
    ticks = Ticks("reading", _WORK)
    seen = {*seen, *(yield from _counted(program, ticks))}
    fixed = {*seen, *_fixed(program)}
    read, users = yield from _uses(program, ticks)
    unread = frozenset(range(len(program.variables))) - read - fixed
    dead: dict[tuple[int, int], frozenset[int]] = {}
    for number, process in enumerate(program.processes):
        only = (v for v in process.variables if users[v] <= {number})
        own = frozenset(only) - fixed - unread
        if own:
            live = yield from _live(program, number, own, ticks)
            for state in range(len(program.variables[process.state].states)):
                gone = own - live.get(state, _NONE)
                if gone:
                    dead[number, state] = gone
    if not (dead or unread):
        return None
    return _forgetful(program, dead, unread)


def _forgetful(
    program: Program,
    dead: Mapping[tuple[int, int], frozenset[int]],
    unread: frozenset[int],
) -> Forgetting | None:
    """Return the program whose transitions set to 0 what dies; None if nothing does."""
    is_changed = False

    def made(transition: Transition) -> Transition:
        nonlocal is_changed
        here = transition.process, transition.source
        there = dead.get((transition.process, transition.target), _NONE)
        begun = None if transition.start is None else made(transition.start)
        effects, forgotten = _kept(transition, there, unread)
        # What is dead already has been forgotten.
        forgotten |= there - dead.get(here, _NONE)
        forgotten -= _cleared(effects)
        if (effects, begun, forgotten) == (transition.effects, transition.start, _NONE):
            return transition
        is_changed = True
        effects += tuple(
            Assignment(Read(v), Number(0), program.variables[v].bounds)
            for v in sorted(forgotten)
        )
        return replace(transition, effects=effects, start=begun)

    processes = tuple(
        process._replace(transitions=tuple(map(made, process.transitions)))
        for process in program.processes
    )
    changed = replace(program, processes=processes)
    found = Forgetting(changed, dead, unread)
    initial = found.of(program.initial)
    if not is_changed and initial == program.initial:
        return None
    variables = tuple(
        v._replace(initial=value)
        for v, value in zip(program.variables, initial, strict=True)
    )
    return replace(found, program=replace(changed, variables=variables))


def _kept(
    transition: Transition, there: frozenset[int], unread: frozenset[int]
) -> tuple[tuple[Assignment, ...], frozenset[int]]:
    """Return the effects without those that set what dies, and what is still set.

    An effect that may fail stays.
    """
    written = set(_assigned(transition))
    gone = there | unread
    kept: list[Assignment] = []
    read: set[int] = set()  # by the effects behind
    for effect in reversed(transition.effects):
        target, value, _ = effect
        cells = _cells(target)
        idle = gone.issuperset(cells) and not read.intersection(cells)
        if idle and not may_fail(value) and isinstance(target, Read):
            continue
        kept.append(effect)
        written.update(cells)
        read.update(_reads((value,)), _reads(_index(target)))
    return tuple(reversed(kept)), frozenset(gone & written)


def _cleared(effects: Iterable[Assignment]) -> set[int]:
    """Return the variables that are 0 behind effects as the last of them says."""
    values = {
        v: effect.value if isinstance(effect.target, Read) else None
        for effect in effects
        for v in _cells(effect.target)
    }
    return {v for v, e in values.items() if isinstance(e, Number) and not e.value}


def run_remembered(model: Model, rule: Forgetting, run: Run) -> Job[Run | None]:
    """Return the run of a program that one of the program that forgets is.

    It has the same actions; its cycle may begin later.  None if it has not repeated a
    valuation after some turns.

    Raises
    ------
    ReplayError
        There is none: a bug.
    """
    ticks = Ticks("reading", _WORK)
    state = model.initial()
    states = [state]
    actions = run.actions.tolist()
    first, taken = run.length, list(range(run.length))
    for _ in range(_MOST_TURNS):
        taken += range(run.length, len(actions))
        for number in taken[len(states) - 1 :]:
            target = run.states[number + 1]
            found = _next(model, rule, state, actions[number], target)
            if found is None:
                raise ReplayError("a run of a program that forgets is none of it")
            state = found
            states.append(state)
            yield from ticks.worked()
        if states[first] == state:
            chosen = np.array([actions[k] for k in taken], dtype=run.actions.dtype)
            return Run(chosen, np.array(states, dtype=run.states.dtype), first)
        first = len(taken)
    return None


def _next(
    model: Model,
    rule: Forgetting,
    state: Valuation,
    action: int,
    target: np.ndarray,
) -> Valuation | None:
    """Return where an action leads, which is `target` once that is forgotten."""
    if action < 0:
        return state
    wanted = tuple(target.tolist())
    steps = model.steps_by(state, action)
    found = (s.state for s in steps if s.action == action)
    return next((to for to in found if rule.of(to) == wanted), None)


# --- who reads a variable ----------------------------------------------------


def _counted(program: Program, ticks: Ticks) -> Job[set[int]]:
    """Return what is assigned where control is kept, if moves can be too many.

    Where it is always kept on an only way, none count together.
    """
    if all(transition.keeps != ATOMIC for transition in program.transitions()):
        return set()
    written: set[int] = set()
    moves: dict[tuple[int, int], list[tuple[int, int] | None]] = defaultdict(list)
    for action in program.actions:
        holder = action.holder
        behind = None if holder is None else (holder.process, holder.target)
        moves[action.leader.process, action.leader.source].append(behind)
        if holder is not None:
            for transition in action.transitions:
                written |= _written(transition)
        yield from ticks.worked()
    most = [0] * len(program.processes)
    for place, number in (yield from _numbers_of_moves(moves, ticks)).items():
        most[place[0]] = max(most[place[0]], number)
    return written if sum(most) > MAX_WALKS else set()


def _numbers_of_moves(
    moves: Mapping[tuple[int, int], Sequence[tuple[int, int] | None]], ticks: Ticks
) -> Job[dict[tuple[int, int], int]]:
    """Return bounds of how many moves follow, while control is kept, by the place.

    What is beyond `MAX_WALKS`, or goes round, is just more than that.
    """
    numbers: dict[tuple[int, int], int] = {}
    for root in moves:
        stack = [root]
        while stack:
            place = stack[-1]
            behind = [to for to in moves.get(place, ()) if to is not None]
            if place not in numbers:
                numbers[place] = MAX_WALKS + 1  # if it is met again before it is known
                stack += [to for to in behind if to not in numbers]
            else:
                stack.pop()
                number = sum(numbers[to] for to in behind) + len(moves.get(place, ()))
                numbers[place] = min(number, MAX_WALKS + 1)
            yield from ticks.worked()
    return numbers


def _written(transition: Transition) -> set[int]:
    """Return all variables that a transition may assign."""
    targets = (effect.target for effect in transition.effects)
    return {*_assigned(transition), *(v for target in targets for v in _cells(target))}


def _uses(program: Program, ticks: Ticks) -> Job[tuple[set[int], dict[int, set[int]]]]:
    """Return the variables that something reads, and the processes that use each.

    Who starts a process may write to its variables, and reads its own.
    """
    read: set[int] = set()
    users: dict[int, set[int]] = defaultdict(set)
    for transition in program.transitions():
        for part in _with_start(transition):
            for variable in _written(part):
                users[variable].add(part.process)
            found = _read_by(part)
            read |= found
            own = program.processes[transition.process].variables
            of_starter = found.intersection(() if part is transition else own)
            for variable in found:
                user = transition if variable in of_starter else part
                users[variable].add(user.process)
            yield from ticks.worked()
    return read, users


def _fixed(program: Program) -> Iterator[int]:
    """Yield the variables that are more than values, that assertions read, or that
    cannot be 0.
    """
    yield from (program.error, program.timeout)
    yield from (process.state for process in program.processes)
    for channel in program.channels:
        yield channel.length
        for first in channel.cells:
            yield from range(first, first + max(channel.capacity, 1))
    for _, _, condition in program.assertions:
        yield from _reads((condition,))
    for number, variable in enumerate(program.variables):
        if not variable.bounds[0] <= 0 <= variable.bounds[1]:
            yield number


def _with_start(transition: Transition) -> Iterator[Transition]:
    yield transition
    if transition.start is not None:
        yield transition.start


def _read_by(transition: Transition) -> set[int]:
    """Return all variables that a transition reads, first or later."""
    read = _read_first(transition)
    for target, value, _ in transition.effects:
        read |= _reads((value, *_index(target)))
    return read


def _read_first(transition: Transition) -> set[int]:
    """Return what a transition reads before its effects."""
    read = _reads(transition.conditions)
    if transition.guard is not None:
        read |= _reads((transition.guard,))
    for target, value, _ in transition.exchange:
        read |= _reads((value, *_index(target)))
    message = transition.message
    if message is not None:
        read |= _reads(check for check in message.checks if check is not None)
        for value in message.values:
            if message.sends:
                read |= _reads((value,))
            elif value is not None:
                read |= _reads(_index(value))
    return read


def _assigned(transition: Transition) -> Iterator[int]:
    """Yield the variables that a message may assign."""
    for target, _, _ in transition.exchange:
        yield from _cells(target)
    yield from _received(transition, certain=False)


def _received(transition: Transition, *, certain: bool) -> Iterator[int]:
    """Yield the variables that a message is received into."""
    message = transition.message
    if message is not None and not message.sends:
        for target in message.values:
            if target is not None and (isinstance(target, Read) or not certain):
                yield from _cells(target)


def _reads(expressions: Iterable[Expression]) -> set[int]:
    """Return the variables that expressions read; of an element, of its whole array."""
    found: set[int] = set()
    for node in nodes_in(*expressions):
        if isinstance(node, (Read, Element)):
            found.update(_cells(node))
    return found


def _cells(target: Read | Element) -> range:
    size = target.size if isinstance(target, Element) else 1
    return range(target.first, target.first + size)


def _index(target: Read | Element) -> tuple[Expression, ...]:
    return (target.index,) if isinstance(target, Element) else ()


# --- where it is live --------------------------------------------------------


def _live(
    program: Program, number: int, own: frozenset[int], ticks: Ticks
) -> Job[dict[int, frozenset[int]]]:
    """Return for each state of a process which of its variables are live."""
    entering: dict[int, list[tuple[int, set[int], set[int]]]] = defaultdict(list)
    for transition in program.transitions():
        for part in _with_start(transition):
            if part.process == number:
                read, assigned = _read_and_assigned(part)
                entering[part.target].append((part.source, read & own, assigned))
                yield from ticks.worked()
    live: dict[int, frozenset[int]] = {}
    waiting = dict.fromkeys(entering)
    while waiting:
        target, _ = waiting.popitem()
        behind = live.get(target, _NONE)
        for source, read, assigned in entering.get(target, ()):
            before = live.get(source, _NONE)
            needed = read | (behind - assigned)
            if not needed <= before:
                live[source] = before | needed
                waiting[source] = None
        yield from ticks.worked()
    return live


def _read_and_assigned(transition: Transition) -> tuple[set[int], set[int]]:
    """Return what a transition reads before it assigns it, and assigns for certain."""
    read = _read_first(transition)
    if transition.start is not None:  # which begins before the effects
        read |= _read_by(transition.start)
    targets = [a.target for a in transition.exchange]
    assigned = {t.variable for t in targets if isinstance(t, Read)}
    assigned.update(_received(transition, certain=True))
    for target, value, _ in transition.effects:
        read |= _reads((value, *_index(target))) - assigned
        if isinstance(target, Read):
            assigned.add(target.variable)
    return read, assigned
