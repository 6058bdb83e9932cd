"""Validation of arguments of public functions.

A public function says in a line what kinds of values its parameters take; another kind
is a TypeError that names the parameter.  What a value of the right kind may hold is
said where it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Kind(NamedTuple):
    """What a parameter takes."""

    expected: str  # in words
    fits: Callable[[Any], bool]

    @property
    def or_none(self) -> Kind:
        """The kind that takes None as well."""
        return Kind(
            f"{self.expected} or None", lambda value: value is None or self.fits(value)
        )


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as one of Python."""
    return value.item() if getattr(value, "shape", None) == () else value


def _is_number(kind: type, value: Any) -> bool:
    plain = _plain(value)
    return isinstance(plain, kind) and not isinstance(plain, bool)


def _is_of(module: str, name: str, value: Any) -> bool:
    """Whether a value is of a class of a module, which is not loaded to find out."""
    # Another thread may be importing it: nothing is of a class that is not there yet.
    known = getattr(sys.modules.get(module), name, None)
    return known is not None and isinstance(value, known)


def is_automaton(value: Any) -> bool:
    """Whether a value is an automaton of Spot."""
    return _is_of("spot", "twa", value)


def is_frame(value: Any) -> bool:
    """Whether a value is a DataFrame."""
    return _is_of("pandas", "DataFrame", value)


ANY = Kind("anything", lambda value: True)  # noqa: ARG005
TEXT = Kind("a text", lambda value: isinstance(value, str))
PATH = Kind("a path", lambda value: isinstance(value, (str, PathLike)))
TRUTH = Kind("True or False", lambda value: isinstance(_plain(value), bool))
WHOLE = Kind("a whole number", lambda value: _is_number(Integral, value))
NUMBER = Kind("a number", lambda value: _is_number(Real, value))
FRAME = Kind("a DataFrame, as ltlpipe.results returns", is_frame)
AUTOMATON = Kind(
    "a spot.twa_graph or a HOA file",
    lambda value: is_automaton(value) or PATH.fits(value),
)
FIGURE = Kind(
    "a figure of matplotlib",
    lambda value: _is_of("matplotlib.figure", "Figure", value),
)


def expect(kind: Kind, **given: Any) -> None:
    """Refuse arguments, given by the names of their parameters, of another kind.

    Raises
    ------
    TypeError
        Names the parameter, what is expected and what was found.

    Examples
    --------
    >>> expect(WHOLE.or_none, jobs=2, attempts=None)
    >>> expect(WHOLE, jobs="2")
    Traceback (most recent call last):
    TypeError: jobs: expected a whole number, not a str
    """
    for parameter, value in given.items():
        if not kind.fits(value):
            raise wrong_kind(parameter, kind.expected, value)


def wrong_kind(parameter: str, expected: str, value: Any) -> TypeError:
    """Return the error about an argument of another kind than what is expected."""
    return TypeError(f"{parameter}: expected {expected}, not {a_kind(value)}")


def several(kind: Kind, value: Any, parameter: str) -> list[Any]:
    """Return the values of an iterable argument; refuse one value in their place.

    A text is one value and not its characters.

    Raises
    ------
    TypeError
        It is no iterable of values of this kind; names the parameter.

    Examples
    --------
    >>> several(TEXT, "abc", "names")
    Traceback (most recent call last):
    TypeError: names: expected several values, not a str: write ['abc']
    """
    if is_one(value):
        error = wrong_kind(parameter, "several values", value)
        if kind.fits(value):
            shown = repr(value) if isinstance(value, str) else a_kind(value)
            error = TypeError(f"{error}: write [{shown}]")
        raise error
    values = list(value)
    for number, each in enumerate(values):
        if not kind.fits(each):
            raise wrong_kind(f"{parameter}[{number}]", kind.expected, each)
    return values


def is_one(value: Any) -> bool:
    """Whether a value is never meant as several ones, be it iterable or not."""
    return (
        not isinstance(value, Iterable)
        or isinstance(value, (str, bytes, bytearray, Mapping))
        or is_frame(value)
        or _is_of("spot", "formula", value)  # iterates over operands
    )


def a_kind(value: Any) -> str:
    """Return what kind of thing a value is, with an article."""
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[0] in "aeiouAEIOU" or name == "LTS" else "a"
    return f"{article} {name}"
