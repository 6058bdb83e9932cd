"""Terms of symmetric nets from XML: multisets of tuples, and guards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.xml import local_name
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    ENUMERATION,
    RANGE,
    TRUE,
    AllOf,
    AnyOf,
    Bound,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sum,
    Tokens,
    scaled,
)

if TYPE_CHECKING:
    from ltlpipe.runtime.xml import Known
    from ltlpipe.systems.nets.coloured.declarations import Declarations
    from ltlpipe.systems.nets.coloured.net import Guard, Multiset
    from ltlpipe.systems.nets.elements import NetReader

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_RELATIONS = {
    "equality": "==",
    "inequality": "!=",
    "lessthan": "<",
    "lessthanorequal": "<=",
    "greaterthan": ">",
    "greaterthanorequal": ">=",
}
_PARTS = {"ltp": "<", "gtp": ">"}
_CONSTANTS = {"useroperator", "finiteintrangeconstant", "dotconstant"}
_MULTISETS = (
    "a multiset: <numberof>, <add>, <subtract>, <all>, <tuple>, a variable or a "
    "constant"
)
_OPERATORS = "add subtract numberof scalarproduct and or not imply tuple all empty"
_OPERATORS += " successor predecessor subterm"
TERM_ELEMENTS: Known = {
    **dict.fromkeys((*_OPERATORS.split(), *_RELATIONS, *_PARTS), ("", None)),
    "partitionelementof": ("refpartition", None),
    "variable": ("refvariable", ""),
    "useroperator": ("declaration", ""),
    "dotconstant": ("", ""),
    "booleanconstant": ("value", "bool"),
    "finiteintrangeconstant": ("value", "finiteintrange"),
    "numberconstant": ("value", "positive natural integer"),
    **dict.fromkeys(("bool", "positive", "natural", "integer"), ("", "")),
}
"""The elements of terms; whoever reads them refuses children of another kind."""
_GUARDS = "a guard: a comparison, <and>, <or>, <not> or <imply>"


class _All(NamedTuple):
    """An entry of a tuple that is ``<all>``, or a component of that."""

    element: Any
    sort: int


class TermReader:
    """Reads the terms of one net, whose declarations are known."""

    def __init__(self, reader: NetReader, declared: Declarations) -> None:
        self._reader = reader
        self._declared = declared

    def multiset(self, element: Any, domain: tuple[int, ...]) -> Multiset:
        """Return the multiset of tuples that a term is; `domain` are their sorts."""
        kind = local_name(element)
        if kind == "add":
            parts = (self.multiset(term, domain) for term in self._terms(element, 1))
            return Sum(tuple(parts))
        if kind == "subtract":
            first, *others = self._terms(element, 2)
            left = self.multiset(first, domain)
            for other in others:
                left = Difference(left, self.multiset(other, domain))
            return left
        if kind in ("numberof", "scalarproduct"):
            number, what = self._terms(element, 2, most=2)
            return scaled(self.multiset(what, domain), self._number(number))
        if kind == "empty":
            return EMPTY
        entries = self._entries(element)
        if len(entries) != len(domain):
            self._reader.refuse(
                element,
                f"<{kind}> of {len(entries)} colours, expected {len(domain)} as the "
                "sort of the place has",
            )
        pairs = zip(entries, domain, strict=True)
        return Tokens(1, tuple(self._entry(term, sort) for term, sort in pairs))

    def guard(self, element: Any) -> Guard:
        """Return the condition that a term is, without negations."""
        kind = local_name(element)
        if kind in ("and", "or"):
            parts = tuple(map(self.guard, self._terms(element, 1)))
            return AllOf(parts) if kind == "and" else AnyOf(parts)
        if kind == "not":
            (term,) = self._terms(element, 1, most=1)
            return _negated(self.guard(term))
        if kind == "imply":
            premise, conclusion = map(self.guard, self._terms(element, 2, most=2))
            return AnyOf((_negated(premise), conclusion))
        if kind == "booleanconstant":
            if element.get("value") not in ("true", "false"):
                self._reader.refuse(element, "expected true or false")
            return TRUE if element.get("value") == "true" else AnyOf(())
        if kind not in _RELATIONS and kind not in _PARTS:
            self._reader.unsupported(element, f"<{kind}>, expected {_GUARDS}")
        left, right = self._terms(element, 2, most=2)
        return self._compared(element, left, right)

    def _compared(self, element: Any, left: Any, right: Any) -> Guard:
        kind = local_name(element)
        relation = _RELATIONS.get(kind) or _PARTS[kind]
        if "tuple" in (local_name(left), local_name(right)):
            if relation not in ("==", "!="):
                self._reader.unsupported(element, f"<{kind}> of tuples")
            sides = [self._entries(side) for side in (left, right)]
            if len(sides[0]) != len(sides[1]):
                self._reader.refuse(element, "tuples of different lengths")
            parts = tuple(
                self._compared_colours(element, relation, *pair)
                for pair in zip(*sides, strict=True)
            )
            return AllOf(parts) if relation == "==" else AnyOf(parts)
        return self._compared_colours(element, relation, left, right)

    def _compared_colours(
        self, element: Any, relation: str, left: Any, right: Any
    ) -> Comparison:
        sort = self._sort(left)
        if sort is None:
            sort = self._sort(right)
        if sort is None:
            self._reader.unsupported(
                element, "a comparison of two constants, expected a variable"
            )
        sides: list[Any]
        if isinstance(sort, str):
            sides = [self._part(side, sort) for side in (left, right)]
        else:
            if local_name(element) in _PARTS:
                kind = local_name(element)
                self._reader.refuse(
                    element, f"<{kind}> of colours, expected elements of a partition"
                )
            if relation not in ("==", "!="):
                self._check_order(element, sort)
            sides = [self._colour(side, sort) for side in (left, right)]
        return Comparison(relation, *sides)

    def _check_order(self, element: Any, sort: int) -> None:
        known = self._declared.sorts[sort]
        if known.kind in (ENUMERATION, DOT):
            kind = local_name(element)
            self._reader.unsupported(
                element,
                f"<{kind}> of the sort {known.name!r}, which has no order: expected a "
                "range or a cyclic enumeration",
            )

    def _sort(self, element: Any) -> int | str | None:
        """Return the sort of a term, or the id of its partition; None if unclear.

        Unclear is that of a number, which might be of several ranges, and of a dot.
        """
        kind = local_name(element)
        if kind in ("successor", "predecessor"):
            return self._sort(self._terms(element, 1, most=1)[0])
        if kind == "variable":
            return self._declared.variables[self._variable(element)].sort
        if kind == "partitionelementof":
            own = element.get("refpartition") or ""
            if own not in self._declared.partitions:
                self._reader.refuse(element, f"no partition is declared as {own!r}")
            return str(own)
        if kind == "useroperator":
            own = element.get("declaration") or ""
            if own in self._declared.parts and own not in self._declared.constants:
                return self._declared.parts[own][0]
            if own in self._declared.constants:
                return self._declared.constants[own][0]
        elif kind not in _CONSTANTS:
            self._reader.unsupported(
                element, f"<{kind}>, expected a variable, a constant, <successor>, "
                "<predecessor> or <partitionelementof>"
            )  # fmt: skip
        return None

    def _part(self, element: Any, partition: str) -> Part | Constant:
        """Return an element of a partition."""
        known = self._declared.partitions[partition]
        if self._sort(element) == partition == element.get("refpartition"):
            (term,) = self._terms(element, 1, most=1)
            return Part(self._colour(term, known.sort), known.elements)
        own = element.get("declaration") or ""
        of, number = self._declared.parts.get(own, ("", 0))
        if local_name(element) != "useroperator" or of != partition:
            self._reader.refuse(
                element, f"expected an element of the partition {partition!r}"
            )
        return Constant(number)

    def _entries(self, element: Any) -> list[Any]:
        """Return the terms of a tuple, tuples in tuples laid out; or the term."""
        kind = local_name(element)
        if kind == "tuple":
            terms = self._terms(element, 1)
            return [entry for term in terms for entry in self._entries(term)]
        if kind == "all":
            sorts = self._declared.domain(self._only(element))
            return [_All(element, sort) for sort in sorts]
        return [element]

    def _entry(self, term: Any, sort: int) -> Bound | Constant | Every:
        if not isinstance(term, _All):
            return self._colour(term, sort)
        if not self._same(term.sort, sort):
            name = self._declared.sorts[sort].name
            self._reader.refuse(
                term.element, f"<all> of another sort, expected {name!r}"
            )
        return Every(len(self._declared.sorts[sort].ids))

    def _only(self, element: Any) -> Any:
        """Return the sort of which ``<all>`` has all colours."""
        sorts = list(element)
        if len(sorts) != 1:
            self._reader.refuse(element, f"<all> of {len(sorts)} sorts, expected one")
        return sorts[0]

    def _colour(self, element: Any, sort: int) -> Bound | Constant:
        """Return a term that is one colour of a sort."""
        kind = local_name(element)
        known = self._declared.sorts[sort]
        size = len(known.ids)
        if kind in ("successor", "predecessor"):
            (term,) = self._terms(element, 1, most=1)
            inner = self._colour(term, sort)
            if known.kind != CYCLIC:
                self._reader.unsupported(
                    element,
                    f"<{kind}> in the sort {known.name!r}, expected a cyclic "
                    "enumeration",
                )
            step = 1 if kind == "successor" else size - 1
            if isinstance(inner, Constant):
                return Constant((inner.colour + step) % size)
            return inner._replace(shift=(inner.shift + step) % size)
        if kind == "variable":
            number = self._variable(element)
            variable = self._declared.variables[number]
            if not self._same(variable.sort, sort):
                self._reader.refuse(
                    element,
                    f"the variable {variable.name!r} of the sort "
                    f"{self._declared.sorts[variable.sort].name!r}, expected one of "
                    f"{known.name!r}",
                )
            return Bound(number, 0, size)
        if kind not in _CONSTANTS:
            self._reader.unsupported(element, f"<{kind}>, expected {_MULTISETS}")
        return Constant(self._declared.colour(element, sort))

    def _same(self, one: int, other: int) -> bool:
        """Whether sorts are the same; ranges are known by their bounds."""
        sorts = [self._declared.sorts[sort] for sort in (one, other)]
        ranges = all(sort.kind == RANGE for sort in sorts)
        return one == other or (ranges and sorts[0].ids == sorts[1].ids)

    def _variable(self, element: Any) -> int:
        own = element.get("refvariable") or ""
        if own not in self._declared.variable_numbers:
            self._reader.refuse(element, f"no variable is declared as {own!r}")
        return self._declared.variable_numbers[own]

    def _number(self, element: Any) -> int:
        if local_name(element) != "numberconstant":
            kind = local_name(element)
            self._reader.unsupported(element, f"<{kind}>, expected <numberconstant>")
        text = element.get("value") or ""
        return self._reader.numeral(element, text, 0, "a number of tokens")

    def _terms(self, element: Any, least: int, most: int | None = None) -> list[Any]:
        """Return the terms in the ``<subterm>`` of an operator."""
        kind = local_name(element)
        terms = []
        for child in element:
            if local_name(child) != "subterm" or len(child) != 1:
                self._reader.refuse(
                    child, f"<{local_name(child)}> in <{kind}>, expected <subterm> with"
                    " one term"
                )  # fmt: skip
            terms.append(child[0])
        if len(terms) < least or (most is not None and len(terms) > most):
            self._reader.refuse(
                element,
                f"<{kind}> of {len(terms)} terms, expected {least}"
                + (" or more" if most is None else ""),
            )
        return terms


def _negated(guard: Guard) -> Guard:
    if isinstance(guard, Comparison):
        return guard._replace(relation=_NEGATED[guard.relation])
    parts = tuple(map(_negated, guard.parts))
    return AnyOf(parts) if isinstance(guard, AllOf) else AllOf(parts)
