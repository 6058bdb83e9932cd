"""Where the results of a store come from: its runs, and the files of its tasks.

The store records the paths of a task's files and, in its key, their contents.  Together
they determine whether a system can be read again.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.identity import Digests, identity_text, key_of
from ltlpipe.batch.sqlite_file import reading
from ltlpipe.batch.stored_rows import stored_rows
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.reading import load

if TYPE_CHECKING:
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.models import System


class RunOfStore(NamedTuple):
    """A run of a store."""

    number: int
    command: tuple[str, ...]
    began_at: str
    ended_at: str | None  # None if it is running, or was killed
    n_tasks: int  # those that no later run lists


class Origin(NamedTuple):
    """The inputs of a task in a store."""

    files: tuple[str, ...]
    formula: str | None
    options: str


class Origins:
    """The runs of a store, and the inputs of its tasks."""

    def __init__(self, path: StrPath) -> None:
        self.runs: list[RunOfStore] = []
        self._of_task: dict[str, list[Origin]] = {}
        self._digests = Digests()
        with reading(path) as db:
            for number, command, *others in db.execute(
                "SELECT runs.run, command, began_at, ended_at, count(key) "
                "FROM runs LEFT JOIN tasks USING (run) GROUP BY runs.run "
                "ORDER BY runs.run"
            ):
                words = _words(command)
                self.runs.append(RunOfStore(number, words, *others))
            for row in stored_rows(db, "tasks"):
                if row.objection is None:
                    files = tuple(json.loads(row.said["place"])[0])
                    origin = Origin(files, row.said["formula"], row.said["options"])
                    self._of_task.setdefault(row.said["key"], []).append(origin)

    def files(self, key: str, versions: tuple[str, str]) -> tuple[str, ...] | None:
        """Return files that still hold the system of a task, by its key.

        The versions are those of the ltlpipe and the Spot that answered it.  None if
        the files have changed or do not exist; and for properties given by an
        automaton, whose file is not recorded.
        """
        for origin in self._of_task.get(key, ()):
            question = ("formula", (origin.formula or "").strip())
            system = self._digests.system(origin.files)
            identity = identity_text(system, question, origin.options)
            if key_of(identity, versions) == key:
                return origin.files
        return None

    def system(self, files: tuple[str, ...], **manner: Any) -> System | None:
        """Load what `files` has returned; None if it has changed.

        The manner is that in which files are read; see `ltlpipe.load`.
        """
        system = load(files, **manner)
        unchanged = Digests().system(files) == self._digests.system(files)
        return system if unchanged else None

    def network(self, files: tuple[str, ...]) -> Network | None:
        """Load what `files` has returned; None if it has changed, or is a model."""
        system = self.system(files)
        return system if isinstance(system, Network) else None


def _words(command: str) -> tuple[str, ...]:
    """Return a command line; that of a row that is damaged as it is."""
    try:
        return tuple(map(str, json.loads(command)))
    except (ValueError, TypeError, RecursionError):
        return (str(command),)
