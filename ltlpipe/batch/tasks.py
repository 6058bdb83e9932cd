"""Tasks: a system, a formula or an automaton, and options; their identity and keys.

Their sources are in `ltlpipe.batch.task_sources`.

Two tasks are the same if their contents are, whatever their names.  The key of a task
is a hash of the contents of the system's files and of those that they include, the text
of the formula (or the contents of the automaton's file), the options that differ from
their defaults, and the versions of ltlpipe and Spot.  So a task in a renamed folder is
recognised, and a changed file makes a new task.

Options of single tasks can be text: cells of a task table, values of a grid.  A grid is
written ``emptiness=se05,couvreur99 acceptance=ba,tgba``: the values of an option have
commas between, and a value that is a list itself has ``+`` between
(``reduce=none,alphabet+ample``).  A value may contain blanks
(``translator=ltl2tgba -D %f,spot``); in double quotes, all else, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import product
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.automata.hoa import hoa_text
from ltlpipe.logic.formulas import Formula, formula_text, identifier
from ltlpipe.question.given_options import (
    DEFAULT,
    configuration_of,
    manner_of,
    options_of,
)
from ltlpipe.question.options import NEVER, OPTIONS, SOLVE, Options
from ltlpipe.runtime.arguments import ANY, TEXT, a_kind, expect, several, wrong_kind
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    UnsupportedError,
)
from ltlpipe.runtime.files import open_regular, split_suffix
from ltlpipe.runtime.names import nearest
from ltlpipe.runtime.wire import packed
from ltlpipe.systems.graph import SpotGraph, graph_to_data
from ltlpipe.systems.networks.lts import Network, network_digest
from ltlpipe.systems.reading import included_files, load_job

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System


IN_MEMORY = (Network, SpotGraph)
"""Systems that a store and other processes can have without a file."""


@dataclass(frozen=True)
class AutomatonFile:
    """A property given by an automaton of its violations."""

    path: str  # a HOA file
    file: str | None = None  # where the task comes from, if from a table
    line: int | None = None
    name: str | None = None  # which automaton it is, if the file may hold several

    @property
    def title(self) -> str:
        """What it is called: its name, or its file as the table names that."""
        path = PurePath(self.path)
        if self.file is None:
            return self.name or path.name
        folder = PurePath(self.file).parent
        below = path.relative_to(folder) if path.is_relative_to(folder) else path
        return self.name or str(below)


@dataclass(frozen=True)
class Task:
    """One question about one system.

    The question is an error if it, or the whole file, could not be read.  Options of
    a task go before those of the run.
    """

    system: System | tuple[str, ...]  # or the files to load it from
    formula: Formula | str | AutomatonFile | FormulaError | InputError
    position: int = 0  # among the formulas of its file
    options: Mapping[str, Any] = field(default_factory=dict)
    number: int | None = None  # which its file gives the formula
    expected: str | None = None  # the verdict that is published with it
    name: str | None = None  # what the caller calls the formula
    called: str | None = None  # the system, by the caller
    beside: Mapping[str, Any] = field(default_factory=dict)  # columns of the caller

    @property
    def system_name(self) -> str:
        """The name of the system."""
        if self.called is not None:
            return self.called
        system = self.system
        return " ".join(system) if isinstance(system, tuple) else system.name

    @property
    def is_translated(self) -> bool:
        """Whether the property is a formula."""
        return not isinstance(self.formula, AutomatonFile)

    @property
    def file(self) -> str | None:
        """The file that the question is in, if it is in one."""
        asked = self.formula
        if isinstance(asked, AutomatonFile):
            return asked.path
        return None if isinstance(asked, str) else asked.file

    @property
    def columns(self) -> dict[str, str | None]:
        """What the result table calls the system and the question, and expects."""
        asked = self.formula
        formula_id, text = identity_of(asked)
        return {
            "system": self.system_name,
            "formula_id": self.name or formula_id,
            "formula": text,
            "expected": self.expected,
            "title": asked.title
            if isinstance(asked, (Formula, FormulaError))
            else None,
        }


class Activity(NamedTuple):
    """What a worker is doing."""

    number: int  # of its task
    seconds: float
    states: int | None
    depth: int | None
    memory_bytes: int | None


def now() -> str:
    """Return the time as the result table has it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def portable(system: System) -> Network | SpotGraph:
    """Return a system that is in no file, if stores and other processes can have it.

    Raises
    ------
    UnsupportedError
        It is a model.
    """
    if isinstance(system, IN_MEMORY):
        return system
    raise UnsupportedError(
        f"tasks: {a_kind(system)} is solved in this process only: name its file "
        "instead, or leave jobs, store and engine as they are"
    )


def identity_of(
    formula: Formula | str | AutomatonFile | FormulaError | InputError,
) -> tuple[str, str | None]:
    """Return the id of a question, and the text of its formula, if any."""
    if isinstance(formula, str):
        return formula, formula
    if isinstance(formula, InputError):
        return PurePath(formula.file).name, None
    if isinstance(formula, AutomatonFile):
        return formula.title, None
    return identifier(formula), formula_text(formula)


LIMIT_COLUMNS = {
    "timeout": "timeout",
    "cpu_time": "cpu_time",
    "memory": "memory_limit_mib",
    "max_states": "max_states",
}
"""The columns of limits by their options; they are not in `configuration`."""

_CHUNK = 1 << 20


def file_kind(path: str) -> str:
    """Return the suffixes of a file: its format, and whether it is compressed."""
    return split_suffix(path)[1] + (".gz" if path.lower().endswith(".gz") else "")


def file_digest(path: str, **manner: Any) -> str:
    """Return the digest of a file's format, its contents, and those that it includes.

    The manner is that in which it is read as a system; see `ltlpipe.load`.  A file that
    cannot be read has a digest of its place and the error: once it can be read, the
    task is a different one.
    """
    kind = file_kind(path)
    try:
        digest = _content(path)
        with suppress(InputError, UnsupportedError):  # reported when it is loaded
            for other in included_files(path, **manner):
                digest.update(_content(other).digest())
    except (OSError, ValueError, InputError) as error:
        place = os.path.abspath(path)  # noqa: PTH100
        return f"{kind}:{place}:unreadable:{getattr(error, 'strerror', None)}"
    return f"{kind}:{digest.hexdigest()}"


def _content(path: str) -> Any:
    digest = hashlib.sha256()
    with open_regular(path) as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest


def system_digest(system: Network | SpotGraph) -> str:
    """Return the digest of a system in memory."""
    if isinstance(system, SpotGraph):
        return f"graph:{hashlib.sha256(packed(graph_to_data(system))).hexdigest()}"
    return network_digest(system)


DECLARED = "declared actions"
"""What an identity calls the alphabet that the file of a formula declares."""


class Digests:
    """Digests of systems and questions, each file read once.

    Systems in memory are compared by identity, so they have to live as long as this
    object.
    """

    def __init__(self) -> None:
        self._files: dict[tuple[str, str], str] = {}
        self._networks: dict[int, str] = {}

    def _file(self, path: str, **manner: Any) -> str:
        place = path, repr(sorted(manner.items()))
        if place not in self._files:
            self._files[place] = file_digest(path, **manner)
        return self._files[place]

    def system(
        self, system: System | tuple[str, ...], options: Mapping[str, Any]
    ) -> tuple[str, ...]:
        """Return the digests of a system's files, or of the system in memory.

        The options say in which manner the files are read.
        """
        if isinstance(system, tuple):
            manner = manner_of(options)
            return tuple(self._file(path, **manner) for path in system)
        number = id(system)
        if number not in self._networks:
            self._networks[number] = system_digest(portable(system))
        return (self._networks[number],)

    def loaded(self, files: tuple[str, ...], **manner: Any) -> Job[System | None]:
        """Load a system from files; None if they have changed meanwhile."""
        before = self.system(files, manner)
        system = yield from load_job(files, **manner)
        return system if Digests().system(files, manner) == before else None

    def question(self, task: Task) -> tuple[str, str]:
        """Return the kind of a question, and the digest of its contents."""
        asked = task.formula
        if isinstance(asked, AutomatonFile):
            name = "" if asked.name is None else f" {asked.name}"
            return "automaton", self._file(asked.path) + name
        if isinstance(asked, InputError):
            return "error", asked.message
        if isinstance(asked, FormulaError) and not asked.formula:
            return "error", asked.message
        if isinstance(asked, (Formula, FormulaError)):
            return "formula", formula_text(asked).strip()
        return "formula", asked.strip()

    def identity(self, task: Task, options: Mapping[str, Any]) -> str:
        """Return the identity of a task with all of its options, without versions."""
        contents = {
            name: self.automaton(value)
            if name in OPTIONS and OPTIONS[name].kind is object
            else value
            for name, value in options.items()
        }
        system, question = self.system(task.system, options), self.question(task)
        told = json.loads(options_text(contents))
        declared = getattr(task.formula, "alphabet", None)
        if declared is not None:
            told[DECLARED] = sorted(declared)
        if "fair_sets" in told and isinstance(task.system, tuple):
            # They may name components, which have the names of their files.
            told["file names"] = [PurePath(path).name for path in task.system]
        return json.dumps([system, question, told])

    def automaton(self, automaton: Any) -> str | None:
        """Return the digest of an automaton that is the value of an option."""
        if automaton is None or isinstance(automaton, (str, os.PathLike)):
            return None if automaton is None else self._file(os.fspath(automaton))
        text = hoa_text(automaton, "").removesuffix("\n")
        return hashlib.sha256(text.encode()).hexdigest()


def key_of(identity: str, release: tuple[str, str] | None = None) -> str:
    """Return the key of a task; the release is the versions of ltlpipe and Spot."""
    system, question, options = json.loads(identity)
    parts = {
        "system": system,
        "question": question,
        "options": options,
        "versions": release or versions(),
    }
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def versions() -> tuple[str, str]:
    """Return the versions of ltlpipe and Spot."""
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


def meant(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the values of some options in their kinds, without those refused."""
    values = {}
    for name in names:
        option = OPTIONS[name]
        with suppress(UnsupportedError):
            values[name] = option.meant(name, options.get(name, option.default))
    return values


def settings_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns with the options of a task, as `options_text` has them."""
    limits = {title: options.get(name) for name, title in LIMIT_COLUMNS.items()}
    return {"configuration": configuration_of(_of_today(options)), **limits}


_EARLIER = {
    "accepting": "network_acceptance",
    "ample_inner": "red_ample",
    "cap_states": "max_component_states",
    "fair": "fair_sets",
    "progress": "fair_sets",
    "stack_test": "ndfs_stack_test",
    "strict": "unknown",
}
"""Names of options in stores and tables of earlier versions, and of this one."""


def _of_today(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a row under the names of this version."""
    given = dict(options)
    if "strict" in given:
        given["strict"] = "error" if given["strict"] else NEVER
    return {_EARLIER.get(name, name): value for name, value in given.items()}


_OPTION = re.compile(r" (?=[a-z_]+=)")
"""The beginning of the next option of a configuration of earlier versions."""


def configuration_in(text: str) -> str:
    """Return a configuration as it is spelled today.

    Tables of earlier versions have ``name=value``, with semicolons within a value;
    other texts are left as they are.

    Examples
    --------
    >>> configuration_in("deterministic=true fair_sets=a,b;c seed=1")
    '--deterministic --fair-sets a,b --fair-sets c --seed 1'
    >>> configuration_in("--seed 1"), configuration_in("default")
    ('--seed 1', 'default')
    """
    if text == DEFAULT or text.startswith("--"):
        return text
    given = {}
    for part in _OPTION.split(text):
        name, found, value = part.partition("=")
        if not found:
            return text
        try:
            known = setting_name(_EARLIER.get(name, name))
            given[known] = setting_value(known, value)
        except UnsupportedError:
            return text
    return configuration_of(given)


GRID_PART = re.compile(r"[A-Za-z][\w-]*=")
"""The beginning of one option of a grid."""

_QUOTED = r'(?=(?:[^"]*"[^"]*")*[^"]*$)'  # what comes next is in no quotes
_BETWEEN_PARTS = re.compile(rf"\s+(?={GRID_PART.pattern}){_QUOTED}")
_GRID_VALUE = re.compile(r'(?:^|,)\s*(?:"([^"]*)"|([^,]*))(?=,|$)')

_TOGETHER_ONLY = ("ndfs_stack_test", "fair_sets", "swarm")
"""Options that mean nothing without another one."""


def setting_name(name: str) -> str:
    """Return the option of a column or a flag; refuse unknown ones."""
    expect(TEXT, option=name)
    plain = name.strip().lower().lstrip("-").replace("-", "_")
    known = options_of(SOLVE)
    if plain not in known:
        listed = ", ".join(known)
        raise UnsupportedError(
            f"{name!r} is not an option; expected one of {listed}"
            + nearest(plain, known)
        )
    return plain


def setting_value(name: str, text: str) -> Any:
    """Parse the value of an option; refuse other texts."""
    value = OPTIONS[name].read(name, text.strip())
    if name not in _TOGETHER_ONLY:
        Options(**{name: value})  # refuses what is wrong whatever the others are
    return value


def grid_parts(texts: Sequence[str]) -> list[str]:
    """Return the parts of a grid, one for each option; a text may contain several."""
    return [part for text in texts for part in _BETWEEN_PARTS.split(text.strip())]


def parse_grid(parts: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each option of a grid, each once.

    Each part is ``option=value,value``; one text may contain several.  Unknown options,
    duplicates and wrong values are refused.
    """
    grid: dict[str, list[Any]] = {}
    for part in grid_parts(parts):
        name, found, texts = part.partition("=")
        plain = [
            quoted or text.replace("+", ",")
            for quoted, text in _GRID_VALUE.findall(texts)
        ]
        if not found or not all(plain):
            raise UnsupportedError(f"--grid={part!r}: expected option=value,value")
        name = setting_name(name)
        if name in grid:
            raise UnsupportedError(f"--grid: {name} is given twice")
        values = [setting_value(name, text) for text in plain]
        grid[name] = list(dict.fromkeys(values))
    return grid


def grid_of(given: Mapping[str, Iterable[Any]] | str | None) -> dict[str, list[Any]]:
    """Return the grid for the parameter `grid` of `ltlpipe.solve`.

    Raises
    ------
    TypeError, UnsupportedError
        It is something else; names the parameter.
    """
    if given is None:
        return {}
    if isinstance(given, str):
        return parse_grid([given])
    if not isinstance(given, Mapping):
        raise wrong_kind("grid", "values by option, or option=value,value", given)
    return {
        setting_name(name): several(ANY, values, f"grid[{name!r}]")
        for name, values in given.items()
    }


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return every choice of one value for each option of a grid, in order.

    Examples
    --------
    >>> combinations({"emptiness": ["se05", "gv04"], "seed": [1]})
    [{'emptiness': 'se05', 'seed': 1}, {'emptiness': 'gv04', 'seed': 1}]
    """
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
