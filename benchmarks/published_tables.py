"""What the published question comes to: agreement, and Tables 4 to 7 of the source.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 5.

``published_table4.csv``
    geometric mean seconds of the search with TGBAs and the TGRAs of each translator;
``published_table5.csv``
    geometric mean sizes of the automata and products;
``published_table6.csv``, ``published_table7.csv``
    the same for Fin-less automata, the TGRAs they were made from, and TGBAs;
``published_workers.csv``
    how many times as fast workers are as the sequential search;
``published_summary.csv``
    verdicts and sizes beside the published ones, states per second.

Means are over the tasks that all ways of a table (translator and kind of check)
decided with that number of workers; `tasks` says how many.  Published means are made
from ``published.csv``, not read from the printed tables, and have times of 16 cores.
They are over the tasks for which the published runs of all ways are known, and our own
means of the same tasks stand beside them: `published_tasks` and `same_seconds` of
times.  Sizes are those of the search with the fewest workers; of products, they are
over the tasks that hold, as only these are searched whole, and whose published sizes
are known: `states_tasks` and `transitions_tasks`.  Where no size is published, they are
over all that hold.  Published products of TGRAs count a state once for each pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from benchmarks import record
from benchmarks.acceptance_tables import geometric_mean, summary
from benchmarks.published_data import TGBA_CHECK
from benchmarks.published_sample import (
    FINLESS,
    ORIGIN,
    TFLA_SAMPLE,
    TGBA,
    TGRA_SAMPLE,
)
from benchmarks.tasks import significant
from ltlpipe.report.layouts import Layout, markdown, of_frame
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path


Row = dict[str, Any]

TASK = ["experiment", "model", "task"]
WAY = ["translator", "kind"]
PUBLISHED = ("published_seconds", "published_states", "published_transitions")
PRODUCTS = ("product_states", "product_transitions")
COUNTS = ("states_tasks", "transitions_tasks")
MEANS = ("search_seconds", "same_seconds", "automaton_states", *PRODUCTS, *PUBLISHED)
TIMES = (
    *("search_seconds", "to_tgba"),
    *("published_tasks", "same_seconds", "same_to_tgba"),
    *("published_seconds", "published_to_tgba"),
)
SIZES = (
    *("automaton_states", "pairs", "fin_share"),
    *("states_tasks", "product_states", "published_states"),
    *("transitions_tasks", "product_transitions", "published_transitions"),
)
FEWEST = 0.01
"""Published seconds have two digits behind the point."""

LARGE = 500_000
"""States of a search whose speed says something."""

ERROR = "error: "
"""How the reason of a row begins that is unknown for another reason than a limit."""

TITLES = {
    "published_table4": "Table 4: seconds, TGBA and TGRA",
    "published_table5": "Table 5: sizes, TGBA and TGRA",
    "published_table6": "Table 6: seconds, TGBA, TGRA and Fin-less automata",
    "published_table7": "Table 7: sizes, TGBA, TGRA and Fin-less automata",
    "published_workers": "Several workers beside the sequential search",
    "published_summary": "Agreement with the published verdicts and sizes",
}


def write(
    runs: pd.DataFrame, products: pd.DataFrame, out: Path
) -> dict[str, list[Row]]:
    """Write all tables as CSV; return their rows by the names of the files.

    Parameters
    ----------
    runs, products : DataFrame
        The measurements, as `benchmarks.published` writes them.
    out : Path
        A folder.
    """
    tables: dict[str, list[Row]] = {}
    for sample, times, sizes in ((TGRA_SAMPLE, 4, 5), (TFLA_SAMPLE, 6, 7)):
        rows = of_sample(averaged(runs), products, sample)
        tables[f"published_table{times}"] = means(rows, TIMES)
        few = rows["workers"].eq(rows["workers"].min())
        tables[f"published_table{sizes}"] = means(rows[few & given(rows)], SIZES)
    tables["published_workers"] = list(speedups(runs))
    tables["published_summary"] = list(agreement(runs))
    for name, rows in tables.items():
        if rows:
            record.write(out / f"{name}.csv", rows, of=runs.to_dict("records"))
    return tables


def stood_for(tables: dict[str, list[Row]], figures: list[Row]) -> str:
    """Return a table in Markdown: how many tasks each table and figure stands for."""
    rows: dict[tuple[str, str, int], Row] = {}
    for name, found in tables.items():
        title, _, _ = TITLES[name].partition(":")
        for row in found:
            if title.startswith("Table"):
                key = title, row["experiment"], row["workers"]
                said = "tasks" if row["verdict"] == "all" else row["verdict"]
                about = dict(zip(("what", "experiment", "workers"), key, strict=True))
                rows.setdefault(key, about)[said] = row["tasks"]
    for row in rows.values():  # all ways decided these
        row["ways"] = "all"
    numbers = ["workers", "tasks", "holds", "violated"]
    table = pd.DataFrame(
        [*rows.values(), *figures], columns=["what", "experiment", "ways", *numbers]
    )
    return _markdown(table.astype(dict.fromkeys(numbers, "Int64")))


def as_markdown(tables: dict[str, list[Row]], counts: str) -> str:
    """Return all tables on one page; `counts` is what `stood_for` returned."""
    sections = [
        "# The published question: what was measured\n",
        "Made by `python -m benchmarks.published`; its docstring explains it.\n",
        "## Numbers of tasks\n",
        counts,
    ]
    for name, rows in tables.items():
        if rows:
            sections += [f"## {TITLES[name]}\n", _markdown(pd.DataFrame(rows))]
    return "\n".join(sections)


def _markdown(frame: pd.DataFrame) -> str:
    layout = of_frame(frame)
    values = frame.astype(object).where(frame.notna(), None).to_numpy()
    rows = [[_shown(value) for value in row] for row in values]
    return markdown(Layout(layout.titles, rows, layout.kinds))


def _shown(value: Any) -> str:
    """Return a number with the digits that say something."""
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def averaged(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per task, way and number of workers: the mean seconds of its runs.

    What one run did not decide is not decided.
    """
    key = [*TASK, *WAY, "workers"]
    order = runs["verdict"].eq(UNKNOWN).astype(int)
    last = runs.assign(order=order).sort_values("order", kind="stable")
    rows = last.groupby(key, sort=False).tail(1).drop(columns="order").set_index(key)
    rows["search_seconds"] = runs.groupby(key)["search_seconds"].mean()
    return rows.reset_index()


def given(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return where automata are checked as they are given, TGRAs for their pairs."""
    return rows["kind"].eq(TGBA_CHECK) == rows["translator"].isin((TGBA, FINLESS))


def of_sample(rows: pd.DataFrame, products: pd.DataFrame, sample: str) -> pd.DataFrame:
    """Return the rows of a sample's tasks and translators, with all that has means."""
    rows = rows[[sample in of.split() for of in rows["samples"]]]
    # A task may be in both samples.
    foreign = rows["translator"].eq(FINLESS)
    if sample == TFLA_SAMPLE:
        foreign = ~rows["translator"].isin((TGBA, ORIGIN, FINLESS))
    rows = rows[~foreign].drop(columns="pairs")
    about = products.rename(columns={"transitions": "explored"})
    about = about.set_index([*TASK, "translator"])
    columns = ["automaton_states", "pairs", "fin_share", "explored", "whole"]
    rows = rows.join(about[columns], on=[*TASK, "translator"])
    held = rows["verdict"].eq(HOLDS)
    rows["product_states"] = rows["states"].where(held)
    # Several workers, or several pairs, look at a transition more than once.
    once = rows["kind"].eq(TGBA_CHECK) & rows["workers"].eq(0)
    explored = rows["explored"].where(rows["whole"].eq(True))
    rows["product_transitions"] = rows["transitions"].where(once, explored).where(held)
    rows["published_seconds"] = rows["published_seconds"].clip(lower=FEWEST)
    return rows


def means(rows: pd.DataFrame, columns: Sequence[str]) -> list[Row]:
    """Return geometric means per experiment, number of workers, verdict and way.

    Parameters
    ----------
    rows : DataFrame
        What `of_sample` returned, or some of it.
    columns : sequence of str
        Which means, and what is said of them.
    """
    found = []
    for (experiment, workers), some in rows.groupby(["experiment", "workers"]):
        ways = some.assign(
            family="",
            system=some["model"],
            formula=some["task"],
            automaton=some["translator"] + " " + some["kind"],
        )
        for row in _with_ratios(_comparable(ways)):
            about = {"experiment": experiment, "workers": workers}
            about |= {name: row[name] for name in ("verdict", *WAY)}
            about |= {"tasks": row["questions"], "undecided": row["not_answered"]}
            if row["questions"]:
                found.append(about | {column: row[column] for column in columns})
    return found


def _comparable(ways: pd.DataFrame) -> pd.DataFrame:
    """Return the rows; a figure that some way of a task lacks is removed from all.

    So is a size of ours where the published one is missing, and the reverse, unless no
    size is published.
    """
    ways = ways.copy()
    n_ways = ways["automaton"].nunique()
    task = [ways["system"], ways["formula"]]
    for column in (*PRODUCTS, *PUBLISHED):
        known = ways[column].groupby(task).transform("count") == n_ways
        ways[column] = ways[column].where(known)
    for own, published in zip(PRODUCTS, PUBLISHED[1:], strict=True):
        if ways[published].notna().any():
            both = ways[own].notna() & ways[published].notna()
            ways[own], ways[published] = (
                ways[own].where(both),
                ways[published].where(both),
            )
    decided = ways["verdict"].ne(UNKNOWN).groupby(task).transform("sum") == n_ways
    ways["counted"] = decided
    ways["published_run"] = decided & ways["published_seconds"].notna()
    ways["same_seconds"] = ways["search_seconds"].where(ways["published_run"])
    return ways


def _with_ratios(ways: pd.DataFrame) -> Iterator[Row]:
    """Yield the means, and how they compare with those of the TGBA."""
    table = summary(ways.to_dict("records"), MEANS)
    reference = {
        row["verdict"]: row
        for row in table
        if row["automaton"] == f"{TGBA} {TGBA_CHECK}"
    }
    for row in table:
        of_tgba = reference.get(row["verdict"], {})
        some = ways[ways["automaton"].eq(row["automaton"]) & ways["counted"]]
        if row["verdict"] != "all":
            some = some[some["verdict"] == row["verdict"]]
        counts = {
            n: int(some[c].count()) for n, c in zip(COUNTS, PRODUCTS, strict=True)
        }
        yield row | {
            **dict(zip(WAY, row["automaton"].split(), strict=True)),
            **counts,
            "published_tasks": int(some["published_run"].sum()),
            "to_tgba": _ratio(row, of_tgba, "search_seconds"),
            "same_to_tgba": _ratio(row, of_tgba, "same_seconds"),
            "published_to_tgba": _ratio(row, of_tgba, "published_seconds"),
        }


def _ratio(row: Row, reference: Row, column: str) -> float | None:
    if row[column] is None or reference.get(column) is None:
        return None
    return significant(row[column] / reference[column])


def speedups(runs: pd.DataFrame) -> Iterator[Row]:
    """Yield how many times as fast workers are, over tasks decided both ways."""
    rows = averaged(runs)
    decided = rows[rows["verdict"] != UNKNOWN]
    key = [*TASK, *WAY]
    first = decided[decided["workers"] == 0].set_index(key)["search_seconds"]
    parallel = decided[decided["workers"] > 0].join(first.rename("alone"), on=key)
    parallel = parallel.dropna(subset="alone")
    by = ["experiment", *WAY, "workers", "verdict"]
    for group, some in parallel.groupby(by):
        ratios = some["alone"] / some["search_seconds"].clip(lower=1e-5)
        large = ratios[some["states"] >= LARGE]
        yield dict(zip(by, group, strict=True)) | {
            "tasks": len(some),
            "times_as_fast": geometric_mean(ratios),
            "large_tasks": len(large),
            "times_as_fast_large": geometric_mean(large),
        }


def agreement(runs: pd.DataFrame) -> Iterator[Row]:
    """Yield verdicts, sizes and speed of each way, beside what is published."""
    by = ["experiment", *WAY, "workers"]
    for group, some in runs.groupby(by):
        large = some[some["states"] >= LARGE]
        speed = large["states"] / large["search_seconds"]
        yield dict(zip(by, group, strict=True)) | {
            "tasks": len(some.groupby(TASK)),
            "runs": len(some),
            "right": int(some["right"].eq(True).sum()),
            "wrong": int(some["right"].eq(False).sum()),
            "undecided": int(some["verdict"].eq(UNKNOWN).sum()),
            "same_size": int(some["same_states"].eq(True).sum()),
            "other_size": int(some["same_states"].eq(False).sum()),
            "states_per_second": significant(_median(speed)),
            "bytes_per_state": significant(_median(large["bytes_per_state"])),
        }


def _median(values: pd.Series[float]) -> float | None:
    known = values.dropna()
    return float(known.median()) if len(known) else None


def wrong(runs: pd.DataFrame) -> Iterator[str]:
    """Yield what failed, or disagrees with what is published or with other searches."""
    names = [*TASK, *WAY, "workers", "run"]
    for row in runs.to_dict("records"):
        about = ", ".join(str(row[name]) for name in names)
        if str(row["reason"]).startswith(ERROR):
            yield f"{about}: {row['reason']}"
        if row["right"] is False:
            yield f"{about}: {row['verdict']}, published is another verdict"
        if row["same_states"] is False:
            yield (
                f"{about}: {row['states']:.0f} states, counted {row['pairs']} times; "
                f"published {row['published_states']:.0f}"
            )
    held = runs[runs["verdict"] == HOLDS]
    for key, sizes in held.groupby([*TASK, "translator"])["states"]:
        if sizes.nunique() > 1:
            yield f"{', '.join(map(str, key))}: sizes {sorted(set(sizes))}"
