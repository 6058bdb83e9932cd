"""Programs as checking sees them (`ltlpipe.systems.models`)."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import itertools
import math
import sys
from collections import Counter
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.logic.propositions.syntax import (
    Name,
    Number,
    Operation,
    Taken,
    Variable,
    nodes_in,
    variables_in,
)
from ltlpipe.runtime.errors import FormulaError, LtlpipeError, UnsupportedError, warn
from ltlpipe.runtime.files import rewriting
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.fields import row_of
from ltlpipe.systems.models import Model, Step
from ltlpipe.systems.networks.packing import MAX_SUCCESSORS, Interim, PackedSystem
from ltlpipe.systems.programs.claims import as_truth
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.program import FULL
from ltlpipe.systems.programs.ranges import Ranges
from ltlpipe.systems.programs.reading import read_program
from ltlpipe.systems.propositions.binding import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.programs.liveness import Forgetting
    from ltlpipe.systems.programs.program import Program, Transition
    from ltlpipe.systems.programs.ranges import Layout

_MAX_ACTIONS = 1 << 18

_OF_RANGES = "layout", "source", "instructions", "max_successors", "_is_plain"
"""Facts about a model that follow from the values of its variables, and control."""

_COMPILER_SECONDS, _CHARACTER_SECONDS = 1.0, 1.5e-4
"""What compiling takes, roughly, and what it takes for each character of source.

Searches by the machine take 1.4 to 2.2 times as long as those by compiled code: one has
to last for this long before it is worth a compiler.
"""

ASSERT = "assert"
"""The proposition that no assertion is violated."""


def read_dve_model(text: str, file: str) -> DveModel:
    """Read the text of a DVE model; see `read_program` for errors."""
    return complete(build(text, file))


def build(text: str, file: str) -> Job[DveModel]:
    """Return the job that reads a model."""
    return DveModel((yield from read_program(text, file)))


class ProgramModel(Model):
    """A program as a model: interpreted step by step, or compiled for a search.

    Raises
    ------
    UnsupportedError
        There are too many different steps.

    Attributes
    ----------
    unmerged : ProgramModel or None
        The model that this is with some places passed; see `passing`.
    """

    unmerged: ProgramModel | None = None

    def __init__(self, program: Program) -> None:
        self.program = program
        self.name = program.name
        self.violations = program.violations
        self.variables = tuple(v.name for v in program.variables)
        if self.n_actions > _MAX_ACTIONS:
            raise UnsupportedError(
                f"{self.name}: transitions can be combined to {self.n_actions} "
                f"different steps; the limit is {_MAX_ACTIONS}"
            )
        self._interpreter = Interpreter(program)
        self._forgetful: dict[frozenset[int], tuple[ProgramModel, Forgetting] | None]
        self._forgetful = {}  # by the variables that are kept though they are dead

    @cached_property
    def actions(self) -> tuple[str, ...]:  # type: ignore[override]
        """What moves in a step: one process, two, or all of a synchronous system."""
        return tuple(itertools.starmap(self.program.described, self._moves()))

    def _moves(self) -> Iterator[tuple[Transition, ...]]:
        """Yield the transitions that each action takes."""
        program = self.program
        if not program.synchronous:
            return (action.transitions for action in program.actions)
        # The transitions of the first process vary first.
        choices = [process.transitions for process in reversed(program.processes)]
        return (moves[::-1] for moves in itertools.product(*choices))

    @cached_property
    def n_actions(self) -> int:
        """How many actions there are, before their names are put together."""
        if self.program.synchronous:
            return math.prod(len(p.transitions) for p in self.program.processes)
        return self.program.n_actions

    @cached_property
    def vocabulary(self) -> Vocabulary:  # type: ignore[override]
        """The names of variables, arrays, states and actions."""
        variables = {v.name: i for i, v in enumerate(self.program.variables)}
        texts = {}
        facts: dict[str, Expression] = {}
        for i, variable in enumerate(self.program.variables):
            if not variable.states:
                continue
            texts[i] = {state: k for k, state in enumerate(variable.states)}
            for k, state in enumerate(variable.states):
                test = Operation("==", (Variable(i), Number(k)))
                facts[f"{variable.name}.{state}"] = test
        if self.program.assertions:
            try:
                facts[ASSERT] = self._assertions()
            except UnsupportedError as error:
                warn(
                    f"{self.name}: {ASSERT!r} is no proposition of this model: {error}"
                )
        called: dict[str, list[int]] = {}
        for number, (action, moves) in enumerate(
            zip(self.actions, self._moves(), strict=True)
        ):
            called.setdefault(action, []).append(number)
            together = self.program.class_of(*moves)
            if together != action:  # any of them
                called.setdefault(together, []).append(number)
        return Vocabulary(
            variables=variables,
            arrays={a.name: (a.first, a.size) for a in self.program.arrays},
            texts=texts,
            facts={name: test for name, test in facts.items() if name not in variables},
            actions=called,
        )

    def _assertions(self) -> Expression:
        """Return the proposition that no assertion of a process's state is violated.

        Raises
        ------
        UnsupportedError
            An assertion is about something that no proposition can say.
        """
        program = self.program
        parts: list[Expression] = [Number(1)]
        for process, state, condition in program.assertions:
            place = Variable(program.processes[process].state)
            elsewhere = Operation("!", (Operation("==", (place, Number(state))),))
            try:
                holds = as_truth(condition, program.variables, program.arrays)
            except UnsupportedError as error:
                of = program.variables[place.number]
                message = (
                    f"the assertion about {of.name}.{of.states[state]} has {error}"
                )
                raise UnsupportedError(f"{message}, which no proposition has") from None
            parts.append(Operation("||", (elsewhere, holds)))
        return Operation("&&", tuple(parts))

    @cached_property
    def processes(self) -> tuple[str, ...]:  # type: ignore[override]
        """The processes, by the variables of their states, which have their names."""
        program = self.program
        return tuple(program.variables[p.state].name for p in program.processes)

    def movers(self, action: int) -> tuple[str, ...]:
        """Return the processes that move in an action: all, in a synchronous system."""
        if self.program.synchronous:
            return self.processes
        transitions = self.program.actions[action].transitions
        return tuple(self.processes[t.process] for t in transitions)

    def message(
        self, action: int, before: Valuation, after: Valuation
    ) -> tuple[str, str] | None:
        """Return from where to where a message goes; see `Model.message`."""
        program = self.program
        if program.synchronous:
            return None
        leader, partner = program.actions[action][:2]
        mover = self.processes[leader.process]
        if partner is not None and leader.start is None:
            return mover, self.processes[partner.process]
        for channel in program.channels:
            if not channel.capacity or before[channel.length] == after[channel.length]:
                continue
            name = self.shown_name(channel.length)
            is_sent = before[channel.length] < after[channel.length]
            return (mover, name) if is_sent else (name, mover)
        return None

    def initial(self) -> Valuation:
        """Return the valuation in which runs begin."""
        return self.program.initial

    def each_step(self, state: Valuation) -> Iterator[Step]:
        """Yield the steps of a valuation, in the order of the packed system."""
        return self._checked(self._interpreter.steps(state))

    def each_step_of_search(self, state: Valuation) -> Iterator[Step]:
        """Yield the same, faster if it is asked often; see `Model`."""
        return self._checked(self._compiling.steps(state))

    @cached_property
    def _compiling(self) -> Interpreter:
        return Interpreter(self.program, compiles=True)

    def _checked(self, steps: Iterable[tuple[int, Valuation]]) -> Iterator[Step]:
        for action, target in steps:
            if target[self.program.error] == FULL:
                raise self.full_error()
            yield Step(action, target)

    def steps_by(self, state: Valuation, action: int) -> Iterator[Step]:
        """Yield at least the steps of a valuation by an action; see `Model`."""
        if not self._is_plain:
            yield from self.each_step(state)
        elif not state[self.program.error]:
            moving = self.program.actions[action]
            target = self._interpreter.target(moving, tuple(state))
            if target is not None:
                yield from self._checked([(action, target)])

    @cached_property
    def _is_plain(self) -> bool:
        """Whether an action is enabled whatever others are."""
        program = self.program
        waits = program.synchronous or program.has_control
        return not (waits or any(p.committed for p in program.processes))

    def full_error(self) -> LtlpipeError:
        """Return the error that there are more processes than there is room for."""
        raise NotImplementedError  # of models in which none are started

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return the variables with their values, states of processes by name.

        What tells that a step has failed is shown only where one has.
        """
        shown: dict[str, int | str] = {}
        for variable, value in zip(self.program.variables, state, strict=True):
            if variable.kind != "error" or value:
                shown[variable.name] = (
                    variable.states[value] if variable.states else value
                )
        return shown

    @cached_property
    def ranges(self) -> Ranges:
        """The values that variables and expressions can have."""
        return complete(Ranges.finding(self.program))

    @cached_property
    def layout(self) -> Layout:
        """Where the variables lie in a row."""
        from ltlpipe.systems.programs.ranges import lay_out

        return lay_out(self.program, self.ranges.variables)

    @cached_property
    def source(self) -> str:
        """The generated module whose `expand` is the successor function."""
        from ltlpipe.systems.programs.generating import generate

        return complete(generate(self.program, self.ranges, self.layout))

    @cached_property
    def instructions(self) -> np.ndarray | None:
        """The same for the machine (`machine_kernels`); None if that is too small."""
        from ltlpipe.systems.programs.assembly import assembled

        return complete(assembled(self.source))

    def passing(self, places: frozenset[tuple[int, int]]) -> ProgramModel:
        """Return the model in which processes do not stop in some of their states.

        Variables, actions and their numbers are the same.  Where moves become too many
        for a step, a search goes on with the model itself.
        """
        passing = copy.copy(self)
        passing.unmerged, program = self, replace(self.program, merged=places)
        passing.program, passing._interpreter = program, Interpreter(program)
        vars(passing).pop("_compiling", None)
        if not self.program.has_control:
            passing.ranges = self.ranges.with_faults()
            for fact in _OF_RANGES:
                vars(passing).pop(fact, None)
        return passing

    def forgetting(
        self, read: Iterable[Expression]
    ) -> Job[tuple[ProgramModel, Forgetting] | None]:
        """Return the model that forgets dead values, and how; None if it has none.

        Variables, actions and their numbers are the same.  What propositions, or parts
        of some, `read` is kept.
        """
        whole = yield from self._forgetting(frozenset())
        if whole is None:
            return None
        seen = {v for proposition in read for v in variables_in(proposition)}
        return (yield from self._forgetting(whole[1].variables & seen))

    def _forgetting(
        self, kept: frozenset[int]
    ) -> Job[tuple[ProgramModel, Forgetting] | None]:
        """Return, made once, the model that forgets what is dead and is not kept."""
        from ltlpipe.systems.programs.liveness import forgetting

        if kept not in self._forgetful:
            found = yield from forgetting(self.program, kept)
            made = None
            if found is not None:
                model = copy.copy(self)
                model.program, model._forgetful = found.program, {}
                model._interpreter = Interpreter(found.program)
                for fact in ("_compiling", "ranges", *_OF_RANGES):
                    vars(model).pop(fact, None)
                made = model, found
            self._forgetful[kept] = made
        return self._forgetful[kept]

    @cached_property
    def max_successors(self) -> int:
        """A bound of the number of successors of a state."""
        leaders = (action.leader for action in self.program.actions)
        leaving = Counter((t.process, t.source) for t in leaders)
        most = [0] * len(self.program.processes)
        for (process, _), number in leaving.items():
            most[process] = max(most[process], number)
        if self.program.synchronous:
            return max(2 * math.prod(most), 1)  # what is being combined needs room
        if self.program.has_control:
            from ltlpipe.systems.programs.kernels import MAX_MOVES

            return sum(most) + MAX_MOVES + 2  # no end of the rows is where one begins
        return max(sum(most), 1)

    def ranged(self) -> Job[None]:
        """Find `ranges`, once."""
        known = vars(self)
        if "ranges" not in known:
            known["ranges"] = yield from Ranges.finding(self.program)

    def prepared(self) -> Job[None]:
        """Find out what packing needs to know, once: `ranges` and `source`."""
        yield from self.ranged()
        known = vars(self)
        if "source" not in known:
            from ltlpipe.systems.programs.generating import generate

            job = generate(self.program, self.ranges, self.layout)
            known["source"] = yield from job
        if "instructions" not in known:
            from ltlpipe.systems.programs.assembly import assembled

            known["instructions"] = yield from assembled(self.source)

    def _control(self) -> np.ndarray:
        """Return what `ltlpipe.systems.programs.kernels.Control` says of actions."""
        place = self.layout.places[self.program.error]
        keepers = map(self.program.keeper, self.program.actions)
        codes = (4 * process + keeps if keeps else 0 for process, keeps in keepers)
        limits = self.program.can_be_full + 2 * bool(self.program.merged)
        return np.array([place.word, place.shift, limits, *codes], dtype=np.int64)

    def pack(
        self,
        propositions: Sequence[Expression],
        *,
        extra_values: int = 1,
        seed: int | None = None,
        ample: np.ndarray | None = None,
    ) -> PackedSystem:
        """Lay out the tables for one property; see `Model.pack`.

        The successor function is the same for all properties, and so is its machine
        code: propositions are tables, and the field for the caller lies where the
        model has left room.
        """
        # Imported here: reading models and simulation need no Numba.
        from ltlpipe.systems.programs.kernels import N_HEADER, Header
        from ltlpipe.systems.propositions.kernels import assemble, taken_bits

        if self.max_successors > MAX_SUCCESSORS:
            raise UnsupportedError(
                f"{self.name}: one state can have up to {self.max_successors} "
                f"successors; the limit is {MAX_SUCCESSORS}"
            )
        layout = self.layout
        letters = assemble(propositions, layout.places)
        header = np.zeros(N_HEADER, dtype=np.int64)
        header[Header.LETTERS] = N_HEADER
        tables = [header, letters]
        if any(isinstance(proposition, Taken) for proposition in propositions):
            header[Header.TAKEN] = N_HEADER + len(letters)
            tables.append(taken_bits(propositions, self.n_actions))
        if self.program.has_control:
            header[Header.CONTROL] = sum(map(len, tables))
            tables.append(self._control())
        if ample is not None:
            header[Header.AMPLE] = sum(map(len, tables))
            tables.append(ample.ravel())
        if seed is not None:
            rng = np.random.default_rng(seed)
            header[Header.SEED] = rng.integers(1, np.iinfo(np.int64).max)
        interim = None
        if self.instructions is not None:
            header[Header.CODE] = sum(map(len, tables))
            tables.append(self.instructions)
            interim = self._interim()
        extra = layout.with_extra(extra_values)
        n_words = max(layout.n_words, extra.word + 1)
        functions = successor_functions(self.source)
        ints = np.concatenate(tables)
        error = self.program.error
        widened = self._full
        if self.unmerged is not None:
            widened = partial(
                self.unmerged.packing,
                propositions,
                extra_values=extra_values,
                seed=seed,
                ample=ample,
            )
        return PackedSystem(
            expand=functions.expand,
            expand_orbits=functions.expand_orbits,
            ints=ints,
            words=np.zeros(0, dtype=np.uint64),
            initial=row_of(layout.places, self.program.initial, n_words),
            extra=extra,
            max_successors=self.max_successors,
            interim=interim,
            fields=layout.places,
            dtype=np.int64,
            overflowed=lambda: error if ints[Header.IS_FULL] else None,
            widened=widened,
        )

    def _interim(self) -> Interim:
        """Return what is used until the generated module is compiled."""
        from ltlpipe.systems.programs import machine_kernels as machine

        seconds = _COMPILER_SECONDS + _CHARACTER_SECONDS * len(self.source)
        return Interim(machine.expand, machine.expand_orbits, seconds)

    def _full(self) -> Job[PackedSystem | None]:
        """Raise the error that a process finds no room."""
        yield from ()
        raise self.full_error()


class DveModel(ProgramModel):
    """A DVE model."""

    def bound(self, proposition: Expression, text: str) -> Expression:
        """Return a proposition with its names bound; warn of those with two meanings.

        A variable of a process may be called like one of its states.

        Raises
        ------
        FormulaError
            It is a process and nothing else, as in ``P->x``, or as any model says.
        """
        if isinstance(proposition, Name):
            number = self.vocabulary.variables.get(proposition.text, -1)
            if number in self.vocabulary.texts:
                message = (
                    f"{text} is a process, neither true nor false: write {text}.x for "
                    f'its variable x ({text}->x in the model), {text}=="s" for its '
                    "state s"
                )
                raise FormulaError(message, formula=text)
        for part in nodes_in(proposition):
            name = part.text if isinstance(part, Name) else ""
            process, _, own = name.partition(".")
            known = self.vocabulary.variables
            states = self.vocabulary.texts.get(known.get(process, -1), {})
            if name in known and own in states:
                warn(
                    f"{name!r} is a variable and a state of {process}: here it "
                    f'means the variable; {process}=="{own}" is the state'
                )
        return super().bound(proposition, text)


def successor_functions(source: str) -> Any:
    """Return the module of generated source, the same for the same source.

    It has `expand` and `expand_orbits`.  A function is compiled by `expand_pointer`,
    which finds the machine code of earlier runs.

    Raises
    ------
    UnsupportedError
        An expression is nested deeper than Python can read.
    """
    try:
        return _imported(source)
    except SyntaxError as error:
        if "nested" not in str(error):
            raise
        message = "an expression of the model is nested too deeply to be compiled"
        raise UnsupportedError(message) from None


@cache
def _imported(source: str) -> Any:
    digest = hashlib.sha256(source.encode()).hexdigest()[:24]
    name = f"ltlpipe_dve_{digest}"
    path = _written(name, source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Numba looks modules of cached code up by name
    spec.loader.exec_module(module)
    return module


def _written(name: str, source: str) -> Path:
    """Return the file that holds some source, written unless it is there.

    Numba's cache asks whether a file has changed since: one that is there stays.
    """
    from ltlpipe.runtime.folders import cache_folder, move_to

    path = cache_folder() / "dve" / f"{name}.py"
    if path.exists() and path.read_text(encoding="utf-8") == source:
        return path
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with rewriting(path) as stream:  # two processes write the same
            stream.write(source.encode())
    except OSError:
        if not move_to():
            raise
        return _written(name, source)
    return path
