"""Promela models answered as Spin answers them.

The models and Spin's verdicts and numbers of states are in the folder ``promela`` of
what ``LTLPIPE_BENCHMARKS`` names, by default beside the checkout.  A model with many
states is a slow test.
"""

from __future__ import annotations

import csv
import json
import os
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import ltlpipe
from ltlpipe import InputError, load
from ltlpipe.cli import main
from ltlpipe.verdict.checking import product_size

DEFAULT = Path(__file__).parents[3] / "shared" / "benchmarks"
FOLDER = Path(os.environ.get("LTLPIPE_BENCHMARKS", DEFAULT)) / "promela"
SOON = 30  # states of a model whose rows are all asked in the default run

pytestmark = [
    pytest.mark.skipif(
        not FOLDER.is_dir(), reason=f"no models in {FOLDER} (LTLPIPE_BENCHMARKS)"
    ),
    pytest.mark.filterwarnings("ignore::ltlpipe.runtime.errors.LtlpipeWarning"),
]


def rows_by_model():
    """The rows of the table, by the names of models."""
    found = defaultdict(list)
    if FOLDER.is_dir():
        with (FOLDER / "truth.csv").open(newline="") as stream:
            for row in csv.DictReader(stream):
                found[row["model"]].append(row)
    return found


ROWS = rows_by_model()


def n_states(model):
    """The number of states that Spin has stored, or 0 if it is not known."""
    return max(int(row["states_system"] or 0) for row in ROWS[model])


def models(most, *, refused=False, counted=False):
    """The models as parameters; those with more states than `most` are slow.

    `counted` leaves out those with a fault, behind which counts mean nothing.
    """
    return [
        pytest.param(name, marks=[pytest.mark.slow] if n_states(name) > most else [])
        for name, rows in ROWS.items()
        if (rows[0]["verdict"] == "refused") == refused
        if n_states(name) or not counted
    ]


def answered(model, row):
    """The verdict that a row asks for."""
    options = {} if row["fairness"] == "none" else {"fairness": row["fairness"]}
    own = {question.name: question for question in model.own_questions}
    asked = row["property"]
    if asked == "(endstate)":
        return ltlpipe.deadlocks(model)
    if asked == "(progress)":
        return ltlpipe.livelock(model, **options)
    names = {"(assert)": "assertions", "(accept)": "acceptance"}
    if asked == "(never)":
        (never,) = (question for question in own.values() if question.automaton)
        return ltlpipe.check(model, automaton=never.automaton, **options)
    return ltlpipe.check(model, own[names.get(asked, asked)].formula, **options)


@pytest.mark.parametrize("name", models(SOON))
def test_verdicts(name):
    """Every row: formulas with and without fairness, assertions, ends, claims."""
    model = load(FOLDER / "models" / name)
    wrong = {
        (row["property"], row["fairness"]): found
        for row in ROWS[name]
        if (found := answered(model, row).verdict) != row["verdict"]
    }
    assert wrong == {}


@pytest.mark.parametrize("name", models(SOON))
def test_the_command(name, monkeypatch, capsys):
    """``ltlpipe check MODEL`` says the same, with one search for all invariants."""
    path = str(FOLDER / "models" / name)
    monkeypatch.setattr(sys, "argv", ["ltlpipe", "check", path, "--json"])
    with pytest.raises(SystemExit):
        main()
    records = map(json.loads, capsys.readouterr().out.splitlines())
    found = {record["formula_id"]: record["verdict"] for record in records}
    names = {"(assert)": "assertions", "(endstate)": "end states"}
    wrong = {
        row["property"]: answer
        for row in ROWS[name]
        if row["fairness"] == "none"
        and (answer := found.get(names.get(row["property"], row["property"])))
        not in (None, row["verdict"])
    }
    assert found
    assert wrong == {}


@pytest.mark.parametrize("name", models(100, counted=True))
def test_states_step_by_step(name):
    """The states that are reached in plain Python are as many as Spin stores."""
    model = load(FOLDER / "models" / name).for_question(())
    known, waiting = {model.initial()}, [model.initial()]
    while waiting:
        for step in model.each_step(waiting.pop()):
            if step.state not in known:
                known.add(step.state)
                waiting.append(step.state)
    assert len(known) == n_states(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", models(1 << 30, counted=True))
def test_states_compiled(name):
    """So are those that the generated code reaches."""
    model = load(FOLDER / "models" / name)
    assert product_size(model, None).states == n_states(name)


@pytest.mark.parametrize("name", models(0, refused=True))
def test_refusals(name):
    """What Spin refuses is refused, with its place."""
    with pytest.raises(InputError) as refused:
        load(FOLDER / "models" / name)
    assert refused.value.line is not None
    assert "column" in str(refused.value)
