"""Propositions about states, which a network does not have.

Networks have action semantics: a proposition names an action.  ``send >= 1`` or
``P_1=="CS"`` cannot be a mistyped name, so it is refused whatever ``unknown`` says.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import FormulaError, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.logic.propositions.syntax import Expression

_TRUTHS = ("==", "<", "<=", "!", "&&", "||")
_SUSPECT = re.compile(r"[=<>!&|(]")
_SHOWN = 3  # actions that a message offers


def refuse_state_propositions(
    propositions: Iterable[str], actions: Collection[str], formula: Formula | None
) -> None:
    """Refuse comparisons of values among the propositions that name no action.

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
