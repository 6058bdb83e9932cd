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
import re
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.networks.packing import PACKING
from ltlpipe.systems.programs.effects import (
    Blueprint,
    Loaded,
    Outcome,
    Source,
    extracted,
)
from ltlpipe.systems.programs.kernels import FAILED
from ltlpipe.systems.programs.program import Action, Element, Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.program import (
        Assignment,
        Expression,
        Process,
        Program,
    )
    from ltlpipe.systems.programs.ranges import Layout, Ranges

Numbered = tuple[int, Action]
"""An action with its number."""

_NO_NAME = re.compile(r"\W|^(?=\d)")

_ACTION_WORK, _CHARACTER_WORK = 50, 0.5  # units


class StepWriter:
    """Writes the code that takes the steps of an asynchronous system."""

    def __init__(self, blueprint: Blueprint) -> None:
        self.blueprint = blueprint
        self.program = blueprint.program
        self.places = blueprint.layout.places
        self.has_commits = not self.program.synchronous and any(
            process.committed for process in self.program.processes
        )
        # While an action is written: its number, where lines go, what is read, and
        # what becomes of the row.
        self._number = 0
        self._source = Source(blueprint)
        self._loaded = Loaded(blueprint)
        self._outcome = self._new_outcome()
        self._ticks = Ticks(PACKING)

    def finish(self, words: list[str], number: int, failed: bool) -> list[str]:  # noqa: ARG002
        """Return the lines behind the step with a number that leads to some words."""
        is_copied = self.program.has_control and len(words) > _FEW_WORDS
        copy = f"copied(out_rows, at, {len(words)}, count)"
        stores = [copy] if is_copied else []
        for i, word in enumerate(words):
            if not (is_copied and word == f"w{i}"):
                stores.append(f"out_rows[count, {i}] = {word}")
        return [*stores, f"out_actions[count] = {number}", "count += 1"]

    def process(
        self, number: int, by_state: dict[int, list[Numbered]], source: Source
    ) -> Job[None]:
        """Write steps that a process leads, which are given by its states."""
        process = self.program.processes[number]
        source.line(f"# {process.name}")
        if self.program.has_control:
            source.line(f"if holder < 0 or holder == {number}:")
            source.indent += 1
        yield from self._states(process, by_state, source)
        if self.program.has_control:
            source.indent -= 1

    def _states(
        self, process: Process, by_state: dict[int, list[Numbered]], source: Source
    ) -> Job[None]:
        """Write the steps that a process leads."""
        states = self.program.variables[process.state].states
        place = self.places[process.state]
        begin = len(source.lines)
        loaded = Loaded(self.blueprint)
        name = loaded.read(process.state)
        loaded.write(source)
        keyword = "if"
        for state in sorted(by_state):
            if place.bits:
                source.line(f"{keyword} {name} == {state}:  # {states[state]}")
                source.indent += 1
                yield from self._state(by_state[state], source)
                source.indent -= 1
                keyword = "elif"
            elif state == place.low:  # others are never reached
                yield from self._state(by_state[state], source)
        if len(source.lines) == begin:
            source.line("pass")

    def _state(self, actions: list[Numbered], source: Source) -> Job[None]:
        """Write the steps from one state, behind the variables that they read."""
        begin = len(source.lines)
        self._source = source
        self._loaded = Loaded(self.blueprint)
        for number, action in actions:
            before = self.blueprint.length
            self._action(number, action)
            written = self.blueprint.length - before
            if self._ticks.over(_ACTION_WORK + _CHARACTER_WORK * written):
                self._ticks.memory_bytes = self.blueprint.length
                yield self._ticks.progress
        body = source.lines[begin:]
        del source.lines[begin:]
        state = self.program.processes[actions[0][1].leader.process].state
        self._loaded.used.pop(state, None)  # read before, to find the state
        self._loaded.write(source)
        source.lines += body
        if not body:
            source.line("pass")

    def _action(self, number: int, action: Action) -> None:
        """Write one action: its conditions, then its effects."""
        conditions = self._conditions(action)
        if conditions is None:
            return
        self._source.line(f"# {self.program.described(*action.transitions)}")
        indent = self._source.indent
        self._number = number
        self._outcome = self._new_outcome()
        self._check(conditions)
        self._take(action)
        self._finish(self._outcome, failed=False)
        self._source.indent = indent

    def _new_outcome(self) -> Outcome:
        return Outcome(self.blueprint, self._source, self._loaded)

    def _finish(self, outcome: Outcome, *, failed: bool) -> None:
        for text in self.finish(outcome.final_words(), self._number, failed):
            self._source.line(text)

    def _conditions(self, action: Action) -> list[Expression | str] | None:
        """Return what has to hold for an action, in order; None if it never does."""
        partner = action.partner
        processes = self.program.processes
        committed = {
            t.source in processes[t.process].committed for t in action.transitions
        }
        if len(committed) > 1:
            return None  # either both processes are in committed states or none is
        conditions: list[Expression | str] = []
        if committed == {False} and self.has_commits:
            conditions.append("not committed")
        if partner is not None:
            state = processes[partner.process].state
            if self.places[state].bits:
                conditions.append(f"{self._loaded.read(state)} == {partner.source}")
            elif self.places[state].low != partner.source:
                return None
        conditions += action.conditions
        if any(isinstance(c, Number) and not c.value for c in conditions):
            return None
        return [c for c in conditions if not isinstance(c, Number)]

    def _check(self, conditions: list[Expression | str]) -> None:
        """Write the tests of conditions; what follows is what they guard."""
        pending: list[str] = []
        for condition in conditions:
            if isinstance(condition, str):
                pending.append(condition)
                continue
            text = self._outcome.truth(condition)
            if self._outcome.fails(condition) is None:
                text = f"({text})" if " or " in text else text
                if text not in pending:
                    pending.append(text)
                continue
            self._test(pending)
            pending = []
            self._fail_if(condition, otherwise=f"elif {text}:")
        self._test(pending)

    def _test(self, conditions: list[str]) -> None:
        if not conditions:
            return
        text = " and ".join(conditions)
        in_brackets = text.startswith("(") and text.endswith(")")
        if len(conditions) == 1 and in_brackets and text.count("(") == 1:
            text = text[1:-1]
        self._source.line(f"if {text}:")
        self._source.indent += 1

    def _fail_if(self, expression: Expression, otherwise: str = "else:") -> None:
        """Write a test whether an expression fails; what follows is behind `otherwise`.

        Nothing is written if it never fails.
        """
        failure = self._outcome.fails(expression)
        if failure is None:
            return
        source = self._source
        source.line(f"if {failure}:")
        source.indent += 1
        outcome = self._new_outcome()
        outcome.set(self.program.error, "1")
        self._finish(outcome, failed=True)
        source.indent -= 1
        source.line(otherwise)
        source.indent += 1

    def _take(self, action: Action) -> None:
        """Write the effects of an action."""
        self._assign(self.program.exchange(action))
        for transition in reversed(action.transitions):
            state = self.program.processes[transition.process].state
            self._outcome.set(state, str(transition.target))
            for effect in transition.effects:
                self._assign([effect])

    def _assign(self, assignments: Sequence[Assignment]) -> None:
        """Write assignments that are had at once."""
        texts = []
        for _, value, bounds in assignments:
            self._fail_if(value)
            texts.append(self._outcome.named(self._outcome.converted(value, bounds)))
        for (target, _, _), text in zip(assignments, texts, strict=True):
            if isinstance(target, Element):
                self._fail_if(target)
            self._outcome.assign(target, text)


_FEW_WORDS = 4  # of a row that are written one by one
_PART = 24  # actions after which a new function begins
_MOST_SHARED = 31  # variables that several processes write to: bits beside FAILED

_IMPORTS = """\
import numpy as np

from ltlpipe.runtime.kernels.jit import called, specialised
from ltlpipe.systems.programs.kernels import (
    are_steps,
    begun,
    copied,
    divided,
    finish,
    moved,
    multiply,
    remainder,
    settle,
    stutter,
    wrapped,
)
from ltlpipe.systems.networks.packing_kernels import Select, normalise_all
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
made choices copied at before holder timeout begun are_steps moved called normalise_all
_expand expand_orbits
"""


def generate(program: Program, ranges: Ranges, layout: Layout) -> Job[str]:
    """Return the source of a module whose `expand` is the successor function.

    Raises
    ------
    UnsupportedError
        It would be too long; or too many variables are written to by more than one
        process of a synchronous system.
    """
    blueprint = Blueprint(program, ranges, layout, _python_names(program))
    body = Source(blueprint)
    if program.has_control:
        functions = yield from _write_walks(blueprint, body)
    else:
        _write_row(blueprint, body, "row[{}]")
        if layout.places[program.error].bits:
            body.line(f"if {blueprint.names[program.error]} != 0:")
            body.line("    return 0")
        write = _write_joint if program.synchronous else _write_parts
        functions = yield from write(blueprint, body)
    body.line(
        f"return finish(ints, row, {layout.n_words}, out_rows, out_letters, "
        "out_actions, out_marks, count)"
    )
    text = [_title(program, layout), _IMPORTS, *blueprint.helpers.values(), *functions]
    text.append("\n".join([_SIGNATURE, *body.lines]) + "\n")
    text.append(_ORBITS)
    return "\n\n".join(text).replace("\n\n\n\n", "\n\n\n")


def _write_row(blueprint: Blueprint, body: Source, word: str) -> None:
    """Write what reads a row, and whether it is that of a step that has failed."""
    layout, error = blueprint.layout, blueprint.program.error
    for number in range(layout.n_words):
        body.line(f"w{number} = np.int64({word.format(number)})")
    if layout.places[error].bits:
        body.line(f"{blueprint.names[error]} = {extracted(layout, error)}")


def _write_walks(blueprint: Blueprint, body: Source) -> Job[list[str]]:
    """Write the steps of a system in which processes keep control.

    Rows are a queue: what leads on from each of them is appended.
    """
    program, n_own = blueprint.program, blueprint.layout.n_words
    buffers = "out_rows, out_letters, out_actions"
    body.line("count, holder, timeout = 0, -1, 0")
    body.line(f"at = begun(row, {n_own}, out_rows)")
    body.line("while at >= 0:")
    body.indent += 1
    body.line("before = count")
    _write_row(blueprint, body, "out_rows[at, {}]")
    body.line(f"if {blueprint.names[program.error]} == 0:")
    body.indent += 1
    functions = yield from _write_parts(blueprint, body)
    if not functions:
        body.line("pass")
    body.indent -= 1
    if program.timeout >= 0:
        body.line("if count == 0 and timeout == 0:")
        body.line("    timeout = 1")
        body.line("    continue")
        body.line("timeout = 0")
    body.line("if are_steps(ints, out_rows, out_actions, at, count):")
    body.line("    break")
    body.line(f"at, count = moved(ints, {n_own}, {buffers}, at, before, count)")
    body.line("if at >= 0:")
    body.line("    holder = out_letters[at] >> 2")
    body.indent -= 1
    return functions


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
    taken |= {f"element_{array.first}" for array in program.arrays}
    names = []
    for variable in program.variables:
        name = _NO_NAME.sub("_", variable.name.replace("]", ""))
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
    if program.has_control:
        words += ["holder", "timeout", "at"]
    if writer.has_commits:
        _write_committed(blueprint, body)
        words.append("committed")
    arguments = ", ".join([*words, "out_rows, out_actions, count"])
    if not program.has_control:
        body.line("count = 0")
    functions = []
    for number, group in enumerate(_groups(program)):
        source = Source(blueprint)
        for process, by_state in group.items():
            yield from writer.process(process, by_state, source)
        source.line("return count")
        names = [program.processes[process].name for process in group]
        about = f"Append the steps of {', '.join(names)}"
        functions.append(_function(number, arguments, about, source))
        body.line(f"count = part_{number}({arguments})")
    return functions


def _groups(program: Program) -> list[dict[int, dict[int, list[Numbered]]]]:
    """Return the actions of processes in their states, in groups of about `_PART`.

    Numba takes longer per action the more there are in a function.  A process with many
    is divided by its states, of which only one is left at a time, so the order of steps
    stays that of the actions.
    """
    units: dict[tuple[int, int], list[Numbered]] = {}
    for number, action in enumerate(program.actions):
        unit = action.leader.process, action.leader.source
        units.setdefault(unit, []).append((number, action))
    groups: list[dict[int, dict[int, list[Numbered]]]] = []
    size = _PART
    for (process, state), actions in units.items():
        if size >= _PART or size + len(actions) > 2 * _PART:
            groups.append({})
            size = 0
        groups[-1].setdefault(process, {})[state] = actions
        size += len(actions)
    return groups


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
        source = Source(blueprint)
        source.line("choices = 0")
        moves: dict[int, list[Numbered]] = {}
        for k, transition in enumerate(process.transitions):
            moves.setdefault(transition.source, []).append(
                (k, Action(transition, None))
            )
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
    shared = program.shared_slots()
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
