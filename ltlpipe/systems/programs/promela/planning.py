"""Number of processes of a model, and their parameters.

The model is tried out: with room for processes of every proctype in every slot, the
interpreter follows those states in which somebody can still execute ``run``, up to a
limit.  What is found of each ``run``, which slots it fills and with which arguments,
makes the program smaller: a parameter that is the same for every process of a slot is
a constant.  Where the limit was hit more may happen; then a process that finds no room
is a failure (`FULL`), never left out.
"""

from __future__ import annotations

from collections import defaultdict
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.programs.interpreting import Interpreter
from ltlpipe.systems.programs.program import FULL
from ltlpipe.systems.programs.promela import syntax
from ltlpipe.systems.programs.promela.flow import Flow, leaving
from ltlpipe.systems.programs.promela.lowering import general_plan, lower
from ltlpipe.systems.programs.promela.storage import (
    Frame,
    Made,
    Plan,
    Sites,
    written,
)
from ltlpipe.systems.programs.promela.syntax import nodes_in

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.interpreting import State
    from ltlpipe.systems.programs.program import Action
    from ltlpipe.systems.programs.promela.flow import Node
    from ltlpipe.systems.programs.promela.lowering import Lowered

MAX_PROCESSES = 255
"""Processes that Promela has room for."""

_OFTEN = 8
"""More processes that there is room for at first where loops start them."""

_MANY = 64
"""Processes at once beyond which a model is not tried out with room for more."""

_MOST_STATES = 2000
_STATE_WORK = 500  # units


class _Found(NamedTuple):
    """What has been seen of a model."""

    births: frozenset[tuple[syntax.Run, int, int]]
    values: dict[tuple[int, syntax.Variable], set[int | Made | None]]
    is_full: bool
    is_complete: bool


def planned(model: syntax.Model, processes: int | None = None) -> Job[Plan]:
    """Return the job that plans the slots of a model.

    Parameters
    ----------
    model : Model
        It is not changed.
    processes : int, optional
        The most processes at once; then every slot has room for all of them.

    """
    active = sum(proctype.active for proctype in model.proctypes)
    if processes is not None:
        return general_plan(model, max(processes, active))
    bodies = [proctype.body for proctype in model.proctypes]
    runs = sum(isinstance(n, syntax.Run) for body in bodies for n in nodes_in(body))
    if not runs:
        return general_plan(model, active)
    loops = [
        n for n in nodes_in(tuple(bodies)) if isinstance(n, syntax.Choice) and n.repeats
    ]
    repeats = any(isinstance(n, syntax.Run) for n in nodes_in(tuple(loops)))
    few = n_slots = active + runs + (_OFTEN if repeats else 2)
    while True:
        found = yield from _tried(model, general_plan(model, n_slots))
        if not found.is_full or n_slots > _MANY:
            return _narrowed(model, found)
        if n_slots > few and (ending := unnoticed_ends(model)):
            without = yield from _tried(model, general_plan(model, few, ending))
            if without.is_complete:
                return _narrowed(model, without)._replace(ending=ending)
        n_slots = min(2 * n_slots, MAX_PROCESSES)


def unnoticed_ends(model: syntax.Model) -> frozenset[int]:
    """Return the proctypes whose processes nobody misses once they are at their ends.

    There are none where a statement reads the number of a process, as ends decide which
    one the next process has.  Channels that a process has made, and which are not its
    descendants' alone, go with it.  The proof is in docs/models-por.md.
    """
    proctypes = model.proctypes
    parts: list[Any] = [p.body for p in proctypes]
    parts += [v.initial for p in proctypes for v in p.variables if v.initial]
    nodes = [node for part in parts for node in nodes_in(part)]
    alone = {n.expression for n in nodes if isinstance(n, syntax.Condition)}
    if (
        "priority" in model.mentions
        or any(proctype.provided for proctype in proctypes)
        or any(isinstance(node, syntax.Run) and node not in alone for node in nodes)
        or any(map(tells_number, nodes))
    ):
        return frozenset()
    sites = Sites(model)
    shared = set(model.variables)
    for node in nodes:
        if isinstance(node, syntax.Receive):
            stored = [a.value for a in node.arguments if a.kind == "store"]
            shared |= {s.variable for s in stored if isinstance(s, syntax.Reference)}
    known = {site for variable in shared for site in sites.of_variable(variable)}
    found = set()
    for number, proctype in enumerate(proctypes):
        flow = Flow(proctype.body)
        seen = any(
            node is flow.end and not name.startswith("end")
            for name, node in flow.labels.items()
        )
        if not seen and known.isdisjoint(proctype.variables):
            found.add(number)
    return frozenset(found)


def tells_number(node: syntax.Tree) -> bool:
    """Whether a statement or expression reads the number of a process."""
    if isinstance(node, syntax.Special):
        return node.name in ("_pid", "_nr_pr", "_last")
    told = syntax.RemoteLabel, syntax.RemoteVariable, syntax.Call
    return isinstance(node, told)


class _Watching(Interpreter):
    """Takes note of the processes that are started."""

    def __init__(self, lowered: Lowered) -> None:
        super().__init__(lowered.program, compiles=True)
        self.lowered = lowered
        self.births: set[tuple[syntax.Run, int, int]] = set()
        self.values: dict[tuple[int, syntax.Variable], set[int | Made | None]] = (
            defaultdict(set)
        )

    def target(self, action: Action, state: State) -> State | None:
        found = super().target(action, state)
        start = action.leader.start
        if found is not None and start is not None:
            self._note(action, start.process, found)
        return found

    def _note(self, action: Action, slot: int, state: State) -> None:
        edge = self.lowered.steps[action.leader][1]
        assert edge is not None
        (run,) = (n for n in nodes_in(edge.step) if isinstance(n, syntax.Run))
        self.births.add((run, action.leader.process, slot))
        translator = self.lowered.translator
        number = translator.numbers[run.proctype]
        for parameter in translator.model.proctypes[number].parameters:
            address = translator.storage.address(parameter, Frame(slot, number))
            meant = translator.storage.held(parameter, state[address])
            failed = state[-1]  # so no argument is known beforehand
            self.values[slot, parameter].add(None if failed else meant)


def _tried(model: syntax.Model, plan: Plan) -> Job[_Found]:
    """Follow the states in which a process can still be started."""
    lowered = yield from lower(model, plan, assertions=False)
    interpreter, program = _Watching(lowered), lowered.program
    storage = lowered.translator.storage
    starting: dict[tuple[int, int], bool] = {}
    running = [_leading_to_run(flow) for flow in storage.flows]
    for frame, offset in storage.offsets.items():
        for node in storage.flows[frame.proctype].nodes:
            place = frame.slot, offset + node.number
            starting[place] = node in running[frame.proctype]
    seen = {program.initial}
    waiting = dict.fromkeys(seen)
    crowded: list[tuple[int, int, State]] = []
    is_full = False
    while waiting and len(seen) < _MOST_STATES and not is_full:
        state = _next(waiting, crowded, len(seen))
        for _, target in interpreter.steps(state):
            if target[program.error] == FULL:
                is_full = True
            places = [(k, target[s]) for k, s in enumerate(storage.states)]
            if target not in seen and any(starting.get(p, False) for p in places):
                seen.add(target)
                waiting[target] = None
                free = sum(not place for _, place in places)
                heappush(crowded, (free, -len(seen), target))
        yield Progress("reading", _STATE_WORK, 1000 * len(seen))
    births = frozenset(interpreter.births)
    is_complete = not (waiting or is_full)
    return _Found(births, interpreter.values, is_full, is_complete)


def _next(
    waiting: dict[State, None], crowded: list[tuple[int, int, State]], turn: int
) -> State:
    """Take a state in turns: what is near, what takes long, what has most processes."""
    state = next(iter(waiting) if turn % 3 else reversed(waiting))
    while turn % 3 == 1 and crowded:
        found = heappop(crowded)[2]
        if found in waiting:
            state = found
            break
    del waiting[state]
    return state


def _leading_to_run(flow: Flow) -> set[Node]:
    """Return the places from which a process can come to ``run``."""
    found: set[Node] = set()
    grown = True
    while grown:
        grown = False
        for node in flow.nodes:
            if node not in found and any(
                edge.target in found or edge.starts for edge in leaving(node)
            ):
                found.add(node)
                grown = True
    return found


def _narrowed(model: syntax.Model, found: _Found) -> Plan:
    """Return the plan with room for what has been seen."""
    numbers = {p.name: i for i, p in enumerate(model.proctypes)}
    first = [n for n, p in enumerate(model.proctypes) for _ in range(p.active)]
    slots = [{number} for number in first]
    for run, _, slot in found.births:
        while len(slots) <= slot:
            slots.append(set())
        slots[slot].add(numbers[run.proctype])
    assigned = written(model)
    fixed = {
        (slot, parameter): value
        for (slot, parameter), values in found.values.items()
        for value in tuple(values)[:1]
        if len(values) == 1
        and value is not None
        and parameter not in assigned
        and numbers[parameter.proctype or ""] not in first[slot : slot + 1]
    }
    filled = tuple(tuple(sorted(slot)) for slot in slots)
    births = found.births
    if not found.is_complete:  # others may do the same
        births = frozenset((run, -1, slot) for run, _, slot in births)
    return Plan(filled, births, fixed, found.is_complete)
