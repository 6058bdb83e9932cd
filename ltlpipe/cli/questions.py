"""Questions on the command line: formulas, automata, properties of a model."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ltlpipe.logic.history import PLAIN
from ltlpipe.runtime.errors import FormulaError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.history import Dialect
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.models import System

ONE_QUESTION = (
    "expected one of -f FORMULA, -F FILE, --automaton FILE, --empty; a Promela model "
    "has properties of its own, also -N NAME"
)


class Asked(NamedTuple):
    """What is asked: one of these, or else whatever the model asks."""

    texts: list[str]  # of formulas
    file: str | None  # of formulas
    automaton: str | None
    empty: bool
    own: list[str]  # names of the model's own properties

    @property
    def is_given(self) -> bool:
        """Whether it is not the model that asks."""
        return bool(self.texts or self.file or self.automaton or self.empty)

    def questions(self, dialect: Dialect) -> list[Property | FormulaError]:
        """Return the questions as far as they are known before the system is read."""
        from ltlpipe.question.property import Property

        has_formulas = bool(self.texts or self.file)
        ways = (has_formulas, self.automaton is not None, self.empty, bool(self.own))
        if sum(ways) > 1:
            raise typer.BadParameter(ONE_QUESTION)
        if self.own:
            return [Property(name=name) for name in self.own]
        if not has_formulas:
            own = None if self.empty else "what the system itself asks"
            return [Property(name=self.automaton or own)]
        found = formulas_of(self.texts, self.file, dialect)
        if len(found) == 1 and self.file is None and isinstance(found[0], FormulaError):
            raise found[0]
        return [f if isinstance(f, FormulaError) else Property(f) for f in found]

    def of_system(
        self,
        system: System,
        automaton: str | None,
        questions: list[Property | FormulaError],
        read: Callable[[Job[Any]], Any],
    ) -> list[Property | FormulaError]:
        """Return the questions about a system, which may have some of its own.

        `automaton` accepts the violations, also those of a property of the system;
        `read` runs a job.
        """
        from ltlpipe.question.property import Property
        from ltlpipe.verdict.checking import automaton_job

        if automaton is not None:
            return [Property(violations=read(automaton_job(automaton)), name=automaton)]
        return questions if self.is_given else list(_own(system, self.own, read))


def _own(
    system: System, names: list[str], read: Callable[[Job[Any]], Any]
) -> Iterator[Property]:
    """Yield what a model itself asks; by their names, if some are named."""
    from ltlpipe.logic.formulas import parse
    from ltlpipe.question.property import Property
    from ltlpipe.runtime.names import nearest
    from ltlpipe.verdict.checking import automaton_job

    known = {own.name: own for own in getattr(system, "own_questions", ())}
    if not known:
        raise typer.BadParameter(ONE_QUESTION)
    for name in names:
        if name not in known:
            message = f"no property of the model is called {name!r}"
            raise UnsupportedError(message + nearest(name, known))
    for name in names or known:
        own = known[name]
        if own.formula is None:
            violations = read(automaton_job(own.automaton))
            yield Property(violations=violations, name=name)
            continue
        formula = parse(own.formula)
        if own.written is not None:
            with suppress(FormulaError):  # it is in another syntax
                written = parse(own.written)
                formula = written if written.spot == formula.spot else formula
        yield Property(replace(formula, name=name))


def formulas_of(
    texts: list[str], file: str | None, dialect: Dialect = PLAIN
) -> list[Formula | FormulaError]:
    """Return the formulas of -f and then those of the file of -F.

    One that cannot be read is its error.
    """
    from ltlpipe.logic import formulas
    from ltlpipe.logic.formula_files import read_formulas

    found = formulas.formulas_of(texts, dialect=dialect)
    if file is not None:
        read = read_formulas(file, collect_errors=True)
        found.extend(formulas.reread(each, dialect) for each in read)
    return found
