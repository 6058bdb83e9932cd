"""The steps of synchronous systems as Python source.

All processes move at every step, so successors are multiplied out process by
process: each transition that a process can take changes a copy of what the processes
before it have made of the state.  A change is the exclusive or of the words before
and after it; changes of processes that write to different variables do not meet.
Those that do meet make the step fail, which marks tell until the rows are complete.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.dve.effects import Loaded, Outcome, Source
from ltlpipe.systems.dve.kernels import FAILED
from ltlpipe.systems.dve.program import Action
from ltlpipe.systems.dve.steps import StepWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.systems.dve.layout import Layout
    from ltlpipe.systems.dve.program import Program
    from ltlpipe.systems.dve.ranges import Ranges

_MOST_SHARED = 31  # variables that several processes write to: bits beside FAILED


def write_joint(
    program: Program,
    ranges: Ranges,
    layout: Layout,
    names: Sequence[str],
    body: Source,
) -> list[str]:
    """Return the functions of a synchronous system; their calls go to `body`.

    Raises
    ------
    UnsupportedError
        Too many variables are written to by more than one process.
    """
    bits = _shared_bits(program)
    words = "".join(f"w{word}, " for word in range(layout.n_words))
    buffers = "out_rows, out_actions, out_marks"
    for word in range(layout.n_words):
        body.line(f"out_rows[0, {word}] = w{word}")
    body.line("out_actions[0] = 0")
    body.line("out_marks[0] = 0")
    body.line("count = 1")
    functions = []
    for number, process in enumerate(program.processes):
        writer = _JointWriter(program, ranges, layout, names, number, bits)
        source = Source(1)
        source.line("choices = 0")
        writer.write(source)
        source.line(f"return settle({layout.n_words}, {buffers}, made, choices)")
        head = [
            "@specialised",
            f"def part_{number}({words}{buffers}, made):",
            f'    """Multiply `made` steps by the transitions of {process.name}."""',
        ]
        functions.append("\n".join([*head, *source.lines]) + "\n")
        body.line(f"count = part_{number}({words}{buffers}, count)")
    _write_failures(program, ranges, layout, names, body)
    body.line(
        f"return finish(ints, row, {layout.n_words}, out_rows, out_letters, "
        "out_actions, out_marks, count)"
    )
    return functions


def _shared_bits(program: Program) -> dict[int, int]:
    """Return a bit for each slot that more than one process writes to."""
    writers: dict[int, set[int]] = {}
    for number, process in enumerate(program.processes):
        for transition in process.transitions:
            for slot in program.writes(transition):
                writers.setdefault(slot, set()).add(number)
    shared = sorted(slot for slot, numbers in writers.items() if len(numbers) > 1)
    if len(shared) > _MOST_SHARED:
        raise UnsupportedError(
            f"{program.name}: {len(shared)} variables are written to by more than one "
            f"process of the synchronous system; the limit is {_MOST_SHARED}"
        )
    return {slot: 1 << bit for bit, slot in enumerate(shared)}


def _write_failures(
    program: Program,
    ranges: Ranges,
    layout: Layout,
    names: Sequence[str],
    body: Source,
) -> None:
    """Write what makes rows of steps that have failed what they should be."""
    if not layout.places[program.error].bits:
        return
    loaded = Loaded(names, layout)
    outcome = Outcome(program, ranges, layout, body, loaded)
    outcome.set_variable(program.error, "1")
    words = outcome.final_words()
    body.line("for i in range(count):")
    body.line(f"    if out_marks[i] & np.uint32({FAILED}):")
    for place, word in enumerate(words):
        body.line(f"        out_rows[i, {place}] = {word}")


class _JointWriter:
    """Writes the transitions of one process."""

    def __init__(
        self,
        program: Program,
        ranges: Ranges,
        layout: Layout,
        names: Sequence[str],
        process: int,
        bits: dict[int, int],
    ) -> None:
        self.program = program
        self.process = process
        before = program.processes[:process]
        self.radix = math.prod(len(p.transitions) for p in before)
        self.bits = bits
        self._writer = StepWriter(program, ranges, layout, names, self._finish)

    def write(self, source: Source) -> None:
        """Write the transitions of the process, by its states."""
        transitions = self.program.processes[self.process].transitions
        actions = [(number, Action(t, None)) for number, t in enumerate(transitions)]
        self._writer.process(self.process, actions, source)

    def _finish(
        self, source: Source, words: list[str], number: int, failed: bool
    ) -> None:
        """Write the lines that multiply what there is by a transition."""
        transition = self.program.processes[self.process].transitions[number]
        written = sum(
            self.bits.get(slot, 0) for slot in self.program.writes(transition)
        )
        marks = FAILED if failed else written
        source.line(
            f"multiply({len(words)}, out_rows, out_actions, out_marks, made, choices, "
            f"{number * self.radix}, np.uint32({marks}))"
        )
        source.line("choices += 1")
        changes = [(place, text) for place, text in enumerate(words)]
        for place, text in changes if not failed else []:
            if text == f"w{place}":
                continue
            source.line(f"d{place} = np.uint64(({text}) ^ w{place})")
            source.line("for i in range(choices * made, (choices + 1) * made):")
            source.line(f"    out_rows[i, {place}] ^= d{place}")
