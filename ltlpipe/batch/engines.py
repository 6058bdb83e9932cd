"""Where tasks are answered: by processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.answering import Expected
    from ltlpipe.batch.task_data import Finished
    from ltlpipe.batch.task_job import Activity
    from ltlpipe.batch.tasks import Task

LOCAL, DASK = "local", "dask"

ENGINES = (LOCAL, DASK)
"""What ``--engine`` can be."""

ATTEMPTS = 3
"""How often a task is begun, unless somebody says otherwise, if workers die."""


class Workers(Protocol):
    """Whoever answers tasks; used in a with statement, whose end ends them."""

    def __enter__(self) -> Workers:
        """Return itself."""

    def __exit__(self, *_: object) -> None:
        """End what is being done."""

    @property
    def n_running(self) -> int:
        """How many tasks are being answered."""

    @property
    def has_room(self) -> bool:
        """Whether a further task can be begun."""

    def begin(self, number: int, expected: Expected | None = None) -> None:
        """Have a task answered, whose inputs have to be what is expected."""

    def wait(self, seconds: float) -> list[Finished]:
        """Wait for news, not longer than this, and return the tasks that have ended."""

    def activities(self) -> list[Activity]:
        """Return what those are doing that have something to do."""


@dataclass(frozen=True)
class Engine:
    """Where tasks are answered, and by how many at once.

    Parameters
    ----------
    name : str
        One of `ENGINES`.
    jobs : int, optional
        Tasks at once; by default one here, and on a cluster as many as its workers
        have threads.
    scheduler : str, optional
        The address of a Dask scheduler.
    attempts : int
        How often a task is begun whose Dask workers die under it.
    """

    name: str = LOCAL
    jobs: int | None = None
    scheduler: str | None = None
    attempts: int = ATTEMPTS

    def validate(self) -> None:
        """Refuse what cannot be.

        Raises
        ------
        UnsupportedError
            It says what to use instead, or what to install.
        """
        if self.name not in ENGINES:
            listed = ", ".join(ENGINES)
            raise UnsupportedError(f"--engine {self.name}: expected one of {listed}")
        if self.jobs is not None and self.jobs < 1:
            raise UnsupportedError(f"--jobs {self.jobs}: expected 1 or more")
        if self.attempts < 1:
            raise UnsupportedError(f"--attempts {self.attempts}: expected 1 or more")
        if self.name == LOCAL:
            if self.scheduler is not None:
                raise UnsupportedError("--scheduler goes with --engine dask")
            return
        if self.scheduler is None:
            raise UnsupportedError("--engine dask goes with --scheduler ADDRESS")
        from ltlpipe.batch.dask_engine import require_dask

        require_dask()

    def workers(self, tasks: Sequence[Task], options: Mapping[str, Any]) -> Workers:
        """Return those who will answer tasks.

        Raises
        ------
        LtlpipeError
            Nobody answers at the address of the scheduler.
        """
        if self.name == LOCAL:
            from ltlpipe.batch.pool import Pool

            return Pool(tasks, options, min(self.jobs or 1, len(tasks) or 1))
        from ltlpipe.batch.dask_engine import Cluster

        assert self.scheduler is not None
        return Cluster(
            tasks, options, self.scheduler, jobs=self.jobs, attempts=self.attempts
        )
