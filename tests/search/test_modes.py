"""Kernels run interpreted, and with checked bounds, as they run compiled."""

from __future__ import annotations

import pytest

from tests.kernel_modes import INTERPRETED, checked, compiled, output

pytestmark = pytest.mark.thorough("interprets every kernel, which takes seconds")

PROGRAM = """
import warnings
warnings.filterwarnings("ignore", message="overflow encountered")
warnings.filterwarnings("ignore", message="finite runs do not count")
from ltlpipe import LTS, Network, UnsupportedError, check, sccs
from ltlpipe.search.catalogue import SEARCHES
from ltlpipe.systems.networks import packing_tables
from ltlpipe.families.networks import philosophers
from ltlpipe.families.networks import ring

def told(v):
    return v.verdict, v.lasso and v.lasso.to_dict(), v.stats.states

for wide in (4096, 1):
    packing_tables.MAX_MOVES = wide
    packing_tables._BLOW_UP = 4 * (wide > 1)
    for name in SEARCHES:
        for network in (philosophers(4), ring(3)):
            try:
                stats = check(network, empty=True, emptiness=name).stats
            except UnsupportedError:
                continue
            print(name, stats.states, stats.transitions, stats.max_depth)
many = Network([
    LTS.from_transitions([(s, f"x{s}.{i // 2}", (s + 1) % 3) for s in range(3)])
    for i in range(70)
])
print(check(many, empty=True, max_states=30, reduce="none").stats.states)
meet = Network([
    LTS.from_transitions([(0, "a", 1), (1, "b", 0), (1, "c", 1)]),
    LTS.from_transitions([(0, "b", 1), (1, "d", 0), (1, "a", 1)]),
])
apart = Network([
    LTS.from_transitions([(0, f"w{i}", 1), (1, f"v{i}", 2), (2, f"u{i}", 0)])
    for i in range(4)
])
for name in SEARCHES:
    for deadlock in ("ignore", "stutter"):
        for text in ("G(a -> F b)", "GF a", "G !d", "!(GF a & GF c)"):
            try:
                v = check(meet, text, emptiness=name, deadlock=deadlock)
            except UnsupportedError:
                continue
            print(name, text, *told(v))
for name in ("se05", "dfs-weak", "couvreur99"):
    for inner in ("full", "stored"):
        for text in ("GF w0", "G !u1"):
            v = check(
                apart, text, reduce="ample", emptiness=name, red_ample=inner
            )
            print(name, inner, text, v.verdict, v.lasso.to_dict(), v.stats.states)
for text in ("G(a -> F b)", "GF a", "G !d", "!(GF a & GF c)"):
    v = check(meet, text, bitstate=0.001)
    print(text, *told(v))
print(check(philosophers(4), empty=True, bitstate=0.001).stats.states)
print(sccs(ring(3)).to_csv())
"""


CONDITIONS = """
import random, warnings
warnings.filterwarnings("ignore", message="overflow encountered")
from ltlpipe.search.catalogue import SEARCHES
from tests.complete_searches import Limits, drive
from tests.search.explicit_automata import run
from tests.search.test_emerson_lei import (
    ONE_BY_ONE, random_automaton, suits, system_problem
)
rng = random.Random(3)
for _ in range(60):
    automaton = random_automaton(rng, max_states=8, max_marks=6)
    for name in ("couvreur99", "couvreur99-fig5", *ONE_BY_ONE):
        if suits(name, automaton):
            print(name, run(name, automaton))
            search = SEARCHES[name]()(system_problem(automaton))
            print(drive(search, Limits()), search.statistics())
"""


# Interpreted kernels notice an index out of range as well as checked ones do, in a
# tenth of the time: every kernel is compiled once more for those.


@pytest.mark.slow
def test_no_kernel_leaves_its_arrays():
    """With checked bounds, and code compiled apart, nothing is different."""
    assert output(PROGRAM, **checked()) == compiled(PROGRAM)


@pytest.mark.slow
def test_no_condition_leaves_its_arrays():
    """With checked bounds, and code compiled apart, nothing is different."""
    assert output(CONDITIONS, **checked()) == compiled(CONDITIONS)


def test_interpreted_kernels_do_the_same():
    """`NUMBA_DISABLE_JIT=1` is the copy of the kernels for debuggers."""
    assert output(PROGRAM, **INTERPRETED) == compiled(PROGRAM)


def test_interpreted_conditions_are_the_same():
    """Any condition, and the passes and levels that it takes."""
    assert output(CONDITIONS, **INTERPRETED) == compiled(CONDITIONS)
