"""Published experiments done again: models, properties, and what others found.

A folder of experiments holds

``models/``
    the models, ``.dve`` or ``.pnml``, also compressed;
``tasks.csv``
    columns `model`, `index` or `task`, `formula`, `verdict` (of the formula);
``automata/``
    HOA files of automata of the negated formulas, each called ``TASK TRANSLATOR``;
``published.csv``
    columns `model`, `index` or `task`, `translator`, `verdict` and, where known,
    `algorithm`, `unique_states`, `unique_transitions`, `seconds_16_cores`.

The algorithm `favoid` searches generalised Rabin pairs one after another and counts
states and transitions once for each of them: n pairs that are not satisfied give n
times the size of the product.

This is how the data of V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking
with generalized Rabin and Fin-less automata", STTT 21 (2019), Sec. 5, are laid out.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.table import n_pairs
from ltlpipe.batch.tasks import AutomatonFile, Task
from ltlpipe.question.options import ACCEPTANCE_NAMES
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import split_suffix
from ltlpipe.systems.formats import MODEL_SUFFIXES
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.files import StrPath

OWN = "own-"
"""Before a kind of acceptance: the formula is translated by ltlpipe."""


RABIN_CHECK = "favoid"
"""What the published tables call the search for generalised Rabin pairs."""

WHOLE_CHECK = "ufscc"
"""What they call the search for SCCs with all marks, or those of a disjunct."""

EXPERIMENT_DTYPES = {
    "experiment": "string",
    "model": "string",
    "task": "string",
    "translator": "string",
    "emptiness": "string",
    "acceptance": "string",
    "automaton_states": "Int64",
    "verdict": "string",
    "reason": "string",
    "published_verdict": "string",
    "same_verdict": "boolean",
    "states": "Int64",
    "published_states": "Int64",
    "same_states": "boolean",
    "transitions": "Int64",
    "published_transitions": "Int64",
    "same_transitions": "boolean",
    "seconds": "Float64",
    "search_seconds": "Float64",
    "states_per_second": "Float64",
    "memory_mib": "Float64",
    "bytes_per_state": "Float64",
    "published_seconds": "Float64",
    "seconds_to_published": "Float64",
    "message": "string",
    "ltlpipe_version": "string",
    "spot_version": "string",
    "host_cores": "Int64",
    "started_at": "string",
}
"""The columns of an experiment's table, and their types.

Published seconds are those of 16 cores; `seconds_to_published` is the ratio of the
search's own seconds on one core to them.  `same_states` and `same_transitions` are
known where the property holds, so that both searches were complete, and the automaton
is the published one.
"""

_MIB = 1 << 20


class Question(NamedTuple):
    """A row of ``tasks.csv``."""

    model: str
    task: str  # as automata and published rows call it
    formula: str
    verdict: str


class _Automaton(NamedTuple):
    """Where an automaton is, and what the file says of its acceptance."""

    path: str
    acceptance: str


@dataclass(frozen=True)
class Trial:
    """One question asked with the automaton of one translator."""

    question: Question
    translator: str
    published: Mapping[str, str]  # of the same question and translator, or nothing
    task: Task
    counted: int = 1  # how often the published numbers count each state


class Experiments:
    """The folder of an experiment.

    Parameters
    ----------
    name : str
        What rows call it.
    folder : path
        Laid out as the module says.

    Raises
    ------
    InputError
        A file is missing, or has other columns; names it.
    """

    def __init__(self, name: str, folder: StrPath) -> None:
        self.name = name
        self.folder = Path(folder)
        self.models = dict(self._models())
        self.questions = list(self._questions())
        self._published: dict[tuple[str, str, str], dict[str, str]] = {}
        for row in self._rows("published.csv", ("model", "translator", "verdict")):
            key = (row["model"], _task_of(row), row["translator"])
            # Of Fin-less automata there are both; the pairs are not what they are for.
            if row.get("algorithm") == WHOLE_CHECK or key not in self._published:
                self._published[key] = row
        self._automata = dict(self._named_automata())

    @property
    def translators(self) -> list[str]:
        """The translators whose automata are there."""
        return sorted({translator for _, translator in self._automata})

    def _models(self) -> Iterator[tuple[str, str]]:
        found = False
        for path in sorted((self.folder / "models").glob("*")):
            stem, suffix = split_suffix(path)
            if suffix in MODEL_SUFFIXES:
                found = True
                yield stem, str(path)
        if not found:
            message = f"expected models ({' or '.join(MODEL_SUFFIXES)})"
            raise InputError(message, file=str(self.folder / "models"))

    def _rows(self, file: str, columns: Iterable[str]) -> Iterator[dict[str, str]]:
        path = self.folder / file
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                reader = csv.DictReader(stream)
                missing = [c for c in columns if c not in (reader.fieldnames or ())]
                if missing:
                    message = f"expected the columns {', '.join(missing)}"
                    raise InputError(message, file=str(path), line=1)
                # Tables that were put together may repeat their first line.
                yield from (row for row in reader if row["model"] != "model")
        except (OSError, UnicodeError, csv.Error) as error:
            raise InputError(f"cannot be read: {error}", file=str(path)) from None

    def _questions(self) -> Iterator[Question]:
        for row in self._rows("tasks.csv", ("model", "formula", "verdict")):
            if row["model"] not in self.models:
                raise InputError(
                    f"{row['model']}: there is no such model in models/",
                    file=str(self.folder / "tasks.csv"),
                )
            yield Question(row["model"], _task_of(row), row["formula"], row["verdict"])

    def _named_automata(self) -> Iterator[tuple[tuple[str, str], _Automaton]]:
        """Yield task and translator of each automaton, and where it is."""
        for path in sorted((self.folder / "automata").glob("*.hoa*")):
            opened = gzip.open if path.suffix == ".gz" else open
            try:
                with opened(path, "rt", encoding="utf-8") as stream:
                    name = None
                    for line in stream:
                        if found := re.match(r'name: "(\S+) (\S+)"', line):
                            name = found[1], found[2]
                        found = re.match(r"Acceptance:\s*\d+\s*(.*)", line)
                        if found and name is not None:
                            yield name, _Automaton(str(path), found[1])
                            name = None
            except (OSError, EOFError, UnicodeError) as error:
                raise InputError(f"cannot be read: {error}", file=str(path)) from None

    def trials(
        self, translators: Sequence[str], models: Sequence[str], count: int | None
    ) -> list[Trial]:
        """Return what is to be tried, the models taking turns.

        Parameters
        ----------
        translators : sequence of str
            Some of `translators`, or kinds of acceptance behind `OWN`.
        models : sequence of str
            Names of models; none for all.
        count : int, optional
            Questions of each model, the first ones.

        Raises
        ------
        UnsupportedError
            There is no such model or translator.
        """
        own = [OWN + kind for kind in ACCEPTANCE_NAMES]
        _refuse_unknown("model", models, self.models)
        _refuse_unknown("translator", translators, [*self.translators, *own])
        by_model: dict[str, list[Question]] = {}
        for question in self.questions:
            if not models or question.model in models:
                by_model.setdefault(question.model, []).append(question)
        turns = max((len(some) for some in by_model.values()), default=0)
        if count is not None:
            turns = min(turns, count)
        return [
            trial
            for turn in range(turns)
            for questions in by_model.values()
            if turn < len(questions)
            for translator in translators
            for trial in self._trial(questions[turn], translator)
        ]

    def _trial(self, question: Question, translator: str) -> Iterator[Trial]:
        """Yield the trial of a question; none if the translator has no automaton."""
        model = (self.models[question.model],)
        key = (question.model, question.task, translator)
        published = self._published.get(key, {})
        counted = 1
        # Published numbers are those of the whole product.
        options: dict[str, Any] = {"reduce": "none"}
        if translator.startswith(OWN):
            options["acceptance"] = translator.removeprefix(OWN)
            task = Task(model, question.formula, options=options)
        else:
            name = self._automaton_name(question)
            found = self._automata.get((name, translator))
            if found is None:
                return
            if published.get("algorithm") == RABIN_CHECK:
                options["emptiness"] = "rabin"
                counted = n_pairs(found.acceptance.replace(" ", "")) or 1
            automaton = AutomatonFile(found.path, name=f"{name} {translator}")
            task = Task(model, automaton, options=options)
        yield Trial(question, translator, published, task, counted)

    def _automaton_name(self, question: Question) -> str:
        """Return what automata call a question: MODEL_INDEX where it has an index."""
        if question.task.startswith((question.model, "S_")):
            return question.task
        return f"{question.model}_{question.task}"

    def row_of(self, trial: Trial, found: Row) -> Row:
        """Return the row of a trial from that of its task."""
        published = trial.published
        row: Row = {
            "experiment": self.name,
            "model": trial.question.model,
            "task": trial.question.task,
            "translator": trial.translator,
            "published_verdict": trial.question.verdict,
            "published_states": _number(published.get("unique_states")),
            "published_transitions": _number(published.get("unique_transitions")),
            "published_seconds": _real(published.get("seconds_16_cores")),
        }
        row |= {c: found.get(c) for c in EXPERIMENT_DTYPES if c not in row}
        if row["verdict"] != UNKNOWN:
            row["same_verdict"] = row["verdict"] == trial.question.verdict
        if row["verdict"] == HOLDS:
            for what in ("states", "transitions"):
                row[f"same_{what}"] = _same(
                    row[what], row[f"published_{what}"], trial.counted
                )
        states, seconds = row["states"], row["search_seconds"]
        if states and seconds:
            row["states_per_second"] = states / seconds
        if states and row["memory_mib"]:
            row["bytes_per_state"] = row["memory_mib"] * _MIB / states
        if row["verdict"] != UNKNOWN and seconds and row["published_seconds"]:
            row["seconds_to_published"] = seconds / row["published_seconds"]
        return row


def _refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = list(known)
    for name in names:
        if name not in known:
            raise UnsupportedError(
                f"there is no {what} {name!r}; there are {', '.join(known)}"
            )


def _task_of(row: Mapping[str, str]) -> str:
    return row.get("task") or row.get("index") or ""


def _number(text: str | None) -> int | None:
    return int(float(text)) if text else None


def _real(text: str | None) -> float | None:
    return float(text) if text else None


def _same(ours: int | None, published: int | None, counted: int) -> bool | None:
    if ours is None or published is None:
        return None
    return counted * ours == published


def default_store(out: StrPath) -> str:
    """Return the store beside a table in which its results are kept."""
    return os.fspath(Path(out).with_suffix(".sqlite"))
