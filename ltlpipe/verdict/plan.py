"""The plan: which automaton, which reductions, which search, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ltlpipe._errors import UnsupportedError
from ltlpipe.reduction.components.groups import CAP_STATES, tree
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.verdict.verdict import Plan

if TYPE_CHECKING:
    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.reduction.components.groups import Reduced
    from ltlpipe.verdict.interruptible import Decision

AUTO = "auto"

EMPTINESS_NAMES = [
    "cvwy92",
    "hpy96",
    "gmz04",
    "se05",
    "tarjan72",
    "gv04",
    "couvreur99",
    "couvreur99-fig5",
    "dfs-weak",
    "reach-terminal",
    "tauriainen03",
    "rabin",
    "decoupled-ndfs",
    "iec",
    "nsiec",
    "aec",
]
ACCEPTANCE_NAMES = ["ba", "tgba", "tgra", "tfla", "tela"]
ALPHABET = "alphabet"
AMPLE = "ample"
COMPONENTS = "components"
REDUCTION_NAMES = [ALPHABET, COMPONENTS, AMPLE, "decoupled", "symmetry"]

MAX_BITSTATE = 1 << 25
"""MiB of a bit array whose words a kernel can count: 32 TiB."""

BITSTATE = "se05"
"""The emptiness check that can do with a bit array."""

_READY_REDUCTIONS = (ALPHABET, COMPONENTS, AMPLE)
AMPLE_SEARCHES = ("se05", "dfs-weak", "couvreur99")
"""The emptiness checks that can expand states by ample sets."""

_READY_ACCEPTANCES = ("ba", "tgba")
_SECTION = "(Schwoon & Esparza 2005, Sec. 5.3)"


@dataclass(frozen=True)
class Options:
    """What the user asks for; every field has the meaning of its flag.

    Parameters
    ----------
    emptiness : str
        A name of `EMPTINESS_NAMES`, or "auto".
    acceptance : str
        A name of `ACCEPTANCE_NAMES`, or "auto".
    reduce : str
        "auto", "none", or names of `REDUCTION_NAMES` with commas between.
    semantics : str or None
        "action" or "state"; None is the system's own.
    deadlock : str or None
        "ignore" or "stutter"; None is the system's own.
    seed : int or None
        Shuffles the order of transitions.
    strict : bool
        Whether a proposition that is no action of the system is an error.
    lasso : bool
        Whether a violation is followed by extracting and replaying a lasso.
    bitstate : float or None
        MiB of the bit array in which visited states are noted instead of being
        stored; None stores them.
    visible : str or None
        The visible actions of an automaton, with commas between, out of those
        that it names; None is all of them.
    ample_inner : str
        "full" or "stored": how the red search of se05 finds ample sets again.
    cap_states : int
        States that a composition of components may have while they are reduced.
    """

    emptiness: str = AUTO
    acceptance: str = AUTO
    reduce: str = AUTO
    semantics: str | None = None
    deadlock: str | None = None
    seed: int | None = None
    strict: bool = False
    lasso: bool = True
    bitstate: float | None = None
    visible: str | None = None
    ample_inner: str = "full"
    cap_states: int = CAP_STATES

    def __post_init__(self) -> None:
        _one_of("emptiness", self.emptiness, (AUTO, *EMPTINESS_NAMES))
        _one_of("acceptance", self.acceptance, (AUTO, *ACCEPTANCE_NAMES))
        _one_of("semantics", self.semantics, (None, "action", "state"))
        _one_of("deadlock", self.deadlock, (None, "ignore", "stutter"))
        _one_of("ample-inner", self.ample_inner, ("full", "stored"))
        if self.seed is not None and self.seed < 0:
            raise UnsupportedError(f"--seed {self.seed}: expected 0 or more")
        if self.bitstate is not None and not 0 < self.bitstate < MAX_BITSTATE:
            raise UnsupportedError(
                f"--bitstate {self.bitstate}: expected more than 0 MiB and less than "
                f"{MAX_BITSTATE}"
            )
        if self.bitstate is not None and self.emptiness not in (AUTO, BITSTATE):
            raise UnsupportedError(
                f"--bitstate is for {BITSTATE}, not for --emptiness {self.emptiness}"
            )
        if self.cap_states < 1:
            given = self.cap_states
            raise UnsupportedError(f"--cap-states {given}: expected 1 or more")
        if self.reduce not in (AUTO, "none"):
            for name in self.reduce.split(","):
                _one_of("reduce", name, REDUCTION_NAMES)

    @property
    def visible_actions(self) -> list[str] | None:
        """The names of `visible`; an empty text names none."""
        if self.visible is None:
            return None
        names = [name.strip() for name in self.visible.split(",")]
        return [name for name in names if name]

    def insists_on(self, reduction: str) -> bool:
        """Whether the user names a reduction."""
        return self.reduce != AUTO and self.reduces(reduction)

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""
        return self.deadlock == "stutter"

    def reduces(self, name: str) -> bool:
        """Whether a reduction may be applied."""
        return self.reduce == AUTO or name in self.reduce.split(",")


def _one_of(option: str, value: str | None, allowed: object) -> None:
    names = list(allowed)  # type: ignore[call-overload]
    if value not in names:
        listed = ", ".join(str(n) for n in names if n is not None)
        raise UnsupportedError(f"--{option} {value}: expected one of {listed}")


def validate(options: Options) -> None:
    """Refuse what the contract names but this version does not have.

    Raises
    ------
    UnsupportedError
        The message names what it has.
    """
    if options.emptiness not in (AUTO, *SEARCHES):
        ready = ", ".join(SEARCHES)
        raise UnsupportedError(
            f"--emptiness {options.emptiness} is not in this version; use {ready}"
        )
    if options.acceptance not in (AUTO, *_READY_ACCEPTANCES):
        raise UnsupportedError(
            f"--acceptance {options.acceptance} is not in this version; use ba or tgba"
        )
    known = (AUTO, "none", *_READY_REDUCTIONS)
    unready = [name for name in options.reduce.split(",") if name not in known]
    if unready:
        raise UnsupportedError(
            f"--reduce {','.join(unready)} is not in this version; use "
            f"{', '.join(_READY_REDUCTIONS)} or none"
        )
    if options.semantics == "state":
        raise UnsupportedError(
            "--semantics state: the states of a network of LTSs have no propositions; "
            "use action"
        )


def make_plan(options: Options, *, has_property: bool) -> Plan:
    """Choose the kind of automaton, and the search if the user names it.

    What is left open is chosen by `settle`, which knows the automaton.

    Parameters
    ----------
    options : Options
        What the user asks for.
    has_property : bool
        Whether there is a formula or an automaton; else only the system's own
        acceptance is searched for.

    Raises
    ------
    UnsupportedError
        The request names something that is not there; the message says what is.
    """
    validate(options)
    name: str | None = options.emptiness
    reasons: list[str] = []
    if options.bitstate is not None:
        name = BITSTATE
        reasons.append(
            f"{name}, because bits instead of states need a search that keeps bits: "
            f"nested DFS is the best choice for bitstate hashing {_SECTION}"
        )
    elif name == AUTO:
        name = None
    else:
        reasons.append(f"{name}, because --emptiness asks for it")
    acceptance = options.acceptance
    if acceptance != AUTO:
        reasons.append(f"{acceptance.upper()}, because --acceptance asks for it")
    elif name is None or SEARCHES[name]().generalised:
        acceptance = "tgba"
    else:
        acceptance = "ba"
        if has_property:
            reasons.append(f"BA, because {name} needs it")
    return Plan(
        automaton=acceptance.upper() if has_property else None,
        emptiness=name,
        reductions=(),
        reasons=tuple(reasons),
    )


def prefer_one_mark(plan: Plan, options: Options) -> Plan:
    """Ask for a Büchi automaton where the kind is free, as normal forms need it."""
    if options.acceptance != AUTO or plan.automaton is None:
        return plan
    return replace(plan, automaton="BA")


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


def tells_marks(plan: Plan, system_marks: int) -> int:
    """Return how many of the system's marks the property automaton shall see to.

    All of them if the search takes a single mark: then Spot degeneralises the
    property and the system's acceptance together.
    """
    if plan.automaton is None or plan.emptiness is None:
        return 0
    return 0 if SEARCHES[plan.emptiness]().generalised else system_marks


def settle(
    plan: Plan,
    options: Options,
    automaton: PropertyAutomaton,
    system_marks: int,
    reductions: tuple[str, ...] = (),
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
    reductions : tuple of str
        Those that have made something smaller.

    Raises
    ------
    UnsupportedError
        The automaton does not suit the search that the user names.
    """
    system_marks -= automaton.system_marks
    weak = automaton.weak and system_marks == 0
    terminal = automaton.terminal and system_marks == 0
    name, reasons = plan.emptiness, list(plan.reasons)
    if name is None:
        name, why = _choose(automaton, system_marks, weak=weak, terminal=terminal)
        reasons.insert(0, f"{name}, because {why} {_SECTION}")
    else:
        _refuse_unfit(name, automaton, system_marks, weak=weak, terminal=terminal)
    kind = plan.automaton
    if kind is not None and options.acceptance == AUTO:
        single = automaton.state_based and automaton.n_marks <= 1
        kind = "BA" if single else "TGBA"
        if plan.emptiness is None or SEARCHES[plan.emptiness]().generalised:
            reasons.insert(1, f"{kind}, because {_why_kind(kind, name)}")
    if automaton.system_marks:
        reasons.append(
            "one mark for the property and the acceptance of the system together, "
            f"because {name} takes no more (degeneralised by Spot)"
        )
    reasons.append(_why_reduced(options, reductions))
    return replace(
        plan,
        automaton=kind,
        emptiness=name,
        reductions=reductions,
        reasons=tuple(reasons),
        weak=weak,
    )


def _why_reduced(options: Options, reductions: tuple[str, ...]) -> str:
    if ALPHABET in reductions:
        return (
            f"{ALPHABET}, because there are transitions that no run can take: another "
            "component, or the automaton, never offers their label "
            "(Siegel & Yan 2020, Sec. 6)"
        )
    if options.reduce == "none":
        return "no reductions, because --reduce asks for none"
    return (
        "nothing trimmed, because components and automaton offer each other all their "
        "labels"
    )


def _choose(
    automaton: PropertyAutomaton, system_marks: int, *, weak: bool, terminal: bool
) -> tuple[str, str]:
    """Return the search for an automaton and the reason, without the source."""
    if weak:
        kind = "weak, and even terminal" if terminal else "weak"
        return "dfs-weak", (
            f"the automaton is {kind}: a simple DFS keeps two bits per state, visits "
            "each once, and finds a violation with the least exploration"
        )
    n_marks = automaton.n_marks + system_marks
    if system_marks > 0:
        kind = "the components of the system bring acceptance of their own"
    elif n_marks > 1:
        kind = f"the automaton is generalised ({n_marks} marks)"
    else:
        kind = "the automaton is unrestricted (not weak)"
    return "couvreur99", (
        f"{kind}: an SCC-based search finds a violation with the least exploration "
        "and takes any number of marks as they are"
    )


def _why_kind(kind: str, name: str) -> str:
    if kind == "BA":
        return "one mark on states is all that the automaton needs"
    return f"{name} takes it"


def _refuse_unfit(
    name: str,
    automaton: PropertyAutomaton,
    system_marks: int,
    *,
    weak: bool,
    terminal: bool,
) -> None:
    """Refuse an automaton that the search would answer wrongly, or not at all."""
    advice = "use --emptiness couvreur99"
    needed = {"dfs-weak": ("weak", weak), "reach-terminal": ("terminal", terminal)}
    kind, suits = needed.get(name, ("", True))
    if not suits:
        own = system_marks + automaton.system_marks > 0
        why = "the system brings acceptance of its own" if own else ""
        raise UnsupportedError(
            f"{name} needs a {kind} automaton, and "
            f"{why or f'that of the violations is not {kind}'}: {advice}"
        )
    if not SEARCHES[name]().generalised and (
        automaton.n_marks + system_marks > 1 or not automaton.state_based
    ):
        raise UnsupportedError(
            f"{name} takes one acceptance mark on states, but --acceptance tgba gives "
            f"{automaton.acceptance} on transitions: {advice}"
        )
