"""Tables of formulas as properties: one row per formula.

Columns are computed in worker processes, group by group, cheap ones first
(`ltlpipe.batch.formula_columns`).  Spot cannot be interrupted, so a group that has used
its share of the time is ended with its worker; the others go on, and what is left of
the time goes to those that were ended.
"""

from __future__ import annotations

import json
import os
import time
from math import inf
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.formula_columns import (
    ACTION,
    FINITE,
    STATE,
    bounded,
    columns_of,
    groups_of,
    semantics_of,
)
from ltlpipe.batch.table import to_frame
from ltlpipe.logic.actions import anonymous, is_ltl, new_names
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import (
    Formula,
    FormulaLike,
    formulas_of,
    raised,
    reread,
    spot_text,
)
from ltlpipe.logic.words import other_action
from ltlpipe.question.given_options import dialect_of
from ltlpipe.runtime import workers
from ltlpipe.runtime.arguments import NUMBER, WHOLE, expect
from ltlpipe.runtime.errors import (
    FormulaError,
    LtlpipeError,
    UnsupportedError,
    warn,
)
from ltlpipe.runtime.jobs import (
    TIMEOUT,
    StoppedError,
    ended_by_ctrl_c,
    guided,
    side_by_side,
    wait,
)
from ltlpipe.runtime.names import counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row
    from ltlpipe.logic.history import Dialect
    from ltlpipe.runtime.jobs import Grant, Job, Progress

ANALYSIS_DTYPES = {
    "formula": "string",
    "alphabet": "string",
    "size": "Int64",
    "hierarchy": "string",
    "stutter_invariant": "boolean",
    "interruptible": "boolean",
    "syntactic": "string",
    "ba_states": "Int64",
    "tgba_states": "Int64",
    "parity_states": "Int64",
    "generic_states": "Int64",
    "weak": "boolean",
    "terminal": "boolean",
    "very_weak": "boolean",
    "normal_form": "boolean",
    "norm_states": "Int64",
    "seconds": "Float64",
    "erasable": "boolean",
    "erasable_witness": "string",
    "semantics": "string",
    "error": "string",
}
"""The columns of an analysis, in order, and their types; missing values are NA.

`semantics` says what the propositions are about: "action", one at a time, "state",
independent of each other, or "finite", actions of finite words.  Of formulas about
states `interruptible` is `stutter_invariant`, and `syntactic`, `normal_form`,
`norm_states` and `erasable`, which are about actions, are NA.  `hierarchy` is the
smallest class, or "at most" and a class that the formula is in where the smallest one
was not found in time.

`alphabet` is a JSON list, `erasable_witness` a JSON object: two words, "violating" and
"satisfying", each with "prefix" and "cycle", of which the second is an erasure of the
first; NA where the formula is erasable.  `norm_states` is the size of the Büchi
automaton that a reduction searches: as Spot returns it if that is in normal form, else
after `norm`; NA if the formula is not interruptible.  `error` says why a formula cannot
be read; nothing else is known of it then.
"""

_known_forms: dict[Any, Row] = {}
_MAX_FORMS = 10_000
"""Rows by formula without names: sets have many formulas of the same form."""

_GIVEN = ("syntactic", "interruptible", "normal_form", "ba_states")
"""Columns that others depend on."""

SECONDS = 60.0
"""Default limit for each formula, in seconds."""


def analyze(
    formulas: FormulaLike | os.PathLike[str] | Iterable[FormulaLike],
    *,
    semantics: str | None = None,
    timeout: float | None = SECONDS,
    jobs: int = 1,
) -> pd.DataFrame:
    """Analyse formulas as properties of actions or states, one row for each.

    Parameters
    ----------
    formulas : formula, formulas or path object
        What to analyse; of a `pathlib.Path` the formulas in the file.
    semantics : str, optional
        "action": exactly one proposition, or an action that the formula does not name,
        holds at each step; "state": propositions are independent of each other.  By
        default "state" for a formula with a comparison or ``fireable(...)``, else
        "action".  "finite" for formulas of finite words (LTLf) of actions: then
        `hierarchy` is "safety", "guarantee", "bottom" for both, or missing for neither,
        `tgba_states` and `parity_states` are the states of a nondeterministic and a
        deterministic automaton of finite words, and columns about other automata, and
        about actions that do not matter, are missing.
    timeout : float, optional
        Seconds for each formula, of which each column gets a share; None is no limit.
    jobs : int
        Processes at once.

    Returns
    -------
    DataFrame
        The columns `ANALYSIS_DTYPES`.  Values that are not computed in time are NA, and
        a warning says so.  After Ctrl-C the frame has the rows that are finished, with
        a warning.

    Raises
    ------
    FormulaError, InputError
        The one formula, or the file, cannot be read; one of several formulas that
        cannot be read has a row with the error.

    Examples
    --------
    >>> analyze(["G(a -> F b)", "G(a -> X b)"])["interruptible"].tolist()
    [True, False]
    """
    expect(NUMBER.or_none, timeout=timeout)
    expect(WHOLE, jobs=jobs)
    rows: list[Row] = []
    known = _as_formulas(formulas, dialect_of({"semantics": semantics}))
    with ended_by_ctrl_c():
        for row, notes in analysis_rows(
            known, semantics=semantics, timeout=timeout, jobs=jobs
        ):
            rows.append(row)
            for note in notes:
                warn(note)
    if len(rows) < len(known):
        warn(f"interrupted: {len(rows)} of {counted(len(known), 'formula')} analysed")
    return to_frame(rows, ANALYSIS_DTYPES)


def _as_formulas(formulas: Any, dialect: Dialect) -> list[Formula | FormulaError]:
    if isinstance(formulas, os.PathLike):
        read = read_formulas(formulas, collect_errors=True)
        return raised([reread(each, dialect) for each in read])
    return raised(formulas_of(formulas, dialect=dialect))


def analysis_rows(
    formulas: Sequence[Formula | FormulaError],
    *,
    semantics: str | None = None,
    timeout: float | None = SECONDS,
    jobs: int = 1,
) -> Iterator[tuple[Row, list[str]]]:
    """Analyse formulas and yield their rows in order, as soon as they are known.

    Each row comes with notes on missing values.  Formulas of finite words say so
    themselves.
    """
    if jobs < 1:
        raise UnsupportedError(f"--jobs={jobs}: expected at least 1")
    if semantics not in (None, ACTION, STATE, FINITE):
        expected = listed([ACTION, STATE, FINITE])
        raise UnsupportedError(f"--semantics={semantics}: expected {expected}")
    return side_by_side((_analysed(f, semantics, timeout) for f in formulas), jobs)


def _analysed(
    formula: Formula | FormulaError, semantics: str | None, timeout: float | None
) -> Job[tuple[Row, list[str]]]:
    """Have workers find the columns of a formula, as many as they can in time."""
    if isinstance(formula, FormulaError):
        about = {"formula": formula.formula, "error": str(formula)}
        return dict.fromkeys(ANALYSIS_DTYPES) | about, [str(formula)]
    finite = formula.dialect.finite
    semantics = FINITE if finite else semantics or semantics_of(formula)
    started = time.monotonic()
    is_plain = is_ltl(formula.spot)  # names of PSL stay
    names = new_names(formula.spot) if is_plain else {}
    form = anonymous(formula.spot) if is_plain else formula.spot
    key = form, semantics
    notes: list[str] = []
    if key in _known_forms:
        row, seconds = _known_forms[key], time.monotonic() - started
    else:
        columns = _Columns(form, semantics, timeout)
        groups, why = groups_of(semantics, is_plain=is_plain)
        columns.notes += [] if why is None else [why]
        yield from columns.found(groups)
        columns.again = True
        yield from columns.found(columns.late)
        row, notes, seconds = columns.row, columns.all_notes(), columns.spent
        if not notes and len(_known_forms) < _MAX_FORMS:
            _known_forms[key] = row
    given = {
        "formula": formula.text,
        "alphabet": json.dumps(formula.propositions, ensure_ascii=False),
        "semantics": semantics,
        "seconds": round(seconds, 6),
    }
    row = _with_names(row, {new: name for name, new in names.items()}) | given
    if row["hierarchy"] is None and not finite:
        row["hierarchy"] = bounded(formula, row)
    return row, [f"{formula.where}: {note}" for note in notes]


def _with_names(row: Row, meaning: dict[str, str]) -> Row:
    """Return columns with the original names of the actions of a witness."""
    if row["erasable_witness"] is None:
        return row
    other = other_action(meaning.values())
    witness = {
        word: {
            part: [meaning.get(letter, other) for letter in letters]
            for part, letters in parts.items()
        }
        for word, parts in json.loads(row["erasable_witness"]).items()
    }
    return row | {"erasable_witness": json.dumps(witness, ensure_ascii=False)}


class _Columns:
    """What is known of a formula, and the time that is left for the rest."""

    def __init__(self, formula: Any, semantics: str, timeout: float | None) -> None:
        self.formula, self.semantics, self.timeout = formula, semantics, timeout
        self.row: Row = dict.fromkeys(ANALYSIS_DTYPES)
        self.notes: list[str] = []
        self.late: list[str] = []  # groups that have used their share
        self.spent = 0.0
        self.again = False  # this is the last attempt

    @property
    def left(self) -> float:
        """Return the seconds that are left."""
        return inf if self.timeout is None else self.timeout - self.spent

    def found(self, groups: Sequence[str]) -> Job[None]:
        """Find the columns of groups, each within an equal share of what is left."""
        todo, self.late = list(groups), []
        while todo:
            if self.left <= 0:
                self.late += todo
                return
            stopped = yield from self._call(todo)
            if stopped is None:
                return
            self._lose(todo.pop(0), stopped)

    def _call(self, todo: list[str]) -> Job[LtlpipeError | StoppedError | None]:
        """Have a worker find columns; what is found is removed from `todo`.

        Returns why the worker has not come to its end, if so.
        """
        parts: list[Any] = []
        later = 0 if self.again else len(self.late)  # they get a share again
        share = self.left / (len(todo) + later)
        since, n_found = 0.0, 0

        def is_late(seconds: float) -> bool:
            nonlocal share, since, n_found
            if n_found < len(parts) < len(todo):
                since, n_found = seconds, len(parts)
                share = (self.left - seconds) / (len(todo) - n_found + later)
            return seconds - since >= share

        job = workers.call(
            "analyse",
            parts=parts,
            formula=spot_text(self.formula),
            semantics=self.semantics,
            groups=list(todo),
            known={c: self.row[c] for c in _GIVEN if self.row[c] is not None},
        )
        stopped, seconds = yield from within(job, is_late)
        self.spent += seconds
        del todo[: len(parts)]
        for row, note in parts:
            self.row |= row
            self.notes += [] if note is None else [note]
        return stopped

    def _lose(self, group: str, stopped: LtlpipeError | StoppedError) -> None:
        """Go on without a group, for now if it is late."""
        if isinstance(stopped, StoppedError) and stopped.reason == TIMEOUT:
            self.late.append(group)
            return
        why = "Spot ran out of memory"
        if not isinstance(stopped, StoppedError):
            why = str(stopped)
        self.notes.append(f"no {listed(columns_of(group))}: {why}")

    def all_notes(self) -> list[str]:
        """Return the reasons why values are missing."""
        notes = list(dict.fromkeys(self.notes))
        if self.late:
            lost = [column for group in self.late for column in columns_of(group)]
            after = f"after {self.timeout:g} s"
            notes.append(f"not all is known {after}: no {listed(lost)}")
        if self.row["interruptible"] is None and self.semantics != FINITE:
            notes.append(
                "whether it is interruptible is not known; by reductions it is treated "
                "as if not"
            )
        return notes


def within(
    job: Job[Any], is_over: Callable[[float], bool]
) -> Job[tuple[LtlpipeError | StoppedError | None, float]]:
    """Advance a call of a worker until its time is over, which its seconds decide.

    Returns why it has not come to its end, if so, and its seconds; those of starting
    a worker do not count.
    """
    started, error = time.monotonic(), None

    def turn(progress: Progress) -> Job[Grant]:
        nonlocal started
        if progress.phase == workers.STARTING:
            started = time.monotonic()
        is_late = is_over(time.monotonic() - started)
        if is_late and not wait(progress.waits, 0):
            raise StoppedError(TIMEOUT)
        return (yield progress)

    try:
        yield from guided(job, turn)
    except (LtlpipeError, StoppedError) as raised:
        error = raised
    return error, time.monotonic() - started


def json_of(row: Row) -> Row:
    """Return what ``--json`` prints for a row: alphabet and witness as objects."""
    texts = {column: row[column] for column in ("alphabet", "erasable_witness")}
    return row | {c: None if t is None else json.loads(t) for c, t in texts.items()}
