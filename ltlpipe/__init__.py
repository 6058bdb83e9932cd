"""LTL formulas and systems in, trustworthy verdicts out.

The names below are the public interface; each is loaded when it is first used,
so that ``import ltlpipe`` costs nothing.

Examples
--------
>>> import ltlpipe
>>> ring = ltlpipe.Network([ltlpipe.LTS.from_transitions([(0, "a", 1), (1, "b", 0)])])
>>> ltlpipe.check(ring, "G(a -> F b)").verdict
'holds'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ltlpipe._version import __version__
from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    LtlpipeError,
    LtlpipeWarning,
    ReplayError,
    UnsupportedError,
)
from ltlpipe.runtime.loading import count_imports
from ltlpipe.runtime.objects import load_with

if TYPE_CHECKING:
    from types import ModuleType

    from ltlpipe import plots
    from ltlpipe.automata.translation import automaton
    from ltlpipe.batch.analyzing import analyze
    from ltlpipe.batch.comparing import compare
    from ltlpipe.batch.results import joint_coverage, results
    from ltlpipe.batch.shared_runs import witnesses
    from ltlpipe.batch.solving import solve
    from ltlpipe.batch.verifying import verify
    from ltlpipe.certificates.checking.verification import (
        Verification,
        verify_certificate,
    )
    from ltlpipe.certificates.writing import Certificate
    from ltlpipe.logic.actions import action_equivalent
    from ltlpipe.logic.erasable import is_erasable
    from ltlpipe.logic.formulas import Formula, parse
    from ltlpipe.logic.interruptible import intrpt, is_interruptible
    from ltlpipe.question.answer import Plan, Statistics, Tried
    from ltlpipe.report.chart import Chart
    from ltlpipe.runtime.jobs import Progress
    from ltlpipe.search.scc.scc_enumeration import sccs
    from ltlpipe.simulation.simulation import Simulation
    from ltlpipe.systems.graph import SpotGraph
    from ltlpipe.systems.models import Model, System
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.plain_steps import Move
    from ltlpipe.systems.reading import load
    from ltlpipe.systems.writing import save
    from ltlpipe.verdict.checking import (
        AutomatonRun,
        EmptinessResult,
        RunStep,
        check,
        is_empty,
        livelock,
    )
    from ltlpipe.verdict.explicit_product import product
    from ltlpipe.verdict.lasso import FiniteRun, Lasso, LassoStep
    from ltlpipe.verdict.verdict import Vacuity, Verdict

_NAMES = {
    "ltlpipe.automata.translation": "automaton",
    "ltlpipe.batch.analyzing": "analyze",
    "ltlpipe.batch.comparing": "compare",
    "ltlpipe.batch.results": "joint_coverage results",
    "ltlpipe.batch.shared_runs": "witnesses",
    "ltlpipe.batch.solving": "solve",
    "ltlpipe.batch.verifying": "verify",
    "ltlpipe.certificates.checking.verification": "Verification verify_certificate",
    "ltlpipe.certificates.writing": "Certificate",
    "ltlpipe.logic.actions": "action_equivalent",
    "ltlpipe.logic.erasable": "is_erasable",
    "ltlpipe.logic.formulas": "Formula parse",
    "ltlpipe.logic.interruptible": "intrpt is_interruptible",
    "ltlpipe.question.answer": "Plan Statistics Tried",
    "ltlpipe.report.chart": "Chart",
    "ltlpipe.runtime.jobs": "Progress",
    "ltlpipe.search.scc.scc_enumeration": "sccs",
    "ltlpipe.simulation.simulation": "Simulation",
    "ltlpipe.systems.graph": "SpotGraph",
    "ltlpipe.systems.models": "Model System",
    "ltlpipe.systems.networks.lts": "LTS Network",
    "ltlpipe.systems.plain_steps": "Move",
    "ltlpipe.systems.reading": "load",
    "ltlpipe.systems.writing": "save",
    "ltlpipe.verdict.checking": "AutomatonRun EmptinessResult RunStep check deadlocks "
    "is_empty livelock",
    "ltlpipe.verdict.explicit_product": "product",
    "ltlpipe.verdict.lasso": "FiniteRun Lasso LassoStep",
    "ltlpipe.verdict.verdict": "Vacuity Verdict",
}
"""The names that modules of the package define, by these modules."""

_PLACES = {name: place for place, names in _NAMES.items() for name in names.split()}

__all__ = [
    "LTS",
    "AutomatonRun",
    "Certificate",
    "Chart",
    "EmptinessResult",
    "FiniteRun",
    "Formula",
    "FormulaError",
    "InputError",
    "Lasso",
    "LassoStep",
    "LtlpipeError",
    "LtlpipeWarning",
    "Model",
    "Move",
    "Network",
    "Plan",
    "Progress",
    "ReplayError",
    "RunStep",
    "Simulation",
    "SpotGraph",
    "Statistics",
    "System",
    "Tried",
    "UnsupportedError",
    "Vacuity",
    "Verdict",
    "Verification",
    "__version__",
    "action_equivalent",
    "analyze",
    "automaton",
    "check",
    "compare",
    "deadlocks",
    "intrpt",
    "is_empty",
    "is_erasable",
    "is_interruptible",
    "joint_coverage",
    "livelock",
    "load",
    "parse",
    "plots",
    "product",
    "results",
    "save",
    "sccs",
    "solve",
    "verify",
    "verify_certificate",
    "witnesses",
]


def _notebook() -> ModuleType:
    """Return the renderer of objects in notebooks, loaded on first use."""
    from ltlpipe.report import notebook

    return notebook


def _spot_output() -> ModuleType:
    """Return the converter from systems to graphs of Spot, loaded on first use."""
    from ltlpipe.systems import spot_output

    return spot_output


count_imports()
load_with(renderer=_notebook, graphs=_spot_output)


def __getattr__(name: str) -> Any:
    if name == "plots":
        return import_module("ltlpipe.plots")
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'ltlpipe' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
