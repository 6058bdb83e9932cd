"""The property of a question, and which of its names the system has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ltlpipe.question.options import NEVER
from ltlpipe.runtime.errors import FormulaError, UnknownNameError, listed, nearest, warn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.question.options import Options
    from ltlpipe.systems.networks.lts import Network

MEANT = " (--unknown=never treats it as never happening)"

_TRUTHS = ("==", "<", "<=", "!", "&&", "||")
_SUSPECT = re.compile(r"[=<>!&|(]")
_SHOWN = 3  # actions that a message offers


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
    _refuse_state_propositions(asked.propositions, index, asked.formula)
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


def _refuse_state_propositions(
    propositions: Iterable[str], actions: Collection[str], formula: Formula | None
) -> None:
    """Refuse comparisons of values among the propositions that name no action.

    A proposition of a network names an action: ``send >= 1`` or ``P_1=="CS"`` cannot be
    a mistyped name, so it is refused whatever ``unknown`` says.

    Parameters
    ----------
    propositions : iterable of str
        What a property names; those that are actions are passed over.
    actions : collection of str
        What the network's actions are called.
    formula : Formula, optional
        Where they come from, if not from an automaton.

    Raises
    ------
    FormulaError
        Says what to write instead.
    """
    for text in propositions:
        expression = None if text in actions else _about_states(text)
        if expression is None:
            continue
        names = list(_names(expression))
        named = [name for name in names if name in actions]
        known = [repr(name) for name in named or islice(actions, _SHOWN)]
        offered = f", such as {listed(known)}" if known else ""
        written = formula.text if formula else text
        places = [place for n in names if (place := written.find(n)) >= 0]
        raise FormulaError(
            f"{text} is about states, but a network has actions and no variables; "
            f"write the name of an action{offered}, which is true at the steps that "
            "take it",
            formula=written,
            position=min(places, default=None),
            file=formula.file if formula else None,
            line=formula.line if formula else None,
        )


def _about_states(text: str) -> Expression | None:
    """Return the operands of a comparison; None if it can only be a name."""
    if not _SUSPECT.search(text):
        return None
    from ltlpipe.logic.propositions.parsing import parse_proposition
    from ltlpipe.logic.propositions.syntax import Call, Operation

    try:
        found = parse_proposition(text)
    except FormulaError:  # a label such as "PUT !1"
        return None
    compares = isinstance(found, Operation) and found.operator in _TRUTHS
    return found if compares or isinstance(found, Call) else None


def _names(expression: Expression) -> Iterator[str]:
    """Yield the names and texts in an expression, from left to right."""
    from ltlpipe.logic.propositions.syntax import Call, Element, Name, Operation, Text

    if isinstance(expression, Operation):
        for operand in expression.operands:
            yield from _names(operand)
    elif isinstance(expression, Element):
        yield expression.array
    elif isinstance(expression, Call):
        yield from expression.arguments
    elif isinstance(expression, Name):
        yield expression.text
    elif isinstance(expression, Text):
        yield expression.value
