"""Whether a machine does what a program does, by an invariant: boxes for each class.

The machine is a component with a state for each class and one for each output on its
way (`ltlpipe.systems.programs.eca.system`); its first state is 0.  Why what is checked
makes it bisimilar to the program is in ``docs/certificates.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.certificates.checking import values as on
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.interpretation import Interpreter
from ltlpipe.runtime.jobs import StoppedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.programs.eca.program import (
    INPUT,
    STEP,
    Call,
    If,
    Print,
    input_name,
    output_name,
)

if TYPE_CHECKING:
    from ltlpipe.certificates.checking.document import Contents, Machine
    from ltlpipe.certificates.checking.interpretation import Box, Path
    from ltlpipe.certificates.checking.values import Values
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.program import Source

PHASE = "checking the machine"

_STEP_WORK = 300.0  # microseconds of a cell that takes an input, roughly
_VALUE_BYTES = 150  # of a number in a column, and what becomes of it
_MOST_TOLD = 1 << 12  # values by which states are told apart
_MOST_PARTS = 1 << 12  # of a box

Steps = dict[str, tuple[str, int]]
"""Output and class behind, by input."""


def proved_network(
    source: Source, machine: Machine, contents: Contents, name: str
) -> Job[Network]:
    """Return the network of a machine, once it is proved to be the program's.

    Raises
    ------
    RefusedError
        It is not, as far as the boxes tell.
    """
    n = len(source.variables)
    numbers = machine.states + 3 * machine.transitions
    numbers += machine.cells * (n + 1) + 3 * machine.ranges
    ticks = Ticks(PHASE, _STEP_WORK, numbers * _VALUE_BYTES)
    grant = yield ticks.progress
    if min(machine.states, machine.transitions, machine.cells, machine.ranges) < 0:
        raise RefusedError("a number of the machine is less than 0")
    if ticks.memory_bytes > grant.memory_bytes:
        raise StoppedError("memory")
    component = _component(source, machine, contents)
    cells = _cells(n, machine, contents)
    check = MachineCheck(source, component, cells, machine.told)
    first = tuple(on.of([variable.initial]) for variable in source.variables)
    check.arrive(first, 0, "the first state", None)
    for own, boxes in cells.items():
        steps = check.steps_of(own)
        for box in boxes:
            for given in source.inputs:
                check.taken(own, box, given, steps)
                if ticks.over():
                    yield ticks.progress
    return Network([component], name)


def _component(source: Source, machine: Machine, contents: Contents) -> LTS:
    """Read the machine."""
    src, label, dst = contents.columns(machine.transitions, 3)
    outputs = sorted(_printed(source))
    labels = *map(input_name, source.inputs), *map(output_name, outputs)
    if machine.labels != labels:
        raise RefusedError("the machine's labels are not the program's")
    for column, most in (
        (src, machine.states),
        (label, len(labels)),
        (dst, machine.states),
    ):
        if len(column) and (column.min() < 0 or column.max() >= most):
            raise RefusedError(
                "a transition of the machine leaves its states or labels"
            )
    if not 0 < machine.states < 1 << 31:
        raise RefusedError("the machine has no states, or too many")
    src, label, dst = (column.astype(np.int32) for column in (src, label, dst))
    return LTS(machine.states, 0, labels, src, label, dst)


def _printed(source: Source) -> set[int]:
    """Return all numbers that may be printed, as far as calls tell."""
    found, seen, todo = set(), {STEP}, [*source.functions[STEP]]
    while todo:
        statement = todo.pop()
        if isinstance(statement, If):
            todo += *statement.then, *statement.otherwise
        elif isinstance(statement, Print):
            found.add(statement.number)
        elif isinstance(statement, Call) and statement.function not in seen:
            seen.add(statement.function)
            todo += source.functions[statement.function]
    return found


def _cells(n: int, machine: Machine, contents: Contents) -> dict[int, list[Box]]:
    """Read the boxes of each class."""
    (classes,) = contents.columns(machine.cells, 1)
    (counts,) = contents.columns(machine.cells * n, 1)
    low, high, step = (c.tolist() for c in contents.columns(machine.ranges, 3))
    if len(counts) and (counts.min() < 1 or counts.sum() != machine.ranges):
        raise RefusedError("a set of values is empty, or not there")
    parts = [
        range(a, b + 1, s) if s > 0 else range(0)
        for a, b, s in zip(low, high, step, strict=True)
    ]
    if not all(part and part[0] >= on.MIN and part[-1] <= on.MAX for part in parts):
        raise RefusedError("a range is empty, or beyond 32 bits")
    known: dict[Values, Values] = {}  # equal sets are one
    found: dict[int, list[Box]] = {}
    at = 0
    for own, lengths in zip(
        classes.tolist(), counts.reshape(-1, n).tolist(), strict=True
    ):
        box = []
        for length in lengths:
            values = tuple(parts[at : at + length])
            box.append(known.setdefault(values, values))
            at += length
        found.setdefault(own, []).append(tuple(box))
    return found


def _moves(component: LTS) -> list[dict[str, int]]:
    """Return where each state of the machine goes, by label."""
    labels = component.labels
    moves: list[dict[str, int]] = [{} for _ in range(component.n_states)]
    columns = component.src.tolist(), component.label.tolist(), component.dst.tolist()
    for src, label, dst in zip(*columns, strict=True):
        if labels[label] in moves[src]:
            raise RefusedError(f"the machine is not deterministic in its state {src}")
        moves[src][labels[label]] = dst
    return moves


class MachineCheck:
    """The cells, and what they have to contain.

    What writes certificates lets them grow instead.
    """

    def __init__(
        self,
        source: Source,
        component: LTS,
        cells: dict[int, list[Box]],
        told: tuple[int, ...],
    ) -> None:
        self._source = source
        self._program = Interpreter(source)
        self._moves, self._cells, self._told = _moves(component), cells, told

    def steps_of(self, own: int) -> Steps:
        """Return the steps of a class, each of which is an input and an output."""
        inputs = {input_name(given) for given in self._source.inputs}
        if not 0 <= own < len(self._moves) or not self._moves[own].keys() <= inputs:
            raise RefusedError("a cell is of a class that is not there")
        found: Steps = {}
        for name, half in self._moves[own].items():
            if len(self._moves[half]) != 1:
                raise RefusedError(f"state {half} of the machine has no output, or two")
            (found[name],) = self._moves[half].items()
        return found

    def taken(self, own: int, box: Box, given: int, steps: Steps) -> None:
        """Check what the states of a cell do when they take an input."""
        name = input_name(given)
        what = f"class {own}: a state that takes {name}"
        for path in self._program.step(box, given):
            self._follow(path, steps.get(name), what)

    def _follow(self, path: Path, expected: tuple[str, int] | None, what: str) -> None:
        if path.output is None or path.failed:
            if expected is not None:
                raise RefusedError(f"{what} may have no step")
            return
        output = output_name(path.output.number)
        if expected is None or expected[0] != output:
            told = "has no step" if expected is None else f"prints {expected[0]}"
            raise RefusedError(f"{what} may print {output}, and the machine {told}")
        if not path.ended:
            self.arrive(path.box, expected[1], what, path.output)
        elif self._moves[expected[1]]:
            raise RefusedError(f"{what} may end the run, and the machine goes on")

    def arrive(self, box: Box, own: int, what: str, output: Print | None) -> None:  # noqa: ARG002
        """Check that all states of a box, behind an output, are in cells of a class."""
        cells, waiting = self._cells.get(own, []), [box]
        for n_parts, part in enumerate(waiting):
            if any(_inside(part, cell) for cell in cells):
                continue
            smaller = self._parted(part, cells)
            if len(smaller) < 2 or n_parts > _MOST_PARTS:
                raise RefusedError(f"{what} may leave class {own}")
            waiting += smaller

    def _parted(self, box: Box, cells: list[Box]) -> list[Box]:
        """Divide a box by the first variable that tells its states and cells apart."""
        for v in self._told:
            if not 0 <= v < len(box) or on.size(box[v]) > _MOST_TOLD:
                continue
            groups: dict[tuple[bool, ...], list[int]] = {}
            sets = list(dict.fromkeys(cell[v] for cell in cells))
            for value in (x for part in box[v] for x in part):
                key = tuple(any(value in part for part in own) for own in sets)
                groups.setdefault(key, []).append(value)
            if len(groups) > 1:
                sides = map(on.of, groups.values())
                return [(*box[:v], side, *box[v + 1 :]) for side in sides]
        return []


def _inside(box: Box, cell: Box) -> bool:
    return all(
        a is b or on.within(a, b)
        for v, (a, b) in enumerate(zip(box, cell, strict=True))
        if v != INPUT
    )
