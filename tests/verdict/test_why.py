"""Why runs violate formulas: values of subformulas, and a cause that suffices."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import ltlpipe
from ltlpipe import LTS, Network, UnsupportedError
from ltlpipe.logic.formulas import parse
from ltlpipe.logic.words import Word, satisfies
from ltlpipe.report.layouts import legend_of, steps_shown, why_html, why_table
from ltlpipe.report.notebook import html_of
from ltlpipe.runtime.errors import silenced
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.verdict.why import explained
from tests.example_counts import examples
from tests.hypothesis_strategies import formulas

ACTIONS = "abc"
RING = Network(
    [
        LTS.from_transitions(
            [(0, "a", 1), (1, "b", 0), (1, "c", 2), (2, "c", 2)], name="ring"
        )
    ]
)
GROWS = PetriNet(
    [Place("p0", "p0", 1)], [Transition("t0", "t0", {0: 1}, {0: 2})]
)  # it has no cycle

words = st.tuples(
    st.lists(st.sampled_from(ACTIONS), max_size=4),
    st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=4),
)


def suffix(prefix, cycle, step):
    """Return the word from a step on."""
    if step < len(prefix):
        return Word(tuple(prefix[step:]), tuple(cycle))
    turn = step - len(prefix)
    return Word((), (*cycle[turn:], *cycle[:turn]))


def changed(letters, known, flips):
    """Return letters whose propositions differ where that does not matter."""
    found = [set(letter) for letter in letters]
    for formula, row in zip(known.formulas, known.matters, strict=True):
        if formula.kindstr() != "ap":
            continue
        for step, matters in enumerate(row):
            if not matters and (formula.ap_name(), step) in flips:
                found[step] ^= {formula.ap_name()}
    return found


flips = st.sets(st.tuples(st.sampled_from(ACTIONS), st.integers(0, 7)))


@settings(max_examples=examples(200))
@given(formulas(), words, flips)
def test_values_in_a_lasso(text, word, flips):
    formula, (prefix, cycle) = parse(text), word
    letters = [{name} for name in (*prefix, *cycle)]
    known = explained(formula, letters, len(prefix))
    for part, row in zip(known.formulas, known.values, strict=True):
        for step, value in enumerate(row):
            assert value is satisfies(part, suffix(prefix, cycle, step))
    assert known.matters[0][0]
    other = explained(formula, changed(letters, known, flips), len(prefix))
    assert other.values[0][0] is known.values[0][0]


@settings(max_examples=examples(200))
@given(formulas(), words)
def test_values_in_a_finite_run(text, word):
    """What is known of a finite run is so whatever follows."""
    formula, (run, after) = parse(text), word
    run = run or ["a"]
    known = explained(formula, [{name} for name in run], len(run))
    is_lost = not satisfies(formula.spot, Word(tuple(run), tuple(after)))
    for number, (part, row) in enumerate(
        zip(known.formulas, known.values, strict=True)
    ):
        for step, value in enumerate(row):
            if value is None or (not number and not step):
                continue
            assert value is satisfies(part, suffix(run, after, step))
    assert known.values[0][0] is False
    if not is_lost:  # only a violated formula is explained
        return
    assert all(
        known.values[i][j] is not None
        for i, row in enumerate(known.matters)
        for j, matters in enumerate(row)
        if matters
    )


def test_the_cause_of_a_missed_response():
    lasso = ltlpipe.check(RING, "G(a -> F b)").lasso
    known = lasso.explanation()
    told = dict(zip(map(str, known.formulas), known.matters, strict=True))
    assert told["a"] == [True, False, False]
    assert told["b"] == [True, True, True]
    assert [known.step_matters(k) for k in range(3)] == [True, True, True]
    frame = lasso.why()
    assert list(frame.index) == ["G(a -> Fb)", "a -> Fb", "a", "Fb", "b"]
    assert list(frame.columns) == [1, 2, 3]
    assert frame.loc["a"].tolist() == [True, False, False]
    assert (frame.dtypes == pd.BooleanDtype()).all()


@pytest.mark.parametrize(
    ("formula", "n_columns"), [("G p0 < 5 && GF p0 == 0", 5), ("false", 0)]
)
def test_a_finite_run_has_pending_values(formula, n_columns):
    with silenced():  # the net is unbounded
        run = ltlpipe.check(GROWS, formula).finite_run
    known = run.explanation()
    frame = run.why()
    assert known.n_steps >= n_columns
    if not n_columns:
        return
    (again,) = (name for name in frame.index if name.startswith("GF"))
    assert frame.loc[again].isna().all()
    assert frame.iloc[0, 0] is False or not frame.iloc[0, 0]
    assert "? depends on what follows" in legend_of(known)
    assert known.step_matters(known.n_steps - 1)
    assert not known.step_matters(0)


@pytest.mark.parametrize("question", [{"empty": True}, {"formula": "{a;b}[]-> c"}])
def test_what_cannot_be_explained(question):
    found = ltlpipe.check(RING, **question)
    with pytest.raises(UnsupportedError):
        found.lasso.why()


def test_long_runs_are_cut():
    transitions = [(k, "a" if k < 300 else "b", k + 1) for k in range(400)]
    transitions.append((400, "c", 400))
    chain = Network([LTS.from_transitions(transitions, name="chain")])
    known = ltlpipe.check(chain, "G !b").lasso.explanation()
    shown = steps_shown(known, 10)
    assert None in shown
    assert 300 in shown  # where it is violated
    console = Console(file=io.StringIO(), width=60)
    console.print(why_table(known, 60))
    lines = console.file.getvalue().splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 60
    assert "1*" in lines[-1]


def test_notebooks_explain_short_runs_only():
    """A run of a million steps would take ten seconds."""
    transitions = [(k, "a", k + 1) for k in range(1200)]
    transitions.append((1200, "b", 1200))
    chain = Network([LTS.from_transitions(transitions, name="chain")])
    lasso = ltlpipe.check(chain, "G !b").lasso
    assert lasso.why().shape == (3, len(lasso.actions))
    assert "Why it is violated" not in html_of(lasso)


def test_html_is_escaped():
    evil = "<b>"
    net = Network([LTS.from_transitions([(0, evil, 0)], name="x")])
    lasso = ltlpipe.check(net, f'G !"{evil}"').lasso
    assert evil not in why_html(lasso.explanation())
    assert "Why it is violated" in html_of(lasso)
