"""What kind of property a formula is: one row per formula.

The columns are computed one after the other, the decisive ones first, in worker
processes: when the time of a formula is over, what is not known is missing.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from ltlpipe.automata import classification, finite_classification
from ltlpipe.batch.table import to_frame
from ltlpipe.logic.actions import anonymous, is_ltl, new_names
from ltlpipe.logic.classes import CLASSES, derivation, syntactic_class
from ltlpipe.logic.erasable import erasure
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import (
    Formula,
    FormulaLike,
    formulas_of,
    from_spot_text,
    raised,
    reread,
    spot_text,
)
from ltlpipe.logic.interruptible import interruptible_formula, witness
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
from ltlpipe.runtime.jobs import TIMEOUT, StoppedError, side_by_side
from ltlpipe.runtime.names import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row
    from ltlpipe.logic.dialects import Dialect
    from ltlpipe.runtime.jobs import Job

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
    "error": "string",
}
"""The columns of an analysis, in order, and their types; missing values are NA.

`alphabet` is a JSON list, `erasable_witness` a JSON object: two words, "violating" and
"satisfying", each with "prefix" and "cycle", of which the second is an erasure of the
first; NA where the formula is erasable.  `norm_states` is the size of the Büchi
automaton that a reduction searches: as Spot returns it if that is in normal form, else
after `norm`; NA if the formula is not interruptible.  `error` says why a formula cannot
be read; nothing else is known of it then.
"""

SECONDS = 60.0
"""Default limit for each formula, in seconds."""


def analyze(
    formulas: FormulaLike | os.PathLike[str] | Iterable[FormulaLike],
    *,
    timeout: float | None = SECONDS,
    jobs: int = 1,
    semantics: str | None = None,
) -> pd.DataFrame:
    """Analyse formulas as properties of actions, and return one row for each.

    Parameters
    ----------
    formulas : formula, formulas or path object
        What to analyse; of a `pathlib.Path` the formulas in the file.
    timeout : float, optional
        Seconds for each formula; None is no limit.
    jobs : int
        Processes at once.
    semantics : str, optional
        "finite" for formulas of finite words (LTLf): then `hierarchy` is "safety",
        "guarantee", "bottom" for both, or missing for neither, `tgba_states` and
        `parity_states` are the states of a nondeterministic and a deterministic
        automaton of finite words, and columns about other automata, and about actions
        that do not matter, are missing.

    Returns
    -------
    DataFrame
        The columns `ANALYSIS_DTYPES`.  Values that are not computed in time are NA, and
        a warning says so.

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
    rows = []
    listed = _as_formulas(formulas, dialect_of({"semantics": semantics}))
    for row, notes in analysis_rows(listed, timeout=timeout, jobs=jobs):
        rows.append(row)
        for note in notes:
            warn(note)
    return to_frame(rows, ANALYSIS_DTYPES)


def _as_formulas(formulas: Any, dialect: Dialect) -> list[Formula | FormulaError]:
    if isinstance(formulas, os.PathLike):
        read = read_formulas(formulas, collect_errors=True)
        return raised([reread(each, dialect) for each in read])
    return raised(formulas_of(formulas, dialect=dialect))


def analysis_rows(
    formulas: Sequence[Formula | FormulaError],
    *,
    timeout: float | None = SECONDS,
    jobs: int = 1,
) -> Iterator[tuple[Row, list[str]]]:
    """Analyse formulas and yield their rows in order, as soon as they are known.

    Each row comes with notes on missing values.
    """
    if jobs < 1:
        raise UnsupportedError(f"--jobs={jobs}: expected at least 1")
    return side_by_side((_analysed(f, timeout) for f in formulas), jobs)


def _analysed(
    formula: Formula | FormulaError, timeout: float | None
) -> Job[tuple[Row, list[str]]]:
    """Have a worker find the columns of a formula, as many as it can in time."""
    if isinstance(formula, FormulaError):
        about = {"formula": formula.formula, "error": str(formula)}
        return dict.fromkeys(ANALYSIS_DTYPES) | about, [str(formula)]
    parts: list[Any] = []
    told: dict[str, Any] = {"text": formula.text, "formula": spot_text(formula.spot)}
    finite = formula.dialect.finite
    job = workers.call("analyse", parts=parts, **told, finite=finite)
    stopped, seconds = yield from within(job, timeout)
    row: Row = dict.fromkeys(ANALYSIS_DTYPES) | {"formula": formula.text}
    for part, _ in parts:
        row |= part
    row["seconds"] = round(seconds, 6)
    notes = [note for _, note in parts if note is not None]
    if isinstance(stopped, StoppedError):
        timed_out = stopped.reason == TIMEOUT
        why = f" after {timeout:g} s" if timed_out else ": Spot ran out of memory"
        notes.append(f"not all is known{why}")
    elif stopped is not None:
        notes.append(str(stopped))
    if row["interruptible"] is None and not finite:
        notes.append(
            "whether it is interruptible is not known; by reductions it is treated as "
            "if not"
        )
    return row, [f"{formula.where}: {note}" for note in notes]


def within(
    job: Job[Any], timeout: float | None
) -> Job[tuple[LtlpipeError | StoppedError | None, float]]:
    """Advance a call of a worker until its time is over.

    Returns why it has not come to its end, if so, and its seconds; those of starting
    a worker do not count.
    """
    started, error = time.monotonic(), None
    try:
        if timeout is not None and timeout <= 0:
            raise StoppedError(TIMEOUT)
        progress = next(job)
        while True:
            if progress.phase == workers.STARTING:
                started = time.monotonic()
            is_late = timeout is not None and time.monotonic() - started >= timeout
            if is_late and not wait(progress.waits, 0):
                raise StoppedError(TIMEOUT)
            progress = job.send((yield progress))
    except StopIteration:
        pass
    except (LtlpipeError, StoppedError) as raised:
        error = raised
    finally:
        job.close()
    return error, time.monotonic() - started


# --- the columns of one formula ---------------------------------------------


_OF_PSL = "it is PSL: only Spot's columns are known"

_KNOWN: dict[Any, Row] = {}
_MAX_KNOWN = 10_000
"""Answers by formula without names: sets have many formulas of the same form."""


def parts_of(
    text: str, formula: str, *, finite: bool = False
) -> Iterator[tuple[Row, str | None]]:
    """Yield the columns of a formula for a worker, with notes on those missing."""
    parsed = Formula(text, from_spot_text(formula))
    return _finite_parts(parsed) if finite else _parts(parsed)


def _finite_parts(formula: Formula) -> Iterator[tuple[Row, str | None]]:
    """Yield the columns of a formula of finite words."""
    yield {"alphabet": json.dumps(formula.propositions, ensure_ascii=False)}, None
    if not is_ltl(formula.spot):
        yield {}, "it is PSL: of finite words only LTL is analysed"
        return
    kinds = finite_classification
    for columns in (
        lambda: {"size": classification.size(formula)},
        lambda: {"stutter_invariant": kinds.is_stutter_invariant(formula)},
        lambda: {"hierarchy": kinds.hierarchy(formula)},
        lambda: {"tgba_states": kinds.n_states(formula, deterministic=False)},
        lambda: {"parity_states": kinds.n_states(formula, deterministic=True)},
    ):
        yield _attempted(columns)


def _parts(formula: Formula) -> Iterator[tuple[Row, str | None]]:
    names = {"alphabet": json.dumps(formula.propositions, ensure_ascii=False)}
    if not is_ltl(formula.spot):
        yield names, _OF_PSL
        for columns, note in map(_attempted, [*_sizes(formula), *_kinds(formula)]):
            yield columns, note
        return
    form = anonymous(formula.spot)
    meaning = {new: name for name, new in new_names(formula.spot).items()}
    if form in _KNOWN:
        yield _named_row(_KNOWN[form], meaning) | names, None
        return
    known: Row = names
    complete = True
    for columns, note in _nameless_parts(Formula(formula.text, form)):
        yield _named_row(columns, meaning) | names, note
        known = known | columns
        complete = complete and note is None
    if complete and len(_KNOWN) < _MAX_KNOWN:
        _KNOWN[form] = known


def _named_row(row: Row, meaning: dict[str, str]) -> Row:
    """Return columns with the original names of the actions of a witness."""
    if row.get("erasable_witness") is None:
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


def _nameless_parts(formula: Formula) -> Iterator[tuple[Row, str | None]]:
    """Yield the columns that do not depend on the names of actions."""
    classes = syntactic_class(formula.spot)
    first: Row = {
        "size": classification.size(formula),
        "syntactic": next((c for c in CLASSES if c in classes), None),
    }
    yield first, None
    interruptible = "intrpt" in classes
    if interruptible:
        yield {"interruptible": True}, None
    else:
        answer, note = _attempted(
            lambda: {"interruptible": interruptible_formula.here(formula)}
        )
        yield answer, note
        interruptible = answer.get("interruptible", False)
    for columns in (
        lambda: _buchi_columns(formula, interruptible),
        lambda: _erasable_columns(formula, interruptible),
        *_kinds(formula),
    ):
        yield _attempted(columns)


def _sizes(formula: Formula) -> list[Callable[[], Row]]:
    """Return what computes the columns of a formula of PSL that need no actions."""
    return [
        lambda: {"size": classification.size(formula)},
        lambda: _buchi_columns(formula, interruptible=False),
    ]


def _kinds(formula: Formula) -> list[Callable[[], Row]]:
    """Return what computes the columns that Spot knows of any formula."""
    return [
        lambda: {"hierarchy": classification.manna_pnueli(formula)},
        lambda: {"stutter_invariant": classification.is_stutter_invariant(formula)},
        lambda: {"tgba_states": classification.n_states(formula, "tgba")},
        lambda: {"generic_states": classification.n_states(formula, "generic")},
        lambda: {"parity_states": classification.n_states(formula, "parity")},
    ]


def _attempted(columns: Callable[[], Row]) -> tuple[Row, str | None]:
    try:
        return columns(), None
    except UnsupportedError as error:
        return {}, str(error)


def _erasable_columns(formula: Formula, interruptible: bool) -> Row:
    found = None if interruptible else erasure(formula)
    if found is None:
        return {"erasable": True}
    return {"erasable": False, "erasable_witness": json.dumps(asdict(found))}


def _buchi_columns(formula: Formula, interruptible: bool) -> Row:
    table = classification.buchi(formula)
    normal, _ = classification.violation_of_normal_form(table)
    norm_states = None
    if interruptible and normal is not None:
        norm_states = (
            table.n_states if normal else classification.n_states_of_norm(table)
        )
    return {
        "ba_states": table.n_states,
        "weak": table.weak,
        "terminal": table.terminal,
        "very_weak": classification.is_very_weak(table),
        "normal_form": normal,
        "norm_states": norm_states,
    }


def json_of(row: Row) -> Row:
    """Return what ``--json`` prints for a row: alphabet and witness as objects."""
    texts = {column: row[column] for column in ("alphabet", "erasable_witness")}
    return row | {c: None if t is None else json.loads(t) for c, t in texts.items()}


# --- why --------------------------------------------------------------------


def explanation(formula: Formula) -> Job[list[str]]:
    """Explain why a formula is interruptible or not, in lines."""
    text, parsed = formula.text, spot_text(formula.spot)
    lines: list[str] = yield from workers.call(
        "explain", phase="explaining", text=text, formula=parsed
    )
    return lines


def explained(text: str, formula: str) -> list[str]:
    """Do the work of `explanation`."""
    return list(explain(Formula(text, from_spot_text(formula))))


def explain(formula: Formula) -> Iterator[str]:
    """Yield the lines that explain why a formula is interruptible or not.

    It can take long, as `is_interruptible`; operators of PSL are refused, and formulas
    too large for Spot.
    """
    yield f"formula: {formula.text}"
    yield f"actions: {', '.join(formula.propositions) or 'none'}"
    if "intrpt" in syntactic_class(formula.spot):
        yield "interruptible: yes, by its syntax (Siegel & Yan 2020, Prop. 5)"
        shown = [(text, _named(classes)) for text, classes in derivation(formula.spot)]
        width = max(len(text) for text, _ in shown)
        yield from (f"  {text:{width}}  {classes}" for text, classes in shown)
    else:
        yield from _explain_by_words(formula)
    yield from _explain_automaton(formula)


def _named(classes: frozenset[str]) -> str:
    return ", ".join(name.capitalize() for name in CLASSES if name in classes) or "-"


def _explain_by_words(formula: Formula) -> Iterator[str]:
    found = witness(formula)
    if found is None:
        yield "interruptible: yes, though no rule of Prop. 5 shows it: no word differs"
        yield "  from its interrupt-free form (Siegel & Yan 2020, Lemma 2, Theorem 1)"
        return
    yield "interruptible: no; two words with the same visible actions:"
    yield f"  satisfies it:  {found.satisfying}"
    yield f"  violates it:   {found.violating}"
    yield f"  visible:       {found.visible(formula.propositions)}"
    yield "  (both evaluated by the definition of LTL, without automata)"
    yield from _explain_erasable(formula)


def _explain_erasable(formula: Formula) -> Iterator[str]:
    found = erasure(formula)
    if found is None:
        yield "erasable: yes; violations survive repeating and deleting other actions"
        return
    yield "erasable: no; two words that differ in how often others happen:"
    yield f"  violates it:   {found.violating}"
    yield f"  satisfies it:  {found.satisfying}"


def _explain_automaton(formula: Formula) -> Iterator[str]:
    table = classification.buchi(formula)
    normal, violation = classification.violation_of_normal_form(table)
    no = "" if normal else "not "
    states = counted(table.n_states, "state")
    yield f"Büchi automaton: {states}, {no}in interrupt normal form"
    if not normal:
        yield f"  {violation}"
