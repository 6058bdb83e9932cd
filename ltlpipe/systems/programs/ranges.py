"""Which values variables and expressions can have, by abstract interpretation.

Rows are packed by these intervals, and generated code tests no index and wraps no
value that they show to be in range.  So they must hold for every state that can be
reached; tests compare them with complete searches.

A variable of a process has an interval per state of its process, other variables have
one; an array has one for all elements.  Each step is evaluated on intervals: its
guard narrows them, its effects compute new ones, which are joined to what is known
until nothing grows.  An interval that has grown `_PATIENCE` times is widened to the
next number that occurs in the model, so there is an end.

Source: P. Cousot and R. Cousot, "Abstract interpretation: a unified lattice model for
static analysis of programs by construction or approximation of fixpoints", POPL 1977,
Sec. 9.  Differences from the source: widening to thresholds.

The layout of rows (`Layout`) follows from the intervals.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import Field, allocate
from ltlpipe.systems.networks.packing import PACKING
from ltlpipe.systems.programs.expressions import Element, Number, Read
from ltlpipe.systems.programs.intervals import Environment, Interval, join, wrapped_to
from ltlpipe.systems.programs.program import BOUNDS, Action

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.expressions import Expression
    from ltlpipe.systems.programs.program import Program, Transition

_PATIENCE = 6

# Units of work of a step, and in it for each slot; bytes of what is known of a node.
_STEP_WORK, _SLOT_WORK, _NODE_BYTES = 100.0, 0.05, 300


class Ranges:
    """The intervals of a model.

    Attributes
    ----------
    variables : list of (int, int)
        For each variable the least and the largest value that it can have; all
        elements of an array have the same.
    nodes : dict
        For each expression the interval of its value before it is taken modulo
        2**32 (for an index or a divisor: of its value), over all places where the
        model evaluates it.
    failing : set
        The expressions that may fail by themselves: an index that may be out of
        range, a divisor that may be 0.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.nodes: dict[Expression, Interval] = {}
        self.failing: set[Expression] = set()
        self.variables: list[tuple[int, int]] = []
        self._thresholds: list[int] = []
        self._owner = _owners(program)
        self._arrays = {array.first for array in program.arrays}
        self._common: dict[int, Interval] = {}
        self._local: list[list[dict[int, Interval] | None]] = []
        # For each process what it and its variables can be in any state: the join of
        # the above, kept up to date, as computing it takes all states.
        self._anywhere: list[dict[int, Interval]] = []
        self._growth: dict[tuple[int, ...], int] = {}

    @classmethod
    def finding(cls, program: Program) -> Job[Ranges]:
        """Return the job that finds the intervals of a model."""
        ranges = cls(program)
        ranges._thresholds = yield from _thresholds(program)
        ranges._begin()
        yield from ranges._iterate()
        ranges.variables = ranges._joined()
        return ranges

    def _begin(self) -> None:
        """Enter the initial state."""
        program = self.program
        initial: dict[int, Interval] = {}
        for variable, entry in enumerate(program.variables):
            slot = program.slots[variable]
            value = Interval(entry.initial, entry.initial)
            initial[slot] = join(initial[slot], value) if slot in initial else value
        for number, process in enumerate(program.processes):
            states = program.variables[process.state].states
            self._local.append([None] * len(states))
            own = {s: i for s, i in initial.items() if self._owner.get(s) == number}
            self._anywhere.append(dict(own))
            self._enter(number, initial[process.state].low, own)
        self._common = {s: i for s, i in initial.items() if s not in self._owner}

    def _iterate(self) -> Job[None]:
        """Take all steps on intervals until nothing grows."""
        actions = self.program.actions
        ticks = Ticks(PACKING, _STEP_WORK + _SLOT_WORK * len(self.program.slots))
        grown = True
        while grown:
            self.nodes.clear()
            self.failing.clear()
            grown = False
            for action in actions:
                grown |= self._step(action)
                if ticks.over():
                    ticks.memory_bytes = _NODE_BYTES * len(self.nodes)
                    yield ticks.progress
        for process, state, condition in self.program.assertions:
            environment = self._environment([(process, state)])
            if environment is not None:
                environment.evaluate(condition)

    def _step(self, action: Action) -> bool:
        """Take one step on intervals; return whether something has grown."""
        leader, partner = action
        moving = action.transitions
        environment = self._environment([(t.process, t.source) for t in moving])
        for transition in moving:
            if environment is not None:
                environment = self._guarded(transition, environment)
        if environment is None:
            return False
        environment = environment.copy()
        if partner is not None:
            assert leader.message is not None
            assert partner.message is not None
            types = self.program.channels[leader.message.channel].types
            sent = [environment.evaluate(v) for v in leader.message.values]
            if types is not None:
                sent = [
                    wrapped_to(v, BOUNDS[t]) for v, t in zip(sent, types, strict=True)
                ]
            for target, value in zip(partner.message.values, sent, strict=True):
                self._assign(target, value, environment)
            self._move(partner, environment)
        elif leader.message is not None:
            self._exchange(leader, environment)
        self._move(leader, environment)
        return self._record([(t.process, t.target) for t in moving], environment)

    def _environment(self, ends: list[tuple[int, int]]) -> Environment | None:
        """Return the intervals with processes in states; None if they never are."""
        known = dict(self._common)
        for anywhere in self._anywhere:
            known.update(anywhere)
        for process, state in ends:
            own = self._local[process][state]
            if own is None:
                return None
            known.update(own)
            known[self.program.processes[process].state] = Interval(state, state)
        return Environment(known, self.program.slots, self.nodes, self.failing)

    def _guarded(
        self, transition: Transition, environment: Environment
    ) -> Environment | None:
        """Return an environment narrowed by the guard and channel of a transition."""
        narrowed: Environment | None = environment
        if transition.guard is not None:
            environment.evaluate(transition.guard)
            narrowed = environment.narrowed(transition.guard, True)
        message = transition.message
        if narrowed is None or message is None:
            return narrowed
        channel = self.program.channels[message.channel]
        if not channel.capacity:
            return narrowed
        length = narrowed.value(channel.length)
        low = length.low if message.sends else max(length.low, 1)
        high = min(length.high, channel.capacity - 1) if message.sends else length.high
        if low > high:
            return None
        return narrowed.changed(channel.length, Interval(low, high))

    def _exchange(self, transition: Transition, environment: Environment) -> None:
        """Put a message into a channel with a buffer, or take one out of it."""
        message = transition.message
        assert message is not None
        channel = self.program.channels[message.channel]
        length = environment.values[channel.length]
        step = 1 if message.sends else -1
        if message.sends:
            sent = [environment.evaluate(v) for v in message.values]
            for cell, value in zip(channel.cells, sent, strict=True):
                self._write(cell, value, environment)
        else:
            received = [environment.values[cell] for cell in channel.cells]
            for cell in channel.cells:
                self._write(cell, Interval(0, 0), environment)
            for target, value in zip(message.values, received, strict=True):
                self._assign(target, value, environment)
        environment.write(
            channel.length, Interval(length.low + step, length.high + step)
        )

    def _move(self, transition: Transition, environment: Environment) -> None:
        state = self.program.processes[transition.process].state
        environment.write(state, Interval(transition.target, transition.target))
        for effect in transition.effects:
            self._assign(effect.target, environment.assigned(effect.value), environment)

    def _assign(
        self, target: Expression, value: Interval, environment: Environment
    ) -> None:
        if isinstance(target, Element):
            environment.evaluate(target)
            self._write(target.first, value, environment)
        else:
            assert isinstance(target, Read)
            self._write(target.variable, value, environment)

    def _write(self, variable: int, value: Interval, environment: Environment) -> None:
        """Assign to a variable; an array keeps what its other elements may be.

        So does one of a single element: generated code puts every value that is
        assigned to an array into the row, not only the last one of a step.
        """
        program = self.program
        value = wrapped_to(value, program.variables[variable].bounds)
        slot = program.slots[variable]
        if slot in self._arrays:
            value = join(environment.values[slot], value)
        environment.write(slot, value)

    def _record(self, targets: list[tuple[int, int]], environment: Environment) -> bool:
        """Join what a step has computed to what is known; whether that has grown."""
        values, grown = environment.values, False
        for slot in environment.written & self._common.keys():
            grown |= self._grow(self._common, slot, values[slot], (slot,))
        for process, state in targets:
            own = self._local[process][state]
            if own is None:
                slots = self._anywhere[process]
                self._enter(process, state, {s: values[s] for s in slots})
                grown = True
                continue
            anywhere = self._anywhere[process]
            for slot in own:
                if self._grow(own, slot, values[slot], (slot, state)):
                    anywhere[slot] = join(anywhere[slot], own[slot])
                    grown = True
        return grown

    def _enter(self, process: int, state: int, own: dict[int, Interval]) -> None:
        """Note that a process can be in a state, and its variables then."""
        self._local[process][state] = own
        anywhere = self._anywhere[process]
        for slot, value in own.items():
            anywhere[slot] = join(anywhere[slot], value)

    def _grow(
        self,
        known: dict[int, Interval],
        slot: int,
        value: Interval,
        key: tuple[int, ...],
    ) -> bool:
        old = known[slot]
        new = join(old, value)
        if new == old:
            return False
        self._growth[key] = self._growth.get(key, 0) + 1
        if self._growth[key] > _PATIENCE:
            new = self._widened(old, new, self.program.variables[slot].bounds)
        known[slot] = new
        return True

    def _widened(
        self, old: Interval, new: Interval, bounds: tuple[int, int]
    ) -> Interval:
        """Move the ends that have grown to the next thresholds."""
        low, high = new
        if low < old.low:
            place = bisect_right(self._thresholds, low) - 1
            low = max(self._thresholds[place] if place >= 0 else bounds[0], bounds[0])
        if high > old.high:
            place = bisect_left(self._thresholds, high)
            inside = place < len(self._thresholds)
            high = min(self._thresholds[place] if inside else bounds[1], bounds[1])
        return Interval(low, high)

    def _joined(self) -> list[tuple[int, int]]:
        """Return the interval of each variable over all states of its process."""
        environment = self._environment([])
        assert environment is not None
        joined = [environment.values[slot] for slot in self.program.slots]
        joined[self.program.error] = Interval(0, int(bool(self.failing)))
        if self.program.synchronous and self._may_clash():
            joined[self.program.error] = Interval(0, 1)
        return [(interval.low, interval.high) for interval in joined]

    def _may_clash(self) -> bool:
        """Whether two processes may write to the same variable."""
        writers: dict[int, int] = {}
        return any(
            writers.setdefault(slot, transition.process) != transition.process
            for transition in self.program.transitions()
            for slot in self.program.writes(transition)
        )


def _owners(program: Program) -> dict[int, int]:
    """Return the process that alone writes to a slot, for those that have one."""
    return {
        program.slots[variable]: number
        for number, process in enumerate(program.processes)
        for variable in (process.state, *process.variables)
    }


def _thresholds(program: Program) -> Job[list[int]]:
    """Return the numbers of a model and their neighbours, sorted."""
    found: set[int] = {0}
    todo: list[object] = [*program.processes]
    ticks = Ticks(PACKING)
    for array in program.arrays:
        found.add(array.size)
    while todo:
        item = todo.pop()
        if isinstance(item, Number):
            found.add(item.value)
        elif hasattr(item, "__dataclass_fields__"):
            todo.extend(vars(item).values())
        elif isinstance(item, (tuple, list)):
            todo.extend(item)
        if ticks.over():
            yield ticks.progress
    return sorted(found | {n + 1 for n in found} | {n - 1 for n in found})


WORD_BITS = 64


class Chunk(NamedTuple):
    """Elements of an array that lie side by side in one word.

    Element ``first + i`` of the array has its field at ``shift + i * bits``.
    """

    first: int
    size: int
    word: int
    shift: int


@dataclass(frozen=True)
class Layout:
    """The fields of a model's rows."""

    places: tuple[Field, ...]  # where each variable lies
    chunks: dict[int, tuple[Chunk, ...]]  # of each array, by its first variable
    n_words: int  # words that the model needs

    def packed(self, values: Sequence[int], n_words: int) -> np.ndarray:
        """Return the row, uint64[n_words], of a state."""
        words = [0] * n_words
        for value, place in zip(values, self.places, strict=True):
            words[place.word] |= value - place.low << place.shift
        return np.array(words, dtype=np.uint64)

    def with_extra(self, n_values: int) -> Field:
        """Return a field for numbers below `n_values` that the model leaves free.

        It lies behind the model's fields of a word, or in a word of its own.  The
        model's own fields never depend on it, so the generated code does not.
        """
        bits = max(n_values - 1, 0).bit_length()
        if not bits:
            return Field(0, 0, 0)
        used = [0] * self.n_words
        for place in self.places:
            used[place.word] = max(used[place.word], place.shift + place.bits)
        for word, taken in enumerate(used):
            if taken + bits <= WORD_BITS:
                return Field(word, taken, bits)
        return Field(self.n_words, 0, bits)


def lay_out(program: Program, ranges: Sequence[tuple[int, int]]) -> Layout:
    """Place the variables of a model by the least and the largest value of each.

    They are the same for all elements of an array.
    """
    lows, bits = [], []
    for low, high in ranges:
        # Where it costs no bit, values are stored as they are.
        if low > 0 and high.bit_length() == (high - low).bit_length():
            low = 0
        lows.append(low)
        bits.append((high - low).bit_length())
    units: list[tuple[int, int]] = []  # first variable and number of variables
    for slot in dict.fromkeys(program.slots):
        size = len(program.slot_variables(slot))
        most = WORD_BITS // bits[slot] if bits[slot] else size
        units += [(slot + i, min(most, size - i)) for i in range(0, size, most)]
    fields = allocate([1 << bits[first] * size for first, size in units])
    places: list[Field] = []
    chunks: dict[int, tuple[Chunk, ...]] = {}
    for (first, size), field in zip(units, fields, strict=True):
        slot, width = program.slots[first], bits[first]
        chunk = Chunk(first - slot, size, field.word, field.shift)
        chunks[slot] = (*chunks.get(slot, ()), chunk)
        for i in range(size):
            shift = min(field.shift + i * width, WORD_BITS - 1)
            places.append(Field(field.word, shift, width, lows[first + i]))
    return Layout(tuple(places), chunks, 1 + max(place.word for place in places))
