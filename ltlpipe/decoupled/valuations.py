"""Monitors of properties that read valuations, for models as stars.

The state of such a monitor is one of the property's automaton with the valuation of the
propositions.  Each global label lets the automaton read the valuation before it, and
puts the one behind it in its place.  A run that no global label follows any more keeps
its valuation for ever.

Source: none; docs/decoupled.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.automata.structure import accepting_only_on, cells_of
from ltlpipe.decoupled.monitors import Monitor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.decoupled.monitors import Move
    from ltlpipe.decoupled.star.networks import Change, Star


def monitor_of_valuations(star: Star, table: PropertyAutomaton) -> Monitor:
    """Return what watches for the runs of a star that an automaton accepts.

    In a deadlock the monitor moves to a state of its own if the automaton accepts the
    word that repeats the valuation for ever, and stays there, with all marks.
    """
    building = _Building(star, table)
    return building.monitor()


class _Building:
    """A monitor as it grows."""

    def __init__(self, star: Star, table: PropertyAutomaton) -> None:
        self._star, self._table = star, table
        self._cells = cells_of(table)
        accepting = {
            letter: accepting_only_on(table, [letter])
            for letter in {v.letter for v in star.valuations}
        }
        index: dict[tuple[int, int], int] = {(table.initial, 0): 0}
        self._index = index
        self._states = [(table.initial, 0)]
        by_source: dict[int, set[int]] = {}
        for change in star.changes:
            if change is not None:
                by_source.setdefault(change[0], set()).add(change[1])
        for state, seen in self._states:  # grows while it is read
            for dst, _ in self._cell(state, seen):
                for after in (seen, *sorted(by_source.get(seen, ()))):
                    if (dst, after) not in index:
                        index[dst, after] = len(index)
                        self._states.append((dst, after))
        self._lasting = [  # states from which the valuation may stay as it is
            k
            for k, (state, seen) in enumerate(self._states)
            if state in accepting[star.valuations[seen].letter]
        ]

    def _cell(self, state: int, seen: int) -> list[tuple[int, int]]:
        letter = self._star.valuations[seen].letter
        return self._cells[state * self._table.n_letters + letter]

    def monitor(self) -> Monitor:
        """Return the monitor."""
        star, n_marks = self._star, self._table.n_marks
        moves = {change: self._moves(change) for change in set(star.changes)}
        n_states = len(self._states)
        stopped: Move = dict.fromkeys(
            [*self._lasting, n_states], (n_states, (1 << n_marks) - 1)
        )
        resting = [
            k
            for k in self._lasting
            if not star.valuations[self._states[k][1]].is_halted
        ]
        actions = {
            number: (stopped,) if number in star.deadlocks else moves[change]
            for number, (action, change) in enumerate(
                zip(star.network.actions, star.changes, strict=True)
            )
            if not action.internal
        }
        return Monitor(
            n_states=n_states + 1,
            initial=0,
            n_marks=n_marks,
            actions=actions,
            acceptors=(),
            resting=frozenset(resting),
        )

    def _moves(self, change: Change) -> tuple[Move, ...]:
        """Divide the transitions of a label, by state, into partial functions."""
        sources: Sequence[tuple[int, tuple[int, int]]] = [
            (k, pair)
            for k, pair in enumerate(self._states)
            if change is None or pair[1] == change[0]
        ]
        moves: list[Move] = []
        for k, (state, seen) in sources:
            after = seen if change is None else change[1]
            for choice, (dst, marks) in enumerate(self._cell(state, seen)):
                if choice == len(moves):
                    moves.append({})
                moves[choice][k] = (self._index[dst, after], marks)
        return tuple(moves)
