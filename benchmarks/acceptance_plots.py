"""Scatter plots of acceptances: one kind of automaton against another.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), pp. 307-324, Figs. 6, 8 and 9.  Its
points are coloured by the share of transitions with Fin marks in the product, in the
classes of the source.

Differences from the source: the colour is that of the product of the y-axis; where it
has no Fin, that of the x-axis; and where neither has, that of the generalised Rabin
automaton of the same question.  Where that is unknown, too, it is a fourth class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.report.plots.configurations import configured, questions
from ltlpipe.report.plots.scatter_plot import Pairs, Panel, costs_of, met, panelled
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import pandas as pd
    from matplotlib.figure import Figure

FIN_SHARES = {
    "Fin below 10 %": ("tab:blue", "o"),
    "10 % to 90 %": ("black", "o"),
    "90 % and more": ("tab:red", "o"),
    "no Fin, or unknown": ("silver", "o"),
}
"""Classes of products, their colours and markers."""


N_PAIRS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "one pair": lambda n: n == 1,
    "two pairs": lambda n: n == 2,
    "more pairs": lambda n: n > 2,
}
"""The columns of the source's Figs. 8 and 9."""


def acceptances(
    frame: pd.DataFrame,
    panels: Sequence[tuple[str, str]] | None = None,
    *,
    by_pairs: bool = False,
    value: str = "search_seconds",
) -> Figure:
    """Plot a comparison of acceptances, one panel for two of them.

    Parameters
    ----------
    frame : DataFrame
        What `ltlpipe.compare` returned for several acceptances, or several of those
        on top of each other.  Where several emptiness checks answered a question
        with the same acceptance, the fastest counts.
    panels : sequence of (str, str), optional
        The values of the column `automaton` of the x- and the y-axes; by default all
        others against TGBA (or the first, where there is none), and TFLA against TGRA.
    by_pairs : bool
        One column of panels each for questions with one pair, two, and more.
    value : str
        What is plotted: "search_seconds" as in the source, or "seconds".

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    UnsupportedError
        matplotlib is not installed, or no two acceptances were asked the same question.
    """
    chosen = _panels(frame) if panels is None else panels
    compared = [(a, b, *shares(frame, a, b, value)) for a, b in chosen]
    if not any(len(found.x) for _, _, found, _ in compared):
        raise UnsupportedError(
            "nothing to plot: no question was asked with two kinds of automata"
        )
    drawn = []
    for a, b, found, n_pairs in compared:
        for text, has in N_PAIRS.items() if by_pairs else [("", None)]:
            some = (
                found if has is None else Pairs(*(part[has(n_pairs)] for part in found))
            )
            title = f"{text} ({len(some.x)})" if text else f"{len(some.x)}"
            drawn.append(Panel(a, b, title, some))
    n_columns = len(N_PAIRS) if by_pairs else len(drawn)
    return panelled(drawn, FIN_SHARES, value, n_columns)


def shares(
    frame: pd.DataFrame, a: str, b: str, value: str = "search_seconds"
) -> tuple[Pairs, np.ndarray]:
    """Return the questions that two acceptances were asked, and their pairs.

    The kind of a question is a key of `FIN_SHARES`.  The second array, float64[k], has
    the numbers of generalised Rabin pairs; NaN where that is unknown.
    """
    import numpy as np

    labels = configured(frame, ["automaton"]).labels
    rows = met(frame, labels, a, b, value)
    order = (b, a, "TGRA")
    share = _known(frame, labels, order, "fin_share").reindex(rows.index).to_numpy()
    low, middle, high, unknown = FIN_SHARES
    kind = np.select(
        [np.isnan(share), share < 0.1, share < 0.9], [unknown, low, middle], high
    )
    n_pairs = _known(frame, labels, order, "pairs").reindex(rows.index).to_numpy()
    return Pairs(*costs_of(rows), kind.astype(object)), n_pairs


def _known(
    frame: pd.DataFrame, labels: np.ndarray, order: Sequence[str], column: str
) -> pd.Series:
    """Return the first value of a column, by question."""
    import pandas as pd

    found = pd.Series(dtype="float64")
    if column in frame:
        values = pd.to_numeric(frame[column]).to_numpy("float64", na_value=float("nan"))
        rows = pd.DataFrame({"question": questions(frame), "value": values})
        for name in order:
            of_name = rows[labels == name].groupby("question")["value"].first()
            found = of_name if found.empty else found.combine_first(of_name)
    return found


def _panels(frame: pd.DataFrame) -> list[tuple[str, str]]:
    kinds = list(frame["automaton"].dropna().unique())
    if not kinds:
        return []
    reference = "TGBA" if "TGBA" in kinds else kinds[0]
    panels = [(reference, kind) for kind in kinds if kind != reference]
    if {"TGRA", "TFLA"} <= {*kinds} - {reference}:
        panels.append(("TGRA", "TFLA"))
    return panels
