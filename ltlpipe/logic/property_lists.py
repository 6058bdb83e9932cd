"""Lists of properties as the RERS challenge publishes them.

A property is a header ``#K:`` and its formula on the lines that follow, up to the next
header; K, a number from 0, is what the property is called.  Behind the colon stands the
published solution (``true`` or ``false``, and any remark behind it), or a remark, or
nothing.  Blank lines and lines with another ``#`` say nothing.

A wrong number is a wrong answer, so nothing is guessed: a line that is nearly a header,
a number that stands twice, text before the first header, or another word where headers
have solutions is refused.

Source: the lists of properties of the RERS challenges 2012 to 2019, as published.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HEADER = re.compile(r"\s*#(\d{1,9})\s*:(.*)", re.ASCII)
_NUMBERED = re.compile(r"\s*(\d+)\s*:", re.ASCII)
# What begins like a header: ``#3 true``, ``# 3:``, ``#-3:``, ``#:``.
_NEARLY = re.compile(r"\s*#(?:[-+.]?\d|\s+[-+.]?\d+\s*:|\s*:)", re.ASCII)
_SOLUTION = re.compile(r"(true|false)\b", re.IGNORECASE)
_PUBLISHED = re.compile(
    r"problem[-_]?\d+[-_]properties.*\.txt(\.gz)?", re.IGNORECASE | re.ASCII
)

EXPECTED_HEADER = "expected '#K:' with the number K of the property"


class Listed(NamedTuple):
    """A property of a list."""

    number: int
    line: int  # of its header, from 1
    solution: bool | None  # None if the header tells none
    formula: tuple[tuple[int, str], ...]  # its lines, each with its number


class _Header(NamedTuple):
    number: int
    line: int
    remark: str  # what stands behind the colon

    @property
    def solution(self) -> bool | None:
        found = _SOLUTION.match(self.remark)
        return None if found is None else found[1].lower() == "true"


def is_property_list(lines: Sequence[str], file: str) -> bool:
    """Whether a file is a list of properties: by its name, or by its headers.

    Files that begin with a formula with a number of its own (``0: G a``) are none:
    there a line with ``#`` is a comment.
    """
    if _PUBLISHED.fullmatch(PurePath(file).name):
        return True
    for text in lines:
        if _HEADER.match(text):
            return True
        if _is_formula(text):
            return not _NUMBERED.match(text) and any(map(_HEADER.match, lines))
    return False


def _is_formula(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith("#")


def read_list(lines: Sequence[str], file: str) -> list[Listed]:
    """Read the lines of a list of properties.

    A property may have no line of formula: that is its own trouble.

    Raises
    ------
    InputError
        With the line, if headers are not what they should be; see above.
    """
    found: list[Listed] = []
    header: _Header | None = None
    formula: list[tuple[int, str]] = []
    headers = []
    for number, text in enumerate(lines, start=1):
        begun = _header(text, number, file)
        if begun is not None:
            if header is not None:
                found.append(_listed(header, formula))
            headers.append(begun)
            header, formula = begun, []
        elif _is_formula(text):
            if header is None:
                message = f"a formula before the first header, {EXPECTED_HEADER}"
                raise InputError(message, file=file, line=number)
            own = _NUMBERED.match(text)
            if own is not None and (formula or int(own[1]) != header.number):
                message = f"a formula numbered {own[1]} behind '#{header.number}:'"
                raise InputError(message, file=file, line=number)
            text = text if own is None else text[own.end() :]
            formula.append((number, text.strip()))
    if header is None:
        raise InputError(f"no header found, {EXPECTED_HEADER}", file=file)
    found.append(_listed(header, formula))
    _refuse_doubts(headers, file)
    return found


def _listed(header: _Header, formula: list[tuple[int, str]]) -> Listed:
    return Listed(header.number, header.line, header.solution, tuple(formula))


def _header(text: str, line: int, file: str) -> _Header | None:
    """Return what a line is as a header; None if it is none, nor nearly one."""
    found = _HEADER.fullmatch(text)
    if found is not None:
        return _Header(int(found[1]), line, found[2].strip())
    if _NEARLY.match(text):
        message = f"{text.strip()[:40]!r} is no header, {EXPECTED_HEADER}"
        raise InputError(message, file=file, line=line)
    return None


def _refuse_doubts(headers: Sequence[_Header], file: str) -> None:
    """Refuse numbers that stand twice, and words in the place of solutions."""
    first: dict[int, _Header] = {}
    for header in headers:
        if first.setdefault(header.number, header) is not header:
            message = (
                f"a second property {header.number}, the first is that of line "
                f"{first[header.number].line}"
            )
            raise InputError(message, file=file, line=header.line)
    for header in _without_solution(headers, file):
        message = (
            f"{header.remark[:40]!r} behind '#{header.number}:', expected the "
            "solution, true or false"
        )
        raise InputError(message, file=file, line=header.line)


def _without_solution(headers: Sequence[_Header], file: str) -> Iterator[_Header]:
    """Yield the headers whose remark stands where a solution is to be expected."""
    promised = "solution" in PurePath(file).name.lower()
    if not promised and all(header.solution is None for header in headers):
        return
    for header in headers:
        if header.solution is None and header.remark[:1] not in ("", "("):
            yield header
