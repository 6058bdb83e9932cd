"""Families that grow until a question about them takes longer than the limit."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.tasks import Limits, Options, Task, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

Row: TypeAlias = dict[str, Any]


def grown(
    make: Callable[[int], Any],
    sizes: Iterable[int],
    formula: str,
    options: Options,
    limits: Limits,
) -> Iterator[Row]:
    """Yield a row for each size, the last one being the first without an answer.

    Parameters
    ----------
    make : callable
        Returns the system of a size; of a module, so that it can be sent to a process.
    sizes : iterable of int
        Ascending.
    formula, options : str, dict
        The question.
    limits : Limits
        Of each question.
    """
    for n in sizes:
        task = Task(partial(make, n), formula, options, limits)
        ((_, row),) = answers([task])
        yield {"n": n, **row}
        if row["verdict"] == "unknown":
            return


def chosen(
    doc: str | None, families: Collection[str], ways: Collection[str]
) -> argparse.Namespace:
    """Return what the command line of a benchmark of this kind asks for."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--memory", type=int, default=4096, help="MiB")
    parser.add_argument("--families", nargs="+", choices=families, default=families)
    parser.add_argument("--ways", nargs="+", choices=ways, default=list(ways))
    return parser.parse_args()
