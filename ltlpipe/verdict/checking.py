"""From a system and a property to a verdict: the public functions.

The way between the two is `ltlpipe.verdict.portfolio`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import FormulaLike, formula_of
from ltlpipe.logic.generating import quoted
from ltlpipe.question.given_options import (
    manner_of,
    of_question,
    takes_options,
    understood,
)
from ltlpipe.question.option import CHECK, LIVELOCK
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import AUTOMATON, TEXT, TRUTH, expect, several
from ltlpipe.runtime.errors import InputError, UnsupportedError, noting
from ltlpipe.runtime.jobs import StoppedError, run
from ltlpipe.systems.reading import name_of_system, system_job
from ltlpipe.verdict.certification import files_of
from ltlpipe.verdict.inquiry import Inquiry
from ltlpipe.verdict.verdict import Verdict, not_read

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from ltlpipe.runtime.jobs import Job, Progress
    from ltlpipe.systems.reading import SystemLike


@takes_options(CHECK)
def check(
    system: SystemLike,
    formula: FormulaLike | None = None,
    *,
    automaton: Any = None,
    empty: bool = False,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run of `system` satisfies a property.

    Exactly one of `formula`, `automaton` and `empty` is given.

    Parameters
    ----------
    system : Network, Model, SpotGraph, a graph of Spot, or paths
        A result of `ltlpipe.load`, which is not changed, or an argument for it.
        Reading may take as long as the question.
    formula : str, Formula or spot.formula
        LTL in Spot's syntax.  Of a network an atomic proposition names an action, and
        exactly one action happens at each step; of a model it is a comparison, such as
        ``P_1=="CS"``, about the state that a step leaves; of a graph of Spot it is one
        of the graph's.  If components have accepting states, only runs that visit a
        state in which all accept infinitely often count; of an automaton, only runs
        that it accepts.
    automaton : spot.twa_graph or path
        An automaton, or its HOA file, of the negated property: it accepts the
        violations.
    empty : bool
        Ask whether the system, with the acceptance of its components, or as an
        automaton, has no accepting run at all.
    progress : bool or callable, optional
        Whether a bar is shown: below the cell of a notebook, or on standard error if
        that is a terminal.  By default a notebook shows it after a second.  A callable
        is called with a `ltlpipe.runtime.jobs.Progress`, ten times a second or more.
    **options

    Returns
    -------
    Verdict
        `verdict` is "holds", "violated" or "unknown"; `reason` is the limit
        that was hit, else None.  `lasso` is set iff violated and requested.

    Raises
    ------
    FormulaError
        `formula` does not parse, or a proposition names nothing of the system.
    UnsupportedError
        An option or combination is not supported.

    References
    ----------
    .. [1] S. Schwoon and J. Esparza, "A Note on On-The-Fly Verification
       Algorithms", TACAS 2005.
    """
    expect(TRUTH, empty=empty)
    if sum((formula is not None, automaton is not None, empty)) != 1:
        raise UnsupportedError("expected one of a formula, --automaton, and --empty")
    asked = None if formula is None else formula_of(formula)
    chosen, limits = understood(options)
    expect(AUTOMATON.or_none, automaton=automaton)
    read = partial(run, limits=limits, observer=progress)
    with noting() as warned:
        try:
            loaded = read(system_job(system, **manner_of(options)))
            violations = read(automaton_job(automaton))
            constraint = read(automaton_job(chosen.constraint))
        except StoppedError as stopped:
            return not_read(name_of_system(system), stopped.reason, asked)
        inquiry = Inquiry(
            loaded,
            Property(asked, violations),
            chosen,
            constraint,
            files=files_of(system),
        )
        verdict = inquiry.verdict(limits, progress)
    return replace(verdict, warnings=tuple(warned))


def automaton_job(automaton: Any) -> Job[Any]:
    """Return an automaton; a text is HOA, or the path of a HOA file."""
    if not isinstance(automaton, (str, os.PathLike)):
        return automaton
    from ltlpipe.automata.hoa import parse_job, read_job

    text = os.fspath(automaton)
    if not text.startswith("HOA:"):
        return (yield from read_job(text))
    parsed = yield from parse_job(text, "automaton")
    if len(parsed) != 1:
        message = f"expected one automaton, found {len(parsed)}"
        raise InputError(message, file="automaton")
    return parsed[0]


@takes_options(LIVELOCK)
def livelock(
    system: SystemLike,
    progress_actions: Sequence[str],
    *,
    progress: Callable[[Progress], None] | bool | None = None,
    **options: Any,
) -> Verdict:
    """Decide whether every infinite run makes progress again and again.

    Parameters
    ----------
    system : Network, Model, or paths
        As for `check`.
    progress_actions : sequence of str
        The actions that are progress.
    progress : bool or callable, optional
        As for `check`.
    **options

    Returns
    -------
    Verdict
        "violated" if there is a livelock: an infinite run, fair as `fairness` says,
        with finitely many of these actions.

    Raises
    ------
    UnsupportedError
        An action does not exist, or an option is not supported.

    References
    ----------
    .. [1] V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
       Rabin and Fin-less automata", STTT 21 (2019), Sec. 4.3.
    """
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.networks.lts import Network

    progress_actions = several(TEXT, progress_actions, "progress_actions")
    try:
        reading = system_job(system, **manner_of(options))
        system = run(reading, understood(options)[1], observer=progress)
    except StoppedError as stopped:
        return not_read(name_of_system(system), stopped.reason)
    if isinstance(system, SpotGraph):
        raise UnsupportedError(
            "livelock is about actions, and a graph of Spot has none: check a formula "
            "such as GF(progress)"
        )
    if isinstance(system, Network):
        known: Container[str] = system.action_index
    else:
        known = system.vocabulary.actions
    for name in progress_actions:
        if name not in known:
            raise UnsupportedError(
                f"no action of the system is called {name!r}, which is to be progress"
            )
    if not progress_actions:
        raise UnsupportedError("name at least one action that is progress")
    said = "{}" if isinstance(system, Network) else 'action=="{}"'
    parts = [quoted(said.format(name)) for name in progress_actions]
    formula = f"GF({' | '.join(parts)})"
    return check(system, formula, progress=progress, **of_question(options))
