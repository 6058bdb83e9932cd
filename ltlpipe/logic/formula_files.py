"""Files of formulas.

A file holds one formula per line; lines that begin with ``#`` and blank lines say
nothing, and a number with a colon before a formula (``0: G a``) is its number and no
part of it.  Lists of properties with a header ``#K:`` before each formula
(`ltlpipe.logic.property_lists`), whatever their suffix, and files of the Model Checking
Contest (``.xml``, `ltlpipe.logic.mcc`) are read, too.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.property_lists import Listed, is_property_list, read_list
from ltlpipe.runtime.errors import FormulaError, InputError
from ltlpipe.runtime.files import read_text, split_suffix
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.files import StrPath

_NUMBERING = re.compile(r"\s*(\d+)\s*:")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Asked(NamedTuple):
    """A formula of a file, and what its file says about it."""

    formula: Formula | FormulaError  # an error if it does not parse
    number: int | None = None  # by its header, or before it
    solution: bool | None = None  # whether it holds, as published


@overload
def read_formulas(path: StrPath) -> list[Formula]: ...


@overload
def read_formulas(
    path: StrPath, *, collect_errors: Literal[True]
) -> list[Formula | FormulaError]: ...


def read_formulas(path: StrPath, *, collect_errors: bool = False) -> Any:
    """Read the formulas of a file.

    Parameters
    ----------
    path : path
        One formula per line, a list of properties with headers, or a property file of
        the Model Checking Contest (``.xml``); ``.gz`` is decompressed.
    collect_errors : bool
        Whether a formula that does not parse becomes an entry of the list instead
        of ending the reading.

    Raises
    ------
    FormulaError
        A formula does not parse; carries file, line and position.
    InputError
        The file cannot be read, holds no formula, or its headers are wrong.
    """
    found = read_asked(path)
    for asked in found:
        if isinstance(asked.formula, FormulaError) and not collect_errors:
            raise asked.formula
    return [asked.formula for asked in found]


def read_asked(path: StrPath) -> list[Asked]:
    """Read the formulas of a file, and what is said about them.

    Raises
    ------
    InputError
        As `read_formulas`.
    """
    name = os.fspath(path)
    if split_suffix(name)[1] == ".xml":
        return list(_properties(name))
    lines = _LINE_BREAK.split(read_text(path))
    if is_property_list(lines, name):
        listed = read_list(lines, name)
        if not any(each.formula for each in listed):
            message = "no formula found; expected one behind each header"
            raise InputError(message, file=name)
        return [_listed(each, name) for each in listed]
    found = list(_plain(lines, name))
    if not found:
        raise InputError("no formula found; expected one per line", file=name)
    return found


def _plain(lines: Sequence[str], name: str) -> Iterator[Asked]:
    """Yield the formulas of a file that has one per line."""
    for line, content in enumerate(lines, start=1):
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        numbering = _NUMBERING.match(content)
        text = content if numbering is None else content[numbering.end() :]
        number = None if numbering is None else int(numbering[1])
        try:
            formula = parse(text.strip(), file=name, line=line)
        except FormulaError as error:
            yield Asked(error, number)
        else:
            yield Asked(replace(formula, number=number), number)


def _listed(listed: Listed, name: str) -> Asked:
    """Parse a property of a list; its formula may stand on several lines."""
    try:
        formula = _of_lines(listed, name)
    except FormulaError as error:
        return Asked(error, listed.number, listed.solution)
    return Asked(formula, listed.number, listed.solution)


def _of_lines(listed: Listed, file: str) -> Formula:
    """Return the formula of a property, whose text is one line."""
    number = listed.number
    if not listed.formula:
        raise FormulaError(
            f"no formula behind '#{number}:', expected it on the lines that follow",
            formula="",
            file=file,
            line=listed.line,
            name=str(number),
        )
    text = " ".join(part for _, part in listed.formula)
    first = listed.formula[0][0]
    try:
        # With the line breaks: no proposition in quotes goes over one.
        formula = parse("\n".join(part for _, part in listed.formula))
    except FormulaError as error:
        raise FormulaError(
            error.message,
            formula=text,
            position=error.position,
            file=file,
            line=_line_of(listed, error.position),
            name=str(number),
        ) from None
    return replace(
        formula, text=text, file=file, line=first, number=number, name=str(number)
    )


def _line_of(listed: Listed, position: int | None) -> int:
    """Return the line in which a position of the formula's text lies."""
    end = 0
    for line, part in listed.formula:
        end += len(part) + 1
        if position is None or position < end:
            return line
    return listed.formula[-1][0]


def _properties(name: str) -> Iterator[Asked]:
    """Yield the formulas of a property file of the Model Checking Contest."""
    from ltlpipe.logic.mcc import property_job

    for about in complete(property_job(name)):
        try:
            if not about.is_formula:
                raise FormulaError(
                    f"{about.name}: {about.text}",
                    formula=about.name,
                    file=name,
                    line=about.line,
                )
            formula = parse(about.text, file=name, line=about.line)
            yield Asked(replace(formula, name=about.name))
        except FormulaError as error:
            yield Asked(error)
