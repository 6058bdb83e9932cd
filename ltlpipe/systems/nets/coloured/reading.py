"""Reading symmetric nets, as the Model Checking Contest has them.

Sorts are dots, finite and cyclic enumerations, ranges of numbers, and tuples of these;
partitions are known.  Places have a ``<type>`` and maybe an ``<hlinitialMarking>``,
transitions maybe a ``<condition>``, arcs an ``<hlinscription>``, whose terms stand in a
``<structure>``; their ``<text>`` says the same for people and is not read.

Source: ISO/IEC 15909-2:2011, symmetric nets.

Differences from the source: names of elements as in
`ltlpipe.systems.nets.reading`; a sort ``dot`` need not be declared, and ``dot`` may
name its colour, as in the nets of TAPAAL, which are called place/transition nets and
have their declarations beside the net; ``<all>`` may stand in tuples; what is no
symmetric net, such as operators that a net names itself, is refused by name.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias

from ltlpipe.runtime.files import local_name
from ltlpipe.systems.nets.coloured.declarations import (
    MAX_COLOURS,
    SORT_ELEMENTS,
    DeclarationReader,
)
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
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sum,
    Tokens,
    scaled,
    to_plain,
    variables_of,
)
from ltlpipe.systems.nets.elements import DRAWN, NET_ELEMENTS, TIMELESS_TRANSITION

if TYPE_CHECKING:
    from ltlpipe.runtime.files import Known
    from ltlpipe.systems.nets.coloured.net import Guard, Multiset
    from ltlpipe.systems.plain import Plain

_NEGATED = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
RELATIONS = {
    "equality": "==",
    "inequality": "!=",
    "lessthan": "<",
    "lessthanorequal": "<=",
    "greaterthan": ">",
    "greaterthanorequal": ">=",
}
RELATIONS_OF_PARTS = {"ltp": "<", "gtp": ">"}
_CONSTANTS = {"useroperator", "finiteintrangeconstant", "dotconstant"}
_MULTISETS = (
    "a multiset: <numberof>, <add>, <subtract>, <all>, <tuple>, a variable or a "
    "constant"
)
_OPERATORS = "add subtract numberof scalarproduct and or not imply tuple all empty"
_OPERATORS += " successor predecessor subterm"
TERM_ELEMENTS: Known = {
    **dict.fromkeys((*_OPERATORS.split(), *RELATIONS, *RELATIONS_OF_PARTS), ("", None)),
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
_OPERANDS = "a variable, a constant, <successor>, <predecessor> or "
_OPERANDS += "<partitionelementof>"
_GUARDS = "a guard: a comparison, <and>, <or>, <not> or <imply>"


_Entry: TypeAlias = Bound | Constant | Every


class _All(NamedTuple):
    """An entry of a tuple that is ``<all>``, or a component of that."""

    element: Any
    sort: int


class ColouredReader(DeclarationReader):
    """Reads a symmetric net."""

    known: ClassVar = NET_ELEMENTS | {
        "pnml": ("", "net declaration"),
        "net": ("id type name active=true", f"{NET_ELEMENTS['net'][1]} declaration"),
        "page": ("id name", f"{NET_ELEMENTS['page'][1]} declaration"),
        "place": (
            f"id name initialMarking invariant {DRAWN}",
            "name type hlinitialMarking",
        ),
        "transition": (TIMELESS_TRANSITION, "name condition"),
        "arc": (
            f"id source target type name inscription weight {DRAWN}",
            "name hlinscription type arctype",
        ),
        **dict.fromkeys(
            ("declaration", "hlinitialMarking", "condition", "hlinscription"),
            ("", "text structure"),
        ),
        "type": ("value", "text structure"),
        **SORT_ELEMENTS,
        **TERM_ELEMENTS,
    }

    def place(self, node: Any, own: str) -> tuple[tuple[int, ...], Multiset]:
        """Return the domain and the initial marking of a place."""
        self.check_invariant(node)
        kind = self._structure(node, "type")
        if kind is None:
            self.refuse(node, f"the place {own!r} without <type>")
        domain = self.domain(kind)
        term = self._structure(node, "hlinitialMarking")
        if term is None:
            if (node.get("initialMarking") or "0").strip() != "0":
                self.refuse(node, f"tokens without colours in the place {own!r}")
            return domain, EMPTY
        marking = self.multiset(term, domain)
        if next(variables_of(marking), None) is not None:
            self.refuse(term, f"a variable in the marking of place {own!r}")
        return domain, marking

    def transition(self, node: Any, own: str) -> Guard:
        """Return the guard of a transition."""
        del own
        self.check_order(node)
        term = self._structure(node, "condition")
        return TRUE if term is None else self.guard(term)

    def check_arc(self, arc: Any) -> None:
        """Refuse arcs that do more than take and put tokens, of some ages only."""
        self.is_interval(arc)
        if self.arc_kind(arc) not in ("timed", "transport"):
            super().check_arc(arc)

    def net(self, net: Any) -> Plain:
        """Return a net as plain data."""
        return {"coloured": to_plain(self.read(net))}

    def read(self, net: Any) -> ColouredNet:
        """Return the net that an element is."""
        self.refuse_unknown(net)
        self.declare(net)
        self.collect(net)
        number = {own: k for k, own in enumerate(self.places)}
        sides: dict[str, tuple[dict[int, Multiset], dict[int, Multiset]]]
        sides = {own: ({}, {}) for own in self.transitions}
        for arc in self.arcs():
            term = self._structure(arc.element, "hlinscription")
            if term is None:
                self.refuse(arc.element, "an arc without <hlinscription>")
            domain, _ = self.places[arc.place]
            side = sides[arc.transition][0 if arc.takes else 1]
            what = self.multiset(term, domain)
            place = number[arc.place]
            side[place] = Sum((side[place], what)) if place in side else what
        return ColouredNet(
            name=net.get("id") or self.file,
            sorts=tuple(self.sorts),
            variables=tuple(self.variables),
            places=tuple(
                ColouredPlace(own, self.names[own], *about)
                for own, about in self.places.items()
            ),
            transitions=tuple(
                ColouredTransition(
                    own,
                    self.names[own],
                    guard,
                    *(tuple(side.items()) for side in sides[own]),
                )
                for own, guard in self.transitions.items()
            ),
        )

    def _structure(self, element: Any, kind: str) -> Any:
        """Return the one term of a label's ``<structure>``; None without a label."""
        label = self.label(element, kind)
        if label is None:
            return None
        structure = self.label(label, "structure")
        if structure is None:
            self.refuse(label, f"a <{kind}> without <structure>")
        if len(structure) != 1:
            self.refuse(label, f"{len(structure)} terms in <{kind}>, expected one")
        return structure[0]

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
            self.refuse(
                element,
                f"<{kind}> of {len(entries)} colours, expected {len(domain)} as the "
                "sort of the place has",
            )
        pairs = zip(entries, domain, strict=True)
        return self._product(element, [self._choices(*pair) for pair in pairs])

    def _product(
        self, element: Any, choices: list[list[tuple[int, _Entry]]]
    ) -> Multiset:
        """Return a tuple of sums of colours, with weights, as a sum of tuples."""
        if prod(map(len, choices)) > MAX_COLOURS:
            self.unsupported(element, f"a tuple of more than {MAX_COLOURS:,} tuples")
        if sum(any(weight < 0 for weight, _ in own) for own in choices) > 1:
            self.unsupported(element, "a tuple of several differences")
        sides: dict[bool, list[Multiset]] = {False: [], True: []}
        for chosen in product(*choices):
            weight = prod(own for own, _ in chosen)
            tokens = Tokens(abs(weight), tuple(entry for _, entry in chosen))
            sides[weight < 0].append(tokens)
        left, right = (
            side[0] if len(side) == 1 else Sum(tuple(side)) for side in sides.values()
        )
        return Difference(left, right) if sides[True] else left

    def _choices(self, term: Any, sort: int) -> list[tuple[int, _Entry]]:
        """Return the colours, with weights, that an entry of a tuple is the sum of."""
        kind = "all" if isinstance(term, _All) else local_name(term)
        if kind in ("add", "subtract"):
            first, *others = (self._inner(t, sort) for t in self._terms(term, 1))
            sign = 1 if kind == "add" else -1
            return first + [(sign * w, entry) for own in others for w, entry in own]
        if kind in ("numberof", "scalarproduct"):
            number, what = self._terms(term, 2, most=2)
            times = self._number(number)
            return [(times * w, e) for w, e in self._inner(what, sort) if times]
        own = "" if kind == "all" else term.get("declaration") or ""
        if kind == "useroperator" and own in self.parts and own not in self.constants:
            return [(1, Constant(colour)) for colour in self._colours_of(term, sort)]
        return [(1, self._entry(term, sort))]

    def _inner(self, term: Any, sort: int) -> list[tuple[int, _Entry]]:
        """Return the colours of a term inside an entry."""
        entries = self._entries(term)
        if len(entries) != 1:
            self.refuse(
                term, f"<{local_name(term)}> of {len(entries)} colours in a sum"
            )
        return self._choices(entries[0], sort)

    def _colours_of(self, element: Any, sort: int) -> list[int]:
        """Return the colours of an element of a partition."""
        partition, number = self.parts[element.get("declaration")]
        known = self.partitions[partition]
        if not self._same(known.sort, sort):
            name = self.sorts[sort].name
            self.refuse(element, f"a part of another sort, expected {name!r}")
        return [c for c, part in enumerate(known.elements) if part == number]

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
                self.refuse(element, "expected true or false")
            return TRUE if element.get("value") == "true" else AnyOf(())
        self.expect(element, {*RELATIONS, *RELATIONS_OF_PARTS}, _GUARDS)
        left, right = self._terms(element, 2, most=2)
        return self._compared(element, left, right)

    def _compared(self, element: Any, left: Any, right: Any) -> Guard:
        kind = local_name(element)
        relation = RELATIONS.get(kind) or RELATIONS_OF_PARTS[kind]
        if "tuple" in (local_name(left), local_name(right)):
            if relation not in ("==", "!="):
                self.unsupported(element, f"<{kind}> of tuples")
            sides = [self._entries(side) for side in (left, right)]
            if len(sides[0]) != len(sides[1]):
                self.refuse(element, "tuples of different lengths")
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
            self.unsupported(
                element, "a comparison of two constants, expected a variable"
            )
        sides: list[Any]
        if isinstance(sort, str):
            sides = [self._part(side, sort) for side in (left, right)]
        else:
            if local_name(element) in RELATIONS_OF_PARTS:
                kind = local_name(element)
                self.refuse(
                    element, f"<{kind}> of colours, expected elements of a partition"
                )
            if relation not in ("==", "!="):
                self._check_order(element, sort)
            sides = [self._colour(side, sort) for side in (left, right)]
        return Comparison(relation, *sides)

    def _check_order(self, element: Any, sort: int) -> None:
        known = self.sorts[sort]
        if known.kind in (ENUMERATION, DOT):
            kind = local_name(element)
            self.unsupported(
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
            return self.variables[self._variable(element)].sort
        if kind == "partitionelementof":
            own = element.get("refpartition") or ""
            if own not in self.partitions:
                self.refuse(element, f"no partition is declared as {own!r}")
            return str(own)
        if kind == "useroperator":
            own = element.get("declaration") or ""
            if own in self.parts and own not in self.constants:
                return self.parts[own][0]
            if own in self.constants:
                return self.constants[own][0]
        self.expect(element, _CONSTANTS, _OPERANDS)
        return None

    def _part(self, element: Any, partition: str) -> Part | Constant:
        """Return an element of a partition."""
        known = self.partitions[partition]
        if self._sort(element) == partition == element.get("refpartition"):
            (term,) = self._terms(element, 1, most=1)
            return Part(self._colour(term, known.sort), known.elements)
        own = element.get("declaration") or ""
        of, number = self.parts.get(own, ("", 0))
        if local_name(element) != "useroperator" or of != partition:
            self.refuse(element, f"expected an element of the partition {partition!r}")
        return Constant(number)

    def _entries(self, element: Any) -> list[Any]:
        """Return the terms of a tuple, tuples in tuples laid out; or the term."""
        kind = local_name(element)
        if kind == "tuple":
            terms = self._terms(element, 1)
            return [entry for term in terms for entry in self._entries(term)]
        if kind == "all":
            every = self.only(element, "<all> of {} sorts, expected one")
            return [_All(element, sort) for sort in self.domain(every)]
        return [element]

    def _entry(self, term: Any, sort: int) -> _Entry:
        if not isinstance(term, _All):
            return self._colour(term, sort)
        if not self._same(term.sort, sort):
            name = self.sorts[sort].name
            self.refuse(term.element, f"<all> of another sort, expected {name!r}")
        return Every(len(self.sorts[sort].ids))

    def _colour(self, element: Any, sort: int) -> Bound | Constant:
        """Return a term that is one colour of a sort."""
        kind = local_name(element)
        known = self.sorts[sort]
        size = len(known.ids)
        if kind in ("successor", "predecessor"):
            (term,) = self._terms(element, 1, most=1)
            inner = self._colour(term, sort)
            if known.kind != CYCLIC:
                self.unsupported(
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
            variable = self.variables[number]
            if not self._same(variable.sort, sort):
                self.refuse(
                    element,
                    f"the variable {variable.name!r} of the sort "
                    f"{self.sorts[variable.sort].name!r}, expected one of "
                    f"{known.name!r}",
                )
            return Bound(number, 0, size)
        self.expect(element, _CONSTANTS, _MULTISETS)
        return Constant(self.colour(element, sort))

    def _same(self, one: int, other: int) -> bool:
        """Whether sorts are the same; ranges are known by their bounds."""
        sorts = [self.sorts[sort] for sort in (one, other)]
        ranges = all(sort.kind == RANGE for sort in sorts)
        return one == other or (ranges and sorts[0].ids == sorts[1].ids)

    def _variable(self, element: Any) -> int:
        own = element.get("refvariable") or ""
        if own not in self.variable_numbers:
            self.refuse(element, f"no variable is declared as {own!r}")
        return self.variable_numbers[own]

    def _number(self, element: Any) -> int:
        self.expect(element, ["numberconstant"], "<numberconstant>")
        text = element.get("value") or ""
        return self.numeral(element, text, 0, "a number of tokens")

    def _terms(self, element: Any, least: int, most: int | None = None) -> list[Any]:
        """Return the terms in the ``<subterm>`` of an operator."""
        kind = local_name(element)
        terms = []
        for child in element:
            if local_name(child) != "subterm" or len(child) != 1:
                self.refuse(
                    child, f"<{local_name(child)}> in <{kind}>, expected <subterm> with"
                    " one term"
                )  # fmt: skip
            terms.append(child[0])
        if len(terms) < least or (most is not None and len(terms) > most):
            self.refuse(
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
