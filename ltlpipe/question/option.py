"""The declaration of an option, for all interfaces.

The flags of the commands, the columns of task tables, the values of ``--grid``, the
keys of a store, the parameters of the functions and their documentation are made of it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from numbers import Real
from typing import Any

from ltlpipe.runtime.arguments import is_one
from ltlpipe.runtime.errors import UnsupportedError, nearest

CHECK, SOLVE, COMPARE = "check", "solve", "compare"
LIVELOCK, DEADLOCKS = "livelock", "deadlocks"
TRANSLATE, SIMULATE = "translate", "simulate"
ABOUT_RUNS = frozenset({CHECK, SOLVE, COMPARE, LIVELOCK})
ABOUT_PROPERTIES = frozenset({CHECK, SOLVE, COMPARE})
EVERYWHERE = ABOUT_RUNS | {DEADLOCKS}

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

_WHOLE = re.compile(r"[-+]?\d+")
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
    old : tuple of str
        Names of earlier versions, which are accepted for one more release.
    kind : type
        Of a value; tuple where it can be given again.
    default
        What it is if not given.
    group : str
        What it is about: question, search, limits, counterexample, output, experts.
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
    old: tuple[str, ...] = ()
    kind: type = str
    default: Any = None
    group: str = ""

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
        if self.kind is int:
            value: Any = int(text) if _WHOLE.fullmatch(text.strip()) else text
        elif self.kind is float and self.metavar not in UNITS:
            try:
                value = float(text)
            except ValueError:
                value = text
        else:
            value = text
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


def flag_of(name: str) -> str:
    """Return the name of an option on the command line, without its dashes."""
    return name.replace("_", "-")


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
