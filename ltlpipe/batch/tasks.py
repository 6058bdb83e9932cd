"""Tasks: a system, a formula or an automaton, and options.

Where they come from is told in `ltlpipe.batch.task_sources`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, formula_text, identifier
from ltlpipe.runtime.errors import FormulaError, InputError
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.lts import Network

if TYPE_CHECKING:
    from collections.abc import Mapping


IN_MEMORY = (Network, SpotGraph)
"""Systems that a task can have without a file."""


@dataclass(frozen=True)
class AutomatonFile:
    """A question that is asked by an automaton of the runs that shall not be."""

    path: str  # a HOA file
    file: str | None = None  # where the task comes from, if from a table
    line: int | None = None
    name: str | None = None  # which automaton it is, if the file may hold several


@dataclass(frozen=True)
class Task:
    """One question about one system.

    The question is an error if it, or the whole file, could not be read.  Options of
    a task go before those of the run.
    """

    system: Network | SpotGraph | tuple[str, ...]  # or the files to load it from
    formula: Formula | str | AutomatonFile | FormulaError | InputError
    position: int = 0  # among the formulas of its file
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def system_name(self) -> str:
        """What the system is known by."""
        if isinstance(self.system, IN_MEMORY):
            return self.system.name
        return " ".join(self.system)

    @property
    def columns(self) -> dict[str, str | None]:
        """What the result table calls the system and the question."""
        formula_id, formula = identity_of(self.formula)
        return {
            "system": self.system_name,
            "formula_id": formula_id,
            "formula": formula,
        }


def identity_of(
    formula: Formula | str | AutomatonFile | FormulaError | InputError,
) -> tuple[str, str | None]:
    """Return what a question is known by, and the text of its formula, if any."""
    if isinstance(formula, str):
        return formula, formula
    if isinstance(formula, InputError):
        return PurePath(formula.file).name, None
    if isinstance(formula, AutomatonFile):
        return formula.name or PurePath(formula.path).name, None
    return identifier(formula), formula_text(formula)
