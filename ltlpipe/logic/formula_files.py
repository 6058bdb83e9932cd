"""Files of formulas.

A file holds one formula per line; lines that begin with ``#`` and blank lines say
nothing, and a number with a colon before a formula (``0: G a``) is its number and no
part of it.  Files of the Model Checking Contest (``.xml``) are read, too
(`ltlpipe.logic.mcc`).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.runtime.errors import FormulaError, InputError
from ltlpipe.runtime.files import read_text, split_suffix
from ltlpipe.runtime.jobs import complete

if TYPE_CHECKING:
    from ltlpipe.runtime.files import StrPath

_NUMBERING = re.compile(r"\s*(\d+)\s*:")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")


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
        One formula per line, or a property file of the Model Checking Contest
        (``.xml``); ``.gz`` is decompressed.
    collect_errors : bool
        Whether a line that does not parse becomes an entry of the list instead
        of ending the reading.

    Raises
    ------
    FormulaError
        A line does not parse; carries file, line and position.
    InputError
        The file cannot be read, or holds no formula.
    """
    name = os.fspath(path)
    if split_suffix(name)[1] == ".xml":
        return _properties(name, collect_errors=collect_errors)
    formulas: list[Formula | FormulaError] = []
    for number, content in enumerate(_LINE_BREAK.split(read_text(path)), start=1):
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        numbering = _NUMBERING.match(content)
        text = content if numbering is None else content[numbering.end() :]
        try:
            formula = parse(text.strip(), file=name, line=number)
            if numbering is not None:
                formula = replace(formula, number=int(numbering[1]))
            formulas.append(formula)
        except FormulaError as error:
            if not collect_errors:
                raise
            formulas.append(error)
    if not formulas:
        raise InputError("no formula found; expected one per line", file=name)
    return formulas


def _properties(name: str, *, collect_errors: bool) -> list[Formula | FormulaError]:
    """Read the formulas of a property file of the Model Checking Contest."""
    from ltlpipe.logic.mcc import property_job

    formulas: list[Formula | FormulaError] = []
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
            formulas.append(replace(formula, name=about.name))
        except FormulaError as error:
            if not collect_errors:
                raise
            formulas.append(error)
    return formulas
