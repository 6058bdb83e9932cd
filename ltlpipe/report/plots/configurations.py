"""Groups of rows of a result table: configurations and questions.

A *question* is a system, a formula and a seed.  A *configuration* is
one way to answer questions, named by the values of some columns.  In tables from a
store the column `configuration` has the requested options; other tables only have the
chosen ones, and a configuration is given by columns that distinguish the rows of a
question: as few of `CHOSEN` as possible, and among these the ones with the fewest
values.
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.results import column_named
from ltlpipe.question.given_options import options_in
from ltlpipe.report.plots.figures import FEWEST
from ltlpipe.runtime.arguments import FRAME, TEXT, expect, several
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pandas as pd

QUESTION = ("system", "formula_id", "formula", "seed")
"""The columns of a question, as far as a table has them."""

ASKED = (
    *("configuration", "timeout", "cpu_time", "memory_limit_mib", "max_states"),
    "ltlpipe_version",
)
"""Columns of a store with the requested configuration."""

CHOSEN = ("emptiness", "automaton", "reductions", "ltlpipe_version")
"""Columns of other tables with the chosen configuration."""

SEARCHING = {
    *("emptiness", "acceptance", "automaton", "workers", "seed", "bitstate"),
    *("red_ample", "ndfs_stack_test"),
}
"""Options and columns that change how a product is searched, and not what it is."""

IN_ALL, OF_SEARCH = "seconds", "search_seconds"
"""Columns: the wall clock of a task, and that of its search alone."""

_SEED = re.compile(r"(^| )--seed \S+")


class Configured(NamedTuple):
    """The configuration of each row."""

    labels: np.ndarray  # object[n], a name per row
    names: list[str]  # each once, in order of their appearance
    columns: list[str]  # those that differ; none for a single configuration

    @property
    def title(self) -> str:
        """What the names are."""
        return ", ".join(column.replace("_", " ") for column in self.columns)


def configured(frame: pd.DataFrame, by: Sequence[str] | None = None) -> Configured:
    """Return the configuration of each row of a result table.

    `by` are the columns that name configurations; by default those that differ.

    Raises
    ------
    UnsupportedError
        There is no such column.
    """
    import numpy as np

    expect(FRAME, frame=frame)
    if by is not None:
        typed = (column_named(frame, name) for name in several(TEXT, by, "by"))
        columns = list(dict.fromkeys(typed))
        require(frame, columns)
    else:
        columns = _that_differ(frame)
    if not columns:
        return Configured(np.full(len(frame), "all tasks", dtype=object), [], [])
    texts = {column: _texts(frame, column) for column in columns}
    if len(columns) == 1:
        labels = texts[columns[0]]
    else:
        labels = _joined(texts)
    names = list(dict.fromkeys(labels))
    return Configured(labels, names, columns)


def named(found: Configured, text: str) -> str:
    """Return the name of a configuration that somebody has typed in his own way.

    ``emptiness=se05``, ``--emptiness se05`` and, where a column says it, ``se05`` are
    one.  A text that is no such name is returned as it is.
    """
    column = found.columns[0] if len(found.columns) == 1 else ""
    wanted = [text, *(n for n in found.names if _words(n) == _words(text))]
    wanted += [n for n in found.names if _words(f"{column} {n}") == _words(text)]
    return next((name for name in wanted if name in found.names), text)


def _words(text: str) -> list[str]:
    return sorted(w.lstrip("-").replace("-", "_") for w in re.split(r"[ =]+", text))


def _joined(texts: dict[str, np.ndarray]) -> np.ndarray:
    """Return ``column=value`` of all columns; the options of a store say so already."""
    joined: Any = ""
    for column, values in texts.items():
        before = " " if column != next(iter(texts)) else ""
        title = "" if column == "configuration" else f"{column}="
        joined = joined + (before + title + values)
    return joined  # type: ignore[no-any-return]


def _texts(frame: pd.DataFrame, column: str) -> np.ndarray:
    """Return the values of a column as text, object[n]; missing ones as a dash."""
    texts = frame[column].astype("string").fillna("-")
    if column == "configuration":  # the seed is part of the question
        texts = texts.str.replace(_SEED, "", regex=True).str.strip()
        texts = texts.where(texts != "", "default")
    elif str(frame[column].dtype) in ("Float64", "float64"):
        texts = texts.str.removesuffix(".0")
    return texts.to_numpy(dtype=object)


def _that_differ(frame: pd.DataFrame) -> list[str]:
    """Return the columns that tell the rows of each question apart."""
    import pandas as pd

    known = ASKED if "configuration" in frame else CHOSEN
    keys = {c: pd.factorize(_texts(frame, c))[0] for c in known if c in frame}
    keys["_question"] = questions(frame)
    codes = pd.DataFrame(keys)
    varying = [
        column
        for column in codes.columns[:-1]
        if codes.groupby("_question")[column].nunique().gt(1).any()
    ]
    if not varying:
        return []
    for size in range(1, len(varying) + 1):
        telling = [
            [*chosen]
            for chosen in combinations(varying, size)
            if not codes.duplicated(["_question", *chosen]).any()
        ]
        if telling:
            return min(telling, key=lambda chosen: codes.groupby(chosen).ngroups)
    return varying


def questions(frame: pd.DataFrame) -> np.ndarray:
    """Return a number per row, int64[n], the same iff the question is."""
    import numpy as np

    columns = [column for column in QUESTION if column in frame]
    if not columns:
        return np.arange(len(frame))
    groups = frame.groupby(columns, dropna=False, sort=False, observed=True)
    return groups.ngroup().to_numpy(dtype=np.int64)


def cost_column(frame: pd.DataFrame, by: Sequence[str] | None = None) -> str:
    """Return the column of seconds in which configurations compare.

    It is `OF_SEARCH` where they differ in nothing but the search, by their names and by
    the reductions that were used, and every answer has it; else `IN_ALL`.
    """
    found = configured(frame, by)
    if OF_SEARCH not in frame or not set(_differing(found)) <= SEARCHING:
        return IN_ALL
    if len(found.names) < 2:  # nothing is compared
        return IN_ALL
    if "reductions" in frame:
        texts = frame["reductions"].astype("string").fillna("-")
        if texts.groupby(questions(frame)).nunique().gt(1).any():
            return IN_ALL
    answered = frame["verdict"].isin([HOLDS, VIOLATED])
    known = frame.loc[answered, OF_SEARCH].notna()
    return OF_SEARCH if len(known) and known.all() else IN_ALL


def _differing(found: Configured) -> list[str]:
    """Return the options and columns whose values differ between configurations."""
    if found.columns != ["configuration"]:
        return found.columns
    chosen: list[set[tuple[str, ...]]] = [
        {(option, *values) for option, values in options_in(name).items()}
        for name in found.names
    ]
    differing = chosen[0].union(*chosen) - chosen[0].intersection(*chosen)
    return [option for option, *_ in differing]


def require(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Refuse tables that lack a column.

    Raises
    ------
    UnsupportedError
        There is no such column; the message lists the columns.
    """
    expect(FRAME, frame=frame)
    for column in columns:
        if column not in frame:
            listed = ", ".join(map(str, frame.columns))
            raise UnsupportedError(
                f"plots: the table has no column {column!r}; it has {listed}"
            )


def answers(frame: pd.DataFrame, value: str) -> np.ndarray:
    """Return what answers have cost, float64[n]; NaN where there is no answer.

    Logarithmic axes have no zero: seconds are at least `FEWEST`, of other values a
    zero counts as the least that is more.

    Raises
    ------
    UnsupportedError
        There is no such column, or no numbers in it.
    """
    import numpy as np
    import pandas as pd

    expect(TEXT, value=value)
    require(frame, ["verdict", value])
    try:
        cost = pd.to_numeric(frame[value]).to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise UnsupportedError(
            f"plots: the values of {value} are not numbers"
        ) from None
    answered = frame["verdict"].isin([HOLDS, VIOLATED]).to_numpy(dtype=bool)
    cost = np.where(answered & np.isfinite(cost), cost, np.nan)
    positive = cost[cost > 0]
    least = float(positive.min()) if len(positive) else 1.0
    if value.endswith("seconds"):
        least = FEWEST
    cost[cost < least] = least
    return cost
