"""The errors that ltlpipe raises for its callers to catch.

* LtlpipeError
    * InputError        a file that cannot be read as what it should be
    * FormulaError      a formula that does not parse
    * UnsupportedError  a request that is understood but cannot be met
    * ReplayError       a run that is no violation: a bug, if a search has found it

Nothing else escapes for bad input.
"""

from __future__ import annotations

import copyreg
import sys
import unicodedata
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.names import spelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SHOWN = 200  # characters of a formula in a message


class LtlpipeError(Exception):
    """Base class of all errors in the caller's input or request.

    Its text names parameters as the caller has written them: `emptiness=` in Python,
    ``--emptiness`` at the command line.
    """

    def __str__(self) -> str:
        return spelled(super().__str__())

    def __reduce__(self) -> Any:  # pickled without calling __init__ again
        made: Any = copyreg
        return made.__newobj__, (type(self), *self.args), self.__dict__


class InputError(LtlpipeError):
    """A file does not conform to its format.

    Parameters
    ----------
    message : str
        What was found and what was expected.
    file : str
        Name of the file as the caller gave it.
    line : int, optional
        Line of the file, counted from 1; None where the whole file is meant.
    """

    def __init__(self, message: str, *, file: str, line: int | None = None) -> None:
        self.message = message
        self.file = file
        self.line = line
        place = file if line is None else f"{file}:{line}"
        super().__init__(f"{place}: {message}")


class RoomError(LtlpipeError):
    """More of a system is met than there is room for; `roomier` returns it with more.

    Whoever asks about a system asks again.
    """

    def __init__(self, message: str, roomier: Callable[[], Any]) -> None:
        super().__init__(message)
        self.roomier = roomier


class FormulaError(LtlpipeError):
    """A formula does not parse, or names what the system does not have.

    Parameters
    ----------
    message : str
        What is wrong and what was expected.
    formula : str
        The text of the formula.
    position : int, optional
        Where in `formula` the trouble begins, counted from 0.
    file, line : optional
        Where the formula comes from, if from a file.
    name : str, optional
        What its file calls the formula.

    Attributes
    ----------
    number : int or None
        Its number in its file.
    title, alphabet : optional
        What its file says about it, as of a `Formula`.
    """

    number: int | None = None
    title: str | None = None
    alphabet: tuple[str, ...] | None = None

    def __init__(
        self,
        message: str,
        *,
        formula: str,
        position: int | None = None,
        file: str | None = None,
        line: int | None = None,
        name: str | None = None,
    ) -> None:
        self.message = message
        self.name = name
        self.formula = formula
        self.position = position
        self.file = file
        self.line = line
        place = "formula" if file is None else file
        if file is not None and line is not None:
            place = f"{file}:{line}"
        super().__init__(f"{place}: {message}\n" + _pointed_at(formula, position))


def _pointed_at(formula: str, position: int | None) -> str:
    """Return a formula, or the part around `position`, with a caret below it."""
    begin = max((position or 0) - _SHOWN // 2, 0)
    end = begin + _SHOWN
    before = "... " if begin else ""
    after = " ..." if end < len(formula) else ""
    part = "".join(map(_visible, formula[begin:end]))
    text = f"  {before}{part}{after}"
    if position is not None:
        width = len(before) + sum(map(_columns, part[: position - begin]))
        text += "\n  " + " " * width + "^"
    return text


def _visible(character: str) -> str:
    """Return what stands for a character in a message of one line."""
    if character in "\t\r\n":
        return " "
    return character if character.isprintable() else "\N{REPLACEMENT CHARACTER}"


def _columns(character: str) -> int:
    """Return how many columns of a terminal a character takes."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class UnknownNameError(FormulaError):
    """A formula names what the system does not have."""


class UnsupportedError(LtlpipeError):
    """The request is valid but not supported; the message says what to use instead."""


class ReplayError(LtlpipeError):
    """The replay of a run shows that it is not a violation.

    Where a search has found it this is a bug of ltlpipe, never of the input; the text
    then has what reproduces it.
    """


class LtlpipeWarning(UserWarning):
    """A warning: something is allowed, but probably not intended."""

    written = ""
    """The message as it was written, with parameters as flags
    (`ltlpipe.runtime.names`)."""


class SystemWarning(LtlpipeWarning):
    """What is so whatever is asked about a system; a terminal shows it once."""


_PACKAGE = __name__.partition(".")[0]
_BETWEEN = (_PACKAGE, "contextlib", "functools")
"""Top-level modules whose code runs between a caller of ltlpipe and a warning."""


def warn(message: str, category: type[Warning] = LtlpipeWarning) -> None:
    """Give a warning that names the line which has called ltlpipe.

    Jobs and public functions that call each other are all within the package: what
    counts is the nearest caller outside.
    """
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and _module_of(frame) in _BETWEEN:
        frame = frame.f_back
        level += 1
    text = spelled(message)
    if issubclass(category, LtlpipeWarning):
        for notes in _NOTED.get():
            notes[text] = None
    if _SILENCED.get() and issubclass(category, LtlpipeWarning):
        return
    given = category(text)
    if isinstance(given, LtlpipeWarning):
        given.written = message
    if (collected := _COLLECTED.get()) is not None:
        collected.append(given)
        return
    warnings.warn(given, stacklevel=level + 1)


# Not `warnings.catch_warnings`, which threads would undo in any order.
_SILENCED: ContextVar[int] = ContextVar("silenced", default=0)
_COLLECTED: ContextVar[list[Warning] | None] = ContextVar("collected", default=None)
_NOTED: ContextVar[tuple[dict[str, None], ...]] = ContextVar("noted", default=())


@contextmanager
def noting() -> Iterator[dict[str, None]]:
    """Note the texts of our warnings, each once, that the block gives."""
    notes: dict[str, None] = {}
    token = _NOTED.set((*_NOTED.get(), notes))
    try:
        yield notes
    finally:
        _NOTED.reset(token)


@contextmanager
def silenced() -> Iterator[None]:
    """Give and note no warnings of ours: they have been given before."""
    token = _NOTED.set(())
    _SILENCED.set(_SILENCED.get() + 1)
    try:
        yield
    finally:
        _SILENCED.set(_SILENCED.get() - 1)
        _NOTED.reset(token)


@contextmanager
def collecting() -> Iterator[list[Warning]]:
    """Collect the warnings of the block, which are not given."""
    found: list[Warning] = []
    token = _COLLECTED.set(found)
    try:
        yield found
    finally:
        _COLLECTED.reset(token)


def _module_of(frame: FrameType) -> str:
    """Return the top-level module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]
