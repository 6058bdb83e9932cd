"""The public face: what `import ltlpipe` offers, and its errors."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import ltlpipe
from ltlpipe import (
    FormulaError,
    InputError,
    LtlpipeError,
    LtlpipeWarning,
    ReplayError,
    UnsupportedError,
)
from ltlpipe.question.options import OPTIONS
from ltlpipe.runtime import errors

CONTRACT = [
    *("load", "check", "solve", "analyze"),
    *("InputError", "FormulaError", "UnsupportedError"),
]

ERRORS = {
    "input": InputError("found 1, expected 2", file="x.dot", line=3),
    "formula": FormulaError("wrong", formula="G é a", position=4, file="f.ltl", line=2),
    "replay": ReplayError("the cycle does not close"),
    "unsupported": UnsupportedError("not in this version; use se05"),
    "any": LtlpipeError("something"),
}


def run_python(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize("name", ltlpipe.__all__)
def test_every_public_name_is_there(name):
    """`__all__` promises nothing that the module does not give."""
    assert getattr(ltlpipe, name) is not None
    assert name in dir(ltlpipe)


def test_every_name_that_is_given_is_public():
    """Lazily loaded names, errors and the version: nothing beside `__all__`."""
    eager = {
        name
        for name, value in vars(ltlpipe).items()
        if getattr(value, "__module__", "") == "ltlpipe.runtime.errors"
    }
    lazy = set(ltlpipe._PLACES)

    assert eager | lazy | {"__version__", "plots"} == set(ltlpipe.__all__)
    assert set(CONTRACT) <= set(ltlpipe.__all__)


def test_names_come_from_where_they_are_defined():
    """A lazy name is the object itself."""
    for name, place in ltlpipe._PLACES.items():
        assert getattr(ltlpipe, name) is getattr(importlib.import_module(place), name)
        if name != "System":  # a union of types
            assert getattr(ltlpipe, name).__module__ == place


def test_no_other_name():
    """As for any module."""
    with pytest.raises(
        AttributeError, match="module 'ltlpipe' has no attribute 'nope'"
    ):
        ltlpipe.nope  # noqa: B018
    with pytest.raises(ImportError):
        from ltlpipe import nope  # noqa: F401


def test_importing_is_light():
    """Nothing that takes time is loaded before it is used."""
    loaded = run_python("import ltlpipe, sys; print(*sys.modules)")

    heavy = {"numpy", "numba", "spot", "buddy", "pandas", "pyarrow", "lark", "typer"}
    assert not heavy & set(loaded)


def test_plots_are_a_module():
    """By any way to import one; matplotlib is loaded when a plot is made."""
    code = "import sys, ltlpipe; ltlpipe.plots.cactus; from ltlpipe import plots; "
    code += "import ltlpipe.plots as same; print(plots is same, *sys.modules)"
    same, *loaded = run_python(code)

    assert same == "True"
    assert "matplotlib" not in loaded
    import ltlpipe.report.plots as inner

    assert ltlpipe.plots.__all__ == inner.__all__
    for name in inner.__all__:
        assert getattr(ltlpipe.plots, name) is getattr(inner, name)


def test_loading_a_system_needs_no_search():
    """Nor does it need Spot, Numba or pandas."""
    loaded = run_python("import ltlpipe, sys; ltlpipe.load; print(*sys.modules)")

    assert not {"numba", "spot", "pandas", "pyarrow"} & set(loaded)


@pytest.mark.parametrize(
    "name",
    [
        "ltlpipe",
        "ltlpipe.systems.networks.lts",
        "ltlpipe.logic.formulas",
        "ltlpipe.logic.actions",
        "ltlpipe.logic.interruptible",
        "ltlpipe.logic.occurrences",
        "ltlpipe.batch.analyzing",
        "ltlpipe.report.chart",
        "ltlpipe.report.chart_rows",
        "ltlpipe.report.lasso_pictures",
        "ltlpipe.verdict.checking",
        "ltlpipe.simulation.simulation",
        "ltlpipe.verdict.explicit_product",
        "ltlpipe.runtime.arguments",
        "ltlpipe.runtime.names",
    ],
)
def test_examples_in_docstrings(name):
    """They run, and give what they say."""
    failures, tried = doctest.testmod(importlib.import_module(name))

    assert (failures, tried > 0) == (0, True)


def test_options_are_parameters_of_check():
    """Under the same names, with the defaults that are declared."""
    parameters = inspect.signature(ltlpipe.check).parameters

    declared = {name: option.default for name, option in OPTIONS.items()}
    assert declared == {name: parameters[name].default for name in OPTIONS}


def test_tree_of_errors():
    """One root to catch, and the kinds that are documented."""
    kinds = {InputError, FormulaError, ReplayError, UnsupportedError}
    kinds |= {errors.RoomError}  # for whoever asks about a system, and asks again

    assert set(LtlpipeError.__subclasses__()) == kinds
    assert all(kind.__bases__ == (LtlpipeError,) for kind in kinds)
    assert LtlpipeError.__bases__ == (Exception,)
    assert issubclass(LtlpipeWarning, UserWarning)


def test_messages():
    """File and line first, then what is wrong, then the place."""
    assert str(ERRORS["input"]) == "x.dot:3: found 1, expected 2"
    assert str(InputError("empty", file="x.dot")) == "x.dot: empty"
    assert str(ERRORS["formula"]) == "f.ltl:2: wrong\n  G é a\n      ^"
    assert str(FormulaError("wrong", formula="a b")) == "formula: wrong\n  a b"


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_travel_between_processes(kind):
    """Pickled, they keep their message and their attributes."""
    error = ERRORS[kind]

    copy = pickle.loads(pickle.dumps(error))

    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
