"""The options of a question, declared once and checked.

The flags of the commands, the columns of task tables, the values of ``--grid``, the
keys of a store, the parameters of the functions and their documentation are made of
their declarations (`Option`).
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any

from ltlpipe.components.groups import MAX_COMPONENT_STATES
from ltlpipe.logic.history import Dialect
from ltlpipe.question.conditions import (
    ACCEPTANCE_NAMES,
    AMPLE,
    ANY,
    AUTO,
    COMPONENTS,
    DECOUPLING,
    EACH,
    EMPTINESS_NAMES,
    PREPARATIONS,
    REDUCTION_NAMES,
    SYMMETRY,
    TAKERS,
    TOGETHER,
    flag_of,
    refuse,
)
from ltlpipe.runtime.arguments import is_one
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Limits
from ltlpipe.runtime.memory import default_memory_mib
from ltlpipe.runtime.names import declare, nearest
from ltlpipe.search.catalogue import DECOUPLED, POWERSET

if TYPE_CHECKING:
    from collections.abc import Callable

CHECK, SOLVE, COMPARE = "check", "solve", "compare"
LIVELOCK, DEADLOCKS = "livelock", "deadlocks"
TRANSLATE, SIMULATE = "translate", "simulate"
INFO, CONVERT, REDUCE = "info", "convert", "reduce"
ABOUT_RUNS = frozenset({CHECK, SOLVE, COMPARE, LIVELOCK})
ABOUT_PROPERTIES = frozenset({CHECK, SOLVE, COMPARE})
EVERYWHERE = ABOUT_RUNS | {DEADLOCKS}
READING_FILES = EVERYWHERE | {SIMULATE, INFO, CONVERT, REDUCE}

NETWORKS = "networks"
ALL_SYSTEMS = "all"

UNITS: dict[str | None, dict[str, float]] = {
    "SECONDS": {"": 1.0, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0},
    "MIB": {
        "": 1.0,
        "k": 2.0**-10,
        "m": 1.0,
        "g": 2.0**10,
        "t": 2.0**20,
        "kib": 2.0**-10,
        "mib": 1.0,
        "gib": 2.0**10,
        "tib": 2.0**20,
        **{f"{k}b": 1e3**n / 2**20 for n, k in enumerate("kmgt", start=1)},
    },
}
"""The units of options by what help calls their values, and their factors."""

_WITH_UNITS: dict[str | None, str] = {
    "SECONDS": "a number of seconds, or one with ms, s, m or h",
    "MIB": "a number of MiB, or one with MB, MiB, GB or GiB",
}

_QUANTITY = re.compile(r"\s*(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+|inf)\s*([a-z]*)\s*", re.I)

KINDS = {
    str: "a text",
    float: "a number",
    int: "a whole number",
    bool: "true or false",
    tuple: "texts",
    object: "a HOA file or a spot.twa_graph",
}
"""The kinds of options, and their values.

`object` is the kind of automata, which are files at the command line and in tables.
"""


@dataclass(frozen=True)
class Option:
    """One option.

    Parameters
    ----------
    help : str
        One line.
    metavar : str, optional
        What the command line's help calls a value, which is its unit if it has one.
    details : str
        More of it, for the documentation.
    choices : tuple
        The only values.
    least, most : int, optional
        The smallest and the largest value.
    unlimited : bool
        A limit: None is no limit, nor is infinity.
    commands : frozenset of str
        The commands, and functions of the same names, that have it.
    systems : str
        The systems to which it applies.
    kind : type
        Of a value; tuple where it can be given again.
    default
        What it is if not given.
    default_name : str, optional
        What asks for the default where that is None, among other values.
    group : str
        What it is about: question, search, limits, counterexample, output, experts.
    flags : tuple of str
        Short flags of the command line.
    """

    help: str
    metavar: str | None = None
    details: str = ""
    choices: tuple[Any, ...] = ()
    least: int | None = None
    most: int | None = None
    unlimited: bool = False
    commands: frozenset[str] = ABOUT_RUNS
    systems: str = ALL_SYSTEMS
    kind: type = str
    default: Any = None
    default_name: str | None = None
    group: str = ""
    flags: tuple[str, ...] = ()

    def meant(self, name: str, value: Any) -> Any:
        """Return a value converted to the option's kind.

        A text is a sequence of one, or a number with a unit where numbers have one.
        None is the default where that is None or empty, and an infinite limit is none.

        Raises
        ------
        UnsupportedError
            It is of another kind or out of range; the message says what was expected.
        """
        if value is None and self.default in (None, ()):
            return self.default
        if isinstance(value, str) and value == self.default_name:
            return self.default
        if self.metavar in UNITS and isinstance(value, str):
            value = _quantity(value, UNITS[self.metavar])
        if self.unlimited and isinstance(value, Real) and value == math.inf:
            return None
        plain = _of_kind(self.kind, value)
        expected = self._expected(plain)
        if expected is None:
            return plain
        shown = repr(value) if plain is None else value
        if plain is not None and self.choices:
            expected += nearest(str(plain), map(str, self.choices))
        raise UnsupportedError(f"--{flag_of(name)}={shown}: expected {expected}")

    def read(self, name: str, text: Any) -> Any:
        """Return the value that a text means; others are values already.

        Raises
        ------
        UnsupportedError
            As for `meant`.
        """
        if not isinstance(text, str):
            return text
        value: Any = text
        if self.kind in _READERS:
            with suppress(ValueError):
                value = _READERS[self.kind](text.strip())
        return self.meant(name, value)

    def _expected(self, value: Any) -> str | None:
        """Describe the expected value; None if it is that.

        A value that is None was of another kind.
        """
        if self.choices:
            listed = f"one of {', '.join(map(str, self.choices))}"
            return None if value in self.choices else listed
        if value is None:
            return _WITH_UNITS.get(self.metavar, KINDS[self.kind])
        if self.least is not None and not value >= self.least:
            return f"{self.least} or more"
        if self.most is not None and value > self.most:
            return f"{self.most} or less"
        return None


def _truth(text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise ValueError
    return text.lower() in _TRUE


def _whole(text: str) -> int:
    """Return a whole number; pandas writes 3.0 for it beside missing ones."""
    number = float(text)
    if not number.is_integer():
        raise ValueError
    return int(text) if text.lstrip("+-").isdecimal() else int(number)


def _sets(text: str) -> tuple[str, ...]:
    """Return sets of actions: commas within a set, semicolons between sets."""
    return tuple(part.strip() for part in text.split(";") if part.strip())


_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")
_READERS: dict[type, Callable[[str], Any]] = {
    int: _whole,
    float: float,
    bool: _truth,
    tuple: _sets,
}


def _quantity(text: str, units: dict[str, float]) -> float | str:
    """Return the number that a text with a unit is; the text if it is none."""
    found = _QUANTITY.fullmatch(text)
    factor = None if found is None else units.get(found[2].lower())
    return text if found is None or factor is None else float(found[1]) * factor


def _of_kind(kind: type, value: Any) -> Any:
    """Return a value as one of a kind; None if it is of another one.

    NumPy's scalars and whole numbers of any type are numbers; truth values are none.
    """
    if kind is object:
        has_kind = isinstance(value, str) or hasattr(value, "__fspath__")
        return value if has_kind or hasattr(value, "acc") else None
    if getattr(value, "shape", None) == ():
        value = value.item()
    if kind is tuple:
        if isinstance(value, str):
            return (value,)
        if is_one(value):
            return None
        parts = tuple(value)
        return parts if all(isinstance(part, str) for part in parts) else None
    if kind in (str, bool):
        return value if isinstance(value, kind) else None
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        number = kind(value)
    except (OverflowError, ValueError):  # infinity is not a whole number
        return None
    return number if kind is float or number == value else None


STUBBORN = "stubborn"
NEVER = "never"
DEADLOCK_ERROR = "error"
FINITE = "finite"

COMPACT_BITS = (32, 40, 64)

MAX_SWARM = 1 << 16
MAX_WORKERS = 31

PRODUCT_OPTIONS = (
    *("alphabet", "initial", "mealy"),
    *("acceptance", "reduce", "semantics", "deadlock", "unknown"),
    *("network_acceptance", "deterministic", "translator", "fairness", "fair_sets"),
    *("visible", "constraint", "past"),
)
"""Options that decide which product is searched."""


def _option(default: Any, line: str, *about: Any, **more: Any) -> Any:
    """Declare an option; its kind is that of the field."""
    option = replace(Option(line, *about, **more), default=default)
    if option.metavar is None and option.choices:
        option = replace(option, metavar="|".join(map(str, option.choices)))
    return field(default=default, metadata={"option": option})


_limit = partial(_option, commands=EVERYWHERE | {INFO}, least=0, unlimited=True)
_of_networks = partial(_option, systems=NETWORKS)
_of_files = partial(_option, commands=READING_FILES)
_of_network_files = partial(_of_networks, commands=READING_FILES)


@dataclass(frozen=True)
class _Question:
    """What is asked: which runs count, and what propositions mean."""

    format: str | None = _of_files(
        None,
        "What the files of the system are, whatever they are called: dot, aut, hoa, "
        "dve, c, java, pnml, pml.",
        "NAME",
    )
    alphabet: str = _of_network_files(
        "used",
        "Labels of a component: those of its edges (used), or all that its file "
        "declares (declared; AP: of HOA), so that one without an edge never occurs.",
        choices=("used", "declared"),
    )
    initial: str | None = _of_network_files(
        None,
        "The node that is the initial state, of each component in a .dot file.",
        "NODE",
    )
    mealy: str = _of_network_files(
        "label",
        "Labels 'input / output' of .dot files: as they are (label), one action "
        "input/output (joined), or two steps (steps).",
        choices=("label", "joined", "steps"),
    )
    define: tuple[str, ...] = _of_files(
        (),
        "A macro of a Promela model, defined in front of its text; may be repeated.",
        "NAME[=VALUE]",
        "As of the C preprocessor; without a value it is 1.",
        flags=("-D",),
    )
    include: tuple[str, ...] = _of_files(
        (),
        "A folder from which a Promela model may include files, beside its own; may be "
        "repeated.",
        "DIR",
        flags=("-I",),
    )
    processes: int | None = _of_files(
        None,
        "The most processes of a Promela model at once; by default it is found out.",
        "N",
        "A process more is an error of the run, behind which nothing moves.",
        least=1,
        most=255,
    )
    semantics: str | None = _option(
        None,
        "Whether propositions are about actions or states; by default as the system has"
        " them.  With finite the words are those of maximal finite runs (LTLf).",
        "KIND",
        details="With state, a .hoa file is one graph with propositions that hold "
        "together: a Kripke structure if its labels are on states, else an automaton.  "
        "With finite a run ends in a deadlock, or in a final state: a final marking of "
        "a net, a state of a network in which all components with accepting states "
        "accept.",
        choices=("action", "state", FINITE),
        commands=ABOUT_PROPERTIES | {DEADLOCKS, SIMULATE, INFO, CONVERT},
    )
    deadlock: str | None = _option(
        None,
        "A finite maximal run violates nothing (ignore, the default for networks), "
        "stutters in its last state (stutter), or violates every formula (error).",
        "KIND",
        choices=("ignore", "stutter", DEADLOCK_ERROR),
        commands=ABOUT_RUNS | {SIMULATE},
    )
    past: bool = _option(
        False,
        "Read H, O, S, T, Y and Z in formulas as past operators.",
        details="Historically, once, since, triggered, and the two that look one step "
        "back: Y is false at the first step, Z is true.",
        commands=ABOUT_PROPERTIES,
    )
    unknown: str = _option(
        "error",
        "A proposition that the system does not have is an error, or never true "
        "(never).",
        details="With never, the result carries a warning.",
        choices=("error", NEVER),
        commands=ABOUT_PROPERTIES | {SIMULATE},
    )
    network_acceptance: str = _of_networks(
        TOGETHER,
        "Whether accepting components have to accept in the same state (together), or "
        "each infinitely often, no matter when (each).",
        choices=(TOGETHER, EACH),
    )
    fairness: str | None = _option(
        None,
        "Only runs that are fair to each component, process or transition of a net, or "
        "to each of --fair-sets, count.",
        details="A set that is enabled infinitely often (strong), or from some point "
        "on always (weak), is taken infinitely often.  A step that several take, such "
        "as a rendezvous, serves each of them.",
        choices=("weak", "strong"),
    )
    fair_sets: tuple[str, ...] = _option(
        (),
        "A set of actions, or of components, for --fairness; a pattern such as 'P_*' "
        "is a set for each that it fits.",
        "A,B",
    )
    visible: str | None = _of_networks(
        None,
        "Visible actions of --automaton; by default those that it names.",
        "A,B",
        "Ample sets are used only if no other actions matter to it.",
        commands=frozenset({CHECK, SOLVE}),
    )
    constraint: object = _option(
        None,
        "Only runs that this HOA automaton accepts count.",
        "FILE",
        "It becomes part of the property, so that the system keeps its symmetry even if"
        " the automaton names single components.",
    )


@dataclass(frozen=True)
class _Search:
    """How it is answered."""

    emptiness: str = _option(
        AUTO,
        "Emptiness check: auto, or a name such as se05, couvreur99, dfs-weak.",
        "NAME",
        choices=(AUTO, *EMPTINESS_NAMES),
    )
    acceptance: str = _option(
        AUTO,
        "Property automaton: auto, ba, tgba, tgra, tfla, tela.",
        "KIND",
        choices=(AUTO, *ACCEPTANCE_NAMES),
    )
    reduce: str = _option(
        AUTO,
        "Reductions: auto, none, or a list.",
        "LIST",
        f"A list is separated by commas: {', '.join(REDUCTION_NAMES)}.  auto,-NAME "
        "leaves one out of those that are chosen automatically.",
    )
    bitstate: float | None = _option(
        None,
        "Mark states in a bit array of this size instead of storing them (se05); then "
        'the verdict is never "holds".',
        "MIB",
        'States may be missed: instead of "holds" the verdict is "unknown" with reason '
        '"bitstate"; "violated" is exact.',
    )
    compact: int | None = _option(
        None,
        "Store a hash of so many bits instead of each state (se05); then the "
        'verdict is never "holds".',
        details="States with the same bits are taken for one, which is rare: the "
        'result has the probability that any was.  Instead of "holds" the verdict is '
        '"unknown", for the reason "compact"; "violated" is as exact as ever.',
        choices=COMPACT_BITS,
    )
    swarm: int | None = _option(
        None,
        "Number of bitstate searches, each with its own hash functions and order.",
        "N",
        "Goes with --bitstate; the first that finds a violation ends the others.  "
        "Otherwise their coverage, each and together, is estimated.  --workers says how"
        " many run at a time.",
        least=1,
        most=MAX_SWARM,
    )
    workers: int = _option(
        1,
        "Threads that share the search of each question.",
        "P",
        "For ufscc, rabin, rabin-parallel, tela and cndfs, one of which is then the "
        "automatic choice; with --swarm so many of its searches run at a time.",
        least=1,
        most=MAX_WORKERS,
    )
    seed: int | None = _option(
        None,
        "Shuffle the order of transitions.",
        "N",
        least=0,
        most=2**63 - 1,
        commands=EVERYWHERE,
    )


@dataclass(frozen=True)
class _Limits:
    """When a question is given up."""

    timeout: float | None = _limit(
        None,
        "Wall-clock time limit of each question, such as 60, 90s, 5m or 1h.",
        "SECONDS",
        "Compiling and loading kernels does not count; reading the system may take as "
        "long again.  None means no limit.",
    )
    memory: float | None = _limit(
        None,
        "Memory limit of each question, such as 500 or 4GB; by default nine tenths of "
        "the free memory.",
        "MIB",
        unlimited=False,
    )
    cpu_time: float | None = _limit(
        None,
        "CPU time limit of each question, worker processes included.",
        "SECONDS",
    )
    max_states: int | None = _limit(
        None,
        "Limit of product states of each question.",
        "N",
        least=1,
    )


@dataclass(frozen=True)
class _Counterexample:
    """What is wanted of a violation."""

    lasso: bool = _option(
        True,
        "Compute and replay a lasso for each violation, or none.",
        commands=EVERYWHERE,
    )
    shortest: bool = _option(
        False,
        "Look for a shortest lasso of each violation.",
        details="It stays within the limits; the result says whether the lasso is "
        "proved shortest.",
    )


@dataclass(frozen=True)
class _Output:
    """What is wanted of a formula that holds."""

    vacuity: bool = _option(
        False,
        "Decide whether a formula that holds does so vacuously: also with a part "
        "replaced by false or true.",
        details="If not, the result has a witness: a run that violates the formula with"
        " a part replaced.  It stays within the limits.",
        commands=frozenset({CHECK, SOLVE}),
    )
    certificate: str | None = _option(
        None,
        "Where the answer is holds: write a certificate, which ltlpipe verify checks.",
        "FILE",
        "All states are searched one by one then, of the system or of the network to "
        "which component reduction takes it.",
        commands=frozenset({CHECK}),
    )


@dataclass(frozen=True)
class _Experts:
    """What need not be touched."""

    ample_sets: str = _of_networks(
        STUBBORN,
        "How ample sets of networks are found: as stubborn sets of actions, or as "
        "closed sets of components (Siegel & Yan 2020).",
        choices=(STUBBORN, COMPONENTS),
    )
    red_ample: str = _option(
        "full",
        "How the red search of se05 repeats ample sets: full (all steps to known "
        "states) or stored (two bytes per state).",
        choices=("full", "stored"),
    )
    compress: bool = _option(
        False,
        "Keep rows of several words as trees of parts that they share: exact, less "
        "memory, more time.",
        details="For one worker, and searches that look at one state at a time, and "
        "`info --count`; rows of one word are kept as they are.",
        commands=EVERYWHERE | {INFO},
    )
    spill: str | None = _option(
        None,
        "Where the memory limit is reached: go on with the table of states in files in "
        "this folder.",
        "DIR",
        "For one worker, and searches that look at one state at a time.  The files have"
        " no names, and are gone afterwards.",
    )
    max_component_states: int = _of_networks(
        MAX_COMPONENT_STATES,
        "Limit of states of a composition during component reduction.",
        "N",
        least=1,
    )
    share: float = _of_networks(
        256.0,
        "What questions about one network share of its reductions, in each process "
        "and on disk; 0 is nothing.",
        "MIB",
        "What was factored or reduced for one formula of a network serves the others, "
        "and what was composed also those that other processes of a run answer.",
        least=0,
    )
    ndfs_stack_test: bool = _of_networks(
        False,
        "Let decoupled-ndfs compare states with its stack, too.",
        details="Inner states are compared with those on the stack (Gnad et al. 2021, "
        "Lemma 1): violations may be found earlier, at a cost that grows with "
        "the stack.",
    )
    deterministic: bool = _option(
        False,
        "A deterministic property automaton (with tgra, tfla or tela).",
        commands=ABOUT_RUNS | {TRANSLATE},
    )
    translator: str | None = _option(
        None,
        "External translator: a command that prints HOA for the formula %f; or spot.",
        "CMD",
        "A task table names one only if --allow-translators lists its program.",
        default_name="spot",
    )


@dataclass(frozen=True)
class Options(_Experts, _Output, _Counterexample, _Limits, _Search, _Question):
    """What the user asks for; `ltlpipe.check` documents every field.

    The classes in which they are declared are their groups.
    """

    def __post_init__(self) -> None:
        for name, option in OPTIONS.items():
            object.__setattr__(self, name, option.meant(name, getattr(self, name)))
        refuse(ANY, self)

    @property
    def keeping(self) -> str | None:
        """The option that says how rows are kept, if there is one."""
        if self.compress:
            return "--compress"
        return None if self.spill is None else f"--spill={self.spill}"

    @property
    def omitting(self) -> str | None:
        """The option by which the search may miss states, if there is one."""
        if self.bitstate is not None:
            return "--bitstate"
        return None if self.compact is None else "--compact"

    @property
    def limits(self) -> Limits:
        """The limits of a question that starts now."""
        memory = default_memory_mib() if self.memory is None else self.memory
        return Limits(self.timeout, memory, self.max_states, self.cpu_time)

    def differing(self) -> dict[str, Any]:
        """Return the options that are not their defaults."""
        given = {name: getattr(self, name) for name in OPTIONS}
        return {n: v for n, v in given.items() if v != OPTIONS[n].default}

    @property
    def of_networks(self) -> list[str]:
        """The options that are for networks only."""
        return [name for name, o in OPTIONS.items() if o.systems == NETWORKS]

    @property
    def uses_stubborn(self) -> bool:
        """Whether ample sets are stubborn sets of actions."""
        return self.ample_sets == STUBBORN

    @property
    def visible_actions(self) -> list[str] | None:
        """The names of `visible`; an empty text names none."""
        if self.visible is None:
            return None
        names = [name.strip() for name in self.visible.split(",")]
        return [name for name in names if name]

    @property
    def reduce_names(self) -> list[str]:
        """The parts of `reduce`; AUTO alone also where it leaves some out."""
        names = self.reduce.split(",")
        is_auto = names[0] == AUTO and all(name[:1] == "-" for name in names[1:])
        return [AUTO] if is_auto else names

    @property
    def left_out(self) -> list[str]:
        """The reductions that `reduce` leaves out of those chosen automatically."""
        names = self.reduce.split(",")[1:]
        return [n[1:] for n in names] if self.reduce_names == [AUTO] else []

    def insists_on(self, reduction: str) -> bool:
        """Whether the user names a reduction."""
        return reduction in self.reduce_names

    @property
    def named_strategies(self) -> list[str]:
        """The named reductions that are strategies."""
        names = self.reduce_names
        strategies = set(REDUCTION_NAMES) - set(PREPARATIONS)
        return [name for name in names if name in strategies]

    @property
    def wants_decoupling(self) -> bool:
        """Whether the user names decoupled search, as a reduction or as a search."""
        return self.insists_on(DECOUPLING) or self.emptiness in DECOUPLED

    @property
    def wants_symmetry(self) -> bool:
        """Whether the user names symmetry, as a reduction or by a search."""
        return self.insists_on(SYMMETRY) or self.emptiness in POWERSET

    def asks_for(self, strategy: str) -> bool:
        """Whether the user asks for a strategy, which must not be left out then.

        Not if it is part of another strategy that is named beside it.
        """
        is_asked_for = self._wants(strategy) and self.taker_of(strategy) is None
        return is_asked_for and strategy not in PREPARATIONS

    def taker_of(self, strategy: str) -> str | None:
        """Return a strategy that is asked for and uses another one itself."""
        wants = self.insists_on if strategy == AMPLE else self._wants
        return next(filter(wants, TAKERS.get(strategy, ())), None)

    def _wants(self, strategy: str) -> bool:
        of_sets = {DECOUPLING: self.wants_decoupling, SYMMETRY: self.wants_symmetry}
        return of_sets.get(strategy, self.insists_on(strategy))

    @property
    def stutters(self) -> bool:
        """Whether a state without successors repeats itself for ever."""
        return self.deadlock == "stutter" or self.finite

    @property
    def finite(self) -> bool:
        """Whether the words are those of finite runs."""
        return self.semantics == FINITE

    @property
    def dialect(self) -> Dialect:
        """How formulas are read."""
        return Dialect(past=self.past, finite=self.finite)

    def reduces(self, name: str) -> bool:
        """Whether a reduction may be applied."""
        names = self.reduce_names
        return name in names or (names == [AUTO] and name not in self.left_out)


_KINDS = {kind.__name__: kind for kind in KINDS}
OPTIONS: dict[str, Option] = {
    each.name: replace(
        each.metadata["option"],
        kind=_KINDS[re.split(r"\W", str(each.type))[0]],
        group=group.__name__.removeprefix("_").lower(),
    )
    for group in reversed(Options.__bases__)
    for each in fields(group)
}
"""Every option of a question by its name in Python."""

declare(*OPTIONS, no_lasso="lasso=False", empty="empty=True", past="past=True")
declare("automaton", "jobs", "store", "retry", "grid", "engine", "scheduler")
declare("attempts", "where", "columns", "group", "aggregate", "pivot", "size", "format")


DEFAULTS: dict[str, dict[str, Any]] = {COMPARE: {"reduce": "none"}}
"""Commands under which options have other defaults.

Not every search takes every reduction.
"""

CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    command: {"semantics": ("action", "state")}
    for command in (DEADLOCKS, INFO, CONVERT)
}
"""Commands under which options have fewer choices: there are no words to be finite."""
