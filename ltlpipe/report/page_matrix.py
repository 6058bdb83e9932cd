"""The matrix of a page: systems, formulas, and a verdict in each cell.

Columns are chosen for the smallest table: formulas if systems share them, else the
places of formulas in their files; if neither fills a third of the cells, the formulas
of each system are counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.table import VERDICTS
from ltlpipe.report.page_data import common_folder, is_name, natural, number
from ltlpipe.report.palette import DIFFER, SYMBOLS
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    import pandas as pd

MOST_SYSTEMS, MOST_FORMULAS = 50, 40
"""Rows and columns; the table of tasks has all."""

FULL_ENOUGH = 1 / 3
"""The share of cells that have to be filled, unless formulas are counted."""

_NAMES = 6  # configurations that a cell lists for a verdict
_LONGEST = 160  # characters of a formula in the title of a cell
_HEAD = 48  # of a column's head


class Cell(NamedTuple):
    """The answers to one question."""

    row: int  # the task that the cell leads to: one of those that differ
    kind: str  # a verdict, or "differ"
    sign: str
    title: str  # the question and its answers, in words


class Line(NamedTuple):
    """A system."""

    system: str
    name: str  # without the folder that all systems are in
    cells: list[Cell | None]  # one for each column; None: not asked


class Matrix(NamedTuple):
    """Systems as rows, formulas as columns."""

    heads: list[tuple[str, str]]  # the title of a column, short and in full
    lines: list[Line]
    about: str  # the kind of the columns
    left_out: str  # empty if nothing is

    @property
    def is_wordy(self) -> bool:
        """Whether heads are formulas."""
        return any(len(short) > 4 for short, _ in self.heads)


class _Answer(NamedTuple):
    """A row, as far as its cell shows it."""

    formula: str
    verdict: str
    reason: str | None
    configuration: str
    row: int


def matrix(frame: pd.DataFrame) -> Matrix | None:
    """Return the matrix of a result table; None if it has less than two cells.

    `frame` has rows from 0 on, and the column `configuration`.
    """
    plain = _plain(frame)
    systems = [*dict.fromkeys(plain["system"])]
    chosen = plain[plain["system"].isin(systems[:MOST_SYSTEMS])].copy()
    column, about = _columns(chosen)
    keys = [*dict.fromkeys(chosen[column])]
    if all(str(key).rpartition(":")[2].isdecimal() for key in keys):  # no names
        keys.sort(key=lambda key: natural(str(key)))
    if len(keys) * min(len(systems), MOST_SYSTEMS) < 2:
        return None
    shown = keys[:MOST_FORMULAS]
    cells = _cells(chosen[chosen[column].isin(shown)], column)
    folder = common_folder(systems)
    lines = [
        Line(name, name.replace(folder, ""), [cells.get((name, key)) for key in shown])
        for name in systems[:MOST_SYSTEMS]
    ]
    left_out = ""
    if len(systems) > MOST_SYSTEMS or len(keys) > MOST_FORMULAS:
        left_out = (
            f"Shown: {len(lines)} of {number(len(systems))} systems, and {len(shown)} "
            f"of {number(len(keys))} columns of these; the table of tasks has all."
        )
    return Matrix(_heads(shown), lines, about, left_out)


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the texts of the matrix, and the number of each row."""
    columns = ["system", "formula", "formula_id", "verdict", "reason", "configuration"]
    plain = frame.reindex(columns=columns).astype(object)
    plain = plain.where(plain.notna(), None)
    plain["row"] = range(len(plain))
    plain["system"] = plain["system"].fillna("(no system)").astype(str)
    plain["formula"] = plain["formula"].fillna(plain["formula_id"])
    plain["formula"] = plain["formula"].fillna("(no formula)").astype(str)
    plain["configuration"] = plain["configuration"].fillna("default")
    return plain


def _columns(plain: pd.DataFrame) -> tuple[str, str]:
    """Return the column whose values head the matrix, and their kind.

    It is added to `plain` where formulas are counted.
    """
    n_systems = plain["system"].nunique()
    found = [("formula", "Columns are formulas.")]
    by_place = plain.groupby(["system", "formula_id"])["formula"]
    if plain["formula_id"].notna().all() and not by_place.nunique().gt(1).any():
        ids, formulas = {*map(str, plain["formula_id"])}, {*plain["formula"]}
        if any(is_name(text, formulas) for text in ids):
            found.insert(0, ("formula_id", "Columns are formulas, by their names."))
        places = {text.rpartition(":")[0] for text in ids}
        where = f" in {places.pop()}" if len(places) == 1 and "" not in places else ""
        found.append(("formula_id", f"Columns are the places of formulas{where}."))
    best = min(found, key=lambda each: plain[each[0]].nunique())
    n_cells = len(plain[["system", best[0]]].drop_duplicates())
    if n_cells >= FULL_ENOUGH * n_systems * plain[best[0]].nunique():
        return best
    asked = ["system", "formula"]
    first = plain.drop_duplicates(asked)
    counted = first.groupby("system").cumcount() + 1
    of_question = dict(zip(map(tuple, first[asked].to_numpy()), counted, strict=True))
    plain["count"] = [of_question[tuple(pair)] for pair in plain[asked].to_numpy()]
    return "count", "Columns count the formulas of each system."


def _cells(plain: pd.DataFrame, column: str) -> dict[tuple[str, Any], Cell]:
    """Return the cells by system and column."""
    answers: dict[tuple[str, Any], list[_Answer]] = {}
    names = ["formula", "verdict", "reason", "configuration", "row"]
    keys = zip(plain["system"], plain[column], strict=True)
    for key, answer in zip(keys, plain[names].itertuples(index=False), strict=True):
        answers.setdefault(key, []).append(_Answer(*answer))
    return {key: _cell(of_cell) for key, of_cell in answers.items()}


def _cell(answers: list[_Answer]) -> Cell:
    by_verdict: dict[str, list[_Answer]] = {verdict: [] for verdict in VERDICTS}
    for answer in answers:
        by_verdict[answer.verdict].append(answer)
    said = [verdict for verdict in VERDICTS if by_verdict[verdict]]
    formula = _shortened(answers[0].formula, _LONGEST)
    if len(said) == 1:
        (verdict,) = said
        reasons = ", ".join(dict.fromkeys(a.reason for a in answers if a.reason))
        title = f"{formula}: {verdict}" + (f" ({reasons})" if reasons else "")
        return Cell(answers[0].row, verdict, SYMBOLS[verdict], title)
    if {HOLDS, VIOLATED} <= {*said}:
        kind, sign = "differ", DIFFER
    else:
        kind, sign = said[0], SYMBOLS[said[0]] + SYMBOLS[UNKNOWN]
    words = [f"{verdict}: {_named(by_verdict[verdict])}" for verdict in said]
    rarest = min(reversed(said), key=lambda verdict: len(by_verdict[verdict]))
    place = by_verdict[rarest][0].row
    return Cell(place, kind, sign, f"{formula}: {'; '.join(words)}")


def _named(answers: list[_Answer]) -> str:
    """Return the names of configurations, and why they have no answer."""
    names = [
        f"{answer.configuration} ({answer.reason})"
        if answer.reason
        else answer.configuration
        for answer in answers[:_NAMES]
    ]
    more = f", {len(answers) - _NAMES} more" if len(answers) > _NAMES else ""
    return ", ".join(names) + more


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _heads(keys: list[Any]) -> list[tuple[str, str]]:
    """Return heads of columns, without the file that all places are in."""
    texts = [str(key) for key in keys]
    files = {text.rpartition(":")[0] for text in texts}
    numbered = all(text.rpartition(":")[2].isdecimal() for text in texts)
    found = []
    for text in texts:
        short = text.rpartition(":")[2] if len(files) == 1 and numbered else text
        found.append((_shortened(short, _HEAD), text))
    return found
