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
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.batch.answering import UNSUPPORTED, encodable, failed_row
from ltlpipe.batch.engines import RunBar, Watcher
from ltlpipe.batch.table import (
    COMPARISON_DTYPES,
    comparison_columns,
    host_columns,
    option_columns,
    row_of,
    to_frame,
)
from ltlpipe.batch.tasks import now
from ltlpipe.logic.formulas import Formula, FormulaLike, formulas_of
from ltlpipe.question.conditions import ACCEPTANCE_NAMES, AUTO, EMPTINESS_NAMES
from ltlpipe.question.given_options import (
    manner_of,
    of_question,
    takes_options,
    understood,
)
from ltlpipe.question.options import COMPARE, DEFAULTS, NEVER, Options
from ltlpipe.runtime.arguments import TEXT, TRUTH, expect, several
from ltlpipe.runtime.errors import LtlpipeWarning, UnsupportedError, silenced
from ltlpipe.runtime.jobs import INTERRUPTED
from ltlpipe.runtime.progress_bar import search_bar
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.systems.networks.lts import LTS, Network
from ltlpipe.systems.reading import system_of
from ltlpipe.verdict.checking import check, chosen_search, product_size
from ltlpipe.verdict.verdict import HOLDS, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from ltlpipe.batch.table import Row
    from ltlpipe.systems.models import System
    from ltlpipe.systems.reading import SystemLike

ALL = "all"

GENERIC = ("tgra", "tfla", "tela")
"""Acceptances that not every emptiness check takes, and that can be deterministic."""


class Configuration(NamedTuple):
    """One way to answer a question."""

    emptiness: str  # an emptiness check of this version, or "auto"
    acceptance: str | None  # of the property automaton; None where there is none

    def __str__(self) -> str:
        """Return the name, followed by the acceptance."""
        if self.acceptance is None:
            return self.emptiness
        return f"{self.emptiness} ({self.acceptance.upper()})"


class Run(NamedTuple):
    """One question under one configuration."""

    formula: Formula | None  # None asks whether the system has no accepting run
    configuration: Configuration

    def __str__(self) -> str:
        """Return its name on a progress bar."""
        asked = "accepting run" if self.formula is None else self.formula.text[:40]
        return f"{self.configuration} {asked}"


def configurations(
    emptiness: str | Sequence[str] | None = None,
    acceptance: str | Sequence[str] = "ba",
) -> list[Configuration]:
    """Return all pairs of an acceptance and an emptiness check, each once.

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
    """
    kinds = _listed(acceptance, ACCEPTANCE_NAMES, "acceptance")
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
    return [Configuration(name, kind) for kind in kinds for name in names]


def _listed(
    names: str | Sequence[str], known: Iterable[str], parameter: str
) -> list[str]:
    """Return names without repetition, in order; "all" stands for every known name."""
    if isinstance(names, str):
        names = [*known] if names == ALL else names.split(",")
    parts = several(TEXT, names, parameter)
    return list(dict.fromkeys(part.strip() for part in parts))


def runs_of(
    formulas: Iterable[Formula | None], configured: Sequence[Configuration]
) -> list[Run]:
    """Return every question under every configuration, question by question.

    Without a formula there is no property automaton: each emptiness check answers once.
    """
    alone = list(dict.fromkeys(Configuration(c.emptiness, None) for c in configured))
    return [
        Run(formula, configuration)
        for formula in formulas
        for configuration in (alone if formula is None else configured)
    ]


@takes_options(COMPARE)
def compare(
    system: SystemLike,
    formulas: FormulaLike | Iterable[FormulaLike] = (),
    *,
    emptiness: str | Sequence[str] | None = None,
    acceptance: str | Sequence[str] = "ba",
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
        "unsupported"; one that fails gives "input-error" or "error".
        `ltlpipe.batch.comparing` checks whether the algorithms agree.

    Raises
    ------
    FormulaError, InputError
        A formula or the system cannot be read.
    UnsupportedError
        An option or combination is not supported.
    """
    configured = configurations(emptiness, acceptance)
    expect(TRUTH, empty=empty, sizes=sizes)
    asked: list[Formula | None] = [*formulas_of(formulas), *[None] * empty]
    runs = runs_of(asked, configured)
    with search_bar(progress) as bar:
        understood(DEFAULTS[COMPARE] | options)  # before anything is read
        loaded = system_of(system, **manner_of(options))
        rows = comparison_rows(
            loaded, runs, watcher=RunBar(bar), sizes=sizes, **of_question(options)
        )
        return to_frame(rows, COMPARISON_DTYPES)


def comparison_rows(
    system: System,
    runs: Sequence[Run],
    *,
    watcher: Watcher | None = None,
    sizes: bool = False,
    **options: Any,
) -> Iterator[Row]:
    """Run the comparisons in turn and yield each row as soon as it is known.

    With `sizes`, the whole product is explored before its first run.  Options are
    checked at once, before the first row is requested.  After an interrupted run no
    further one is started.
    """
    options = DEFAULTS[COMPARE] | options
    understood(options)
    return _Comparison(system, options, watcher or Watcher()).rows(runs, sizes=sizes)


class _Comparison(NamedTuple):
    """Questions about a system, under options of `check`, that are run in turn."""

    system: System
    options: dict[str, Any]
    watcher: Watcher

    def rows(self, runs: Sequence[Run], *, sizes: bool) -> Iterator[Row]:
        """Yield the row of each run; with `sizes` each product is explored, too."""
        size_of = lru_cache(maxsize=1)(self._size)
        warm: set[Configuration] = set()
        suited = False  # whether some algorithm so far takes the formula's automaton
        for number, run in enumerate(runs, start=1):
            suited &= number > 1 and runs[number - 2].formula is run.formula
            last = number == len(runs) or runs[number].formula is not run.formula
            self.watcher.begin(run, number, len(runs))
            if run.configuration not in warm:
                _warm_up(run.configuration)
                warm.add(run.configuration)
            emptiness, acceptance = run.configuration
            asked = {"emptiness": emptiness, "acceptance": acceptance or AUTO}
            origin = {"started_at": now()} | option_columns(self.options | asked)
            try:
                row = self._answered(run, said=suited)
                suited = True
                if sizes:
                    row |= size_of(run.formula, asked["acceptance"])
            except LtlpipeWarning:  # the caller has turned warnings into errors
                raise
            except Exception as error:  # the other algorithms go on
                does_suit = not isinstance(error, UnsupportedError)
                if does_suit or (last and not suited):
                    self.watcher.failed(run, error)
                suited |= does_suit
                row = failed_row(self.system.name, run.formula, error)
                named = acceptance not in (None, AUTO)
                row["automaton"] = str(acceptance).upper() if named else None
                row["emptiness"] = emptiness
            yield encodable(row | host_columns() | origin)
            if row["reason"] == INTERRUPTED:
                return

    def _size(self, formula: Formula | None, acceptance: str) -> Row:
        """Return the columns with the size of a product."""
        if acceptance == AUTO:  # each algorithm has a product of its own
            return {}
        # The run has refused unknown names.
        known = self._suited(acceptance) | {"unknown": NEVER}
        with silenced():
            size = product_size(self.system, formula, **known)
        if size is None:
            return {}
        return {
            "product_states": size.states,
            "product_transitions": size.transitions,
            "fin_share": size.fin_share,
        }

    def _suited(self, acceptance: str | None) -> dict[str, Any]:
        """Return the options of `check` for an acceptance.

        Not every property has a deterministic automaton of every kind.
        """
        suited = self.options | {"acceptance": acceptance or AUTO}
        if suited.get("deterministic") and acceptance not in (*GENERIC, AUTO):
            suited["deterministic"] = False
        return suited

    def _answered(self, run: Run, *, said: bool) -> Row:
        """Return the row of a run; `said` is whether warnings have been given."""
        emptiness, acceptance = run.configuration
        suited = self._suited(acceptance)
        if emptiness == AUTO:  # which would answer small questions without a search
            with silenced():
                found = chosen_search(self.system, run.formula, **suited)
            emptiness = found or AUTO
        # Warnings are the same for every algorithm.
        with silenced() if said else nullcontext():
            verdict = check(
                self.system,
                run.formula,
                empty=run.formula is None,
                emptiness=emptiness,
                progress=self.watcher.progress,
                **suited,
            )
        row = row_of(verdict) | comparison_columns(verdict)
        if run.formula is not None:
            row["deterministic"] = bool(suited.get("deterministic"))
        return row


def _warm_up(configuration: Configuration) -> None:
    """Have the kernels of a configuration loaded, or compiled on first use.

    Otherwise the first formula would pay for it and the seconds would say
    nothing about the algorithms.
    """
    emptiness, acceptance = configuration
    steps = [(0, action, 0) for action in "abc"]
    loop = Network([LTS.from_transitions(steps)])
    asked: list[dict[str, Any]] = [{"empty": True, "emptiness": emptiness}]
    if emptiness == AUTO:  # the choice depends on the automaton
        asked += [{"formula": text, "acceptance": acceptance} for text in _EACH_SEARCH]
    for question in asked:
        with suppress(Exception):  # errors are reported by the run itself
            # A seed means something to compiled searches only.
            verdict = check(loop, **question, reduce="none", seed=0, progress=False)
            if verdict.reason == INTERRUPTED:
                raise KeyboardInterrupt


_EACH_SEARCH = ("F a", "!(GF a & GF b)", "(GF a -> GF b) & (GF b -> GF c)")
"""Formulas whose violations are weak, have marks alone, and pairs with Fin."""


_Question = tuple[str, str | None, str | None]  # system, formula, where that is from


@dataclass(frozen=True)
class Disagreement:
    """A question that has two answers, one of which is wrong."""

    system: str  # its name
    formula: str | None  # None asks whether the system has no accepting run
    formula_id: str | None  # where the formula comes from
    holds: tuple[Configuration, ...]  # configurations with this verdict
    violated: tuple[Configuration, ...]
    seeds: tuple[int, ...] = ()  # those that shuffled the transitions of these rows

    def __str__(self) -> str:
        """Describe the disagreement."""
        place = self.formula_id if self.formula_id != self.formula else None
        asked = "has no accepting run" if self.formula is None else self.formula
        seeds = "".join(f", seed {seed}" for seed in self.seeds)
        return (
            f"{self.system}: {asked}{f' ({place})' if place else ''}: "
            f"{_and(self.holds)} say holds, {_and(self.violated)} say violated{seeds}"
        )


def _and(configured: Iterable[Configuration]) -> str:
    return " and ".join(map(str, configured))


def disagreements(rows: Iterable[Row]) -> list[Disagreement]:
    """Return the questions on which the rows of a comparison do not agree.

    They are rows of `ltlpipe.batch.comparing.comparison_rows`, or those of a table by
    `ltlpipe.batch.table.from_frame`.  Unknown verdicts contradict none.
    """
    found = []
    for (system, formula, formula_id), answers in _by_question(rows).items():
        holds, violated = (
            tuple(
                dict.fromkeys(_configuration(r) for r in answers if r["verdict"] == v)
            )
            for v in (HOLDS, VIOLATED)
        )
        if holds and violated:
            seeds = dict.fromkeys(row.get("seed") for row in answers)
            known = tuple(int(seed) for seed in seeds if seed is not None)
            found.append(
                Disagreement(system, formula, formula_id, holds, violated, known)
            )
    return found


def has_unsuited(rows: Iterable[Row]) -> bool:
    """Whether there is a question that no algorithm could be asked."""
    return any(
        {row["reason"] for row in answers} == {UNSUPPORTED}
        for answers in _by_question(rows).values()
    )


def _by_question(rows: Iterable[Row]) -> dict[_Question, list[Row]]:
    questions: dict[_Question, list[Row]] = {}
    for row in rows:
        key = (row["system"], row.get("formula"), row.get("formula_id"))
        questions.setdefault(key, []).append(row)
    return questions


def _configuration(row: Row) -> Configuration:
    automaton = row.get("automaton")
    return Configuration(
        row["emptiness"], None if automaton is None else automaton.lower()
    )
