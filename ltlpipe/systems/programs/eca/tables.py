"""The rules of a program as tables of the kernel.

Code is written backwards, from what is needed behind a rule: assignments to what is not
needed are left out, and an assigned value of which only the region is needed, which is
the same for all states, is a constant.  What a rule leaves as it is, and constants, are
not touched by code (`ltlpipe.systems.programs.eca.kernels`).
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.fields import Field, allocation
from ltlpipe.systems.programs.eca.guards import decision_tree
from ltlpipe.systems.programs.eca.kernels import Op, Tables
from ltlpipe.systems.programs.eca.liveness import (
    DEAD,
    REGION,
    Assigned,
    Behaviour,
    Branch,
    needed,
)
from ltlpipe.systems.programs.eca.program import N_OWN
from ltlpipe.systems.programs.eca.ranges import ANALYSING, assigned
from ltlpipe.systems.programs.program import (
    Binary,
    Lookup,
    Number,
    Read,
    Unary,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.liveness import Liveness
    from ltlpipe.systems.programs.eca.ranges import Known, Ranges
    from ltlpipe.systems.programs.program import Expression

_OPERATORS = {
    "+": Op.PLUS,
    "-": Op.LESS,
    "*": Op.TIMES,
    "/": Op.DIVIDE,
    "%": Op.REMAINDER,
    "==": Op.IS,
    "!=": Op.IS_NOT,
    "<": Op.BELOW,
    "<=": Op.UP_TO,
    ">": Op.ABOVE,
    ">=": Op.FROM,
}


class Layout(NamedTuple):
    """Where the variables of a state lie."""

    fields: list[Field]  # by variable; of no bits if it is no part of a state
    n_words: int


def laid_out(ranges: Ranges, liveness: Liveness) -> Job[Layout]:
    """Find the variables that a state has, and a place for each."""
    behaviours = liveness.behaviours
    used = liveness.read.union(np.flatnonzero(liveness.initial_needs).tolist())
    for behaviour in behaviours:
        rule = ranges.rules.rules[behaviour.number]
        used.update(variable for variable, _ in rule.literals)
        used.update(variable for variable, _ in behaviour.conditions)
        used.update(np.flatnonzero(behaviour.needs).tolist())
    used -= set(range(N_OWN))
    sizes = [
        known.high - known.low + 1 if variable in used else 1
        for variable, known in enumerate(ranges.always)
    ]
    placed = yield from allocation(sizes, Ticks(ANALYSING))
    fields = [
        field._replace(low=known.low)
        for field, known in zip(placed, ranges.always, strict=True)
    ]
    return Layout(fields, 1 + max(field.word for field in fields))


def representative(
    ranges: Ranges, variable: int, value: int, known: Known, need: int
) -> int:
    """Return what stands for a value, of which something is known and needed."""
    if need == DEAD:
        region = (known.mask & -known.mask).bit_length() - 1
    elif need == REGION:
        region = ranges.rules.region(variable, value)
    else:
        return value
    return least(ranges, variable, region)


def least(ranges: Ranges, variable: int, region: int) -> int:
    """Return what stands for the values of a region, the least that can be."""
    return max(ranges.rules.lowest(variable, region), ranges.always[variable].low)


def make_tables(
    ranges: Ranges, behaviours: Sequence[Behaviour], layout: Layout, outputs: list[int]
) -> Job[tuple[Tables, int]]:
    """Return the tables, and how deep the stack has to be.

    `outputs` are the numbers of all that is printed, in order.
    """
    writer = _Writer(ranges, layout)
    rules, kept, constants = [], [], []
    number = {output: k for k, output in enumerate(outputs)}
    ticks = Ticks(ANALYSING, 100.0)
    for behaviour in behaviours:
        rule = ranges.rules.rules[behaviour.number]
        output = number.get(rule.output, -1)  # of an error
        inputs = sum(1 << k for k in rule.inputs)
        code, keeps, values = writer.rule(behaviour)
        condition = writer.condition(rule.conditions)
        rules.append((inputs, output, writer.placed(code), writer.placed(condition)))
        kept.append(keeps)
        constants.append(values)
        yield from ticks.worked(1 + len(behaviour.body))
    tree = yield from decision_tree(ranges, [b.number for b in behaviours])
    fields = [(f.word, f.shift, f.mask, f.low) for f in layout.fields]
    tables = Tables(
        tree,
        np.array(rules, dtype=np.int64),
        np.array(kept, dtype=np.uint64),
        np.array(constants, dtype=np.uint64),
        np.array(writer.code, dtype=np.int64),
        np.array(writer.data, dtype=np.int64),
        np.array(fields, dtype=np.int64),
        np.array(ranges.rules.source.inputs, dtype=np.int64),
    )
    return tables, writer.deepest


class _Writer:
    """Writes the code of rules."""

    def __init__(self, ranges: Ranges, layout: Layout) -> None:
        self._ranges = ranges
        self._rules = ranges.rules
        self._layout = layout
        self.code: list[int] = []
        self.data: list[int] = [0]
        self.deepest = 1
        self._arrays: dict[tuple[int, ...], int] = {}
        self._regions: dict[int, int] = {}

    def placed(self, code: list[int] | None) -> int:
        """Add code; return its place, -1 if there is none."""
        if code is None:
            return -1
        self.code += code
        return len(self.code) - len(code)

    # --- rules --------------------------------------------------------------

    def rule(self, behaviour: Behaviour) -> tuple[list[int], list[int], list[int]]:
        """Return the code of a rule, the fields that it keeps, and its constants."""
        n_words, fields = self._layout.n_words, self._layout.fields
        needs: list[int] = behaviour.needs.tolist()
        end: list[list[int]] = []
        keeps, values = [0] * n_words, [0] * n_words
        written = assigned([step.statement for step in behaviour.body])
        fixed = self._constants(behaviour, needs)
        for variable, field in enumerate(fields):
            if not field.bits:
                continue
            if needs[variable] == DEAD:
                fixed[variable] = self._some(variable, behaviour.after[variable])
            if variable in fixed:
                bits = fixed[variable] - field.low & field.mask
                values[field.word] |= bits << field.shift
            elif needs[variable] == REGION and not self._is_fine(variable):
                place, n_cuts = self._region_table(variable)
                end.append([Op.OUT_REGION, variable, place, n_cuts])
            elif variable in written:
                end.append([Op.OUT, variable])
            else:
                keeps[field.word] |= field.mask << field.shift
        own = [DEAD if v in fixed else need for v, need in enumerate(needs)]
        body = self._body(behaviour.body, own)
        code = [*body, *(number for part in end for number in part), Op.END]
        return code, keeps, values

    def _constants(self, behaviour: Behaviour, needs: Sequence[int]) -> dict[int, int]:
        """Return what is the same behind a rule whatever the state before it."""
        found: dict[int, int] = {}
        for step in behaviour.body:
            if isinstance(step, Branch):
                for variable in assigned([step.statement]):
                    found.pop(variable, None)
                continue
            variable, value = step.statement.variable, step.statement.value
            found.pop(variable, None)
            if isinstance(value, Number):
                found[variable] = value.value
        for variable, known in enumerate(behaviour.after):
            if needs[variable] == REGION and known.is_one_region:
                found[variable] = self._some(variable, known)
        return {
            v: representative(self._ranges, v, x, behaviour.after[v], needs[v])
            for v, x in found.items()
        }

    def _some(self, variable: int, known: Known) -> int:
        """Return some value that is known to be possible, in the lowest region."""
        return representative(self._ranges, variable, known.low, known, DEAD)

    def _is_fine(self, variable: int) -> bool:
        """Whether all regions that occur have one value."""
        known = self._ranges.always[variable]
        return all(p.low == p.high for p in self._ranges.parts(variable, known))

    def _region_table(self, variable: int) -> tuple[int, int]:
        """Return the place of the cuts and values of regions, and how many cuts."""
        cuts = self._rules.cuts[variable]
        if variable not in self._regions:
            self._regions[variable] = len(self.data)
            values = [least(self._ranges, variable, k) for k in range(len(cuts) + 1)]
            self.data += [*cuts, *values]
        return self._regions[variable], len(cuts)

    # --- statements ---------------------------------------------------------

    def _body(self, body: Sequence[Assigned | Branch], needs: list[int]) -> list[int]:
        """Return the code of statements.

        `needs`, those behind it, become those before it.
        """
        parts: list[list[int]] = []
        for step in needed(body, needs):
            if isinstance(step, Assigned):
                parts.append(self._assignment(step, needs))
            else:
                sides = step.then, step.otherwise
                then, otherwise = (self._body(side, needs.copy()) for side in sides)
                test = self.expression(step.statement.condition)
                parts.append(_chosen(test, then, otherwise))
        return list(chain.from_iterable(reversed(parts)))

    def _assignment(self, step: Assigned, needs: Sequence[int]) -> list[int]:
        variable, value = step.statement.variable, step.statement.value
        if not step.fails:
            if isinstance(value, Number):
                return [Op.SET, variable, value.value]
            if needs[variable] == REGION and step.for_region == DEAD:
                return [Op.SET, variable, step.low]
        return [*self.expression(value), Op.STORE, variable]

    def condition(self, conditions: Sequence[Expression]) -> list[int] | None:
        """Return code that leaves whether all conditions hold; None without any."""
        if not conditions:
            return None
        whole = conditions[0]
        for other in conditions[1:]:
            whole = Binary("&&", whole, other)
        return [*self.expression(whole), Op.END]

    # --- expressions --------------------------------------------------------

    def expression(self, expression: Expression, depth: int = 1) -> list[int]:
        """Return code that leaves a value behind `depth` - 1 others."""
        self.deepest = max(self.deepest, depth + 1)
        if isinstance(expression, Number):
            return [Op.CONSTANT, expression.value]
        if isinstance(expression, Read):
            return [Op.LOAD, expression.variable]
        if isinstance(expression, Lookup):
            values = expression.values
            if values not in self._arrays:
                self._arrays[values] = len(self.data)
                self.data += values
            index = self.expression(expression.index, depth)
            return [*index, Op.LOOKUP, self._arrays[values], len(values)]
        if isinstance(expression, Unary):
            operand = self.expression(expression.operand, depth)
            return [*operand, Op.NOT if expression.op == "not" else Op.MINUS]
        assert isinstance(expression, Binary)
        left = self.expression(expression.left, depth)
        if expression.op in ("&&", "||"):
            right = self.expression(expression.right, depth)
            # Both leave their truth as 0 or 1, the second one if it is needed.
            is_or = expression.op == "||"
            test = [*left, Op.NOT] if is_or else left
            return _chosen(test, [*right, Op.NOT, Op.NOT], [Op.CONSTANT, int(is_or)])
        right = self.expression(expression.right, depth + 1)
        return [*left, *right, _OPERATORS[expression.op]]


def _chosen(test: list[int], then: list[int], otherwise: list[int]) -> list[int]:
    """Return code for one of two parts."""
    if otherwise:
        then = [*then, Op.JUMP, len(otherwise)]
    return [*test, Op.UNLESS, len(then), *then, *otherwise]
