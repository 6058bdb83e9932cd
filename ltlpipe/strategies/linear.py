"""Proofs by linear programs over the state equation of a net: no states are stored.

It proves that a property holds, or drops out: what it refutes are markings that no run
reaches, letters that none has, and cycles that none repeats (docs/reductions.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.linear.constraints import constraint_of
from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Indexed,
    Operation,
    Taken,
    variables_in,
)
from ltlpipe.question.answer import EMPTY, Answer
from ltlpipe.question.conditions import LINEAR
from ltlpipe.question.question import NotApplicableError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    import numpy as np

    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job

SECONDS = 30.0
"""CPU time after which it gives up."""

MOST_ARCS = 500_000
"""Arcs of the largest net about which linear programs are made."""

UNPROVED = "linear programs do not refute all violations"

_WHY = (
    f"{LINEAR}, because linear programs over the state equation refute all violations "
    "(docs/reductions.md)"
)


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    net = net_of(question)
    found = yield from proof_of(question, net)
    reasons = (_WHY, *question.given.reasons)
    trace.plan = replace(question.given, reasons=reasons)
    trace.note(states=0, transitions=0, details={"programs": found["programs"]})
    if not found["proved"]:
        raise NotApplicableError(UNPROVED)
    return Answer(EMPTY)


def net_of(question: Question) -> PetriNet:
    """Return the net that a question is about.

    Raises
    ------
    NotApplicableError
        It is about another system, or one that is too large.
    """
    system: Any = question.system  # type: ignore[attr-defined]
    if not isinstance(system, PetriNet):
        raise NotApplicableError("the system is no place/transition net")
    if is_too_large(system):
        raise NotApplicableError(f"the net has more than {MOST_ARCS:,} arcs")
    return system


def is_too_large(net: PetriNet) -> bool:
    """Whether a net has more arcs than linear programs are made of."""
    return len(net.pre.place) + len(net.post.place) > MOST_ARCS


def proof_of(question: Any, net: PetriNet, *, certified: bool = False) -> Job[Any]:
    """Return what `ltlpipe.linear.proof.prove` finds out."""
    from ltlpipe.linear.proof import prove

    violated = yield from question.violated()
    propositions = question.propositions
    tokens = net.initial()
    initial = {
        name: bool(evaluate(meaning, tokens))
        for name, meaning in propositions.items()
        if is_of_markings(meaning)
    }
    return (
        yield from prove(
            arrays_of(net),
            violated,
            meanings_of(propositions),
            initial,
            stutters=question.stutters,
            seconds=SECONDS,
            certified=certified,
        )
    )


def arrays_of(net: PetriNet) -> list[np.ndarray]:
    """Return a net as worker processes get it."""
    import numpy as np

    return [np.array(net.initial(), dtype=np.int64), *net.pre, *net.post]


def meanings_of(propositions: dict[str, Expression]) -> dict[str, Any]:
    """Return what propositions say of markings; see `ltlpipe.linear.cycles.Meaning`."""
    return {name: _meaning(own) for name, own in propositions.items()}


def _meaning(expression: Expression) -> list[Any]:
    sides = [constraint_of(expression, holds=holds) for holds in (True, False)]
    places = None
    if is_of_markings(expression):
        places = sorted({*variables_in(expression)})
    return [*sides, places]


def is_of_markings(expression: Expression) -> bool:
    """Whether a bound expression depends on nothing but the marking's numbers."""
    if isinstance(expression, Operation):
        return all(map(is_of_markings, expression.operands))
    return not isinstance(expression, (Deadlock, Taken, Indexed))
