"""The reachable states of a program, and its steps, as arrays.

States are enumerated breadth first up to a bound; what lies behind it is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.systems.fields import row_of
from ltlpipe.systems.programs.eca.guards import regions_before
from ltlpipe.systems.programs.eca.kernels import (
    Reg,
    Space,
    Status,
    Tables,
    enter_rows,
    enumerate_step,
)
from ltlpipe.systems.programs.eca.liveness import REGION, Liveness
from ltlpipe.systems.programs.eca.program import ERROR
from ltlpipe.systems.programs.eca.ranges import Ranges
from ltlpipe.systems.programs.eca.tables import laid_out, make_tables, representative

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.liveness import Behaviour
    from ltlpipe.systems.programs.eca.rules import Rules

ENUMERATING = "enumerating states"

_BUDGET = 1 << 12  # states of a call
_BLOCK = 1 << 16  # rows that are entered into slots without a pause
_ROOM = 1 << 10  # states at first


class Grounds(NamedTuple):
    """What is known of a machine's states, from which a certificate can be made.

    Of a machine that was enumerated there are no cells: each state is one.
    """

    ranges: Ranges
    behaviours: Sequence[Behaviour]
    keyed: Sequence[int] = ()  # variables by whose values cells differ
    cells: Mapping[tuple[int, tuple[int, ...]], list[np.ndarray]] | None = None
    """Values by variable, by a state and the values of keyed variables."""


@dataclass(frozen=True, eq=False)
class Machine:
    """What a program does: n states, the first is 0, and their steps.

    Parameters
    ----------
    inputs, outputs : tuple of int
        Those that occur.
    first : int64[n + 1]
        Where the steps of each state begin.
    label : int16[m, 2]
        Input and output of each step, as indices of `inputs` and `outputs`.
    target : int32[m]
        Where each step leads.
    n_expanded : int
        States whose steps are known, the first ones; less than n behind a bound.
    depth : int
        Steps in which only such states are met.
    rows : uint64[n, w], fields : int64[n_variables, 4]
        The values of variables in each state, where they lie and how (`Tables.fields`).
    n_seen : int or None
        Of a machine that was guessed and proved: the states that the guess is from.
        Its own are classes of states, of which rows have the values of one.
    grounds : Grounds or None
        None if no rule can fire.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    first: np.ndarray
    label: np.ndarray
    target: np.ndarray
    n_expanded: int
    depth: int
    rows: np.ndarray
    fields: np.ndarray
    n_seen: int | None = None
    grounds: Grounds | None = None

    @property
    def n_states(self) -> int:
        """How many states are known."""
        return len(self.first) - 1

    @property
    def is_complete(self) -> bool:
        """Whether the steps of all states are known."""
        return self.n_expanded == self.n_states

    def values(self, variable: int, states: np.ndarray) -> np.ndarray:
        """Return the values of a variable in some states, int64."""
        word, shift, mask, low = self.fields[variable].tolist()
        bits = self.rows[states, word] >> np.uint64(shift)
        values: np.ndarray = (bits & np.uint64(mask)).astype(np.int64) + low
        return values


@dataclass(eq=False)
class Prepared:
    """A program as the kernel takes it."""

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    tables: Tables
    space: Space  # with the first state
    registers: np.ndarray
    ranges: Ranges
    behaviours: Sequence[Behaviour]


def prepare(
    rules: Rules, tests_need: int = REGION, *, follows: bool = False
) -> Job[Prepared | None]:
    """Analyse a program and make its tables; None if no rule can ever fire.

    `tests_need` is what comparisons with constants are said to need: `REGION`, or
    `VALUE` to do without regions; `follows` is whether regions are carried from rule to
    rule, which takes longer and needs less.
    """
    ranges = Ranges(rules)
    yield from ranges.fixed()
    regions = None
    if follows:
        regions = yield from regions_before(ranges)
    liveness = Liveness(ranges, tests_need, regions)
    behaviours = yield from liveness.found()
    layout = yield from laid_out(ranges, liveness)
    used = [rules.rules[b.number] for b in behaviours]
    outputs = sorted({rule.output for rule in used} - {ERROR})
    if not used:
        return None
    tables, deepest = yield from make_tables(ranges, behaviours, layout, outputs)
    known = ranges.initial
    values = (
        representative(ranges, v, value, known[v], int(need))
        for v, (value, need) in enumerate(
            zip(rules.source.initial, liveness.initial_needs, strict=True)
        )
    )
    row = row_of(layout.fields, values, layout.n_words)
    begun = yield from beginning(row, len(layout.fields), deepest + 2)
    inputs = rules.source.inputs
    return Prepared(inputs, tuple(outputs), tables, *begun, ranges, behaviours)


def beginning(
    row: np.ndarray, n_fields: int, depth: int
) -> Job[tuple[Space, np.ndarray]]:
    """Return the space of a first state, and registers; `depth` is the stack's."""
    registers = np.zeros(len(Reg), dtype=np.int64)
    registers[Reg.STORED] = registers[Reg.LEVEL_END] = 1
    space = Space(
        np.zeros((_ROOM + 1, len(row)), dtype=np.uint64),
        np.zeros(4 * _ROOM, dtype=np.uint32),
        np.zeros(_ROOM + 2, dtype=np.int64),
        np.zeros((4 * _ROOM, 2), dtype=np.int16),
        np.zeros(4 * _ROOM, dtype=np.int32),
        np.zeros((2, n_fields), dtype=np.int64),
        np.zeros(depth, dtype=np.int64),
    )
    space.rows[0] = row
    yield from called(enter_rows, space, 0, 1)
    return space, registers


def enumerated(prepared: Prepared, limit: int) -> Job[Machine]:
    """Enumerate the states of a program, from where that has stopped, up to `limit`."""
    tables, registers = prepared.tables, prepared.registers
    registers[Reg.LIMIT] = limit
    space = yield from _run(tables, prepared.space, registers)
    prepared.space = space
    n, m = int(registers[Reg.STORED]), int(registers[Reg.STEPS])
    first, n_expanded = space.first[: n + 1], int(registers[Reg.EXPANDED])
    first[n_expanded:] = m
    return Machine(
        prepared.inputs,
        prepared.outputs,
        first,
        space.label[:m],
        space.target[:m],
        n_expanded,
        int(registers[Reg.DEPTH]),
        space.rows[:n],
        tables.fields,
        grounds=Grounds(prepared.ranges, prepared.behaviours),
    )


def _run(tables: Tables, space: Space, registers: np.ndarray) -> Job[Space]:
    """Run the kernel to its end."""
    while True:
        expanded = registers[Reg.EXPANDED]
        status = yield from called(enumerate_step, tables, space, registers, _BUDGET)
        n = int(registers[Reg.EXPANDED] - expanded)
        held = sum(array.nbytes for array in space)
        yield Progress(ENUMERATING, 1 + n, held)
        if status == Status.GROW:
            space = yield from grown(space, registers, held)
        elif status != Status.RUNNING:
            return space


def grown(space: Space, registers: np.ndarray, held: int) -> Job[Space]:
    """Return the same with more room: for states, for steps, or for both."""
    n, m = int(registers[Reg.STORED]), int(registers[Reg.STEPS])
    room = len(space.rows) - 1
    if 2 * n > room:
        room *= 2
    steps = len(space.target)
    if 2 * m > steps:
        steps *= 2

    def longer(array: np.ndarray, length: int, used: int) -> Job[np.ndarray]:
        if length == len(array):
            return array
        found = np.empty((length, *array.shape[1:]), dtype=array.dtype)
        for begin in range(0, used, _BLOCK):
            end = min(begin + _BLOCK, used)
            found[begin:end] = array[begin:end]
            yield Progress(ENUMERATING, _BLOCK / 100, 3 * held)
        return found

    rows = yield from longer(space.rows, room + 1, n)
    first = yield from longer(space.first, room + 2, n + 1)
    label = yield from longer(space.label, steps, m)
    target = yield from longer(space.target, steps, m)
    slots = np.zeros(4 * (1 << (room - 1).bit_length()), dtype=np.uint32)
    space = space._replace(
        rows=rows, slots=slots, first=first, label=label, target=target
    )
    for begin in range(0, n, _BLOCK):
        yield from called(enter_rows, space, begin, min(begin + _BLOCK, n))
        yield Progress(ENUMERATING, _BLOCK / 10, held)
    return space
