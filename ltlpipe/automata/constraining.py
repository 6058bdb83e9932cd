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

from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_automata
from ltlpipe.automata.translating import hoa_text, received, subject
from ltlpipe.automata.translation import by_spot, translate
from ltlpipe.runtime import workers

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job


def constrained(violations: Formula | Any | None, constraint: Any) -> Job[Any]:
    """Return the automaton of the violations that a constraint allows.

    Parameters
    ----------
    violations : Formula, spot.twa_graph or None
        A formula that shall hold, or an automaton of the words that shall not be; None
        is all words.
    constraint : spot.twa_graph
        Accepts the words that count; what it has no transition for is not allowed.

    Returns
    -------
    spot.twa_graph

    Raises
    ------
    UnsupportedError
        The product has more than 32 marks, or Spot gives up.
    """
    if violations is None:
        return constraint
    text = yield from workers.call(
        "constrain",
        phase="constraining",
        violations=subject(violations),
        constraint=hoa_text(constraint),
    )
    return parse_automata(text, "constraint")[0]


def product_text(violations: dict[str, str], constraint: str) -> str:
    """Return the product of two automata, the first that of a formula, in HOA."""
    import spot

    if "automaton" in violations:  # both with the same dictionary of BDDs
        first = spot.automaton(violations["automaton"])
    else:
        first = translate(received(violations), "tgba", negate=True)
    second = spot.automaton(constraint)
    return hoa_text(by_spot(lambda: spot.product(first, second)))
