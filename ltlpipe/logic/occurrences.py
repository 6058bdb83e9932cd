"""Occurrences of subformulas: their polarity, and the formula without one of them.

An occurrence is positive if it is under an even number of negations; the left side of
an implication counts as negated.  A formula is monotone in a positive occurrence and
antitone in a negative one.  So no replacement of the occurrence gives a stronger
formula than false does, or, if it is negative, true.

``f <-> g`` and ``f xor g`` have both polarities.  They are written with conjunctions
first, ``(f & g) | (!f & !g)`` and ``(f & !g) | (!f & g)``, in which ``f`` and ``g``
occur twice: each occurrence for itself has one polarity.

Source of polarity and replacements: O. Kupferman and M. Y. Vardi, "Vacuity Detection in
Temporal Model Checking", STTT 4 (2003), pp. 224-233.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ltlpipe.logic.formulas import Formula, fold, kind_of, means, rebuilt
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_OCCURRENCES = 500
"""Occurrences of subformulas that a formula may have."""

_UNWRITTEN = frozenset("\"'\\ \t\r\n()")
"""What Spot may write otherwise than the user: blanks, quotes and parentheses."""

_MOST_UNWRITTEN = 8
"""How many of these are tried before and behind a subformula."""


@dataclass(frozen=True)
class Occurrence:
    """One place of a subformula.

    Parameters
    ----------
    formula : spot.formula
        The subformula.
    positive : bool
        Whether the whole is monotone in it.
    stronger : spot.formula
        The whole with false in its place, or true if it is negative.
    size : int
        Operators and propositions in it, each as often as it occurs.
    n_leaves : int
        The propositions among these.
    """

    formula: Any
    positive: bool
    stronger: Any
    size: int
    n_leaves: int
    first_leaf: int = field(repr=False)  # the number of the first of its leaves

    @property
    def leaves(self) -> range:
        """The numbers of its leaves, among all of the formula from left to right."""
        return range(self.first_leaf, self.first_leaf + self.n_leaves)

    @property
    def is_leaf(self) -> bool:
        """Whether it is a proposition."""
        return bool(self.formula.kindstr() == "ap")


def occurrences(formula: Any) -> list[Occurrence]:
    """Return the occurrences of subformulas, each before those within it.

    The formula itself is the first.  Constants are left out.

    Parameters
    ----------
    formula : spot.formula
        A formula of LTL.

    Raises
    ------
    UnsupportedError
        There are more than `MAX_OCCURRENCES`, or an operator of PSL.

    Examples
    --------
    >>> import spot
    >>> for each in occurrences(spot.formula("G(a -> F b)")):
    ...     print(each.formula, each.stronger)
    G(a -> Fb) 0
    a -> Fb 0
    a GFb
    Fb G!a
    b G!a
    """
    if (number := _n_occurrences(formula)) > MAX_OCCURRENCES:
        raise UnsupportedError(
            f"the formula has {number:,} occurrences of subformulas, expected at most "
            f"{MAX_OCCURRENCES}"
        )
    return list(_found(_Place(_without_equivalences(formula), True, None, 0)))


@dataclass(frozen=True)
class _Place:
    """Where an occurrence is: an operand of its parent."""

    formula: Any
    positive: bool
    parent: _Place | None
    number: int  # among the operands of the parent

    def below(self) -> list[_Place]:
        """Return the places of the operands."""
        kind = self.formula.kindstr()
        flipped = {"Not": 1, "Implies": 1}.get(kind, 0)  # so many of the operands
        return [
            _Place(operand, self.positive != (number < flipped), self, number)
            for number, operand in enumerate(self.formula)
        ]

    def stronger(self) -> Any:
        """Return the whole with the strongest replacement in this place."""
        value, place = constant(not self.positive), self
        while place.parent is not None:
            operands = list(place.parent.formula)
            operands[place.number] = value
            value = rebuilt(kind_of(place.parent.formula), operands)
            place = place.parent
        return value


def _found(whole: _Place) -> Iterator[Occurrence]:
    """Yield the occurrences, outer ones and those on the left first."""
    stack, n_leaves = [whole], 0
    while stack:
        place = stack.pop()
        size, within = _measured(place.formula)
        if within:
            yield Occurrence(
                place.formula, place.positive, place.stronger(), size, within, n_leaves
            )
        n_leaves += place.formula.kindstr() == "ap"
        stack += reversed(place.below())


def _measured(formula: Any) -> tuple[int, int]:
    """Return `size` and `n_leaves` of an occurrence."""

    def combine(_: Any, kind: str, below: list[tuple[int, int]]) -> tuple[int, int]:
        size, leaves = map(sum, zip(*below, strict=True)) if below else (0, 0)
        return size + 1, leaves + (kind == "ap")

    return fold(formula, combine)


def _n_occurrences(formula: Any) -> int:
    """Return how many there are once equivalences have been written otherwise."""

    def combine(_: Any, kind: str, below: list[int]) -> int:
        doubled = 2 if kind in ("Equiv", "Xor") else 1
        return doubled * (sum(below) + 1) + 2 * (doubled - 1)

    return fold(formula, combine)


def _without_equivalences(formula: Any) -> Any:
    """Write equivalences and exclusive disjunctions so that each place has a sign."""
    import spot

    both, either, no = spot.formula_And, spot.formula_Or, spot.formula_Not

    def combine(node: Any, kind: str, below: list[Any]) -> Any:
        if kind not in ("Equiv", "Xor"):
            return rebuilt(kind, below) if below else node
        left, right = below
        other = no(right) if kind == "Xor" else right
        return either([both([left, other]), both([no(left), no(other)])])

    return fold(formula, combine)


def constant(value: bool) -> Any:
    """Return Spot's formula true or false."""
    import spot

    return spot.formula_tt() if value else spot.formula_ff()


def written(part: Any, whole: Formula) -> str:
    """Return a subformula as the user has written it, or else as Spot writes it.

    Examples
    --------
    >>> from ltlpipe.logic.formulas import parse
    >>> whole = parse('G(req -> F( P=="CS" ))')
    >>> written(whole.spot[0][1], whole)
    'F( P=="CS" )'
    """
    import spot

    is_name = part.kindstr() == "ap"
    plain = part.ap_name() if is_name else str(spot.str_psl(part))
    wanted = "".join(c for c in plain if c not in _UNWRITTEN)
    places = [k for k, c in enumerate(whole.text) if c not in _UNWRITTEN]
    text = "".join(whole.text[k] for k in places)
    begin = text.find(wanted)
    while begin >= 0 and wanted:
        first, last = places[begin], places[begin + len(wanted) - 1]
        for shown in _around(whole.text, first, last + 1):
            if means(shown, part):
                return shown
        begin = text.find(wanted, begin + 1)
    return plain


def _around(text: str, start: int, end: int) -> Iterator[str]:
    """Yield a part of a text with more and more of what is not written by Spot."""
    before = len(text[:start]) - len(text[:start].rstrip("".join(_UNWRITTEN)))
    behind = len(text[end:]) - len(text[end:].lstrip("".join(_UNWRITTEN)))
    extents = [
        (less, more)
        for less in range(min(before, _MOST_UNWRITTEN) + 1)
        for more in range(min(behind, _MOST_UNWRITTEN) + 1)
    ]
    for less, more in sorted(extents, key=sum):
        yield text[start - less : end + more].strip()
