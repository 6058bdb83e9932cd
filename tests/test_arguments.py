"""Every public function with each wrong kind of value for each of its parameters."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
import spot
from matplotlib.figure import Figure

import ltlpipe
from ltlpipe import LtlpipeError
from ltlpipe.batch.table import COMPARISON_DTYPES, to_frame
from ltlpipe.question.options import OPTIONS

LTS = ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)])
RING = ltlpipe.Network([LTS], "ring")
FORMULA = spot.formula("a U b")
AUTOMATON = FORMULA.translate()
ROWS = to_frame(
    [
        {
            "system": f"ring-{n}",
            "formula": "F a",
            "verdict": "holds",
            "automaton": automaton,
            "seconds": 1.0,
            "search_seconds": 1.0,
            "states": 2,
        }
        for n in (2, 3)
        for automaton in ("BA", "TGBA")
    ],
    COMPARISON_DTYPES,
)

# Values of all kinds; those that a parameter takes are named in `FUNCTIONS`.
VALUES = {
    "none": None,
    "whole": 3,
    "number": 3.5,
    "text": "abc",
    "bytes": b"x",
    "truth": True,
    "object": object(),
    "objects": [object()],
    "texts": ["a"],
    "dict": {"a": 1},
    "empty dict": {},
    "callable": lambda _: None,
    "formula": FORMULA,
    "formulas": [FORMULA],
    "network": RING,
    "lts": LTS,
    "frame": ROWS,
}
KINDS = {
    "system": {"network", "text", "texts"},
    "formula": {"formula", "text"},
    "formulas": {"formula", "text", "formulas", "texts"},
    "automaton": {"none"},
    "path": {"text"},
    "progress": {"none", "truth", "callable"},
    "seconds": {"none", "whole", "number"},
    "names": {"text", "texts"},
}

# By function: its good arguments, and what its parameters take.
OF_SEARCHES = ("cactus", "scatter")
"""Plots that choose themselves which seconds they compare."""

FUNCTIONS = {
    "LTS": (
        vars(LTS),
        {
            "labels": {"texts"},
            "n_states": {"whole"},
            "initial": {"whole"},
            "internal": {"texts"},
            "accepting": {"none"},
            "name": {"text"},
            "state_names": {"none", "texts"},
        },
    ),
    "LTS.from_transitions": (
        {"transitions": [(0, "a", 0)]},
        {
            "initial": {"whole"},
            "n_states": {"none", "whole"},
            "internal": {"texts"},
            "accepting": {"none"},
            "name": {"text"},
        },
    ),
    "Network": ({"components": [LTS]}, {"name": {"text"}}),
    "Chart": (
        {"lasso": ltlpipe.Lasso([], ["a"], np.zeros(1, int), np.zeros((2, 1), int))},
        {"lasso": set(), "steps": {"whole"}, "lanes": {"whole"}},
    ),
    "Simulation": (
        {"system": RING, "formula": "F a"},
        {
            "system": KINDS["system"],
            "formula": KINDS["formula"] | {"none"},
            "lasso": {"none", "text", "dict", "empty dict"},
        },
    ),
    "action_equivalent": (
        {"f": "a", "g": "b"},
        {
            "f": KINDS["formula"],
            "g": KINDS["formula"],
            "timeout": KINDS["seconds"],
        },
    ),
    "analyze": (
        {"formulas": "a"},
        {
            "formulas": KINDS["formulas"],
            "timeout": KINDS["seconds"],
            "jobs": {"whole"},
        },
    ),
    "automaton": (
        {"formula": "a"},
        {
            "formula": KINDS["formula"],
            "acceptance": {"text"},
            "negate": {"truth"},
            "deterministic": {"truth"},
        },
    ),
    "check": (
        {"system": RING, "formula": "F a"},
        {
            "system": KINDS["system"],
            "formula": KINDS["formula"],
            "automaton": {"none", "text"},
            "empty": {"truth"},
            "progress": KINDS["progress"],
        },
    ),
    "compare": (
        {"system": RING, "formulas": "F a", "emptiness": "se05"},
        {
            "system": KINDS["system"],
            "formulas": KINDS["formulas"],
            "emptiness": KINDS["names"] | {"none"},
            "acceptance": KINDS["names"],
            "grid": {"none", "text", "dict", "empty dict"},
            "repeat": {"whole"},
            "empty": {"truth"},
            "sizes": {"truth"},
            "progress": KINDS["progress"] - {"callable"},
        },
    ),
    "deadlocks": (
        {"system": RING},
        {"system": KINDS["system"], "progress": KINDS["progress"]},
    ),
    "intrpt": ({"formula": "a"}, {"formula": KINDS["formula"]}),
    "is_empty": (
        {"automaton": AUTOMATON},
        {"automaton": {"text"}, "progress": KINDS["progress"]},
    ),
    "is_erasable": (
        {"formula": "a"},
        {"formula": KINDS["formula"], "timeout": KINDS["seconds"]},
    ),
    "is_interruptible": (
        {"formula": "a"},
        {"formula": KINDS["formula"], "timeout": KINDS["seconds"]},
    ),
    "livelock": (
        {"system": RING, "progress_actions": ["a"]},
        {
            "system": KINDS["system"],
            "progress_actions": {"texts"},
            "progress": KINDS["progress"],
        },
    ),
    "load": (
        {"sources": "ring.aut"},
        {
            "sources": {"text", "texts"},
            "format": {"none", "text"},
            "alphabet": {"text"},
        },
    ),
    "parse": (
        {"text": "a"},
        {
            "text": {"text"},
            "file": {"none", "text"},
            "line": {"none", "whole"},
            "past": {"truth"},
            "finite": {"truth"},
        },
    ),
    "product": (
        {"system": RING, "formula": "F a"},
        {
            "system": KINDS["system"],
            "formula": KINDS["formula"],
            "max_states": {"whole"},
            "acceptance": {"text"},
            "deadlock": {"none", "text"},
            "unknown": {"text"},
        },
    ),
    "joint_coverage": ({"frame": ROWS}, {"frame": {"frame"}}),
    "results": ({"path": "r.csv"}, {"path": {"text"}}),
    "save": (
        {"network": RING, "path": "r.aut"},
        {
            "network": {"network"},
            "path": {"text"},
            "format": {"none", "text"},
            "internal": {"none", "text"},
            "unlike": {"texts"},
        },
    ),
    "sccs": (
        {"system": RING},
        {
            "system": KINDS["system"],
            "timeout": KINDS["seconds"],
            "memory": KINDS["seconds"],
            "max_states": {"none", "whole"},
        },
    ),
    "witnesses": (
        {"source": ROWS},
        {"source": {"text", "frame"}, "systems": {"none", "dict", "empty dict"}},
    ),
    "solve": (
        {"tasks": [(RING, "F a")]},
        {
            "tasks": {"text", "texts", "frame"},
            "formulas": KINDS["formulas"] | {"none", "dict", "empty dict"},
            "jobs": {"none", "whole"},
            "store": {"none", "text"},
            "retry": KINDS["names"],
            "grid": {"none", "text", "dict", "empty dict"},
            "engine": {"text"},
            "scheduler": {"none", "text"},
            "attempts": {"whole"},
            "progress": KINDS["progress"] - {"callable"},
        },
    ),
    **{
        f"plots.{name}": (
            {"frame": ROWS} | more,
            {
                "frame": {"frame"},
                "by": {"none", "texts"},
                "value": {"text", *(["none"] if name in OF_SEARCHES else [])},
                **{p: {"none", "text"} for p in ("a", "b", "size", "title")},
            },
        )
        for name, more in {
            "cactus": {},
            "growth": {},
            "scatter": {},
            "verdicts": {},
        }.items()
    },
    "verify": (
        {"path": "run.sqlite"},
        {
            "path": {"text"},
            "system_root": {"none", "text"},
            "timeout": KINDS["seconds"],
        },
    ),
    "verify_certificate": (
        {"certificate": "a.cert"},
        {
            "certificate": {"text"},
            "system": KINDS["system"] | {"none"},
            "system_root": {"none", "text"},
            "timeout": KINDS["seconds"],
            "memory": KINDS["seconds"],
            "progress": KINDS["progress"],
        },
    ),
    "plots.plottable": ({"path": "p.svg"}, {"path": {"text"}}),
    "plots.save": ({"figure": Figure(), "path": "p.svg"}, {"path": {"text"}}),
    "plots.svg_text": ({"figure": Figure()}, {}),
}

NO_FUNCTIONS = {
    *("FormulaError", "InputError", "LtlpipeError", "LtlpipeWarning"),
    *("ReplayError", "UnsupportedError", "Model", "System", "__version__", "plots"),
    # Made by functions of ltlpipe, and by nobody else.
    *("Formula", "Lasso", "LassoStep", "Move", "Plan", "Progress", "Statistics"),
    *("Tried", "Vacuity", "Verdict", "FiniteRun"),
    *("AutomatonRun", "EmptinessResult", "RunStep", "SpotGraph"),
    *("Certificate", "Verification"),
}

KINDS_OF_OPTIONS = {
    str: {"text"},
    float: {"whole", "number"},
    int: {"whole"},
    bool: {"truth"},
    tuple: {"text", "texts"},
    object: {"text"},
}
"""Options are refused by one piece of code: the right ones are tried with `check`."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where calls that are understood write to."""
    return tmp_path_factory.mktemp("arguments")


def function(name):
    found = ltlpipe
    for part in name.split("."):
        found = getattr(found, part)
    return found


def kinds_of_option(name):
    option = OPTIONS[name]
    none = {"none"} if option.default in (None, ()) else set()
    return KINDS_OF_OPTIONS[option.kind] | none


def cases():
    """Yield each parameter of each function, and what is tried: whether it is right."""
    for name, (_, kinds) in FUNCTIONS.items():
        for parameter in inspect.signature(function(name)).parameters:
            if parameter in OPTIONS and parameter not in kinds:
                right = kinds_of_option(parameter)
                tried = VALUES if name == "check" else sorted({*VALUES} - right)
            else:
                right, tried = kinds.get(parameter, set()), VALUES
            kinds_tried = {kind: kind in right for kind in tried}
            yield pytest.param(name, parameter, kinds_tried, id=f"{name}-{parameter}")


def test_every_public_function_is_called():
    """And so is each that `ltlpipe.plots` offers."""
    names = {*ltlpipe.__all__} | {f"plots.{n}" for n in ltlpipe.plots.__all__}
    assert {*FUNCTIONS} - {"LTS.from_transitions"} == names - NO_FUNCTIONS


@pytest.mark.filterwarnings("ignore::ltlpipe.LtlpipeWarning")
@pytest.mark.parametrize(("name", "parameter", "kinds"), list(cases()))
def test_values(name, parameter, kinds, folder, monkeypatch):
    """A wrong one is refused with the parameter's name, a right one is understood.

    One test tries all kinds of values, and names those for which it fails.
    """
    monkeypatch.chdir(folder)
    good, _ = FUNCTIONS[name]
    failures = {}
    for kind, right in kinds.items():
        call = partial(function(name), **good | {parameter: VALUES[kind]})
        try:
            failure = not_understood(call) if right else not_refused(call, parameter)
        except Exception as error:
            failure = repr(error)
        if failure:
            failures[kind] = failure
    assert not failures


def not_understood(call):
    """Call with a right value; whatever is wrong with it is raised."""
    with suppress(LtlpipeError, ValueError):  # there is no such file, action, state
        call()


def not_refused(call, parameter):
    """Return what is missing in the message that refuses a wrong value."""
    try:
        call()
    except (TypeError, LtlpipeError) as error:
        message = str(error)
        named = re.search(rf"(?<!\w){re.escape(parameter)}(?!\w)", message)
        # Our own TypeError says what it expected, one from inside does not.
        ours = not isinstance(error, TypeError) or "expected" in message
        return None if named and ours else message
    return "not refused"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ltlpipe.livelock(RING, "ab"),
            "progress_actions: expected several values, not a str: write ['ab']",
        ),
        (
            lambda: ltlpipe.Network(LTS),
            "components: expected several values, not an LTS: write [an LTS]",
        ),
        (
            lambda: ltlpipe.Network([LTS, "x"]),
            "components[1]: expected an LTS, not a str",
        ),
        (
            lambda: ltlpipe.LTS.from_transitions([(0, "a", 1), (0, "a")]),
            (
                "transitions[1]: expected a triple of a state, a label and a state, "
                "not a tuple"
            ),
        ),
        (
            lambda: ltlpipe.solve([(RING, "F a"), (RING, 3)]),
            "tasks[1]: expected LTL as a text, a Formula or a spot.formula, not an int",
        ),
        (
            lambda: ltlpipe.solve([(3, "F a")]),
            (
                "tasks[0]: a system is a Network or a Model, or what it is read from: "
                "paths, open files or graphs of Spot, not an int"
            ),
        ),
        (
            lambda: ltlpipe.solve(("x.aut", "F a")),
            "tasks: a pair goes into a list: [('x.aut', 'F a')]",
        ),
        (
            lambda: ltlpipe.solve([(RING, "F a")], grid={"emptiness": "se05"}),
            "grid['emptiness']: expected several values, not a str: write ['se05']",
        ),
        (
            lambda: ltlpipe.compare(RING, ["F a", 3]),
            "formulas: expected LTL as a text, a Formula or a spot.formula, not an int",
        ),
    ],
    ids=[
        *("progress_actions", "network", "component", "triple", "pair-formula"),
        *("pair-system", "single-pair", "grid", "formulas"),
    ],
)
def test_messages(call, message):
    """They say which element is meant, and what to write instead."""
    with pytest.raises((TypeError, LtlpipeError)) as error:
        call()
    assert str(error.value) == message
