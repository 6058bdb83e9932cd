"""The result table: its columns, its rows, and how it reaches the disk.

A table that is being written can be read at any moment, whatever happens: CSV
grows by whole rows, and a row that the disk had no room for is taken back;
parquet files are replaced as a whole.  What is missing is an empty cell in CSV and null
in parquet; `ltlpipe.results` gives either table back.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.conditions import (
    Shape,
    has_shape,
    normal_form,
    parse_condition,
)
from ltlpipe.batch.tasks import (
    LIMIT_COLUMNS,
    meant,
    options_text,
    settings_of,
    versions,
)
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError
from ltlpipe.runtime.jobs import CPU_TIME, INTERRUPTED, MAX_STATES, MEMORY, TIMEOUT
from ltlpipe.verdict.lasso import FINITE_KINDS
from ltlpipe.verdict.verdict import HOLDS, LASSO_LIMIT, UNBOUNDED, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pandas as pd

    from ltlpipe.verdict.verdict import Verdict

CATEGORY, TIME = "category", "datetime64[us, UTC]"

VERDICTS = (HOLDS, VIOLATED, UNKNOWN)
"""The categories of the columns `verdict` and `expected`, in all tables."""

REASONS = (
    *(TIMEOUT, MEMORY, CPU_TIME, MAX_STATES, INTERRUPTED, LASSO_LIMIT),
    *("overflow", UNBOUNDED, "bitstate", "compact", "walks"),
    *("unsupported", "input-error", "error", "crash"),
)
"""The categories of the column `reason`, in all tables.

Stores have them as a constraint: another word needs another `SCHEMA`.
"""

VOCABULARIES = {
    "verdict": VERDICTS,
    "expected": VERDICTS,
    "reason": REASONS,
    "finite_run": FINITE_KINDS,
}
"""The words that columns may have, in all tables."""

DTYPES = {
    "system": CATEGORY,
    "formula_id": "string",
    "formula": "string",
    "verdict": CATEGORY,
    "reason": CATEGORY,
    "automaton": CATEGORY,
    "acceptance": CATEGORY,
    "translator": CATEGORY,
    "automaton_states": "Int64",
    "emptiness": CATEGORY,
    "reductions": CATEGORY,
    "states": "Int64",
    "transitions": "Int64",
    "max_depth": "Int64",
    "seconds": "Float64",
    "memory_mib": "Float64",
    "lasso_prefix": "string",
    "lasso_cycle": "string",
    "seed": "Int64",
    "ltlpipe_version": CATEGORY,
    "spot_version": CATEGORY,
    "host_cores": "Int64",
    "started_at": TIME,
    "strategy": CATEGORY,
    "workers": "Int64",
    "compile_seconds": "Float64",
    "load_seconds": "Float64",
    "search_seconds": "Float64",
    "cpu_seconds": "Float64",
    "warnings": "string",
    "configuration": CATEGORY,
    "message": "string",
    "vacuous": "boolean",
    "vacuous_part": "string",
    "expected": CATEGORY,
    "title": "string",
    "coverage": "Float64",
    "sample": "string",
    "finite_run": CATEGORY,
    "deadlock": CATEGORY,
    "condition": CATEGORY,
    **dict.fromkeys(LIMIT_COLUMNS.values(), "Float64"),
    "max_states": "Int64",
    "n_components": "Int64",
    "wall_seconds": "Float64",
    "signal": CATEGORY,
    "finished_at": TIME,
}
"""The columns, in order, and their types; missing values are NA.

What `solve` and `compare` return has these types, and what `ltlpipe.results` reads, out
of stores and files.  Columns that repeat few values are categories.  `expected` is the
published verdict of a task, where its file tells one, `title` what the file says in
words; `configuration` are its options
but for limits, as the command line spells them, or "default"; `sample` is for
`ltlpipe.joint_coverage`.  `automaton` is the type of automaton that was searched,
`acceptance` the class that was asked for or chosen, `condition` the acceptance
condition.  `finite_run` is the kind of a violation that is a finite run:
then `lasso_prefix` has its steps, and `lasso_cycle` is missing.
"""

COMPARISON_DTYPES = DTYPES | {
    "weak": "boolean",
    "deterministic": "boolean",
    "pairs": "Int64",
    "product_states": "Int64",
    "product_transitions": "Int64",
    "fin_share": "Float64",
    "max_roots": "Int64",
    "max_current": "Int64",
    "lasso_length": "Int64",
    "bytes_per_state": "Float64",
    "repeats": "Int64",
}
"""The columns of a comparison: the statistics missing in the result table, of Schwoon &
Esparza 2005, Table 1, and of Bloemen et al. 2019, Sec. 5.

`pairs` are the clauses of the acceptance condition in disjunctive normal form,
generalised Rabin pairs or sets of Inf marks; missing for (generalised) Büchi.
`fin_share` is the share of the product's transitions that carry a Fin mark.
Seconds and `memory_mib` are medians of `repeats` measurements.
"""

_OF_VERDICT = (
    *("system", "formula_id", "formula", "verdict", "reason"),
    *("vacuous", "vacuous_part", "message", "deadlock"),
)
_OF_STATISTICS = (
    *("automaton_states", "states", "transitions", "max_depth"),
    *("seconds", "memory_mib", "compile_seconds", "load_seconds", "search_seconds"),
    "cpu_seconds",
    *("coverage", "sample"),
)

Row = dict[str, Any]


def host_columns() -> Row:
    """Return the columns with the origin of a row: machine, versions, time."""
    own, spot = versions()
    return {
        "ltlpipe_version": own,
        "spot_version": spot,
        "host_cores": os.cpu_count(),
    }


SPOT = "spot"
"""The translator if no other one is named."""


def option_columns(options: Mapping[str, Any], *, is_translated: bool = True) -> Row:
    """Return the columns that are options; values that are refused are missing.

    `is_translated` says whether the property is a formula.
    """
    limits = meant(options, *LIMIT_COLUMNS)
    given = json.loads(options_text(options))
    row = settings_of(given | {name: limits.get(name) for name in LIMIT_COLUMNS})
    row["translator"] = (given.get("translator") or SPOT) if is_translated else None
    if "acceptance" in given:
        row["acceptance"] = given["acceptance"]
    return row | meant(options, "seed", "workers")


def row_of(verdict: Verdict) -> Row:
    """Return the columns of a row that come from a verdict.

    What was wrong, or is not supported, has no more of them than in `solve`.
    """
    lasso, finite = verdict.lasso, verdict.finite_run
    run = lasso or finite
    row = {column: getattr(verdict, column) for column in _OF_VERDICT}
    if verdict.message is not None:
        return row | {"warnings": json_list(verdict.warnings)}
    row |= {
        column: getattr(source, column)
        for source, columns in (
            (verdict.plan, ("automaton", "emptiness", "strategy")),
            (verdict.stats, _OF_STATISTICS),
        )
        for column in columns
    }
    if verdict.verdict != UNKNOWN:
        row["sample"] = None  # what was not seen does not matter
    return row | {
        "acceptance": acceptance_class(verdict.plan.automaton),
        "condition": verdict.stats.acceptance,
        "reductions": ",".join(verdict.plan.reductions) or "none",
        "lasso_prefix": None if run is None else json_list(run.prefix_actions),
        "lasso_cycle": None if lasso is None else json_list(lasso.cycle_actions),
        "warnings": json_list(verdict.warnings),
        "finite_run": None if finite is None else finite.kind,
    }


def acceptance_class(automaton: str | None) -> str | None:
    """Return what ``--acceptance`` calls a type of automaton."""
    return None if automaton is None else automaton.lower()


def modern(row: Mapping[str, Any]) -> Row:
    """Return a row of an earlier version, whose `acceptance` was the condition."""
    automaton = acceptance_class(row.get("automaton"))
    return {**row, "condition": row.get("acceptance"), "acceptance": automaton}


def comparison_columns(verdict: Verdict) -> Row:
    """Return the columns that a comparison adds to `row_of`."""
    stats, lasso = verdict.stats, verdict.lasso
    return {
        "weak": verdict.plan.weak,
        "pairs": n_pairs(stats.acceptance),
        "max_roots": stats.details.get("max_roots"),
        "max_current": stats.details.get("max_current"),
        "lasso_length": None if lasso is None else len(lasso.actions),
        "bytes_per_state": stats.bytes_per_state,
    }


def n_pairs(acceptance: str | None) -> int | None:
    """Return how many clauses a condition has; None where that has no meaning."""
    if acceptance is None:
        return None
    condition = parse_condition(acceptance)
    if acceptance == "f" or has_shape(condition, Shape.GENERALISED_BUCHI):
        return None
    with suppress(UnsupportedError):  # there are too many
        return len(normal_form(condition))
    return None


def json_list(texts: Iterable[str | None]) -> str:
    """Return texts as they are written in a cell."""
    return json.dumps(list(texts), ensure_ascii=False)


def actions_in(cell: str) -> list[str]:
    """Return the actions of the prefix or the cycle of a lasso in a table.

    Raises
    ------
    LtlpipeError
        The cell holds something else.
    """
    try:
        steps = json.loads(cell)
    except (ValueError, RecursionError):
        steps = None
    if not isinstance(steps, list) or not {*map(type, steps)} <= {str}:
        raise LtlpipeError(
            f"lasso {cell[:60]!r}: expected a JSON list of the names of actions"
        )
    return steps


_TOLD_APART = (
    *("automaton", "emptiness", "reductions", "lasso_prefix", "lasso_cycle"),
    *("warnings", "finite_run", "deadlock", "sample"),
)
"""Columns that JSON has in another form, or only sometimes."""


def json_of(row: Row) -> dict[str, Any]:
    """Return what ``--json`` prints for a row."""
    lasso, sometimes = None, {}
    if row.get("finite_run") is not None:
        steps = [{"action": action} for action in json.loads(row["lasso_prefix"])]
        sometimes["finite_run"] = {"kind": row["finite_run"], "steps": steps}
    if row.get("deadlock") not in (None, "none"):
        sometimes["deadlock"] = row["deadlock"]
    if row.get("lasso_cycle") is not None:
        lasso = {
            "prefix": json.loads(row["lasso_prefix"]),
            "cycle": json.loads(row["lasso_cycle"]),
        }
    reductions = row.get("reductions") or "none"
    plan = {
        "automaton": row.get("automaton"),
        "emptiness": row.get("emptiness"),
        "reductions": [] if reductions == "none" else reductions.split(","),
    }
    warnings = json.loads(row.get("warnings") or "[]")
    return (
        {key: row.get(key) for key in ("system", "formula", "verdict", "reason")}
        | {"plan": plan, "lasso": lasso, "warnings": warnings}
        | {key: row.get(key) for key in DTYPES if key not in _TOLD_APART}
        | sometimes
    )


def to_frame(
    rows: Iterable[Mapping[str, Any]], dtypes: Mapping[str, str] = DTYPES
) -> pd.DataFrame:
    """Return rows as a DataFrame with these columns and types."""
    import pandas as pd

    rows = list(rows)
    return pd.DataFrame(
        {
            column: typed([row.get(column) for row in rows], column, dtype)
            for column, dtype in dtypes.items()
        }
    )


def typed(values: Any, column: str, dtype: Any) -> Any:
    """Return the values of a column, a list or a Series, with a type of `DTYPES`.

    Raises
    ------
    ValueError, TypeError
        A value is not of that type, or no word of a closed vocabulary.
    """
    import pandas as pd

    if dtype == TIME:
        texts = values if isinstance(values, pd.Series) else pd.array(values, "string")
        try:
            times = pd.to_datetime(pd.Series(texts), utc=True, format="ISO8601")
        except ValueError as error:  # with advice for who calls pandas
            raise ValueError(str(error).partition(". You")[0]) from None
        return times.astype(dtype)
    if dtype != CATEGORY:
        # A frame made of rows would turn integers beside None into floats.
        return pd.array(values, dtype=dtype)
    texts = pd.array(values, dtype="string")
    found = sorted(texts.dropna().unique())
    words = VOCABULARIES.get(column)
    if words is not None and (others := [v for v in found if v not in words]):
        raise ValueError(f"{others[0]!r}, expected one of {', '.join(words)}")
    names = VERDICTS if words is VERDICTS else found
    return pd.Categorical(texts, categories=pd.Index(names, dtype="string"))


def from_frame(frame: pd.DataFrame) -> list[Row]:
    """Return the rows of a DataFrame, with None where a value is missing.

    Times are texts, as in rows.
    """
    times = frame.select_dtypes("datetimetz")
    frame = frame.assign(**{str(c): _as_texts(times[c]) for c in times})
    plain = frame.astype(object).where(frame.notna(), None)
    rows: list[Any] = plain.rename(columns=str).to_dict("records")
    return rows


def _as_texts(times: pd.Series) -> pd.Series:
    return times.map(lambda time: time.isoformat(), na_action="ignore").astype("string")
