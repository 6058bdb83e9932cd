"""Reading symmetric nets, as the Model Checking Contest has them.

Sorts are dots, finite and cyclic enumerations, ranges of numbers, and tuples of these;
partitions are known.  Places have a ``<type>`` and maybe an ``<hlinitialMarking>``,
transitions maybe a ``<condition>``, arcs an ``<hlinscription>``, whose terms stand in a
``<structure>``; their ``<text>`` says the same for people and is not read.

Source: ISO/IEC 15909-2:2011, symmetric nets.

Differences from the source: names of elements as in
`ltlpipe.systems.nets.reading`; a sort ``dot`` need not be declared; ``<all>`` may
stand in tuples; what is no symmetric net, such as operators that a net names itself, is
refused by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from ltlpipe.systems.nets.coloured.declarations import SORT_ELEMENTS, Declarations
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    TRUE,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Sum,
    to_plain,
    variables_of,
)
from ltlpipe.systems.nets.coloured.terms import TERM_ELEMENTS, TermReader
from ltlpipe.systems.nets.elements import NET_ELEMENTS, NetReader

if TYPE_CHECKING:
    from ltlpipe.systems.nets.coloured.net import Guard, Multiset
    from ltlpipe.systems.plain import Plain


class ColouredReader(NetReader):
    """Reads a symmetric net."""

    known: ClassVar = NET_ELEMENTS | {
        "net": ("id type name", f"{NET_ELEMENTS['net'][1]} declaration"),
        "page": ("id name", f"{NET_ELEMENTS['page'][1]} declaration"),
        "place": ("id name", "name type hlinitialMarking"),
        "transition": ("id name", "name condition"),
        "arc": ("id source target type name", "name hlinscription type arctype"),
        **dict.fromkeys(
            ("declaration", "hlinitialMarking", "condition", "hlinscription"),
            ("", "text structure"),
        ),
        "type": ("value", "text structure"),
        **SORT_ELEMENTS,
        **TERM_ELEMENTS,
    }

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._declared = Declarations(self)
        self._terms = TermReader(self, self._declared)

    def place(self, node: Any, own: str) -> tuple[tuple[int, ...], Multiset]:
        """Return the domain and the initial marking of a place."""
        kind = self._structure(node, "type")
        if kind is None:
            self.refuse(node, f"the place {own!r} without <type>")
        domain = self._declared.domain(kind)
        term = self._structure(node, "hlinitialMarking")
        if term is None:
            return domain, EMPTY
        marking = self._terms.multiset(term, domain)
        if next(variables_of(marking), None) is not None:
            self.refuse(term, f"a variable in the marking of place {own!r}")
        return domain, marking

    def transition(self, node: Any, own: str) -> Guard:
        """Return the guard of a transition."""
        del own
        term = self._structure(node, "condition")
        return TRUE if term is None else self._terms.guard(term)

    def net(self, net: Any) -> Plain:
        """Return a net as plain data."""
        return {"coloured": to_plain(self.read(net))}

    def read(self, net: Any) -> ColouredNet:
        """Return the net that an element is."""
        self.refuse_unknown(net)
        self._declared.read(net)
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
            what = self._terms.multiset(term, domain)
            place = number[arc.place]
            side[place] = Sum((side[place], what)) if place in side else what
        return ColouredNet(
            name=net.get("id") or self.file,
            sorts=tuple(self._declared.sorts),
            variables=tuple(self._declared.variables),
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
        terms = list(structure)
        if len(terms) != 1:
            self.refuse(label, f"{len(terms)} terms in <{kind}>, expected one")
        return terms[0]
