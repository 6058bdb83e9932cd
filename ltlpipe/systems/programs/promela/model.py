"""Promela models as checking sees them, from their texts to what is shown of states.

Values of type ``mtype`` and ``chan`` are shown by their names, a channel by its
messages; processes that are not there have no variables.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.propositions import syntax as propositions
from ltlpipe.runtime.errors import LtlpipeError, RoomError, UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.models import OwnQuestion
from ltlpipe.systems.programs import program as ir
from ltlpipe.systems.programs.claims import bound
from ltlpipe.systems.programs.model import ProgramModel
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.formulas import automaton_of
from ltlpipe.systems.programs.promela.lowering import general_plan, lower
from ltlpipe.systems.programs.promela.planning import (
    MAX_PROCESSES,
    planned,
    tells_number,
)
from ltlpipe.systems.programs.promela.propositions import (
    ACCEPT,
    DEAD,
    FAULT,
    VALID_END,
)
from ltlpipe.systems.programs.promela.resolving import resolved
from ltlpipe.systems.programs.promela.storage import FAULTS, GLOBAL
from ltlpipe.systems.programs.promela.syntax import Assert, Place, nodes_in
from ltlpipe.systems.programs.promela.translation import all_of, any_of, equal
from ltlpipe.systems.propositions.binding import DEADLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import Valuation
    from ltlpipe.systems.plain import Plain
    from ltlpipe.systems.programs.liveness import Forgetting
    from ltlpipe.systems.programs.program import Program
    from ltlpipe.systems.programs.promela.lowering import Lowered
    from ltlpipe.systems.programs.promela.storage import Plan, Storage


def promela_model(
    tree: syntax.Model, *, assertions: bool = True, processes: int | None = None
) -> Job[PromelaModel]:
    """Return the job that makes a model of a checked tree.

    Parameters
    ----------
    tree : Model
        What `read_model` returns.
    assertions : bool
        Whether a failed ``assert`` is an error, behind which nothing moves; else it is
        a step without effect.
    processes : int, optional
        The most processes at once; None finds it out, and makes room for twice as many
        where a search meets more.
    """
    plan = yield from planned(tree, processes)
    can_grow = processes is None
    return _Family(tree, plan, can_grow=can_grow).model(assertions=assertions)


class _Family:
    """The models that questions about one text are about, with room for as many."""

    def __init__(self, tree: syntax.Model, plan: Plan, *, can_grow: bool) -> None:
        self.tree, self._plans, self._can_grow = tree, [plan], can_grow
        self.grown: int | None = None  # processes, if there was too little room
        nodes = nodes_in(tree.proctypes)
        self._asserts = any(isinstance(node, Assert) for node in nodes)
        self._models: dict[tuple[bool, bool, frozenset[str]], PromelaModel] = {}

    def model(
        self,
        *,
        assertions: bool,
        has_last: bool = True,
        mentions: frozenset[str] = frozenset(),
    ) -> PromelaModel:
        """Return the model whose assertions fail, or not, and which tells more."""
        assertions = assertions and self._asserts
        key = assertions, has_last, mentions
        if key not in self._models:
            tree = replace(self.tree, mentions=self.tree.mentions | mentions)
            job = lower(tree, self._plans[-1], assertions=assertions, has_last=has_last)
            again = partial(
                self.model, assertions=assertions, has_last=has_last, mentions=mentions
            )
            self._models[key] = PromelaModel(complete(job), self, again)
        return self._models[key]

    def telling(self, names: Set[str]) -> PromelaModel | None:
        """Return the model of the text whose states are shown with some names.

        Questions differ in whether it tells who moved last, and in its room.
        """
        mentions = self.tree.mentions | names & {"_last"}
        tree = replace(self.tree, mentions=mentions)
        family = self if mentions == self.tree.mentions else None
        plans = self._plans[::-1]  # as the questions of now have it first
        for plan in plans:  # it grows
            family = family or _Family(tree, plan, can_grow=self._can_grow)
            found = family.model(assertions=False)
            if found.shown(found.initial()).keys() == names:
                return found
            family = None
            number = min(2 * len(plan.slots), MAX_PROCESSES)
            is_last = plan is plans[-1] and self._can_grow
            if is_last and len(plan.slots) < number <= len(names):
                plans.append(general_plan(self.tree, number))
        return None

    def lacks_room(self, model: PromelaModel) -> LtlpipeError:
        """Return the error that there are more processes than a model has room for."""
        name, n_slots = model.name, len(model.lowered.translator.plan.slots)
        if not self._can_grow:
            return UnsupportedError(
                f"{name}: more than {n_slots} processes at once, as --processes says"
            )
        if n_slots >= MAX_PROCESSES:
            return UnsupportedError(
                f"{name}: more than {MAX_PROCESSES} processes at once, the limit of "
                "Promela"
            )

        def roomier() -> PromelaModel:
            if len(self._plans[-1].slots) <= n_slots:
                self.grown = min(2 * n_slots, MAX_PROCESSES)
                self._plans.append(general_plan(self.tree, self.grown))
                self._models.clear()
            return model.again()

        return RoomError(
            f"{name}: more processes at once than the {n_slots} that have been found "
            "by trying the model out: --processes=N gives their number",
            roomier,
        )


class PromelaModel(ProgramModel):
    """A Promela model.

    `again` returns the same, with the room for processes that its family has by then.
    """

    def __init__(
        self, lowered: Lowered, family: _Family, again: Callable[[], PromelaModel]
    ) -> None:
        super().__init__(lowered.program)
        self.lowered = lowered
        self.tree = lowered.translator.model
        self._family, self.again = family, again

    @property
    def only_stuttering(self) -> str:  # type: ignore[override]
        """Why the order in which processes end cannot be asked for, if it cannot."""
        if not self.lowered.translator.plan.ending:
            return ""
        return (
            f"{self.name}: processes that have ended leave before others are started, "
            "as otherwise they become many (--processes=N has them stay)"
        )

    @property
    def about(self) -> tuple[str, ...]:  # type: ignore[override]
        """What to tell people of the model."""
        return (self.only_stuttering,) if self.only_stuttering else ()

    @property
    def grown(self) -> int | None:
        """With which ``--processes`` its states look alike; None if as by default."""
        return self._family.grown

    def full_error(self) -> LtlpipeError:
        """Return the error that there are more processes than there is room for."""
        return self._family.lacks_room(self)

    @property
    def n_actions(self) -> int:
        """How many actions there are."""
        return len(self.program.actions)

    def for_question(self, texts: Iterable[str]) -> PromelaModel:
        """Return the model as a question with some propositions is about it.

        Assertions fail only where the question is whether they do, and ``_last`` is
        part of the state if the model or the question speaks of it.
        """
        from ltlpipe.systems.programs.promela.propositions import names_in

        named = names_in(texts)
        has_priority = {"priority"} if "get_priority" in named else set()
        wanted = named & {"_last"} | has_priority
        return self._family.model(assertions=FAULT in named, mentions=frozenset(wanted))

    def forgetting(
        self, read: Iterable[propositions.Expression]
    ) -> Job[tuple[ProgramModel, Forgetting] | None]:
        """Return the model that forgets dead values; see `ProgramModel.forgetting`.

        What the model's own formulas read it keeps, so that one successor function
        serves all of them.
        """
        own: list[propositions.Expression] = []
        for tree in self.written.values():
            with suppress(LtlpipeError):  # whoever asks for it is told
                own.append(self.proposition(tree))
        return super().forgetting([*read, *own])

    def telling(self, names: Set[str]) -> PromelaModel:
        """Return the model whose states are shown with names; see `Model.telling`."""
        return self._family.telling(names) or self

    def without_assertions(self) -> PromelaModel:
        """Return the model in which assertions never fail."""
        return self._family.model(assertions=False)

    def bound(
        self, proposition: propositions.Expression, text: str
    ) -> propositions.Expression:
        """Return a proposition with its names bound to variables; see `Model.bound`."""
        from ltlpipe.systems.programs.promela.propositions import bound as bind

        return bind(self, proposition, text)

    @cached_property
    def _shown(self) -> Shown:
        storage = self.lowered.translator.storage
        return Shown(self.program, storage, self.tree.mtypes)

    def shown(self, state: Valuation) -> dict[str, int | str]:
        """Return variables and channels with their values as they are written."""
        return self._shown.state(state)

    def shown_name(self, number: int) -> str:
        """Return the name under which a variable, or its channel, is shown."""
        return self._shown.name(number)

    @cached_property
    def written(self) -> dict[str, syntax.Expression]:
        """What propositions of the model's own formulas and claims mean."""
        found: dict[str, syntax.Expression] = {}
        for formula in self.tree.formulas:
            found |= formula.propositions
        for claim in self.tree.claims:
            if claim.kind == "never":
                automaton_of(claim, found)
        return found

    @cached_property
    def own_questions(self) -> tuple[OwnQuestion, ...]:  # type: ignore[override]
        """Assertions, end states, formulas, claims, and labels ``accept``."""
        found = [OwnQuestion("assertions", f"G !{FAULT}")]
        found.append(OwnQuestion("end states", self.ends_validly))
        found += [
            OwnQuestion(f.name, f.text, written=f.written) for f in self.tree.formulas
        ]
        for claim in self.tree.claims:
            if claim.kind == "never":
                hoa = automaton_of(claim, {})
                found.append(OwnQuestion(claim.name or "never", automaton=hoa))
        labels = [label for p in self.tree.proctypes for label in p.labels]
        if any(label.startswith("accept") for label in labels):
            found.append(OwnQuestion("acceptance", f"FG !{ACCEPT}"))
        return tuple(found)

    @property
    def _dead(self) -> str:
        return DEAD if DEADLOCK in self.tree.names.symbols else DEADLOCK

    @property
    def ends_validly(self) -> str:  # type: ignore[override]
        """Runs that end do so where they may."""
        return f"G({self._dead} -> {VALID_END})"

    @property
    def makes_progress(self) -> str:  # type: ignore[override]
        """A cycle has a label ``progress``; a run that ends has no cycle."""
        return f"GF(!np_ || {self._dead})"

    def fact(self, name: str) -> propositions.Expression:
        """Return what a name of `ltlpipe.systems.programs.promela.propositions` is."""
        if name == ACCEPT:
            return self.labelled("accept")
        if name == DEAD:
            return propositions.Deadlock()
        number = propositions.Number(0)
        error = propositions.Variable(self.program.error)
        test = propositions.Operation("==", (error, number))
        fault = propositions.Operation("!", (test,))
        return fault if name == FAULT else propositions.joined("||", self.ends, fault)

    def counted(self) -> PromelaModel:
        """Return the model whose states Spin would count.

        Assertions never fail, and no state knows of what only properties mention.
        """
        return self._family.model(assertions=False, has_last=False)

    def proposition(self, tree: syntax.Expression) -> propositions.Expression:
        """Return an expression of the model as a proposition about its states."""
        told = map(self._tells_number, nodes_in(tree))
        if self.only_stuttering and any(told):
            raise UnsupportedError(
                f"{self.only_stuttering}; so propositions cannot name "
                "a process by its number"
            )
        return bound(self.lowered.translator.value(tree, GLOBAL))

    def _tells_number(self, node: syntax.Tree) -> bool:
        """Whether an expression tells the number of a process that is started.

        Those of processes that are there at the beginning are known.
        """
        if not isinstance(node, syntax.RemoteLabel):
            return tells_number(node)
        lowered = self.lowered.translator
        number = lowered.numbers[node.proctype]
        flow, plan = lowered.storage.flows[number], lowered.plan
        started = {slot for run, _, slot in plan.births or ()}
        own = {slot for slot, known in enumerate(plan.slots) if number in known}
        if isinstance(node.pid, syntax.Number):
            own &= {node.pid.value}
        fixed = len(own) == 1 and own.isdisjoint(started)
        known = node.pid is None or isinstance(node.pid, syntax.Number)
        return not (fixed and known) or flow.labels.get(node.label) is flow.end

    @cached_property
    def ends(self) -> propositions.Expression:
        """Whether every process may stay where it is for ever.

        It has ended, or is behind its last statement or at a label ``end``.
        """
        storage = self.lowered.translator.storage
        conditions = []
        for slot, state in enumerate(storage.states):
            places = [0]
            for frame, offset in storage.offsets.items():
                flow = storage.flows[frame.proctype]
                if frame.slot == slot:
                    nodes = {n for name, n in flow.labels.items() if name[:3] == "end"}
                    nodes.add(flow.end)
                    places += [offset + n.number for n in nodes if n.number > 0]
            conditions.append(
                any_of(equal(ir.Read(state), ir.Number(p)) for p in sorted(places))
            )
        trace = self.lowered.translator.trace
        if trace is not None:
            nodes = {n for name, n in trace.flow.labels.items() if name[:3] == "end"}
            nodes.add(trace.flow.end)
            event = ir.Read(trace.event)
            conditions.append(
                any_of(equal(event, ir.Number(n.number)) for n in nodes if n.number > 0)
            )
        return bound(all_of(conditions))

    def labelled(self, prefix: str) -> propositions.Expression:
        """Return whether a process is at a label of a kind (``progress``)."""
        return bound(any_of(self.lowered.translator.at_labels(prefix)))

    def fault(self, state: Valuation) -> str:
        """Return why the step to a state has failed, if it has."""
        return FAULTS.get(state[self.program.error], "")


NO_CHANNEL = "-"
_SHOWN_MESSAGES = 12


class Shown:
    """Names and values of variables for people."""

    def __init__(
        self, program: Program, storage: Storage, sets: Mapping[str, Mapping[str, int]]
    ) -> None:
        self.program = program
        self.constants = {
            name: {value: constant for constant, value in own.items()}
            for name, own in sets.items()
        }
        self.channel_of: dict[int, int] = {}  # of lengths and cells
        for number, channel in enumerate(program.channels):
            for first in channel.cells:
                for cell in range(first, first + channel.capacity):
                    self.channel_of[cell] = number
            if channel.capacity:
                self.channel_of[channel.length] = number
        self.frames = _frames(storage)
        self.alive: dict[int, list[tuple[int, range]]] = {}
        for frame, places, variables in self.frames:
            for variable in variables:
                self.alive.setdefault(variable, []).append((frame, places))

    def state(self, state: Valuation) -> dict[str, int | str]:
        """Return a valuation by the names of variables and channels."""
        shown: dict[str, int | str] = {}
        for number, variable in enumerate(self.program.variables):
            value = state[number]
            if variable.kind in ("error", "timeout") and not value:
                continue
            if number in self.channel_of:
                channel = self.program.channels[self.channel_of[number]]
                if number == channel.length:
                    shown[channel.name] = self.messages(self.channel_of[number], state)
                continue
            owners = self.alive.get(number)
            if owners and not any(state[slot] in places for slot, places in owners):
                continue
            shown[variable.name] = self.value(variable.kind, value, variable.states)
        return shown

    def name(self, number: int) -> str:
        """Return the name under which a variable is shown."""
        channel = self.channel_of.get(number)
        if channel is not None:
            return self.program.channels[channel].name
        return self.program.variables[number].name

    def value(self, kind: str, value: int, states: Sequence[str] = ()) -> int | str:
        """Return a value of a type as it is written."""
        if states:
            return states[value]
        if kind.startswith("mtype"):
            return self.constants.get(kind[len("mtype:") :], {}).get(value, value)
        if kind == "chan":
            if not value:
                return NO_CHANNEL
            channels = self.program.channels  # or a number that came in a message
            return channels[value - 1].name if value <= len(channels) else value
        return value

    def messages(self, number: int, state: Valuation) -> str:
        """Return the messages in a channel: ``[ping,1 pong,2]``."""
        channel = self.program.channels[number]
        length = state[channel.length]
        texts = []
        for k in range(min(length, _SHOWN_MESSAGES)):
            cells = [first + k for first in channel.cells]
            kinds = [self.program.variables[cell].kind for cell in cells]
            values = [
                self.value(kind, state[c]) for kind, c in zip(kinds, cells, strict=True)
            ]
            texts.append(",".join(map(str, values)))
        left = length - len(texts)
        return "[" + " ".join(texts + ([f"... {left} more"] if left else [])) + "]"


def _frames(storage: Storage) -> list[tuple[int, range, list[int]]]:
    """Return for each proctype in a slot the variable for its place, the values of
    that, and its own variables.
    """
    found = []
    for frame, offset in storage.offsets.items():
        places = range(
            offset + 1, offset + 1 + len(storage.flows[frame.proctype].nodes)
        )
        own: list[int] = []
        for variable in storage.leaves(frame):
            first = storage.address(variable, frame)
            own += range(first, first + variable.size)
        found.append((storage.states[frame.slot], places, own))
    return found


def read_model(
    text: str,
    file: str,
    defines: Sequence[str] = (),
    folders: Sequence[str] = (),
) -> syntax.Model:
    """Read the text of a model.

    Parameters
    ----------
    text : str
        The model.
    file : str
        Its name, for messages; files are included from below its folder.
    defines : sequence of str
        Macros that are defined in front of the text: ``N`` or ``N=5``.
    folders : sequence of str
        Other folders from where files may be included.

    Raises
    ------
    InputError
        The text is no model; names file, line and column and what was expected.
    """
    plain = parse_plain(text, file, defines, folders)
    return complete(model_job(plain, file))


def parse_plain(
    text: str,
    file: str,
    define: Sequence[str] = (),
    include: Sequence[str] = (),
    processes: int | None = None,
) -> Plain:
    """Preprocess and parse the text of a model; return its tree as plain data.

    Raises
    ------
    InputError
        The text is no model.
    """
    from ltlpipe.systems.programs.promela.parsing import parse_tokens
    from ltlpipe.systems.programs.promela.preprocessing import preprocess
    from ltlpipe.systems.programs.promela.tokens import tokens_of

    source = preprocess(text, file, define, include)
    lines = text.rstrip().split("\n")
    end = Place(file, len(lines), len(lines[-1]) + 1)
    plain = parse_tokens(tokens_of(source), end)
    plain["macros"] = json.dumps(source.macros).encode()
    plain["processes"] = processes
    return plain


def model_job(plain: Plain, file: str) -> Job[syntax.Model]:
    """Return the job that checks what `parse_plain` has returned."""
    from ltlpipe.systems.programs.promela.parsing import tree_of

    tree = yield from tree_of(plain)
    return resolved(tree, file, json.loads(bytes(plain["macros"])))


def build(plain: Plain, file: str) -> Job[Any]:
    """Return the job that makes a model of what `parse_plain` has returned."""
    tree = yield from model_job(plain, file)
    return (yield from promela_model(tree, processes=plain["processes"]))
