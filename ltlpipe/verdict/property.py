"""What is asked of a system, and which of its names the system knows."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import FormulaError, LtlpipeWarning

if TYPE_CHECKING:
    from ltlpipe.logic.formulas import Formula
    from ltlpipe.systems.lts import Network
    from ltlpipe.verdict.options import Options


@dataclass(frozen=True)
class Property:
    """What is asked of a system: a formula, an automaton, or nothing but a run.

    Parameters
    ----------
    formula : Formula, optional
        Shall hold on every run.
    violations : spot.twa_graph, optional
        Accepts the runs that shall not be.
    """

    formula: Formula | None = None
    violations: Any = None

    @property
    def propositions(self) -> tuple[str, ...]:
        """The propositions that it names, sorted."""
        if self.formula is not None:
            return self.formula.propositions
        if self.violations is not None:
            return tuple(sorted(p.ap_name() for p in self.violations.ap()))
        return ()

    @property
    def is_trivial(self) -> bool:
        """Whether every run that the system accepts is wanted (``--empty``)."""
        return self.formula is None and self.violations is None

    @property
    def has_fin(self) -> bool:
        """Whether it is an automaton whose acceptance has Fin."""
        if self.violations is None:
            return False
        return bool(self.violations.acc().uses_fin_acceptance())


def known_actions(system: Network, asked: Property, options: Options) -> list[str]:
    """Return the propositions that are actions of a system; warn of the others.

    Visible actions that neither the system nor the property knows are warned of,
    too.

    Raises
    ------
    FormulaError
        There are others, and ``options.strict`` forbids them.
    """
    index = system.action_index
    names = asked.propositions
    formula = asked.formula
    unknown = [name for name in names if name not in index]
    if unknown:
        message = f"no action of the system is called {_listed(unknown)}"
        text = formula.text if formula else "(automaton)"
        _complain(message, "never true", unknown[0], text, formula, options)
    if options.visible is not None:
        known = {*index, *names}
        stray = [name for name in options.visible_actions or [] if name not in known]
        if stray:
            message = (
                "no action of the system and no proposition of the automaton is "
                f"called {_listed(stray)}, which --visible names"
            )
            _complain(message, "ignored", stray[0], options.visible, None, options)
    return [name for name in names if name in index]


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _complain(
    message: str,
    consequence: str,
    name: str,
    text: str,
    formula: Formula | None,
    options: Options,
) -> None:
    """Refuse the unknown `name` in `text` if `options` are strict, else warn of it."""
    if options.strict:
        raise FormulaError(
            message,
            formula=text,
            position=_place_of(name, text),
            file=formula.file if formula else None,
            line=formula.line if formula else None,
        )
    if formula is not None and formula.file is not None:
        message += f" ({formula.identifier})"
    # For whoever calls `check`, which calls `Task.run`.
    warnings.warn(f"{message}: {consequence}", LtlpipeWarning, stacklevel=5)


def _place_of(proposition: str, text: str) -> int | None:
    """Return where a text names a proposition, if it does so literally."""
    found = re.search(rf"(?<!\w){re.escape(proposition)}(?!\w)", text)
    return None if found is None else found.start()
