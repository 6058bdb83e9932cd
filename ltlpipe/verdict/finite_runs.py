"""Questions about finite runs and about the past, as questions of the usual kind.

With ``--semantics finite`` a formula shall hold of the words of all finite runs that
are maximal: those that end in a deadlock, or in a final state, from where they may also
go on.  Final are the final markings of a net, and the states of a network in which all
components accept that have accepting states.  Infinite runs do not matter.

Such a question, and one whose formula has past operators, is asked with the automaton
of the violations (`ltlpipe.automata.translation`) of the same system, in which what
ends repeats itself.  So every search and every reduction answers it as any other.

Words have a letter at least.  A run of a network without a step, whose initial state is
one in which runs end, is not judged, and there is a warning.

A run that was found is cut where the word violates the formula: that is judged by
the definition of LTL on finite words, without automata.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from ltlpipe.automata import translation
from ltlpipe.logic.propositions.syntax import Deadlock, uses_step
from ltlpipe.logic.words import holds, holds_on_lasso
from ltlpipe.question.conditions import DERIVED, refuse
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import ReplayError, UnsupportedError, silenced, warn
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.shortening import is_open, shortened, shortened_prefix
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import END, Network, ended, numbers_before
from ltlpipe.systems.propositions.binding import DEADLOCK
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.verdict.judgement import finite_run, spelt_for
from ltlpipe.verdict.lasso import FINAL, MAXIMAL, spelling_of
from ltlpipe.verdict.replay import REPLAYING, enabled_actions, holding, run_replayed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.options import Options
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System
    from ltlpipe.systems.runs import Run
    from ltlpipe.verdict.lasso import FiniteRun, Lasso

_ROUNDS = 64
"""Rounds of a cycle in which a run is cut; it has to be in the first, mostly."""

_NEAR = 50_000
"""States in which a shorter run is looked for."""

_PER_LETTER = 2.0
"""Microseconds for which a letter of a word is judged, roughly."""

FINAL_STATES = "final"
"""The proposition that holds in final states, where a model has some."""


def is_derived(asked: Property, options: Options) -> bool:
    """Whether a question is asked with an automaton that is made of its formula.

    Raises
    ------
    UnsupportedError
        It is, and an option does not go with that.
    """
    formula = asked.formula
    if not options.finite and (formula is None or not formula.history):
        return False
    refuse(DERIVED, options, asked)
    return True


def derived(
    system: System, asked: Property, options: Options
) -> Job[tuple[System, Property]]:
    """Return the system and the automaton with which a question is asked."""
    formula = asked.formula
    assert formula is not None
    if not options.finite:
        violations = yield from translation.of_infinite_words(formula)
    elif isinstance(system, Network):
        initial = np.array([lts.initial for lts in system.components])
        if _Word(system, formula, options).ends_in(initial) is not None:
            warn("a run ends in the initial state: that without a step is not judged")
        system = ended(system)
        violations = yield from translation.of_actions(formula, END)
    elif isinstance(system, Model):
        meanings = _meanings(system, formula, options)
        steps = [name for name, means in meanings.items() if uses_step(means)]
        ends = [DEADLOCK, *_final(system)]
        violations = yield from translation.of_states(formula, ends, DEADLOCK, steps)
    else:
        raise AssertionError("graphs are refused")
    return system, Property(violations=violations, declared=formula.alphabet)


def _meanings(
    system: Model, formula: Formula, options: Options
) -> dict[str, Expression]:
    with silenced():  # unknown names have been reported already
        return bound_propositions(system, Property(formula), options)


def _final(model: Model) -> list[str]:
    """Return the proposition of final states, if there are any.

    Raises
    ------
    UnsupportedError
        What ends has the name of something else.
    """
    known = model.vocabulary
    if not isinstance(model.meaning(DEADLOCK), Deadlock):
        message = f"something in the model is called {DEADLOCK!r}"
        raise UnsupportedError(f"--semantics=finite: {message}")
    if FINAL_STATES not in known.facts:
        return []
    if FINAL_STATES in known.variables:
        message = f"final markings, and something else that is called {FINAL_STATES!r}"
        raise UnsupportedError(f"--semantics=finite: the model has {message}")
    return [FINAL_STATES]


def has_final(system: System) -> bool:
    """Whether a run may end in a final state that is no deadlock."""
    if isinstance(system, Network):
        return system.has_acceptance
    return isinstance(system, Model) and bool(_final(system))


def derivation(system: System, options: Options) -> str:
    """Say in a plan how a question is derived."""
    if not options.finite:
        return "past operators are history variables of the automaton"
    final = " or a final state" if has_final(system) else ""
    return f"the words are those of finite runs, which end in a deadlock{final}"


def near(question: Question, run: Run, *, unfolded: bool) -> Job[Run]:
    """Return a run of a derived question with few steps, if others are near."""
    answered = question
    if unfolded:
        answered = yield from question.unfolded()
    else:
        known = yield from question.unfolded_run(run, force=True)
        if known is None:
            return run
        run, answered = known, (yield from question.unfolded())
    if is_open(run):
        run = yield from shortened_prefix(answered, run, _NEAR)
    else:
        best = yield from shortened(answered, run, most_states=_NEAR)
        run = best.run
    return question.refolded(run, answered)


def cut(system: System, formula: Formula, options: Options, run: Run) -> Job[FiniteRun]:
    """Return the finite run that violates a formula and begins like a run.

    Parameters
    ----------
    system : Network or Model
        As it was given.
    formula : Formula
        Of finite words.
    options : Options
        Those of the question.
    run : Run
        Of the system that `derived` returns.

    Raises
    ------
    ReplayError
        There is none: a bug.
    """
    word = _Word(system, formula, options)
    actions, states, length = run
    if isinstance(system, Network):
        actions = numbers_before(system)[actions]
    n_cycle = len(actions) - length
    ticks = Ticks(REPLAYING, unit_work=_PER_LETTER)
    for k in count():
        if k > length + _ROUNDS * n_cycle:
            break
        place = k if k < len(actions) else length + (k - length) % n_cycle
        kind = word.ends_in(states[place])
        yield from ticks.worked(1 if kind is None else k + 1)
        if kind is not None and word.is_violated():
            places = [
                j if j < len(actions) else length + (j - length) % n_cycle
                for j in range(k + 1)
            ]
            taken = np.array([actions[j] for j in places[:k]], dtype=actions.dtype)
            return (yield from word.run(taken, states[places], kind))
        if actions[place] < 0:
            break
        word.append(states[place], int(actions[place]))
    raise ReplayError("no part of the run is a finite run that violates the formula")


def judged_end(
    system: System, formula: Formula, options: Options, run: Run
) -> Job[FiniteRun]:
    """Replay a finite run, all of which is to violate a formula.

    Raises
    ------
    ReplayError
        It is none of the system, does not end where a run may, or satisfies it.
    """
    word = _Word(system, formula, options)
    for state, action in zip(run.states[:-1], run.actions.tolist(), strict=True):
        word.append(state, action)
    kind = word.ends_in(run.states[-1])
    if kind is None:
        raise ReplayError("the run ends neither in a deadlock nor in a final state")
    if not word.is_violated():
        raise ReplayError("the word of the run satisfies the formula")
    return (yield from word.run(run.actions, run.states, kind))


class _Word:
    """The word of a finite run, letter by letter."""

    def __init__(self, system: System, formula: Formula, options: Options) -> None:
        self._system: Any = system
        self._formula = formula
        self._letters: list[tuple[str, ...]] = []
        self._last: tuple[str, ...] = ()
        self._meanings: Mapping[str, Expression] = {}
        self._final: list[Expression] = []
        if isinstance(system, Model):
            self._meanings = _meanings(system, formula, options)
            self._final = [system.meaning(name) for name in _final(system)]

    def append(self, state: np.ndarray, action: int) -> None:
        """Add the letter of a step."""
        if isinstance(self._system, Network):
            taken = self._system.actions[action]
            self._letters.append(() if taken.internal else (taken.name,))
        else:
            self._letters.append(self._holding(state.tolist(), action))

    def _holding(self, state: list[int], action: int) -> tuple[str, ...]:
        interpreter = getattr(self._system, "interpreter", None)
        own = holding if interpreter is None else interpreter.holding
        found: tuple[str, ...] = own(self._meanings, state, action)
        return found

    def ends_in(self, state: np.ndarray) -> str | None:
        """Return the kind of a run that ends in a state; None if none does."""
        row, system = state.tolist(), self._system
        if isinstance(system, Network):
            dead = not enabled_actions(system, row)
            final = system.has_acceptance and all(
                lts.accepting is None or bool(lts.accepting[local])
                for lts, local in zip(system.components, row, strict=True)
            )
        else:
            dead = next(system.each_step(tuple(row)), None) is None
            final = any(
                evaluate(means, row, action=None, dead=dead) for means in self._final
            )
            self._last = self._holding(row, -1) if dead else self._undead(row)
        return MAXIMAL if dead else FINAL if final else None

    def _undead(self, row: list[int]) -> tuple[str, ...]:
        """Return what holds in a state that a run could leave, but does not."""
        return (
            tuple(
                name
                for name, means in self._meanings.items()
                if evaluate(means, row, action=None, dead=False)
            )
            if self._final
            else ()
        )

    def is_violated(self) -> bool:
        """Whether the word up to the state of the last `ends_in` is a violation."""
        word = self._word
        return bool(word) and not holds(self._formula, word)

    @property
    def _word(self) -> list[tuple[str, ...]]:
        if isinstance(self._system, Network):
            return self._letters
        return [*self._letters, self._last]

    def run(self, actions: np.ndarray, states: np.ndarray, kind: str) -> Job[FiniteRun]:
        """Return the run, replayed, with its word."""
        found = yield from finite_run(self._system, actions, states)
        yield from run_replayed(self._system, found, stutters=False, accepting=False)
        spelling = spelling_of(self._formula.propositions, self._word)
        return replace(found, kind=kind, spelling=spelling)


def remembering(
    system: System, formula: Formula, options: Options, lasso: Lasso
) -> Job[Lasso]:
    """Return a lasso that violates a formula with a past, judged by definition.

    Raises
    ------
    ReplayError
        It satisfies it: a bug.
    """
    spelling = yield from spelt_for(system, Property(formula), options, lasso)
    word = [spelling.letters[k] for k in spelling.steps.tolist()]
    if holds_on_lasso(formula, word, len(lasso.prefix)):
        raise ReplayError("by the definition of LTL, the lasso is no violation")
    return replace(lasso, spelling=spelling)
