"""From the text of a program to its system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.names import counted
from ltlpipe.systems.networks.lts import LTS
from ltlpipe.systems.programs.eca.enumeration import ENUMERATING, machine_of
from ltlpipe.systems.programs.eca.program import input_name, output_name
from ltlpipe.systems.programs.eca.rules import outputs_of, rules_of
from ltlpipe.systems.programs.eca.syntax import read_source
from ltlpipe.systems.programs.eca.system import EcaSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.eca.enumeration import Machine
    from ltlpipe.systems.programs.eca.program import Source

MOST_STATES = 1 << 22
"""Reduced states at which no more are looked at."""


def build(plain: Plain, file: str) -> Job[EcaSystem]:
    """Return the system of a program, from its text.

    Raises
    ------
    InputError
        It is outside of the syntax; names file and line.
    """
    source = yield from read_source(plain, file)
    return (yield from system_of(source, file, MOST_STATES))


def system_of(source: Source, file: str, limit: int) -> Job[EcaSystem]:
    """Return the system of a program that has been read, up to a number of states."""
    try:
        rules = yield from rules_of(source, file)
        machine = yield from machine_of(rules, limit)
    except RecursionError:  # of operators, one behind the other: more than parentheses
        raise InputError("an expression is nested too deeply", file=file) from None
    yield Progress(ENUMERATING, len(machine.target) / 10, 60 * len(machine.target))
    component = component_of(machine, outputs_of(rules), file)
    lacks = None
    if not machine.is_complete:
        lacks = (
            f"{counted(machine.n_expanded, 'state')} of the program, reduced, are all "
            f"that was looked at, and with them all runs of {machine.depth} inputs"
        )
    return EcaSystem(component, source, n_states=machine.n_states, lacks=lacks)


def component_of(machine: Machine, printed: Sequence[int], name: str) -> LTS:
    """Return the component of a machine, with a step for each input and output.

    `printed` are all outputs of the program, in order.
    """
    n, m = machine.n_states, len(machine.target)
    n_inputs, n_outputs = len(machine.inputs), len(machine.outputs)
    src = np.repeat(np.arange(n, dtype=np.int32), np.diff(machine.first))
    given, output = (machine.label[:, k].astype(np.int64) for k in (0, 1))
    halves, place = np.unique(
        machine.target.astype(np.int64) * max(n_outputs, 1) + output,
        return_inverse=True,
    )
    place = place.reshape(m).astype(np.int32) + np.int32(n)
    number = np.searchsorted(printed, machine.outputs) + n_inputs
    own = np.arange(len(halves), dtype=np.int32) + np.int32(n)
    behind, shown = np.divmod(halves, max(n_outputs, 1))
    names = [*map(input_name, machine.inputs), *map(output_name, printed)]
    return LTS(
        n_states=n + len(halves),
        initial=0,
        labels=tuple(names),
        src=np.concatenate([src, own]),
        label=np.concatenate([given, number[shown]]).astype(np.int32),
        dst=np.concatenate([place, behind.astype(np.int32)]),
        name=name,
    )
