"""The step of a word after which no continuation satisfies a formula.

A finite word is a bad prefix of a formula if all its continuations violate it
(O. Kupferman and M. Y. Vardi, "Model Checking of Safety Properties", FMSD 19 (2001),
pp. 291-314).  A monitor of the formula, which accepts the words without one, has no
transition for the letter that completes the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_again
from ltlpipe.automata.translating import PHASE, hoa_text, received, subject
from ltlpipe.automata.translation import by_spot
from ltlpipe.automata.words import accepts, labels_of
from ltlpipe.logic.formulas import Formula
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy as np

    from ltlpipe.runtime.jobs import Job


def first_bad_prefix(
    formula: Formula,
    letters: Sequence[Iterable[str]],
    word: np.ndarray,
    start: int,
    *,
    one_at_a_time: bool,
) -> Job[int | None]:
    """Return the length of the shortest bad prefix of a word; None if it has none.

    Parameters
    ----------
    formula : Formula
        What should hold.
    letters : sequence
        The propositions that hold in each letter.
    word : int64[n]
        Numbers of letters.
    start : int
        Where the word goes on behind its last letter.
    one_at_a_time : bool
        Whether propositions are actions: no continuation has two at a step.
    """
    found: int | None = yield from workers.call(
        "bad prefix",
        phase="replaying",
        formula=subject(formula),
        letters=[sorted(names) for names in letters],
        word=word,
        start=start,
        one_at_a_time=one_at_a_time,
    )
    return found


def bad_prefix(
    formula: dict[str, str],
    letters: list[list[str]],
    word: np.ndarray,
    start: int,
    one_at_a_time: bool,
) -> int | None:
    """Do the work of `first_bad_prefix`."""
    monitor = Monitor(_translated(formula, one_at_a_time))
    return monitor.first_bad_prefix([letters[k] for k in word.tolist()], start)


class Monitor:
    """Decides of a word, letter by letter, whether it is a bad prefix.

    Parameters
    ----------
    automaton : spot.twa_graph
        Accepts the words without a bad prefix.
    """

    def __init__(self, automaton: Any) -> None:
        self._automaton = automaton
        self._labels: dict[frozenset[str], Any] = {}
        self.initial: frozenset[int] = frozenset([automaton.get_init_state_number()])

    def after(self, states: frozenset[int], letter: Iterable[str]) -> frozenset[int]:
        """Return the states after a letter; of a bad prefix there are none."""
        import buddy

        names = frozenset(letter)
        if names not in self._labels:
            (self._labels[names],) = labels_of(self._automaton, [sorted(names)])
        label = self._labels[names]
        return frozenset(
            edge.dst
            for state in states
            for edge in self._automaton.out(state)
            if (edge.cond & label) != buddy.bddfalse
        )

    def first_bad_prefix(
        self, word: Sequence[Collection[str]], start: int
    ) -> int | None:
        """Return the length of the shortest bad prefix of a word.

        It goes on at `start` behind its last letter, unless that is its length.
        """
        states = self.initial
        seen: set[tuple[int, frozenset[int]]] = set()
        place, n_steps = 0, 0
        while place < len(word) and (place, states) not in seen:
            seen.add((place, states))
            states = self.after(states, word[place])
            n_steps += 1
            if not states:
                return n_steps
            place = place + 1 if place + 1 < len(word) else start
        return None


def monitor_of(formula: Formula, *, one_at_a_time: bool) -> Job[Monitor]:
    """Return the monitor of a formula; `one_at_a_time` is as in `first_bad_prefix`."""
    import spot

    text: str = yield from workers.call(
        "monitor text",
        phase=PHASE,
        formula=subject(formula),
        one_at_a_time=one_at_a_time,
    )
    return Monitor(parse_again(text, spot.make_bdd_dict()))


def monitor_text(formula: dict[str, str], one_at_a_time: bool) -> str:
    """Return the automaton of a monitor, in HOA."""
    return hoa_text(_translated(formula, one_at_a_time))


def _translated(formula: dict[str, str], one_at_a_time: bool) -> Any:
    """Translate a formula into the automaton of a monitor."""
    import spot

    wanted: Any = received(formula).spot
    if one_at_a_time:
        wanted = spot.formula_And([wanted, _at_most_one(wanted)])
    return spot.translate(wanted, "monitor", "low")


def _at_most_one(formula: Any) -> Any:
    """Return that no two propositions of a formula hold together."""
    import spot

    names = [f'"{p.ap_name()}"' for p in spot.atomic_prop_collect(formula)]
    pairs = [
        f"!({first} & {second})"
        for k, first in enumerate(names)
        for second in names[k + 1 :]
    ]
    return spot.formula(f"G({' & '.join(pairs)})" if pairs else "1")


def every_continuation_violates(
    asked: Formula | Any,
    letters: Sequence[Iterable[str]],
    word: np.ndarray,
    *,
    never: Collection[str],
    one_at_a_time: bool,
) -> Job[bool]:
    """Decide whether a finite word is a bad prefix of any property.

    Parameters
    ----------
    asked : Formula or spot.twa_graph
        The automaton is one of the words that violate the property.
    letters, word
        As in `first_bad_prefix`.
    never : collection of str
        Propositions that hold in no continuation.
    one_at_a_time : bool
        As in `first_bad_prefix`.

    Raises
    ------
    UnsupportedError
        Spot gives up.
    """
    answer: bool = yield from workers.call(
        "judge prefix",
        phase="replaying",
        asked=subject(asked),
        letters=[sorted(names) for names in letters],
        word=word,
        never=sorted(never),
        one_at_a_time=one_at_a_time,
    )
    return answer


def is_bad_prefix(
    asked: dict[str, str],
    letters: list[list[str]],
    word: np.ndarray,
    never: list[str],
    one_at_a_time: bool,
) -> bool:
    """Do the work of `every_continuation_violates`.

    No continuation may be a word of the formula, translated without simplification, or
    of the complement of the automaton.
    """
    import spot

    given: Any = received(asked)
    if isinstance(given, Formula):
        wanted = by_spot(lambda: spot.translate(given.spot, "any", "low"))
    else:
        wanted = by_spot(lambda: spot.complement(given))
    after = _letters_after(wanted, never, one_at_a_time=one_at_a_time)
    return not by_spot(
        lambda: accepts(wanted, letters, word.tolist(), len(word), after)
    )


def _letters_after(
    automaton: Any, never: Collection[str], *, one_at_a_time: bool
) -> list[Any]:
    """Return what may hold in a step of a continuation, as BDDs."""
    import buddy

    names = [p.ap_name() for p in automaton.ap()]
    free = [name for name in names if name not in never]
    if one_at_a_time:
        return labels_of(automaton, [[], *([name] for name in free)])
    label = buddy.bddtrue
    for name in names:
        if name in never:
            label &= buddy.bdd_nithvar(automaton.register_ap(name))
    return [label]
