"""Ranges of variables and expressions, by abstract interpretation.

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
from collections import Counter
from copy import copy
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, product
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.jobs import complete
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import Field, allocation
from ltlpipe.systems.networks.packing import PACKING
from ltlpipe.systems.programs.program import (
    COMPARISONS,
    ENDLESS,
    FAILED,
    LOGICAL,
    Action,
    Binary,
    Conditional,
    Element,
    Lookup,
    Number,
    Read,
    Unary,
    is_truth,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import Assignment, Expression, Program

MIN, MAX = -(1 << 31), (1 << 31) - 1
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MOST_CASES = 3  # comparisons inside arithmetic that are distinguished


class Interval(NamedTuple):
    """The integers from `low` to `high`, at least one."""

    low: int
    high: int


_TRUTH = Interval(0, 1)
ALL = Interval(MIN, MAX)


def join(a: Interval, b: Interval) -> Interval:
    """Return the smallest interval around two."""
    return Interval(min(a.low, b.low), max(a.high, b.high))


def wrapped_to(value: Interval, bounds: tuple[int, int]) -> Interval:
    """Return an interval taken modulo the size of a range."""
    low, high = bounds
    return value if low <= value.low and value.high <= high else Interval(low, high)


class Common(NamedTuple):
    """Expressions that occur often, and what has been found of them.

    That depends on their slots alone, those that they read, and is kept by the
    expression and the intervals of these.
    """

    slots: dict[Expression, tuple[int, ...]]
    values: dict[tuple[Any, ...], Interval]
    narrowed: dict[tuple[Any, ...], dict[int, Interval] | None]


@dataclass(eq=False)
class Environment:
    """Intervals of the variables at one point of a step.

    `values` has the interval of each slot (`Program.slots`), but `narrow` that of those
    that conditions have narrowed, and `slots` the slot of each variable; what is found
    about expressions goes to `nodes` and `failing` (see `Ranges`), unless it
    `is_quiet`.  `cases` are comparisons whose value is known, and `written` the slots
    that have been written to.
    """

    values: dict[int, Interval]
    slots: Sequence[int]
    nodes: dict[Expression, Interval]
    failing: set[Expression]
    narrow: dict[int, Interval] = field(default_factory=dict)
    cases: dict[Expression, int] = field(default_factory=dict)
    is_quiet: bool = False
    common: Common = field(default_factory=lambda: Common({}, {}, {}))
    written: set[int] = field(default_factory=set, init=False)
    # Conditions inside each other would be narrowed by again and again.
    _narrowed: dict[tuple[Expression, bool], Environment | None] = field(
        default_factory=dict, init=False
    )

    def _with(
        self, values: dict[int, Interval], narrow: dict[int, Interval]
    ) -> Environment:
        """Return the same with other intervals (`replace` takes ten times as long)."""
        known, more = (self.nodes, self.failing), (self.cases, self.is_quiet)
        return Environment(values, self.slots, *known, narrow, *more, self.common)

    def value(self, slot: int) -> Interval:
        """Return the interval of a slot."""
        found = self.narrow.get(slot)
        return self.values[slot] if found is None else found

    def write(self, slot: int, value: Interval) -> None:
        """Change the interval of a slot, in a `copy`."""
        self.values[slot] = value
        self.written.add(slot)
        self._narrowed.clear()

    def copy(self) -> Environment:
        """Return an environment that can be changed apart from this one."""
        return self._with({**self.values, **self.narrow}, {})

    def changed(self, slot: int, value: Interval) -> Environment:
        """Return the same environment with a slot narrowed to an interval."""
        return self._with(self.values, {**self.narrow, slot: value})

    def assigned(self, expression: Expression) -> Interval:
        """Return the interval of an expression, by cases of the comparisons in it.

        ``x + (x < 9)`` is at most 9: without cases it would be at most ``x + 1``.
        """
        value = self.evaluate(expression)  # notes what is true of all cases
        tests = _tests_in(expression)
        if not 0 < len(tests) <= _MOST_CASES:
            return value
        found = []
        for truths in product((0, 1), repeat=len(tests)):
            case: Environment | None = self._quiet()
            for test, truth in zip(tests, truths, strict=True):
                case = None if case is None else case.narrowed(test, bool(truth))
            if case is not None:
                cases = dict(zip(tests, truths, strict=True))
                found.append(replace(case, cases=cases).evaluate(expression))
        return reduce(join, found) if found else ALL

    def _quiet(self) -> Environment:
        """Return the same environment, taking up nothing about expressions."""
        if self.is_quiet:
            return self
        known, more = (self.values, self.slots), (self.narrow, self.cases)
        return Environment(*known, {}, set(), *more, True, self.common)

    def evaluate(self, expression: Expression) -> Interval:
        """Return the interval of an expression's value."""
        if expression in self.cases:
            truth = self.cases[expression]
            return Interval(truth, truth)
        key = self._key(expression, self.is_quiet)
        value = self.common.values.get(key) if key else None
        if value is None:
            value = self._evaluated(expression)
            if key:
                self.common.values[key] = value
            if not self.is_quiet:
                known = self.nodes.get(expression)
                self.nodes[expression] = value if known is None else join(known, value)
        if value.low < MIN or value.high > MAX:
            return ALL
        return value

    def _key(self, expression: Expression, of: bool) -> tuple[Any, ...] | None:
        """Return by what something is known of an expression that occurs often."""
        slots = self.common.slots.get(expression)
        if slots is None or self.cases:
            return None
        return expression, of, *map(self.value, slots)

    def _evaluated(self, expression: Expression) -> Interval:
        """Return the interval before it is taken modulo 2**32."""
        if isinstance(expression, Number):
            return Interval(expression.value, expression.value)
        if isinstance(expression, Read):
            return self.value(self.slots[expression.variable])
        if isinstance(expression, (Element, Lookup)):
            index = self.evaluate(expression.index)
            if index.low < 0 or index.high >= expression.size:
                self.failing.add(expression)
            if isinstance(expression, Element):
                return self.value(self.slots[expression.first])
            return _around(expression.values)
        if isinstance(expression, Unary):
            operand = self.evaluate(expression.operand)
            if expression.op == "not":
                if operand == (0, 0):
                    return Interval(1, 1)
                return _TRUTH if operand.low <= 0 <= operand.high else Interval(0, 0)
            shift = 0 if expression.op == "-" else 1
            return Interval(-operand.high - shift, -operand.low - shift)
        if isinstance(expression, Conditional):
            return self._either(expression)
        if expression.op in LOGICAL:
            return self._logical(expression)
        left = self.evaluate(expression.left)
        right = self.evaluate(expression.right)
        if expression.op in ("/", "%") and right.low <= 0 <= right.high:
            self.failing.add(expression)
        return combined(expression.op, left, right)

    def _logical(self, expression: Binary) -> Interval:
        """Evaluate the right operand where the left one lets it matter.

        The value is 0 or 1 in any case, so there is nothing to do but to take up what
        is found: comparisons of conditions inside each other would be evaluated twice
        as often at every level.
        """
        if self.is_quiet:
            return _TRUTH
        self.evaluate(expression.left)
        inner = self.narrowed(expression.left, expression.op != "||")
        if inner is not None:
            inner.evaluate(expression.right)
        return _TRUTH

    def _either(self, expression: Conditional) -> Interval:
        """Evaluate each of two values where the test lets it matter."""
        self.evaluate(expression.test)
        found = [
            inner.evaluate(value)
            for value, truth in ((expression.yes, True), (expression.no, False))
            for inner in (self.narrowed(expression.test, truth),)
            if inner is not None
        ]
        return reduce(join, found) if found else ALL

    def narrowed(self, condition: Expression, truth: bool) -> Environment | None:
        """Return the environment where a condition is (not) true, None if nowhere.

        It is not to be changed.
        """
        now = condition, truth
        if now not in self._narrowed:
            key = self._key(condition, truth)
            if key is None:
                self._narrowed[now] = self._narrowed_by(condition, truth)
            else:
                self._narrowed[now] = self._narrowed_again(key)
        return self._narrowed[now]

    def _narrowed_again(self, key: tuple[Any, ...]) -> Environment | None:
        """Return the same by what is known by a key."""
        known, (condition, truth, *before) = self.common.narrowed, key
        if key not in known:
            found = self._narrowed_by(condition, truth)
            slots = zip(self.common.slots[condition], before, strict=True)
            known[key] = (
                None
                if found is None
                else {
                    s: found.value(s) for s, value in slots if found.value(s) != value
                }
            )
        changed = known[key]
        if not changed:
            return None if changed is None else self
        return self._with(self.values, {**self.narrow, **changed})

    def _narrowed_by(self, condition: Expression, truth: bool) -> Environment | None:
        if isinstance(condition, Unary) and condition.op == "not":
            return self.narrowed(condition.operand, not truth)
        if not isinstance(condition, Binary) or condition.op not in (
            LOGICAL | COMPARISONS
        ):
            zero = Number(0)
            return self._compared("!=" if truth else "==", condition, zero)
        if condition.op in COMPARISONS:
            op = condition.op if truth else _NEGATED[condition.op]
            return self._compared(op, condition.left, condition.right)
        # All operators are brought to "&&": both of two conditions hold.
        first = condition.op != "||"
        second = condition.op == "&&"
        both = truth == second
        left = self.narrowed(condition.left, first)
        inner = None if left is None else left.narrowed(condition.right, second)
        if both:
            return inner
        outer = self.narrowed(condition.left, not first)
        rest = None if left is None else left.narrowed(condition.right, not second)
        return _either(outer, rest)

    def _compared(
        self, op: str, left: Expression, right: Expression
    ) -> Environment | None:
        """Narrow both sides of a comparison."""
        quiet = self._quiet()
        a, b = quiet.evaluate(left), quiet.evaluate(right)
        new_a, new_b = _meet(op, a, b), _meet(FLIPPED[op], b, a)
        if new_a is None or new_b is None:
            return None
        narrowed = self
        for side, value in ((left, new_a), (right, new_b)):
            if isinstance(side, Read) and self._is_scalar(side.variable):
                narrowed = narrowed.changed(side.variable, value)
        return narrowed

    def _is_scalar(self, variable: int) -> bool:
        """Whether a variable shares its interval with no other one."""
        slots = self.slots
        if slots[variable] != variable:
            return False
        return variable + 1 == len(slots) or slots[variable + 1] != variable


def _either(a: Environment | None, b: Environment | None) -> Environment | None:
    if a is None or b is None:
        return b if a is None else a
    both = a.narrow.keys() & b.narrow.keys()
    return a._with(a.values, {s: join(a.narrow[s], b.narrow[s]) for s in both})


def _meet(op: str, a: Interval, b: Interval) -> Interval | None:
    """Return the part of `a` that compares with some value of `b`."""
    low, high = a
    if op == "<":
        high = min(high, b.high - 1)
    elif op == "<=":
        high = min(high, b.high)
    elif op == ">":
        low = max(low, b.low + 1)
    elif op == ">=":
        low = max(low, b.low)
    elif op == "==":
        low, high = max(low, b.low), min(high, b.high)
    elif b.low == b.high:
        low += low == b.low
        high -= high == b.low
    return Interval(low, high) if low <= high else None


def combined(op: str, a: Interval, b: Interval) -> Interval:
    """Return an interval that holds ``x op y`` for all x of `a` and y of `b`."""
    if op in COMPARISONS:
        if _meet(op, a, b) is None:
            return Interval(0, 0)
        return Interval(1, 1) if _meet(_NEGATED[op], a, b) is None else _TRUTH
    if op == "+":
        return Interval(a.low + b.low, a.high + b.high)
    if op == "-":
        return Interval(a.low - b.high, a.high - b.low)
    if op == "*":
        return _around([x * y for x in a for y in b])
    if op in ("/", "%"):
        return _quotients(op, a, b)
    if op in ("<<", ">>"):
        inside = b.low >= 0 and b.high <= 31
        shifts = b if inside else Interval(0, 31)
        if op == "<<":
            return _around([x << y for x in a for y in shifts])
        return _around([x >> y for x in a for y in shifts])
    return _bitwise(op, a, b)


def _around(values: Sequence[int]) -> Interval:
    return Interval(min(values), max(values))


def _quotients(op: str, a: Interval, b: Interval) -> Interval:
    largest = max(abs(b.low), abs(b.high))
    if op == "%":
        # The sign is that of the dividend, the size below both.
        size = max(largest - 1, 0)
        low = -min(size, -a.low) if a.low < 0 else 0
        return Interval(low, min(size, a.high) if a.high > 0 else 0)
    size = max(abs(a.low), abs(a.high))
    if a.low >= 0 and b.low > 0:
        return Interval(a.low // b.high, a.high // b.low)
    return Interval(-size, size)


def _bitwise(op: str, a: Interval, b: Interval) -> Interval:
    if a.low < 0 or b.low < 0:
        if op == "&" and max(a.low, b.low) >= 0:
            return Interval(0, a.high if a.low >= 0 else b.high)
        bits = max(v.bit_length() for v in (*a, *b))
        return Interval(-(1 << bits), (1 << bits) - 1)
    if op == "&":
        return Interval(0, min(a.high, b.high))
    limit = (1 << max(a.high.bit_length(), b.high.bit_length())) - 1
    return Interval(max(a.low, b.low) if op == "|" else 0, limit)


def _tests_in(expression: Expression) -> list[Expression]:
    """Return the comparisons that are operands of arithmetic, from left to right."""
    if is_truth(expression):
        return [expression]
    if isinstance(expression, (Unary, Binary)):
        return [test for part in parts(expression) for test in _tests_in(part)]
    return []


_PATIENCE = 6
_MANY_SLOTS = 8  # of an expression whose parts, too, are kept by what they read
_MOST_KNOWN = 20_000  # of them

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
        self._local: list[list[dict[int, Interval] | None]] = []
        # What each slot can be anywhere: for the variables of processes the join of
        # the above, kept up to date, as computing it takes all states.
        self._anywhere: dict[int, Interval] = {}
        self._own: list[list[int]] = []  # the slots of each process
        self._common: set[int] = set()  # those of none
        self._often = Common({}, {}, {})
        self._is_noting = True
        self._growth: Counter[tuple[int, ...]] = Counter()

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
            self._own.append(list(own))
            self._local[number][initial[process.state].low] = own
        self._anywhere = initial
        self._common = initial.keys() - self._owner.keys()
        if program.timeout >= 0:
            self._anywhere[program.timeout] = _TRUTH
            self._common.add(program.timeout)

    def _iterate(self) -> Job[None]:
        """Take all steps on intervals until nothing grows."""
        readers, actions = (yield from self._readers()), self.program.actions
        ticks = Ticks(PACKING, _STEP_WORK + _SLOT_WORK * len(self.program.slots))
        waiting, order = [True] * len(actions), list(range(len(actions)))[::-1]
        is_last = False  # all steps once more, as `nodes` are those of the last values
        while not is_last:
            is_last = self._is_noting = not any(waiting)
            self._often.values.clear()
            self.nodes.clear()
            self.failing.clear()
            order.reverse()  # as processes may end in either order
            for number in order:
                if not (is_last or waiting[number]):
                    continue
                waiting[number] = False
                if len(self._often.narrowed) > _MOST_KNOWN:
                    self._often.narrowed.clear()
                for grown in self._step(actions[number]):
                    for reader in readers.get(grown, ()):
                        waiting[reader] = True
                if ticks.over():
                    known = len(self._often.values) + len(self._often.narrowed)
                    ticks.memory_bytes = _NODE_BYTES * (known + len(self.nodes))
                    yield ticks.progress
            is_last = is_last and not any(waiting)
        for process, state, condition in self.program.assertions:
            environment = self._environment([(process, state)])
            if environment is not None:
                environment.evaluate(condition)
        self._often = Common({}, {}, {})

    def _readers(self) -> Job[dict[int | tuple[int, int], list[int]]]:
        """Return the actions that depend on a slot, or on a process in a state.

        Find the expressions that occur often, and what they read, too.
        """
        readers: dict[int | tuple[int, int], list[int]] = {}
        slots: dict[Expression, frozenset[int]] = {}
        times: Counter[Expression] = Counter()
        ticks = Ticks(PACKING)
        for number, action in enumerate(self.program.actions):
            effects = [e for t in action.transitions for e in t.effects]
            effects += self.program.exchange(action)
            read = [*action.conditions, *(e.value for e in effects)]
            read += [e.target.index for e in effects if isinstance(e.target, Element)]
            times.update(read)
            known: set[int | tuple[int, int]] = {
                (t.process, t.source) for t in action.transitions
            }
            todo = list(read)
            while todo:
                node = todo[-1]
                if node in slots:
                    todo.pop()
                elif new := [part for part in parts(node) if part not in slots]:
                    todo += new
                else:
                    times.update(parts(node))
                    found = frozenset(chain(*(slots[part] for part in parts(node))))
                    if isinstance(node, (Read, Element)):
                        found |= {self.program.slots[node.first]}
                    slots[node] = found
                yield from ticks.worked()
            for place in known.union(*(slots[expression] for expression in read)):
                readers.setdefault(place, []).append(number)
        for node, read_slots in slots.items():
            is_often = times[node] > 1 and any(map(parts, parts(node)))
            if is_often or len(read_slots) > _MANY_SLOTS:
                self._often.slots[node] = tuple(read_slots)
        return readers

    def _step(self, action: Action) -> Iterator[int | tuple[int, int]]:
        """Take one step on intervals; yield what has grown (see `_readers`)."""
        moving, processes = action.transitions, self.program.processes
        known = self._environment([(t.process, t.source) for t in moving])
        for condition in action.conditions:
            if known is not None:
                known.evaluate(condition)
                known = known.narrowed(condition, True)
        if known is None:
            return
        environment = known.copy()
        self._assign(self.program.exchange(action), environment)
        for transition in reversed(moving):
            target = Interval(transition.target, transition.target)
            environment.write(processes[transition.process].state, target)
            for effect in transition.effects:
                self._assign([effect], environment)
        yield from self._record([(t.process, t.target) for t in moving], environment)

    def _environment(self, ends: list[tuple[int, int]]) -> Environment | None:
        """Return the intervals with processes in states; None if they never are."""
        if any(self._local[process][state] is None for process, state in ends):
            return None
        known = dict(self._anywhere)
        for process, state in ends:
            known.update(self._local[process][state] or {})
            known[self.program.processes[process].state] = Interval(state, state)
        slots, is_quiet = self.program.slots, not self._is_noting
        found = known, slots, self.nodes, self.failing
        return Environment(*found, is_quiet=is_quiet, common=self._often)

    def _assign(
        self, assignments: Sequence[Assignment], environment: Environment
    ) -> None:
        """Have assignments at once; an array keeps what its other elements may be.

        So does one of a single element: generated code puts every value that is
        assigned to an array into the row, not only the last one of a step.
        """
        values = [
            wrapped_to(environment.assigned(a.value), a.bounds) for a in assignments
        ]
        for assignment, value in zip(assignments, values, strict=True):
            target = assignment.target
            if isinstance(target, Element):
                environment.evaluate(target)
            slot = self.program.slots[target.first]
            if slot in self._arrays:
                value = join(environment.values[slot], value)
            environment.write(slot, value)

    def _record(
        self, targets: list[tuple[int, int]], environment: Environment
    ) -> Iterator[int | tuple[int, int]]:
        """Join what a step has computed to what is known; yield what has grown."""
        values = environment.values
        for slot in environment.written & self._common:
            if self._grow(self._anywhere, slot, values[slot], (slot,)):
                yield slot
        for process, state in targets:
            own = self._local[process][state]
            if own is None:
                own = {slot: values[slot] for slot in self._own[process]}
                self._local[process][state] = own
                yield process, state
                more = list(own)
            else:
                more = [s for s in own if self._grow(own, s, values[s], (s, state))]
                if more:
                    yield process, state
            for slot in more:
                before = self._anywhere[slot]
                self._anywhere[slot] = join(before, own[slot])
                if self._anywhere[slot] != before:
                    yield slot

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
        self._growth[key] += 1
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
            low = self._thresholds[bisect_right(self._thresholds, low) - 1]
        if high > old.high:
            high = self._thresholds[bisect_left(self._thresholds, high)]
        return Interval(max(low, bounds[0]), min(high, bounds[1]))

    def with_faults(self) -> Ranges:
        """Return the same where steps are several moves, which can be too many."""
        same = copy(self)
        same.variables = [*self.variables[:-1], (0, ENDLESS)]
        return same

    def _joined(self) -> list[tuple[int, int]]:
        """Return the interval of each variable over all states of its process."""
        environment = self._environment([])
        assert environment is not None
        joined = [environment.values[slot] for slot in self.program.slots]
        error, timeout = self.program.error, self.program.timeout
        if self.program.has_control:
            joined[error] = Interval(0, ENDLESS)
        elif self.failing:
            joined[error] = join(joined[error], Interval(0, FAILED))
        if timeout >= 0:
            joined[timeout] = Interval(0, 0)
        if self.program.synchronous and self.program.shared_slots():
            joined[error] = Interval(0, FAILED)
        return [(interval.low, interval.high) for interval in joined]


def _owners(program: Program) -> dict[int, int]:
    """Return the process that alone writes to a slot, for those that have one."""
    return {
        program.slots[variable]: number
        for number, process in enumerate(program.processes)
        for variable in (process.state, *process.variables)
    }


def _thresholds(program: Program) -> Job[list[int]]:
    """Return the numbers of a model and their neighbours, sorted."""
    found = {0, *(array.size for array in program.arrays)}
    ticks = Ticks(PACKING)
    for transition in program.transitions():
        for expression in transition.expressions():
            if isinstance(expression, Number):
                found.add(expression.value)
            yield from ticks.worked()
    return sorted({MIN, MAX, *(n + k for n in found for k in (-1, 0, 1))})


WORD_BITS = 64
_RESERVE = 12  # bits that the last word has free for the automaton of a property


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
    sizes = [1 << bits[first] * size for first, size in units]
    fields = complete(allocation(sizes, Ticks(PACKING), _RESERVE))
    places: list[Field] = []
    chunks: dict[int, tuple[Chunk, ...]] = {}
    for (first, size), own in zip(units, fields, strict=True):
        slot, width = program.slots[first], bits[first]
        chunk = Chunk(first - slot, size, own.word, own.shift)
        chunks[slot] = (*chunks.get(slot, ()), chunk)
        for i in range(size):
            shift = min(own.shift + i * width, WORD_BITS - 1)
            places.append(Field(own.word, shift, width, lows[first + i]))
    return Layout(tuple(places), chunks, 1 + max(place.word for place in places))
