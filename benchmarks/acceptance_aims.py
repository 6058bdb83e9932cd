"""What `rabin` costs on one pair without Fin, and on n pairs, against `couvreur99`.

Both search the same product to its end, in turn.  On n pairs no pair is satisfied, and
this cannot be seen from the property automaton: its pair i has Fin on an action of
component i, and Inf on a letter that no action has.  `couvreur99` then looks for all of
these Inf marks at once (part of `benchmarks.acceptance`).
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.por import plain
from benchmarks.tasks import significant
from ltlpipe import check
from ltlpipe.automata.conditions import disjunction, fin, inf
from ltlpipe.automata.letters import OTHER, PropertyAutomaton
from ltlpipe.components.alphabet import letters_of
from ltlpipe.families.networks import philosophers, ring
from ltlpipe.runtime.jobs import complete, run
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.search.driver import advance
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Status
from ltlpipe.systems.networks.packing import pack_network

if TYPE_CHECKING:
    from collections.abc import Callable

    from ltlpipe import Network

PAIRS = (1, 2, 4, 8)
ONE_PAIR_AIM = 1.1
TURNS = 5  # for each run that is asked for: the searches are short


def measured(quick: bool, runs: int) -> list[dict[str, Any]]:
    """Return a row per case: seconds, those of `couvreur99`, and their ratio."""
    sizes = [3] if quick else [7, 8]
    rows = []
    for network in [*map(philosophers, sizes), ring(3 if quick else 7)]:
        rows.append(
            _row(
                "rabin on one pair without Fin against couvreur99",
                network.name,
                *_in_turn(
                    lambda network=network: _accepting_run(network, "rabin"),
                    lambda network=network: _accepting_run(network, "couvreur99"),
                    runs,
                ),
                ONE_PAIR_AIM,
            )
        )
    network = plain(philosophers(sizes[-1]))
    for n in (1, 2) if quick else PAIRS:
        rows.append(
            _row(
                "rabin on n pairs against one search of couvreur99",
                f"{network.name}, {n} pairs",
                *_in_turn(
                    lambda n=n: _pairs(network, "rabin", n),
                    lambda n=n: _pairs(network, "couvreur99", n),
                    runs,
                ),
                float(n),
            )
        )
    return rows


def _row(
    what: str, case: str, seconds: float, reference: float, ratio: float, aim: float
) -> dict[str, Any]:
    return {
        "what": what,
        "case": case,
        "seconds": significant(seconds),
        "reference_seconds": significant(reference),
        "ratio": significant(ratio),
        "aim": aim,
    }


def _in_turn(
    one: Callable[[], float], other: Callable[[], float], runs: int
) -> tuple[float, float, float]:
    """Return the medians of two measurements in turn, and of their ratios.

    The first run is not counted.  What disturbs both runs of a turn cancels out.
    """
    taken = [(one(), other()) for _ in range(TURNS * runs + 1)][1:]
    return (
        statistics.median(pair[0] for pair in taken),
        statistics.median(pair[1] for pair in taken),
        statistics.median(pair[0] / pair[1] for pair in taken),
    )


def _accepting_run(network: Network, name: str) -> float:
    """Look for an accepting run, of which there is none; return the seconds."""
    found = check(network, empty=True, emptiness=name, reduce="none")
    assert found.verdict == "holds"
    assert found.stats.search_seconds is not None
    return found.stats.search_seconds


def _pairs(network: Network, name: str, n: int) -> float:
    """Search for n pairs, none of which is satisfied; return the seconds."""
    # One action of each of n components, and a letter that no action has.
    first = [
        next(a.name for a in network.actions if i in a.participants) for i in range(n)
    ]
    letters = letters_of(network, first)
    table = _property(n, n_letters=OTHER + n + 2)
    packed = complete(pack_network(network, letters, extra_values=1))
    condition = None
    if name == "rabin":
        condition = disjunction(fin(i) & inf(n + i) for i in range(n))
    search = SEARCHES[name]()(make_problem(packed, replace(table, condition=condition)))
    began = time.monotonic()
    outcome = run(advance(search))
    seconds = time.monotonic() - began
    assert outcome.status == Status.EMPTY
    return seconds


def _property(n: int, n_letters: int) -> PropertyAutomaton:
    """Return one state: mark i on letter i, and n to 2n - 1 on the last letter."""
    marks = np.zeros(n_letters, dtype=np.uint32)
    marks[OTHER + 1 : OTHER + 1 + n] = 1 << np.arange(n, dtype=np.uint32)
    marks[-1] = ((1 << n) - 1) << n
    return PropertyAutomaton(
        n_states=1,
        initial=0,
        n_letters=n_letters,
        first_edge=np.arange(n_letters + 1, dtype=np.int32),
        edge_dst=np.zeros(n_letters, dtype=np.int32),
        edge_marks=marks,
        n_marks=2 * n,
        state_based=False,
    )
