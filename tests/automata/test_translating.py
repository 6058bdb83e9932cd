"""What a worker translates or decides is what this process would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltlpipe.automata.interrupts import interruptible_table
from ltlpipe.automata.translation import (
    ACCEPTANCES,
    automaton_text,
    constrained,
    stutter_invariant,
    table_over_actions,
    table_over_states,
    translate,
    translated,
)
from ltlpipe.logic.formulas import from_spot_text, parse, spot_text
from ltlpipe.logic.interruptible import interruptible_formula, is_interruptible
from ltlpipe.runtime import workers
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import Limits, StoppedError, TooMuchWorkError, bounded, run
from tests.cli.command_line import HARD
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas
from tests.oracles import accepts

LETTERS = st.lists(st.integers(0, 9), min_size=1, max_size=4)


def same(one, other):
    """Whether two tables are equal, arrays with their types."""
    first, second = vars(one), vars(other)
    return first.keys() == second.keys() and all(
        first[name].dtype == second[name].dtype
        and np.array_equal(first[name], second[name])
        if isinstance(first[name], np.ndarray)
        else first[name] == second[name]
        for name in first
    )


@given(formulas(), st.sampled_from(sorted(ACCEPTANCES)), st.integers(0, 1))
@settings(max_examples=examples(40))
def test_tables_of_formulas(text, acceptance, marks):
    formula = parse(text)
    names = list(formula.propositions)
    there = run(translated(formula, acceptance, names, system_marks=marks))
    here = table_over_actions(formula, acceptance, names, system_marks=marks)

    # Spot numbers states by what its process has translated before.
    assert sizes(there) == sizes(here)


def sizes(table):
    fields = table.n_states, table.n_letters, table.n_marks, table.system_marks
    return *fields, len(table.edge_dst), table.weak, table.terminal


@given(formulas(), st.sampled_from(sorted(ACCEPTANCES)), LETTERS, LETTERS)
@settings(max_examples=examples(30))
def test_tables_of_automata_and_over_states(text, acceptance, prefix, cycle):
    """Spot numbers the states of what it simplifies as its tables happen to be."""
    formula = parse(text)
    names = list(formula.propositions)
    violations = translate(formula, "tela", negate=True)
    for over_states, given_one, kind, here in [
        (False, violations, acceptance, table_over_actions),
        (True, violations, acceptance, table_over_states),
        (True, formula, acceptance, table_over_states),
        (True, violations, None, table_over_states),
    ]:
        job = translated(given_one, kind, names, over_states=over_states)
        one, other = run(job), here(given_one, kind, names)
        word = [[a % other.n_letters for a in part] for part in (prefix, cycle)]
        assert one.n_letters == other.n_letters
        assert accepts(one, *word) == accepts(other, *word)
        if kind is None:
            assert same(one, other)


@given(formulas())
@settings(max_examples=examples(40))
def test_decisions(text):
    formula = parse(text)
    table = table_over_actions(formula, "ba", formula.propositions)
    visible = range(1, table.n_letters)

    assert run(interruptible_formula(formula)) == is_interruptible(formula)
    assert run(interruptible_table(table, visible)) == interruptible_table.here(
        table, visible
    )


@given(formulas(), st.sampled_from(["ba", "tgra", "tela"]))
def test_tables_travel(text, acceptance):
    table = table_over_actions(parse(text), acceptance, ["a", "b"])

    assert same(workers._decoded(workers._encoded(table)), table)


@given(formulas())
def test_formulas_travel(text):
    formula = parse(text).spot

    assert from_spot_text(spot_text(formula)) == formula


@pytest.mark.parametrize(
    "text",
    [
        'G("x y" -> F "G")',
        '"WU" U "a WU b"',
        '"/* a" | "b \\" c" | "d\\\\"',
        'x == 3 && "P_1==\\"CS\\"" -> y<=2',
        "{a;b*}|->c",
        "(a xor b) <-> (c -> d)",
        '"xor" xor X("xor" xor a.xor) & {"xor"[*];!"xor";a}',
        '("V" V a.V) & {first_match(a[*];"first_match")} |-> X "V"',
    ],
)
def test_formulas_with_odd_names_travel(text):
    formula = parse(text).spot

    assert from_spot_text(spot_text(formula)) == formula


def test_stutter_invariance():
    """What an automaton says of itself is not believed."""
    import spot

    violations = spot.translate("!(a U b)")
    violations.prop_stutter_invariant(spot.trival(False))
    lying = spot.translate("X X a")
    lying.prop_stutter_invariant(spot.trival(True))

    assert run(stutter_invariant(parse("a U b")))
    assert not run(stutter_invariant(parse("X a")))
    assert run(stutter_invariant(violations))
    assert not run(stutter_invariant(lying))


def test_constraints():
    import spot

    fair = spot.translate("GF b")
    product = run(constrained(parse("G a"), fair))
    again = run(constrained(spot.translate("F !a"), fair))

    assert run(constrained(None, fair)) is fair
    assert spot.are_equivalent(product, "F !a & GF b")
    assert spot.are_equivalent(again, "F !a & GF b")


def test_texts_of_automata():
    import spot

    text = run(automaton_text(parse("G(a -> F b)"), "tgba", negate=True))

    assert spot.are_equivalent(spot.automaton(text + "\n"), "!G(a -> F b)")


def test_errors_of_spot():
    with pytest.raises(UnsupportedError):
        run(translated(parse("a"), "ba", ["a"], deterministic=True))


def test_hard_ones_end_in_time():
    hard = parse(HARD)
    names = list(hard.propositions)
    with pytest.raises(StoppedError) as stopped:
        run(translated(hard, "ba", names), Limits(timeout=0.5))
    assert stopped.value.reason == "timeout"
    with pytest.raises(TooMuchWorkError):
        run(bounded(translated(hard, "ba", names), work=3e5))
