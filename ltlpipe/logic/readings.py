"""Other readings of what is no LTL for Spot, and what to say where there is none.

Two kinds of texts have one reading all the same: formulas in the prefix notation of
LBT (``& G a F b``), and those in which an operator letter stands where only a name can
(``[](Q & !R & <>R -> (!P U R))``, as in the catalogue of Dwyer, Avrunin and Corbett).
For the mistakes that are made most there are hints.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ltlpipe.logic.dialects import Dialect

_QUOTED = r'"[^"]*"'  # of a text whose quotes are masked
_PREFIX = re.compile(r"\s*([!XFG]\s+)*([&|^ieUVRWM])\s")
_LETTER_AS_NAME = re.compile(
    _QUOTED + r"|(?:^|[(!~&|]|->|<>|\[\]|\b[UWRVMXFG])\s*(?P<name>[UWRVMXFG])\s*"
    r"(?=$|[)&|]|<?->|[UWRVM](?!\w))"
)
# The formula in one line behind `>>> `, a caret under the place, the message.
_REPORT = re.compile(r"^>>> .*\n    ( *)\^.*\n(.*)$", re.MULTILINE)
_EQUALS = re.compile(_QUOTED + r"|(?P<found>(?<![=!<>:])=(?![=>]))")
_PAST = re.compile(
    _QUOTED
    + r"|(?<![\w.])(?P<found>[HOYZ])\s*[\w(\"]|[\w)\"]\s+(?P<both>[ST])\s+[\w(!\"]"
)
_WORD = re.compile(_QUOTED + r"|(?<![\w.])(?P<found>(?P<letters>[XFG]+)[a-z_]\w*)")
_NO_OPERAND = re.compile(
    _QUOTED + r"|(?:^|\(|->|&|\||\b[UWRM])\s*(?P<found>&&?|\|\|?|->)"
)


def prefix(text: str) -> Any:
    """Return the formula of Spot that a text is in prefix notation; None if it is none.

    One without an operator of two operands is no other formula than without prefix
    notation.
    """
    if not _PREFIX.match(text):
        return None
    import spot

    parsed = spot.parse_prefix_ltl(text)
    return None if parsed.format_errors(spot.ostringstream()) else parsed.f


def has_letters_as_names(masked: str) -> bool:
    """Whether an operator letter stands where only a name can; quotes are masked."""
    return any(found["name"] for found in _LETTER_AS_NAME.finditer(masked))


def first_error(masked: str, dialect: Dialect) -> tuple[str, int]:
    """Return message and position of the first error that Spot finds.

    The text is that of the formula with names in quotes masked, of the same length.
    """
    import spot

    report = spot.ostringstream()
    line = masked.replace("\r", " ").replace("\n", " ")
    spot.parse_infix_psl(line).format_errors(report)
    found = _REPORT.search(report.str())
    message, position = "syntax error", 0
    if found is not None:
        position = min(len(found[1]), len(masked))
        message = _readable(found[2], masked[position : position + 1])
    return message + hint(masked, dialect), position


def _readable(message: str, found: str) -> str:
    """Name the character at which Spot says that the text ends."""
    if found and message.endswith("unexpected end of file"):
        return f"unexpected character {found!r}; quote what is no plain name"
    return message


def hint(masked: str, dialect: Dialect, *, compares: bool = False) -> str:
    """Return what to do about a formula that cannot be read, if that is known.

    It begins with a semicolon.  Quotes are masked.  In one that `compares` words are
    names, whatever they begin with.
    """
    for pattern in (_EQUALS, _PAST, _NO_OPERAND, _WORD)[: 3 if compares else 4]:
        for found in pattern.finditer(masked):
            letter = next(filter(None, found.groups()), None)
            if letter is None or (pattern is _PAST and dialect.past):
                continue
            if pattern is _EQUALS:
                return "; values are compared by ==, and ! is not"
            if pattern is _PAST:
                return f"; {letter} is a past operator with --past only"
            if pattern is _NO_OPERAND:
                return f"; before {letter!r} an operand is missing"
            return f"; {word_hint(found['found'], found['letters'])}"
    return ""


def equals_sign(masked: str) -> int | None:
    """Return the place of a first ``=`` that compares nothing; quotes are masked."""
    found = (f.start("found") for f in _EQUALS.finditer(masked) if f["found"])
    return next(found, None)


def word_hint(word: str, letters: str) -> str:
    """Say how a word is read that begins with operators."""
    read = " ".join([*letters, word[len(letters) :]])
    return f'{word} is {read}, write "{word}" if it is a name'


def read_as_operators(text: str, name: str) -> str | None:
    """Say of an unknown name that it is the rest of a word, if it is.

    Examples
    --------
    >>> read_as_operators("G Final", "inal")
    'Final is F inal, write "Final" if it is a name'
    """
    found = re.search(rf"(?<![\w.\"'])([XFG]+){re.escape(name)}(?!\w)", text)
    return None if found is None else word_hint(found[0], found[1])
