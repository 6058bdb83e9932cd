"""The words of stored lassos: the propositions at steps of which only actions are
stored.

Of a network the actions are the word.  Of a model they are taken again, step by step
from the initial state, as often as there are ways to do so; propositions are evaluated
on the states in between.  So each word belongs to a run of the system.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.logic.actions import refuse_psl
from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.words import Shape, evaluate
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.options import NEVER, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import LtlpipeError, silenced
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import STUTTER_NAME, ModelSteps
from ltlpipe.verdict.recorded import RunFinder, UndecidedError
from ltlpipe.verdict.walkers import Walker, holding_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.verdict.recorded import Record

MOST_STEPS = 100_000
"""Limit on the steps of all runs with the actions of one lasso."""


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

    def words(self, lasso: Record) -> Iterator[Word]:
        """Yield the word of a lasso."""
        letters = [
            () if action in self._silent else (action,)
            for action in (*lasso.prefix, *lasso.cycle)
        ]
        yield _word(letters, len(lasso.prefix))


class ModelWords:
    """The words of lassos of a model over the propositions of some formulas."""

    def __init__(self, model: Model, formulas: Iterable[Formula]) -> None:
        meanings: dict[str, Expression] = {}
        with silenced():  # unknown names have been reported already
            for formula in formulas:
                meanings |= bound_propositions(
                    model, Property(formula), Options(unknown=NEVER)
                )
        steps = ModelSteps(model, list(meanings.values()), limited=False)
        self._walker = Walker(steps, holding_of(list(meanings)))

    def words(self, lasso: Record) -> Iterator[Word]:
        """Yield a word for each way to take the actions of a lasso."""
        finder = RunFinder(self._walker, lasso, stutters=True)
        n_left = MOST_STEPS
        with suppress(UndecidedError):
            for found in finder.runs():
                if isinstance(found, Progress):
                    continue
                n_left -= len(found)
                if n_left < 0:
                    return
                yield _word([taken.holds for _, taken in found], lasso.first)


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
