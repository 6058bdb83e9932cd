"""How users write what can be interchanged: classes, and permutations in cycles.

``P1,P2,P3`` is a class, of which all permutations are meant.  ``(P1 P2 P3)(Q1 Q2 Q3)``
is one permutation: it takes each component of a cycle to the next one, and the last to
the first.  Names in a cycle stand between commas if there are any, else between spaces.
"""

from __future__ import annotations

import re

_CYCLES = re.compile(r"\s*(\([^()]*\)\s*)+")
_CYCLE = re.compile(r"\(([^()]*)\)")


def is_permutation(text: str) -> bool:
    """Whether a text is a permutation, and no class.

    Examples
    --------
    >>> is_permutation("(a b) (c d)"), is_permutation("a,b,c")
    (True, False)
    """
    return _CYCLES.fullmatch(text) is not None


def names_of_class(text: str) -> list[str]:
    """Return the names of a class.

    Examples
    --------
    >>> names_of_class("a, b,c")
    ['a', 'b', 'c']
    """
    return [name.strip() for name in text.split(",")]


def cycles_of(text: str) -> list[list[str]]:
    """Return the cycles of a permutation, as names.

    Examples
    --------
    >>> cycles_of("(a b c)(d, e f)")
    [['a', 'b', 'c'], ['d', 'e f']]
    """
    cycles = []
    for own in _CYCLE.findall(text):
        cycles.append(names_of_class(own) if "," in own else own.split())
    return cycles
