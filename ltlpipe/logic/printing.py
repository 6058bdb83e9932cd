"""Formulas in the syntax that all translators of LTL read.

Tools agree on ``!``, ``&&``, ``||``, ``->``, ``<->``, ``X``, ``F``, ``G`` and ``U``
in parentheses; release, weak until and others are called or parsed differently, or
missing.  They are written with U, by their definitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ltlpipe.logic.folding import fold
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LENGTH = 100_000
"""Characters that a formula may have: an argument of a program ends at 128 KiB."""

_FORMS = {
    "tt": "true",
    "ff": "false",
    "Not": "!{0}",
    "X": "X {0}",
    "F": "F {0}",
    "G": "G {0}",
    "Implies": "{0} -> {1}",
    "Equiv": "{0} <-> {1}",
    "Xor": "!({0} <-> {1})",
    "U": "{0} U {1}",
    "R": "!(!{0} U !{1})",
    "W": "({0} U {1}) || (G {0})",
    "M": "{1} U ({0} && {1})",
}


def portable_text(formula: Any, names: Mapping[str, str]) -> str:
    """Return a formula as any translator reads it.

    Parameters
    ----------
    formula : spot.formula
        LTL.
    names : mapping
        What its propositions are called.

    Raises
    ------
    UnsupportedError
        The text would be longer than `MAX_LENGTH`, or the formula is no LTL.
    """

    def combine(node: Any, kind: str, parts: list[str]) -> str:
        if kind == "ap":
            return names[node.ap_name()]
        if kind in ("And", "Or"):
            text = (" && " if kind == "And" else " || ").join(parts)
        else:
            text = _FORMS[kind].format(*parts)
        if len(text) > MAX_LENGTH:
            raise UnsupportedError(
                f"the formula has more than {MAX_LENGTH:,} characters in the syntax of "
                "other translators: use Spot's translation"
            )
        return text if kind in ("tt", "ff") else f"({text})"

    return fold(formula, combine)
