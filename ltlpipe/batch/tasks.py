"""Tasks: a system, a formula or an automaton, and options.

Their sources are in `ltlpipe.batch.task_sources`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, formula_text, identifier
from ltlpipe.runtime.arguments import a_kind
from ltlpipe.runtime.errors import FormulaError, InputError, UnsupportedError
from ltlpipe.systems.graph import SpotGraph
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ltlpipe.systems.models import System


IN_MEMORY = (Network, SpotGraph)
"""Systems that a store and other processes can have without a file."""


@dataclass(frozen=True)
class AutomatonFile:
    """A property given by an automaton of its violations."""

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

    system: System | tuple[str, ...]  # or the files to load it from
    formula: Formula | str | AutomatonFile | FormulaError | InputError
    position: int = 0  # among the formulas of its file
    options: Mapping[str, Any] = field(default_factory=dict)
    number: int | None = None  # which its file gives the formula
    expected: str | None = None  # the verdict that is published with it

    @property
    def system_name(self) -> str:
        """The name of the system."""
        system = self.system
        return " ".join(system) if isinstance(system, tuple) else system.name

    @property
    def columns(self) -> dict[str, str | None]:
        """What the result table calls the system and the question, and expects."""
        formula_id, formula = identity_of(self.formula)
        return {
            "system": self.system_name,
            "formula_id": formula_id,
            "formula": formula,
            "expected": self.expected,
        }


def portable(system: System) -> Network | SpotGraph:
    """Return a system that is in no file, if stores and other processes can have it.

    Raises
    ------
    UnsupportedError
        It is a model.
    """
    if isinstance(system, IN_MEMORY):
        return system
    raise UnsupportedError(
        f"tasks: {a_kind(system)} is solved in this process only: name its file "
        "instead, or leave jobs, store and engine as they are"
    )


def identity_of(
    formula: Formula | str | AutomatonFile | FormulaError | InputError,
) -> tuple[str, str | None]:
    """Return the id of a question, and the text of its formula, if any."""
    if isinstance(formula, str):
        return formula, formula
    if isinstance(formula, InputError):
        return PurePath(formula.file).name, None
    if isinstance(formula, AutomatonFile):
        return formula.name or PurePath(formula.path).name, None
    return identifier(formula), formula_text(formula)
