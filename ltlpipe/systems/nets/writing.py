"""Writing place/transition nets and symmetric nets as PNML.

One net on one page, without graphics; `ltlpipe.systems.nets.reading` gives it back.
Limits, of capacities too, are inhibitor arcs, with the spelling that TAPAAL, PIPE,
GreatSPN and Tina read.  Final markings are written as ProM has them.
Labels of symmetric nets have the ``<structure>`` that tools read, and no ``<text>``.

Of a network (`network_net`) each local state is a place, each combination of local
transitions that can happen together a net transition, which is called like the action:
``a`` of the network is ``action=="a"`` of the net.  The net is safe, and its reachable
markings are the reachable composed states.
"""

from __future__ import annotations

from functools import reduce
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lxml import etree
from lxml.builder import E

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_text
from ltlpipe.systems.nets.coloured.cells import holds
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    RANGE,
    TRUE,
    AllOf,
    AnyOf,
    Bound,
    ColouredNet,
    Comparison,
    Constant,
    Difference,
    Every,
    Part,
    Sum,
    variables_of,
)
from ltlpipe.systems.nets.coloured.reading import RELATIONS, RELATIONS_OF_PARTS
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import MAX_TOKENS, Place, Transition
from ltlpipe.systems.networks.exports import combinations
from ltlpipe.systems.networks.lts import Network

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.nets.coloured.net import Guard, Multiset, Sort, Tokens
    from ltlpipe.systems.nets.net import NetModel
    from ltlpipe.systems.nets.structure import AnyTransition
    from ltlpipe.systems.networks.lts import LTS

_GRAMMAR = "http://www.pnml.org/version-2009/grammar"
_OPERATORS = {relation: kind for kind, relation in RELATIONS.items()}
_OPPOSITES = {"<=": ">", ">=": "<"}
"""Of relations that have no operator for elements of a partition."""
_OF_PARTS = _OPERATORS | {sign: kind for kind, sign in RELATIONS_OF_PARTS.items()}


def save_pnml(net: NetModel | ColouredNet, path: StrPath) -> None:
    """Write a net to a file, compressed if its name ends in ``.gz``.

    Raises
    ------
    UnsupportedError
        The net has what PNML does not hold.
    LtlpipeError
        The file cannot be written.
    """
    write_text(path, pnml_text(net))


def pnml_text(net: NetModel | ColouredNet) -> str:
    """Return what `save_pnml` writes.

    Raises
    ------
    UnsupportedError
        An id or a name has characters that XML does not allow.
    """
    try:
        element = _Writer(net).net() if isinstance(net, ColouredNet) else _plain(net)
    except ValueError as error:
        raise UnsupportedError(f"{net.name}: {error}, expected text for XML") from None
    root = E("pnml", element, xmlns=f"{_GRAMMAR}/pnml")
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def net_text(model: Any) -> str:
    """Return the text of a model that is a net, symmetric or not.

    Raises
    ------
    UnsupportedError
        It is none; or as `pnml_text`.
    """
    net = getattr(model, "coloured", model)
    if not hasattr(net, "places"):
        raise UnsupportedError(
            f"{model.name}: a .pnml file holds a Petri net; write .hoa, with "
            "--propositions='x==1' for what is to be kept"
        )
    return pnml_text(net)


def _plain(net: NetModel) -> Any:
    taken = {node.id for node in (*net.places, *net.transitions)}
    own, page = _fresh(net.name, taken), _fresh("page", taken)
    nodes = []
    for place in net.places:
        tokens = [_label("initialMarking", place.tokens)] if place.tokens else []
        nodes.append(E("place", _label("name", place.name), *tokens, id=place.id))
    for number, transition in enumerate(net.transitions):
        labels = [_label("name", transition.name)]
        if number in net.notes.invisible:
            labels.append(E("toolspecific", tool="ProM", version="6.4",
                            activity="$invisible$"))  # fmt: skip
        nodes.append(E("transition", *labels, id=transition.id))
    for transition in net.transitions:
        nodes += _arcs_of(net, transition)
    final = [_final(net, marking) for marking in net.notes.final]
    markings = [E("finalmarkings", *final)] if final else []
    parts = (E("page", *nodes, id=page), *markings)
    return E("net", *parts, type=f"{_GRAMMAR}/ptnet", id=own)


def _arcs_of(net: NetModel, transition: AnyTransition) -> Iterator[Any]:
    """Yield the elements of a transition's arcs."""
    own = transition.id
    called = [place.id for place in net.places]
    for place, weight in transition.needs.items():
        yield _arc(called[place], own, weight)
    for place, weight in transition.puts.items():
        yield _arc(own, called[place], weight)
    for place, most in transition.limits.items():
        if most < MAX_TOKENS:
            yield _arc(called[place], own, most + 1, "inhibitor")
    for place in sorted(transition.resets):
        yield _arc(called[place], own, 1, "reset")


def _arc(source: str, target: str, weight: int, kind: str | None = None) -> Any:
    labels = [] if weight == 1 else [_label("inscription", weight)]
    if kind is not None:
        labels.append(E("type", value=kind))
    return E("arc", *labels, source=source, target=target)


def _final(net: NetModel, marking: tuple[tuple[int, int], ...]) -> Any:
    """Return the element of a final marking."""
    places = (
        E("place", E("text", str(n)), idref=net.places[place].id)
        for place, n in marking
    )
    return E("marking", *places)


def _arcs(net: ColouredNet) -> Iterator[tuple[list[str], int, Any]]:
    """Yield both ends of each arc, the number of its place, and what it moves."""
    for transition in net.transitions:
        for number, what in transition.pre:
            yield [net.places[number].id, transition.id], number, what
        for number, what in transition.post:
            yield [transition.id, net.places[number].id], number, what


def _fresh(text: str, taken: set[str]) -> str:
    """Return an id that nothing has, and take it."""
    while text in taken:
        text += "_"
    taken.add(text)
    return text


def _label(kind: str, text: str | int) -> Any:
    return E(kind, E("text", str(text)))


class _Writer:
    """Makes the elements of one symmetric net."""

    def __init__(self, net: ColouredNet) -> None:
        self._net = net
        self._ids = {net.name}
        for part in (net.sorts, net.variables, net.places, net.transitions):
            self._ids.update(node.id for node in part)
        self._ids.update(own for sort in net.sorts for own in sort.ids)
        self._products: dict[tuple[int, ...], str] = {}
        self._partitions: dict[tuple[int, tuple[int, ...]], str] = {}
        self._n_parts: dict[str, int] = {}

    def net(self) -> Any:
        page = E("page", *self._nodes(), id=_fresh("page", self._ids))
        declared = E("declarations", *self._declarations())
        declaration = E("declaration", E("structure", declared))
        kind = f"{_GRAMMAR}/symmetricnet"
        return E("net", declaration, page, type=kind, id=self._net.name)

    def _declarations(self) -> Iterator[Any]:
        sorts = self._net.sorts
        for sort in sorts:
            yield E("namedsort", _content(sort), id=sort.id, name=sort.name)
        for domain, own in self._products.items():
            product = E("productsort", *(_used(sorts[sort]) for sort in domain))
            yield E("namedsort", product, id=own, name=own)
        for (number, elements), own in self._partitions.items():
            parts: list[list[Any]] = [[] for _ in range(self._n_parts[own])]
            for colour, part in enumerate(elements):
                parts[part].append(_constant(sorts[number], colour))
            yield E(
                "partition",
                _used(sorts[number]),
                *(
                    E("partitionelement", *part, id=f"{own}.{k}", name=f"{own}.{k}")
                    for k, part in enumerate(parts)
                ),
                id=own,
                name=own,
            )
        for variable in self._net.variables:
            used = _used(sorts[variable.sort])
            yield E("variabledecl", used, id=variable.id, name=variable.name)

    def _nodes(self) -> Iterator[Any]:
        net = self._net
        for place in net.places:
            labels = [_label("name", place.name)]
            labels.append(_structure("type", self._type(place.domain)))
            if place.marking != EMPTY:
                term = self._multiset(place.marking, place.domain)
                labels.append(_structure("hlinitialMarking", term))
            yield E("place", *labels, id=place.id)
        for transition in net.transitions:
            labels = [_label("name", transition.name)]
            guard = transition.guard
            if guard != TRUE or isinstance(guard, AnyOf):  # both of nothing are equal
                labels.append(_structure("condition", self._guard(guard)))
            yield E("transition", *labels, id=transition.id)
        for (source, target), number, what in _arcs(net):
            term = self._multiset(what, net.places[number].domain)
            inscription = _structure("hlinscription", term)
            own = _fresh(f"{source}-{target}", self._ids)
            yield E("arc", inscription, id=own, source=source, target=target)

    def _type(self, domain: tuple[int, ...]) -> Any:
        if len(domain) == 1:
            return _used(self._net.sorts[domain[0]])
        if domain not in self._products:
            names = "-".join(self._net.sorts[sort].id for sort in domain)
            self._products[domain] = _fresh(names, self._ids)
        return E("usersort", declaration=self._products[domain])

    def _multiset(self, what: Multiset, domain: tuple[int, ...]) -> Any:
        if what == EMPTY:
            return E("empty", self._type(domain))
        if isinstance(what, Sum):
            return _operator("add", *(self._multiset(p, domain) for p in what.parts))
        if isinstance(what, Difference):
            sides = (self._multiset(part, domain) for part in what)
            return _operator("subtract", *sides)
        return self._tokens(what, domain)

    def _tokens(self, what: Tokens, domain: tuple[int, ...]) -> Any:
        terms = [
            self._term(entry, sort)
            for entry, sort in zip(what.entries, domain, strict=True)
        ]
        (term,) = terms if len(terms) == 1 else [_operator("tuple", *terms)]
        number = E("numberconstant", E("positive"), value=str(what.weight))
        return _operator("numberof", number, term)

    def _term(self, term: Bound | Constant | Every, number: int) -> Any:
        sort = self._net.sorts[number]
        if isinstance(term, Every):
            return E("all", _used(sort))
        if isinstance(term, Constant):
            return _constant(sort, term.colour)
        variable = E("variable", refvariable=self._net.variables[term.variable].id)
        forward = 2 * term.shift <= term.size
        kind = "successor" if forward else "predecessor"
        n_steps = term.shift if forward else term.size - term.shift
        return reduce(lambda t, _: _operator(kind, t), range(n_steps), variable)

    def _guard(self, guard: Guard) -> Any:
        if isinstance(guard, Comparison):
            return self._comparison(guard)
        is_all = isinstance(guard, AllOf)
        if not guard.parts:
            return _truth(is_all)
        return _operator("and" if is_all else "or", *map(self._guard, guard.parts))

    def _comparison(self, guard: Comparison) -> Any:
        sides = guard.left, guard.right
        if next(variables_of(guard), None) is None:
            return _truth(holds(guard, []))
        for side in sides:
            if isinstance(side, Part) and isinstance(side.of, Bound):
                return self._compared_parts(guard, side, side.of.variable)
        (variable,) = {
            self._net.variables[side.variable].sort
            for side in sides
            if isinstance(side, Bound)
        }
        terms = (self._term(side, variable) for side in sides)  # type: ignore[arg-type]
        return _operator(_OPERATORS[guard.relation], *terms)

    def _compared_parts(self, guard: Comparison, some: Part, variable: int) -> Any:
        if guard.relation in _OPPOSITES:
            opposite = guard._replace(relation=_OPPOSITES[guard.relation])
            return _operator("not", self._compared_parts(opposite, some, variable))
        sort = self._net.variables[variable].sort
        key = sort, some.elements
        if key not in self._partitions:
            called = f"partition{len(self._partitions) + 1}"
            self._partitions[key] = _fresh(called, self._ids)
        own = self._partitions[key]
        named = [side.colour for side in guard[1:] if isinstance(side, Constant)]
        most = max(*some.elements, *named, self._n_parts.get(own, 0) - 1)
        self._n_parts[own] = most + 1
        terms = []
        for side in (guard.left, guard.right):
            if isinstance(side, Part):
                term = _operator("partitionelementof", self._term(side.of, sort))
                term.set("refpartition", own)
            else:
                assert isinstance(side, Constant)
                term = E("useroperator", declaration=f"{own}.{side.colour}")
            terms.append(term)
        return _operator(_OF_PARTS[guard.relation], *terms)


def _content(sort: Sort) -> Any:
    """Return the element that says which colours a sort has."""
    if sort.kind == DOT:
        return E("dot")
    if sort.kind == RANGE:
        return E("finiteintrange", start=sort.ids[0], end=sort.ids[-1])
    kind = "cyclicenumeration" if sort.kind == CYCLIC else "finiteenumeration"
    pairs = zip(sort.ids, sort.names, strict=True)
    return E(kind, *(E("feconstant", id=own, name=name) for own, name in pairs))


def _used(sort: Sort) -> Any:
    return E("usersort", declaration=sort.id)


def _constant(sort: Sort, colour: int) -> Any:
    if sort.kind == DOT:
        return E("dotconstant")
    if sort.kind == RANGE:
        return E("finiteintrangeconstant", _content(sort), value=sort.ids[colour])
    return E("useroperator", declaration=sort.ids[colour])


def _truth(value: bool) -> Any:
    return E("booleanconstant", value="true" if value else "false")


def _operator(kind: str, *terms: Any) -> Any:
    return E(kind, *(E("subterm", term) for term in terms))


def _structure(kind: str, term: Any) -> Any:
    return E(kind, E("structure", term))


def network_net(network: Network) -> PetriNet:
    """Return the net of a network without acceptance and internal labels.

    Raises
    ------
    UnsupportedError
        A component accepts, or the net would be too large.
    """
    if network.has_acceptance:
        raise UnsupportedError("a .pnml file cannot hold accepting states; write .hoa")
    components = network.components
    places = []
    for i, lts in enumerate(components):
        for state in range(lts.n_states):
            name = f"{lts.name or i}.{lts.state_name(state)}"
            places.append(Place(f"p{i}_{state}", name, int(state == lts.initial)))
    first = list(accumulate((c.n_states for c in components), initial=0))
    transitions = [
        Transition(
            f"t{number}",
            name,
            {first[i] + src: 1 for i, src, _ in moves},
            {first[i] + dst: 1 for i, _, dst in moves},
        )
        for number, (name, moves) in enumerate(combinations(network))
    ]
    return PetriNet(places, transitions, name=network.name or "network")


def write_components(components: Sequence[LTS]) -> str:
    """Write components as a net in PNML; see `network_net`."""
    return pnml_text(network_net(Network(components)))
