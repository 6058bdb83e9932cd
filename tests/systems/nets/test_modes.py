"""Successor functions of nets, interpreted and with checked bounds."""

from __future__ import annotations

import pytest

from benchmarks.families.nets import dining, kanban, token_ring
from tests.kernel_modes import INTERPRETED, checked, output
from tests.oracles import reachable_markings

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe.automata.letters import universal
from tests.complete_searches import Limits, drive
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg
from benchmarks.families.nets import kanban, token_ring
from benchmarks.families.nets import dining
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition

grows = [Transition("t", "t", {0: 1}, {0: 2}), Transition("u", "u", {}, {})]
for net in dining(4), token_ring(3), kanban(2, 5, 3), PetriNet(
    [Place("p", "p", 1)], grows
):
    packed = net.pack(())
    search = Exploration(make_problem(packed, universal(), stutter=True))
    drive(search, Limits())
    found = search.registers[[Reg.STORED, Reg.TRANSITIONS]].tolist()
    print(*found, packed.overflowed())
"""


@pytest.mark.thorough("compiles the kernels once more, with checked bounds")
@pytest.mark.parametrize("mode", ["interpreted", "checked"])
def test_the_same_markings(mode):
    """The last net has a place that overflows at once."""
    environment = INTERPRETED if mode == "interpreted" else checked()
    found = output(PROGRAM, **environment).splitlines()
    sizes = [size(dining(4)), size(token_ring(3)), size(kanban(2, 5, 3))]
    assert found == [*(f"{n} {m} None" for n, m in sizes), "1 1 0"]


def size(net):
    """Markings and steps by the interpreter, a deadlock's repetition included."""
    markings = reachable_markings(net, 1000)
    return len(markings), sum(max(len(net.steps(m)), 1) for m in markings)
