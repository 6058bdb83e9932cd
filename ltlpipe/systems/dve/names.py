"""What names mean: scopes, and errors that offer what may have been meant."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ltlpipe.systems.dve.grammar import input_error
from ltlpipe.systems.dve.program import Array

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.systems.dve.syntax import Place


_COMPARED = 1000  # names among which the nearest is looked for: that takes long
_LONG = 100  # characters of a name beyond which it takes much longer


@dataclass(frozen=True)
class Constant:
    """A constant: one value, or those of an array of constants."""

    values: tuple[int, ...]
    is_array: bool


@dataclass(frozen=True)
class Scalar:
    """A variable that is no array."""

    variable: int


@dataclass(frozen=True)
class ChannelName:
    """The number of a channel."""

    channel: int


@dataclass(frozen=True)
class ProcessName:
    """The number of a process."""

    process: int


Meaning: TypeAlias = Constant | Scalar | Array | ChannelName | ProcessName

_KINDS = {
    Constant: "a constant",
    Scalar: "a variable",
    Array: "an array",
    ChannelName: "a channel",
    ProcessName: "a process",
}


def kind_of(meaning: Meaning) -> str:
    """Return what kind of thing a name stands for, in words."""
    if isinstance(meaning, Constant) and meaning.is_array:
        return "an array of constants"
    return _KINDS[type(meaning)]


@dataclass
class Scope:
    """Names that are known in a part of a file.

    Parameters
    ----------
    file : str
        For messages.
    outer : Scope, optional
        Where names are looked up that are not known here.
    later : dict
        Names that are going to be declared here, with their places.
    """

    file: str
    outer: Scope | None = None
    later: dict[str, Place] = field(default_factory=dict)
    known: dict[str, Meaning] = field(default_factory=dict)
    _places: dict[str, Place] = field(default_factory=dict)

    def declare(self, name: str, meaning: Meaning, place: Place) -> None:
        """Make a name known; raise `InputError` if it is already."""
        if name in self.known:
            line = self._places[name].line
            raise input_error(
                f"{name!r} is declared a second time, first in line {line}",
                place,
                self.file,
            )
        self.known[name] = meaning
        self._places[name] = place

    def find(self, name: str) -> Meaning | None:
        """Return what a name means here, or None."""
        if name in self.known or self.outer is None:
            return self.known.get(name)
        return self.outer.find(name)

    def look_up(self, name: str, place: Place) -> Meaning:
        """Return what a name means; raise `InputError` if nothing."""
        meaning = self.find(name)
        if meaning is not None:
            return meaning
        declared = self._declared_later(name)
        if declared is None:
            raise unknown("name", name, self.names(), place, self.file)
        what = "is used before it is declared"
        if declared.line == place.line and declared <= place:
            what = "is declared by itself"
        message = f"{name!r} {what} (line {declared.line})"
        raise input_error(message, place, self.file)

    def _declared_later(self, name: str) -> Place | None:
        if name in self.later or self.outer is None:
            return self.later.get(name)
        return self.outer._declared_later(name)

    def names(self) -> list[str]:
        """Return all names that are known here."""
        return [*self.known, *(self.outer.names() if self.outer else [])]


def nearest(name: str, names: Iterable[str]) -> str:
    """Return a hint that offers the names most like one, "" if none is."""
    known = list(islice(names, _COMPARED))
    close = [n for n in known if n.lower() == name.lower()]
    if not close and len(name) <= _LONG:
        known = [n for n in known if len(n) <= _LONG]
        close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    if not close:
        return ""
    return f"; did you mean {' or '.join(map(repr, close))}?"


def unknown(
    what: str, name: str, names: Iterable[str], place: Place, file: str
) -> Exception:
    """Return an error about a name that nothing has."""
    return input_error(f"unknown {what} {name!r}{nearest(name, names)}", place, file)
