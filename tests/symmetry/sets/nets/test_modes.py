"""Searches of sets of markings run interpreted, or with bounds, as compiled ones."""

from __future__ import annotations

import pytest

from tests.modes import INTERPRETED, checked, output

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe import check
from ltlpipe.families.symmetric_nets import coloured_client_server, coloured_dining
from ltlpipe.search.catalogue import POWERSET
from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet

for net, text in (
    (coloured_client_server(3, 1), "G(served.1.1 == 1 -> F(served.2.1 == 1))"),
    (coloured_dining(3), "G(eat.1 == 0 || eat.2 == 0)"),
):
    for name in POWERSET:
        v = check(SymmetricNet(net), text, emptiness=name, max_states=100)
        print(name, v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states)
"""


@pytest.mark.thorough("interprets kernels, or compiles them once more")
@pytest.mark.parametrize("how", [lambda: INTERPRETED, checked])
def test_other_kernels_are_the_same(how):
    """Plain Python, and kernels that check their bounds, give the same runs."""
    assert output(PROGRAM, **how()) == output(PROGRAM)
