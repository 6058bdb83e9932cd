"""Two words that show that a formula is not interruptible.

Source: S. F. Siegel and Y. Yan, "Action-Based Model Checking: Logic, Automata,
and Reduction", CAV 2020, LNCS 12225, pp. 77-100, Def. 10 and Lemma 2.

Differences from the source, which compares f with intrpt(f) (Theorem 1):

* By Lemma 2 f is interruptible iff it says the same of each word and of its
  interrupt-free form: if it does, words that agree on V, the actions of f, agree
  on f, as they have forms that agree on V and differ at most in which invisible
  actions come behind the last visible one, which f cannot tell apart.  An
  automaton of the words whose interrupt-free form satisfies f is had from one of
  f by loops (`_extended`), so two automata are translated, of f and of its
  negation, and none of the larger intrpt(f), which can take minutes.  A word that
  it finds is a witness at once.
* Before that, a fixed sample of words is looked at.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import sub
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.actions import (
    bit_names,
    cube_of,
    names_in,
    numbered,
    refuse_psl,
    tree_of,
)
from ltlpipe.logic.words import (
    Shape,
    Word,
    evaluate,
    interrupt_free,
    masks,
    other_action,
    satisfies,
)
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.logic.formulas import FormulaLike


@dataclass(frozen=True)
class Witness:
    """Why a formula is not interruptible: two words that agree on its actions."""

    satisfying: Word
    violating: Word

    def visible(self, actions: Sequence[str]) -> str:
        """Say what both words are without invisible actions."""
        form = interrupt_free(self.satisfying, actions)
        if form.cycle[0] in actions:
            return str(form)
        return " ".join(form.prefix) or "nothing"


def witness(formula: FormulaLike) -> Witness | None:
    """Return two words that show that a formula is not interruptible; None if it is.

    The words have been evaluated directly, not by the automaton that found them.

    Raises
    ------
    FormulaError, UnsupportedError
        As for `is_interruptible`.
    """
    tree = tree_of(formula)
    refuse_psl(tree)
    actions = names_in([tree])
    if not actions:
        return None
    word = _sampled(tree, actions) or _found_by_automata(tree, actions)
    return None if word is None else _checked(tree, word, actions)


def _checked(tree: Any, word: Word, actions: list[str]) -> Witness:
    """Evaluate a word and its interrupt-free form."""
    form = interrupt_free(word, actions)
    holds, holds_of_form = satisfies(tree, word), satisfies(tree, form)
    if holds == holds_of_form:
        raise AssertionError(f"{word} and {form} do not differ on {tree}")
    return Witness(word, form) if holds else Witness(form, word)


# --- a witness among a sample of words --------------------------------------

_SHAPES = ((2, 1), (4, 2))  # lengths of prefix and cycle
_N_WORDS = 128


@lru_cache(maxsize=64)
def _sample(
    n_actions: int, prefix: int, cycle: int
) -> tuple[list[Any], dict[int, int], dict[int, int]]:
    """Return words of one shape over 0..n_actions, and where letters stand.

    0 is the invisible action.  The second table is that of the interrupt-free
    forms, unrolled to the same shape.
    """
    rng = random.Random(n_actions)
    words = []
    for _ in range(_N_WORDS):
        few = [0, *rng.choices(range(1, n_actions + 1), k=3)]
        words.append(rng.choices(few, k=prefix + cycle))
    forms = []
    for word in words:
        kept = [letter for letter in word[:prefix] if letter]
        again = [letter for letter in word[prefix:] if letter] or [0]
        again *= cycle // len(again)  # cycles have one or two actions
        forms.append((kept + again * (prefix + 1))[: prefix + cycle])
    return words, masks(words), masks(forms)


def _sampled(tree: Any, actions: list[str]) -> Word | None:
    """Look for a word that differs from its interrupt-free form in a sample."""
    for prefix, cycle in _SHAPES:
        words, *tables = _sample(len(actions), prefix, cycle)
        shape = Shape(len(words), prefix, cycle)
        values = [
            evaluate(
                tree,
                shape,
                {name: where.get(i, 0) for i, name in enumerate(actions, start=1)},
            )
            for where in tables
        ]
        differing = (values[0] ^ values[1]) & shape.firsts
        if differing:
            found = words[((differing & -differing).bit_length() - 1) // shape.length]
            names = [other_action(actions), *actions]
            told = tuple(names[letter] for letter in found)
            return Word(told[:prefix], told[prefix:])
    return None


# --- a witness by automata --------------------------------------------------


def _found_by_automata(tree: Any, actions: list[str]) -> Word | None:
    """Return a word that differs from its interrupt-free form; None if none does."""
    try:
        both = automata_of(tree, actions)
        for form, itself in (both, both[::-1]) if both else ():
            numbers = numbers_of(form, len(actions))
            found = _extended(form, numbers[0]).intersecting_word(itself)
            if found is not None:
                return spelled(found, numbers, actions)
    except RuntimeError as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedError(f"Spot cannot build the automaton: {reason}") from error
    return None


def automata_of(tree: Any, actions: list[str]) -> tuple[Any, Any] | None:
    """Return automata of the words that satisfy a formula, and of those that do not.

    None if there are only words of one of the two kinds.  Spot simplifies the formula
    first: "low" translates even ``FG a & GF b`` for two actions as it is written.
    """
    import spot

    options = spot.tl_simplifier_options(True, True, True)
    over_bits = spot.tl_simplifier(options).simplify(numbered(tree, actions))
    found = []
    for formula in (over_bits, spot.formula_Not(over_bits)):
        automaton = spot.translate(formula, "GeneralizedBuchi", "low")
        if automaton.is_empty():
            return None
        found.append(automaton)
    return found[0], found[1]


def numbers_of(automaton: Any, n_actions: int) -> list[Any]:
    """Return the BDDs of the numbers of no action, the first, the second, ..."""
    import buddy

    bits = [automaton.register_ap(name) for name in bit_names(n_actions)]
    cubes = [cube_of(number, bits) for number in range(1, n_actions + 1)]
    return [reduce(sub, cubes, buddy.bddtrue), *cubes]


def _extended(automaton: Any, invisible: Any) -> Any:
    """Return an automaton of the words whose interrupt-free form is accepted.

    Visible actions are read as before and carry one mark more: a run that sees
    it again and again ignores, by loops, what is invisible in between.  A run
    that has read the last visible action may go to a state that accepts all
    words without any, if `automaton` accepts one from where it is.
    """
    import buddy
    import spot

    n_states, n_marks = automaton.num_states(), automaton.num_sets()
    never = automaton.acc().is_f()
    extended = spot.make_twa_graph(automaton.get_dict())
    extended.copy_ap_of(automaton)
    extended.set_generalized_buchi(n_marks + 1)
    extended.new_states(n_states + 1)
    extended.set_init_state(automaton.get_init_state_number())
    if never:
        return extended
    everything = list(range(n_marks + 1))
    extended.new_edge(n_states, n_states, invisible, everything)
    for state in range(n_states):
        extended.new_edge(state, state, invisible, [])
    for edge in automaton.edges():
        label = edge.cond - invisible
        if label != buddy.bddfalse:
            extended.new_edge(edge.src, edge.dst, label, [*edge.acc.sets(), n_marks])
    for state in _accepting_without_actions(automaton, invisible):
        extended.new_edge(state, n_states, invisible, [])
    return extended


def _accepting_without_actions(automaton: Any, invisible: Any) -> list[int]:
    """Return the states from which a word without visible actions is accepted."""
    import buddy
    import spot

    n_states = automaton.num_states()
    quiet = spot.make_twa_graph(automaton.get_dict())
    quiet.copy_ap_of(automaton)
    quiet.set_generalized_buchi(automaton.num_sets())
    quiet.new_states(n_states + 1)
    for edge in automaton.edges():
        label = edge.cond & invisible
        if label != buddy.bddfalse:
            quiet.new_edge(edge.src, edge.dst, label, edge.acc)
    quiet.set_init_state(n_states)
    for state in range(n_states):  # so that all are looked at
        quiet.new_edge(n_states, state, invisible)
    components = spot.scc_info(quiet)
    return [
        state
        for state in range(n_states)
        if components.is_useful_scc(components.scc_of(state))
    ]


def spelled(word: Any, numbers: list[Any], actions: list[str]) -> Word:
    """Return a word of Spot as actions."""
    import buddy

    names = [other_action(actions), *actions]

    def letter(label: Any) -> str:
        return next(
            name
            for name, cube in zip(names, numbers, strict=True)
            if label & cube != buddy.bddfalse
        )

    word.simplify()
    return Word(tuple(map(letter, word.prefix)), tuple(map(letter, word.cycle)))
