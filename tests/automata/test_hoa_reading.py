"""Property automata from files: a worker reads them first."""

import gzip
import time

import pytest
import spot

from ltlpipe.automata.given_automata import (
    parse_automata,
    parse_job,
    read_automaton,
    read_job,
)
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Limits, StoppedError, run
from tests.processes import SOON
from tests.systems.test_limits import HOA, no_orphans

FORMULAS = ["GFa & GFb", "G(a -> F(b U c))", "(FGa | GFb) & (GF!a | FGc)", "a U Gb"]


def _texts():
    """Return automata of several acceptances, as Spot and others write them."""
    for formula in FORMULAS:
        for kind in ("Buchi", "TGBA", "generic", "parity"):
            yield spot.translate(formula, kind, "deterministic").to_str("hoa")
            yield spot.translate(formula, kind, "SBAcc", "any").to_str("hoa", "i")
    yield (
        'HOA: v1 Start: 2 States: 3 AP: 1 "a" Acceptance: 1 Inf(0) --BODY--\n'
        'State: 0 "zero" {0} [t] 0 State: 1 [f] 1 {0} State: 2 [0] 0 [!0] 1 --END--'
    )


TEXTS = list(_texts())


def described(automaton):
    """Return all of an automaton that the search can see."""
    names = automaton.get_dict()
    labels = [spot.bdd_format_formula(names, e.cond) for e in edges(automaton)]
    return (
        automaton.get_name(),
        automaton.ap(),
        automaton.num_states(),
        automaton.get_init_state_number(),
        str(automaton.get_acceptance()),
        automaton.num_sets(),
        [(e.src, e.dst, str(e.acc)) for e in edges(automaton)],
        labels,
        automaton.prop_state_acc().is_true(),
        str(automaton.prop_universal()),
        str(automaton.prop_stutter_invariant()),
    )


def edges(automaton):
    return list(automaton.edges())


@pytest.mark.parametrize("text", TEXTS)
def test_a_worker_changes_nothing(text):
    (direct,) = parse_automata(text, "m.hoa")
    (safe,) = run(parse_job(text, "m.hoa"))

    assert described(safe) == described(direct)


def test_several_automata_and_errors(tmp_path):
    text = "\n".join(TEXTS)
    assert len(run(parse_job(text, "m.hoa"))) == len(TEXTS)
    path = tmp_path / "m.hoa.gz"
    path.write_bytes(gzip.compress(text[: len(text) // 2].encode()))
    for wrong in (text[: len(text) // 2], text + "HOA: v1", text.replace("Inf", "Foo")):
        with pytest.raises(InputError) as direct:
            parse_automata(wrong, "m.hoa")
        with pytest.raises(InputError) as safe:
            run(parse_job(wrong, "m.hoa"))
        assert str(safe.value) == str(direct.value)
        assert safe.value.line == direct.value.line
    with pytest.raises(InputError, match="END"):
        read_automaton(path)


@pytest.mark.thorough("seconds for large inputs, or until a limit is reached")
@pytest.mark.parametrize(
    "limits", [Limits(timeout=0.5), Limits(timeout=30, memory_mib=50)], ids=str
)
def test_a_label_that_fills_any_memory(limits, tmp_path):
    path = tmp_path / "m.hoa"
    path.write_text(HOA)

    began = time.monotonic()
    with pytest.raises(StoppedError):
        run(read_job(path), limits)
    if limits.memory_mib is None:
        assert time.monotonic() - began < SOON
    assert no_orphans()
