"""Explicit automata as searches take them, for tests of the searches."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from ltlpipe import LTS, Network
from ltlpipe.automata.letters import PropertyAutomaton
from ltlpipe.runtime import jobs
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.interning import rows_of
from ltlpipe.search.problem import make_problem
from ltlpipe.search.product import Setting
from ltlpipe.search.registers import Reg, Status
from tests.complete_searches import Limits, drive
from tests.hypothesis_strategies import mark_sets
from tests.invariants import assert_consistent
from tests.oracles import reaches
from tests.packed import pack

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.conditions import Condition

NAMES = sorted(SEARCHES)


@dataclass(frozen=True)
class Explicit:
    """An automaton whose initial state is 0, with marks on its transitions."""

    n_states: int
    n_marks: int
    transitions: tuple[tuple[int, int, int], ...]  # src, marks, dst
    known_weak: bool | None = None  # spares finding out where it is large
    condition: Condition | None = None  # None: each mark infinitely often

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

    def followers(self, avoided: int = 0) -> list[set[int]]:
        """The states one step after each, without the marks of `avoided`."""
        found: list[set[int]] = [set() for _ in range(self.n_states)]
        for src, marks, dst in self.transitions:
            if marks & avoided == 0:
                found[src].add(dst)
        return found

    def sccs(self, avoided: int = 0) -> set[frozenset[int]]:
        """The SCCs that have a transition and can be reached.

        Transitions with marks of `avoided` may lead to them, but not inside them.
        """
        reached = closure(self.followers())[0] | {0}
        after = closure(self.followers(avoided))
        return {
            frozenset(t for t in after[s] if s in after[t])
            for s in range(self.n_states)
            if s in after[s] and s in reached
        }

    def accepts(self, marks: int) -> bool:
        """Whether a run is accepting that sees exactly these marks for ever."""
        if self.condition is None:
            return marks == (1 << self.n_marks) - 1
        return self.condition.satisfied_by(marks)

    def has_accepting_cycle(self) -> bool:
        """Whether some cycles together see marks that accept.

        Largest sets of cycles are looked at, for every set of Fin marks that they
        may avoid: the more Inf marks they see, the better.
        """
        fins = 0 if self.condition is None else self.condition.fin_marks
        for avoided in subsets(fins):
            for scc in self.sccs(avoided):
                seen = 0
                for src, marks, dst in self.transitions:
                    if src in scc and dst in scc and marks & avoided == 0:
                        seen |= marks
                if self.accepts(seen):
                    return True
        return False


def closure(followers: list[set[int]]) -> list[set[int]]:
    """The states that each state reaches in one step or more."""
    states = range(len(followers))
    return [{t for t in states if reaches(followers, s, t)} for s in states]


def subsets(bits: int) -> list[int]:
    """All sets of the marks that are given as bits."""
    found = [0]
    for mark in range(bits.bit_length()):
        if bits >> mark & 1:
            found += [some | 1 << mark for some in found]
    return found


@st.composite
def automata(draw, *, max_states=9, max_marks=3, state_based=False, weak=False):
    """Automata with self-loops, dead ends and unreachable parts.

    Marks are many or few.  Weak ones are drawn with a rank per state that no
    transition decreases, and a mark per rank.
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
        of_state = draw(mark_sets(n_states, n_marks))
        rows = [(src, of_state[src], dst) for src, dst in pairs]
    else:
        of_pair = draw(mark_sets(len(pairs), n_marks))
        rows = [(s, m, t) for (s, t), m in zip(pairs, of_pair, strict=True)]
    return Explicit(n_states, n_marks, tuple(dict.fromkeys(rows)))


def explicit(n_states, edges, accepting, *, weak=None):
    """A Büchi automaton with accepting states."""
    rows = tuple((src, int(src in accepting), dst) for src, dst in edges)
    return Explicit(n_states, 1, rows, weak)


def suits(name, automaton):
    """Whether a search takes this acceptance."""
    search = SEARCHES[name]()
    if automaton.condition is not None:
        fin_less = search.fin_less and not automaton.condition.fin_marks
        return search.emerson_lei or fin_less
    if name in WEAK_ONLY:
        return automaton.is_weak
    return search.generalised or automaton.is_state_based


WEAK_ONLY = {"dfs-weak", "reach-terminal"}

LOOKS_TWICE = {"gmz04", "couvreur99-fig5"}
"""Searches that generate every transition at least twice."""


ONE_STEP = Network([LTS.from_transitions([(0, "step", 0)])])


def problem_of(automaton: Explicit, periods: Sequence[int] = ()) -> Any:
    """The product of an automaton with a system of one action.

    The system has one state, or clocks of these periods, which all tick at each step.
    """
    letters = np.zeros(1, dtype=np.int32)
    clocks = [
        LTS.from_transitions([(i, "step", (i + 1) % n) for i in range(n)])
        for n in periods
    ]
    system = Network([*ONE_STEP.components, *clocks])
    packed = pack(system, letters, extra_values=automaton.n_states)
    return make_problem(packed, table_of(automaton))


def table_of(automaton: Explicit) -> PropertyAutomaton:
    """The automaton as a property of one letter."""
    rows = sorted(automaton.transitions, key=lambda t: t[0])
    counts = np.bincount([t[0] for t in rows], minlength=automaton.n_states)
    return PropertyAutomaton(
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
        condition=automaton.condition,
    )


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
        if search.registers[Reg.TOP] or search.registers[Reg.DEPTH]:
            assert_consistent(search)

    small = max_budget is not None
    outcome = drive(
        search, Limits(), max_budget=max_budget, progress=check if small else None
    )
    prefix = cycle = None
    if outcome.status == Status.FOUND:
        lasso = jobs.run(search.lasso())
        names = names_of(search)
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


def names_of(search: Any) -> np.ndarray:
    """The states of the automaton in the states that a search has stored."""
    word, shift, mask = search.problem.product.settings[
        [Setting.WORD, Setting.SHIFT, Setting.MASK]
    ]
    rows = rows_of(search.store, np.arange(search.n_stored))
    return ((rows[:, word] >> np.uint64(shift)) & np.uint64(mask)).astype(int)


def replay(
    automaton: Explicit, prefix: tuple[int, ...], cycle: tuple[int, ...]
) -> None:
    """Assert that a lasso is an accepting run."""
    between: dict[tuple[int, int], set[int]] = {}
    for src, marks, dst in automaton.transitions:
        between.setdefault((src, dst), set()).add(marks)
    assert prefix[0] == 0
    assert prefix[-1] == cycle[0] == cycle[-1]
    assert len(cycle) > 1
    for path in (prefix, cycle):
        for step in itertools.pairwise(path):
            assert step in between
    seen = {0}  # by one choice of transitions or another
    for step in itertools.pairwise(cycle):
        seen = {some | marks for some in seen for marks in between[step]}
    assert any(map(automaton.accepts, seen))
