"""The boxes by which a certificate proves that a machine does what a program does.

They are found by the interpreter that checks them
(`ltlpipe.certificates.checking.machine`): what a step of a cell leads to is
joined to the cells of the class to which the machine goes, until nothing grows.  So
what is written is a fixed point of what is checked, or nothing is written.  The
analysis of the program only helps: it tells which variables matter behind a rule, so
that states come into the cells of its own proof, and what values there may be.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.certificates.checking import values as on
from ltlpipe.certificates.checking.document import RefusedError
from ltlpipe.certificates.checking.machine import MachineCheck
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.liveness import DEAD, REGION, VALUE
from ltlpipe.systems.programs.eca.program import INPUT, N_OWN
from ltlpipe.systems.programs.eca.tables import least, representative

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ltlpipe.certificates.checking.machine import Box
    from ltlpipe.certificates.checking.values import Values
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.networks.lts import LTS
    from ltlpipe.systems.programs.eca.enumeration import Grounds, Machine
    from ltlpipe.systems.programs.eca.liveness import Behaviour
    from ltlpipe.systems.programs.eca.program import Print
    from ltlpipe.systems.programs.eca.system import EcaSystem

    Cell = tuple[int, tuple[int, ...]]

_PROVING = "proving the machine"
_STEP_WORK = 300.0  # microseconds of a cell that takes an input, roughly
_MOST_CELLS = 1 << 15
_MOST_STEPS = 1 << 19  # of cells
_MOST_KEYS = 1 << 8  # cells in which the states of one path end
_PATIENCE = 3  # growths of a set before it becomes a range, and before that is widened
_LAST = 64  # growths before all values are let in that might be


class Invariant(NamedTuple):
    """Boxes for each class of a machine, from which no step leads out."""

    component: LTS
    told: tuple[int, ...]  # variables by whose values the cells of a class differ
    cells: list[tuple[int, Box]]

    def to_dict(self) -> dict[str, Any]:
        """Return what the header of a certificate says of it."""
        return {
            "states": self.component.n_states,
            "labels": list(self.component.labels),
            "transitions": self.component.n_transitions,
            "cells": len(self.cells),
            "ranges": sum(len(values) for _, box in self.cells for values in box),
            "told": list(self.told),
        }

    def columns(self) -> Iterator[np.ndarray]:
        """Yield the columns of a certificate; those without values are left out."""
        lts, sets = self.component, [sets for _, box in self.cells for sets in box]
        parts = [(part[0], part[-1], part.step) for own in sets for part in own]
        columns = [lts.src, lts.label, lts.dst] if lts.n_transitions else []
        numbers = (
            [own for own, _ in self.cells],
            list(map(len, sets)),
            *zip(*parts, strict=True),
        )
        columns += map(np.array, numbers)
        yield from (column.astype(np.int64) for column in columns)


def invariant_of(system: EcaSystem) -> Job[Invariant | None]:
    """Return boxes that prove a program's machine, None if none were found."""
    machine = system.machine
    if machine is None or machine.grounds is None or not machine.is_complete:
        return None
    most = min(_MOST_CELLS, _MOST_STEPS // len(system.source.inputs))
    if machine.n_states > most:
        return None
    for is_wide in (True, False):
        closure = _Closure(system, machine, machine.grounds, is_wide)
        try:
            yield from closure.closed()
        except (RefusedError, RecursionError):  # it may be nested too deeply
            continue
        cells = [(own, tuple(box)) for (own, _), box in closure.cells.items()]
        return Invariant(system.components[0], tuple(machine.grounds.keyed), cells)
    return None


class _Closure(MachineCheck):
    """Cells that grow, each of a class and of values of the keyed variables.

    If `is_wide`, what the analysis says to be alike comes with a state at once, which
    ends soon; otherwise as far as states are met.
    """

    def __init__(
        self, system: EcaSystem, machine: Machine, grounds: Grounds, is_wide: bool
    ) -> None:
        super().__init__(system.source, system.components[0], {}, ())
        self._machine, self._is_wide = machine, is_wide
        self._ranges, self._grounds = grounds.ranges, grounds
        self._behaviours: dict[int, Behaviour] = {}
        for behaviour in grounds.behaviours:
            rule = grounds.ranges.rules.rules[behaviour.number]
            self._behaviours.setdefault(rule.line, behaviour)
        self.cells: dict[Cell, list[Values]] = {}
        self._waiting: dict[Cell, None] = {}
        self._growths: dict[tuple[Cell, int], int] = {}
        self._wide: dict[tuple[int, int], Values] = {}

    def closed(self) -> Job[None]:
        """Let the cells grow until no step leads out of them.

        Raises
        ------
        RefusedError
            The machine does not do what the program does, as far as boxes tell.
        """
        ticks = Ticks(_PROVING, _STEP_WORK)
        first = tuple(on.of([v.initial]) for v in self._source.variables)
        self.arrive(first, 0, "", None)
        n_steps = 0
        while self._waiting:
            cell = next(iter(self._waiting))
            del self._waiting[cell]
            box, steps = tuple(self.cells[cell]), self.steps_of(cell[0])
            for given in self._source.inputs:
                n_steps += 1
                if n_steps > _MOST_STEPS or len(self.cells) > _MOST_CELLS:
                    raise RefusedError("too much work")
                self.taken(cell[0], box, given, steps)
                yield from ticks.worked()

    def arrive(self, box: Box, own: int, what: str, output: Print | None) -> None:  # noqa: ARG002
        """Join the states of a box to the cells of a class."""
        if output is None:
            one, keyed = np.zeros(1, dtype=np.int64), self._grounds.keyed
            key = tuple(int(self._machine.values(v, one)[0]) for v in keyed)
            self._join((own, key), list(box))
            return
        behaviour = self._behaviours.get(output.line)
        wide = box
        if behaviour is not None and self._is_wide:
            wide = self._alike(behaviour, box)
        choices = [self._keys(v, wide[v], behaviour) for v in self._grounds.keyed]
        if np.prod([len(choice) for choice in choices]) > _MOST_KEYS:
            raise RefusedError("too many cells")
        for chosen in product(*choices):
            found = list(wide)
            for v, (_, values) in zip(self._grounds.keyed, chosen, strict=True):
                found[v] = values
            self._join((own, tuple(key for key, _ in chosen)), found)

    def _alike(self, behaviour: Behaviour, box: Box) -> Box:
        """Return a box with the states that are like those of one behind a rule."""
        rules, found = self._ranges.rules, list(box)
        for v, need in enumerate(behaviour.needs.tolist()):
            if v < N_OWN or need == VALUE:
                continue
            mask = behaviour.after[v].mask
            if need == REGION:
                mask = 0
                for part in box[v]:
                    mask |= rules.between(v, part[0], part[-1])
            found[v] = on.union(box[v], self._regions(v, mask))
        return tuple(found)

    def _regions(self, v: int, mask: int) -> Values:
        """Return the values of a variable in some regions, within what is known."""
        if (v, mask) not in self._wide:
            rules, known = self._ranges.rules, self._ranges.always[v]
            found: Values = ()
            for region in range(mask.bit_length()):
                low = max(rules.lowest(v, region), known.low)
                high = min(rules.highest(v, region), known.high)
                if mask >> region & 1 and low <= high:
                    found = on.union(found, (range(low, high + 1),))
            self._wide[v, mask] = found
        return self._wide[v, mask]

    def _keys(
        self, v: int, values: Values, behaviour: Behaviour | None
    ) -> list[tuple[int, Values]]:
        """Return values of the analysis' cells, each with those that it stands for."""
        ranges = self._ranges
        need = None if behaviour is None else behaviour.needs[v]
        if behaviour is not None and need == DEAD:
            known = behaviour.after[v]
            return [(representative(ranges, v, known.low, known, DEAD), values)]
        if need == REGION:
            rules, found = ranges.rules, []
            first, last = values[0][0], max(part[-1] for part in values)
            for region in range(rules.region(v, first), rules.region(v, last) + 1):
                low, high = rules.lowest(v, region), rules.highest(v, region)
                own = on.clipped(on.clipped(values, ">=", low), "<=", high)
                if own:
                    found.append((least(ranges, v, region), own))
            return found
        if on.size(values) > _MOST_KEYS:
            raise RefusedError("too many cells")
        return [(x, on.of([x])) for part in values for x in part]

    def _join(self, cell: Cell, box: list[Values]) -> None:
        """Join states to a cell, which begins with those of a proof by analysis."""
        box[INPUT] = on.of([0])
        if cell not in self.cells:
            known = (self._grounds.cells or {}).get(cell, [])
            for k, mask in enumerate(self._machine.fields[:, 2].tolist()):
                if known and mask:
                    box[k] = on.union(box[k], on.of(known[k].tolist()))
            self.cells[cell] = box
            self._waiting[cell] = None
            return
        old = self.cells[cell]
        for v, values in enumerate(box):
            if not on.within(values, old[v]):
                grown = self._growths[cell, v] = 1 + self._growths.get((cell, v), 0)
                joined = on.union(old[v], values)
                old[v] = self._widened(v, joined, grown)
                self._waiting[cell] = None

    def _widened(self, v: int, values: Values, grown: int) -> Values:
        """Return more values than a variable has had, if it has grown often."""
        if grown < _PATIENCE:
            return values
        part, known, cuts = on.hull(values), self._ranges.always[v], self._ranges.rules
        low, high = part[0], part[-1]
        if grown > 2 * _PATIENCE:
            low = max(cuts.lowest(v, cuts.region(v, low)), min(low, known.low))
            high = min(cuts.highest(v, cuts.region(v, high)), max(high, known.high))
        if grown > _LAST:
            low, high = min(low, known.low), max(high, known.high)
        low += (part[0] - low) % part.step
        return (range(low, high + 1, part.step),)
