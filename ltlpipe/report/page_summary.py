"""The upper part of a page: the setting, the verdicts, disagreements, and a matrix.

The matrix has a row for each system, and a verdict in each cell.  Its columns are
chosen for the smallest table: formulas if systems share them, else the places of
formulas in their files; if neither fills a third of the cells, the formulas of each
system are counted.

What pages are made of are the rows of stores, CSV and parquet files (`read_source`).
"""

from __future__ import annotations

import json
import os
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.outcomes import disagreements
from ltlpipe.batch.rers import Agreement
from ltlpipe.batch.results import results
from ltlpipe.batch.stored_rows import is_store
from ltlpipe.batch.table import VERDICTS, from_frame
from ltlpipe.question.given_options import QUESTION_OPTIONS, manner_in, options_in
from ltlpipe.report.graphs import short
from ltlpipe.report.lasso_pictures import Place
from ltlpipe.report.page_data import (
    TITLES,
    common_folder,
    is_name,
    natural,
    number,
    warned,
    without_folder,
)
from ltlpipe.report.palette import DIFFER, SYMBOLS
from ltlpipe.report.plots.configurations import configured
from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from ltlpipe.batch.results import Origins, RunOfStore
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.networks.lts import Network


MANY = 20
"""Values and groups that are listed; beyond that they are counted."""

MOST_CONTRADICTIONS = 200
"""Questions with two answers that are laid out."""

MOST_ANSWERS = 50
"""Answers to one of them that are listed."""

_SETTING = (
    *("ltlpipe_version", "spot_version", "host_cores"),
    *("timeout", "cpu_time", "memory_limit_mib", "max_states"),
)


class Count(NamedTuple):
    """How many tasks came to a verdict for a reason."""

    verdict: str
    reason: str | None
    tasks: int
    share: float  # percent
    seconds: float | None


class Group(NamedTuple):
    """What came of the tasks of one configuration."""

    name: str
    tasks: int
    verdicts: list[int]  # in the order of `VERDICTS`
    seconds: float | None


class Answer(NamedTuple):
    """A row that takes part in a disagreement."""

    row: int
    verdict: str
    configuration: str
    has_changed: bool  # its files have changed


class Contradiction(NamedTuple):
    """A question with two answers, one of which is wrong."""

    text: str
    system: str
    formula: str
    answers: list[Answer]


def setting(source: Source) -> list[tuple[str, list[str]]]:
    """Return the setting of the tasks: titles, and one or several values."""
    frame = source.frame
    facts = [("Source", [source.name]), ("Tasks", [number(len(frame))])]
    facts.append(("Systems", [number(frame["system"].nunique())]))
    for run in source.runs:
        end = f"ended {run.ended_at}" if run.ended_at else "has not ended"
        about = f"began {run.began_at}, {end}, {number(run.n_tasks)} tasks"
        if run.n_tasks or len(source.runs) == 1:
            facts.append((f"Run {run.number}", [shlex.join(run.command), about]))
    for column in _SETTING:
        if values := _values(frame, column):
            facts.append((TITLES[column], values))
    if "warnings" in frame:
        warnings = frame[["warnings"]].apply(warned)
        if values := _values(warnings, "warnings"):
            facts.append((TITLES["warnings"], values))
    if values := _values(frame, "configuration"):
        facts.append(("Configuration" + "s" * (len(values) > 1), values))
    return facts


def _values(frame: pd.DataFrame, column: str) -> list[str]:
    """Return the values of a column as text, the most frequent first."""
    if column not in frame or not frame[column].notna().any():
        return []
    counts = frame[column].value_counts()
    counts = counts[counts > 0]
    shown = [
        number(value) if isinstance(value, (int, float)) else str(value)
        for value in counts.index[:MANY]
    ]
    if len(counts) > MANY:
        shown.append(f"and {number(len(counts) - MANY)} more")
    if absent := int(frame[column].isna().sum()):
        shown.append(f"none for {number(absent)} tasks")
    return shown


def counts(frame: pd.DataFrame) -> list[Count]:
    """Return one entry for each verdict and reason that occur together."""
    by = ["verdict", "reason"] if "reason" in frame else ["verdict"]
    found = [
        Count(
            str(verdict),
            reason[0] if reason else None,
            len(rows),
            100 * len(rows) / len(frame),
            _seconds(rows),
        )
        for (verdict, *reason), rows in _groups(frame, by)
    ]
    return sorted(found, key=lambda c: (VERDICTS.index(c.verdict), -c.tasks))


def groups(frame: pd.DataFrame) -> list[Group]:
    """Return one entry for each configuration, if there are several."""
    if "configuration" not in frame or frame["configuration"].nunique() < 2:
        return []
    return [
        Group(
            name or "(none)",
            len(rows),
            [int((rows["verdict"] == verdict).sum()) for verdict in VERDICTS],
            _seconds(rows),
        )
        for (name,), rows in _groups(frame, ["configuration"])
    ]


def _groups(
    frame: pd.DataFrame, by: list[str]
) -> Iterator[tuple[list[str | None], pd.DataFrame]]:
    """Yield the values of some columns, None where one is missing, and their rows."""
    plain = frame[by].astype("string").astype(object)
    keys = [plain[name].where(plain[name].notna(), "") for name in by]
    for names, rows in frame.groupby(keys, sort=False):
        yield [str(name) or None for name in names], rows


def _seconds(rows: pd.DataFrame) -> float | None:
    """Return the sum of the known seconds; None if nothing is."""
    known = rows["seconds"].dropna() if "seconds" in rows else ()
    return float(sum(known)) if len(known) else None


def agreement(frame: pd.DataFrame) -> Agreement:
    """Return how the verdicts compare with the published ones, if there are such."""
    found = Agreement()
    if "expected" not in frame:
        return found
    plain = frame.reindex(columns=["system", "formula_id", "verdict", "expected"])
    plain = plain[plain["expected"].notna()]
    for place, row in zip(plain.index, from_frame(plain), strict=True):
        found.add(row, int(place))
    return found


def contradictions(source: Source) -> tuple[list[Contradiction], int]:
    """Return the first questions that have two answers, and how many there are.

    Configurations that differ in an option of `QUESTION_OPTIONS` ask two questions;
    nothing is said of rows whose options are not known.  Of
    each question `MOST_ANSWERS` are returned, the two verdicts in turn.
    """
    own = ["system", "formula", "formula_id", "verdict", "configuration"]
    others = ["emptiness", "strategy", "automaton", "translator", "seed", "reason"]
    hosts = ["task", "ltlpipe_version", "spot_version"]
    plain = source.frame.reindex(columns=[*own, *others, *hosts]).astype(object)
    plain["asked"] = [_meaning(text) for text in plain["configuration"]]
    if not source.says_options:
        return [], 0
    # A formula is the same question under each of its names, and an automaton is not.
    asked = plain["formula"].fillna(plain["formula_id"])
    is_known = plain["configuration"].notna()
    decided = plain[is_known & plain["verdict"].isin([HOLDS, VIOLATED])]
    question = [decided["system"], asked[decided.index], decided["asked"]]
    place = decided.groupby(question, dropna=False, sort=False).ngroup()
    answers = decided["verdict"].groupby(place).transform("nunique")
    doubtful = place[answers > 1]
    found = [
        _contradiction(source, decided.loc[doubtful.index[doubtful == which]])
        for which in doubtful.unique()[:MOST_CONTRADICTIONS]
    ]
    return found, int(doubtful.nunique())


def _contradiction(source: Source, rows: pd.DataFrame) -> Contradiction:
    """Return the rows of one question with different verdicts."""
    one_name = rows.assign(formula_id=rows["formula_id"].iloc[0])
    (said,) = disagreements(from_frame(one_name))
    turn = rows.groupby("verdict").cumcount().sort_values(kind="stable")
    first = rows.loc[turn.index[:MOST_ANSWERS]]
    answers = [
        Answer(
            int(k),
            str(row["verdict"]),
            str(row["configuration"] or "default"),
            _has_changed(source, row),
        )
        for k, row in zip(first.index, from_frame(first), strict=True)
    ]
    formula = said.formula or said.formula_id or "no accepting run"
    text = str(said) if len(rows) <= MOST_ANSWERS else f"{number(len(rows))} answers"
    return Contradiction(text, said.system, formula, answers)


def _has_changed(source: Source, row: dict[str, Any]) -> bool:
    """Return whether the files of a stored task have changed."""
    if source.origins is None:
        return False
    versions = (str(row["ltlpipe_version"]), str(row["spot_version"]))
    return source.origins.files(str(row["task"]), versions) is None


def _meaning(configuration: object) -> str:
    """Return the part of a configuration that belongs to the question."""
    if not isinstance(configuration, str):
        return ""
    given = options_in(configuration)
    return json.dumps({n: v for n, v in given.items() if n in QUESTION_OPTIONS})


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
        Line(
            name,
            without_folder(name, folder),
            [cells.get((name, key)) for key in shown],
        )
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
    import pandas as pd

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
    by_system = plain.groupby("system")["formula"]
    plain["count"] = by_system.transform(lambda formulas: pd.factorize(formulas)[0] + 1)
    return "count", "Columns count the formulas of each system."


def _cells(plain: pd.DataFrame, column: str) -> dict[tuple[str, Any], Cell]:
    """Return the cells by system and column."""
    answers: dict[tuple[str, Any], list[Any]] = {}
    keys = zip(plain["system"], plain[column], strict=True)
    for key, answer in zip(keys, plain.itertuples(index=False), strict=True):
        answers.setdefault(key, []).append(answer)
    return {key: _cell(of_cell) for key, of_cell in answers.items()}


def _cell(answers: list[Any]) -> Cell:
    by_verdict: dict[str, list[Any]] = {verdict: [] for verdict in VERDICTS}
    for answer in answers:
        by_verdict[answer.verdict].append(answer)
    said = [verdict for verdict in VERDICTS if by_verdict[verdict]]
    formula = short(answers[0].formula, _LONGEST)
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


def _named(answers: list[Any]) -> str:
    """Return the names of configurations, and why they have no answer."""
    names = [
        answer.configuration + (f" ({answer.reason})" if answer.reason else "")
        for answer in answers[:_NAMES]
    ]
    more = f", {len(answers) - _NAMES} more" if len(answers) > _NAMES else ""
    return ", ".join(names) + more


def _heads(keys: list[Any]) -> list[tuple[str, str]]:
    """Return heads of columns, without the file that all places are in."""
    texts = [str(key) for key in keys]
    files = {text.rpartition(":")[0] for text in texts}
    numbered = all(text.rpartition(":")[2].isdecimal() for text in texts)
    names = texts
    if len(files) == 1 and numbered:
        names = [text.rpartition(":")[2] for text in texts]
    return [(short(name, _HEAD), text) for name, text in zip(names, texts, strict=True)]


NEEDED = ("system", "formula", "verdict")
"""Columns that a result table needs for a report."""

LOADING_SECONDS = 8.0
"""How long systems are loaded for the pictures of lassos."""


class Source(NamedTuple):
    """What is reported on."""

    name: str  # the file's
    frame: pd.DataFrame  # a row per task, from 0, with columns of `ltlpipe.results`
    runs: list[RunOfStore]  # none for a file that is not a store
    origins: Origins | None  # the same
    says_options: bool = True  # whether `configuration` has the options of each row


def read_source(path: StrPath) -> Source:
    """Read a store, or a table that ``solve``, ``compare`` or ``results`` has written.

    Raises
    ------
    LtlpipeError
        As `ltlpipe.results`, or it holds no result table.
    """
    name = Path(path).name
    frame = results(path)
    if is_store(path):
        from ltlpipe.batch.results import Origins

        origins = Origins(path)
        return Source(name, frame, origins.runs, origins)
    said = frame.get("configuration")
    says_options = said is not None and bool(said.notna().any())
    if said is not None and not says_options:
        frame = frame.drop(columns="configuration")
    return Source(name, _checked(frame, os.fspath(path)), [], None, says_options)


def _checked(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Return a table with the columns of a store, as far as they are known."""
    import pandas as pd

    for name in NEEDED:
        if name not in frame.columns:
            raise InputError(f"expected a column {name!r}", file=file)
    if frame["verdict"].isna().any():
        expected = ", ".join(VERDICTS)
        message = f"column 'verdict': a value is missing, expected one of {expected}"
        raise InputError(message, file=file)
    plain = frame.reset_index(drop=True)
    if "configuration" not in plain:
        found = configured(plain)
        labels = found.labels if found.columns else "default"
        plain["configuration"] = pd.Series(labels, index=plain.index, dtype="string")
    return plain


class Loader:
    """Finds the systems of rows, within some seconds in all."""

    def __init__(self, source: Source) -> None:
        self._origins = source.origins
        self._deadline = time.monotonic() + LOADING_SECONDS
        self.ran_out = False  # there was no time for some

    def place(
        self, task: str, versions: tuple[str, str], configuration: str | None
    ) -> Place | None:
        """Return the files of a task's system, if they are unchanged."""
        if self._origins is None or self._is_late():
            return None
        files = self._origins.files(task, versions)
        manner = manner_in(configuration or "")
        return None if files is None else Place(files, tuple(manner.items()))

    def network(self, place: Place) -> Network | None:
        """Load a system; None if that cannot be done, or not in time."""
        assert self._origins is not None  # otherwise there are no files
        if self._is_late():
            return None
        try:
            return self._origins.network(place.files, **dict(place.manner))
        except LtlpipeError:  # it has just gone
            return None

    def _is_late(self) -> bool:
        self.ran_out = self.ran_out or time.monotonic() > self._deadline
        return self.ran_out
