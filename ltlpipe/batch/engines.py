"""Where tasks are answered: by processes of this machine, or on a Dask cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.batch.dask_engine import Cluster
    from ltlpipe.batch.pool import Pool
    from ltlpipe.batch.tasks import Task

LOCAL, DASK = "local", "dask"

ENGINES = (LOCAL, DASK)
"""What ``--engine`` can be."""

Workers: TypeAlias = "Pool | Cluster"
"""Who answers tasks, used in a with statement whose end ends them."""

ATTEMPTS = 3
"""Default limit on the attempts at a task whose workers die."""


@dataclass(frozen=True)
class Engine:
    """Where tasks are answered, and by how many at once.

    By default it is one at once here, and on a cluster one per thread of a worker.
    """

    name: str = LOCAL  # one of `ENGINES`
    jobs: int | None = None  # tasks at once
    scheduler: str | None = None  # the address of one of Dask
    attempts: int = ATTEMPTS  # limit on the attempts at a task whose Dask workers die

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            listed = ", ".join(ENGINES)
            raise UnsupportedError(f"--engine={self.name}: expected one of {listed}")
        if self.jobs is not None and self.jobs < 1:
            raise UnsupportedError(f"--jobs={self.jobs}: expected 1 or more")
        if self.attempts < 1:
            raise UnsupportedError(f"--attempts={self.attempts}: expected 1 or more")
        if self.name == LOCAL:
            if self.scheduler is not None:
                raise UnsupportedError("--scheduler goes with --engine=dask")
            return
        if self.scheduler is None:
            raise UnsupportedError("--engine=dask goes with --scheduler=ADDRESS")
        from ltlpipe.batch.dask_engine import require_dask

        require_dask()

    def workers(self, tasks: Sequence[Task], options: Mapping[str, Any]) -> Workers:
        """Return the workers that answer tasks."""
        if self.name == LOCAL:
            from ltlpipe.batch.pool import Pool

            return Pool(tasks, options, min(self.jobs or 1, len(tasks) or 1))
        from ltlpipe.batch.dask_engine import Cluster

        assert self.scheduler is not None
        return Cluster(
            tasks, options, self.scheduler, jobs=self.jobs, attempts=self.attempts
        )
