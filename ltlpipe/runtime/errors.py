"""The errors that ltlpipe raises for its callers to catch.

* LtlpipeError
    * InputError        a file that cannot be read as what it should be
    * FormulaError      a formula that does not parse
    * UnsupportedError  a request that is understood but cannot be met
    * ReplayError       a run that is no violation: a bug, if a search has found it

Nothing else escapes for bad input.

Names that files give, as terminals show them: nothing in them is a control.

How messages name a parameter: as the caller has written it.

Messages are written with flags, ``--emptiness=se05``.  People at the command line read
``--emptiness se05``, callers from Python ``emptiness='se05'``; a parameter without a
value is ``--emptiness`` or ``emptiness=``.  Only names that have been declared are
parameters: the text of a file or of another program stays as it is.
"""

from __future__ import annotations

import copyreg
import json
import re
import sys
import unicodedata
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from types import FrameType

_DECLARED: dict[str, str] = {}
_FLAG = re.compile(
    r"(?<![\w-])--(?P<name>[a-z][a-z-]*)"
    r"(?:=(?P<value>'[^'\n]*'|\"[^\"\n]*\"|[^\s;()]+?(?=[,.:]*(?:[\s;()]|$))))?"
)
_PLAIN = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?|inf|True|False|None|['\"].*", re.DOTALL)

FLAGS, PARAMETERS, AS_WRITTEN = "flags", "parameters", "as written"
"""Ways to name parameters; worker processes leave the choice to who started them."""

_way = PARAMETERS


def declare(*names: str, **others: str) -> None:
    """Declare parameters by their names in Python.

    The keys of `others` are flags, with underscores, that have another name there.
    """
    _DECLARED.update({name.replace("_", "-"): name for name in names})
    _DECLARED.update({flag.replace("_", "-"): name for flag, name in others.items()})


def name_as(way: str) -> None:
    """Have messages name `FLAGS`, or `PARAMETERS`, or leave them `AS_WRITTEN`."""
    global _way
    _way = way


def spelled(message: str, way: str | None = None) -> str:
    """Return a message that names parameters as the caller has written them.

    `way` is how, if not as `name_as` says.

    Examples
    --------
    >>> declare("emptiness", no_lasso="lasso=False")
    >>> spelled("use --emptiness=tela, and --no-lasso: --emptiness says what")
    "use emptiness='tela', and lasso=False: emptiness= says what"
    """
    way = way or _way
    if way == AS_WRITTEN:
        return message
    return _FLAG.sub(_as_flag if way == FLAGS else _as_parameter, message)


def _as_flag(found: re.Match[str]) -> str:
    value = found["value"]
    if value is None or found["name"] not in _DECLARED:
        return found[0]
    inner = value[1:-1] if value[0] in "'\"" else value
    return f"--{found['name']} {value if ' ' in inner or not inner else inner}"


def _as_parameter(found: re.Match[str]) -> str:
    name, value = _DECLARED.get(found["name"]), found["value"]
    if name is None:
        return found[0]
    if value is None:
        return name if "=" in name else f"{name}="
    return f"{name}={value if _PLAIN.fullmatch(value) else repr(value)}"


_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def visible(text: str) -> str:
    r"""Return a text in which what cannot be printed is escaped.

    Examples
    --------
    >>> print(visible("red\x1b[31m, and\nnext"))
    red\x1b[31m, and\nnext
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def visible_lines(text: str) -> str:
    """Return a text of several lines, each of them `visible`."""
    return "\n".join(map(visible, text.splitlines()))


def quoted_name(name: str) -> str:
    """Return a name that can be told from its neighbours in a list.

    Examples
    --------
    >>> print(quoted_name("send"), quoted_name("two words"))
    send "two words"
    """
    if name and name.isprintable() and '"' not in name and " " not in name:
        return name  # no other blank can be printed
    text = json.dumps(name, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> print(counted(1, "state"), counted(1200, "step"))
    1 state 1,200 steps
    """
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    width = 2 if code < 1 << 8 else 4 if code < 1 << 16 else 8
    letter = {2: "x", 4: "u", 8: "U"}[width]
    return _ESCAPED.get(character, f"\\{letter}{code:0{width}x}")


_NEAREST = 3  # names that a message offers
_SHOWN = 200  # characters of a formula in a message


class LtlpipeError(Exception):
    """Whatever goes wrong by the caller's input or request.

    Its text names parameters as the caller has written them: `emptiness=` in Python,
    ``--emptiness`` at the command line.
    """

    def __str__(self) -> str:
        return spelled(super().__str__())

    def __reduce__(self) -> Any:  # pickled without calling __init__ again
        made: Any = copyreg
        return made.__newobj__, (type(self), *self.args), self.__dict__


class InputError(LtlpipeError):
    """A file does not hold what its format demands.

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
    """

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
        place = "formula" if file is None else f"{file}:{line}"
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
    """The request is clear but cannot be met; says what to use instead."""


class ReplayError(LtlpipeError):
    """A run is no violation.

    Where a search has found it this is a bug of ltlpipe, never of the input; the text
    then has what reproduces it.
    """


class LtlpipeWarning(UserWarning):
    """What is allowed but probably not meant."""

    written = ""
    """The message as it was written, with parameters as flags
    (`ltlpipe.runtime.errors`)."""


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
    given = category(text)
    if isinstance(given, LtlpipeWarning):
        given.written = message
    warnings.warn(given, stacklevel=level + 1)


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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LtlpipeWarning)
            yield
    finally:
        _NOTED.reset(token)


def _module_of(frame: FrameType) -> str:
    """Return the top-level module whose code a frame runs."""
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the known names that are most like a name, as the end of a message."""
    folded = {one.casefold(): one for one in known}
    close = get_close_matches(name.casefold(), list(folded), _NEAREST, 0.5)
    near = [folded[one] for one in close]
    return f"; did you mean {listed(near)}?" if near else ""


def listed(words: Sequence[str]) -> str:
    """Return ``a, b or c``."""
    *most, end = words
    return f"{', '.join(most)} or {end}" if most else end
