"""The successor function of Spot's graphs, interpreted and with checked bounds."""

from __future__ import annotations

import pytest

from tests.kernel_modes import INTERPRETED, checked, compiled, output

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import check, is_empty
from tests.spot_graphs import ACCEPTANCES, random_automaton, random_kripke

def show(found, plan, stats):
    assert plan.strategy == "explicit", plan
    print(found, stats.states, stats.transitions, stats.max_depth)

for seed in range(6):
    kripke = random_kripke(seed, 40)
    names = {p.ap_name() for p in kripke.ap()}
    for formula in ["G F p", "p U X q", "F G !p"]:
        if {"p", "q"} <= names:
            v = check(kripke, formula, emptiness="couvreur99", deadlock="stutter")
            show(v.verdict, v.plan, v.stats)
    for kind in ACCEPTANCES:
        found = is_empty(random_automaton(seed, kind, 20), emptiness="tela")
        show(found.empty, found.plan, found.stats)
"""


@pytest.mark.thorough("compiles the kernels once more, with checked bounds")
@pytest.mark.parametrize("mode", ["interpreted", "checked"])
def test_the_same_searches(mode):
    """Verdicts and counts; the graphs have dead ends and false conditions."""
    environment = INTERPRETED if mode == "interpreted" else checked()
    assert output(PROGRAM, **environment) == compiled(PROGRAM)
    assert compiled(PROGRAM).count("True") > 5
    assert compiled(PROGRAM).count("False") > 5
    assert compiled(PROGRAM).count("violated") > 1
