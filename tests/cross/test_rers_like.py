"""Synchronised LTSs in the RERS format, with verdicts found by enumeration.

The folder is named by ``LTLPIPE_BENCHMARKS``, by default beside the checkout.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest

from ltlpipe import UnsupportedError, check, load
from ltlpipe.logic.formula_files import read_formulas
from ltlpipe.search.catalogue import SEARCHES
from tests.cross.test_agreement import visible_word
from tests.oracles import satisfies

DEFAULT = Path(__file__).parents[2].parent / "shared" / "benchmarks"
FOLDER = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "rers-like"

pytestmark = [
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason=f"no benchmarks in {FOLDER} (LTLPIPE_BENCHMARKS)"
    ),
    pytest.mark.thorough("reads published problems"),
]

FITS = 10**6
"""Reachable states of the composition that need no reduction."""

WRONG = {("010", 3)}
"""Rows whose verdict is wrong: `holds`, but there is a run that violates the
formula by its definition.  Spot's state-based Büchi automaton of the negation
loses it (docs/decisions.md)."""


def truth():
    """The verdicts by problem and line."""
    if not FOLDER.is_dir():
        return {}
    with (FOLDER / "truth.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    problems = {}
    for row in rows:
        if int(row["reachable_states"]) <= FITS:
            lines = problems.setdefault(row["problem"], {})
            lines[int(row["line"])] = row["verdict"]
    return problems


TRUTH = truth()


@pytest.mark.parametrize("name", [*sorted(SEARCHES), "auto"])
@pytest.mark.parametrize("problem", sorted(TRUTH))
def test_verdicts_are_those_of_the_table(problem, name):
    """And every lasso violates its formula, evaluated directly on its word."""
    folder = FOLDER / "problems" / problem
    network = load(folder / "system.dot")
    for formula in read_formulas(folder / "formulas.ltl"):
        try:
            verdict = check(network, formula, emptiness=name)
        except UnsupportedError:
            assert name in ("dfs-weak", "reach-terminal")
            continue
        expected = TRUTH[problem][formula.line]
        if (problem, formula.line) in WRONG:
            expected = "violated"
        assert verdict.verdict == expected, formula.text
        if expected == "violated":
            word = visible_word(network, verdict.lasso)
            assert not satisfies(formula.spot, *word), formula.text
