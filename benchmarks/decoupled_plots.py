"""Figures of `benchmarks.decoupled_random`, after Figs. 11 and 12 of Gnad et al."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.decoupled_random import Table
    from benchmarks.tasks import Limits

MARKERS = "os^vDPX*"
FASTEST = 1e-3  # seconds; what took less is drawn here
AXES = {"ratio": "ratio of internal transitions", "components": "components"}


def _pyplot() -> Any:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "decoupled"
    import matplotlib.pyplot as plt

    return plt


def draw_scatter(table: Table, path: Path, limits: Limits) -> None:
    """Plot the seconds of decoupled search against those of others, as in Fig. 11.

    What was not answered lies on the line beyond the time limit.
    """
    plt = _pyplot()
    others = [way for way in ("couvreur99", "spin") if any(k.way == way for k in table)]
    beyond = 2 * limits.timeout
    figure, rows = plt.subplots(
        2,
        len(others),
        figsize=(5 * len(others), 9),
        squeeze=False,
        layout="constrained",
    )
    for field, line in zip(AXES, rows, strict=True):
        for way, axes in zip(others, line, strict=True):
            _scatter(axes, table, way, field, beyond)
            axes.axline((1, 1), slope=1, color="grey", linewidth=0.8)
            for limit in (axes.axhline, axes.axvline):
                limit(limits.timeout, color="grey", linestyle=":")
            axes.set(
                xscale="log",
                yscale="log",
                xlim=(FASTEST / 2, 2 * beyond),
                ylim=(FASTEST / 2, 2 * beyond),
                xlabel=f"{way}, seconds",
                ylabel="decoupled, seconds",
            )
            axes.legend(title=AXES[field], fontsize="small")
    figure.suptitle(
        f"{_n_networks(table)} random networks; not answered in {limits.timeout:g} s "
        f"and {limits.memory_mib} MiB: at the border"
    )
    _save(plt, figure, path)


def _scatter(axes: Axes, table: Table, way: str, field: str, beyond: float) -> None:
    def seconds(row: dict[str, Any]) -> float:
        if row["verdict"] == "unknown":
            return beyond
        return max(FASTEST, float(row["seconds"]))

    values = sorted({getattr(key, field) for key in table})
    for value, marker in zip(values, cycle(MARKERS), strict=False):
        points = [
            (seconds(row), seconds(table[key._replace(way="decoupled")]))
            for key, row in table.items()
            if key.way == way and getattr(key, field) == value
        ]
        if points:
            x, y = zip(*points, strict=True)
            axes.scatter(x, y, s=16, alpha=0.6, marker=marker, label=f"{value:g}")


def draw_coverage(table: Table, path: Path, limits: Limits) -> None:
    """Plot how many networks each way answers, as in Fig. 12."""
    plt = _pyplot()
    figure, line = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
    for (field, text), axes in zip(AXES.items(), line, strict=True):
        values = sorted({getattr(key, field) for key in table})
        ways = {key.way: None for key in table}
        for way, marker in zip(ways, cycle(MARKERS), strict=False):
            counts = [_answered(table, way, field, value) for value in values]
            label = f"{way} ({sum(counts)})"
            axes.plot(values, counts, marker=marker, fillstyle="none", label=label)
        asked = [
            len({k.network for k in table if getattr(k, field) == v}) for v in values
        ]
        axes.plot(values, asked, color="grey", linestyle=":", label="networks")
        axes.set(xlabel=text, xticks=values, ylabel="networks answered", ylim=(0, None))
        axes.legend()
    figure.suptitle(
        f"{_n_networks(table)} random networks, {limits.timeout:g} s and "
        f"{limits.memory_mib} MiB each"
    )
    _save(plt, figure, path)


def _n_networks(table: Table) -> int:
    return len({key.network for key in table})


def _answered(table: Table, way: str, field: str, value: float) -> int:
    return sum(
        row["verdict"] != "unknown"
        for key, row in table.items()
        if key.way == way and getattr(key, field) == value
    )


def _save(plt: Any, figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
    print(f"wrote {path}")
