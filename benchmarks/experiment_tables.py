"""What an experiment comes to: agreement, speed, and tables of means.

Source of the means: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with
generalized Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Tables 4 to 7.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pandas as pd

from ltlpipe.batch.table import n_pairs
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable

MEANS = ("search_seconds", "automaton_states", "states", "transitions")
_FEWEST = 1e-5  # geometric means know no zero
_SIZE = 10_000  # states of a search whose speed says something
_LONG = 1.0  # published seconds of a run that says something


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for each model how its rows compare with what is published.

    Parameters
    ----------
    frame : DataFrame
        An experiment's table.

    Returns
    -------
    DataFrame
        Per model: rows, right and wrong verdicts, unknown ones; products of the
        published size and of another; median states per second and bytes per state
        of searches with at least 10,000 states; and of runs that took the published
        ones over a second the median ratio to these (one core against 16) and the
        share of those that were faster.
    """
    rows = [
        _agreement(str(model), some)
        for model, some in frame.groupby("model", sort=True)
    ]
    return pd.DataFrame([*rows, _agreement("all", frame)])


def _agreement(model: str, rows: pd.DataFrame) -> dict[str, Any]:
    large = rows[(rows["states"] >= _SIZE).fillna(value=False)]
    long = rows[(rows["published_seconds"] > _LONG).fillna(value=False)]
    ratios = long["seconds_to_published"].dropna()
    return {
        "model": model,
        "rows": len(rows),
        "right": _count(rows["same_verdict"], True),
        "wrong": _count(rows["same_verdict"], False),
        "unknown": int((rows["verdict"] == UNKNOWN).sum()),
        "same_size": _count(rows["same_states"], True),
        "other_size": _count(rows["same_states"], False),
        "states_per_second": _median(large["states_per_second"]),
        "bytes_per_state": _median(large["bytes_per_state"]),
        "long_runs": len(ratios),
        "ratio_to_16_cores": _median(ratios),
        "faster": None if ratios.empty else float((ratios < 1).mean()),
    }


def _count(column: pd.Series[Any], value: bool) -> int:
    return int((column == value).fillna(value=False).sum())


def _median(values: Iterable[Any]) -> float | None:
    known = [float(value) for value in values if not pd.isna(value)]
    return statistics.median(known) if known else None


def means(frame: pd.DataFrame) -> pd.DataFrame:
    """Return geometric means per translator, as the source's Tables 4 to 7.

    Parameters
    ----------
    frame : DataFrame
        An experiment's table.

    Returns
    -------
    DataFrame
        Over the tasks that all translators decided: of all, of those that hold, of
        those that are violated; for each translator the means of `MEANS`, and how many
        tasks it decided alone.
    """
    decided = frame[frame["verdict"] != UNKNOWN]
    names = list(dict.fromkeys(frame["translator"]))
    per_task = decided.groupby(["model", "task"])["translator"].nunique()
    common = set(per_task[per_task == len(names)].index)
    keys = list(zip(decided["model"], decided["task"], strict=True))
    shared = decided[[key in common for key in keys]]
    table = []
    for verdict in ("all", HOLDS, VIOLATED):
        some = shared if verdict == "all" else shared[shared["verdict"] == verdict]
        for name in names:
            own = some[some["translator"] == name]
            row: dict[str, Any] = {
                "verdict": verdict,
                "translator": name,
                "tasks": len(own),
                "decided": int((decided["translator"] == name).sum()),
            }
            row |= {column: _mean(own[column]) for column in MEANS}
            table.append(row)
    return pd.DataFrame(table)


def _mean(values: Iterable[Any]) -> float | None:
    known = [max(float(value), _FEWEST) for value in values if not pd.isna(value)]
    return statistics.geometric_mean(known) if known else None


def as_comparison(frame: pd.DataFrame) -> pd.DataFrame:
    """Return an experiment's table with the columns that scatter plots read.

    The share of Fin transitions, by which they colour points, is not known of tasks.
    """
    known = frame["acceptance"].astype(object).where(frame["acceptance"].notna(), None)
    pairs = {acceptance: n_pairs(acceptance) for acceptance in set(known)}
    return pd.DataFrame(
        {
            "system": frame["model"],
            "formula": frame["task"],
            "automaton": frame["translator"],
            "verdict": frame["verdict"],
            "search_seconds": frame["search_seconds"],
            "seconds": frame["seconds"],
            "acceptance": frame["acceptance"],
            "pairs": pd.array(
                [pairs[acceptance] for acceptance in known], dtype="Int64"
            ),
            "fin_share": pd.array([pd.NA] * len(frame), dtype="Float64"),
        }
    )
