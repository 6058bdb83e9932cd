"""Which automata have words that survive erasing invisible letters.

The words of an automaton, the violations of a property, are *erasable* for a set of
visible letters if they stay words of it when invisible letters are exchanged for each
other, repeated, or deleted (but for infinitely many if there are so many).

Source: see `ltlpipe.logic.erasable`; docs/erasable.md has definitions and
proofs.

Cost: that of the complementation of Büchi automata; `erasable_table` decides in a
worker process.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.interrupts import to_spot
from ltlpipe.automata.letters import decode, encode
from ltlpipe.logic.actions import cube_of
from ltlpipe.logic.erasable import closed
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Collection

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job


def erasable_table(table: PropertyAutomaton, visible: Collection[int]) -> Job[bool]:
    """Decide it as `is_erasable` does, in a worker process."""
    answer: bool = yield from workers.call(
        "erasable table",
        phase="deciding erasability",
        table=encode(table),
        visible=sorted(visible),
    )
    return answer


def is_erasable_table(table: dict[str, Any], visible: list[int]) -> bool:
    """Do the work of `erasable_table`."""
    return is_erasable(decode(table), visible)


def is_erasable(table: PropertyAutomaton, visible: Collection[int]) -> bool:
    """Decide whether the words of an automaton survive erasing invisible letters.

    Spot complements the automaton for it, which may take exponential time and memory.
    """
    import spot

    # isort: split
    import buddy

    ours = spot.degeneralize_tba(to_spot(table))
    n_bits = (table.n_letters - 1).bit_length()
    variables = [ours.register_ap(f"bit{i}") for i in range(n_bits)]
    cubes = [cube_of(letter, variables) for letter in range(table.n_letters)]
    chosen = set(visible)
    hidden = [cube for letter, cube in enumerate(cubes) if letter not in chosen]
    if not hidden:
        return True
    invisible, letters = (reduce(or_, some, buddy.bddfalse) for some in (hidden, cubes))
    return not closed(ours, invisible, letters).intersects(spot.complement(ours))
