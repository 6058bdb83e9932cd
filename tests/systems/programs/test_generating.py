"""Generated successor functions against the interpreter, on random models.

And against `machine`, which executes the same source.
"""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings

from ltlpipe import UnsupportedError
from ltlpipe.runtime.jobs import run
from ltlpipe.systems.networks.packing_kernels import Select
from ltlpipe.systems.programs.model import read_dve_model
from tests.example_counts import examples
from tests.systems.programs.plain_functions import compiled, plain_functions, successors
from tests.systems.programs.random_models import models


def compare(text, limit):
    """Search a DVE model with both and compare everything; return the states."""
    return compare_model(read_dve_model(text, "random.dve"), limit)


def compare_model(model, limit):
    """Search breadth first with both and compare everything; return the states."""
    with patch("ltlpipe.systems.programs.model.successor_functions", plain_functions):
        packed = model.pack([], extra_values=5)
    expand = packed.expand
    assert packed.interim is not None
    machine = compiled(packed.interim.expand)
    extra = packed.initial * 0
    extra[packed.extra.word] = 3 << packed.extra.shift
    rows = {model.initial(): packed.initial | extra}
    waiting = [model.initial()]
    assert packed.unpack(rows[model.initial()][None])[0].tolist() == list(waiting[0])
    for state in waiting:
        steps = model.steps(state)
        made = successors(expand, packed, rows[state])
        for one, other in zip(
            made, successors(machine, packed, rows[state]), strict=True
        ):
            assert one.tolist() == other.tolist()
        states = [tuple(s) for s in packed.unpack(made.rows).tolist()]
        assert states == [step.state for step in steps]
        assert made.actions.tolist() == [step.action for step in steps]
        assert all(0 <= step.action < len(model.actions) for step in steps)
        assert not made.letters.any()
        assert not made.marks.any()
        for target, row in zip(states, made.rows, strict=True):
            mask = packed.extra.mask << packed.extra.shift
            assert int(row[packed.extra.word]) & mask == 3 << packed.extra.shift
            if target not in rows and len(rows) < limit:
                rows[target] = row
                waiting.append(target)
        stuttered = successors(expand, packed, rows[state], Select.STUTTER)
        assert stuttered.rows.tolist() == [rows[state].tolist()]
        assert stuttered.actions.tolist() == [-1]
        repeated = successors(machine, packed, rows[state], Select.STUTTER)
        assert repeated.rows.tolist() == stuttered.rows.tolist()
    return waiting


SETTINGS = {
    "deadline": None,
    "report_multiple_bugs": False,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


TO_THE_LAST_BIT = f"""
const byte table[32] = {{{", ".join(map(str, range(32)))}}};
byte t[32] = {{0}};
byte i;
process P {{
  state s;
  init s;
  trans
    s -> s {{ guard i < 31; effect i = i + 1, t[table[i]] = (t[table[i]] + i) % 4; }};
}}
system async;
"""


def test_elements_in_the_last_bits_of_a_word():
    """Plain Python has no integers that wrap when they are shifted there."""
    assert len(compare(TO_THE_LAST_BIT, 100)) == 32


@given(models())
@settings(max_examples=examples(100), **SETTINGS)
def test_random_models(text):
    """States, actions and their order are those of the interpreter."""
    compare(text, 40)


@pytest.mark.slow
@given(models())
@settings(max_examples=examples(4_000), **SETTINGS)
def test_many_random_models(text):
    """As above, thousands of models."""
    compare(text, 150)


def test_elements_inside_indices():
    """An index is evaluated once, not for each word that the array lies in."""
    index, lengths = "x", []
    for _ in range(10):
        index = f"t[{index}]"
        text = f"""byte x = 1, y, t[100] = {{3, 2, 5, 1, 99, 4}};
        process P {{ state s; init s; trans
          s -> s {{ guard x < 7; effect y = {index}, x = x + 1; }},
          s -> s {{ guard y < 99; effect t[y] = x & 7; }}; }} system async;"""
        lengths.append(len(read_dve_model(text, "m.dve").source))
    assert lengths[-1] < 3 * lengths[1]
    assert len(compare(text, 100)) > 50


def wide(n, body):
    """The text of a model with many transitions between as many states."""
    states = ", ".join(f"s{k}" for k in range(n))
    moves = ", ".join(f"s{k} -> s{(k + 1) % n} {{ {body} }}" for k in range(n))
    return (
        f"byte x, t[9]; process P {{ state {states}; init s0; trans {moves}; }}"
        " system async;"
    )


def test_packing_is_prepared_in_turns():
    """Ranges and source are found by a job, once, and are those of plain calls."""
    text = wide(500, "guard x < 200; effect x = x + 1, t[x % 9] = x;")
    model, plain = (read_dve_model(text, "m.dve") for _ in range(2))
    turns = []
    run(model.prepared(), observer=turns.append)
    assert len(turns) > 5
    assert max(progress.work for progress in turns) < 50_000
    assert list(model.prepared()) == []
    assert model.ranges.variables == plain.ranges.variables
    assert model.source == plain.source


def test_source_that_is_too_long():
    """Refused while it is written, as the work of a compiler would be without end."""
    model = read_dve_model(wide(100, "effect x = x + 1, t[x % 9] = x;"), "m.dve")
    assert len(model.source) > 20_000
    del model.source
    with (
        patch("ltlpipe.systems.programs.effects.MAX_LENGTH", 20_000),
        pytest.raises(UnsupportedError, match="more than 20000 characters"),
    ):
        model.pack([])


def test_a_process_that_is_divided():
    """Many actions go to several functions; steps and their order stay."""
    moves = ",\n".join(
        f"s{i} -> s{(i * way + 1) % 40} {{ guard x != {way}; effect x = (x + 1) % 4; }}"
        for i in range(40)
        for way in (3, 1, 7)
    )
    states = ", ".join(f"s{i}" for i in range(40))
    text = f"""byte x; channel c;
    process P {{ state {states}; init s0; trans {moves}; }}
    process Q {{ state s, e; init s; trans s -> e {{ sync c!; }}, e -> s {{}}; }}
    process R {{ state s; init s; trans s -> s {{ sync c?; }}; }}
    system async;"""
    assert read_dve_model(text, "model.dve").source.count("@specialised") > 3
    assert len(compare(text, 1_000)) > 100
