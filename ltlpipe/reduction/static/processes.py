"""Groups of the steps of DVE models: the transitions of a process from one state.

A state of a process is *its own* if no transition from it has a message or can fail,
if each writes only what no other process reads or writes, and reads only what no
other process writes; and if a process that is not in a committed state does not come
into one.  Then its transitions are a group (docs/models-por.md has the proof).

Differences from the source (`ltlpipe.reduction.static`): the state of a process is not
one variable, but one fact for each of its states, as guards and propositions ask for
single ones; committed states and failures.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.reduction.static.accesses import accesses, atoms_of_state, expressions
from ltlpipe.reduction.static.cycles import back_edges
from ltlpipe.reduction.static.watched import ANY, Atom
from ltlpipe.systems.ample_kernels import BLOCKED

if TYPE_CHECKING:
    from collections.abc import Set

    from ltlpipe.reduction.static.accesses import Accesses
    from ltlpipe.systems.dve.expressions import Expression
    from ltlpipe.systems.dve.program import Program, Transition


def codes_of_processes(
    program: Program, failing: Set[Expression], atoms: Set[Atom]
) -> np.ndarray:
    """Return the code of each action; see `keep_ample`.

    Parameters
    ----------
    program : Program
        An asynchronous system.
    failing : set of Expression
        Expressions that may fail by themselves.
    atoms : set of Atom
        What the property looks at.

    Returns
    -------
    int64[n_actions]
        Two times the number of a group, from 1 on, and `BLOCKED`; or 0.
    """
    system = _System(program, failing)
    visible = _expanded(program, atoms)
    group_of: dict[tuple[int, int], int] = {}
    blocked: set[Transition] = set()
    for number in range(len(program.processes)):
        own = system.own_states(number)
        for state in sorted(own):
            group_of[number, state] = len(group_of) + 1
        blocked |= system.blocked(number, own, visible)
    codes = [
        2 * group_of.get((action.leader.process, action.leader.source), 0)
        + BLOCKED * (action.leader in blocked)
        for action in program.actions()
    ]
    return np.array(codes, dtype=np.int64)


def _expanded(program: Program, atoms: Set[Atom]) -> set[Atom]:
    """Return what a property looks at, in the atoms of `accesses`."""
    expanded: set[Atom] = set()
    for variable, value in atoms:
        if not program.variables[variable].states:
            expanded.add(Atom(variable))
        elif value == ANY:
            expanded |= atoms_of_state(program, variable)
        else:
            expanded.add(Atom(variable, value))
    return expanded


class _System:
    """Who reads and writes what."""

    def __init__(self, program: Program, failing: Set[Expression]) -> None:
        self.program = program
        self.failing = failing
        self._accesses: dict[Transition, Accesses] = {}
        self._readers: dict[Atom, set[int]] = defaultdict(set)
        self._writers: dict[Atom, set[int]] = defaultdict(set)
        for number, process in enumerate(program.processes):
            for transition in process.transitions:
                found = accesses(program, transition)
                self._accesses[transition] = found
                for atom in found.reads:
                    self._readers[atom].add(number)
                for atom in found.writes:
                    self._writers[atom].add(number)

    def own_states(self, number: int) -> set[int]:
        """Return the states of a process whose transitions are a group."""
        transitions = self.program.processes[number].transitions
        shared = {t.source for t in transitions if not self._is_own(t)}
        return {t.source for t in transitions} - shared

    def _is_own(self, transition: Transition) -> bool:
        """Whether a transition concerns no other process, and cannot fail."""
        number = transition.process
        committed = self.program.processes[number].committed
        if transition.message is not None:
            return False
        if transition.target in committed and transition.source not in committed:
            return False
        if any(part in self.failing for part in expressions(transition)):
            return False
        reads, writes = self._accesses[transition]
        only = {number}
        return all(
            self._readers[atom] <= only and self._writers[atom] <= only
            for atom in writes
        ) and all(self._writers[atom] <= only for atom in reads)

    def blocked(
        self, number: int, own: Set[int], visible: Set[Atom]
    ) -> set[Transition]:
        """Return the transitions of a process's groups that no ample set may have.

        Those that the property sees, and one of each cycle of the others.
        """
        process = self.program.processes[number]
        candidates = [t for t in process.transitions if t.source in own]
        blocked = {t for t in candidates if self._accesses[t].writes & visible}
        rest = sorted(
            (t for t in candidates if t not in blocked), key=lambda t: t.source
        )
        states = self.program.variables[process.state]
        successors: list[list[int]] = [[] for _ in states.states]
        for transition in rest:  # in the order of the numbers of edges
            successors[transition.source].append(transition.target)
        return blocked | {rest[k] for k in back_edges(successors, states.initial)}
