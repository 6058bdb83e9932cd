"""Whether an automaton accepts the word of a run, and trials of many such words.

A word is searched as the product of the automaton and a system that has one step in
each state, a place of the word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies import instant_search
from ltlpipe.systems.plain_steps import PlainStep, PlainSteps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.runtime.jobs import Job


_PER_STATE = 4.0
"""Units of work of a trial for each state of its product."""


class Acceptance(NamedTuple):
    """Whether a word is accepted, and how many states that took."""

    is_accepted: bool
    states: int


def acceptance(
    table: PropertyAutomaton, letters: Sequence[int], length: int
) -> Job[Acceptance]:
    """Decide whether an automaton accepts a word.

    Parameters
    ----------
    table : PropertyAutomaton
        Over these letters.
    letters : sequence of int
        Those of the prefix, and of the cycle behind it.
    length : int
        How many the prefix has.
    """
    most = len(letters) * table.n_states + 1
    word = _Word(letters, length)
    outcome = yield from instant_search.search(word, table, max_states=most)
    return Acceptance(outcome.status == instant_search.FOUND, outcome.states)


class Trials:
    """Tries whether runs are violations, with a budget for all of them.

    `left` is what is left of the units of work; without an automaton each run is one.
    """

    def __init__(
        self, phase: str, table: PropertyAutomaton | None, most_work: float
    ) -> None:
        self.left = most_work
        self.table, self._ticks = table, Ticks(phase)

    def spent(self, work: float) -> Job[None]:
        """Count work, and yield if it is time to."""
        self.left -= work
        if self._ticks.over(work):
            yield self._ticks.progress

    def violates(self, letters: Sequence[int], length: int) -> Job[bool]:
        """Whether the automaton accepts a word, whose prefix has a length."""
        if self.table is None:
            return True
        accepted = yield from acceptance(self.table, letters, length)
        yield from self.spent(_PER_STATE * accepted.states)
        return accepted.is_accepted


class _Word(PlainSteps):
    """A word as a system with one step in each state, which is a place in it."""

    def __init__(self, letters: Sequence[int], length: int) -> None:
        self._letters, self._length = letters, length

    def initial(self) -> int:
        """Return the first place."""
        return 0

    def each_step(self, state: int, wanted: Any = None) -> Iterator[PlainStep]:
        """Yield the only step from a place."""
        del wanted  # it has no name
        following = state + 1
        if following == len(self._letters):
            following = self._length
        yield PlainStep(state, self._letters[state], 0, following)
