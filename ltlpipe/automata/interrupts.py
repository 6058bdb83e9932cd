"""Interrupt normal form, and which automata are interruptible or erasable.

A property is *interruptible* for a set of visible letters if inserting, deleting
or exchanging other letters never changes whether a word has it.  Ample sets need
that, and an automaton in *interrupt normal form*.  `first_violation` checks the
form, `norm` brings an automaton into it, and `interruptible_table` compares the two.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, Def. 10, Def. 11, Prop. 6, Prop. 7, Theorem 2.

Differences from the source:

- The automaton that `norm` returns has no states that cannot be reached or that
  accept no word (the source drops the former in its Fig. 1).  It stays in normal
  form: every transition that Def. 11 demands leads from a state that is there
  towards one that is there, so its ends are reached and accept something, too.
- If it turns out weak, its accepting states become those of its accepting SCCs,
  as in every `PropertyAutomaton`.  It stays in normal form: in ``norm(B, V)`` the
  letters outside V lead to DIV, which accepts before and after, to sharp states,
  whose loops on these letters reject, so that they lie in no accepting SCC, or
  nowhere else, and Def. 11 (2) then says nothing.

Cost: the check of the form takes one operation on sets of states for every
pair of a transition on an invisible letter and a letter; `norm` is linear;
`interruptible_table` is as bad as the complementation of Büchi automata.

The words of an automaton, the violations of a property, are *erasable* for a set of
visible letters if they stay words of it when invisible letters are exchanged for each
other, repeated, or deleted (but for infinitely many if there are so many).
`ltlpipe.logic.erasable` has the closure, docs/erasable.md definitions and proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import bits_of, marks_in
from ltlpipe.automata.structure import (
    Draft,
    accepting_only_on,
    cells_of,
    table_of,
    useful_part,
)
from ltlpipe.logic.actions import cube_of
from ltlpipe.logic.erasable import closed
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.automata.letters import PropertyAutomaton


@dataclass(frozen=True)
class Violation:
    """An instance in which Siegel & Yan 2020, Def. 11, is violated."""

    condition: int  # 1, 2 or 3
    states: tuple[int, ...]  # (s1, s2), or (s1, s2, s3) for condition 2
    letters: tuple[int, int]  # (x, a), or (x, y) for condition 3; x, y are invisible
    acceptance: bool = False  # the half of condition 2 about accepting states

    def __str__(self) -> str:
        """Say what there is and what is missing."""
        x, a = self.letters
        s1, s2 = self.states[:2]
        if self.condition == 1:
            found = f"{s1} -{a}-> {s2}, but no s has {s1} -{x}-> s -{a}-> {s2}"
        elif self.condition == 3:
            found = f"{s1} -{x}-> {s2}, but not {s1} -{a}-> {s2}"
        else:
            s3 = self.states[2]
            found = f"{s1} -{x}-> {s2} -{a}-> {s3}, but " + (
                f"{s2} is accepting and neither {s1} nor {s3} is"
                if self.acceptance
                else f"not {s1} -{a}-> {s3}"
            )
        return f"condition {self.condition}: {found}"


def accepting_states(table: PropertyAutomaton) -> frozenset[int]:
    """Return the states whose transitions carry the mark; all if there is none.

    A state without transitions is not accepting unless there are no marks.

    Raises
    ------
    ValueError
        The acceptance of `table` is not one mark, or none, on states.
    """
    if not table.state_based or table.n_marks > 1:
        raise ValueError(f"{table.acceptance} is no acceptance of one mark on states")
    if table.n_marks == 0:
        return frozenset(range(table.n_states))
    first = table.first_edge[:: table.n_letters].tolist()
    marks = table.edge_marks.tolist()
    return frozenset(
        state
        for state in range(table.n_states)
        if first[state] < first[state + 1] and marks[first[state]] & 1
    )


def first_violation(
    table: PropertyAutomaton, visible: Collection[int]
) -> Violation | None:
    """Find where an automaton is not in interrupt normal form.

    The automaton has at most one mark, on states.  The first instance is of condition
    1, else of 2, else of 3; None if there is none.

    Raises
    ------
    ValueError
        The acceptance of `table` is not one mark, or none, on states.
    """
    accepting = bits_of(accepting_states(table))
    rows = _rows(table)
    invisible = _invisible(table, visible)
    # Most states go to the same states on all invisible letters: one stands for all.
    distinct = [list({row[x]: x for x in reversed(invisible)}.items()) for row in rows]
    for s1, row in enumerate(rows):
        for after, x in distinct[s1]:
            reached = [0] * table.n_letters
            for via in marks_in(after):
                reached = [r | more for r, more in zip(reached, rows[via], strict=True)]
            for a, (there, again) in enumerate(zip(row, reached, strict=True)):
                if there & ~again:
                    return Violation(1, (s1, _lowest(there & ~again)), (x, a))
    for s1, row in enumerate(rows):
        for after, x in distinct[s1]:
            for s2 in marks_in(after):
                # Where s3 must be for the acceptance of s2 not to be lost.
                exempt = (accepting >> s1 | ~accepting >> s2) & 1
                for a, (there, direct) in enumerate(zip(rows[s2], row, strict=True)):
                    if there & ~direct:
                        s3 = _lowest(there & ~direct)
                        return Violation(2, (s1, s2, s3), (x, a))
                    if not exempt and there & ~accepting:
                        s3 = _lowest(there & ~accepting)
                        return Violation(2, (s1, s2, s3), (x, a), acceptance=True)
    for s1, ways in enumerate(distinct):
        for after, x in ways:
            for other, y in ways:
                if after & ~other:
                    return Violation(3, (s1, _lowest(after & ~other)), (x, y))
    return None


def norm(table: PropertyAutomaton, visible: Collection[int]) -> PropertyAutomaton:
    """Return an automaton in interrupt normal form.

    It accepts the same words iff these are an interruptible property.  If all letters
    are visible, `table` itself is returned.

    Raises
    ------
    ValueError
        The acceptance of `table` is not one mark, or none, on states.
    """
    accepting = accepting_states(table)
    invisible = _invisible(table, visible)
    if not invisible:
        return table
    diverging = accepting_only_on(table, invisible)  # the set D
    sharp = {
        state: table.n_states + i
        for i, state in enumerate(sorted(accepting - diverging))
    }
    div = table.n_states + len(sharp)
    marked = accepting | {div}
    targets: list[list[list[int]]] = []
    for state, row in enumerate(_rows(table)):
        if state in sharp:
            idle = [sharp[state]]
        elif state in diverging - accepting:
            idle = [state, div]
        else:
            idle = [state]
        targets.append([marks_in(there) for there in row])
        for x in invisible:
            targets[state][x] = idle
    targets += [targets[state] for state in sharp]
    targets.append([[div] if a in invisible else [] for a in range(table.n_letters)])
    cells = [
        [(dst, int(state in marked)) for dst in there]
        for state, row_of_state in enumerate(targets)
        for there in row_of_state
    ]
    draft = Draft(cells, table.n_letters, table.initial, 1, None, table.system_marks)
    return table_of(useful_part(draft))


@remote("deciding interruptibility")
def interruptible_table(table: PropertyAutomaton, visible: Collection[int]) -> bool:
    """Decide whether an automaton is interruptible, by Theorem 2.

    Raises
    ------
    ValueError, RuntimeError
        As for `norm`, or Spot gives up.
    """
    import spot

    normal = norm(table, visible)
    if normal is table:  # every letter is visible (Prop. 4 (1))
        return True
    dictionary = spot.make_bdd_dict()
    ours, normalised = to_spot(table, dictionary), to_spot(normal, dictionary)
    return all(
        not small.intersects(spot.complement(large))
        for small, large in [(normalised, ours), (ours, normalised)]
    )


def to_spot(table: PropertyAutomaton, dictionary: Any = None) -> Any:
    """Return a table as a Spot automaton over the bits of the letter's number.

    Its propositions are ``bit0``, the lowest, ``bit1`` and so on.  Numbers that are no
    letter are on no transition.  Automata that are compared share a `dictionary`.
    """
    import spot  # the first: it says where buddy is

    # isort: split
    import buddy

    graph = spot.make_twa_graph(dictionary or spot.make_bdd_dict())
    cubes = _cubes(graph, table.n_letters)
    graph.set_generalized_buchi(table.n_marks)
    graph.new_states(table.n_states)
    graph.set_init_state(table.initial)
    labels: dict[tuple[int, int, int], Any] = {}
    for at, cell in enumerate(cells_of(table)):
        src, letter = divmod(at, table.n_letters)
        for dst, marks in cell:
            label = labels.get((src, dst, marks), buddy.bddfalse)
            labels[src, dst, marks] = label | cubes[letter]
    for (src, dst, marks), label in labels.items():
        graph.new_edge(src, dst, label, marks_in(marks))
    return graph


def _cubes(graph: Any, n_letters: int) -> list[Any]:
    """Return the letters as BDDs over the bits of their numbers."""
    n_bits = (n_letters - 1).bit_length()
    variables = [graph.register_ap(f"bit{i}") for i in range(n_bits)]
    return [cube_of(letter, variables) for letter in range(n_letters)]


def _invisible(table: PropertyAutomaton, visible: Collection[int]) -> list[int]:
    chosen = set(visible)
    return [letter for letter in range(table.n_letters) if letter not in chosen]


def _rows(table: PropertyAutomaton) -> list[list[int]]:
    """Return by state and letter the set of targets, as bits of an integer."""
    first, dst = table.first_edge.tolist(), table.edge_dst.tolist()
    masks = [bits_of({*dst[start:stop]}) for start, stop in pairwise(first)]
    n = table.n_letters
    return [masks[k : k + n] for k in range(0, len(masks), n)]


def _lowest(mask: int) -> int:
    return (mask & -mask).bit_length() - 1


@remote("deciding erasability")
def erasable_table(table: PropertyAutomaton, visible: Collection[int]) -> bool:
    """Decide whether the words of an automaton survive erasing invisible letters.

    Spot complements the automaton for it, which may take exponential time and memory.
    """
    import spot

    # isort: split
    import buddy

    ours = spot.degeneralize_tba(to_spot(table))
    cubes = _cubes(ours, table.n_letters)
    hidden = [cubes[letter] for letter in _invisible(table, visible)]
    if not hidden:
        return True
    invisible, letters = (reduce(or_, some, buddy.bddfalse) for some in (hidden, cubes))
    return not closed(ours, invisible, letters).intersects(spot.complement(ours))
