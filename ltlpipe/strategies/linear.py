"""Proofs by linear programs over the state equation of a net: no states are stored.

It proves that a property holds, or drops out: what it refutes are markings that no run
reaches, letters that none has, and cycles that none repeats (docs/reductions.md).

Other strategies get a question with a simpler formula (`simplified`), by what linear
programs and the first markings say of it (`ltlpipe.linear.proof`).  What is left of the
formula is often stutter-invariant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ltlpipe.linear.constraints import TRUE, constraint_of
from ltlpipe.logic.propositions.syntax import (
    Deadlock,
    Enabled,
    Indexed,
    Operation,
    Taken,
    mentions,
    variables_in,
)
from ltlpipe.question.answer import EMPTY, Answer
from ltlpipe.question.conditions import LINEAR, obstacle
from ltlpipe.question.model import ModelQuestion
from ltlpipe.question.question import NotApplicableError
from ltlpipe.runtime.errors import FormulaError, UnsupportedError
from ltlpipe.runtime.jobs import StoppedError, TooMuchWorkError, bounded
from ltlpipe.runtime.ticks import Ticks
from ltlpipe.strategies.substitutes import (
    about_smaller_net,
    is_of_markings,
    with_places,
)
from ltlpipe.systems.nets.coloured.skeleton import BareNet, Skeleton, skeleton
from ltlpipe.systems.nets.coloured.vocabulary import Coloured
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.propositions.letters import evaluate

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from ltlpipe.linear.constraints import Constraint
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.answer import Trace
    from ltlpipe.question.question import Question
    from ltlpipe.runtime.jobs import Job

SECONDS = 30.0
"""CPU time after which it gives up."""

MOST_ARCS = 500_000
"""Arcs of the largest net about which linear programs are made."""

MOST_PARTS = 50_000
"""Parts of the largest proposition of which constraints are made."""

UNPROVED = "linear programs do not refute all violations"

_WHY = (
    f"{LINEAR}, because linear programs over the state equation refute all violations "
    "(docs/reductions.md)"
)


def job(question: Question, trace: Trace) -> Job[Answer]:
    """Return the job that answers a question, and keeps a trace up to date."""
    found = None
    if isinstance(question, ModelQuestion) and question.system.has_colours:
        found = yield from _found_by_skeleton(question)
        if found is None or not found["proved"]:
            found = None
            question = yield from with_places(question)
    if found is None:
        smaller = yield from about_smaller_net(question)
        found = yield from proof_of(smaller, net_of(smaller))
        if smaller is not question and found["proved"]:
            question = smaller
        elif smaller is not question:
            found = yield from proof_of(question, net_of(question))
    reasons = (_WHY, *question.given.reasons)
    trace.plan = replace(question.given, reasons=reasons)
    trace.note(states=0, transitions=0, details={"programs": found["programs"]})
    if not found["proved"]:
        raise NotApplicableError(UNPROVED)
    return Answer(EMPTY)


def _found_by_skeleton(question: ModelQuestion) -> Job[dict[str, Any] | None]:
    """Return what is proved of a symmetric net without colours; None if nothing is."""
    bare = yield from skeleton_of(question)
    if bare is None:
        return None
    net: Any = bare.system
    found: dict[str, Any] = yield from proof_of(question, net, bare.propositions)
    return found


def skeleton_of(question: ModelQuestion) -> Job[ModelQuestion | None]:
    """Return the same question about the skeleton of a symmetric net.

    None if the property names colours, or the net may subtract what is not there.
    """
    return (yield from question.fact("skeleton", lambda: _bare(question)))


def _bare(question: ModelQuestion) -> Job[ModelQuestion | None]:
    net: Any = question.system
    found = yield from skeleton(net.coloured, Ticks("forgetting colours"))
    if found is None:
        return None
    try:
        bare = question.about(found, unknown="error")
    except (FormulaError, UnsupportedError):
        return None
    known = question.propositions.keys() <= bare.propositions.keys()
    return bare if known else None


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


def proof_of(
    question: Any,
    net: PetriNet,
    meanings: Mapping[str, Expression] | None = None,
    *,
    certified: bool = False,
) -> Job[Any]:
    """Return what `ltlpipe.linear.proof.prove` finds out of a net.

    `meanings` are those of the propositions if the net is not that of the question.
    """
    from ltlpipe.linear.proof import prove

    violated = yield from question.violated()
    propositions = question.propositions
    tokens = question.system.initial()
    unknown: tuple[type, ...] = (Deadlock, Taken, Indexed)
    if isinstance(question.system, BareNet):
        unknown = (*unknown, Enabled)
    initial = {
        name: bool(evaluate(meaning, tokens))
        for name, meaning in propositions.items()
        if not mentions(meaning, *unknown)
    }
    told = propositions if meanings is None else meanings
    return (
        yield from prove(
            arrays_of(net),
            violated,
            meanings_of({name: told[name] for name in propositions}),
            initial,
            exact=getattr(net, "exact", None),
            stutters=question.stutters,
            seconds=SECONDS,
            certified=certified,
        )
    )


def arrays_of(net: PetriNet) -> list[np.ndarray]:
    """Return a net as worker processes get it."""
    import numpy as np

    sets = net.notes.exclusive
    if sum(map(len, sets)) > MOST_ARCS:
        sets = []
    first = np.cumsum([0, *map(len, sets)])
    places = np.array([place for own in sets for place in own], dtype=np.int64)
    initial = np.array(net.initial(), dtype=np.int64)
    return [initial, *net.pre, *net.post, first, places]


def meanings_of(propositions: dict[str, Expression]) -> dict[str, Any]:
    """Return what propositions say of markings; see `ltlpipe.linear.cycles.Meaning`."""
    return {name: _meaning(own) for name, own in propositions.items()}


def _meaning(expression: Expression) -> list[Any]:
    sides = [_constraint(expression, holds=holds) for holds in (True, False)]
    places = None
    if is_of_markings(expression):
        places = sorted({*variables_in(expression)})
    return [*sides, places]


def _constraint(expression: Expression, *, holds: bool) -> Constraint:
    """Return a constraint, which is true if it would be too large."""
    if _n_parts(expression) > MOST_PARTS:
        return TRUE
    return constraint_of(expression, holds=holds)


def _n_parts(expression: Expression) -> int:
    if isinstance(expression, Operation):
        return 1 + sum(map(_n_parts, expression.operands))
    return 1


SIMPLIFYING_SECONDS = 1.0
"""CPU time after which nothing else is tried."""

_WORK = 5e6
"""Microseconds of CPU time after which the formula is left as it is."""


def simplified(question: Question) -> Job[Question]:
    """Return a question about fewer propositions; itself if none is constant."""
    if not isinstance(question, ModelQuestion) or obstacle(question, LINEAR):
        return question
    if not question.simplifies or question.translated is None:
        return question
    if not isinstance(question.system, (PetriNet, Coloured)):
        return question
    asked, key = question, (LINEAR, isinstance(question.system, PetriNet))
    return (yield from question.fact(key, lambda: _simplified(asked)))


def _simplified(question: ModelQuestion) -> Job[ModelQuestion]:
    meanings, found = question.propositions, question.translated
    for net, own in (yield from _nets(question)):
        assert found is not None
        found = (yield from _simpler(net, found, own)) or found
    if found is None or found is question.translated:
        return question
    same = object.__new__(type(question))
    same.__dict__.update(vars(question))
    same._facts = {}
    same.whole = None if isinstance(question.system, PetriNet) else question
    same.translated = fewer = found
    same.propositions = {text: meanings[text] for text in fewer.propositions}
    n_left, n_before = len(same.propositions), len(meanings)
    reason = (
        f"{LINEAR}, because by linear programs and the first markings a simpler "
        f"formula says the same, about {n_left} instead of {n_before} propositions "
        "(docs/reductions.md)"
    )
    same.given = replace(
        question.given,
        reductions=(*question.given.reductions, LINEAR),
        reasons=(*question.given.reasons, reason),
    )
    return same


def _nets(question: ModelQuestion) -> Job[list[tuple[PetriNet, dict[str, Any]]]]:
    """Return nets that tell something of a question; that without colours is first."""
    nets: list[tuple[Any, dict[str, Any]]] = []
    if isinstance(question.system, Coloured):
        bare = yield from skeleton_of(question)
        nets += [] if bare is None else [(bare.system, bare.propositions)]
    net = question.system
    if isinstance(net, PetriNet) and not is_too_large(net):
        nets.append((net, question.propositions))
    return nets


def _simpler(
    net: PetriNet, formula: Formula, meanings: dict[str, Any]
) -> Job[Formula | None]:
    from ltlpipe.linear.proof import simpler

    own = meanings_of({text: meanings[text] for text in formula.propositions})
    steps = not isinstance(net, Skeleton)
    job = simpler(arrays_of(net), formula, own, SIMPLIFYING_SECONDS, steps=steps)
    try:
        return (yield from bounded(job, _WORK))
    except (TooMuchWorkError, StoppedError, RuntimeError):
        return None
