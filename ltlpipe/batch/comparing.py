"""The same questions under several emptiness checks or acceptances, side by side.

By default every check searches the product of the same automaton with the successors
of a state in the same order, as in the experiments of S. Schwoon and J. Esparza, "A
Note on On-The-Fly Verification Algorithms", TACAS 2005, Sec. 7: what differs
between two rows of one formula is the algorithm.  That is why the acceptance is `ba`
for all by default.

Acceptances are compared as by V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model
checking with generalized Rabin and Fin-less automata", STTT 21 (2019), Sec. 5: each
automaton with the emptiness check that suits it, which `check` chooses ("auto").
"""

from __future__ import annotations

from contextlib import nullcontext, suppress
from functools import lru_cache, partial
from itertools import count
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from ltlpipe.batch.answering import encodable, failed_row
from ltlpipe.batch.engines import RunBar, Watcher
from ltlpipe.batch.outcomes import Configuration, cost
from ltlpipe.batch.table import (
    COMPARISON_DTYPES,
    comparison_columns,
    host_columns,
    option_columns,
    row_of,
    to_frame,
)
from ltlpipe.batch.tasks import combinations, grid_of, now
from ltlpipe.logic.formulas import FormulaLike, formula_text, formulas_of, raised
from ltlpipe.question.conditions import ACCEPTANCE_NAMES, AUTO, EMPTINESS_NAMES
from ltlpipe.question.given_options import (
    QUESTION_OPTIONS,
    manner_of,
    of_question,
    options_of,
    takes_options,
    understood,
)
from ltlpipe.question.options import COMPARE, DEFAULTS, NEVER, Options
from ltlpipe.runtime.arguments import TEXT, TRUTH, WHOLE, expect, several
from ltlpipe.runtime.errors import (
    FormulaError,
    LtlpipeWarning,
    UnsupportedError,
    silenced,
)
from ltlpipe.runtime.jobs import INTERRUPTED
from ltlpipe.runtime.progress_bar import search_bar
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.systems.reading import system_of
from ltlpipe.verdict.checking import check, chosen_search, product_size
from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike
    from ltlpipe.verdict.verdict import Verdict

ALL = "all"

WARM_UP_STATES = 1000
"""How many states each way may enter before it is measured."""

GENERIC = ("tgra", "tfla", "tela")
"""Acceptances that not every emptiness check takes, and that can be deterministic."""


class Run(NamedTuple):
    """One question under one configuration."""

    # None asks whether the system has no accepting run; an error has one run.
    formula: Formula | FormulaError | None
    configuration: Configuration

    def __str__(self) -> str:
        """Return its name on a progress bar."""
        known = self.formula
        asked = "accepting run" if known is None else formula_text(known)[:40]
        return f"{self.configuration} {asked}"


def configurations(
    emptiness: str | Sequence[str] | None = None,
    acceptance: str | Sequence[str] = "ba",
    grid: Mapping[str, Iterable[Any]] | str | None = None,
) -> list[Configuration]:
    """Return each choice of an acceptance, an emptiness check, and options of a grid.

    Parameters
    ----------
    emptiness : str or sequence of str, optional
        Names, or one text separated by commas; "all" is every check of this version
        that looks at one state at a time, "auto" is what `check` chooses for the
        automaton.  If not given it is "auto" where an acceptance is out of `GENERIC`,
        else "all".
    acceptance : str or sequence of str
        Kinds of property automata, likewise; "all" is every kind, and "auto" the one
        that `check` chooses for each emptiness check.
    grid : mapping or str, optional
        Values by option, as for `ltlpipe.solve`; its `emptiness` and `acceptance` go
        before the other parameters.
    """
    given = grid_of(grid)
    emptiness = given.pop("emptiness", emptiness)
    kinds = _listed(given.pop("acceptance", acceptance), ACCEPTANCE_NAMES, "acceptance")
    for kind in kinds:
        Options(acceptance=kind)  # refuses unknown names
    if emptiness is None:
        emptiness = ALL if set(kinds).isdisjoint(GENERIC) else AUTO
    names = _listed(emptiness, SEARCHES, "emptiness")
    for name in names:
        if name not in (AUTO, *EMPTINESS_NAMES):
            ready = ", ".join(EMPTINESS_NAMES)
            raise UnsupportedError(
                f"--emptiness={name}: expected all, auto, or names out of {ready}"
            )
    for name in given:
        if name not in options_of(COMPARE):
            raise UnsupportedError(f"--grid: {name} is no option of compare")
        if name in QUESTION_OPTIONS:
            raise UnsupportedError(
                f"--grid: {name} makes another question, which has another answer"
            )
    return [
        Configuration(name, kind, tuple(others.items()))
        for others in combinations(given)
        for kind in kinds
        for name in names
    ]


def _listed(
    names: str | Sequence[str], known: Iterable[str], parameter: str
) -> list[str]:
    """Return names without repetition, in order; "all" stands for every known name."""
    if isinstance(names, str):
        names = [*known] if names == ALL else names.split(",")
    parts = several(TEXT, names, parameter)
    return list(dict.fromkeys(part.strip() for part in parts))


def runs_of(
    formulas: Iterable[Formula | FormulaError | None],
    configured: Sequence[Configuration],
) -> list[Run]:
    """Return every question under every configuration, question by question.

    Without a formula there is no property automaton: each emptiness check answers once.
    A formula that cannot be read is one run.
    """
    alone = list(dict.fromkeys(map(_without_property, configured)))

    def suited(formula: Formula | FormulaError | None) -> Sequence[Configuration]:
        if isinstance(formula, FormulaError):
            return configured[:1]
        return alone if formula is None else configured

    return [Run(formula, each) for formula in formulas for each in suited(formula)]


def _without_property(configuration: Configuration) -> Configuration:
    """Return the configuration for a question without a property automaton."""
    others = [(n, v) for n, v in configuration.options if n not in _OF_PROPERTY]
    return Configuration(configuration.emptiness, None, tuple(others))


_OF_PROPERTY = ("translator", "deterministic")


@takes_options(COMPARE)
def compare(
    system: SystemLike,
    formulas: FormulaLike | Iterable[FormulaLike] = (),
    *,
    emptiness: str | Sequence[str] | None = None,
    acceptance: str | Sequence[str] = "ba",
    grid: Mapping[str, Sequence[Any]] | str | None = None,
    repeat: int = 1,
    empty: bool = False,
    sizes: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> pd.DataFrame:
    """Check formulas in several ways and return one row for each.

    Parameters
    ----------
    system : Network, path or paths
        The system, or the files of its components.
    formulas : formula, or iterable of formulas
        The properties.
    emptiness, acceptance : str or sequence of str
        As for `configurations`: every algorithm on `ba` by default, so that all
        search the same product in the same order.  With "all" kinds of acceptance, each
        uses the search that suits it.
    grid : mapping or str, optional
        Values by option, such as ``{"translator": ["spot", "ltl2tgba -D %f"]}``: every
        choice of them is a way that is compared.
    repeat : int
        How often each question is asked in each way, in alternating order.  The row
        has the medians.
    empty : bool
        Ask, too, whether the system has no accepting run at all.
    sizes : bool
        Explore every product completely, too, for the columns `product_states`,
        `product_transitions` and `fin_share`; values beyond the limits are missing.
    progress : bool, optional
        As for `ltlpipe.solve`.
    **options

    Returns
    -------
    DataFrame
        The columns `COMPARISON_DTYPES`.  An algorithm that does not suit a
        formula's automaton gives a row whose verdict is "unknown" for the reason
        "unsupported"; one that fails gives "input-error" or "error", and so does one of
        several formulas that cannot be read, which has one row.
        `ltlpipe.batch.outcomes` says whether the ways agree, and what each decides.

    Raises
    ------
    FormulaError, InputError
        A formula or the system cannot be read.
    UnsupportedError
        An option or combination is not supported.
    """
    configured = configurations(emptiness, acceptance, grid)
    expect(TRUTH, empty=empty, sizes=sizes)
    expect(WHOLE, repeat=repeat)
    dialect = understood(DEFAULTS[COMPARE] | options)[0].dialect
    asked = [*raised(formulas_of(formulas, dialect=dialect)), *[None] * empty]
    runs = runs_of(asked, configured)
    with search_bar(progress) as bar:
        loaded = system_of(system, **manner_of(options))
        rows = comparison_rows(
            loaded,
            runs,
            watcher=RunBar(bar),
            sizes=sizes,
            repeat=repeat,
            **of_question(options),
        )
        return to_frame(rows, COMPARISON_DTYPES)


def comparison_rows(
    system: System,
    runs: Sequence[Run],
    *,
    watcher: Watcher | None = None,
    sizes: bool = False,
    repeat: int = 1,
    **options: Any,
) -> Iterator[Row]:
    """Run the comparisons and yield the rows of each question in the order of its runs.

    Each way is warmed before it is measured.  The ways take turns, `repeat` each, and
    every other turn goes backwards: one of the next question, too.  With `sizes`, the
    whole product is explored afterwards.  Options are checked at once, before the first
    row is requested.  After an interrupted run no further one is started.
    """
    options = DEFAULTS[COMPARE] | options
    understood(options)
    if repeat < 1:
        raise UnsupportedError(f"--repeat={repeat}: expected 1 or more")
    return _Comparison(system, options, watcher or Watcher(), repeat).rows(
        runs, sizes=sizes
    )


class _Sample(NamedTuple):
    """One measurement of a run."""

    row: Row
    error: Exception | None = None  # there is no answer, for this reason


_Samples: TypeAlias = dict[Run, list[_Sample]]


def _questions(runs: Iterable[Run]) -> Iterator[_Samples]:
    """Yield the runs of each question, with room for samples.

    A question that comes twice is asked twice.
    """
    asked: _Samples = {}
    for run in runs:
        first = next(iter(asked), run)
        if run in asked or run.formula is not first.formula:
            yield asked
            asked = {}
        asked[run] = []
    if asked:
        yield asked


class _Comparison(NamedTuple):
    """Questions about a system, under options of `check`, that are run in turn."""

    system: System
    options: dict[str, Any]
    watcher: Watcher
    repeat: int

    def rows(self, runs: Sequence[Run], *, sizes: bool) -> Iterator[Row]:
        """Yield the row of each run; with `sizes` each product is explored, too."""
        chosen = lru_cache(maxsize=None)(self._chosen)
        size_of = lru_cache(maxsize=1)(self._size)
        warm: set[Any] = set()
        begun = partial(next, count(1)), len(runs) * self.repeat
        for turn, samples in enumerate(_questions(runs)):
            interrupted = None
            try:
                self._warm_up(samples, warm, chosen)
                self._measure(samples, turn * self.repeat, begun, chosen)
            except KeyboardInterrupt as error:
                interrupted = error
            self._complain(samples)
            for run, measured in samples.items():
                if measured:
                    row = self._row(run, measured)
                    if sizes and not interrupted and not measured[-1].error:
                        row |= size_of(run.formula, run.configuration)
                    yield encodable(row)
            if any(s.row["reason"] == INTERRUPTED for m in samples.values() for s in m):
                return
            if interrupted is not None:
                raise interrupted

    def _measure(
        self,
        samples: _Samples,
        turn: int,
        begun: tuple[Callable[[], int], int],
        chosen: Callable[[Run], str],
    ) -> None:
        """Add the samples of a question; KeyboardInterrupt if one is interrupted.

        Every other turn goes backwards, so that no way always finds the machine as a
        certain other one leaves it.  `begun` numbers the runs, and has their number.
        """
        number, total = begun
        for k in range(turn, turn + self.repeat):
            for run in reversed(samples) if k % 2 else samples:
                self.watcher.begin(run, number(), total)
                if any(sample.error for sample in samples[run]):
                    continue
                said = any(not s.error for known in samples.values() for s in known)
                samples[run].append(self._sample(run, chosen, said=said))
                if samples[run][-1].row["reason"] == INTERRUPTED:
                    raise KeyboardInterrupt

    def _warm_up(
        self, runs: Iterable[Run], warm: set[Any], chosen: Callable[[Run], str]
    ) -> None:
        """Ask each way a part of its question, if it has not been at work yet.

        Modules and machine code are loaded then, or compiled on first use, and the
        seconds say nothing but what the algorithms take.
        """
        cold: dict[Any, Run] = {}
        for run in runs:
            with suppress(Exception), silenced():  # the run itself reports errors
                way = run.configuration, chosen(run)
                if way not in warm:
                    cold[way] = run
        searches = list(dict.fromkeys(search for _, search in cold))
        told: set[int] = set()
        for way, run in cold.items():
            warm.add(way)
            number = searches.index(way[1]) + 1
            most = self._suited(run.configuration).get("max_states") or WARM_UP_STATES
            known = {"max_states": min(most, WARM_UP_STATES)}
            heard = partial(self._compiling, number, len(searches), told)
            with suppress(Exception), silenced():
                verdict = self._asked(run, way[1], heard, **known)
                self.watcher.compiled(verdict.stats.compile_seconds)
                if verdict.reason == INTERRUPTED:
                    raise KeyboardInterrupt

    def _compiling(
        self, number: int, total: int, told: set[int], progress: Progress
    ) -> None:
        """Receive the progress of a search that is warmed up."""
        if not progress.compiling:
            return
        if number not in told:
            told.add(number)
            self.watcher.compiling(number, total)
        if callable(self.watcher.progress):
            self.watcher.progress(progress)

    def _chosen(self, run: Run) -> str:
        """Return the emptiness check of a run; of small questions "auto" has none."""
        if isinstance(run.formula, FormulaError):
            raise run.formula
        emptiness = run.configuration.emptiness
        if emptiness != AUTO:
            return emptiness
        suited = self._suited(run.configuration)
        return chosen_search(self.system, run.formula, **suited) or AUTO

    def _sample(self, run: Run, chosen: Callable[[Run], str], *, said: bool) -> _Sample:
        """Measure a run once; `said` is whether warnings have been given."""
        emptiness, acceptance, others = run.configuration
        asked = {"emptiness": emptiness, "acceptance": acceptance or AUTO}
        given = self.options | dict(others) | asked
        has_formula = run.formula is not None
        origin = option_columns(given, is_translated=has_formula) | host_columns()
        origin |= {"started_at": now(), "way": run.configuration}
        try:
            with silenced():
                suited = chosen(run)
            # Warnings are the same for every algorithm.
            with silenced() if said else nullcontext():
                verdict = self._asked(run, suited, self.watcher.progress)
        except LtlpipeWarning:  # the caller has turned warnings into errors
            raise
        except Exception as error:  # the other algorithms go on
            row = failed_row(self.system.name, run.formula, error)
            named = acceptance not in (None, AUTO)
            row["automaton"] = str(acceptance).upper() if named else None
            row["emptiness"] = emptiness
            if not isinstance(error, UnsupportedError):
                self.watcher.failed(run, error)
            return _Sample(row | origin, error)
        row = row_of(verdict) | comparison_columns(verdict)
        if run.formula is not None:
            row["deterministic"] = bool(
                self._suited(run.configuration).get("deterministic")
            )
        return _Sample(row | origin)

    def _asked(self, run: Run, emptiness: str, progress: Any, **more: Any) -> Verdict:
        """Return the verdict of a run."""
        return check(
            self.system,
            run.formula,
            **self._suited(run.configuration)
            | {"empty": run.formula is None, "emptiness": emptiness}
            | more,
            progress=progress,
        )

    def _suited(self, configuration: Configuration) -> dict[str, Any]:
        """Return the options of `check` for a configuration.

        Not every property has a deterministic automaton of every kind.
        """
        acceptance = configuration.acceptance or AUTO
        suited = self.options | dict(configuration.options) | {"acceptance": acceptance}
        if suited.get("deterministic") and acceptance not in (*GENERIC, AUTO):
            suited["deterministic"] = False
        return suited

    def _complain(self, samples: _Samples) -> None:
        """Say so once if no algorithm suits a question."""
        errors = [sample.error for each in samples.values() for sample in each]
        if len(errors) >= len(samples) and all(
            isinstance(error, UnsupportedError) for error in errors
        ):
            last = [*samples][-1]
            self.watcher.failed(last, cast("Exception", samples[last][-1].error))

    def _row(self, run: Run, samples: list[_Sample]) -> Row:
        """Return the row of a run: the middle of its samples, with their medians."""
        rows = [sample.row for sample in samples]
        if len({row["verdict"] for row in rows} - {UNKNOWN}) > 1:
            error = AssertionError(f"{run}: the verdicts of repetitions differ")
            self.watcher.failed(run, error)
            return rows[0] | failed_row(self.system.name, run.formula, error)
        rows = [row for row in rows if row["reason"] != INTERRUPTED] or rows
        rows.sort(key=lambda row: (row["verdict"] == UNKNOWN, cost(row)))
        middle = rows[len(rows) // 2]
        alike = [row for row in rows if row["verdict"] == middle["verdict"]]
        for column in ("seconds", "search_seconds", "cpu_seconds", "memory_mib"):
            known = [r[column] for r in alike if r.get(column) is not None]
            middle |= {column: median(known)} if known else {}
        return middle | {"repeats": len(rows)}

    def _size(self, formula: Any, configuration: Configuration) -> Row:
        """Return the columns with the size of a product."""
        if configuration.acceptance == AUTO:  # each algorithm has a product of its own
            return {}
        # The run has refused unknown names.
        known = self._suited(configuration) | {"unknown": NEVER}
        with silenced():
            size = product_size(self.system, formula, **known)
        if size is None:
            return {}
        return {
            "product_states": size.states,
            "product_transitions": size.transitions,
            "fin_share": size.fin_share,
        }
