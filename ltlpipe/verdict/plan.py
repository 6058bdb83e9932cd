"""The plan: which automaton, which reductions, which search, and why."""

from __future__ import annotations

from dataclasses import dataclass

from ltlpipe._errors import UnsupportedError
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.verdict.verdict import Plan

AUTO = "auto"

EMPTINESS_NAMES = [
    "cvwy92",
    "hpy96",
    "gmz04",
    "se05",
    "tarjan72",
    "gv04",
    "couvreur99",
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
REDUCTION_NAMES = ["alphabet", "components", "ample", "decoupled", "symmetry"]

_READY_ACCEPTANCES = ("ba", "tgba")


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
    """

    emptiness: str = AUTO
    acceptance: str = AUTO
    reduce: str = AUTO
    semantics: str | None = None
    deadlock: str | None = None
    seed: int | None = None
    strict: bool = False
    lasso: bool = True

    def __post_init__(self) -> None:
        _one_of("emptiness", self.emptiness, (AUTO, *EMPTINESS_NAMES))
        _one_of("acceptance", self.acceptance, (AUTO, *ACCEPTANCE_NAMES))
        _one_of("semantics", self.semantics, (None, "action", "state"))
        _one_of("deadlock", self.deadlock, (None, "ignore", "stutter"))
        if self.seed is not None and self.seed < 0:
            raise UnsupportedError(f"--seed {self.seed}: expected 0 or more")
        if self.reduce not in (AUTO, "none"):
            for name in self.reduce.split(","):
                _one_of("reduce", name, REDUCTION_NAMES)

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""
        return self.deadlock == "stutter"


def _one_of(option: str, value: str | None, allowed: object) -> None:
    names = list(allowed)  # type: ignore[call-overload]
    if value not in names:
        listed = ", ".join(str(n) for n in names if n is not None)
        raise UnsupportedError(f"--{option} {value}: expected one of {listed}")


def make_plan(options: Options, *, has_property: bool, system_accepts: bool) -> Plan:
    """Choose automaton and search.

    Parameters
    ----------
    options : Options
        What the user asks for.
    has_property : bool
        Whether there is a formula or an automaton; else only the system's own
        acceptance is searched for.
    system_accepts : bool
        Whether the system has accepting states of its own.

    Raises
    ------
    UnsupportedError
        The request names something that is not there, or that does not go
        together; the message says what does.
    """
    _refuse_unready(options)
    reasons = []
    name = options.emptiness
    if name == AUTO:
        name = "couvreur99"
        reasons.append(
            "couvreur99, because it finds a violation with the least exploration "
            "and takes generalised acceptance as it is (Schwoon & Esparza 2005, "
            "Sec. 5.3)"
        )
    else:
        reasons.append(f"{name}, because --emptiness asks for it")
    search = SEARCHES[name]()
    acceptance = options.acceptance
    if acceptance == AUTO:
        acceptance = "tgba" if search.generalised else "ba"
        why = "takes" if search.generalised else "needs"
        reasons.append(f"{acceptance.upper()}, because {name} {why} it")
    else:
        reasons.append(f"{acceptance.upper()}, because --acceptance asks for it")
    if not search.generalised and (
        acceptance != "ba" or (has_property and system_accepts)
    ):
        raise UnsupportedError(
            f"{name} takes one acceptance mark on states, but "
            + (
                f"--acceptance {acceptance} gives marks on transitions"
                if acceptance != "ba"
                else "a property and the accepting states of the system make two"
            )
            + ": use --emptiness couvreur99"
        )
    reasons.append(
        "no reductions, because --reduce asks for none"
        if options.reduce == "none"
        else "no reductions, because none is ready for this kind of system"
    )
    return Plan(
        automaton=acceptance.upper() if has_property else None,
        emptiness=name,
        reductions=(),
        reasons=tuple(reasons),
    )


def _refuse_unready(options: Options) -> None:
    """Refuse what the contract names but this version does not have."""
    if options.emptiness not in (AUTO, *SEARCHES):
        ready = ", ".join(SEARCHES)
        raise UnsupportedError(
            f"--emptiness {options.emptiness} is not in this version; use {ready}"
        )
    if options.acceptance not in (AUTO, *_READY_ACCEPTANCES):
        raise UnsupportedError(
            f"--acceptance {options.acceptance} is not in this version; use ba or tgba"
        )
    if options.reduce not in (AUTO, "none"):
        raise UnsupportedError(
            f"--reduce {options.reduce} is not in this version; use none"
        )
    if options.semantics == "state":
        raise UnsupportedError(
            "--semantics state: the states of a network of LTSs have no propositions; "
            "use action"
        )
