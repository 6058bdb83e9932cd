"""Ranges of variables of a program: an interval, and a set of regions.

A rule fires in states that its guard allows.  Its body is evaluated on what is known of
all reachable states, narrowed by the guard; what comes out is joined to what is known,
until nothing grows.  A variable that has grown `_PATIENCE` times grows to the next
number of the program, so there is an end.

Source: P. Cousot and R. Cousot, "Abstract interpretation: a unified lattice model for
static analysis of programs by construction or approximation of fixpoints", POPL 1977,
Sec. 9.  Differences from the source: widening to thresholds; what is known is one for
all states, and the guard of each rule narrows it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.program import (
    FLAG,
    INPUT,
    N_OWN,
    Assign,
    If,
    statements_in,
)
from ltlpipe.systems.programs.eca.rules import reads
from ltlpipe.systems.programs.program import (
    COMPARISONS,
    LOGICAL,
    Binary,
    Expression,
    Lookup,
    Number,
    Read,
    Unary,
    nodes_in,
)
from ltlpipe.systems.programs.ranges import MAX, MIN, Interval, combined

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.program import Statement
    from ltlpipe.systems.programs.eca.rules import Rule, Rules

ANALYSING = "analysing the program"

_PATIENCE = 6
_MOST_CASES = 64  # combinations of regions that are looked at, of one assignment
_MOST_ENTRIES = 1 << 12  # of an array, between its bounds


class Known(NamedTuple):
    """A variable is between two values, and in one of some regions."""

    low: int
    high: int
    mask: int

    @property
    def is_one_region(self) -> bool:
        """Whether it is in one region, whatever its value."""
        return self.mask & (self.mask - 1) == 0


class Ranges:
    """What is known of the variables in all reachable states.

    Attributes
    ----------
    always : list of Known
        By variable.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        source = rules.source
        self.always = [
            Known(v.initial, v.initial, rules.between(k, v.initial, v.initial))
            for k, v in enumerate(source.variables)
        ]
        low, high = min(source.inputs), max(source.inputs)
        self.always[INPUT] = Known(low, high, rules.between(INPUT, low, high))
        self.always[FLAG] = Known(0, 1, rules.between(FLAG, 0, 1))
        self._masks = [
            [(v, rules.within(v, spans), spans) for v, spans in rule.literals]
            for rule in rules.rules
        ]

    @property
    def initial(self) -> list[Known]:
        """What is known of the first state, of which input and flag are no part."""
        rules = self.rules
        found = self.always.copy()
        for k, v in enumerate(rules.source.variables[N_OWN:], N_OWN):
            found[k] = found[k]._replace(mask=rules.between(k, v.initial, v.initial))
        return found

    def within(self, masks: Sequence[int]) -> list[Known]:
        """Return what is known of variables in some regions."""
        found = []
        for variable, (known, mask) in enumerate(zip(self.always, masks, strict=True)):
            if mask == known.mask:
                found.append(known)
                continue
            lowest = (mask & -mask).bit_length() - 1
            low = max(known.low, self.rules.lowest(variable, lowest))
            high = self.rules.highest(variable, mask.bit_length() - 1)
            found.append(Known(low, min(known.high, high), mask))
        return found

    def before(
        self, number: int, masks: Sequence[int] | None = None
    ) -> list[Known] | None:
        """Return what is known where the guard of a rule holds; None if nowhere.

        `masks` are the regions in which variables can be when the rule begins, by
        default all that are ever possible.
        """
        found = self.always.copy() if masks is None else self.within(masks)
        for variable, mask, spans in self._masks[number]:
            known = found[variable]
            mask &= known.mask
            if not mask:
                return None
            low, high = max(known.low, spans[0][0]), min(known.high, spans[-1][1])
            if low > high:
                return None
            found[variable] = Known(
                low, high, mask & self.rules.between(variable, low, high)
            )
            if not found[variable].mask:
                return None
        return found

    def run(self, body: Sequence[Statement], known: list[Known]) -> None:
        """Change what is known before a body to what is known after it."""
        for statement in body:
            if isinstance(statement, Assign):
                self.assign(statement, known)
            elif isinstance(statement, If):
                other = known.copy()
                self.run(statement.then, known)
                self.run(statement.otherwise, other)
                joined(known, other)

    def assign(self, statement: Assign, known: list[Known]) -> None:
        """Change what is known by an assignment."""
        value, variable = statement.value, statement.variable
        if isinstance(value, Number):
            low = high = value.value
        else:
            low, high = interval(value, known)
        known[variable] = Known(low, high, self.rules.between(variable, low, high))

    def fixed(self) -> Job[None]:
        """Find what is always known."""
        rules = self.rules.rules
        users = [_uses(rule) for rule in rules]
        stops = _numbers(rules)
        patience = [_PATIENCE] * len(self.always)
        changed = set(range(len(self.always)))
        ticks = Ticks(ANALYSING, 30.0)
        while changed:
            before, changed = changed, set()
            for number, rule in enumerate(rules):
                if users[number].isdisjoint(before):
                    continue
                known = self.before(number)
                yield from ticks.worked(1 + len(rule.body))
                if known is None:
                    continue
                self.run(rule.body, known)
                for variable in assigned(rule.body):
                    if self._joins(variable, known[variable], patience, stops):
                        changed.add(variable)

    def _joins(
        self, variable: int, new: Known, patience: list[int], stops: Sequence[int]
    ) -> bool:
        """Join what is known of a variable; return whether it has grown."""
        old = self.always[variable]
        low, high = min(old.low, new.low), max(old.high, new.high)
        mask = old.mask | new.mask
        if (low, high, mask) == old:
            return False
        if (low, high) != (old.low, old.high):
            patience[variable] -= 1
            if patience[variable] < 0:
                low = low if low == old.low else stops[bisect_right(stops, low) - 1]
                high = high if high == old.high else stops[bisect_left(stops, high)]
        self.always[variable] = Known(low, high, mask)
        return True

    def need_of(self, statement: Assign, known: Sequence[Known]) -> int:
        """Return how the region of an assigned value depends on what is read.

        0: it does not; 1: by the regions of what is read; 2: by the values.
        """
        value, variable = statement.value, statement.variable
        if self._has_one(variable, value, known):
            return 0
        read = sorted(reads(value))
        n_cases, choices = 1, []
        for each in read:
            n_cases *= known[each].mask.bit_count()
            if n_cases > _MOST_CASES:
                return 2
            choices.append(list(self.parts(each, known[each])))
        local = list(known)
        for case in product(*choices):
            for each, part in zip(read, case, strict=True):
                local[each] = part
            if not self._has_one(variable, value, local):
                return 2
        return 1

    def _has_one(
        self, variable: int, value: Expression, known: Sequence[Known]
    ) -> bool:
        low, high = interval(value, known)
        region = self.rules.region
        return region(variable, low) == region(variable, high)

    def parts(self, variable: int, known: Known) -> Iterator[Known]:
        """Yield what is known of a variable in each of its regions."""
        mask = known.mask
        while mask:
            bit = mask & -mask
            mask ^= bit
            region = bit.bit_length() - 1
            low = max(known.low, self.rules.lowest(variable, region))
            high = min(known.high, self.rules.highest(variable, region))
            yield Known(low, high, bit)


def joined(known: list[Known], other: Sequence[Known]) -> None:
    """Change what is known at the end of one branch to what is at that of either."""
    for k, (a, b) in enumerate(zip(known, other, strict=True)):
        if a is not b:
            known[k] = Known(min(a.low, b.low), max(a.high, b.high), a.mask | b.mask)


def interval(
    expression: Expression, known: Sequence[Known] | Mapping[int, Known]
) -> tuple[int, int]:
    """Return bounds of the value of an expression, if it has one."""
    if isinstance(expression, Number):
        return expression.value, expression.value
    if isinstance(expression, Read):
        found = known[expression.variable]
        return found.low, found.high
    if isinstance(expression, Lookup):
        return _entries(expression, known)
    if isinstance(expression, Unary):
        low, high = interval(expression.operand, known)
        return (0, 1) if expression.op == "not" else _within(-high, -low)
    assert isinstance(expression, Binary)
    if expression.op in LOGICAL or expression.op in COMPARISONS:
        return 0, 1
    left = Interval(*interval(expression.left, known))
    right = Interval(*interval(expression.right, known))
    return _within(*combined(expression.op, left, right))


def _within(low: int, high: int) -> tuple[int, int]:
    return (low, high) if low >= MIN and high <= MAX else (MIN, MAX)


def _entries(
    expression: Lookup, known: Sequence[Known] | Mapping[int, Known]
) -> tuple[int, int]:
    low, high = interval(expression.index, known)
    values = expression.values[max(low, 0) : max(high + 1, 0)]
    if not values or len(values) > _MOST_ENTRIES:
        values = expression.values
    return min(values), max(values)


def fails(expression: Expression, known: Sequence[Known]) -> bool:
    """Whether a value might be lacking where something is known of variables."""
    for node in nodes_in(expression):
        if isinstance(node, Lookup):
            low, high = interval(node.index, known)
            if low < 0 or high >= node.size:
                return True
        elif isinstance(node, Binary) and node.op in ("/", "%"):
            low, high = interval(node.right, known)
            if low <= 0 <= high:
                return True
    return False


def assigned(body: Sequence[Statement]) -> set[int]:
    """Return the variables that statements may assign to."""
    return {s.variable for s in statements_in(body) if isinstance(s, Assign)}


def _values(rule: Rule) -> Iterator[Expression]:
    """Yield what a rule assigns."""
    for statement in statements_in(rule.body):
        if isinstance(statement, Assign):
            yield statement.value


def _uses(rule: Rule) -> set[int]:
    """Return the variables on which depends what is known behind a rule."""
    # A rule that assigns constants without a guard is looked at once.
    return {FLAG, *(v for v, _ in rule.literals)}.union(*map(reads, _values(rule)))


def _numbers(rules: Sequence[Rule]) -> list[int]:
    """Return the numbers of a program and their neighbours, ascending."""
    found = {MIN, MAX, 0, -1, 1}
    for rule in rules:
        for _, spans in rule.literals:
            for low, high in spans:
                found |= {low - 1, low, high, high + 1}
        for node in nodes_in(*_values(rule)):
            numbers: tuple[int, ...] = ()
            if isinstance(node, Number):
                numbers = (node.value,)
            elif isinstance(node, Lookup):
                numbers = min(node.values), max(node.values)
            for n in numbers:
                found |= {n - 1, n, n + 1, -n, 1 - n}
    return sorted(n for n in found if MIN <= n <= MAX)
