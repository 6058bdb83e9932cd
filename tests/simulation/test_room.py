"""Simulations of models that start more processes than were found at first."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest

from ltlpipe import LtlpipeError, Simulation, check
from ltlpipe.logic.formulas import parse
from ltlpipe.question.options import Options
from ltlpipe.question.property import Property
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.jobs import complete
from ltlpipe.simulation.records import record_of
from ltlpipe.simulation.simulation import same_steps
from ltlpipe.systems.programs.promela.model import promela_model, read_model
from ltlpipe.verdict.inquiry import question_of
from ltlpipe.verdict.recorded import confirmed, run_options, walker_of
from tests.example_counts import examples
from tests.systems.programs.promela.random_programs import random_program

CROWD = """
byte c, n;
proctype W(byte k) { byte own = k; if :: c++ :: n++ fi; own == 9 }
init { do :: c < 9 -> run W(c) od }
"""


@pytest.fixture
def crowd(monkeypatch):
    """A model that starts more processes than are found by trying it out."""
    monkeypatch.setattr("ltlpipe.systems.programs.promela.planning._MOST_STATES", 3)
    return complete(promela_model(read_model(CROWD, "crowd.pml")))


def test_room_for_processes_is_made(crowd):
    """The run goes on, and those steps that were undone can be taken again."""
    simulation = Simulation(crowd, "G c<3")
    n_slots = len(crowd.processes)
    simulation.random(40, seed=1)
    told = [str(step) for step in simulation.history]
    assert len(simulation.system.processes) > n_slots
    again = Simulation(crowd, "G c<3")
    for step in simulation.history:
        again.step(step.action)
        assert again.residual is not None

    assert again.state == simulation.state
    assert again.bad_prefix == simulation.bad_prefix
    simulation.undo(39)
    simulation.redo(39)
    assert [str(step) for step in simulation.history] == told


def test_room_is_made_for_states_that_were_undone(crowd):
    simulation = Simulation(crowd)
    while len(simulation.system.processes) < 3:
        simulation.random(1, seed=simulation.n_steps)
    names = [step.action for step in simulation.history]
    simulation.undo(len(names) - 1)
    simulation.goto({"c": 4})
    assert simulation.state["c"] == 4


def _read_again(verdict, system, **options):
    """The run of a verdict, as a file has it, is one of a system read again."""
    record = record_of(json.loads(json.dumps(verdict.to_dict())))
    simulation = Simulation(system, lasso=verdict.to_dict())
    assert simulation.follow(len(record.prefix)).on_lasso
    asked = Property(parse(verdict.formula, **record.dialect._asdict()))
    complete(confirmed(system, asked, record, run_options(options)))


SEVEN = """
byte c;
proctype W() { c == 9 }
init { do :: c < 6 -> c++; run W() od }
"""


def test_runs_with_more_room_are_read_again(monkeypatch):
    """The states of a record are those of a model with its room, whatever it is now."""
    monkeypatch.setattr("ltlpipe.systems.programs.promela.planning._MOST_STATES", 3)
    grown, fresh = (
        complete(promela_model(read_model(SEVEN, "seven.pml"))) for _ in range(2)
    )
    small = Simulation(fresh).step(0).to_dict()
    verdict = check(grown, "G c<6", reduce="none")
    first = small["lasso"]["prefix"][0]
    assert len(first) < len(verdict.lasso.valuation(0))
    for model in (fresh, grown):
        _read_again(verdict, model)
        assert Simulation(model, lasso=small).follow().on_lasso


TURNS = """
byte x;
active proctype P() { x = 1; x = 2 }
active proctype Q() { x = 3 }
"""


@pytest.mark.parametrize("options", [{}, {"past": True}, {"semantics": "finite"}])
def test_runs_that_tell_who_moved_last(options):
    """A record has ``_last`` where its formula does, and is read without it."""
    model = complete(promela_model(read_model(TURNS, "turns.pml")))
    verdict = check(model, "G(_last == 0 -> X (x == 1))", **options)
    assert verdict.verdict == "violated"
    _read_again(verdict, model, **options)
    if "semantics" not in options:
        assert Simulation(model, "G x<9", lasso=verdict.to_dict()).follow(2).on_lasso


def test_steps_with_more_room_are_the_same():
    """Whatever the model has: channels, atomic sequences, choices alike."""
    checked = 0
    for seed in range(examples(12)):
        try:
            tree = read_model(random_program(seed), "m.pml")
            models = [complete(promela_model(tree, processes=n)) for n in (5, 7)]
        except LtlpipeError:  # refused
            continue
        questions = [question_of(m, Property(None), Options()) for m in models]
        narrow, wide = map(walker_of, questions)
        simulation = Simulation(models[0], seed=seed)
        with suppress(UnsupportedError):  # a sixth process
            simulation.random(30)
        taken = [point.taken for point in simulation._points[1:]]
        for one, same in zip(taken, same_steps(narrow, wide, taken), strict=True):
            assert narrow.action_name(None, one) == wide.action_name(None, same)
            checked += 1
    assert checked


def test_processes_that_are_given_are_all():
    model = complete(promela_model(read_model(CROWD, "crowd.pml"), processes=3))
    simulation = Simulation(model)

    with pytest.raises(UnsupportedError, match="more than 3 processes at once"):
        simulation.random(100, seed=1)
