"""Property automata as integer tables over letters.

The letters of a property under action semantics are one for each action that
the formula names and the system has, and letter 0 for all other actions.  A
`PropertyAutomaton` is a table from (state, letter) to transitions; it holds no
BDD and needs no Spot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.runtime.objects import Displayed
from ltlpipe.runtime.workers import can_send

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition

OTHER = 0
"""The letter of every action that the property does not name."""


@dataclass(frozen=True, repr=False)
class PropertyAutomaton(Displayed):
    """What runs are searched for, over letters 0..n_letters-1.

    Parameters
    ----------
    n_states, initial, n_letters : int
        States are 0..n_states-1.
    first_edge : int32[n_states * n_letters + 1]
        The transitions of state q on letter a are those from
        ``first_edge[q * n_letters + a]`` up to the next entry.
    edge_dst : int32[m]
        Their targets.
    edge_marks : uint32[m]
        Their marks, as bits.
    n_marks : int
        A run is accepted iff it sees each of these marks infinitely often, unless
        there is a `condition`.
    state_based : bool
        Whether the transitions that leave a state all carry the same marks.
    weak : bool
        Whether all cycles of an SCC are accepting or none is.  Then a state
        accepts, by one mark on all transitions that leave it, iff its SCC has an
        accepting cycle; without any mark, all states are such.
    terminal : bool
        Whether it is weak and every state of an accepting SCC accepts all words.
    system_marks : int
        Marks of the system that letters tell: letter ``a << system_marks | m``
        is action letter `a` taken with the marks `m`.
    condition : Condition, optional
        The condition on the marks seen infinitely often, if it is not all of them:
        marks 0 to ``n_marks - 1`` all occur in it, and some in Fin or below "or".  No
        weak automaton has one.
    """

    n_states: int
    initial: int
    n_letters: int
    first_edge: np.ndarray
    edge_dst: np.ndarray
    edge_marks: np.ndarray
    n_marks: int
    state_based: bool
    weak: bool = False
    terminal: bool = False
    system_marks: int = 0
    condition: Condition | None = None

    def _sizes(self) -> dict[str, int]:
        return {"state": self.n_states, "letter": self.n_letters}

    @property
    def is_buchi(self) -> bool:
        """Whether one mark on states, or none, is all of its acceptance."""
        return self.state_based and self.n_marks <= 1 and self.condition is None

    @property
    def acceptance(self) -> str:
        """The acceptance condition as HOA writes it."""
        if self.n_states and not len(self.edge_dst):
            return "f"
        if self.condition is not None:
            return str(self.condition)
        return "&".join(f"Inf({mark})" for mark in range(self.n_marks)) or "t"

    @property
    def branching(self) -> int:
        """The largest number of transitions on one letter from one state."""
        return int(np.diff(self.first_edge).max(initial=1))

    def universal_states(self) -> np.ndarray:
        """Return bool[n_states]: the states that certainly accept every word.

        On each letter such a state has a transition with all marks to another one.
        There are none with a `condition`, or if letters tell marks of the system.
        """
        found = np.ones(self.n_states, dtype=np.bool_)
        if self.condition is not None or self.system_marks:
            return ~found
        cells = np.repeat(np.arange(len(self.first_edge) - 1), np.diff(self.first_edge))
        complete = self.edge_marks == (1 << self.n_marks) - 1
        while True:
            kept = complete & found[self.edge_dst]
            covered = np.zeros(len(self.first_edge) - 1, dtype=np.bool_)
            covered[cells[kept]] = True
            following = found & covered.reshape(self.n_states, -1).all(axis=1)
            if (following == found).all():
                return found
            found = following


def _encode(table: PropertyAutomaton) -> dict[str, Any]:
    condition = None if table.condition is None else table.condition.nested()
    return vars(table) | {"condition": condition}


def _decode(told: dict[str, Any]) -> PropertyAutomaton:
    from ltlpipe.automata.conditions import Condition

    condition = told["condition"]
    condition = None if condition is None else Condition.from_nested(condition)
    return PropertyAutomaton(**told | {"condition": condition})


can_send("table", lambda value: isinstance(value, PropertyAutomaton), _encode, _decode)


def universal() -> PropertyAutomaton:
    """Return the automaton that accepts every run, over the letter OTHER."""
    return PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=1,
        first_edge=np.array([0, 1], dtype=np.int32),
        edge_dst=np.zeros(1, dtype=np.int32),
        edge_marks=np.zeros(1, dtype=np.uint32),
        n_marks=0,
        state_based=True,
        weak=True,
        terminal=True,
    )
