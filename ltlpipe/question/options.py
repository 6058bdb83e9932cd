"""What the user asks for: the options of a question, checked."""

from __future__ import annotations

from dataclasses import dataclass

from ltlpipe.reduction.components.groups import CAP_STATES
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, POWERSET

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
    "rabin-parallel",
    "tela",
    "decoupled-scc",
    "decoupled-ndfs",
    "tec",
    "iec",
    "nsiec",
    "aec",
    "aec-closed",
]
ACCEPTANCE_NAMES = ["ba", "tgba", "tgra", "tfla", "tela"]
ALPHABET = "alphabet"
AMPLE = "ample"
COMPONENTS = "components"
DECOUPLING = "decoupled"
SYMMETRY = "symmetry"
REDUCTION_NAMES = [ALPHABET, COMPONENTS, AMPLE, DECOUPLING, SYMMETRY]
TOGETHER, EACH = "together", "each"

MAX_BITSTATE = 1 << 25
"""MiB of a bit array whose words a kernel can count: 32 TiB."""

BITSTATE = "se05"
"""The emptiness check that can do with a bit array."""

AMPLE_SEARCHES = ("se05", "dfs-weak", "couvreur99")
"""The emptiness checks that can expand states by ample sets."""

MAX_WORKERS = 31

BOUND_TO_KERNELS = ("bitstate", "seed")
"""Options that mean something for compiled searches only."""

FAIRNESS_NAMES = ["weak", "strong"]


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
    accepting : str
        "together" or "each": whether components of a system that accept have to do so
        in the same state, infinitely often, or each for itself.
    stack_test : bool
        Whether decoupled-ndfs also compares with the states on its stack.
    deterministic : bool
        Whether the property automaton is to be deterministic.
    translator : str or None
        A command that translates formulas to HOA; None is Spot.
    fairness : str or None
        "weak" or "strong": only runs count that are fair to each component, or to each
        of `fair_sets`; None counts all.
    fair_sets : tuple of str
        Sets of actions, each with commas between.
    symmetric : tuple of str
        Classes of components that can be interchanged, each with commas between; none
        are found then.
    max_states : int or None
        Product states that a search may enter; None means no limit.
    workers : int
        Threads that a search may use.
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
    accepting: str = TOGETHER
    stack_test: bool = False
    deterministic: bool = False
    translator: str | None = None
    fairness: str | None = None
    fair_sets: tuple[str, ...] = ()
    symmetric: tuple[str, ...] = ()
    max_states: int | None = None
    workers: int = 1

    def __post_init__(self) -> None:
        _one_of("emptiness", self.emptiness, (AUTO, *EMPTINESS_NAMES))
        _one_of("acceptance", self.acceptance, (AUTO, *ACCEPTANCE_NAMES))
        _one_of("semantics", self.semantics, (None, "action", "state"))
        _one_of("deadlock", self.deadlock, (None, "ignore", "stutter"))
        _one_of("ample-inner", self.ample_inner, ("full", "stored"))
        _one_of("accepting", self.accepting, (TOGETHER, EACH))
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
        _one_of("fairness", self.fairness, (None, *FAIRNESS_NAMES))
        if self.fair_sets and self.fairness is None:
            raise UnsupportedError(
                "sets to be fair to go with --fairness weak or strong"
            )
        if self.stack_test and self.emptiness != DECOUPLED_NDFS:
            raise UnsupportedError(
                f"--stack-test is for --emptiness {DECOUPLED_NDFS}, not for "
                f"{self.emptiness}"
            )
        named = self.emptiness in POWERSET
        if self.symmetric and not (named or self.reduces(SYMMETRY)):
            raise UnsupportedError(
                f"--symmetric goes with symmetry, which --reduce {self.reduce} leaves "
                "out"
            )
        if self.cap_states < 1:
            given = self.cap_states
            raise UnsupportedError(f"--cap-states {given}: expected 1 or more")
        if self.max_states is not None and self.max_states < 1:
            raise UnsupportedError(
                f"--max-states {self.max_states}: expected 1 or more"
            )
        if not 1 <= self.workers <= MAX_WORKERS:
            raise UnsupportedError(
                f"--workers {self.workers}: expected 1 to {MAX_WORKERS}"
            )
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
    def named_strategies(self) -> list[str]:
        """The reductions that are strategies of their own and that the user names."""
        if self.reduce == AUTO:
            return []
        names = self.reduce.split(",")
        return [name for name in names if name in REDUCTION_NAMES[1:]]

    @property
    def wants_decoupling(self) -> bool:
        """Whether the user names decoupled search, as a reduction or as a search."""
        return self.insists_on(DECOUPLING) or self.emptiness in DECOUPLED

    @property
    def wants_symmetry(self) -> bool:
        """Whether the user names symmetry, as a reduction or by a search."""
        return bool(
            self.symmetric or self.insists_on(SYMMETRY) or self.emptiness in POWERSET
        )

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
