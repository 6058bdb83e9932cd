"""The plan: which automaton, which reductions, which search, and why."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ltlpipe.automata.conditions import shape_of
from ltlpipe.question.answer import Plan
from ltlpipe.question.conditions import ALPHABET, AUTO, BITSTATE
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import (
    DECOUPLED,
    POWERSET,
    SEARCHES,
    SHARED,
    takes_any_marks,
)

if TYPE_CHECKING:
    from ltlpipe.automata.conditions import Condition, Fairness
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.question.options import Options

_SECTION = "(Schwoon & Esparza 2005, Sec. 5.3)"

_TAKES_FIN = {"rabin": "tgra", "rabin-parallel": "tgra", "tela": "tela"}
"""The default acceptance for a search that supports Fin."""


def make_plan(options: Options, *, has_property: bool, has_fin: bool = False) -> Plan:
    """Choose the kind of automaton, and the search if the user names it.

    `settle` makes the choices that depend on the automaton.

    Parameters
    ----------
    options : Options
        What the user asks for.
    has_property : bool
        Whether there is a formula or an automaton; otherwise only the system's own
        acceptance counts.
    has_fin : bool
        Whether it is an automaton whose acceptance has Fin, or may turn out to be.

    Raises
    ------
    UnsupportedError
        An option names something that does not exist; the message lists the
        alternatives.
    """
    name: str | None = options.emptiness
    reasons: list[str] = []
    if options.omitting is not None:
        name = BITSTATE
        reasons.append(
            f"{name}, because bits instead of states need a search that keeps bits: "
            f"nested DFS is the best choice for bitstate hashing {_SECTION}"
        )
    elif name == AUTO:
        name = None
    else:
        reasons.append(f"{name}, requested by --emptiness")
    if options.fairness is not None and name is not None and not takes_any_marks(name):
        way_out = "use --emptiness=tela"
        if options.omitting is not None:
            way_out = f"leave out {options.omitting}"
        raise UnsupportedError(
            f"--fairness={options.fairness} needs several marks, but {name} takes one "
            f"on states: {way_out}"
        )
    acceptance = options.acceptance
    if acceptance != AUTO:
        reasons.append(f"{acceptance.upper()}, requested by --acceptance")
    else:
        acceptance = _free_kind(name, generic=has_fin or options.deterministic)
        if acceptance == "ba" and has_property:
            reasons.append(f"BA, because {name} needs it")
    return Plan(
        automaton=acceptance.upper() if has_property else None,
        emptiness=name,
        reductions=(),
        reasons=tuple(reasons),
    )


def _free_kind(name: str | None, *, generic: bool) -> str:
    """Return the kind of automaton for a search, where the user names none.

    `generic` prefers one with any acceptance.
    """
    if name is not None and not takes_any_marks(name):
        return "ba"
    if name in _TAKES_FIN:
        return _TAKES_FIN[name]
    if not generic:
        return "tgba"
    if name is None:
        return "tela"
    # Without Fin the condition may be a disjunction, which not every search takes.
    sets = (*DECOUPLED, *POWERSET)
    return "tfla" if name not in sets and SEARCHES[name]().fin_less else "tgba"


def tells_marks(plan: Plan, system_marks: int) -> int:
    """Return how many of the system's marks the property automaton checks.

    All of them if the search takes a single mark: then Spot degeneralises the
    property and the system's acceptance together.
    """
    if plan.automaton is None or plan.emptiness is None:
        return 0
    return 0 if takes_any_marks(plan.emptiness) else system_marks


def settle(
    plan: Plan,
    options: Options,
    automaton: PropertyAutomaton,
    system_marks: int,
    reductions: tuple[str, ...] | None = (),
    fairness: Fairness | None = None,
    system_condition: Condition | None = None,
) -> Plan:
    """Complete a plan once the automaton is known.

    Parameters
    ----------
    plan : Plan
        Of `make_plan`.
    options : Options
        What the user asks for.
    automaton : PropertyAutomaton
        What is searched for.
    system_marks : int
        Marks that the system brings.
    reductions : tuple of str, optional
        Those that have made something smaller; None if there are no components that
        could be made smaller.
    fairness : Fairness, optional
        What runs have to be fair to.
    system_condition : Condition, optional
        What has to hold of the system's marks; None is each infinitely often.

    Raises
    ------
    UnsupportedError
        The automaton does not suit the search that the user names.
    """
    system_marks -= automaton.system_marks
    conditions = [automaton.condition, system_condition]
    if fairness is not None:
        system_marks += fairness.n_marks
        conditions.append(fairness.condition)
    has_fin = any(c is not None and c.fin_marks for c in conditions)
    weak = automaton.weak and system_marks == 0
    terminal = automaton.terminal and system_marks == 0
    name, reasons = plan.emptiness, list(plan.reasons)
    if name is None:
        if has_fin:
            name, why = _choose_for_fin(
                automaton, fairness, options.acceptance, system_condition
            )
        else:
            name, why = _choose(
                automaton, system_marks, fairness, weak=weak, terminal=terminal
            )
            why += f" {_SECTION}"
        reasons.insert(0, f"{name}, because {why}")
    else:
        any_ = automaton.condition is not None or system_condition is not None
        _refuse_condition(name, options, has_fin=has_fin, any_=any_)
        _refuse_unfit(
            name, options, automaton, system_marks, weak=weak, terminal=terminal
        )
    kind = kind_of(plan, options, automaton)
    is_free = kind is not None and options.acceptance == AUTO
    if is_free and (plan.emptiness is None or takes_any_marks(plan.emptiness)):
        why = "one mark on states is all that the automaton needs"
        reasons.insert(
            1, f"{kind}, because {why if kind == 'BA' else f'{name} takes it'}"
        )
    if automaton.system_marks:
        reasons.append(
            "one mark for the property and the acceptance of the system together, "
            f"because {name} supports only one (degeneralised by Spot)"
        )
    if fairness is not None:
        reasons.append(why_fair(options, fairness))
    elif reductions is not None:
        reasons.append(_why_reduced(options, (*plan.reductions, *reductions)))
    return replace(
        plan,
        automaton=kind,
        emptiness=name,
        reductions=tuple(dict.fromkeys((*plan.reductions, *(reductions or ())))),
        reasons=tuple(reasons),
        weak=weak,
    )


def for_workers(plan: Plan, options: Options) -> Plan:
    """Return a settled plan with a search that several workers share, if it is free.

    Searches for acceptance with Fin have a form for workers themselves.
    """
    if options.workers == 1 or plan.emptiness in SHARED:
        return plan
    if options.swarm is not None:
        why = f"{options.workers} searches at a time, each by one worker"
        return replace(plan, reasons=(*plan.reasons, why))
    if options.emptiness != AUTO or options.omitting is not None:
        why = f"one worker, because {plan.emptiness} cannot be shared"
        return replace(plan, reasons=(*plan.reasons, why))
    why = (
        f"ufscc, because {options.workers} workers can share its states and partial "
        "SCCs (Bloemen et al. 2016 and 2019)"
    )
    return replace(plan, emptiness="ufscc", reasons=(why, *plan.reasons[1:]))


def kind_of(plan: Plan, options: Options, automaton: PropertyAutomaton) -> str | None:
    """Return the name of an automaton's kind; None if the user chose it."""
    kind = plan.automaton
    if kind is None or options.acceptance != AUTO:
        return kind
    if automaton.is_buchi:
        return "BA"
    return "TGBA" if automaton.condition is None else kind


def _choose_for_fin(
    automaton: PropertyAutomaton,
    fairness: Fairness | None,
    acceptance: str,
    system_condition: Condition | None,
) -> tuple[str, str]:
    """Return the search for acceptance with Fin, and the reason."""
    own = system_condition is not None and bool(system_condition.fin_marks)
    if acceptance == "tgra" and fairness is None and not own:
        return "rabin", (
            "generalised Rabin pairs are searched one after another, each without its "
            "Fin transitions (Bloemen et al. 2019, Algorithms 1-3)"
        )
    if fairness is not None and fairness.condition.fin_marks:
        what = "strong fairness is a Streett condition"
    elif own:
        assert system_condition is not None
        shape = shape_of(system_condition).value
        what = f"the acceptance of the system, {system_condition}, is {shape}"
    else:
        assert automaton.condition is not None
        shape = shape_of(automaton.condition).value
        what = f"the acceptance {automaton.acceptance} is {shape}"
    return "tela", (
        f"{what}: SCCs are checked against it, and decomposed only where "
        "necessary (Baier et al. 2019)"
    )


def why_fair(options: Options, fairness: Fairness) -> str:
    """Describe fairness in a plan."""
    n_sets = fairness.n_marks // (2 if options.fairness == "strong" else 1)
    fair_to = "set of actions" if options.fair_sets else "component"
    marks = f"{fairness.n_marks} mark{'s' * (fairness.n_marks != 1)}"
    return (
        f"only runs count that are {options.fairness}ly fair to each "
        f"{fair_to} ({n_sets} of them, {marks}), and no reductions, because "
        "they change which actions are enabled"
    )


def _why_reduced(options: Options, reductions: tuple[str, ...]) -> str:
    if ALPHABET in reductions:
        return (
            f"{ALPHABET}, because there are transitions that no run can take: another "
            "component, or the automaton, never offers their label "
            "(Siegel & Yan 2020, Sec. 6)"
        )
    if options.reduce == "none":
        return "no reductions, requested by --reduce"
    return (
        "nothing trimmed, because components and automaton offer each other all their "
        "labels"
    )


def _choose(
    automaton: PropertyAutomaton,
    system_marks: int,
    fairness: Fairness | None,
    *,
    weak: bool,
    terminal: bool,
) -> tuple[str, str]:
    """Return the search for an automaton and the reason, without the source."""
    if weak:
        kind = "weak, and even terminal" if terminal else "weak"
        return "dfs-weak", (
            f"the automaton is {kind}: a simple DFS keeps two bits per state, visits "
            "each once, and finds a violation with the least exploration"
        )
    n_marks = automaton.n_marks + system_marks
    if fairness is not None:
        kind = "fairness adds marks"
    elif system_marks > 0:
        kind = "the system brings acceptance of its own"
    elif automaton.condition is not None:
        kind = f"the automaton has no Fin ({automaton.acceptance})"
    elif n_marks > 1:
        kind = f"the automaton is generalised ({n_marks} marks)"
    else:
        kind = "the automaton is unrestricted (not weak)"
    return "couvreur99", (
        f"{kind}: an SCC-based search finds a violation with the least exploration "
        "and supports any number of marks"
    )


def _refuse_condition(
    name: str, options: Options, *, has_fin: bool, any_: bool
) -> None:
    """Refuse a search that does not take the condition."""
    if not (has_fin or any_):
        return
    if name not in (*DECOUPLED, *POWERSET):
        search = SEARCHES[name]()
        if search.emerson_lei or (search.fin_less and not has_fin):
            return
    what = "acceptance with Fin" if has_fin else "a disjunction"
    advice = "--emptiness=tela" if options.omitting is None else "--acceptance=ba"
    raise UnsupportedError(f"{name} does not take {what}: use {advice}")


def _refuse_unfit(
    name: str,
    options: Options,
    automaton: PropertyAutomaton,
    system_marks: int,
    *,
    weak: bool,
    terminal: bool,
) -> None:
    """Refuse an automaton that the search would answer wrongly, or not at all."""
    advice = "use --emptiness=couvreur99"
    needed = {"dfs-weak": ("weak", weak), "reach-terminal": ("terminal", terminal)}
    kind, suits = needed.get(name, ("", True))
    if not suits:
        own = system_marks + automaton.system_marks > 0
        why = "the system brings acceptance of its own" if own else ""
        raise UnsupportedError(
            f"{name} needs a {kind} automaton, and "
            f"{why or f'that of the violations is not {kind}'}: {advice}"
        )
    if not takes_any_marks(name) and (
        automaton.n_marks + system_marks > 1 or not automaton.state_based
    ):
        given = f"--acceptance={options.acceptance} gives {automaton.acceptance}"
        raise UnsupportedError(
            f"{name} takes one acceptance mark on states, but {given} on transitions: "
            + (advice if options.omitting is None else "use --acceptance=ba")
        )


def not_generalised(table: PropertyAutomaton) -> str:
    """Return why searches of sets of states do not take an automaton."""
    return (
        f"its automaton accepts by {table.acceptance} (--acceptance=tgba makes it "
        "generalised Büchi)"
    )
