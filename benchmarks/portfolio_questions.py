"""The questions of `benchmarks.portfolio`, by kinds.

Whatever is drawn at random has a fixed seed.  Models of other people are read from a
folder; where it is missing its kinds are, too.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import cases, coloured, populations
from benchmarks.decoupled_random import COMPONENTS, RATIOS, SMALL, STATES
from benchmarks.emptiness import philosophers_cases, ring_cases
from benchmarks.families.client_server import client_server, dispatcher
from benchmarks.families.leader_election import leader_election
from benchmarks.families.nets import coloured_peers, dining, kanban, token_ring
from ltlpipe import load
from ltlpipe.families.networks import (
    coloured_client_server,
    philosophers,
    random_network,
    ring,
)
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.systems.models import System
    from ltlpipe.systems.nets.coloured.net import ColouredNet

FORMULAS = Path(__file__).parents[1] / "formulas"

VERDICTS = {"true": "holds", "false": "violated"}
"""What RERS calls them."""


class Question(NamedTuple):
    """A question, with a maker of its system: answers about one share knowledge."""

    kind: str
    name: str
    make: Callable[[], System]
    formula: str | None  # None: has the system an accepting run?
    expected: str | None = None  # the verdict, where it is known
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)


def questions(
    data: Path, *, quick: bool = False, thorough: bool = False
) -> Iterator[Question]:
    """Yield questions, the kinds in turn, so that a first part has some of each.

    Parameters
    ----------
    data : Path
        Where the models of other people are.
    quick : bool
        A few of the smallest that need no files.
    thorough : bool
        All formulas of RERS-like and RERS problems, not some of each.
    """
    if quick:
        listed = [*small()]
    else:
        listed = [*own(), *foreign(data, thorough=thorough)]
    kinds: dict[str, list[Question]] = defaultdict(list)
    for question in listed:
        kinds[question.kind].append(question)
    for k in range(max(map(len, kinds.values()))):
        yield from (of_kind[k] for of_kind in kinds.values() if k < len(of_kind))


def small() -> Iterator[Question]:
    """Yield one question of some kinds, answered within milliseconds."""
    yield _case(partial(cases.slots, 3))
    make = partial(random_network, 2, seed=0, local_ratio=0.4, n_states=SMALL)
    yield Question("random", "random 2, 40 %, 0", make, None)
    yield Question(
        "philosophers", "philosophers 3, empty", partial(philosophers, 3), None
    )
    yield next(_of_file("client-server", partial(client_server, 3), 25))
    yield next(_nets())


def own() -> Iterator[Question]:
    """Yield what needs no files but ours."""
    for make in (
        *cases.CASES,
        partial(cases.separating, 16),
        partial(cases.slots, 20),
        partial(cases.linear, backwards=True),
        partial(cases.linear, 100_000),
        partial(cases.told_apart, 8),
        cases.large_component,
    ):
        yield _case(make)
    for seed, ratio in enumerate(RATIOS):
        for n in COMPONENTS:
            make_random = partial(
                random_network, n, seed=seed, local_ratio=ratio, n_states=STATES
            )
            yield Question(
                "random", f"random {n}, {ratio:.0%}, {seed}", make_random, None
            )
    yield from _scaling()
    for variant in (1, 2):
        election = partial(leader_election, 3, variant=variant)
        yield from _of_file("leader-election", election, 1, f"variant {variant}")
    yield from _of_file("client-server", partial(client_server, 4), 6, "4")
    yield from _of_file("client-server", partial(client_server, 6), 12, "6")
    yield from _of_file("dispatcher", partial(dispatcher, 4, 2), 6, "4,2")
    yield from _of_file("dispatcher", partial(dispatcher, 5, 3), 12, "5,3")
    yield from _nets()
    yield from _populations()
    yield from _coloured()


def _populations() -> Iterator[Question]:
    """Yield questions that only orbits and sets answer where agents are many."""
    for family, about in populations.FAMILIES.items():
        for n in about.sizes[1::3]:
            make = partial(about.make, n)
            yield Question("population", f"{family} {n}", make, about.formula, "holds")


def _coloured() -> Iterator[Question]:
    """Yield questions about symmetric nets, small and large."""
    for family, about in coloured.FAMILIES.items():
        for n in about.sizes[2:7:2]:
            for formula in (about.common, about.named):
                make = partial(coloured.made, family, n)
                name = f"{family} {n}, {formula}"
                yield Question("coloured", name, make, formula, "holds")
    for name, net in (
        ("coloured-client-server", partial(coloured_client_server, 6, 2)),
        ("coloured-peers", partial(coloured_peers, 4)),
    ):
        for formula in read_formulas(FORMULAS / f"{name}.ltl")[::7]:
            make = partial(_symmetric, net)
            told = f"{name}, {formula.identifier}"
            yield Question("coloured", told, make, formula.text)


def _symmetric(net: Callable[[], ColouredNet]) -> SymmetricNet:
    return SymmetricNet(net())


def _case(make: Callable[[], cases.Case]) -> Question:
    case = make()
    known = None if case.verdict == "unknown" else case.verdict
    return Question("case", case.name, lambda: make().system, case.formula, known)


def _scaling() -> Iterator[Question]:
    """Yield questions about philosophers and rings."""
    for kind, family, ask, sizes in (
        ("philosophers", philosophers, philosophers_cases, (5, 8, 10)),
        ("ring", ring, ring_cases, (5, 8)),
    ):
        for n in sizes:
            for k, case in enumerate(ask(n)):
                make = partial(_asked_system, ask, n, k)
                yield Question(kind, case.name, make, case.formula, case.verdict)
        largest = 2 * sizes[-1]
        make_large = partial(family, largest)
        yield Question(kind, f"{kind} {largest}, empty", make_large, None, "holds")


def _asked_system(ask: Callable[[int], Iterator[Any]], n: int, k: int) -> System:
    """Return the system of case `k` of `emptiness`, made anew."""
    system: System = next(islice(ask(n), k, None)).network
    return system


def _of_file(
    name: str, make: Callable[[], System], step: int, about: str = ""
) -> Iterator[Question]:
    """Yield every so manyth formula of a file that comes with ltlpipe."""
    for formula in read_formulas(FORMULAS / f"{name}.ltl")[::step]:
        told = f"{name} {about}, {formula.identifier}"
        yield Question(name, told, make, formula.text)


def _nets() -> Iterator[Question]:
    """Yield questions about nets; the smallest first."""
    asked: list[tuple[str, Callable[[], System], str, str]] = []
    for n in (4, 10, 14):
        make = partial(token_ring, n)
        asked += [
            (f"token ring {n}", make, "G(!(critical0>=1) || !(critical1>=1))", "holds"),
            (f"token ring {n}", make, "G(wait0>=1 -> F(critical0>=1))", "holds"),
        ]
    for n in (8, 14):
        make = partial(dining, n)
        asked += [
            (f"dining {n}", make, "G(!(eat0>=1) || !(eat1>=1))", "holds"),
            (f"dining {n}", make, "G(left0>=1 -> F(eat0>=1))", "violated"),
        ]
    for cells, cards in ((3, 3), (5, 4)):
        make = partial(kanban, cells, cards)
        name = f"kanban {cells}, {cards}"
        asked += [
            (name, make, f"G(free0<={cards})", "holds"),
            (name, make, "GF(work1>=1)", "holds"),
        ]
    for name, make, formula, verdict in asked:
        yield Question("net", f"{name}, {formula}", make, formula, verdict)


def foreign(data: Path, *, thorough: bool = False) -> Iterator[Question]:
    """Yield questions about models that other people have made."""
    for kind, ask in (
        ("rers-like", partial(_rers_like, thorough=thorough)),
        ("rers training", partial(_rers, "training", every=1 if thorough else 7)),
        ("rers 2017", partial(_rers, "2017", every=7)),
        ("beem", partial(_models, "beem", ".dve", 2)),
        ("mcc", partial(_models, "mcc", ".pnml.gz", 1)),
    ):
        folder = data / kind.replace(" training", "").replace(" 2017", "")
        if folder.is_dir():
            yield from ask(folder)
        else:
            print(f"{kind}: skipped, there is no {folder}", flush=True)


def _rers_like(folder: Path, *, thorough: bool) -> Iterator[Question]:
    """Yield two formulas of each problem, one that holds and one that does not."""
    chosen: dict[tuple[str, str], dict[str, str]] = {}
    with (folder / "truth.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            kind = row["line"] if thorough else row["verdict"]
            chosen.setdefault((row["problem"], kind), row)
    for (problem, _), row in chosen.items():
        make = partial(load, str(folder / "problems" / problem / "system.dot"))
        name = f"rers-like {problem}, line {row['line']}"
        yield Question("rers-like", name, make, row["formula"], row["verdict"])


def _rers(year: str, folder: Path, *, every: int) -> Iterator[Question]:
    """Yield some properties of each problem of a year, with answers where published."""
    for system in sorted((folder / year).glob("*.dot")):
        (file,) = (folder / year).glob(f"{system.stem}-properties*.txt")
        listed = re.findall(
            r"^#(\d+):[ \t]*(\w*).*\n(.+)$", file.read_text(encoding="utf-8"), re.M
        )
        for number, answer, formula in listed[3 % every :: every]:
            name = f"rers {year} {system.stem.removeprefix('problem')}, {number}"
            make = partial(load, str(system))
            expected = VERDICTS.get(answer)
            yield Question(f"rers {year}", name, make, formula.strip(), expected)


def contest_of_2020(data: Path) -> Iterator[Question]:
    """Yield every other property of the one network of RERS 2020 that is public."""
    folder = data / "rers"
    if (folder / "2020").is_dir():
        yield from _rers("2020", folder, every=2)


def _models(suite: str, ending: str, count: int, folder: Path) -> Iterator[Question]:
    """Yield the first tasks of each model of a suite, one with each verdict first."""
    tasks: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    with (folder / "tasks.csv").open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            tasks[row["model"]].setdefault(row["verdict"], row)
    for model, of_model in tasks.items():
        make = partial(load, str(folder / "models" / f"{model}{ending}"))
        for row in islice(of_model.values(), count):
            name = f"{suite} {model}, {row.get('index') or row.get('task')}"
            yield Question(
                suite,
                name,
                make,
                row["formula"],
                row["verdict"],
                {"deadlock": "stutter"},
            )
