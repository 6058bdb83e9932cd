"""Figs. 6 to 9 of the source, from what was measured.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Sec. 5.

``published_fig6_NAME.svg``
    seconds with the TGBA (x) against those with each other automaton (y);
``published_fig7_NAME.svg``
    states of the automata (y) by pairs, or by sets of Inf marks (x): all automata that
    there are, not only those of the sample;
``published_fig8_NAME.svg``
    Fig. 6 for TGRAs with one pair, two, and more;
``published_fig9_NAME.svg``
    seconds with the TGRA (x) against those with the Fin-less automaton that was made
    from it (y), by pairs of the TGRA.

Points have the colour of the share of Fin transitions in the product, as in the
source: below 10 %, up to 90 %, more.  Times are those of the most workers that were
measured; tasks without a verdict are at the border.

Differences from the source: 16 cores there; all figures are coloured; a product that
is too large has the share of the part that was explored.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.acceptance_plots import acceptances
from benchmarks.published_sample import FINLESS, ORIGIN, TFLA_SAMPLE, TGBA
from benchmarks.published_tables import TASK, averaged, given
from ltlpipe.report.plots import figures, save
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.figure import Figure

    from benchmarks.published_data import Experiment

MOST_PAIRS, MOST_STATES = 6, 40
"""What Fig. 7 shows at most, so that most automata can be told apart."""

Panel = tuple[str, str]


def write(
    runs: pd.DataFrame,
    products: pd.DataFrame,
    experiments: Sequence[Experiment],
    out: Path,
) -> list[dict[str, Any]]:
    """Draw what there are rows for; return how many tasks each figure stands for."""
    counts: list[dict[str, Any]] = []
    for experiment in experiments:
        frame = plotted(runs[runs["experiment"] == experiment.name], products)
        for number, panels in panels_of(frame).items():
            name = f"published_fig{number}_{experiment.name}.svg"
            some = of_figure(number, frame)
            save(acceptances(some, panels, by_pairs=number > 6), out / name)
            about = {"what": f"Fig. {number}", "experiment": experiment.name}
            counts += [
                about | {"ways": f"{y} against {x}"} | shared(some, x, y)
                for x, y in panels
            ]
        if not frame.empty:
            name = f"published_fig7_{experiment.name}.svg"
            save(automata(experiment), out / name)
            n = len(experiment.automata)
            about = {"what": "Fig. 7", "experiment": experiment.name}
            counts.append(about | {"ways": f"{n} automata"})
    return counts


def plotted(runs: pd.DataFrame, products: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the most workers, with the columns that plots read."""
    rows = averaged(runs[runs["workers"] == runs["workers"].max()])
    key = [*TASK, "translator"]
    about = products.set_index(key)[["acceptance", "fin_share"]]
    rows = rows.join(about, on=key)
    finless = rows["translator"] == FINLESS
    label = rows["translator"].where(
        given(rows), rows["translator"] + ", " + rows["kind"] + " check"
    )
    return rows.assign(
        system=rows["model"], formula=rows["task"], automaton=label, finless=finless
    )


def of_figure(number: int, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that a figure shows."""
    if number == 9:  # by the pairs of the TGRA
        return frame.assign(pairs=frame["pairs"].mask(frame["finless"]))
    # Tasks with Fin-less automata have more pairs than others.
    chosen = frame["samples"].eq(TFLA_SAMPLE) & frame["translator"].eq(ORIGIN)
    return frame[~chosen]


def panels_of(frame: pd.DataFrame) -> dict[int, list[Panel]]:
    """Return the panels of each figure that there are rows for."""
    names = sorted(set(frame["automaton"]))
    found: dict[int, list[Panel]] = {}
    if TGBA in names:
        others = [name for name in names if name != TGBA]
        rabin = [name for name in others if FINLESS not in name]
        found[6] = [(TGBA, name) for name in others]
        found[8] = [(TGBA, name) for name in rabin]
    if {FINLESS, ORIGIN} <= {*names}:
        found[9] = [(ORIGIN, FINLESS)]
    return {
        number: panels
        for number, panels in found.items()
        if any(shared(of_figure(number, frame), x, y)["tasks"] for x, y in panels)
    }


def shared(frame: pd.DataFrame, x: str, y: str) -> dict[str, int]:
    """Return how many tasks a panel has, and how many both ways decided."""
    by_name = {
        name: frame[frame["automaton"] == name].set_index(TASK)["verdict"]
        for name in (x, y)
    }
    both = by_name[x].to_frame("x").join(by_name[y].rename("y"), how="inner")
    decided = both["x"][both["x"].ne(UNKNOWN) & both["y"].ne(UNKNOWN)]
    return {
        "workers": int(frame["workers"].max()),
        "tasks": len(both),
        "holds": int(decided.eq(HOLDS).sum()),
        "violated": int(decided.eq(VIOLATED).sum()),
    }


def automata(experiment: Experiment) -> Figure:
    """Draw how many automata of each translator have so many pairs and states."""
    names = sorted(experiment.translators, key=lambda name: (name != TGBA, name))
    with figures.look() as figure_class:
        size = (3.0 * len(names), 3.4)
        figure = figure_class(figsize=size, layout="constrained")
        panels = figure.subplots(1, len(names), squeeze=False, sharey=True).flat
        for axes, name in zip(panels, names, strict=True):
            some = Counter(
                # An empty Fin set in front of a TGBA makes no pair.
                (1 if name == TGBA else automaton.pairs, automaton.states)
                for (_, translator), automaton in experiment.automata.items()
                if translator == name
            )
            seen = {
                (pairs, states): n
                for (pairs, states), n in some.items()
                if pairs <= MOST_PAIRS and states <= MOST_STATES
            }
            x, y = zip(*seen, strict=True) if seen else ((), ())
            axes.scatter(x, y, s=[4 * n**0.7 for n in seen.values()], alpha=0.6)
            left_out = some.total() - sum(seen.values())
            axes.set_title(f"{name}: {some.total()} ({left_out} not shown)")
            axes.set(xlabel="sets of Inf marks" if name == FINLESS else "pairs")
            axes.set(xlim=(0.5, MOST_PAIRS + 0.5))
            figures.whole(axes.xaxis)
        figure.axes[0].set(ylabel="states of the automaton")
        return figure
