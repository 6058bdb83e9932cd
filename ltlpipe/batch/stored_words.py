"""The words of stored lassos: the propositions at steps of which only actions are
stored.

Of a network the actions are the word.  Of a model they are taken again, step by step
from the initial state, as often as there are ways to do so; propositions are evaluated
on the states in between.  So each word belongs to a run of the system.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.logic.actions import refuse_psl
from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.words import Shape, evaluate
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.options import NEVER, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import LtlpipeError, silenced
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.verdict.lasso import STUTTER_NAME, model_lasso
from ltlpipe.verdict.model_replay import spelling_of_states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression

MOST_STEPS = 100_000
"""Limit on the steps of a model for replaying the actions of one lasso."""


class StoredLasso(NamedTuple):
    """A lasso as the result table has it."""

    prefix: tuple[str, ...]
    cycle: tuple[str, ...]

    @property
    def n_steps(self) -> int:
        """The steps of prefix and cycle."""
        return len(self.prefix) + len(self.cycle)


class Word(NamedTuple):
    """An infinite word, for `ltlpipe.logic.words.evaluate`."""

    shape: Shape
    where: dict[str, int]  # the positions at which each proposition holds

    def violates(self, formula: Any) -> bool:
        """Whether it violates a formula of Spot, of LTL."""
        return not evaluate(formula, self.shape, self.where) & 1


class NetworkWords:
    """The words of lassos of a network; `internal` are names that do not count."""

    def __init__(self, internal: Iterable[str] = ()) -> None:
        self._silent = {STUTTER_NAME, *internal}

    def words(self, lasso: StoredLasso) -> Iterator[Word]:
        """Yield the word of a lasso."""
        letters = [
            () if action in self._silent else (action,)
            for action in (*lasso.prefix, *lasso.cycle)
        ]
        yield _word(letters, len(lasso.prefix))


class ModelWords:
    """The words of lassos of a model over the propositions of some formulas."""

    def __init__(self, model: Model, formulas: Iterable[Formula]) -> None:
        self._model = model
        self._meanings: dict[str, Expression] = {}
        with silenced():  # unknown names have been reported already
            for formula in formulas:
                self._meanings |= bound_propositions(
                    model, Property(formula), Options(unknown=NEVER)
                )

    def words(self, lasso: StoredLasso) -> Iterator[Word]:
        """Yield a word for each way to take the actions of a lasso."""
        start = len(lasso.prefix)
        for actions, states in self._ways([*lasso.prefix, *lasso.cycle], start):
            taken = np.array(actions, dtype=np.int32)
            run = model_lasso(self._model, taken, np.array(states), start)
            _, letters, steps = complete(spelling_of_states(self._meanings, run))
            yield _word([letters[k] for k in steps.tolist()], len(run.prefix))

    def _ways(
        self, names: list[str], start: int
    ) -> Iterator[tuple[list[int], list[tuple[int, ...]]]]:
        """Yield actions and states of closed runs with given names.

        States are those before each step and the last one, which is that before the
        step `start`.
        """
        states = [tuple(self._model.initial())]
        actions: list[int] = []
        choices = [self._steps(states[0], names[0])]
        for _ in range(MOST_STEPS):
            step = next(choices[-1], None)
            del actions[len(choices) - 1 :], states[len(choices) :]
            if step is None:
                choices.pop()
                if not choices:
                    return
                continue
            actions.append(step[0])
            states.append(step[1])
            if len(actions) < len(names):
                choices.append(self._steps(step[1], names[len(actions)]))
            elif step[1] == states[start]:
                yield actions, states

    def _steps(
        self, state: tuple[int, ...], name: str
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the steps of a state whose action has a name, each once."""
        steps = dict.fromkeys(self._model.each_step(state))
        if name == STUTTER_NAME and not steps:
            yield -1, state
        for step in steps:
            if self._model.actions[step.action] == name:
                yield step.action, step.state


def _word(letters: Sequence[Sequence[str]], start: int) -> Word:
    where: dict[str, int] = {}
    for place, names in enumerate(letters):
        for name in names:
            where[name] = where.get(name, 0) | 1 << place
    return Word(Shape(1, start, len(letters) - start), where)


Words = NetworkWords | ModelWords


def words_of(
    system: object, formulas: Iterable[Formula]
) -> tuple[Words | None, str | None]:
    """Return the source of the words of a system's lassos, or the reason why there is
    none.

    Parameters
    ----------
    system : System or None
        Whose they are.
    formulas : iterable of Formula
        The formulas to evaluate.
    """
    if isinstance(system, Network):
        internal = {action.name for action in system.actions if action.internal}
        return NetworkWords(internal - system.action_index.keys()), None
    if not isinstance(system, Model):
        return None, "the table has no valuations of its steps"
    try:
        return ModelWords(system, formulas), None
    except LtlpipeError as error:
        return None, str(error)


def formula_or_none(text: str | None) -> Formula | None:
    """Return a formula that can be evaluated on words; None for PSL and automata."""
    if text is None:
        return None
    try:
        formula = parse(text)
        refuse_psl(formula.spot)
    except LtlpipeError:
        return None
    return formula
