"""Emptiness of automata of Spot, by any of our searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.graph_steps import edge_of, lasso_automaton
from ltlpipe.automata.graphs import is_graph
from ltlpipe.question.given_options import takes_options
from ltlpipe.question.option import CHECK
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.objects import ByValue, Displayed
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.verdict.checking import check
from ltlpipe.verdict.verdict import UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.answer import Plan, Statistics
    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.verdict.lasso import Lasso


_SHOWN = 60
"""Characters of a run that its ``repr`` has."""


class RunStep(NamedTuple):
    """One step of a run of an automaton.

    Parameters
    ----------
    state : int
        The state that it leaves.
    label : str
        The condition of the edge.
    marks : tuple of int
        Its marks.
    """

    state: int
    label: str
    marks: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class AutomatonRun(ByValue):
    """An accepting run of an automaton of Spot: ``prefix cycle cycle ...``.

    Parameters
    ----------
    lasso : Lasso
        The run with one valuation for each step.
    """

    lasso: Lasso

    @property
    def graph(self) -> Any:
        """The automaton."""
        return self.lasso.system.graph  # type: ignore[union-attr]

    @cached_property
    def prefix(self) -> list[RunStep]:
        """The steps before the cycle."""
        return self._steps(0, len(self.lasso.prefix))

    @cached_property
    def cycle(self) -> list[RunStep]:
        """The steps that repeat, at least one."""
        return self._steps(len(self.lasso.prefix), len(self.lasso.actions))

    def _steps(self, first: int, end: int) -> list[RunStep]:
        numbers = self.lasso.actions[first:end].tolist()
        states = self.lasso.states[first:end, 0].tolist()
        return [
            RunStep(state, *edge_of(self.graph, number, state))
            for number, state in zip(numbers, states, strict=True)
        ]

    def __str__(self) -> str:
        """Return the states, those of the cycle in parentheses.

        Examples
        --------
        >>> import spot
        >>> str(is_empty(spot.translate("G F a")).run)
        '(0)'
        """
        states = list(map(str, self.lasso.states[:-1, 0].tolist()))
        first = len(self.lasso.prefix)
        return " ".join([*states[:first], f"({' '.join(states[first:])})"])

    def __repr__(self) -> str:
        return f"<AutomatonRun {_shortened(str(self))}>"

    @property
    def word(self) -> Any:
        """A word that is accepted, a ``spot.twa_word``; see `Lasso.word`."""
        return self.lasso.word

    def as_twa(self) -> Any:
        """Return the run as a ``spot.twa_graph`` in the shape of a lasso."""
        numbers = self.lasso.actions.tolist()
        return lasso_automaton(self.graph, numbers, len(self.lasso.prefix))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 2]} …"


@dataclass(frozen=True, eq=False)
class EmptinessResult(ByValue, Displayed):
    """Whether an automaton accepts no word.

    Parameters
    ----------
    empty : bool or None
        None if a limit was hit.
    reason : str or None
        Why emptiness or the run is unknown: the limit that was hit.
    run : AutomatonRun or None
        An accepting run, which has been replayed, if there is one.
    plan : Plan
        How it was found out.
    stats : Statistics
        What that has cost.
    """

    empty: bool | None
    reason: str | None
    run: AutomatonRun | None
    plan: Plan = field(repr=False)
    stats: Statistics = field(repr=False)

    def __bool__(self) -> bool:
        """Refuse to be taken for true or false: it may be unknown.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("the answer may be unknown: use .empty, which is None then")


@takes_options(CHECK)
def is_empty(
    automaton: Any,
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> EmptinessResult:
    """Decide whether an automaton of Spot accepts no word, whatever its acceptance.

    An emptiness check that does not take the acceptance of the automaton searches its
    product with an automaton of one state that does, made by Spot.

    Parameters
    ----------
    automaton : spot.twa_graph
        Or a Kripke structure.
    progress : bool or callable, optional
        As for `ltlpipe.check`.
    **options

    Returns
    -------
    EmptinessResult

    Raises
    ------
    UnsupportedError
        It is not an automaton, is alternating, or an option is not supported.

    Examples
    --------
    >>> import spot
    >>> str(is_empty(spot.translate("G F a"), emptiness="tela").run)
    '(0)'
    """
    if not is_graph(automaton) and not isinstance(automaton, SpotGraph):
        raise UnsupportedError(
            f"automaton= is a spot.twa_graph, not a {type(automaton).__name__}; "
            "ltlpipe.automaton translates a formula"
        )
    verdict = check(automaton, empty=True, progress=progress, **options)
    run = None if verdict.lasso is None else AutomatonRun(verdict.lasso)
    empty = None if verdict.verdict == UNKNOWN else verdict.verdict != VIOLATED
    return EmptinessResult(empty, verdict.reason, run, verdict.plan, verdict.stats)
