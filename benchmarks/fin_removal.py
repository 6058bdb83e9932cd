"""How many pairs a condition has, and how large an automaton is without Fin.

Random automata (an edge from a state on a letter with chance 1/2, marks with 1/4) with
conditions of several shapes, and the generic automata that Spot makes of random
formulas about fairness.  Of each the table tells

- the Rabin pairs that distributing "and" over "or" gives, how many of them
  contradict themselves, stand twice or imply another one, and how many are left when
  superfluous marks are gone, too (Bloemen et al., STTT 21 (2019), Sec. 3.1, leave open
  what equal or overlapping pairs are worth);
- the states and edges of the automaton, of its Fin-less form by Prop. 1 of the paper as
  it stands (states alone), by `ltlpipe.automata.fin_removal`, and by Spot's
  `remove_fin`, useless states removed from all.

All are sums over the automata of a family.

    python -m benchmarks.fin_removal
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import spot

from benchmarks import record
from ltlpipe.automata.conditions import (
    Condition,
    Op,
    conjunction,
    disjunction,
    fin,
    inf,
    normal_form,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Random = np.random.Generator

EDGES = 0.5  # the chance that there is an edge from a state on a letter
MARKS = 0.25  # the chance that an edge carries a mark


def rabin(n_pairs: int) -> Condition:
    return disjunction(fin(2 * i) & inf(2 * i + 1) for i in range(n_pairs))


def generalised_rabin(n_pairs: int) -> Condition:
    return disjunction(
        fin(3 * i) & inf(3 * i + 1) & inf(3 * i + 2) for i in range(n_pairs)
    )


def streett(n_pairs: int) -> Condition:
    return conjunction(fin(2 * i) | inf(2 * i + 1) for i in range(n_pairs))


def parity(n_marks: int) -> Condition:
    condition = fin(n_marks - 1) if n_marks % 2 == 0 else inf(n_marks - 1)
    for mark in reversed(range(n_marks - 1)):
        leaf = inf(mark) if mark % 2 == 0 else fin(mark)
        condition = leaf | condition if mark % 2 == 0 else leaf & condition
    return condition


def emerson_lei(random: Random, n_marks: int, n_leaves: int) -> Condition:
    """Return a random tree with a number of leaves."""
    if n_leaves == 1:
        mark = int(random.integers(n_marks))
        return inf(mark) if random.random() < 0.5 else fin(mark)
    left = int(random.integers(1, n_leaves))
    parts = [
        emerson_lei(random, n_marks, left),
        emerson_lei(random, n_marks, n_leaves - left),
    ]
    return (conjunction if random.random() < 0.5 else disjunction)(parts)


FAMILIES: dict[str, Callable[[Random], Condition]] = {
    "co-Büchi": lambda _: fin(0),
    "Rabin 1": lambda _: rabin(1),
    "Rabin 2": lambda _: rabin(2),
    "Rabin 3": lambda _: rabin(3),
    "generalised Rabin 2": lambda _: generalised_rabin(2),
    "Streett 2": lambda _: streett(2),
    "Streett 3": lambda _: streett(3),
    "parity 4": lambda _: parity(4),
    "Emerson-Lei 4": lambda random: emerson_lei(random, 4, 8),
    "Emerson-Lei 6": lambda random: emerson_lei(random, 6, 12),
}
FORMULAS = "formulas, generic"


def random_automaton(
    random: Random,
    condition: Condition,
    n_states: int,
    names: Sequence[str] = "ab",
    edges: float = EDGES,
) -> Any:
    """Return a deterministic Spot automaton over two propositions."""
    import buddy  # which Spot makes importable

    automaton = spot.make_twa_graph(spot.make_bdd_dict())
    a, b = (buddy.bdd_ithvar(automaton.register_ap(name)) for name in names)
    automaton.set_acceptance(condition.n_marks, spot.acc_code(str(condition)))
    automaton.new_states(n_states)
    for src in range(n_states):
        for label in (a & b, a & -b, -a & b, -a & -b):
            if random.random() < edges:
                marks = np.flatnonzero(random.random(condition.n_marks) < MARKS)
                dst = int(random.integers(n_states))
                automaton.new_edge(src, dst, label, [int(mark) for mark in marks])
    automaton.merge_edges()
    return spot.scc_filter(automaton)


def generic_automata(seed: int) -> Iterator[Any]:
    """Yield Spot's generic automata, those that have Fin, of random formulas."""
    random = np.random.default_rng(seed)
    while True:
        parts = [
            f"{'GF' if random.random() < 0.5 else 'FG'}({part.to_str()})"
            for part in spot.randltl(
                ["a", "b", "c"], 4, tree_size=4, seed=int(random.integers(1 << 30))
            )
        ]
        signs = [("&", "|")[int(random.integers(2))] for _ in parts]
        text = parts[0]
        for sign, part in zip(signs, parts[1:], strict=False):
            text = f"({text} {sign} {part})"
        automaton = spot.translate(text, "Generic", xargs="ba-simul=1")
        if automaton.acc().uses_fin_acceptance():
            yield automaton


def distributed(condition: Condition) -> list[tuple[int, int]]:
    """Return all pairs (Fin, Inf), whatever they are worth."""
    if condition.op == Op.OR:
        return [pair for part in condition.parts for pair in distributed(part)]
    if condition.op == Op.AND:
        joined = []
        for choice in product(*map(distributed, condition.parts)):
            fins = infs = 0
            for f, i in choice:
                fins, infs = fins | f, infs | i
            joined.append((fins, infs))
        return joined
    bit = 1 << condition.mark
    return {
        Op.TRUE: [(0, 0)],
        Op.FALSE: [],
        Op.INF: [(0, bit)],
        Op.FIN: [(bit, 0)],
    }[condition.op]


def pairs_of(condition: Condition) -> dict[str, int]:
    """Count the pairs of a condition, and those that are superfluous."""
    everything = distributed(condition)
    consistent = [(f, i) for f, i in everything if not f & i]
    distinct = set(consistent)
    needed = {
        (f, i)
        for f, i in distinct
        if not any((g, j) != (f, i) and f & g == g and i & j == j for g, j in distinct)
    }
    return {
        "pairs": len(everything),
        "contradictory": len(everything) - len(consistent),
        "duplicate": len(consistent) - len(distinct),
        "subsumed": len(distinct) - len(needed),
        "pairs_left": len(normal_form(condition)),
    }


def measure(automaton: Any) -> dict[str, int]:
    """Return the numbers of one automaton."""
    from ltlpipe.automata.fin_removal import condition_of, fin_less

    condition = condition_of(automaton)
    ours = spot.scc_filter(fin_less(automaton))
    theirs = spot.scc_filter(spot.remove_fin(automaton))
    pairs = pairs_of(condition)
    return pairs | {
        "states": automaton.num_states(),
        "edges": automaton.num_edges(),
        "prop_1_states": automaton.num_states() * (1 + pairs["pairs"]),
        "our_states": ours.num_states(),
        "our_edges": ours.num_edges(),
        "our_marks": ours.num_sets(),
        "spot_states": theirs.num_states(),
        "spot_edges": theirs.num_edges(),
        "spot_marks": theirs.num_sets(),
        "smaller": int(ours.num_states() < theirs.num_states()),
        "larger": int(ours.num_states() > theirs.num_states()),
    }


def compare(n_automata: int, n_states: int, seed: int) -> list[dict[str, Any]]:
    """Return one row per family."""
    rows = []
    for family, condition in FAMILIES.items():
        random = np.random.default_rng(seed)
        automata = (
            random_automaton(random, condition(random), n_states)
            for _ in range(n_automata)
        )
        rows.append(_sum(family, list(map(measure, automata))))
    made = generic_automata(seed)
    measured = [measure(next(made)) for _ in range(n_automata)]
    return [*rows, _sum(FORMULAS, measured)]


def _sum(family: str, measured: list[dict[str, int]]) -> dict[str, Any]:
    columns = measured[0]
    sums = {column: sum(row[column] for row in measured) for column in columns}
    return {"family": family, "automata": len(measured)} | sums


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--automata", type=int, default=200, help="of each family")
    parser.add_argument("--states", type=int, default=12, help="of a random automaton")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=record.RESULTS)
    chosen = parser.parse_args()
    rows = compare(chosen.automata, chosen.states, chosen.seed)
    record.write(
        chosen.out / "fin_removal.csv", [row | {"seed": chosen.seed} for row in rows]
    )


if __name__ == "__main__":
    main()
