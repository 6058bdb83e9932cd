"""Explicit automata as searches take them, for tests of the searches."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import Limits, drive
from ltlpipe.search.product import make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems.packing import pack
from tests.oracles import reaches

NAMES = sorted(SEARCHES)


@dataclass(frozen=True)
class Explicit:
    """An automaton whose initial state is 0, with marks on its transitions."""

    n_states: int
    n_marks: int
    transitions: tuple[tuple[int, int, int], ...]  # src, marks, dst
    known_weak: bool | None = None  # spares finding out where it is large

    @property
    def is_state_based(self) -> bool:
        """Whether one mark at most lies on all transitions that leave a state."""
        kinds = {(src, marks) for src, marks, _ in self.transitions}
        return self.n_marks <= 1 and len(kinds) == len({src for src, _ in kinds})

    @property
    def is_weak(self) -> bool:
        """Whether the states of an SCC carry the mark together or not at all."""
        if self.known_weak is not None:
            return self.known_weak
        if not self.is_state_based:
            return False
        marked = {src for src, marks, _ in self.transitions if marks}
        return self.n_marks == 0 or all(
            scc <= marked or not scc & marked for scc in self.sccs()
        )

    @property
    def is_terminal(self) -> bool:
        """Whether it is weak: with one letter, a state on a cycle accepts the word."""
        return self.is_weak

    def sccs(self) -> set[frozenset[int]]:
        """The SCCs that have a transition and can be reached."""
        followers: list[set[int]] = [set() for _ in range(self.n_states)]
        for src, _, dst in self.transitions:
            followers[src].add(dst)
        after = [
            {t for t in range(self.n_states) if reaches(followers, s, t)}
            for s in range(self.n_states)
        ]
        return {
            frozenset(t for t in after[s] if s in after[t])
            for s in range(self.n_states)
            if s in after[s] and (s == 0 or s in after[0])
        }

    def has_accepting_cycle(self) -> bool:
        """Whether a reachable SCC has a transition with each mark inside it."""
        for scc in self.sccs():
            seen = 0
            for src, marks, dst in self.transitions:
                if src in scc and dst in scc:
                    seen |= marks
            if seen == (1 << self.n_marks) - 1:
                return True
        return False


@st.composite
def automata(draw, *, max_states=9, max_marks=3, state_based=False, weak=False):
    """Automata with self-loops, dead ends and unreachable parts.

    Weak ones are drawn with a rank per state that no transition decreases, and
    a mark per rank.
    """
    state_based |= weak
    n_states = draw(st.integers(1, max_states))
    n_marks = draw(st.integers(0, 1 if state_based else max_marks))
    states = st.integers(0, n_states - 1)
    marks = st.integers(0, (1 << n_marks) - 1)
    pairs = draw(st.lists(st.tuples(states, states), max_size=2 * n_states))
    if weak:
        ranks = draw(st.lists(st.integers(0, 3), min_size=n_states, max_size=n_states))
        of_rank = draw(st.lists(marks, min_size=4, max_size=4))
        pairs = [(s, t) if ranks[s] <= ranks[t] else (t, s) for s, t in pairs]
        rows = [(src, of_rank[ranks[src]], dst) for src, dst in pairs]
    elif state_based:
        of_state = draw(st.lists(marks, min_size=n_states, max_size=n_states))
        rows = [(src, of_state[src], dst) for src, dst in pairs]
    else:
        rows = [(src, draw(marks), dst) for src, dst in pairs]
    return Explicit(n_states, n_marks, tuple(dict.fromkeys(rows)))


def explicit(n_states, edges, accepting, *, weak=None):
    """A Büchi automaton with accepting states."""
    rows = tuple((src, int(src in accepting), dst) for src, dst in edges)
    return Explicit(n_states, 1, rows, weak)


def suits(name, automaton):
    """Whether a search takes this acceptance."""
    search = SEARCHES[name]()
    if name in WEAK_ONLY:
        return automaton.is_weak
    return search.generalised or automaton.is_state_based


WEAK_ONLY = {"dfs-weak", "reach-terminal"}

LOOKS_TWICE = {"gmz04", "couvreur99-fig5"}
"""Searches that generate every transition at least twice."""


def problem_of(automaton: Explicit) -> Any:
    """The product of an automaton with a system of one state and one action."""
    system = Network([LTS.from_transitions([(0, "step", 0)])])
    rows = sorted(automaton.transitions, key=lambda t: t[0])
    counts = np.bincount([t[0] for t in rows], minlength=automaton.n_states)
    table = PropertyAutomaton(
        n_states=automaton.n_states,
        initial=0,
        n_letters=1,
        first_edge=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        edge_dst=np.array([t[2] for t in rows], dtype=np.int32),
        edge_marks=np.array([t[1] for t in rows], dtype=np.uint32),
        n_marks=automaton.n_marks,
        state_based=automaton.is_state_based,
        weak=automaton.is_weak,
        terminal=automaton.is_terminal,
    )
    letters = np.zeros(1, dtype=np.int32)
    packed = pack(system, letters, extra_values=automaton.n_states)
    return make_problem(packed, table)


@dataclass(frozen=True)
class Run:
    """How a search over an explicit automaton ended; states are its own."""

    status: Status
    states: int
    transitions: int
    max_depth: int
    details: tuple[tuple[str, int], ...]
    prefix: tuple[int, ...] | None
    cycle: tuple[int, ...] | None


def run(name: str, automaton: Explicit, *, max_budget: int | None = None) -> Run:
    """Search an automaton to the end and translate its lasso."""
    search = SEARCHES[name]()(problem_of(automaton))
    return outcome_of(search, max_budget)


def outcome_of(search: Any, max_budget: int | None = None) -> Run:
    """Drive a search to its end, checking its invariants after every step."""

    def check(states: int, depth: int) -> None:
        if search.registers[Reg.TOP]:
            search.assert_consistent()

    small = max_budget is not None
    outcome = drive(
        search, Limits(), max_budget=max_budget, progress=check if small else None
    )
    prefix = cycle = None
    if outcome.status == Status.FOUND:
        lasso = search.lasso()
        rows = search.store.rows
        names = rows[:, 0].astype(int)
        prefix = tuple(names[lasso.prefix].tolist())
        cycle = tuple(names[lasso.cycle].tolist())
    registers = search.registers
    return Run(
        outcome.status,
        int(registers[Reg.VISITED]),
        int(registers[Reg.TRANSITIONS]),
        int(registers[Reg.MAX_DEPTH]),
        tuple(sorted(search.statistics().items())),
        prefix,
        cycle,
    )


def replay(
    automaton: Explicit, prefix: tuple[int, ...], cycle: tuple[int, ...]
) -> None:
    """Assert that a lasso is an accepting run."""
    between: dict[tuple[int, int], int] = {}
    for src, marks, dst in automaton.transitions:
        between[src, dst] = between.get((src, dst), 0) | marks
    assert prefix[0] == 0
    assert prefix[-1] == cycle[0] == cycle[-1]
    assert len(cycle) > 1
    seen = 0
    for path in (prefix, cycle):
        for step in itertools.pairwise(path):
            assert step in between
    for step in itertools.pairwise(cycle):
        seen |= between[step]
    assert seen == (1 << automaton.n_marks) - 1
