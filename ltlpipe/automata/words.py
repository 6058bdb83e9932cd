"""Words for Spot; whether one violates a property is decided by Spot, in a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.translating import received, subject
from ltlpipe.logic.formulas import Formula
from ltlpipe.logic.generating import quoted
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy as np

    from ltlpipe.runtime.jobs import Job


_MOST_CONDITIONS = 5_000
"""Numbers of letters in the conditions of all propositions of a word."""


def violates(
    asked: Formula | Any, letters: Sequence[Iterable[str]], word: np.ndarray, start: int
) -> Job[bool]:
    """Decide whether a word violates a formula, or is one of an automaton.

    A formula is translated into another automaton than that which was searched: of
    any acceptance that comes easily, without simplification.

    Parameters
    ----------
    asked : Formula or spot.twa_graph
        The automaton is one of the words that violate the property.
    letters : sequence
        The propositions that hold in each letter; at most one if they are actions.
    word : int64[n]
        Numbers of letters.
    start : int
        Where the word goes on behind its last letter.
    """
    answer: bool = yield from workers.call(
        "judge word",
        phase="replaying",
        asked=subject(asked),
        letters=[sorted(names) for names in letters],
        word=word,
        start=start,
    )
    return answer


def word_of(
    propositions: Sequence[str],
    letters: Sequence[Collection[str]],
    word: np.ndarray,
    start: int,
    dictionary: Any = None,
) -> Any:
    """Return a word as a ``spot.twa_word``.

    The propositions that are not in a letter do not hold in it.  Without a BDD
    dictionary Spot's own is used; see `violates`.
    """
    import spot

    texts = [
        " & ".join(
            ("" if name in holding else "!") + quoted(name) for name in propositions
        )
        or "1"
        for holding in letters
    ]
    steps = [texts[letter] for letter in word.tolist()]
    prefix = "".join(f"{step}; " for step in steps[:start])
    text = f"{prefix}cycle{{{'; '.join(steps[start:])}}}"
    given = () if dictionary is None else (dictionary,)
    return spot.parse_word(text, *given)


def is_violation(
    asked: dict[str, str], letters: list[list[str]], word: np.ndarray, start: int
) -> bool:
    """Do the work of `violates`.

    Where that makes them fewer, the propositions of a formula become the bits of the
    number of the letter, of which the word has few: there may be hundreds.
    """
    import spot

    automaton: Any = received(asked)
    if isinstance(automaton, Formula):
        violation = spot.formula_Not(automaton.spot)
        violation, letters = _numbered(violation, letters)
        automaton = spot.translate(violation, "any", "low")
    return accepts(automaton, letters, word.tolist(), start)


def _numbered(formula: Any, letters: list[list[str]]) -> tuple[Any, list[list[str]]]:
    """Replace propositions by conditions on the bits of the number of a letter.

    As they are if they are fewer, or letters so many that conditions would be large.
    """
    import spot

    propositions = [p.ap_name() for p in spot.atomic_prop_collect(formula) or ()]
    occurring: dict[frozenset[str], int] = {frozenset(): 0}  # what holds nowhere
    told = [frozenset(propositions).intersection(names) for names in letters]
    for names in told:
        occurring.setdefault(names, len(occurring))
    bits = [f"happens{bit}" for bit in range((len(occurring) - 1).bit_length())]
    n_held = sum(map(len, occurring))
    if len(bits) >= len(propositions) or n_held > _MOST_CONDITIONS:
        return formula, letters
    meaning = spot.relabeling_map()
    for name in propositions:
        own = [number for names, number in occurring.items() if name in names]
        meaning[spot.formula_ap(name)] = spot.formula_Or(
            [spot.formula(_literals(number, bits)) for number in own]
        )
    numbered = [
        [bit for k, bit in enumerate(bits) if occurring[names] >> k & 1]
        for names in told
    ]
    return spot.relabel_apply(formula, meaning), numbered


def _literals(number: int, bits: Sequence[str]) -> str:
    literals = ["!"[number >> k & 1 :] + bit for k, bit in enumerate(bits)]
    return " & ".join(literals) or "1"


def accepts(
    automaton: Any,
    letters: list[list[str]],
    steps: Sequence[int],
    start: int,
    after: Sequence[Any] = (),
) -> bool:
    """Whether Spot accepts a word that goes on at `start`.

    If that is behind the last letter, any word of the BDDs `after` may follow.
    """
    import spot

    labels, end = labels_of(automaton, letters), len(steps)
    graph = spot.make_twa_graph(automaton.get_dict())
    graph.copy_ap_of(automaton)
    graph.new_states(max(end, start + 1))
    graph.set_init_state(0)
    for k, letter in enumerate(steps):
        graph.new_edge(k, k + 1 if k + 1 < end else start, labels[letter])
    for label in after:
        graph.new_edge(end, end, label)
    # Not `intersects`, which removes Fin first and can need more than 32 marks; and the
    # automaton is the second one, since no place is left to move 32 marks to.
    return not spot.product(graph, automaton).is_empty()


def labels_of(automaton: Any, letters: list[list[str]]) -> list[Any]:
    """Return letters as BDDs over the propositions of an automaton."""
    import spot  # noqa: F401  (the first: it says where buddy is)

    # isort: split
    import buddy

    variables = {p.ap_name(): automaton.register_ap(p) for p in automaton.ap()}
    labels = []
    for names in letters:
        label = buddy.bddtrue
        for name, variable in variables.items():
            literal = buddy.bdd_ithvar if name in names else buddy.bdd_nithvar
            label &= literal(variable)
        labels.append(label)
    return labels
