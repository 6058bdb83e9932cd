"""The declarations of a symmetric net: sorts, partitions and variables, from XML.

Sorts may be declared in any order, so all declarations are known by their ids before
the first is read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.runtime.files import local_name
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    ENUMERATION,
    RANGE,
    Sort,
    Variable,
)
from ltlpipe.systems.nets.elements import TimelessReader

if TYPE_CHECKING:
    from ltlpipe.runtime.files import Known

MAX_COLOURS = 1 << 20
"""Colours of a basic sort."""

_MOST = 1 << 62
_DOT = "dot"  # the id of a sort that need not be declared
_SORTS = "a sort: <usersort>, <dot>, <finiteenumeration>, <cyclicenumeration>, "
_SORTS += "<finiteintrange> or <productsort>"
_KINDS = {
    "finiteenumeration": ENUMERATION,
    "cyclicenumeration": CYCLIC,
    "finiteintrange": RANGE,
}


SORT_ELEMENTS: Known = {
    "structure": ("", None),
    "declarations": ("", None),
    **dict.fromkeys(("namedsort", "variabledecl", "partition"), ("id name", None)),
    **dict.fromkeys(("finiteenumeration", "cyclicenumeration"), ("", None)),
    "productsort": ("", None),
    "partitionelement": ("id name", None),
    "usersort": ("declaration", ""),
    "dot": ("", ""),
    "finiteintrange": ("start end", ""),
    "feconstant": ("id name", ""),
}
"""The elements of declarations; whoever reads them refuses children of another kind."""


class Partition(NamedTuple):
    """A partition of a basic sort into elements."""

    sort: int
    elements: tuple[int, ...]  # the number of the element of each colour


class DeclarationReader(TimelessReader):
    """Reads what is declared, and knows it by its id.

    Attributes
    ----------
    sorts : list of Sort
    variables : list of Variable
    constants : dict of str to (int, int)
        The sort and the colour that an operator stands for.
    variable_numbers : dict of str to int
    partitions : dict of str to Partition
    parts : dict of str to (str, int)
        The partition and the number of each element of one.
    """

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.sorts: list[Sort] = []
        self.variables: list[Variable] = []
        self.constants: dict[str, tuple[int, int]] = {}
        self.variable_numbers: dict[str, int] = {}
        self.partitions: dict[str, Partition] = {}
        self.parts: dict[str, tuple[str, int]] = {}
        self._waiting: dict[str, Any] = {}  # named sorts
        self._domains: dict[str, tuple[int, ...] | None] = {}
        self._dots: int | None = None

    def declare(self, net: Any) -> None:
        """Read the declarations of a net, those on its pages, too."""
        declared: dict[str, list[Any]] = {
            kind: [] for kind in ("namedsort", "partition", "variabledecl")
        }
        expected = "<namedsort>, <partition> or <variabledecl>"
        for element in self._each(net):
            declared[self.expect(element, declared, expected)].append(element)
        for element in declared["namedsort"]:
            self._note(element, self._waiting, element)
        for own in self._waiting:
            self._named(own)
        for element in declared["partition"]:
            self._declare_partition(element)
        for element in declared["variabledecl"]:
            self._declare_variable(element)

    def domain(
        self, element: Any, own: str = "", name: str = "sort"
    ) -> tuple[int, ...]:
        """Return the basic sorts of a sort; `own` and `name` are those of a new one."""
        kind = local_name(element)
        if kind == "usersort":
            return self._used(element)
        if kind == "productsort":
            return tuple(sort for part in element for sort in self.domain(part))
        if kind == "dot":
            return (self.dots(),)
        return (self._basic(element, own or f"sort {len(self.sorts)}", name),)

    def basic(self, element: Any) -> int:
        """Return the one basic sort that a sort is."""
        sorts = self.domain(element)
        if len(sorts) != 1:
            self.unsupported(
                element, f"a sort of {len(sorts)}-tuples, expected a basic sort"
            )
        return sorts[0]

    def dots(self) -> int:
        """Return the sort with the one colour that has no name."""
        if self._dots is None:
            self._dots = len(self.sorts)
            self.sorts.append(Sort(_DOT, _DOT, DOT, (_DOT,), (_DOT,)))
        return self._dots

    def _each(self, net: Any) -> list[Any]:
        found: list[Any] = []
        for child in (*net.getparent(), *self.all_parts(net)):
            if local_name(child) == "declaration":
                structure = self.label(child, "structure")
                for group in structure if structure is not None else ():
                    self.expect(group, ["declarations"], "<declarations>")
                    found += group
        return found

    def _note(self, element: Any, known: dict[str, Any], value: Any) -> str:
        """Keep what an element declares by its id, and return that."""
        own = element.get("id")
        if not own:
            self.refuse(element, f"a <{local_name(element)}> without id")
        if own in known:
            self.refuse(element, f"the id {own!r} is declared twice")
        known[own] = value
        return str(own)

    def _used(self, element: Any) -> tuple[int, ...]:
        own = element.get("declaration") or ""
        if own not in self._waiting:
            if own == _DOT:
                return (self.dots(),)
            if own in self.partitions:
                self.unsupported(
                    element, f"the partition {own!r} as a sort, expected a sort of it"
                )
            self.refuse(element, f"no sort is declared as {own!r}")
        domain = self._named(own)
        if domain is None:
            self.refuse(element, f"the sort {own!r} is made of itself")
        return domain

    def _named(self, own: str) -> tuple[int, ...] | None:
        """Return the domain of a named sort; None if it is being read."""
        if own not in self._domains:
            self._domains[own] = None
            element = self._waiting[own]
            sort = self.only(element, f"{{}} sorts, expected {_SORTS}")
            self._domains[own] = self.domain(sort, own, element.get("name") or own)
        return self._domains[own]

    def _basic(self, element: Any, own: str, name: str) -> int:
        kind = _KINDS[self.expect(element, _KINDS, _SORTS)]
        known = self._ranged(element) if kind == RANGE else self._enumerated(element)
        ids, names = tuple(known), tuple(known.values())
        if len(set(names)) < len(names):
            names = ids
        self.sorts.append(Sort(own, name, kind, ids, names))
        return len(self.sorts) - 1

    def _enumerated(self, element: Any) -> dict[str, str]:
        """Return the names of the colours by their ids."""
        colours: dict[str, str] = {}
        for child in element:
            self.expect(child, ["feconstant"], "<feconstant>")
            meant = len(self.sorts), len(colours)
            own = self._note(child, self.constants, meant)
            colours[own] = child.get("name") or own
        if not colours:
            self.refuse(element, "no <feconstant>, expected some")
        return colours

    def _ranged(self, element: Any) -> dict[str, str]:
        low, high = (
            self.numeral(element, element.get(side) or "", -_MOST, "bound of a range")
            for side in ("start", "end")
        )
        if not low <= high < low + MAX_COLOURS:
            self.refuse(
                element,
                f"the range {low} to {high}, expected 1 to {MAX_COLOURS} numbers",
            )
        return {str(number): str(number) for number in range(low, high + 1)}

    def _declare_partition(self, element: Any) -> None:
        parts = list(element)
        if not parts:
            self.refuse(element, "a <partition> without its sort")
        sort = self.basic(parts[0])
        colours: dict[int, int] = {}
        name = element.get("id") or ""
        for number, part in enumerate(parts[1:]):
            self.expect(part, ["partitionelement"], "<partitionelement>")
            self._note(part, self.parts, (name, number))
            for constant in part:
                colour = self.colour(constant, sort)
                if colour in colours:
                    shown = self.sorts[sort].names[colour]
                    self.refuse(constant, f"{shown!r} again in the partition")
                colours[colour] = number
        size = len(self.sorts[sort].ids)
        if len(colours) < size:
            missing = next(c for c in range(size) if c not in colours)
            shown = self.sorts[sort].names[missing]
            self.refuse(element, f"no element of the partition has {shown!r}")
        elements = tuple(colours[colour] for colour in range(size))
        self._note(element, self.partitions, Partition(sort, elements))

    def colour(self, element: Any, sort: int) -> int:
        """Return which colour of a sort a constant is."""
        kind = local_name(element)
        known = self.sorts[sort]
        own = element.get("declaration") or ""
        if known.kind == DOT and (kind == "dotconstant" or own == _DOT):
            return 0
        if kind == "finiteintrangeconstant" and known.kind == RANGE:
            text = element.get("value") or ""
            value = self.numeral(element, text, -_MOST, "a number")
            colour = value - int(known.ids[0])
            if not 0 <= colour < len(known.ids):
                self.refuse(
                    element,
                    f"{value}, expected {known.ids[0]} to {known.ids[-1]} of the sort "
                    f"{known.name!r}",
                )
            return colour
        of, colour = self.constants.get(own, (-1, 0))
        if kind != "useroperator" or of != sort:
            found = f"<{kind}>"
            if kind == "useroperator" and own in self.constants:
                found = f"{own!r} of the sort {self.sorts[of].name!r}"
            elif kind == "useroperator":
                found = f"{own!r}, which is not declared"
            self.refuse(
                element, f"{found}, expected a constant of the sort {known.name!r}"
            )
        return colour

    def _declare_variable(self, element: Any) -> None:
        sort = self.basic(self.only(element, "{} sorts of a variable"))
        own = self._note(element, self.variable_numbers, len(self.variables))
        self.variables.append(Variable(own, element.get("name") or own, sort))
