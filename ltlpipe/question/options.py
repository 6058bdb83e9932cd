"""What the user asks for: the options of a question, declared once and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.reduction.components.groups import CAP_STATES
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Limits
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.search.catalogue import DECOUPLED, DECOUPLED_NDFS, POWERSET, SEARCHES

if TYPE_CHECKING:
    from collections.abc import Mapping

AUTO = "auto"

EMPTINESS_NAMES = [*SEARCHES, *DECOUPLED, *POWERSET]
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


class Option(NamedTuple):
    """What there is to say of an option, once for all the ways to give it.

    The flags of the commands, the columns of task tables, the values of ``--grid`` and
    the keys of a store are made of it.
    """

    kind: type  # of a value; a tuple of texts where it can be given again
    default: Any
    metavar: str | None  # of the flag
    help: str
    flags: tuple[str, ...] = ()  # if it is not called as in Python
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None
    unlimited: bool = False  # a limit: None is no limit, nor is infinity

    def meant(self, name: str, value: Any) -> Any:
        """Return what a value stands for, as one of the option's kind.

        A text is a sequence of one.  None is the default where that is None or empty,
        and an infinite limit is none.

        Raises
        ------
        UnsupportedError
            It is of another kind or out of range; the message says what was expected.
        """
        if value is None and self.default in (None, ()):
            return self.default
        if self.unlimited and isinstance(value, Real) and value == math.inf:
            return None
        plain = _of_kind(self.kind, value)
        expected = self._expected(plain)
        if expected is None:
            return plain
        flag = name.replace("_", "-")
        shown = repr(value) if plain is None else value
        raise UnsupportedError(f"--{flag} {shown}: expected {expected}")

    def _expected(self, value: Any) -> str | None:
        """Return what a value was expected to be; None if it is that.

        A value that is None was of another kind.
        """
        if self.choices:
            listed = f"one of {', '.join(self.choices)}"
            return None if value in self.choices else listed
        if value is None:
            return KINDS[self.kind]
        if self.least is not None and not value >= self.least:
            return f"{self.least} or more"
        if self.most is not None and value > self.most:
            return f"{self.most} or less"
        return None


KINDS = {
    str: "a text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    tuple: "texts",
}
"""The kinds of options, and what is expected of their values."""


def _of_kind(kind: type, value: Any) -> Any:
    """Return a value as one of a kind; None if it is of another one.

    NumPy's scalars and whole numbers of any type are numbers; truth values are none.
    """
    if getattr(value, "shape", None) == ():
        value = value.item()
    if kind is tuple:
        if not isinstance(value, Iterable):
            return None
        parts = (value,) if isinstance(value, str) else tuple(value)
        return parts if all(isinstance(part, str) for part in parts) else None
    if kind in (str, bool) or isinstance(value, bool):
        return value if isinstance(value, kind) else None
    if not isinstance(value, Real):
        return None
    try:
        number = kind(value)
    except (OverflowError, ValueError):  # infinity is no whole number
        return None
    return number if kind is float or number == value else None


LIMITS = {
    "timeout": Option(
        float, None, "SECONDS", "Time for each formula.", least=0, unlimited=True
    ),
    "memory": Option(
        float,
        None,
        "MIB",
        "Memory of each search; nine tenths of what is free by default.",
        least=0,
    ),
    "cpu_time": Option(
        float, None, "SECONDS", "CPU time for each formula.", least=0, unlimited=True
    ),
}
"""The options that say nothing about the plan: see `ltlpipe.runtime.jobs.Limits`."""


def _option(default: Any, *about: Any, **more: Any) -> Any:
    """Declare an option; its kind is that of the field."""
    option = Option(str, default, *about, **more)
    return field(default=default, metadata={"option": option})


@dataclass(frozen=True)
class Options:
    """What the user asks for; `ltlpipe.check` documents every field."""

    emptiness: str = _option(
        AUTO,
        "NAME",
        "Emptiness check: auto, or a name such as se05, couvreur99, dfs-weak.",
        choices=(AUTO, *EMPTINESS_NAMES),
    )
    acceptance: str = _option(
        AUTO,
        "KIND",
        "Property automaton: auto, ba, tgba, tgra, tfla, tela.",
        choices=(AUTO, *ACCEPTANCE_NAMES),
    )
    reduce: str = _option(AUTO, "LIST", "Reductions: auto, none, or a list.")
    semantics: str | None = _option(
        None,
        "KIND",
        "Propositions name actions or states.",
        choices=("action", "state"),
    )
    deadlock: str | None = _option(
        None,
        "KIND",
        "A finite maximal run says nothing (ignore, the default for networks) "
        "or repeats its last state for ever (stutter).",
        choices=("ignore", "stutter"),
    )
    max_states: int | None = _option(
        None, "N", "Product states for each formula.", least=1, unlimited=True
    )
    bitstate: float | None = _option(
        None,
        "MIB",
        "Note states in a bit array of this size instead of storing them (se05); "
        "then nothing is said to hold.",
    )
    ample_inner: str = _option(
        "full",
        "WAY",
        "How the red search of se05 repeats ample sets: full (all steps to known "
        "states) or stored (two bytes per state).",
        choices=("full", "stored"),
    )
    cap_states: int = _option(
        CAP_STATES,
        "N",
        "States of a composition of components while they are reduced.",
        least=1,
    )
    accepting: str = _option(
        TOGETHER,
        "together|each",
        "Whether components that accept have to do so in the same state.",
        choices=(TOGETHER, EACH),
    )
    stack_test: bool = _option(
        False, None, "Let decoupled-ndfs look at its stack for cycles, too."
    )
    deterministic: bool = _option(
        False, None, "A deterministic one (with tgra, tfla or tela)."
    )
    translator: str | None = _option(
        None, "CMD", "Translates instead of Spot: prints HOA for %f in CMD."
    )
    fairness: str | None = _option(
        None,
        "weak|strong",
        "Only runs count that are fair to each component.",
        choices=("weak", "strong"),
    )
    fair_sets: tuple[str, ...] = _option(
        (),
        "A,B",
        "A set of actions that --fairness is about, instead of the components'.",
        flags=("--progress", "--fair"),
    )
    symmetric: tuple[str, ...] = _option(
        (),
        "P1,P2,P3",
        "Components that can be interchanged; by default they are found.",
    )
    visible: str | None = _option(None, "A,B", "The visible actions of --automaton.")
    workers: int = _option(
        1, "P", "Threads for each formula (rabin-parallel).", least=1, most=MAX_WORKERS
    )
    seed: int | None = _option(
        None, "N", "Shuffle the order of transitions.", least=0, most=2**63 - 1
    )
    strict: bool = _option(
        False, None, "A proposition that is no action of the system is an error."
    )
    lasso: bool = _option(True, None, "Extract and replay lassos.")

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            if name not in LIMITS:
                object.__setattr__(self, name, option.meant(name, getattr(self, name)))
        if self.bitstate is not None and not 0 < self.bitstate < MAX_BITSTATE:
            raise UnsupportedError(
                f"--bitstate {self.bitstate}: expected more than 0 MiB and less than "
                f"{MAX_BITSTATE}"
            )
        if self.bitstate is not None and self.emptiness not in (AUTO, BITSTATE):
            raise UnsupportedError(
                f"--bitstate is for {BITSTATE}, not for --emptiness {self.emptiness}"
            )
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
        if self.reduce not in (AUTO, "none"):
            for name in self.reduce.split(","):
                if name not in REDUCTION_NAMES:
                    raise UnsupportedError(
                        f"--reduce {name}: expected one of {', '.join(REDUCTION_NAMES)}"
                    )

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


_KINDS = {kind.__name__: kind for kind in (str, int, float, bool, tuple)}
OPTIONS: dict[str, Option] = LIMITS | {
    each.name: each.metadata["option"]._replace(
        kind=_KINDS[re.split(r"\W", str(each.type))[0]]
    )
    for each in fields(Options)
}
"""Every option of a question by its name in Python."""


def understood(given: Mapping[str, Any]) -> tuple[Options, Limits]:
    """Return what the options of `ltlpipe.check` ask for, by their names.

    Raises
    ------
    UnsupportedError
        They ask for what cannot be done.
    """
    options = Options(**{n: v for n, v in given.items() if n not in LIMITS})
    timeout, memory, cpu_time = (
        option.meant(name, given.get(name)) for name, option in LIMITS.items()
    )
    if memory is None:
        memory = default_memory_mib()
    return options, Limits(timeout, memory, options.max_states, cpu_time)
