"""Problems in the style of RERS: a random network, formulas, and verdicts.

A folder is filled as the parallel problems of the challenges are laid out, one
folder per problem with ``system.dot`` and ``formulas.ltl``, and the known verdicts in
``truth.csv`` beside them::

    FOLDER/problems/001/system.dot
    FOLDER/problems/001/formulas.ltl
    FOLDER/truth.csv                   problem,line,formula,verdict,reachable_states

Formulas are instances of specification patterns (`ltlpipe.logic.generating`) in random
order.  Nearly all would be violated, and by the next best run, so a set is chosen:

- a candidate that some sampled run violates (`ltlpipe.families.rers_networks`, and
  the planned run of the network) is *easily violated*;
- the others are checked, with a limit on states: they hold, are violated, or are
  not decided.  A counterexample joins the sampled runs.

Half of the set shall hold.  The other half is what `check` found violated, and easily
violated ones where that is not enough.  If too few are known to hold, undecided ones
fill the list: most of them probably hold as well.  Limits on states and numbers of
candidates, none on time, make the set a function of the arguments, for given versions
of Spot and NumPy.
"""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.batch.table_files import CsvWriter
from ltlpipe.families.networks import random_lassos
from ltlpipe.families.rers_networks import STYLES, rers_network
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.generating import instances
from ltlpipe.logic.words import Word, interrupt_free, satisfies
from ltlpipe.runtime.errors import LtlpipeError, UnsupportedError, silenced
from ltlpipe.runtime.files import write_text
from ltlpipe.systems.writing import save
from ltlpipe.verdict.checking import check, product_size
from ltlpipe.verdict.verdict import HOLDS, UNKNOWN, VIOLATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.batch.table import Row
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.networks.lts import Network

TRUTH = {
    "problem": "string",
    "line": "Int64",
    "formula": "string",
    "verdict": "string",
    "reachable_states": "Int64",
}
"""Columns of ``truth.csv``; a row for each formula whose verdict is known."""

MAX_STATES = 250_000
"""Default of the states that `check` may explore for one candidate."""

N_RUNS = 100
"""Sampled runs of a network."""

CANDIDATES = 200
"""Limit on the candidates per formula of a set."""

CHECKS = 10
"""Candidates per formula of a set that are checked, at most."""


class Asked(NamedTuple):
    """A formula of a problem."""

    number: int  # its place among the candidates
    text: str
    verdict: str  # "unknown" if undecided


class RersProblem(NamedTuple):
    """A network and its formulas."""

    network: Network
    formulas: list[Asked]
    n_candidates: int
    max_states: int  # the limit of each check
    reachable_states: int | None  # None if there are more


def draw_problem(
    n_components: int,
    *,
    style: str,
    seed: int,
    synchronisations: int | None = None,
    n_formulas: int = 20,
    max_states: int = MAX_STATES,
) -> RersProblem:
    """Draw a network and choose formulas.

    The arguments are those of `ltlpipe.families.rers_networks.rers_network`; the seed
    decides the formulas, too.  `max_states` may be explored for one candidate, and to
    count the states of the network.

    Raises
    ------
    UnsupportedError
        An argument is out of its range, or there are too few different formulas.
    """
    if n_formulas < 1:
        raise UnsupportedError(f"{n_formulas} formulas: use 1 or more")
    if max_states < 1:
        raise UnsupportedError(f"a limit of {max_states} states: use 1 or more")
    network, cycle = rers_network(
        n_components, style=style, seed=seed, synchronisations=synchronisations
    )
    rng = np.random.default_rng([seed, n_formulas])
    sampled = random_lassos(network, N_RUNS, rng=rng, steps=3 * len(cycle))
    runs = [Word((), cycle), *sampled]
    choice = _Choice(network, runs, n_formulas, max_states)
    asked = candidates(network, seed, STYLES[style].reach)
    for number, text in enumerate(islice(asked, CANDIDATES * n_formulas), start=1):
        choice.add(number, text)
        if choice.is_complete:
            break
    size = product_size(
        network, None, acceptance="auto", max_states=max_states, reduce="none"
    )
    return RersProblem(
        network,
        choice.formulas(),
        n_candidates=choice.n_candidates,
        max_states=max_states,
        reachable_states=None if size is None else size[0],
    )


def candidates(network: Network, seed: int, reach: int = 0) -> Iterator[str]:
    """Yield different instances of patterns.

    With a `reach` each is about actions of two neighbours, any two having their turn:
    of actions that are far apart, nearly nothing holds.
    """
    if not reach or len(network.components) == 1:
        yield from instances([a.name for a in network.actions], seed=seed)
        return
    nearby = [
        instances(list(dict.fromkeys([*one.labels, *other.labels])), seed=seed + k)
        for k, (one, other) in enumerate(pairwise(network.components))
    ]
    found = set[str]()
    while nearby:
        for source in list(nearby):
            text = next(source, None)
            if text is None:
                nearby.remove(source)
            elif text not in found:
                found.add(text)
                yield text


class _Choice:
    """The choice of a set of formulas from a stream of candidates."""

    def __init__(
        self, network: Network, runs: list[Word], n: int, max_states: int
    ) -> None:
        self._network = network
        self._runs = runs
        self._longest = max(len(run.prefix) + len(run.cycle) for run in runs)
        self._n = n
        self._max_states = max_states
        self._checked: dict[str, list[Asked]] = {HOLDS: [], VIOLATED: [], UNKNOWN: []}
        self._easy: list[Asked] = []  # violated by a run that was known before
        self._n_checks = 0
        self.n_candidates = 0

    @property
    def is_complete(self) -> bool:
        """Whether more candidates would change nothing, or there were enough."""
        n_holding = len(self._checked[HOLDS])
        n_violated = len(self._checked[VIOLATED]) + len(self._easy)
        if n_violated < self._n - self._n // 2:
            return False
        return (
            n_holding >= self._n // 2
            or len(self._checked[UNKNOWN]) >= self._n
            or self._n_checks >= CHECKS * self._n
        )

    def add(self, number: int, text: str) -> None:
        """Look at one candidate."""
        self.n_candidates = number
        if self._is_violated_by_a_run(text):
            self._easy.append(Asked(number, text, VIOLATED))
            return
        if self._n_checks >= CHECKS * self._n:
            return
        self._n_checks += 1
        with silenced():  # nobody has asked about deadlocks
            found = check(
                self._network,
                text,
                emptiness="couvreur99",
                reduce="alphabet",
                max_states=self._max_states,
            )
        self._checked[found.verdict].append(Asked(number, text, found.verdict))
        if found.lasso is not None:
            run = Word(tuple(found.lasso.prefix), tuple(found.lasso.cycle))
            if len(run.prefix) + len(run.cycle) <= self._longest:
                self._runs.append(run)

    def _is_violated_by_a_run(self, text: str) -> bool:
        formula = parse(text)
        visible = formula.propositions
        judged: set[Word] = set()
        for k, run in enumerate(self._runs):
            # these patterns are interruptible, and few short words are judged faster
            word = interrupt_free(run, visible)
            if word in judged:
                continue
            judged.add(word)
            if not satisfies(formula.spot, word):
                self._runs.insert(0, self._runs.pop(k))  # it may be the next one's, too
                return True
        return False

    def formulas(self) -> list[Asked]:
        """Return the set, in the order of the candidates."""
        half = self._n // 2
        holding = self._checked[HOLDS][:half]
        violated = [*self._checked[VIOLATED], *self._easy]
        undecided = [
            asked
            for asked in self._checked[UNKNOWN]
            if not self._is_violated_by_a_run(asked.text)  # of those found since
        ]
        chosen = [*holding, *violated[: self._n - half]]
        rest = [*undecided, *violated[self._n - half :], *self._checked[HOLDS][half:]]
        chosen += rest[: self._n - len(chosen)]
        if len(chosen) < self._n:
            raise UnsupportedError(
                f"no {self._n} different formulas over"
                f" {len(self._network.actions)} actions; use fewer"
            )
        return sorted(chosen, key=lambda asked: asked.number)


def write_problems(
    folder: StrPath,
    n_components: int,
    *,
    seed: int,
    n_problems: int = 1,
    **how: Any,
) -> Iterator[Path]:
    """Fill a new or empty folder with problems, and yield the files as they come.

    Problem k is the one that `draw_problem` gives for the seed ``seed + k - 1`` and
    its other arguments.
    """
    root = Path(folder)
    width = max(3, len(str(n_problems)))
    if n_problems < 1:
        return
    problem = draw_problem(n_components, seed=seed, **how)
    _make_empty(root)  # nothing is created before the arguments have been checked
    with CsvWriter(root / "truth.csv", TRUTH) as truth:
        for k in range(n_problems):
            if k:
                problem = draw_problem(n_components, seed=seed + k, **how)
            name = f"{k + 1:0{width}}"
            yield from _write_problem(problem, root / "problems" / name)
            for row in _known(problem):
                truth.write({"problem": name, **row})
    yield truth.path


def _make_empty(folder: Path) -> None:
    """Create a folder, or check that it is empty."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        taken = any(folder.iterdir())
    except OSError as error:
        raise _unwritable(folder, error) from None
    if taken:
        raise LtlpipeError(f"{folder}: is not empty; name a new folder")


def _write_problem(problem: RersProblem, folder: Path) -> list[Path]:
    target = folder / "formulas.ltl"
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise _unwritable(target, error) from None
    write_text(target, formulas_text(problem))
    return [target, *save(problem.network, folder / "system.dot")]


def _unwritable(path: Path, error: OSError) -> LtlpipeError:
    return LtlpipeError(f"{path}: cannot be written: {error.strerror or error}")


def formulas_text(problem: RersProblem) -> str:
    """Return a formula file whose first lines say how the formulas were chosen."""
    texts = [asked.text for asked in problem.formulas]
    return "\n".join([*_heading(problem), *texts]) + "\n"


def _heading(problem: RersProblem) -> list[str]:
    verdicts = [asked.verdict for asked in problem.formulas]
    n_undecided = verdicts.count(UNKNOWN)
    source = f"{problem.network.name} (ltlpipe generate rers)"
    n_holding, n_violated = verdicts.count(HOLDS), verdicts.count(VIOLATED)
    heading = [
        f"# {len(verdicts)} instances of specification patterns for {source}",
        f"# chosen among {problem.n_candidates} candidates by their verdicts:",
        f"# {n_holding} hold, {n_violated} are violated",
    ]
    if n_undecided:
        heading.append(
            f"# {n_undecided} taken as they came: not decided within"
            f" {problem.max_states} states, and violated by no sampled run"
        )
    return heading


def _known(problem: RersProblem) -> Iterator[Row]:
    """Yield line, formula and verdict of decided formulas, and the size."""
    first = 1 + len(_heading(problem))
    for line, asked in enumerate(problem.formulas, start=first):
        if asked.verdict != UNKNOWN:
            yield {
                "line": line,
                "formula": asked.text,
                "verdict": asked.verdict,
                "reachable_states": problem.reachable_states,
            }
