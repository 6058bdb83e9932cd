"""What a settled plan says of the reductions: used, why, or why not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.reduction.components.groups import tree
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import AEC_CLOSED
from ltlpipe.verdict.options import AMPLE, COMPONENTS, DECOUPLING, SYMMETRY, Options

if TYPE_CHECKING:
    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.reduction.symmetry.group import Symmetry
    from ltlpipe.verdict.interruptible import Decision
    from ltlpipe.verdict.verdict import Plan


def note_ample(plan: Plan, options: Options, *, used: bool, reason: str) -> Plan:
    """Say in a plan whether ample sets are used, and why or why not.

    Raises
    ------
    UnsupportedError
        They are not, although the user names them.
    """
    if not used and options.insists_on(AMPLE):
        raise UnsupportedError(f"--reduce ample cannot be used: {reason}")
    if used:
        reductions = (*plan.reductions, AMPLE)
        said = f"ample sets, because {reason}"
    else:
        reductions = plan.reductions
        said = f"no ample sets, because {reason}"
    return replace(plan, reductions=reductions, reasons=(*plan.reasons, said))


def note_components(
    plan: Plan, options: Options, reduced: Reduced | None, decision: Decision
) -> Plan:
    """Say in a plan how components were reduced, and why or why not.

    Parameters
    ----------
    plan : Plan
        Settled.
    options : Options
        What the user asks for.
    reduced : Reduced, optional
        What became of the components; None if nothing was done.
    decision : Decision
        Whether the property is interruptible, or why nothing was done.

    Raises
    ------
    UnsupportedError
        Nothing was done, although the user names it.
    """
    if reduced is None:
        if options.insists_on(COMPONENTS):
            raise UnsupportedError(
                f"--reduce components cannot be used: {decision.reason}"
            )
        said = f"components as they are, because {decision.reason}"
        return replace(plan, reasons=(*plan.reasons, said))
    n_before = len(frozenset().union(*(group.members for group in reduced.groups)))
    if any(group.equivalence == "strong" for group in reduced.groups):
        why = "" if decision.allowed else f", and no more, because {decision.reason}"
        said = f"bisimilar states of components are one{why}"
    else:
        said = (
            f"components, because {decision.reason}: {n_before} became "
            f"{len(reduced.groups)}, with at most {reduced.largest:,} states on the way"
        )
    return replace(
        plan,
        reductions=(*plan.reductions, COMPONENTS),
        reasons=(*plan.reasons, said),
        merges=tuple(line for group in reduced.groups for line in tree(group)),
    )


def choose_decoupled(plan: Plan, name: str) -> Plan:
    """Make a decoupled search that of a plan, before it is settled."""
    reasons = plan.reasons
    if plan.emptiness is None:
        reasons = (f"{name}, because {_WHY_DECOUPLED[name]}", *reasons)
    return replace(plan, emptiness=name, reasons=reasons)


def note_decoupled(plan: Plan, *, used: bool, reason: str) -> Plan:
    """Say in a settled plan whether the search is a decoupled one, and why or why not.

    The reason why not is refused before, if it has to be one.
    """
    if used:
        reductions = (*plan.reductions, DECOUPLING)
        said = f"{DECOUPLING}, because {reason}"
    else:
        reductions = plan.reductions
        said = f"no decoupled search, because {reason}"
    return replace(plan, reductions=reductions, reasons=(*plan.reasons, said))


def choose_symmetric(plan: Plan) -> Plan:
    """Make a search of sets that of a plan, before it is settled."""
    if plan.emptiness is not None:
        return plan
    why = (
        "aec-closed, because sets of states include each other: it stops at what a set "
        "on its stack includes, lets sets be as large as the property lets them, and "
        "goes on as iec where that can deceive it (Baarir & Duret-Lutz 2006, Secs. 3 "
        "and 4; docs/symmetry.md)"
    )
    return replace(plan, emptiness=AEC_CLOSED, reasons=(why, *plan.reasons))


def note_symmetry(plan: Plan, symmetry: Symmetry) -> Plan:
    """Say in a settled plan which components are interchanged."""
    said = (
        f"{SYMMETRY}, because {_classes(symmetry)} can be interchanged (Baarir & "
        "Duret-Lutz 2006, Sec. 6); no decoupled search and no ample sets with it, and "
        "components as they are unless --reduce names them"
    )
    return replace(
        plan,
        reductions=(*plan.reductions, SYMMETRY),
        reasons=(*plan.reasons, said),
    )


def note_sets_too_many(plan: Plan, symmetry: Symmetry, n_sets: int) -> Plan:
    """Say in a settled plan that so many sets were searched before it."""
    said = (
        f"no {SYMMETRY}, although {_classes(symmetry)} can be interchanged: "
        f"{n_sets:,} sets of states did not tell, and this did before more of them "
        "were searched (--reduce symmetry insists)"
    )
    return replace(plan, reasons=(*plan.reasons, said))


def _classes(symmetry: Symmetry) -> str:
    return "; ".join(_listed(names) for names in symmetry.names())


def _listed(names: list[str]) -> str:
    if len(names) > _SHOWN:
        return f"{', '.join(names[: _SHOWN - 1])}, ... {names[-1]} ({len(names)})"
    return ", ".join(names)


_SHOWN = 5
_WHY_DECOUPLED = {
    "decoupled-scc": (
        "only the property accepts: then decoupled states need no references, and a "
        "search for SCCs takes any number of marks (docs/decoupled.md)"
    ),
    "decoupled-ndfs": (
        "components accept: a nested search keeps apart from which accepting states "
        "others are reached (Gnad et al. 2021, Sec. 4)"
    ),
}
