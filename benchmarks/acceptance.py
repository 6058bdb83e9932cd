"""Acceptances side by side: Büchi, Rabin, Fin-less and Emerson-Lei, in one run.

Source: V. Bloemen, A. Duret-Lutz and J. van de Pol, "Model checking with generalized
Rabin and Fin-less automata", STTT 21 (2019), Sec. 5.  Each question is asked with the
automaton of every acceptance and the emptiness check that suits it; as in the source
only questions count whose generalised Rabin automaton has Fin (otherwise the product
and the search are those of the TGBA), and for which the search of the TGBA is no matter
of a moment (there a second, here 5,000 states, or 500 before a violation is found).
Questions:

``philosophers``, ``leader election``, ``rers``
    networks with formulas: random ones about what happens again and again or from some
    time on, and ``formulas/leader-election.ltl``; automata also deterministic.
``products, ...``
    a network and a random automaton of the violations with a condition of a family:
    Rabin, Streett, random Emerson-Lei conditions.

As many questions that hold as are violated, as far as they are found among so many
that are drawn.  Every family has an equal share of ``--budget``.  Products are explored
once for their sizes, and all ways of a question take turns.  Tables:

- ``acceptance.csv``: a row per question and way, medians of several runs;
- ``acceptance_summary.csv``: geometric means as the source's Tables 4 to 7, over the
  questions that all ways answered: of all of a family, of those that hold (Tables 4
  and 6 do not tell them apart), and those that are violated;
- ``acceptance_aims.csv``: what `rabin` costs on a pair without Fin and on n pairs,
  both against `couvreur99`, and `tela` against the better of `rabin` and Fin-less for
  each family (`benchmarks.acceptance_aims`);
- ``acceptance_tgba.svg``, ``acceptance_pairs.svg``, ``acceptance_tfla.svg``: scatter
  plots as Figs. 6, 8 and 9.

The ways of one question must agree; if they do not, the script goes on, says where,
and fails at its end.

    python -m benchmarks.acceptance
"""

from __future__ import annotations

import argparse
import statistics
import time
from itertools import cycle, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import spot

from benchmarks import acceptance_aims, fin_removal, por, record
from benchmarks.acceptance_plots import acceptances
from benchmarks.acceptance_tables import disagreements, of_tela, summary
from benchmarks.families.leader_election import leader_election
from benchmarks.tasks import significant
from ltlpipe import UnsupportedError, check
from ltlpipe.batch.table import comparison_columns, row_of
from ltlpipe.families.networks import philosophers
from ltlpipe.families.rers_networks import rers_network
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.logic.formulas import parse
from ltlpipe.report.plots import save
from ltlpipe.verdict.checking import product_size
from ltlpipe.verdict.verdict import VIOLATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ltlpipe import Network
    from ltlpipe.automata.conditions import Condition
    from ltlpipe.verdict.verdict import Verdict

FORMULAS = Path(__file__).parents[1] / "formulas" / "leader-election.ltl"
KINDS = ("ba", "tgba", "tgra", "tfla", "tela")
WAYS: dict[str, dict[str, Any]] = {kind.upper(): {"acceptance": kind} for kind in KINDS}
DETERMINISTIC: dict[str, dict[str, Any]] = {
    f"{kind.upper()} det": {"acceptance": kind, "deterministic": True}
    for kind in ("tgra", "tfla", "tela")
}
CONDITIONS: dict[str, Callable[[fin_removal.Random], Condition]] = {
    name: fin_removal.FAMILIES[name]
    for name in (
        "Rabin 2",
        "generalised Rabin 2",
        "Streett 2",
        "parity 4",
        "Emerson-Lei 4",
        "Emerson-Lei 6",
    )
}
AUTOMATON_STATES = 6
EDGES = 0.9  # the chance of an edge from a state on a letter: most products are large
SHORT = 2.0  # seconds in which a question must be decided that is to be asked
TRIES = 30  # questions that are drawn for each that is asked
SEARCHING = 0.3  # of a family's time, at most, to find its questions
SLOW = 1.0  # seconds of a way that is not repeated
COLUMNS = [
    "verdict",
    "reason",
    "emptiness",
    "acceptance",
    "automaton_states",
    "pairs",
    "states",
    "transitions",
    "memory_mib",
]


class Question(NamedTuple):
    """What a network is asked, by a formula or an automaton of the violations."""

    family: str
    network: Network
    text: str
    violations: Any = None

    @property
    def asked(self) -> dict[str, Any]:
        """The keywords of `check`."""
        if self.violations is not None:
            return {"automaton": self.violations}
        return {"formula": parse(self.text)}


class Limits(NamedTuple):
    """What a check may take."""

    timeout: float
    memory_mib: int
    max_states: int


def recurring(names: Sequence[str], seed: int) -> Iterator[str]:
    """Yield random combinations of what recurs or persists, over three actions each."""
    random = np.random.default_rng(seed)
    while True:
        n_parts = int(random.integers(2, 5))
        drawn = random.choice(len(names), size=min(3, len(names)), replace=False)
        chosen = dict(zip("abc", (names[i] for i in drawn), strict=False))
        parts = spot.randltl(
            [*chosen], n_parts, tree_size=3, seed=int(random.integers(1 << 30))
        )
        text = ""
        for part in parts:
            sign = ("&", "|", "->")[int(random.integers(3))]
            once = ("GF", "FG")[int(random.integers(2))]
            text = (
                f"({text} {sign} " * bool(text) + f"{once}({part})" + ")" * bool(text)
            )
        formula = spot.formula(text)
        yield str(spot.relabel_apply(formula, _renaming(chosen)))


def _renaming(chosen: dict[str, str]) -> Any:
    renaming = spot.relabeling_map()
    for short, name in chosen.items():
        renaming[spot.formula_ap(short)] = spot.formula_ap(name)
    return renaming


def drawn(
    family: str, network: Network, names: Sequence[str], seed: int
) -> Iterator[Question]:
    """Yield questions about a network, one after the other."""
    for text in recurring(names, seed):
        yield Question(family, network, text)


def of_networks(quick: bool) -> Iterator[tuple[str, Iterator[Question]]]:
    """Yield families and their questions, endless."""
    tables = [por.plain(philosophers(n)) for n in ((3,) if quick else (7, 8))]
    yield "philosophers", _in_turn("philosophers", tables)
    elections = [leader_election(variant=v) for v in ((1,) if quick else (1, 2))]
    yield "leader election", _leader_election(elections)
    sizes = (6,) if quick else (7, 8)
    problems = [rers_network(n, style="random-dense", seed=n).network for n in sizes]
    yield "rers", _in_turn("rers", problems)


def _in_turn(family: str, networks: Sequence[Network]) -> Iterator[Question]:
    sources = [
        drawn(family, network, [a.name for a in network.actions], seed=i)
        for i, network in enumerate(networks)
    ]
    for source in cycle(sources):
        yield next(source)


def _leader_election(networks: Sequence[Network]) -> Iterator[Question]:
    for network in networks:
        for formula in read_formulas(FORMULAS):
            yield Question("leader election", network, formula.text)
    told = ("elected", "lost", "start", "finished")
    names = [f"{what}_{node}" for what in told for node in (1, 2, 3)]
    sources = [drawn("leader election", n, names, i) for i, n in enumerate(networks)]
    for source in cycle(sources):
        yield next(source)


def of_products(quick: bool) -> Iterator[tuple[str, Iterator[Question]]]:
    """Yield families of random automata, each with a network of its own."""
    if quick:
        networks = [por.plain(philosophers(3))]
    else:
        networks = [
            por.plain(philosophers(7)),
            rers_network(7, style="random-dense", seed=7).network,
        ]
    for name, make in CONDITIONS.items():
        family = f"products, {name}"
        yield family, _random_automata(family, networks, make)


def _random_automata(
    family: str,
    networks: Sequence[Network],
    make: Callable[[fin_removal.Random], Condition],
) -> Iterator[Question]:
    for seed, network in enumerate(cycle(networks)):
        random = np.random.default_rng(seed)
        names = [action.name for action in network.actions]
        two = [names[i] for i in random.choice(len(names), size=2, replace=False)]
        violations = fin_removal.random_automaton(
            random, make(random), AUTOMATON_STATES, two, EDGES
        )
        text = f"{family}: automaton {seed} of {', '.join(two)}"
        yield Question(family, network, text, violations)


def chosen_of(
    questions: Iterator[Question], count: int, least: int, limits: Limits, until: float
) -> list[Question]:
    """Return `count` questions with Fin that hold, and as many that are violated.

    Fewer if so many are not found among `TRIES` times as many, or in time.  They take
    turns, so that what is not asked in the end is balanced.
    """
    found: dict[str, list[Question]] = {"holds": [], "violated": []}
    seen = set()
    for _, question in zip(range(2 * count * TRIES), questions, strict=False):
        if all(len(some) == count for some in found.values()):
            break
        if time.monotonic() > until:
            break
        key = (question.network.name, question.text)
        if key in seen:
            continue
        seen.add(key)
        verdict = tried(question, least, limits)
        if verdict is not None and len(found[verdict]) < count:
            found[verdict].append(question)
    turns = zip_longest(found["holds"], found["violated"])
    return [question for turn in turns for question in turn if question is not None]


def tried(question: Question, least: int, limits: Limits) -> str | None:
    """Return the verdict, if it comes soon, but not at once, and the TGRA has Fin.

    The search of the TGBA has to meet `least` states, a tenth of them if it finds a
    violation.
    """
    short = limits._replace(timeout=min(SHORT, limits.timeout))
    try:
        acceptance = _check(question, {"acceptance": "tgra"}, short, 1).stats.acceptance
        if "Fin" not in (acceptance or ""):
            return None
        known = _check(question, WAYS["TGBA"], short)
    except UnsupportedError:
        return None
    if known.reason is not None:
        return None
    enough = least // 10 if known.verdict == VIOLATED else least
    return known.verdict if (known.stats.states or 0) >= enough else None


def _check(
    question: Question,
    options: dict[str, Any],
    limits: Limits,
    max_states: int | None = None,
) -> Verdict:
    return check(
        question.network,
        **question.asked,
        **options,
        reduce="none",
        timeout=limits.timeout,
        max_states=max_states or limits.max_states,
        memory=limits.memory_mib,
    )


def measured(
    question: Question, ways: dict[str, dict[str, Any]], limits: Limits, runs: int
) -> list[dict[str, Any]]:
    """Ask in every way, in turn, several times; return a row for each way."""
    taken: dict[str, list[dict[str, Any]]] = {way: [] for way in ways}
    for _ in range(runs):
        for way, options in ways.items():
            if not taken[way] or _again(taken[way][0]):
                taken[way].append(_asked(question, options, limits))
    return [
        {
            "family": question.family,
            "system": question.network.name,
            "formula": question.text,
            "automaton": way,
        }
        | _median(taken[way])
        | _size(question, ways[way], limits)
        | {"timeout": limits.timeout}
        for way in ways
    ]


def _again(row: dict[str, Any]) -> bool:
    return row["reason"] is None and row["search_seconds"] < SLOW


def _asked(
    question: Question, options: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    try:
        verdict = _check(question, options, limits)
    except UnsupportedError as error:
        return {"verdict": "unknown", "reason": str(error).splitlines()[0]}
    known = row_of(verdict) | comparison_columns(verdict)
    return {column: known[column] for column in COLUMNS} | {
        "search_seconds": significant(verdict.stats.search_seconds),
        "seconds": significant(verdict.stats.seconds),
    }


def _median(rows: list[dict[str, Any]]) -> dict[str, Any]:
    row = dict(rows[-1])
    for column in ("search_seconds", "seconds"):
        known = [r[column] for r in rows if r.get(column) is not None]
        row[column] = statistics.median(known) if known else None
    return row | {"runs": len(rows)}


def _size(
    question: Question, options: dict[str, Any], limits: Limits
) -> dict[str, Any]:
    """Return the size of the product, as far as it can be explored."""
    asked = question.asked
    try:
        size = product_size(
            question.network,
            asked.get("formula") or asked.get("automaton"),
            **options,
            reduce="none",
            timeout=limits.timeout,
            max_states=limits.max_states,
            memory=limits.memory_mib,
        )
    except UnsupportedError:
        size = None
    return {
        "product_states": None if size is None else size.states,
        "product_transitions": None if size is None else size.transitions,
        "fin_share": None if size is None else significant(size.fin_share),
    }


def draw(rows: list[dict[str, Any]], out: Path) -> None:
    """Draw the figures; deterministic automata stand beside the others."""
    frame = pd.DataFrame(rows)
    others = [w for w in frame["automaton"].unique() if w != "TGBA"]
    for name, panels, by_pairs in (
        ("acceptance_tgba", [("TGBA", way) for way in others], False),
        ("acceptance_pairs", [("TGBA", "TGRA"), ("TGBA", "TELA")], True),
        ("acceptance_tfla", [("TGRA", "TFLA")], True),
    ):
        save(acceptances(frame, panels, by_pairs=by_pairs), out / f"{name}.svg")
        print(f"wrote {out / name}.svg")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=6, help="of a verdict, per family")
    parser.add_argument("--least", type=int, default=5000, help="states of the TGBA")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=20.0, help="seconds per check")
    parser.add_argument("--memory", type=int, default=2048, help="MiB per check")
    parser.add_argument("--max-states", type=int, default=5_000_000)
    parser.add_argument("--budget", type=float, default=780.0, help="seconds in all")
    parser.add_argument("--quick", action="store_true", help="smallest systems only")
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.count, chosen.runs, chosen.least = 1, 1, 0
    return chosen


def main() -> None:
    chosen = parsed()
    # A process for each translation is part of the times, where these are of use.
    compare(chosen)


def compare(chosen: argparse.Namespace) -> None:
    limits = Limits(chosen.timeout, chosen.memory, chosen.max_states)
    everything = WAYS | DETERMINISTIC
    rows: list[dict[str, Any]] = []
    families = [
        *((f, q, everything) for f, q in of_networks(chosen.quick)),
        *((f, q, WAYS) for f, q in of_products(chosen.quick)),
    ]
    end = time.monotonic() + chosen.budget
    for left, (family, questions, ways) in zip(
        range(len(families), 0, -1), families, strict=True
    ):
        began = time.monotonic()
        share = max(end - began, 1.0) / left
        asked = chosen_of(
            questions, chosen.count, chosen.least, limits, began + SEARCHING * share
        )
        searched = time.monotonic() - began
        # Compile what is not to be measured.
        for question in asked[: 0 if chosen.quick else 1]:
            measured(question, ways, limits, 1)
        n_asked = 0
        for question in asked:
            if n_asked and time.monotonic() > began + share:
                break
            rows += measured(question, ways, limits, chosen.runs)
            n_asked += 1
        print(
            f"{family}: {n_asked} of {len(asked)} questions, found in {searched:.0f} s,"
            f" {time.monotonic() - began:.0f} s in all",
            flush=True,
        )
    table = summary(rows)
    aims = [
        *acceptance_aims.measured(chosen.quick, max(chosen.runs, 3)),
        *of_tela(rows),
    ]
    for row in aims:
        print(f"{row['what']}, {row['case']}: {row['ratio']} (aim {row['aim']})")
    record.write(chosen.out / "acceptance.csv", rows)
    record.write(chosen.out / "acceptance_summary.csv", table)
    record.write(chosen.out / "acceptance_aims.csv", aims)
    draw(rows, chosen.out)
    if found := disagreements(rows):
        raise SystemExit("\n".join(["the ways do not agree:", *found]))


if __name__ == "__main__":
    main()
