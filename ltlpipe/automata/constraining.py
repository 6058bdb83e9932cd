"""Runs that a constraint allows: its automaton moved to the property's side.

A system that is symmetric but for some rules is described as a symmetric one and an
automaton of the runs that the rules allow.  The violations of a property are then those
words that the automaton accepts, too: their product takes the place of the property's
automaton, and the system keeps its symmetry.

Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata using
Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4.

Differences from the source: the constraint is given, not computed from the system.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.bounded import call_bounded
from ltlpipe.automata.hoa import parse_automata
from ltlpipe.automata.translation import by_spot, translate
from ltlpipe.logic.formulas import Formula

if TYPE_CHECKING:
    from collections.abc import Callable


def constrained(
    violations: Formula | Any | None,
    constraint: Any,
    *,
    deadline: float | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Any:
    """Return the automaton of the violations that a constraint allows.

    Parameters
    ----------
    violations : Formula, spot.twa_graph or None
        A formula that shall hold, or an automaton of the words that shall not be; None
        is all words.
    constraint : spot.twa_graph
        Accepts the words that count; what it has no transition for is not allowed.
    deadline : float, optional
        Value of `time.monotonic` at which to give up.
    stopped : callable
        Asked now and then; True ends the work.

    Returns
    -------
    spot.twa_graph

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks, or Spot gives up.
    StoppedError
        The deadline passed, or `stopped` said so.
    """
    if violations is None:
        return constraint
    given: Any = violations
    if not isinstance(violations, Formula):
        given = given.to_str("hoa")
    text = call_bounded(
        partial(_product, given, constraint.to_str("hoa")),
        deadline=deadline,
        stopped=stopped,
    )
    return parse_automata(text, "constraint")[0]


def _product(violations: Formula | str, constraint: str) -> str:
    """Return the product of two automata, the first that of a formula, in HOA."""
    import spot

    if isinstance(violations, str):
        first = spot.automaton(violations)
    else:
        first = translate(violations, "tgba", negate=True)
    second = spot.automaton(constraint)
    return str(by_spot(lambda: spot.product(first, second)).to_str("hoa"))
