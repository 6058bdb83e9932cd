"""Reading LTL formulas: Spot's syntax, and what RERS files add to it.

Beyond Spot's syntax (https://spot.lre.epita.fr/concepts.html#ltl) `WU` stands
for weak until, as in the files of the RERS challenge.  A file holds one formula
per line; lines that begin with ``#`` and blank lines say nothing, and a number
with a colon before a formula (``0: G a``) is no part of it.
"""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal, overload

from ltlpipe._errors import FormulaError, InputError
from ltlpipe._files import read_text

if TYPE_CHECKING:
    from ltlpipe._files import StrPath

# Quoted propositions are matched first so that nothing inside them is touched.
_WEAK_UNTIL = re.compile(r'"(?:[^"\\]|\\.)*"|\bWU\b')
_NUMBERING = re.compile(r"\s*\d+\s*:")


@dataclass(frozen=True)
class Formula:
    """A parsed formula and where it comes from.

    Parameters
    ----------
    text : str
        As the user wrote it, without numbering.
    spot : spot.formula
        What it means.
    file, line : optional
        The file and the line in it, if it was read from one.
    """

    text: str
    spot: Any
    file: str | None = None
    line: int | None = None

    @property
    def propositions(self) -> tuple[str, ...]:
        """The names of its atomic propositions, sorted."""
        import spot

        found = spot.atomic_prop_collect(self.spot)
        return tuple(sorted(p.ap_name() for p in found))

    @property
    def identifier(self) -> str:
        """The place in a file (``name.ltl:3``), or the formula itself."""
        return identifier(self)


def formula_text(formula: Formula | FormulaError) -> str:
    """Return the text of a formula, be it well formed or not."""
    return formula.text if isinstance(formula, Formula) else formula.formula


def identifier(formula: Formula | FormulaError) -> str:
    """Return the place of a formula in its file, or the formula itself."""
    if formula.file is None:
        return formula_text(formula)
    return f"{PurePath(formula.file).name}:{formula.line}"


def parse(text: str, *, file: str | None = None, line: int | None = None) -> Formula:
    """Parse one formula.

    Parameters
    ----------
    text : str
        LTL in Spot's syntax, or with `WU`.
    file, line : optional
        Where it comes from, for messages.

    Raises
    ------
    FormulaError
        With the position of the first error.

    Examples
    --------
    >>> parse("a WU b").spot.to_str()
    'a W b'
    """
    import spot

    if not text.strip():
        raise FormulaError(
            "an empty formula; expected LTL in Spot's syntax",
            formula=text,
            position=0,
            file=file,
            line=line,
        )
    # "W " keeps every later position where the user sees it.
    plain = _WEAK_UNTIL.sub(
        lambda m: "W " if m.group() == "WU" else m.group(), text
    ).replace("\n", " ")
    parsed = spot.parse_infix_psl(plain)
    stream = spot.ostringstream()
    if parsed.format_errors(stream):
        message, position = _first_error(stream.str(), plain)
        raise FormulaError(
            message, formula=text, position=position, file=file, line=line
        )
    return Formula(text.strip(), parsed.f, file, line)


def _first_error(report: str, text: str) -> tuple[str, int]:
    """Return message and position of the first error of Spot's report.

    The report repeats, for each error, the formula after ``>>> ``, a line with
    a caret below the place, and the message.
    """
    lines = report.splitlines()
    position, message = 0, "syntax error"
    for above, below in itertools.pairwise(lines):
        if above.strip() and set(above.strip()) <= {"^", "~"}:
            column = above.index("^") - len(">>> ")
            # Spot counts bytes, the reader sees characters.
            head = text.encode()[: max(column, 0)]
            position, message = len(head.decode(errors="ignore")), below
            break
    return message, position


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
        One formula per line; ``.gz`` is decompressed.
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
    formulas: list[Formula | FormulaError] = []
    for number, content in enumerate(read_text(path).splitlines(), start=1):
        if not content.strip() or content.lstrip().startswith("#"):
            continue
        text = _NUMBERING.sub("", content, count=1)
        try:
            formulas.append(parse(text.strip(), file=name, line=number))
        except FormulaError as error:
            if not collect_errors:
                raise
            formulas.append(error)
    if not formulas:
        raise InputError("no formula found; expected one per line", file=name)
    return formulas
