"""Generated successor functions: a model as the Python source of a module.

The source is made to be read (``ltlpipe compile MODEL --show``): one comment per
step, the model's own names, one function per group of processes.  Words of a row are
read once, as signed numbers, and shared by all of them.

Differences from what an interpreter does: none that can be seen
(`ltlpipe.systems.dve.interpreting`; tests compare the two).
"""

from __future__ import annotations

import keyword
from typing import TYPE_CHECKING

from ltlpipe.systems.dve.effects import Loaded, Source, extracted
from ltlpipe.systems.dve.joint import write_joint
from ltlpipe.systems.dve.steps import StepWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.systems.dve.layout import Layout
    from ltlpipe.systems.dve.program import Action, Program
    from ltlpipe.systems.dve.ranges import Ranges

_PART = 24  # actions after which a new function begins

_IMPORTS = """\
import numpy as np

from ltlpipe.runtime.kernels.jit import specialised
from ltlpipe.systems.dve.kernels import (
    divided,
    finish,
    multiply,
    remainder,
    settle,
    stutter,
    wrapped,
)
from ltlpipe.systems.packing_kernels import Select
"""

_SIGNATURE = """\
def expand(ints, words, row, select, out_rows, out_letters, out_actions, out_marks):
    \"\"\"Generate the successors of a state (see `ltlpipe.systems.packing`).\"\"\"
    if select == Select.STUTTER:
        return stutter(ints, row, out_rows, out_letters, out_actions, out_marks)"""

_OWN_NAMES = """
np Select range i count committed specialised divided finish multiply remainder settle
stutter wrapped expand ints words row select out_rows out_letters out_actions out_marks
made choices
"""


def generate(program: Program, ranges: Ranges, layout: Layout) -> str:
    """Return the source of a module whose `expand` is the successor function.

    Parameters
    ----------
    program : Program
        The model.
    ranges : Ranges
        The values that its variables and expressions can have.
    layout : Layout
        Where its variables lie in a row.
    """
    names = _python_names(program)
    body = Source(1)
    for word in range(layout.n_words):
        body.line(f"w{word} = np.int64(row[{word}])")
    loaded = Loaded(names, layout)
    if layout.places[program.error].bits:
        error = loaded.read(program.error)
        body.line(f"{error} = {extracted(layout, program.error)}")
        body.line(f"if {error} != 0:")
        body.line("    return 0")
    if program.synchronous:
        functions = write_joint(program, ranges, layout, names, body)
    else:
        functions = _write_parts(program, ranges, layout, names, body)
    parts = [_title(program, layout), _IMPORTS, *functions]
    parts.append("\n".join([_SIGNATURE, *body.lines]) + "\n")
    return "\n\n".join(parts).replace("\n\n\n\n", "\n\n\n")


def _title(program: Program, layout: Layout) -> str:
    """Return the docstring: where the variables of the model are."""
    lines = ['"""A model as a successor function: generated, not to be edited.', ""]
    for word in range(layout.n_words):
        lines.append(f"Word {word}, from its lowest bit:")
        inside = [
            (place.shift, number)
            for number, place in enumerate(layout.places)
            if place.word == word and place.bits
        ]
        for shift, number in sorted(inside):
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
    n_parts = len(program.actions()) + len(program.processes)  # no more than these
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


def _write_parts(
    program: Program,
    ranges: Ranges,
    layout: Layout,
    names: Sequence[str],
    body: Source,
) -> list[str]:
    """Return the functions of an asynchronous system; their calls go to `body`."""
    writer = StepWriter(program, ranges, layout, names, _finish_step)
    words = "".join(f"w{word}, " for word in range(layout.n_words))
    arguments = words + ("committed, " if writer.has_commits else "")
    if writer.has_commits:
        _write_committed(program, layout, names, body)
    body.line("count = 0")
    functions = []
    for number, group in enumerate(_groups(program)):
        source = Source(1)
        for process, actions in group:
            writer.process(process, actions, source)
        source.line("return count")
        title = ", ".join(
            dict.fromkeys(program.processes[process].name for process, _ in group)
        )
        head = [
            "@specialised",
            f"def part_{number}({arguments}out_rows, out_actions, count):",
            f'    """Append the steps of {title}."""',
        ]
        functions.append("\n".join([*head, *source.lines]) + "\n")
        body.line(f"count = part_{number}({arguments}out_rows, out_actions, count)")
    body.line(
        "return finish("
        f"ints, row, {layout.n_words}, out_rows, out_letters, out_actions, out_marks, "
        "count)"
    )
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
    for number, action in enumerate(program.actions()):
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


def _write_committed(
    program: Program, layout: Layout, names: Sequence[str], body: Source
) -> None:
    """Write whether some process is in a committed state."""
    loaded = Loaded(names, layout)
    tests = []
    for process in program.processes:
        place = layout.places[process.state]
        for state in sorted(process.committed):
            if place.bits:
                tests.append(f"{loaded.read(process.state)} == {state}")
            elif place.low == state:
                tests.append("True")
    for text in loaded.lines():
        body.line(text)
    body.line(f"committed = {' or '.join(tests) or False}")


def _finish_step(
    source: Source,
    words: list[str],
    number: int,
    failed: bool,  # noqa: ARG001
) -> None:
    """Write the lines that append a successor."""
    for place, word in enumerate(words):
        source.line(f"out_rows[count, {place}] = {word}")
    source.line(f"out_actions[count] = {number}")
    source.line("count += 1")
