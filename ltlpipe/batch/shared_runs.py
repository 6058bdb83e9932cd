"""Runs that violate several formulas of a batch.

In comes a result table with its lassos; out come few lassos for each system, which
violate all the formulas together.  A lasso of a system is one of its runs, so whether
it violates another formula depends on its word alone.  Few are chosen greedily: always
one that violates the most formulas that none chosen before violates, and of several the
shortest.

Only the actions of steps are stored.  Of a network they are the word.  Of a model they
are taken again, step by step from the initial state, as often as there are ways to do
so; propositions are evaluated on the states in between.  So each word belongs to a run
of the system.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from ltlpipe.batch.results import Origins, results
from ltlpipe.batch.stored_rows import is_store
from ltlpipe.batch.table import CATEGORY, from_frame, json_list, to_frame
from ltlpipe.batch.verifying import recorded_lasso
from ltlpipe.logic.actions import refuse_psl
from ltlpipe.logic.formulas import Formula, parse
from ltlpipe.logic.words import Shape, evaluate, places
from ltlpipe.question.given_options import (
    DEFAULT,
    READING,
    configuration_of,
    manner_in,
    options_in,
)
from ltlpipe.question.model import bound_propositions
from ltlpipe.question.options import NEVER, OPTIONS, Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.arguments import PATH, Kind, expect, is_frame
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, silenced, warn
from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.models import Model
from ltlpipe.systems.networks.lts import Network
from ltlpipe.systems.plain_steps import STUTTER_NAME, ModelSteps
from ltlpipe.systems.reading import load, system_of
from ltlpipe.verdict.recorded import RunFinder, UndecidedError, Walker, holding_of
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike
    from ltlpipe.verdict.recorded import Record

WITNESS_DTYPES = {
    "system": CATEGORY,
    "lasso_prefix": "string",
    "lasso_cycle": "string",
    "n_formulas": "Int64",
    "formula_ids": "string",
    "formulas": "string",
    "steps": "Int64",
    "runs": CATEGORY,
}
"""The columns of `witnesses` and their types."""

OF_RUNS = (
    *("deadlock", "fairness", "fair_sets", "network_acceptance", "constraint"),
    *("semantics", "past"),
    *READING,
)
"""Options that determine which runs a system has, and which of them count."""

MOST_STEPS = 100_000
"""Limit on the steps of all runs with the actions of one lasso."""

_SOURCE = Kind("a path or a DataFrame", lambda v: PATH.fits(v) or is_frame(v))
_SYSTEMS = Kind("systems by name", lambda value: isinstance(value, Mapping))
_NEEDED = ("system", "formula", "verdict", "lasso_prefix", "lasso_cycle")
_NO_SYSTEM = "the system is unknown, or its file has changed"
_OTHER_WORD = "their actions, replayed in the system, do not violate their formula"


def witnesses(
    source: StrPath | pd.DataFrame,
    *,
    systems: Mapping[str, SystemLike] | None = None,
) -> pd.DataFrame:
    """Return few runs of each system that violate all its violated formulas.

    Parameters
    ----------
    source : path or DataFrame
        What `ltlpipe.results` takes or returns, or what `ltlpipe.solve` returns.  Tasks
        are taken together if their options, as far as the column `configuration`
        says, agree on which runs count.
    systems : mapping, optional
        Systems by the names in the table, as `ltlpipe.check` takes them, for those that
        are in no file.

    Returns
    -------
    DataFrame
        A row for each run, short ones first: `system`; `lasso_prefix` and
        `lasso_cycle`, as in the result table; `n_formulas`, how many of the system's
        violated formulas it violates; their `formula_ids` and `formulas`, as JSON
        lists; `steps`, of prefix and cycle together; `runs`, the options that say which
        runs count, or "default".

        If the word of a lasso is not known, it counts for its own formula alone, with a
        warning: the table has the actions of a lasso, but propositions about states
        need the system, and formulas of PSL are not looked at.

    Raises
    ------
    LtlpipeError
        As `ltlpipe.results`.
    UnsupportedError
        A DataFrame lacks a column, or holds something else.
    """
    expect(_SOURCE, source=source)
    expect(_SYSTEMS.or_none, systems=systems)
    if is_frame(source):
        return represented(cast("pd.DataFrame", source), None, systems)
    path = cast("StrPath", source)
    return represented(results(path), origins_of(path), systems)


def origins_of(path: StrPath) -> Origins | None:
    """Return the inputs of a store's results; None for other tables."""
    return Origins(path) if is_store(path) else None


def represented(
    frame: pd.DataFrame,
    origins: Origins | None = None,
    systems: Mapping[str, SystemLike] | None = None,
) -> pd.DataFrame:
    """Do the work of `witnesses`; `origins` are those of the store of a frame."""
    for column in _NEEDED:
        if column not in frame.columns:
            raise UnsupportedError(f"no result table: it has no column {column!r}")
    for column in frame.columns[frame.columns.duplicated()]:
        raise UnsupportedError(f"no result table: two columns {column!r}")
    finder = _Systems(origins, systems or {})
    groups: dict[tuple[str, str], _Group] = {}
    for row in from_frame(frame[frame["verdict"] == VIOLATED]):
        key = str(row["system"]), _runs_of(row.get("configuration"))
        groups.setdefault(key, _Group(*key)).add(row)
    rows: list[Row] = []
    for group in groups.values():
        rows += group.witnesses(finder)
    return to_frame(rows, WITNESS_DTYPES)


def _runs_of(configuration: str | None) -> str:
    """Return the part of a configuration that concerns runs."""
    given = options_in(configuration or DEFAULT)
    if configuration and not given:
        return configuration  # "default", or that of another tool
    plain = {n: True if OPTIONS[n].kind is bool else v for n, v in given.items()}
    return configuration_of({n: v for n, v in plain.items() if n in OF_RUNS})


class Word(NamedTuple):
    """An infinite word, for `ltlpipe.logic.words.evaluate`."""

    shape: Shape
    where: dict[str, int]  # the positions at which each proposition holds

    def violates(self, formula: Any) -> bool:
        """Whether it violates a formula of Spot, of LTL."""
        return not evaluate(formula, self.shape, self.where) & 1


Words: TypeAlias = "Callable[[Record], Iterator[Word]]"
"""The words of a lasso, one for each way to take its actions."""


def words_of(system: object, formulas: Iterable[Formula]) -> Words:
    """Return the source of the words of a system's lassos, to evaluate formulas.

    Raises
    ------
    LtlpipeError
        There is none; says why.
    """
    if isinstance(system, Network):
        internal = {action.name for action in system.actions if action.internal}
        return words_of_network(internal - system.action_index.keys())
    if isinstance(system, Model):
        return _words_of_model(system, formulas)
    raise LtlpipeError("the table has no valuations of its steps")


def words_of_network(internal: Iterable[str] = ()) -> Words:
    """Return the words of a network; `internal` are names that do not count."""
    silent = {STUTTER_NAME, *internal}

    def words(lasso: Record) -> Iterator[Word]:
        yield _word([() if a in silent else (a,) for a in lasso.names], lasso.first)

    return words


def _words_of_model(model: Model, formulas: Iterable[Formula]) -> Words:
    meanings: dict[str, Expression] = {}
    with silenced():  # unknown names have been reported already
        for formula in formulas:
            asked, options = Property(formula), Options(unknown=NEVER)
            meanings |= bound_propositions(model, asked, options)
    steps = ModelSteps(model, list(meanings.values()), limited=False)
    walker = Walker(steps, holding_of(list(meanings)))

    def words(lasso: Record) -> Iterator[Word]:
        n_left = MOST_STEPS
        with suppress(UndecidedError):
            for found in RunFinder(walker, lasso, stutters=True).runs():
                if isinstance(found, Progress):
                    continue
                n_left -= len(found)
                if n_left < 0:
                    return
                yield _word([taken.holds for _, taken in found], lasso.first)

    return words


def _word(letters: Sequence[Sequence[str]], start: int) -> Word:
    return Word(Shape(start, len(letters) - start), places(letters))


def formula_or_none(text: str | None) -> Formula | None:
    """Return a formula that can be evaluated on words; None for PSL and automata."""
    if text is None:
        return None
    try:
        formula = parse(text)
        refuse_psl(formula.spot)
    except LtlpipeError:
        return None
    return formula


class _Systems(NamedTuple):
    """Finds the systems of rows: given, in the files of a store, or by their names."""

    origins: Origins | None
    given: Mapping[str, SystemLike]

    def system(self, rows: list[Row], manner: dict[str, Any]) -> System | None:
        """Return the system of some rows; None if it cannot be had.

        The manner is that in which its files are read.
        """
        name = str(rows[0]["system"])
        if name in self.given:
            return system_of(self.given[name], "systems")
        files = next(filter(None, (self._files(row, name) for row in rows)), None)
        with suppress(LtlpipeError):  # the files no longer exist
            if files is not None and self.origins is not None:
                return self.origins.system(files, **manner)
            return None if files is None else load(files, **manner)
        return None

    def _files(self, row: Row, name: str) -> tuple[str, ...] | None:
        if self.origins is not None:
            versions = str(row["ltlpipe_version"]), str(row["spot_version"])
            return self.origins.files(str(row["task"]), versions)
        for files in ((name,), tuple(name.split(" "))):
            if all(Path(file).is_file() for file in files):
                return files
        return None


class _Violated(NamedTuple):
    """A violated formula of a system."""

    number: int
    identifier: str | None
    text: str | None
    formula: Formula | None  # None for PSL, and for automata


class _Group:
    """The violated formulas of a system whose tasks agree on which runs count."""

    def __init__(self, system: str, runs: str) -> None:
        self._system, self._runs = system, runs
        self._rows: list[Row] = []
        self._formulas: dict[tuple[str | None, str | None], _Violated] = {}
        self._lassos: dict[Record, set[int]] = {}  # for which they were found

    def add(self, row: Row) -> None:
        """Add a row of the result table."""
        self._rows.append(row)
        text, identifier = row["formula"], row.get("formula_id")
        key = text, identifier if text is None else None
        if key not in self._formulas:
            number, formula = len(self._formulas), formula_or_none(text)
            self._formulas[key] = _Violated(number, identifier, text, formula)
        if row["lasso_cycle"] is not None:
            lasso = recorded_lasso(row)
            if not lasso.cycle:
                raise LtlpipeError(f"{self._system}: the cycle of a lasso is empty")
            self._lassos.setdefault(lasso, set()).add(self._formulas[key].number)

    def witnesses(self, finder: _Systems) -> list[Row]:
        """Return the rows of the table of witnesses."""
        system = finder.system(self._rows, manner_in(self._runs))
        words, why = None, _OTHER_WORD
        try:
            words = self._words(system)
        except LtlpipeError as error:
            why = str(error)
        covers, unknown = {}, 0
        for lasso, own in self._lassos.items():
            violated = None if words is None else self._violated(lasso, words)
            unknown += violated is None and len(own) < len(self._formulas)
            covers[lasso] = own if violated is None else violated
        if unknown:
            warn(
                f"{self._system}: {unknown} of {len(covers)} lassos not compared with "
                f"other formulas: {why}"
            )
        if lost := set(range(len(self._formulas))).difference(*covers.values()):
            warn(
                f"{self._system}: {len(lost)} of {len(self._formulas)} violated "
                "formulas have no lasso, and no lasso of others violates them"
            )
        chosen = sorted(few(covers), key=_shortness)
        return [self._row(lasso, covers[lasso]) for lasso in chosen]

    def _words(self, system: System | None) -> Words:
        """Return the source of the lassos' words; LtlpipeError if there is none."""
        if system is not None:
            known = (violated.formula for violated in self._formulas.values())
            return words_of(system, filter(None, known))
        if any(row.get("n_components") is not None for row in self._rows):
            return words_of_network()
        raise LtlpipeError(_NO_SYSTEM)

    def _violated(self, lasso: Record, words: Words) -> set[int] | None:
        """Return the formulas that a lasso violates; None if its word is not known.

        It is known if it violates the lasso's formula.  If that cannot be evaluated, or
        not all runs count, there must be only one word.
        """
        own = self._lassos[lasso]
        unseen = {v.number for v in self._formulas.values() if v.formula is None} & own
        found = words(lasso)
        if unseen or not {"fairness", "constraint"}.isdisjoint(options_in(self._runs)):
            several = list(islice(found, 2))
            found = iter(several if len(several) == 1 else [])
        for word in found:
            violated = unseen | {
                v.number
                for v in self._formulas.values()
                if v.formula is not None and word.violates(v.formula.spot)
            }
            if own <= violated:
                return violated
        return None

    def _row(self, lasso: Record, violated: set[int]) -> Row:
        formulas = [v for v in self._formulas.values() if v.number in violated]
        return {
            "system": self._system,
            "lasso_prefix": json_list(lasso.prefix),
            "lasso_cycle": json_list(lasso.cycle),
            "n_formulas": len(formulas),
            "formula_ids": json_list(v.identifier for v in formulas),
            "formulas": json_list(v.text for v in formulas),
            "steps": len(lasso.steps),
            "runs": self._runs,
        }


def few(covers: Mapping[Record, set[int]]) -> list[Record]:
    """Return a small set of lassos that violates all the formulas, chosen greedily."""
    left = set[int]().union(*covers.values())
    candidates = sorted(covers, key=_shortness)
    chosen = []
    while left:
        best = max(candidates, key=lambda lasso: len(covers[lasso] & left))
        chosen.append(best)
        left -= covers[best]
    return chosen


def _shortness(lasso: Record) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    return len(lasso.steps), lasso.prefix, lasso.cycle
