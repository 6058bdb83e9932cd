"""Generated successor functions: a model as the Python source of a module.

The source is made to be read (``ltlpipe compile MODEL --show``): one comment per
step, the model's own names, one function per group of processes.  Words of a row are
read once, as signed numbers, and shared by all of them.

In a synchronous system all processes move at every step, so successors are multiplied
out process by process: each transition that a process can take changes a copy of what
the processes before it have made of the state.  A change is the exclusive or of the
words before and after it; changes of processes that write to different variables do
not meet.  Those that do meet make the step fail, which marks tell until the rows are
complete.

Differences from what an interpreter does: none that can be seen
(`ltlpipe.systems.programs.interpreting`; tests compare the two).
"""

from __future__ import annotations

import keyword
import math
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.programs.effects import (
    Blueprint,
    Loaded,
    Outcome,
    Room,
    Source,
    extracted,
)
from ltlpipe.systems.programs.kernels import FAILED
from ltlpipe.systems.programs.program import Action
from ltlpipe.systems.programs.steps import StepWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import Program
    from ltlpipe.systems.programs.ranges import Layout, Ranges

_PART = 24  # actions after which a new function begins
_MOST_SHARED = 31  # variables that several processes write to: bits beside FAILED

_IMPORTS = """\
import numpy as np

from ltlpipe.runtime.kernels.jit import called, specialised
from ltlpipe.systems.programs.kernels import (
    divided,
    finish,
    multiply,
    remainder,
    settle,
    stutter,
    wrapped,
)
from ltlpipe.systems.networks.orbit_kernels import normalise_all
from ltlpipe.systems.networks.packing_kernels import Select
"""

_SIGNATURE = """\
def expand(ints, words, row, select, out_rows, out_letters, out_actions, out_marks):
    \"\"\"Generate a state's successors (see `ltlpipe.systems.networks.packing`).\"\"\"
    if select == Select.STUTTER:
        return stutter(ints, row, out_rows, out_letters, out_actions, out_marks)"""

_ORBITS = """\
_expand = called(expand)


def expand_orbits(
    ints, words, row, select, out_rows, out_letters, out_actions, out_marks
):
    \"\"\"Generate the representatives behind that of a state.\"\"\"
    count = _expand(
        ints, words, row, select, out_rows, out_letters, out_actions, out_marks
    )
    return normalise_all(ints, select, out_rows, count)
"""

_OWN_NAMES = """
np Select range i count committed specialised divided finish multiply remainder settle
stutter wrapped expand ints words row select out_rows out_letters out_actions out_marks
made choices called normalise_all _expand expand_orbits
"""


def generate(program: Program, ranges: Ranges, layout: Layout) -> Job[str]:
    """Return the source of a module whose `expand` is the successor function.

    Raises
    ------
    UnsupportedError
        It would be too long; or too many variables are written to by more than one
        process of a synchronous system.
    """
    room = Room(program.name)
    blueprint = Blueprint(program, ranges, layout, _python_names(program), room)
    body = Source(room)
    for word in range(layout.n_words):
        body.line(f"w{word} = np.int64(row[{word}])")
    if layout.places[program.error].bits:
        error = blueprint.names[program.error]
        body.line(f"{error} = {extracted(layout, program.error)}")
        body.line(f"if {error} != 0:")
        body.line("    return 0")
    write = _write_joint if program.synchronous else _write_parts
    functions = yield from write(blueprint, body)
    body.line(
        f"return finish(ints, row, {layout.n_words}, out_rows, out_letters, "
        "out_actions, out_marks, count)"
    )
    text = [_title(program, layout), _IMPORTS, *functions]
    text.append("\n".join([_SIGNATURE, *body.lines]) + "\n")
    text.append(_ORBITS)
    return "\n\n".join(text).replace("\n\n\n\n", "\n\n\n")


def _title(program: Program, layout: Layout) -> str:
    """Return the docstring: where the variables of the model are."""
    lines = ['"""A model as a successor function: generated, not to be edited.', ""]
    inside: list[list[tuple[int, int]]] = [[] for _ in range(layout.n_words)]
    for number, place in enumerate(layout.places):
        if place.bits:
            inside[place.word].append((place.shift, number))
    for word, fields in enumerate(inside):
        lines.append(f"Word {word}, from its lowest bit:")
        for shift, number in sorted(fields):
            place = layout.places[number]
            low = f", from {place.low}" if place.low else ""
            name = program.variables[number].name
            lines.append(f"    {shift:2} {name} ({place.bits} bits{low})")
    constant = [
        f"{program.variables[number].name} = {place.low}"
        for number, place in enumerate(layout.places)
        if not place.bits
    ]
    if constant:
        lines += ["", "Always the same: " + ", ".join(constant)]
    return "\n".join([*lines, '"""', ""])


def _python_names(program: Program) -> list[str]:
    """Return a name for each variable that is none of the code's own."""
    taken = {*keyword.kwlist, *_OWN_NAMES.split()}
    n_parts = len(program.actions) + len(program.processes)  # no more than these
    taken |= {f"part_{number}" for number in range(n_parts)}
    names = []
    for variable in program.variables:
        name = variable.name.replace(".", "_").replace("[", "_").replace("]", "")
        is_own = name[:1] in ("t", "w", "d", "v") and name[1:].isdigit()
        while name in taken or is_own:
            name, is_own = name + "_", False
        taken.add(name)
        names.append(name)
    return names


def _function(number: int, arguments: str, about: str, source: Source) -> str:
    """Return the source of a function that does a part of the work."""
    head = [
        "@specialised",
        f"def part_{number}({arguments}):",
        f'    """{about}."""',
    ]
    return "\n".join([*head, *source.lines]) + "\n"


def _write_parts(blueprint: Blueprint, body: Source) -> Job[list[str]]:
    """Return the functions of an asynchronous system; their calls go to `body`."""
    program = blueprint.program
    writer = StepWriter(blueprint)
    words = [f"w{word}" for word in range(blueprint.layout.n_words)]
    if writer.has_commits:
        _write_committed(blueprint, body)
        words.append("committed")
    arguments = ", ".join([*words, "out_rows, out_actions, count"])
    body.line("count = 0")
    functions = []
    for number, group in enumerate(_groups(program)):
        source = Source(blueprint.room)
        for process, actions in group:
            yield from writer.process(process, actions, source)
        source.line("return count")
        names = dict.fromkeys(program.processes[process].name for process, _ in group)
        about = f"Append the steps of {', '.join(names)}"
        functions.append(_function(number, arguments, about, source))
        body.line(f"count = part_{number}({arguments})")
    return functions


def _groups(
    program: Program,
) -> list[list[tuple[int, list[tuple[int, Action]]]]]:
    """Return processes with their actions, in groups of about `_PART` actions.

    Numba takes longer per action the more there are in a function, so a process with
    many actions is divided, too: by its states, of which only one is left at a time,
    so the order of steps stays that of the actions.
    """
    groups: list[list[tuple[int, list[tuple[int, Action]]]]] = []
    size = _PART
    for process, actions in _divided(program):
        if size >= _PART or size + len(actions) > 2 * _PART:
            groups.append([])
            size = 0
        groups[-1].append((process, actions))
        size += len(actions)
    return groups


def _divided(program: Program) -> Iterator[tuple[int, list[tuple[int, Action]]]]:
    """Yield processes with actions, those with many several times."""
    by_state: list[dict[int, list[tuple[int, Action]]]] = [
        {} for _ in program.processes
    ]
    for number, action in enumerate(program.actions):
        leader = action.leader
        by_state[leader.process].setdefault(leader.source, []).append((number, action))
    for process, states in enumerate(by_state):
        part: list[tuple[int, Action]] = []
        for actions in states.values():
            part += actions
            if len(part) >= _PART:
                yield process, part
                part = []
        if part:
            yield process, part


def _write_committed(blueprint: Blueprint, body: Source) -> None:
    """Write whether some process is in a committed state."""
    loaded = Loaded(blueprint)
    tests = []
    for process in blueprint.program.processes:
        place = blueprint.layout.places[process.state]
        for state in sorted(process.committed):
            if place.bits:
                tests.append(f"{loaded.read(process.state)} == {state}")
            elif place.low == state:
                tests.append("True")
    loaded.write(body)
    body.line(f"committed = {' or '.join(tests) or False}")


def _write_joint(blueprint: Blueprint, body: Source) -> Job[list[str]]:
    """Return the functions of a synchronous system; their calls go to `body`."""
    program, layout = blueprint.program, blueprint.layout
    bits = _shared_bits(program)
    words = "".join(f"w{word}, " for word in range(layout.n_words))
    buffers = "out_rows, out_actions, out_marks"
    for word in range(layout.n_words):
        body.line(f"out_rows[0, {word}] = w{word}")
    for text in ("out_actions[0] = 0", "out_marks[0] = 0", "count = 1"):
        body.line(text)
    functions = []
    for number, process in enumerate(program.processes):
        source = Source(blueprint.room)
        source.line("choices = 0")
        moves = [(k, Action(t, None)) for k, t in enumerate(process.transitions)]
        writer = _JointWriter(blueprint, number, bits)
        yield from writer.process(number, moves, source)
        source.line(f"return settle({layout.n_words}, {buffers}, made, choices)")
        about = f"Multiply `made` steps by the transitions of {process.name}"
        functions.append(_function(number, f"{words}{buffers}, made", about, source))
        body.line(f"count = part_{number}({words}{buffers}, count)")
    if layout.places[program.error].bits:
        # Make the rows of steps that have failed what they should be.
        outcome = Outcome(blueprint, body, Loaded(blueprint))
        outcome.set(program.error, "1")
        body.line("for i in range(count):")
        body.line(f"    if out_marks[i] & np.uint32({FAILED}):")
        for place, text in enumerate(outcome.final_words()):
            body.line(f"        out_rows[i, {place}] = {text}")
    return functions


def _shared_bits(program: Program) -> dict[int, int]:
    """Return a bit for each slot that more than one process writes to."""
    writers: dict[int, set[int]] = {}
    for transition in program.transitions():
        for slot in program.writes(transition):
            writers.setdefault(slot, set()).add(transition.process)
    shared = sorted(slot for slot, numbers in writers.items() if len(numbers) > 1)
    if len(shared) > _MOST_SHARED:
        raise UnsupportedError(
            f"{program.name}: {len(shared)} variables are written to by more than one "
            f"process of the synchronous system; the limit is {_MOST_SHARED}"
        )
    return {slot: 1 << bit for bit, slot in enumerate(shared)}


class _JointWriter(StepWriter):
    """Writes the transitions of one process of a synchronous system."""

    def __init__(
        self, blueprint: Blueprint, process: int, bits: dict[int, int]
    ) -> None:
        super().__init__(blueprint)
        *before, own = self.program.processes[: process + 1]
        self.radix = math.prod(len(p.transitions) for p in before)
        self.transitions = own.transitions
        self.bits = bits

    def finish(self, words: list[str], number: int, failed: bool) -> list[str]:
        """Return the lines that multiply what there is by a transition."""
        written = self.program.writes(self.transitions[number])
        marks = FAILED if failed else sum(self.bits.get(slot, 0) for slot in written)
        buffers = "out_rows, out_actions, out_marks, made, choices"
        added = f"{number * self.radix}, np.uint32({marks})"
        lines = [f"multiply({len(words)}, {buffers}, {added})", "choices += 1"]
        for place, text in enumerate(words):
            if text != f"w{place}" and not failed:
                lines += [
                    f"d{place} = np.uint64(({text}) ^ w{place})",
                    "for i in range(choices * made, (choices + 1) * made):",
                    f"    out_rows[i, {place}] ^= d{place}",
                ]
        return lines
