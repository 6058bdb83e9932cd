"""Reading acceptance conditions as HOA writes them.

Source: T. Babiak et al., "The Hanoi Omega-Automata Format", CAV 2015, LNCS 9206,
pp. 479-486.

Differences from the source: negated sets (``Inf(!0)``) are not read; Spot replaces
them when it reads an automaton.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ltlpipe.automata.conditions import (
    FALSE,
    TRUE,
    Condition,
    conjunction,
    disjunction,
    fin,
    inf,
)
from ltlpipe.runtime.errors import FormulaError, UnsupportedError

MAX_NESTING = 100
"""How deep the parentheses of a condition may be."""

_GRAMMAR = r"""
?disjunction: conjunction | disjunction "|" conjunction -> either
?conjunction: term | conjunction "&" term -> both
?term: "(" disjunction ")" | "Inf" "(" MARK ")" -> inf | "Fin" "(" MARK ")" -> fin
     | "t" -> true | "f" -> false
MARK: /[0-9]+/
%ignore /[ \t\r\n]+/
"""


@cache
def _parser() -> Any:
    from lark import Lark, Transformer

    class Build(Transformer):  # type: ignore[type-arg]
        def either(self, parts: list[Condition]) -> Condition:
            return disjunction(parts)

        def both(self, parts: list[Condition]) -> Condition:
            return conjunction(parts)

        def inf(self, parts: list[str]) -> Condition:
            return inf(_number(parts[0]))

        def fin(self, parts: list[str]) -> Condition:
            return fin(_number(parts[0]))

        def true(self, _: list[str]) -> Condition:
            return TRUE

        def false(self, _: list[str]) -> Condition:
            return FALSE

    return Lark(_GRAMMAR, start="disjunction", parser="lalr", transformer=Build())


def _number(digits: str) -> int:
    """Return a number, or one that is large if it has too many digits to matter."""
    return int(digits[-9:]) if not digits[:-9].strip("0") else 10**9


def parse_condition(text: str) -> Condition:
    """Read a condition as HOA writes it.

    Raises
    ------
    FormulaError
        `text` is none; with the position of the error.
    UnsupportedError
        It has a mark above 31, or too many nested parentheses.

    Examples
    --------
    >>> print(parse_condition("Fin(0) & Inf(1) | Inf(2)"))
    (Fin(0)&Inf(1))|Inf(2)
    """
    from lark import UnexpectedInput, UnexpectedToken

    _refuse_nesting(text)
    try:
        parsed: Condition = _parser().parse(text)
    except UnexpectedInput as error:
        ended = isinstance(error, UnexpectedToken) and error.token.type == "$END"
        raise FormulaError(
            "expected an acceptance condition, such as (Fin(0)&Inf(1))|Inf(2)",
            formula=text,
            position=len(text) if ended else error.pos_in_stream,
        ) from None
    return parsed


def _refuse_nesting(text: str) -> None:
    depth = deepest = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_NESTING:
        raise UnsupportedError(
            f"the acceptance condition has {deepest} nested parentheses, "
            f"the limit is {MAX_NESTING}"
        )
