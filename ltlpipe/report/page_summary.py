"""The upper part of a page: the setting, the verdicts, and disagreements."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.outcomes import disagreements
from ltlpipe.batch.rers import Agreement
from ltlpipe.batch.table import VERDICTS, from_frame
from ltlpipe.question.given_options import QUESTION_OPTIONS, options_in
from ltlpipe.report.page_data import TITLES, number, warned
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from ltlpipe.report.reading import Source

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
            _total(rows, "seconds"),
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
            _total(rows, "seconds"),
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


def _total(rows: pd.DataFrame, column: str) -> float | None:
    """Return the sum of the known values; None if nothing is."""
    known = rows[column].dropna() if column in rows else ()
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
    others = ["emptiness", "automaton", "translator", "seed", "reason"]
    hosts = ["task", "ltlpipe_version", "spot_version"]
    plain = source.frame.reindex(columns=[*own, *others, *hosts]).astype(object)
    plain["asked"] = [_meaning(text) for text in plain["configuration"]]
    if not source.says_options:
        return [], 0
    is_known = plain["configuration"].notna()
    decided = plain[is_known & plain["verdict"].isin([HOLDS, VIOLATED])]
    # A formula is the same question under each of its names.
    plain["formula"] = plain["formula"].fillna(plain["formula_id"])
    question = ["system", "formula", "asked"]
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
