"""The published question on the published automata: TGBA, TGRA or Fin-less automaton?

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 5.

A stratified sample of the BEEM and MCC tasks (`benchmarks.published_sample`) is checked
with the automata that the published runs used (`benchmarks.published_data`), in the
ways in which they were checked there: ``tgba``, the search for SCCs with all marks of a
TGBA or of a disjunct of a Fin-less automaton, and ``tgra``, the search for generalised
Rabin pairs.  Each is run with several numbers of workers; 0 is the sequential search
(``couvreur99`` and ``rabin``), P > 0 the one of P workers (``ufscc`` and ``rabin``).
Nothing is reduced, so products are the published ones.  Tables:

- ``published_runs.csv``: a row per task, translator, kind, number of workers and run;
- ``published_products.csv``: a row per task and translator: sizes of automaton and
  product, and the share of Fin transitions (`benchmarks.published_products`);
- ``published_summary.csv``, ``published_table4.csv`` to ``published_table7.csv``, and
  all of these in ``published_tables.md`` (`benchmarks.published_tables`);
- ``published_fig6_beem.svg`` to ``published_fig9_beem.svg``
  (`benchmarks.published_figures`).

``published_tables.md`` says how many tasks each table and figure stands for.

The first two grow with each search: the same command goes on where it stopped, after
``--budget`` or an interruption.  Delete them to begin anew.

Exit code: 0 all that was decided is right, in verdict and size of the product; 1
something is wrong; 2 bad input or usage.

    python -m benchmarks.published [--tasks 60] [--workers 0,2] [--budget SECONDS]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from benchmarks import published_figures, published_tables, record
from benchmarks.published_data import KINDS, TGBA_CHECK, TGRA_CHECK, Experiment
from benchmarks.published_products import COLUMNS, explored
from benchmarks.published_sample import Choice, Trial, trials
from benchmarks.published_tables import ERROR
from benchmarks.tasks import significant
from ltlpipe import LtlpipeError, UnsupportedError, check, load
from ltlpipe.automata.given_automata import read_automaton
from ltlpipe.families.networks import philosophers
from ltlpipe.question.given_options import understood
from ltlpipe.runtime.names import FLAGS, name_as
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe import Verdict

EXPERIMENTS = ("beem", "mcc")
RUNS, PRODUCTS = "published_runs.csv", "published_products.csv"
SEARCHES = {TGBA_CHECK: ("couvreur99", "ufscc"), TGRA_CHECK: ("rabin", "rabin")}
"""The emptiness checks of a kind: sequential, and with workers."""

TEXTS = dict.fromkeys(("model", "task", "reason", "acceptance"), str)
"""Columns of tables that could be taken for numbers."""

Row = dict[str, Any]


class Limits(NamedTuple):
    """What a search, or an exploration, may take."""

    timeout: float  # seconds
    memory: float  # MiB
    explored: int  # states of a product


class Search(NamedTuple):
    """One search that is to be measured."""

    trial: Trial
    workers: int
    run: int

    @property
    def columns(self) -> Row:
        """The columns that say which it is."""
        return _columns(self.trial) | {
            "kind": self.trial.kind,
            "workers": self.workers,
            "run": self.run,
        }

    @property
    def key(self) -> tuple[str, ...]:
        """The same as texts, as they are in a table."""
        return tuple(map(str, self.columns.values()))


def _columns(trial: Trial) -> Row:
    return {
        "experiment": trial.experiment.name,
        "model": trial.question.model,
        "task": trial.question.task,
        "translator": trial.translator,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is missing, write tables and figures; return the exit code."""
    chosen = _options().parse_args(arguments)
    try:
        experiments = [
            Experiment(name, chosen.data / name) for name in chosen.experiments
        ]
        _refuse(chosen)
        if not chosen.tables:
            with suppress(KeyboardInterrupt):
                measure(experiments, chosen)
        return written(experiments, chosen)
    except (LtlpipeError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    data = os.environ.get("LTLPIPE_BENCHMARKS", "../shared/benchmarks")
    add("experiments", nargs="*", metavar="NAME", default=EXPERIMENTS)
    add(
        "--data",
        type=Path,
        default=Path(data),
        metavar="DIR",
        help="with a folder NAME",
    )
    add("--tasks", type=_at_least(1), default=60, metavar="N", help="of each sample")
    add("--seed", type=int, default=0, help="of the sample")
    add(
        "--translators",
        type=_names,
        default=[],
        metavar="A,B",
        help="some of them only",
    )
    add("--kinds", type=_names, default=[], metavar="A,B", help="tgba, tgra or both")
    add("--workers", type=_numbers, default=[0, 2], metavar="A,B", help="0: sequential")
    add("--runs", type=_at_least(1), default=1, help="of each search")
    add("--timeout", type=float, default=30.0, help="seconds of each search")
    add("--memory", type=float, default=8192.0, help="MiB of each search")
    add(
        "--explore", type=_at_least(1), default=2_000_000, help="states, for Fin shares"
    )
    add("--budget", type=float, default=float("inf"), help="seconds in all")
    add("--tables", action="store_true", help="write tables and figures only")
    add("--out", type=Path, default=record.RESULTS, metavar="DIR")
    return parser


def _at_least(least: int) -> Any:
    def number(text: str) -> int:
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"{text}, expected at least {least}")
        return int(text)

    return number


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _numbers(text: str) -> list[int]:
    return [_at_least(0)(number) for number in _names(text)]


def _refuse(chosen: Any) -> None:
    """Raise LtlpipeError for what would come to light after hours, or in all rows."""
    limits = {"timeout": chosen.timeout, "memory": chosen.memory}
    for workers in chosen.workers:
        understood(limits | {"workers": max(workers, 1)})


def planned(experiments: Sequence[Experiment], chosen: Any) -> list[Search]:
    """Return all searches in their order: run by run, task by task.

    Raises
    ------
    UnsupportedError
        There is no such translator or kind of check.
    """
    known = {name for experiment in experiments for name in experiment.translators}
    _refuse_unknown("translators", chosen.translators, known)
    _refuse_unknown("kinds", chosen.kinds, KINDS.values())
    choice = Choice(chosen.tasks, chosen.seed, chosen.translators, chosen.kinds)
    return [
        Search(trial, workers, run)
        for run in range(chosen.runs)
        for trial in trials(experiments, choice)
        for workers in chosen.workers
    ]


def _refuse_unknown(option: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            expected = ", ".join(sorted(known))
            raise UnsupportedError(f"--{option}={name}: expected some of {expected}")


def measure(experiments: Sequence[Experiment], chosen: Any) -> None:
    """Append rows for what is planned and not yet there, within the budget."""
    end = time.monotonic() + chosen.budget
    limits = Limits(chosen.timeout, chosen.memory, chosen.explore)
    out: Path = chosen.out
    out.mkdir(parents=True, exist_ok=True)
    searches = planned(experiments, chosen)
    fields = ("experiment", "model", "task", "translator", "kind", "workers", "run")
    done = {tuple(row[f] for f in fields) for row in record.resume(out / RUNS)}
    known = {tuple(row[f] for f in fields[:4]) for row in record.resume(out / PRODUCTS)}
    for number, search in enumerate(searches, 1):
        if time.monotonic() > end:
            print(f"the budget is spent: {number - 1} of {len(searches)} searches done")
            return
        if search.key[:4] not in known:
            known.add(search.key[:4])
            record.append(out / PRODUCTS, product(search.trial, limits))
        if search.key not in done:
            row = searched(search, limits)
            record.append(out / RUNS, row)
            found = row["verdict"], row["states"], row["search_seconds"]
            print(f"{number}/{len(searches)}", *search.key, *found, flush=True)


def product(trial: Trial, limits: Limits) -> Row:
    """Return the row of a product."""
    automaton = trial.automaton
    row = _columns(trial) | {
        "automaton_states": automaton.states,
        "acceptance": automaton.acceptance,
        "pairs": automaton.pairs,
    }
    row |= dict.fromkeys(COLUMNS)
    with suppress(LtlpipeError):  # the searches tell
        row |= explored(
            load(trial.experiment.models[trial.question.model]),
            read_automaton(automaton.path, automaton.name),
            limits.explored,
            limits.timeout,
            limits.memory,
        )
    return row


def searched(search: Search, limits: Limits) -> Row:
    """Return the row of a search, compared with what is published."""
    trial, workers = search.trial, search.workers
    emptiness = SEARCHES[trial.kind][workers > 0]
    _warm(emptiness, max(workers, 1))
    row = search.columns | {"samples": trial.samples, "emptiness": emptiness}
    automaton, published = trial.automaton, trial.published
    try:
        found = check(
            load(trial.experiment.models[trial.question.model]),
            automaton=read_automaton(automaton.path, automaton.name),
            emptiness=emptiness,
            workers=max(workers, 1),
            reduce="none",
            timeout=limits.timeout,
            memory=limits.memory,
        )
    except LtlpipeError as error:
        row |= dict.fromkeys(_MEASURED)  # rows of one table have one order
        row |= {"verdict": UNKNOWN, "reason": f"{ERROR}{error}".splitlines()[0]}
    else:
        row |= _measured(found)
    # `favoid` counts a state once for each pair that is searched.
    pairs = automaton.pairs if trial.kind == TGRA_CHECK else 1
    expected = None if published is None else published.states
    right = same = None
    if row["verdict"] != UNKNOWN:
        right = row["verdict"] == trial.question.verdict
    if row["verdict"] == HOLDS and expected is not None:
        same = row["states"] * pairs == expected
    return row | {
        "right": right,
        "pairs": pairs,
        "published_states": expected,
        "same_states": same,
        "published_transitions": published and published.transitions,
        "published_seconds": published and published.seconds,
        "timeout": limits.timeout,
    }


_TIMES = ("seconds", "search_seconds", "cpu_seconds")
_MEASURED = (
    *("verdict", "reason", "states", "transitions"),
    *(*_TIMES, "bytes_per_state"),
)


def _measured(found: Verdict) -> Row:
    stats = found.stats
    values = (
        *(found.verdict, found.reason, stats.states, stats.transitions),
        *(significant(getattr(stats, name)) for name in _TIMES),
        significant(stats.bytes_per_state),
    )
    return dict(zip(_MEASURED, values, strict=True))


@cache
def _warm(emptiness: str, workers: int) -> None:
    """Search a small product first: loading kernels is not what is measured."""
    check(
        philosophers(3),
        "GF think0 -> GF eat0",
        emptiness=emptiness,
        acceptance="tgra" if emptiness == "rabin" else "tgba",
        workers=workers,
        reduce="none",
    )


def written(experiments: Sequence[Experiment], chosen: Any) -> int:
    """Write tables and figures of all rows; return 1 if a row is wrong, else 0."""
    out: Path = chosen.out
    if not (record.resume(out / RUNS) and record.resume(out / PRODUCTS)):
        print(f"{out / RUNS}: there are no rows yet")
        return 0
    runs = pd.read_csv(out / RUNS, dtype=TEXTS)
    products = pd.read_csv(out / PRODUCTS, dtype=TEXTS)
    figures = published_figures.write(runs, products, experiments, out)
    tables = published_tables.write(runs, products, out)
    counts = published_tables.stood_for(tables, figures)
    text = published_tables.as_markdown(tables, counts)
    (out / "published_tables.md").write_text(text, encoding="utf-8")
    wrong = list(published_tables.wrong(runs))
    for text in wrong:
        print(text, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    name_as(FLAGS)
    sys.exit(main())
