"""What makes two tasks the same: content, never names.

The key of a task is a hash of the contents of the system's files, the text of the
formula (or the contents of the automaton's file), the options that differ from
their defaults, and the versions of ltlpipe and Spot.  So a task in a renamed folder is
recognised, and a changed file makes a new task.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

from ltlpipe.batch.tasks import AutomatonFile, portable
from ltlpipe.logic.formulas import Formula, formula_text
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.runtime.files import open_regular, split_suffix
from ltlpipe.runtime.wire import packed
from ltlpipe.systems.graph import SpotGraph, graph_to_data
from ltlpipe.systems.networks.lts import network_digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.batch.tasks import Task
    from ltlpipe.systems.models import System
    from ltlpipe.systems.networks.lts import Network

LIMIT_COLUMNS = {
    "timeout": "timeout",
    "cpu_time": "cpu_time",
    "memory": "memory_limit_mib",
    "max_states": "max_states",
}
"""The columns of limits by their options; they are not in `configuration`."""

_CHUNK = 1 << 20
_PLAIN = "default"  # the configuration without any option

_AUTOMATA = [name for name, option in OPTIONS.items() if option.kind is object]


def file_kind(path: str) -> str:
    """Return the suffixes of a file: its format, and whether it is compressed."""
    return split_suffix(path)[1] + (".gz" if path.lower().endswith(".gz") else "")


def file_digest(path: str) -> str:
    """Return the digest of a file's contents and format.

    A file that cannot be read has a digest of the error: once it can be read, the task
    is a different one.
    """
    kind = file_kind(path)
    digest = hashlib.sha256()
    try:
        with open_regular(path) as stream:
            while chunk := stream.read(_CHUNK):
                digest.update(chunk)
    except (OSError, ValueError, InputError) as error:
        return f"{kind}:unreadable:{getattr(error, 'strerror', None)}"
    return f"{kind}:{digest.hexdigest()}"


def system_digest(system: Network | SpotGraph) -> str:
    """Return the digest of a system in memory."""
    if isinstance(system, SpotGraph):
        return f"graph:{hashlib.sha256(packed(graph_to_data(system))).hexdigest()}"
    return network_digest(system)


class Digests:
    """Digests of systems and questions, each file read once.

    Systems in memory are compared by identity, so they have to live as long as this
    object.
    """

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._networks: dict[int, str] = {}

    def _file(self, path: str) -> str:
        if path not in self._files:
            self._files[path] = file_digest(path)
        return self._files[path]

    def system(self, system: System | tuple[str, ...]) -> tuple[str, ...]:
        """Return the digests of a system's files, or of the system in memory."""
        if isinstance(system, tuple):
            return tuple(self._file(path) for path in system)
        number = id(system)
        if number not in self._networks:
            self._networks[number] = system_digest(portable(system))
        return (self._networks[number],)

    def question(self, task: Task) -> tuple[str, str]:
        """Return the kind of a question, and the digest of its contents."""
        asked = task.formula
        if isinstance(asked, AutomatonFile):
            name = "" if asked.name is None else f" {asked.name}"
            return "automaton", self._file(asked.path) + name
        if isinstance(asked, InputError):
            return "error", asked.message
        if isinstance(asked, (Formula, FormulaError)):
            return "formula", formula_text(asked).strip()
        return "formula", asked.strip()

    def _contents(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options in which automata are replaced by digests."""
        automata = [name for name in options if name in _AUTOMATA]
        return {**options} | {name: self._automaton(options[name]) for name in automata}

    def _automaton(self, given: Any) -> str | None:
        if given is None or isinstance(given, (str, os.PathLike)):
            return None if given is None else self._file(os.fspath(given))
        return hashlib.sha256(given.to_str("hoa").encode()).hexdigest()

    def identity(self, task: Task, options: Mapping[str, Any]) -> str:
        """Return the identity of a task with all of its options, without versions."""
        return identity_text(
            self.system(task.system),
            self.question(task),
            options_text(self._contents(options)),
        )

    def key(self, task: Task, options: Mapping[str, Any]) -> str:
        """Return the key of a task under all of its options, those of the run too."""
        return key_of(self.identity(task, options))


def identity_text(
    system: tuple[str, ...], question: tuple[str, str], options: str
) -> str:
    """Return the results of `Digests` and `options_text` for a task, as JSON."""
    return json.dumps([system, question, json.loads(options)])


def key_of(identity: str, versions: tuple[str, str] | None = None) -> str:
    """Return the key of a task; the versions are those of ltlpipe and Spot."""
    system, question, options = json.loads(identity)
    parts = {
        "system": system,
        "question": question,
        "options": options,
        "versions": versions or _versions(),
    }
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _versions() -> tuple[str, str]:
    from ltlpipe._version import __version__
    from ltlpipe.automata.translation import spot_version

    return __version__, spot_version()


def options_text(options: Mapping[str, Any]) -> str:
    """Return the options that differ from their defaults, as JSON in order.

    Equivalent values are written alike: 60 seconds are 60.0 seconds, and an infinite
    limit is no limit.

    Examples
    --------
    >>> options_text({"timeout": 60, "emptiness": "auto", "cpu_time": float("inf")})
    '{"timeout": 60.0}'
    """
    chosen = {}
    for name, value in sorted(options.items()):
        try:
            option = OPTIONS[name]
            plain = option.meant(name, value)
        except (KeyError, UnsupportedError):  # reported in the row of the task
            chosen[name] = value
        else:
            if plain != option.default:
                chosen[name] = plain
    return json.dumps(chosen, default=repr)


def configuration_of(options: str) -> str:
    """Return the column `configuration` for the result of `options_text`."""
    return str(settings_of(json.loads(options))["configuration"])


def settings_of(options: dict[str, Any]) -> dict[str, Any]:
    """Return the columns with the options of a task."""
    limits = {title: options.get(name) for name, title in LIMIT_COLUMNS.items()}
    others = [
        f"{name}={_plain(value)}"
        for name, value in options.items()
        if name not in LIMIT_COLUMNS
    ]
    return {"configuration": " ".join(others) or _PLAIN, **limits}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ";".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
