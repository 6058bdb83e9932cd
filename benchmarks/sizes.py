"""Families that grow until a question about them takes longer than the limit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from benchmarks.tasks import Limits, Options, Task, answers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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
