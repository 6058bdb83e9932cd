"""The tasks, automata and figures of a published experiment, read from a folder.

A folder holds

``models/``
    the models, ``.dve`` or ``.pnml``, also compressed;
``tasks.csv``
    columns `model`, `index` or `task`, `formula`, `verdict` (of the formula);
``automata/``
    HOA files of automata of the negated formulas, each called ``TASK TRANSLATOR``;
``published.csv``
    columns `model`, `index` or `task`, `translator`, `algorithm`, `verdict`,
    `unique_states`, `unique_transitions` and, where known, `seconds_16_cores`.

This is how the data of V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking
with generalized Rabin and Fin-less automata", STTT 21 (2019), Sec. 5, are laid out.

Their algorithm `favoid` searches generalised Rabin pairs one after another and counts
states and transitions once for each of them: n pairs that are not satisfied give n
times the size of the product.

Two names of automata differ from those of the published rows:

- ``ltl3hoa`` is called ``ltl3tela`` there: the tool was renamed between the paper of
  2017 and that of 2019 (automata and sizes of products agree in all MCC tasks);
- ``tgbarabin`` are the automata of ``tgba``, with an empty Fin set in front of their
  Inf sets, so that `favoid` takes them.  Here they are called ``tgba`` and searched
  both ways; rows of ``tgbarabin`` are those of `favoid`.
"""

from __future__ import annotations

import csv
import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.batch.table import n_pairs
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import split_suffix
from ltlpipe.systems.formats import MODEL_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ltlpipe.runtime.files import StrPath

TGBA_CHECK, TGRA_CHECK = "tgba", "tgra"
KINDS = {"ufscc": TGBA_CHECK, "favoid": TGRA_CHECK}
"""From a published algorithm to the kind of check: SCCs with all marks, or all of a
disjunct (TGBAs and Fin-less automata), and generalised Rabin pairs.
"""

_AUTOMATA = {"tgbarabin": "tgba"}
_PUBLISHED = {"tgbarabin": "tgba", "ltl3tela": "ltl3hoa"}


class Question(NamedTuple):
    """A row of ``tasks.csv``."""

    model: str
    task: str  # as published rows call it
    verdict: str


class Automaton(NamedTuple):
    """An automaton of a HOA file, and what the file says of it."""

    path: str
    name: str
    states: int
    acceptance: str

    @property
    def pairs(self) -> int:
        """Clauses of the condition: pairs, sets of a Fin-less one; 1 for a TGBA."""
        return n_pairs(self.acceptance) or 1


class Published(NamedTuple):
    """What a published row says; missing is None."""

    verdict: str
    states: int | None  # once for each pair
    transitions: int | None
    automaton_states: int | None
    seconds: float | None  # 16 cores


class Experiment:
    """The folder of an experiment.

    Parameters
    ----------
    name : str
        What rows call it.
    folder : path
        Laid out as the module says.

    Attributes
    ----------
    models : dict of str to str
        Files of the models.
    questions : list of Question
    automata : dict of (Question, translator) to Automaton
    published : dict of (Question, translator, kind) to Published

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
        self.automata = dict(self._named_automata())
        self.published = dict(self._published_rows())

    @property
    def translators(self) -> list[str]:
        """The translators whose automata are there."""
        return sorted({translator for _, translator in self.automata})

    def kinds(self, translator: str) -> list[str]:
        """Return how the published runs checked the automata of a translator."""
        known = {kind for _, name, kind in self.published if name == translator}
        return [kind for kind in KINDS.values() if kind in known]

    def sizes(self) -> dict[Question, tuple[int, float]]:
        """Return the most states and seconds of the published runs, by question."""
        sizes = dict.fromkeys(self.questions, (0, 0.0))
        for (question, _, _), row in self.published.items():
            states, seconds = sizes[question]
            sizes[question] = (
                max(states, row.states or 0),
                max(seconds, row.seconds or 0.0),
            )
        return sizes

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
            yield Question(row["model"], _task_of(row), row["verdict"])

    def _named_automata(self) -> Iterator[tuple[tuple[Question, str], Automaton]]:
        by_name = {_automaton_name(question): question for question in self.questions}
        for path in sorted((self.folder / "automata").glob("*.hoa*")):
            for name, states, acceptance in _headers(path):
                task, _, translator = name.partition(" ")
                if task in by_name:
                    key = by_name[task], _AUTOMATA.get(translator, translator)
                    yield key, Automaton(str(path), name, states, acceptance)

    def _published_rows(self) -> Iterator[tuple[tuple[Question, str, str], Published]]:
        by_task = {(q.model, q.task): q for q in self.questions}
        columns = ("model", "translator", "algorithm", "verdict", "unique_states")
        known = set(self.translators)
        for row in reversed(
            [*self._rows("published.csv", columns)]
        ):  # the first counts
            question = by_task.get((row["model"], _task_of(row)))
            if question is None or row["algorithm"] not in KINDS:
                continue
            name = row["translator"]
            if name not in known:
                name = _PUBLISHED.get(name, name)
            yield (question, name, KINDS[row["algorithm"]]), _published(row)


def _headers(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield name, number of states and acceptance condition of each automaton."""
    opened = gzip.open if path.suffix == ".gz" else open
    name, states = "", 0
    try:
        with opened(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                if found := re.match(r'name: "(\S+ \S+)"', line):
                    name = found[1]
                elif found := re.match(r"States:\s*(\d+)", line):
                    states = int(found[1])
                elif found := re.match(r"Acceptance:\s*\d+\s*(.*)", line):
                    yield name, states, found[1].replace(" ", "")
    except (OSError, EOFError, UnicodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(path)) from None


def _automaton_name(question: Question) -> str:
    """Return what automata call a question: MODEL_INDEX where it has an index."""
    if question.task.startswith((question.model, "S_")):
        return question.task
    return f"{question.model}_{question.task}"


def _task_of(row: Mapping[str, str]) -> str:
    return row.get("task") or row.get("index") or ""


def _published(row: Mapping[str, str]) -> Published:
    seconds = row.get("seconds_16_cores")
    return Published(
        row["verdict"],
        _number(row["unique_states"]),
        _number(row.get("unique_transitions")),
        _number(row.get("automaton_states")),
        float(seconds) if seconds else None,
    )


def _number(text: str | None) -> int | None:
    return int(float(text)) if text else None
