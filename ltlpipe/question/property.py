"""The property of a question, and which of its names the system has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ltlpipe.question.options import NEVER
from ltlpipe.question.state_propositions import refuse_state_propositions
from ltlpipe.runtime.errors import UnknownNameError, nearest, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.question.options import Options
    from ltlpipe.systems.networks.lts import Network

MEANT = " (--unknown=never treats it as never happening)"


@dataclass(frozen=True)
class Property:
    """A property: a formula, an automaton, or none (any run).

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
    def text(self) -> str:
        """What is asked, as somebody has to know who asks it again."""
        if self.formula is not None:
            return self.formula.text
        return "--empty" if self.is_trivial else str(self.violations.to_str("hoa"))

    @property
    def is_trivial(self) -> bool:
        """Whether any accepting run of the system counts (``--empty``)."""
        return self.formula is None and self.violations is None

    @property
    def has_fin(self) -> bool:
        """Whether it is an automaton whose acceptance has Fin."""
        if self.violations is None:
            return False
        return bool(self.violations.acc().uses_fin_acceptance())


def known_actions(system: Network, asked: Property, options: Options) -> list[str]:
    """Return the propositions that are actions of a system.

    Raises
    ------
    UnknownNameError
        There are others, or visible actions that neither the system nor the property
        has, unless ``options.unknown`` is "never": then there is a warning.
    FormulaError
        One compares values, as if the network had variables.
    """
    index = system.action_index
    refuse_state_propositions(asked.propositions, index, asked.formula)
    names = asked.propositions
    unknown = [name for name in names if name not in index]
    if unknown:
        message = f"no action of the system is called {_listed(unknown)}"
        hidden = {a.name for a in system.actions if a.internal}.intersection(unknown)
        if hidden:
            message = f"no formula can name what is internal: {_listed(sorted(hidden))}"
            refuse_unknown(message, min(hidden), (), asked, options, advice="")
        else:
            refuse_unknown(message, unknown[0], index, asked, options)
    if options.visible is not None:
        known = {*index, *names}
        stray = [name for name in options.visible_actions or [] if name not in known]
        if stray:
            message = (
                "no action of the system and no proposition of the automaton is "
                f"called {_listed(stray)}, which --visible names"
            )
            refuse_unknown(message, stray[0], known, Property(), options, "ignored")
    return [name for name in names if name in index]


def known_names(
    names: Collection[str], asked: Property, options: Options, what: str
) -> list[str]:
    """Return the propositions that are names of a system, which are `what`.

    Raises
    ------
    UnknownNameError
        There are others, as for `known_actions`.
    """
    unknown = [name for name in asked.propositions if name not in names]
    if unknown:
        message = f"no {what} of the system is called {_listed(unknown)}"
        refuse_unknown(message, unknown[0], names, asked, options)
    return [name for name in asked.propositions if name in names]


def refuse_unknown(
    message: str,
    name: str,
    known: Iterable[str],
    asked: Property,
    options: Options,
    otherwise: str = "never true",
    advice: str = MEANT,
) -> None:
    """Refuse an unknown name, or warn of it if ``unknown`` is "never".

    Parameters
    ----------
    message : str
        The message.
    name : str
        The first unknown name.
    known : iterable of str
        The known names; the nearest are suggested.
    otherwise : str
        How it is treated if it is not refused.
    advice : str
        What to do if it is meant.
    """
    formula = asked.formula
    if options.unknown == NEVER:
        if formula is not None and formula.file is not None:
            message += f" ({formula.identifier})"
        warn(f"{message}: {otherwise}")
        return
    text = formula.text if formula else options.visible or "(automaton)"
    raise UnknownNameError(
        f"{message}{nearest(name, known)}{advice}",
        formula=text,
        position=_place_of(name, text),
        file=formula.file if formula else None,
        line=formula.line if formula else None,
    )


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names))


def _place_of(proposition: str, text: str) -> int | None:
    """Return the position of a proposition in a text, if it occurs literally."""
    found = re.search(rf"(?<!\w){re.escape(proposition)}(?!\w)", text)
    return None if found is None else found.start()
