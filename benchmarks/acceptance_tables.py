"""What the rows of `benchmarks.acceptance` come to: means, aims, disagreements."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks.tasks import significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MEANS = [
    "search_seconds",
    "seconds",
    "automaton_states",
    "product_states",
    "product_transitions",
    "states",
]
TELA_AND_OTHERS = ["TELA", "TGRA", "TFLA"]
TELA_AIM = 1.5
SOON = 0.005  # seconds
FEWEST = 1e-5  # seconds; geometric means know no zero


def summary(
    rows: list[dict[str, Any]], means: Sequence[str] = MEANS
) -> list[dict[str, Any]]:
    """Return geometric means per family, verdict and way.

    They are over the questions that all ways of a family were asked and answered.
    """
    table = []
    frame = pd.DataFrame(rows)
    for family, of_family in frame.groupby("family", sort=False):
        known = _questions(of_family)
        for verdict in ("all", "holds", "violated"):
            keys = [k for k, said in known.items() if verdict in ("all", said)]
            for way, of_way in of_family.groupby("automaton", sort=False):
                some = of_way.set_index(["system", "formula"])
                row = {"family": family, "verdict": verdict, "automaton": way}
                row["questions"] = len(keys)
                row["not_answered"] = int((some["verdict"] == "unknown").sum())
                table.append(row | _means(some.loc[keys] if keys else some[:0], means))
    return table


def _questions(frame: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return the questions that all ways answered, and the verdicts."""
    n_ways = frame["automaton"].nunique()
    return {
        key: rows["verdict"].iloc[0]
        for key, rows in frame.groupby(["system", "formula"], sort=False)
        if len(rows) == n_ways and (rows["verdict"] != "unknown").all()
    }


def _means(rows: pd.DataFrame, columns: Sequence[str]) -> dict[str, Any]:
    found = {column: geometric_mean(rows[column]) for column in columns}
    for column in ("pairs", "fin_share"):  # zero is one of their values
        values = _known(rows[column])
        found[column] = significant(statistics.mean(values)) if values else None
    return found


def geometric_mean(values: Iterable[Any]) -> float | None:
    """Return the mean of what is known, to four digits; None if nothing is."""
    known = [max(value, FEWEST) for value in _known(values)]
    return significant(statistics.geometric_mean(known)) if known else None


def _known(values: Iterable[Any]) -> list[float]:
    return [float(value) for value in values if not pd.isna(value)]


def of_tela(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Compare `tela` with the better of `rabin` and Fin-less, per family.

    Questions that all of them decide within `SOON` say nothing: there it is a matter
    of making arrays.
    """
    frame = pd.DataFrame(rows)
    frame = frame[frame["automaton"].isin(TELA_AND_OTHERS)]
    compared = []
    for family, of_family in frame.groupby("family", sort=False):
        known = _questions(of_family)
        seconds = of_family.pivot_table(
            index=["system", "formula"], columns="automaton", values="search_seconds"
        ).loc[list(known)]
        long = seconds[seconds.max(axis=1) >= SOON]
        if not len(long):
            continue
        means = {way: statistics.geometric_mean(long[way]) for way in TELA_AND_OTHERS}
        better = min(means["TGRA"], means["TFLA"])
        compared.append(
            {
                "what": "tela against the better of rabin and Fin-less",
                "case": f"{family}, {len(long)} questions of {SOON} s and more",
                "seconds": significant(means["TELA"]),
                "reference_seconds": significant(better),
                "ratio": significant(means["TELA"] / better),
                "aim": TELA_AIM,
            }
        )
    return compared


def disagreements(rows: list[dict[str, Any]]) -> list[str]:
    """Return the questions with two answers."""
    said: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for row in rows:
        if row["verdict"] != "unknown":
            key = (row["family"], row["system"], row["formula"])
            said.setdefault(key, {}).setdefault(row["verdict"], []).append(
                row["automaton"]
            )
    return [f"{key}: {answers}" for key, answers in said.items() if len(answers) > 1]
