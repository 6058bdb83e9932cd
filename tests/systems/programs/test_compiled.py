"""Compiled successor functions: complete searches and letters."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from ltlpipe.automata.letters import universal
from ltlpipe.logic.propositions.syntax import Element, Name, Number, Operation, Text
from ltlpipe.runtime.jobs import Grant, Progress
from ltlpipe.runtime.kernels import compilation
from ltlpipe.runtime.kernels.jit import INTERPRETED, expand_pointer
from ltlpipe.search.driver import advance
from ltlpipe.search.exploring import Exploration
from ltlpipe.search.problem import make_problem
from ltlpipe.search.registers import Reg, Status
from ltlpipe.systems.fields import row_of
from ltlpipe.systems.networks.packing_kernels import Select
from ltlpipe.systems.programs.model import read_dve_model
from ltlpipe.systems.propositions.letters import evaluate
from ltlpipe.systems.reading import load_program
from tests.complete_searches import Limits, drive
from tests.systems.programs.plain_functions import plain_functions, successors

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "dve").glob("*.dve"))

EVERYTHING = """
const byte N = 3; const int delta[N] = {1, -2, 3};
byte a = 250, t[7] = {1, 0, 2, 5, 3, 1, 6}; int i = -4;
channel {byte, int} queue[2]; channel plain, values;
process P { byte x; state s, e, z; commit z; init s;
trans
  s -> e { guard a != 2; sync values!a; effect a = a + 1; },
  s -> s { guard x == 3; effect t[i] = i; },
  e -> z { sync queue!{i, a * delta[x % N]}; effect i = (i * 2 - 1) % 9; },
  z -> s { effect t[(x & 3) + 1] = x, x = (x + t[i & 6]) & 3; },
  e -> s { guard P->x > 1 imply Q.s; effect i = i / (x + 1); };
}
process Q { byte y, got; int z; state s, e; init s;
trans
  s -> e { sync values?got; effect y = got >> 1; },
  e -> s { guard y > 0; sync queue?{y, z}; effect z = ~z & 15, y = y & 7; },
  e -> e { guard got == 250 or not P.s; sync plain!; effect got = 0; };
}
process R { int k; state s; init s;
trans s -> s { sync plain?; effect k = (k << 1 ^ 5) & 12; };
}
system async;
"""

JOINT = """
byte x = 1, y, t[40]; int d = -7;
process P { state s, e; init s; trans s -> e { effect x = (x * 3) & 7; },
  e -> s { guard y < 6; effect t[y & 1] = x; },
  e -> e { effect t[y * 7 % 2 + 33] = 200; }; }
process Q { byte k; state s; init s; trans s -> s { effect y = (y + 1) % 7; },
  s -> s { guard k < 2; effect k = k + 1, t[38] = y & 1; },
  s -> s { effect d = d / (x - 3); }; }
system sync;
"""

UNREACHED = """
process P { state s, e, z; init e; trans e -> z { }, z -> e { }, s -> s { }; }
process Q { byte x; state s; init s; trans s -> s { effect x = (x + 1) % 9; },
  s -> s { guard x > 3; effect x = 0; }; }
system async;
"""  # steps that are never taken lead to a state below those that are reached

NESTED = """
byte x, t[20] = {1, 3, 5, 250, 9, 7, 11, 2}; int i;
process P { state s; init s; trans
  s -> s { guard t[t[x]] < 12 && t[t[t[x]]] != 1;
    effect i = t[t[x]] - t[x + 1], x = x + 1; },
  s -> s { effect x = (x + 3) % 9; }; }
system async;
"""  # an array over several words, read by indices that are read from it, or fail

MODELS = {
    "everything": EVERYTHING,
    "synchronous": JOINT,
    "unreached": UNREACHED,
    "nested": NESTED,
    **{path.stem: path.read_text(encoding="utf-8") for path in EXAMPLES},
}


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    """A model that is compiled for this test."""
    return read_dve_model(MODELS[request.param], f"{request.param}.dve")


def reachable(model):
    """All states with their steps, by the interpreter."""
    found = {model.initial(): model.steps(model.initial())}
    waiting = deque(found)
    while waiting:
        for step in found[waiting.popleft()]:
            if step.state not in found:
                found[step.state] = model.steps(step.state)
                waiting.append(step.state)
    return found


def explored(packed):
    """A complete exploration by compiled code."""
    search = Exploration(make_problem(replace(packed, interim=None), universal()))
    assert drive(search, Limits()).status == Status.EMPTY
    return search


def test_index_that_is_computed():
    """An element of an array over several words, by an expression that is no name."""
    text = """byte x, y, t[20] = {1, 3, 5, 250, 9};
    process P { state s; init s; trans
      s -> s { guard x < 6; effect y = t[x * 3 + 1], x = x + 1; }; } system async;"""
    model = read_dve_model(text, "m.dve")
    packed = model.pack([], extra_values=1)
    search = explored(packed)
    rows = search.store.rows[: search.n_stored]
    found = set(map(tuple, packed.unpack(rows).tolist()))
    assert found == set(reachable(model))
    assert len(found) == 7


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_search_that_goes_on_with_compiled_code():
    """It is begun by instructions, and finds the same rows in the same order."""
    text = """byte x, y; process P { state s; init s; trans
      s -> s { guard x < 60; effect x = x + 1; },
      s -> s { guard y < 60; effect y = y + 1; }; } system async;"""
    packed = read_dve_model(text, "m.dve").pack([])
    with patch.object(compilation, "has_own_code", lambda _: False):
        search = Exploration(make_problem(packed, universal()))
    pointer = search.problem.expand
    machine = pointer.__wrapper_address__()
    steps = advance(search, max_budget=100)
    next(steps)
    while search.n_stored < 1000:
        steps.send(Grant())
    assert pointer.seconds > 0
    assert pointer.job is None  # too little work for a compiler
    while not pointer.is_replaced:
        compilation.worked(pointer, pointer.patience)
        time.sleep(0.01)
    assert pointer.__wrapper_address__() != machine
    with suppress(StopIteration):
        while True:
            steps.send(Grant())
    assert search.n_stored == 61 * 61
    expected = explored(packed)
    rows = search.store.rows[: search.n_stored]
    assert rows.tolist() == expected.store.rows[: expected.n_stored].tolist()


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_a_worker_that_does_not_compile():
    """The search stays with the instructions: compiling here would not be ended."""
    text = "byte x; process P { state s; init s; trans s -> s { }; } system async;"
    packed = read_dve_model(text, "m.dve").pack([])

    def fails(subject, kinds):
        yield Progress("compiling")
        return False

    with patch.object(compilation, "has_own_code", lambda _: False):
        pointer = packed.pointer()
        machine = pointer.__wrapper_address__()
        nothing = patch.object(compilation, "_pointer_is_stored", lambda *_: False)
        with nothing, patch.object(compilation, "_compiled", fails):
            for _ in range(3):
                compilation.worked(pointer, pointer.patience)
    assert pointer.__wrapper_address__() == machine
    assert not pointer.is_replaced
    assert pointer.job is None
    assert pointer.patience > pointer.seconds  # another worker is asked later


@pytest.mark.thorough("seconds for a random battery, while cheaper ones stay")
def test_complete_searches(model):
    """The same states and as many transitions, found by either."""
    states = reachable(model)
    assert 10 < len(states) < 50_000
    packed = model.pack([], extra_values=1)
    search = explored(packed)
    rows = search.store.rows[: search.n_stored]
    assert set(map(tuple, packed.unpack(rows).tolist())) == set(states)
    assert search.n_stored == len(states)
    assert search.registers[Reg.TRANSITIONS] == sum(map(len, states.values()))


def test_a_shuffled_order(model):
    """Other orders of the same successors; the same for the same seed."""
    packed, first, again = (model.pack([], seed=s) for s in (None, 1, 1))
    plain = plain_functions(model.source).expand
    orders = set()
    for state in list(reachable(model))[:200]:
        row = row_of(packed.fields, state, len(packed.initial))
        usual, shuffled, same = (
            [
                (*r, a)
                for r, a in zip(made.rows.tolist(), made.actions.tolist(), strict=True)
            ]
            for made in (successors(plain, p, row) for p in (packed, first, again))
        )
        assert shuffled == same
        assert sorted(shuffled) == sorted(usual)
        orders.add(shuffled == usual)
    assert orders == {True, False}
    assert explored(first).n_stored == explored(packed).n_stored


def test_the_caller_s_field(model):
    """Wherever it lies, in a word of its own if need be, it stays as it is."""
    for values in (2, 1 << 20, 1 << 40):
        packed = model.pack([], extra_values=values)
        mark = np.uint64((values - 1) << packed.extra.shift)
        row = packed.initial.copy()
        row[packed.extra.word] |= mark
        made = successors(plain_functions(model.source).expand, packed, row)
        assert len(made.rows) > 0
        assert (made.rows[:, packed.extra.word] & mark == mark).all()
        assert [s.state for s in model.steps(model.initial())] == [
            tuple(s) for s in packed.unpack(made.rows).tolist()
        ]


def test_letters():
    """Bits of the propositions in the state that is left, of the action in the step."""
    model = read_dve_model(EVERYTHING, "everything.dve")
    written = [
        Operation("==", (Name("P"), Text("e"))),
        Operation("<", (Element("t", Name("P.x")), Name("i"))),
        Name("Q.s"),
        Operation("==", (Element("queue.part1", Number(0)), Name("queue.length"))),
        Name("deadlock"),
        Operation("==", (Name("action"), Text(model.actions[0]))),
    ]
    propositions = [model.bound(p, str(p)) for p in written]
    packed = model.pack(propositions)
    plain = plain_functions(model.source).expand
    letters = set()
    for state, steps in reachable(model).items():
        row = row_of(packed.fields, state, len(packed.initial))
        made = successors(plain, packed, row)
        expected = [
            sum(
                (evaluate(p, state, action=step.action, dead=False) != 0) << bit
                for bit, p in enumerate(propositions)
            )
            for step in steps
        ]
        assert made.letters.tolist() == expected
        letters.update(expected)
        if not steps:
            stuttered = successors(plain, packed, row, Select.STUTTER)
            (letter,) = stuttered.letters.tolist()
            assert letter == sum(
                (evaluate(p, state, dead=True) != 0) << bit
                for bit, p in enumerate(propositions)
            )
            letters.add(letter)
    assert len(letters) >= 8


@pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")
def test_one_compilation_for_all_properties():
    """The function is the same whatever the property."""
    model = load_program(EXAMPLES[0])
    again = load_program(EXAMPLES[0])
    first = model.pack([], extra_values=2)
    second = again.pack([], extra_values=99, seed=3)
    assert first.expand is second.expand
    assert expand_pointer(first.expand) is expand_pointer(second.expand)


def test_shown_states():
    """States by name; failures only where there are some."""
    model = load_program(next(p for p in EXAMPLES if p.stem == "peterson"))
    assert model.shown(model.initial()) == {
        "flag[0]": 0, "flag[1]": 0, "turn": 0, "P_0": "idle", "P_1": "idle",
    }  # fmt: skip
    assert model.actions[0] == "P_0: idle -> asking"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_what_the_examples_promise(path):
    """The invariants that their comments state."""
    model = load_program(path)
    claims = {
        "peterson": lambda s: (s["P_0"], s["P_1"]) != ("critical", "critical"),
        "alternating_bit": lambda s: (
            s["Receiver.taken"] != s["Sender.next"]
            or s["Sender.bit"] == s["Receiver.expected"]
        ),
    }
    states = reachable(model)
    assert all(claims[path.stem](model.shown(state)) for state in states)
    assert all(states.values())  # none is dead
