"""From the text of a program to its system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.kernels.compilation import called
from ltlpipe.runtime.names import counted
from ltlpipe.systems.programs.eca.enumeration import (
    ENUMERATING,
    Machine,
    enumerated,
    prepare,
)
from ltlpipe.systems.programs.eca.kernels import join_steps
from ltlpipe.systems.programs.eca.program import input_name, output_name
from ltlpipe.systems.programs.eca.quotient import proved
from ltlpipe.systems.programs.eca.rules import outputs_of, rules_of
from ltlpipe.systems.programs.eca.sampling import sampled
from ltlpipe.systems.programs.eca.syntax import as_c, read_source
from ltlpipe.systems.programs.eca.system import EcaComponent, EcaSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.eca.program import Source
    from ltlpipe.systems.programs.eca.rules import Rules

MOST_STATES = 1 << 22
"""Reduced states at which no more are looked at."""

FEW = 1 << 16
"""States of a program that is not worth a closer look at its rules."""

_MORE = 4  # times as many, chosen, from which a machine is guessed once more
_BLOCK = 1 << 13  # states whose steps are joined without a pause
_STEP_BYTES = 40  # of a step of the machine, with the two of the component


def build(plain: Plain, file: str) -> Job[EcaSystem]:
    """Return the system of a program, from its text.

    Raises
    ------
    InputError
        It is outside of the syntax; names file and line.
    """
    source = yield from read_source(plain, file)
    return (yield from system_of(source, file, MOST_STATES))


def build_java(plain: Plain, file: str) -> Job[EcaSystem]:
    """Do what `build` does, for a program in Java."""
    return (yield from build((yield from as_c(plain, file)), file))


def system_of(source: Source, file: str, limit: int) -> Job[EcaSystem]:
    """Return the system of a program that has been read, up to a number of states."""
    try:
        rules = yield from rules_of(source, file)
        machine = yield from machine_of(rules, limit)
    except RecursionError:  # of operators, one behind the other: more than parentheses
        raise InputError("an expression is nested too deeply", file=file) from None
    component = yield from component_of(machine, outputs_of(rules), file, source)
    lacks = proof = None
    if machine.n_seen is not None:
        classes = counted(machine.n_states, "class")
        proof = f"{classes} proved by induction, from {machine.n_seen:,} states"
    if not machine.is_complete:
        lacks = (
            f"{counted(machine.n_expanded, 'state')} of the program, reduced, are all "
            f"that was looked at, and with them all runs of {machine.depth} inputs"
        )
    return EcaSystem(
        component,
        source,
        n_states=machine.n_states,
        lacks=lacks,
        proof=proof,
        machine=machine,
    )


def machine_of(rules: Rules, limit: int) -> Job[Machine]:
    """Enumerate the states of a program, and stop when there are `limit`.

    Of one with many states a small machine is guessed on the way, and proved.
    """
    prepared = yield from prepare(rules)
    if prepared is not None and limit > FEW:
        machine = yield from enumerated(prepared, FEW)
        if machine.is_complete:
            return machine
        prepared = yield from prepare(rules, follows=True)
    if prepared is None:
        steps = np.zeros((0, 2), np.int16), np.zeros(0, np.int32)
        first = np.zeros(2, np.int64)
        rows, fields = np.zeros((1, 0), np.uint64), np.zeros((0, 4), np.int64)
        return Machine(rules.source.inputs, (), first, *steps, 1, 0, rows, fields)
    machine = yield from enumerated(prepared, min(FEW, limit))
    if machine.is_complete:
        return machine
    found = yield from proved(prepared, machine)
    if found is None:
        sample = yield from sampled(prepared, machine, _MORE * min(FEW, limit))
        found = yield from proved(prepared, sample)
    if found is not None or limit <= FEW:
        return found or machine
    return (yield from enumerated(prepared, limit))


def component_of(
    machine: Machine, printed: Sequence[int], name: str, source: Source
) -> Job[EcaComponent]:
    """Return the component of a machine, with a step for each input and output.

    `printed` are all outputs of the program, in order.
    """
    n, m = machine.n_states, len(machine.target)
    n_inputs = len(machine.inputs)
    number = np.searchsorted(printed, machine.outputs).astype(np.int32) + n_inputs
    steps = np.empty((3, 2 * m), dtype=np.int32)  # what is not written takes no memory
    halves = np.full(n, -1, dtype=np.int32), np.empty(m, dtype=np.int32)
    tables = machine.first, machine.label, machine.target
    n_halves = 0
    for begin in range(0, n, _BLOCK):
        block = begin, min(begin + _BLOCK, n)
        arguments = tables, number, steps, halves, *block, n_halves
        n_halves = yield from called(join_steps, *arguments)
        work = int(machine.first[block[1]] - machine.first[begin]) / 50
        yield Progress(ENUMERATING, work, _STEP_BYTES * m)
    src, label, dst = steps[:, : m + n_halves]
    names = [*map(input_name, machine.inputs), *map(output_name, printed)]
    return EcaComponent(
        n_states=n + n_halves,
        initial=0,
        labels=tuple(names),
        src=src,
        label=label,
        dst=dst,
        name=name,
        source=source,
        rows=machine.rows,
        fields=machine.fields,
    )
