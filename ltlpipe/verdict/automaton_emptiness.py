"""Emptiness of automata of Spot, by any of our searches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.graph_steps import edge_of, lasso_automaton
from ltlpipe.automata.graphs import is_graph
from ltlpipe.question.options import AUTO
from ltlpipe.runtime.display import Displayed
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.verdict.checking import check
from ltlpipe.verdict.verdict import UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe.question.answer import Plan, Statistics
    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.verdict.verdict import Lasso


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


@dataclass(frozen=True, eq=False)
class AutomatonRun:
    """An accepting run of an automaton of Spot: ``prefix cycle cycle ...``.

    Parameters
    ----------
    prefix, cycle : list of RunStep
        The cycle has at least one.
    lasso : Lasso
        The same run with one valuation for each step.
    """

    prefix: list[RunStep]
    cycle: list[RunStep]
    lasso: Lasso = field(repr=False)
    _graph: Any = field(repr=False)

    def __str__(self) -> str:
        """Return the states, those of the cycle in parentheses.

        Examples
        --------
        >>> import spot
        >>> str(is_empty(spot.translate("a & X G !a")).run)
        '1 (0)'
        """
        cycle = " ".join(str(step.state) for step in self.cycle)
        return " ".join([*(str(step.state) for step in self.prefix), f"({cycle})"])

    @property
    def word(self) -> Any:
        """A word that is accepted, a ``spot.twa_word``; see `Lasso.word`."""
        return self.lasso.word

    def as_twa(self) -> Any:
        """Return the run as a ``spot.twa_graph`` in the shape of a lasso."""
        numbers = self.lasso.actions.tolist()
        return lasso_automaton(self._graph, numbers, len(self.prefix))


@dataclass(frozen=True, eq=False)
class EmptinessResult(Displayed):
    """Whether an automaton accepts no word.

    Parameters
    ----------
    empty : bool or None
        None if a limit was hit.
    reason : str or None
        Why it is not known, or why there is no run: the limit that was hit.
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


def is_empty(
    automaton: Any,
    *,
    emptiness: str = AUTO,
    timeout: float | None = None,
    memory: float | None = None,
    max_states: int | None = None,
    cpu_time: float | None = None,
    bitstate: float | None = None,
    seed: int | None = None,
    workers: int = 1,
    lasso: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> EmptinessResult:
    """Decide whether an automaton of Spot accepts no word, whatever its acceptance.

    Parameters
    ----------
    automaton : spot.twa_graph
        Or a Kripke structure.
    emptiness : str
        The emptiness check, as for `ltlpipe.check`.  One that does not take the
        acceptance of the automaton searches its product with an automaton of one state
        that does, made by Spot.
    timeout, memory, max_states, cpu_time, bitstate, seed, workers, progress : optional
        As for `ltlpipe.check`.
    lasso : bool
        Whether an accepting run is extracted and replayed.

    Returns
    -------
    EmptinessResult

    Raises
    ------
    UnsupportedError
        It is no automaton, is alternating, or the search is none for it.

    Examples
    --------
    >>> import spot
    >>> str(is_empty(spot.translate("G F a")).run)
    '(0)'
    """
    if not is_graph(automaton) and not isinstance(automaton, SpotGraph):
        raise UnsupportedError(
            f"automaton= is a spot.twa_graph, not a {type(automaton).__name__}; "
            "ltlpipe.automaton makes one of a formula"
        )
    verdict = check(
        automaton,
        empty=True,
        emptiness=emptiness,
        timeout=timeout,
        memory=memory,
        max_states=max_states,
        cpu_time=cpu_time,
        bitstate=bitstate,
        seed=seed,
        workers=workers,
        lasso=lasso,
        progress=progress,
    )
    graph = automaton.graph if isinstance(automaton, SpotGraph) else automaton
    run = None if verdict.lasso is None else _run_of(verdict.lasso, graph)
    empty = None if verdict.verdict == UNKNOWN else verdict.verdict != VIOLATED
    return EmptinessResult(empty, verdict.reason, run, verdict.plan, verdict.stats)


def _run_of(lasso: Lasso, graph: Any) -> AutomatonRun:
    steps = [
        RunStep(state, *edge_of(graph, number, state))
        for number, state in zip(
            lasso.actions.tolist(), lasso.states[:-1, 0].tolist(), strict=True
        )
    ]
    first = len(lasso.prefix)
    return AutomatonRun(steps[:first], steps[first:], lasso, graph)
