"""The elements that PNML files of all kinds of nets have: pages, nodes and arcs.

`NetReader` collects them, whatever labels they have; the readers of place/transition
nets (`ltlpipe.systems.nets.reading`) and of symmetric nets
(`ltlpipe.systems.nets.coloured.reading`) say which labels they know, and read them.
Graphics and what tools add for themselves (``toolspecific``) are passed over, but for
what notes say.

Numbers and texts stand in ``<text>``, or in the ``<value>`` of PIPE, where a number may
be one of tokens of a class (``Default,1``): a net may have tokens of one class only.

TAPAAL and PIPE write intervals, invariants and priorities into all their nets.  They
are read where they say that any age will do and that no transition goes before others,
and refused by name otherwise (`TimelessReader`).

*Notes* (`noted`) are what a file says beside places, transitions and arcs:

- *Final markings*, in ``<finalmarkings>`` as ProM and PM4Py write them.  A place that
  a marking does not name is empty.
- *Invisible* transitions, which have no action: those whose ``activity`` ProM calls
  ``$invisible$``, and those that are called so, or ``tau`` or ``silent``.
- *Units* of a nested-unit Petri net, and whether the file asserts that they are safe:
  then at most one place of a unit has a token, and one only.

Source: H. Garavel, "Nested-Unit Petri Nets", Journal of Logical and Algebraic Methods
in Programming 104, 2019, pp. 60-85, Sec. 7 (the tool-specific section of a PNML file).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.files import local_name, unknown_part
from ltlpipe.systems.nets.structure import MAX_TOKENS, Notes, Unit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ltlpipe.runtime.files import Known
    from ltlpipe.systems.plain import Plain

PASSED_OVER = {
    *("graphics", "toolspecific", "finalmarkings"),
    *("labels", "arcpath", "token", "query", "queries", "k-bound", "feature"),
    *("constant", "orientation", "tagged", "stateGroup", "measure"),
}
"""What means nothing to the net, or is read elsewhere."""

DRAWN = "displayName nameOffsetX nameOffsetY positionX positionY angle"
_NODES = "page place transition arc referencePlace referenceTransition"
NET_ELEMENTS: Known = {
    "pnml": ("", "net"),
    "net": ("id type name active=true", f"name {_NODES}"),
    "page": ("id name", f"name {_NODES}"),
    "transition": ("id name", "name"),
    "referencePlace": ("id ref name", "name"),
    "referenceTransition": ("id ref name", "name"),
    "name": ("", "text value"),
    "text": ("", "#text"),
    "value": ("", "#text"),
    "type": ("value", "text value"),
    "arctype": ("value", "text value"),
}
"""What nets of both kinds have; their readers add to it."""
ARCS = ["arc", "inputArc", "outputArc"]
"""Elements that are arcs; the last two are what TAPAAL's engines call them."""
PLAIN_ARC = "normal"
_PLAIN_ARCS = {"", PLAIN_ARC, "regular"}
_NUMBER = re.compile(r"[+-]?[0-9]+")
_CLASSES = re.compile(r"(?:[^\W\d]\w*\s*,\s*[0-9]+(?:\s*,\s*|$))+")


class Arc(NamedTuple):
    """An arc between a place and a transition."""

    element: Any
    place: str  # their ids
    transition: str
    takes: bool  # from the place; else it puts


class NetReader:
    """Collects the nodes and arcs of one net.

    Attributes
    ----------
    places, transitions : dict
        What `place` and `transition` have returned for each, by their ids, in order.
    names : dict of str to str
        What nodes are called, by their ids.
    """

    known: ClassVar[Known]
    """The elements of a file with their attributes and children."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.ids: dict[str, Any] = {}  # of whatever has one
        self.names: dict[str, str] = {}
        self.places: dict[str, Any] = {}
        self.transitions: dict[str, Any] = {}
        self.references: dict[str, str] = {}  # of reference nodes
        self.tools: list[Any] = []  # what tools have added to the net and its pages
        self.refined: dict[str, Any] = {}  # pages with the nets of sub-processes
        self._token_class: str | None = None
        self._arcs: list[Any] = []
        self._kept: list[Any] = []

    def place(self, node: Any, own: str) -> Any:
        """Return what the labels of a place say; `own` is its id."""
        raise NotImplementedError

    def transition(self, node: Any, own: str) -> Any:
        """Return what the labels of a transition say."""
        raise NotImplementedError

    def known_place(self, node: Any, own: str) -> bool:  # noqa: ARG002 (for some)
        """Whether a place is one that was read before."""
        return False

    def refuse_unknown(self, net: Any) -> None:
        """Refuse what no reader of the file of a net knows: it may carry meaning."""
        # lxml makes an object for an element at each visit, unless one is kept.
        self._kept = list(net.getparent().iter())
        found = unknown_part(net.getparent(), self.known, PASSED_OVER)
        if found is not None:
            self.unsupported(*found)

    def collect(self, net: Any) -> None:
        """Read the nodes and arcs of a net, on its pages, too."""
        self._enter(net)
        for child in self.all_parts(net):
            kind = local_name(child)
            if kind == "page" and self.label(child, "net") is not None:
                self.refined[child.get("id") or ""] = child
            elif kind == "page":
                self._enter(child)
            elif kind in ARCS:  # nothing refers to its id, so that it may repeat
                self.check_arc(child)
                self._arcs.append(child)
            elif kind == "toolspecific":
                self.tools.append(child)
            elif kind in _NODES.split():
                self._read_node(child, kind)

    def all_parts(self, net: Any) -> Iterator[Any]:
        """Yield the parts of a net, a page before its own; files nest 256 at most."""
        for child in net:
            yield child
            if local_name(child) in ("page", "net"):
                yield from self.all_parts(child)

    def arcs(self) -> Iterator[Arc]:
        """Yield the arcs; all nodes have been collected."""
        for arc in self._arcs:
            if not self.refined.keys().isdisjoint(
                (arc.get("source"), arc.get("target"))
            ):
                continue
            source, target = self._end(arc, "source"), self._end(arc, "target")
            if (source in self.places) == (target in self.places):
                kind = "places" if source in self.places else "transitions"
                self.refuse(arc, f"an arc between two {kind}")
            takes = source in self.places
            place, transition = (source, target) if takes else (target, source)
            yield Arc(arc, place, transition, takes)

    def label(self, element: Any, kind: str) -> Any:
        """Return the label of a kind; None if there is none."""
        labels = [child for child in element if local_name(child) == kind]
        if len(labels) > 1:
            self.refuse(labels[1], f"a second <{kind}>")
        return labels[0] if labels else None

    def label_text(self, element: Any, kind: str) -> str | None:
        """Return the text of a label; None if there is no such label."""
        label = self.label(element, kind)
        if label is None:
            return None
        text = self._text(label)
        if text is None and kind != "name":
            self.refuse(label, f"a <{kind}> without <text>")
        return text

    def numeral(self, element: Any, text: str, least: int, what: str) -> int:
        """Return the number that a text in an element is."""
        if _CLASSES.fullmatch(text):
            text = self._of_one_class(element, text)
        if not _NUMBER.fullmatch(text):
            self.refuse(element, f"{text[:40]!r} as {what}, expected a number")
        # Long texts would be slow to read as numbers, and are too large anyway.
        value = int(text) if len(text) < 40 else MAX_TOKENS + 1
        if not least <= value <= MAX_TOKENS:
            expected = f"expected {least} to {MAX_TOKENS}"
            self.refuse(element, f"{text[:40]} as {what}, {expected}")
        return value

    def _of_one_class(self, element: Any, text: str) -> str:
        """Return the number of tokens in a text that tells it of each class."""
        parts = [part.strip() for part in text.split(",")]
        pairs = zip(parts[::2], parts[1::2], strict=False)
        some = [(name, count) for name, count in pairs if count.strip("0")]
        for name, _ in some:
            self._token_class = self._token_class or name
            if name != self._token_class:
                told = f"{self._token_class!r} and {name!r}"
                self.unsupported(element, f"tokens of the classes {told}, expected one")
        return some[0][1] if len(some) == 1 else "0"

    def expect(self, element: Any, kinds: Collection[str], expected: str) -> str:
        """Return the kind of an element; refuse others than `kinds`."""
        kind = local_name(element)
        if kind not in kinds:
            self.unsupported(element, f"<{kind}>, expected {expected}")
        return kind

    def only(self, element: Any, message: str) -> Any:
        """Return the child of an element; `message` says how many there are instead."""
        children = list(element)
        if len(children) != 1:
            self.refuse(element, message.format(len(children)))
        return children[0]

    def refuse(self, element: Any, message: str) -> NoReturn:
        """Raise that the file does not hold what it should."""
        raise InputError(message, file=self.file, line=element.sourceline)

    def unsupported(self, element: Any, message: str) -> NoReturn:
        """Raise that the file holds what is not read."""
        raise UnsupportedError(f"{self.file}:{element.sourceline}: {message}")

    def _enter(self, element: Any) -> str:
        """Note an element's id, and return it."""
        own = element.get("id")
        if own is None:
            return ""
        if own in self.ids:
            first = self.ids[own].sourceline
            self.refuse(element, f"the id {own!r} again (first in line {first})")
        self.ids[own] = element
        return str(own)

    def _read_node(self, node: Any, kind: str) -> None:
        if not node.get("id"):
            self.refuse(node, f"a <{kind}> without id")
        if kind == "place" and self.known_place(node, node.get("id")):
            return
        own = self._enter(node)
        self.names[own] = self.label_text(node, "name") or node.get("name") or own
        if kind == "place":
            self.places[own] = self.place(node, own)
        elif kind == "transition":
            self.transitions[own] = self.transition(node, own)
        else:
            self.references[own] = node.get("ref") or ""

    def check_arc(self, arc: Any) -> None:
        """Refuse arcs that do more than take and put tokens."""
        kind = self.arc_kind(arc)
        if kind not in _PLAIN_ARCS:
            self.unsupported(arc, f"an arc of type {kind!r}, expected plain arcs")

    def arc_kind(self, arc: Any) -> str:
        """Return what kind of arc a file says that one is, in lower case."""
        kinds = [arc.get("type") or ""]
        for child in arc:
            if local_name(child) in {"type", "arctype"}:
                kinds += [child.get("value") or "", self._text(child) or ""]
        said = {kind.strip().lower() for kind in kinds} - _PLAIN_ARCS
        if len(said) > 1:
            told = " and ".join(sorted(map(repr, said)))
            self.refuse(arc, f"an arc of the types {told}, expected one")
        return min(said, default=PLAIN_ARC)

    def _text(self, label: Any) -> str | None:
        """Return what the <text> or <value> of a label says; None if there is none."""
        texts = [child for child in label if local_name(child) in {"text", "value"}]
        if not texts:
            return None
        if len(texts) > 1:
            self.refuse(label, "expected one <text>")
        return (texts[0].text or "").strip()

    def _end(self, arc: Any, side: str) -> str:
        """Return the place or transition where an arc begins or ends."""
        own = arc.get(side)
        if own is None:
            self.refuse(arc, f"an arc without {side}")
        own = self.target(own)
        if own not in self.names:
            through = " through references" if own != arc.get(side) else ""
            self.refuse(
                arc,
                f"the {side} of an arc is{through} {own!r}, expected the id of a place"
                " or a transition",
            )
        return str(own)

    def target(self, own: str) -> str:
        """Return the id of the node that an id means, through references."""
        passed: dict[str, None] = {}
        while own in self.references:
            if own in passed:
                self.refuse(self.ids[own], f"the reference {own!r} refers to itself")
            passed[own] = None
            own = self._referred(own)
        self.references.update(dict.fromkeys(passed, own))
        return own

    def _referred(self, own: str) -> str:
        """Return what a reference node refers to."""
        target = self.references[own]
        if target in self.names:
            kinds = [
                local_name(self.ids[node]).removeprefix("reference").lower()
                for node in (own, target)
            ]
            if kinds[0] != kinds[1]:
                self.refuse(
                    self.ids[own],
                    f"the reference {own!r} to a {kinds[0]} is a {kinds[1]}'s",
                )
        return target


INVISIBLE = frozenset({"$invisible$", "tau", "silent"})
"""What transitions without an action are called."""

_NUPN = "nupn"


def is_invisible(node: Any, name: str) -> bool:
    """Whether the element of a transition that is called `name` says that it is so."""
    said = {name}
    for child in node:
        if local_name(child) == "toolspecific":
            said.add(child.get("activity") or "")
    return not INVISIBLE.isdisjoint(said)


def noted(reader: Any, net: Any, number: Mapping[str, int]) -> Plain:
    """Return what the element of a net says, as plain data; `number` is of places."""
    transitions = {own: k for k, own in enumerate(reader.transitions)}
    units, safe = _units_of(reader, number)
    return {
        "final": _final_markings(reader, net, number),
        "invisible": [transitions[own] for own in reader.invisible],
        "units": units,
        "safe": safe,
        "refined": sorted(reader.refined),
        "references": [
            [own, number.get(reader.target(own)), transitions.get(reader.target(own))]
            for own in reader.references
        ],
    }


def notes_of(plain: Plain) -> Notes:
    """Return what `noted` has returned."""
    return Notes(
        tuple(tuple((p, n) for p, n in marking) for marking in plain["final"]),
        frozenset(plain["invisible"]),
        _units(plain["units"]),
        plain["safe"],
        tuple(plain["refined"]),
        tuple((own, place, t) for own, place, t in plain["references"]),
    )


def _final_markings(reader: NetReader, net: Any, number: Mapping[str, int]) -> Plain:
    """Return the final markings: lists of a place and its tokens."""
    markings = []
    for group in net.getparent().iter("{*}finalmarkings"):
        for marking in group:
            kind = reader.expect(marking, ["marking"], "<marking> in <finalmarkings>")
            tokens: dict[int, int] = {}
            for place in marking:
                reader.expect(place, ["place"], f"<place> in <{kind}>")
                own = place.get("idref") or ""
                if own not in number:
                    reader.refuse(place, f"no place has the id {own!r}")
                if number[own] in tokens:
                    reader.refuse(place, f"the place {own!r} again in a marking")
                what = f"tokens of {own!r}"
                texts = [t for t in place if local_name(t) in {"text", "value"}]
                text = (texts[0].text or "").strip() if texts else "1"
                tokens[number[own]] = reader.numeral(place, text, 0, what)
            markings.append([[p, n] for p, n in tokens.items() if n])
    return markings


def _units_of(reader: NetReader, number: Mapping[str, int]) -> tuple[Plain, bool]:
    """Return the units of a nested-unit net, and whether they are said to be safe."""
    for tool in reader.tools:
        if (tool.get("tool") or "").lower() != _NUPN:
            continue
        for structure in tool.iter("{*}structure"):
            units = list(structure.iter("{*}unit"))
            own = {unit.get("id") or "": k for k, unit in enumerate(units)}
            found = [
                [
                    unit.get("id") or "",
                    _numbers(reader, unit, "places", number),
                    _numbers(reader, unit, "subunits", own),
                ]
                for unit in units
            ]
            _check_nesting(reader, structure, found)
            safe = structure.get("safe") == "true"
            if safe:
                _check_tokens(reader, structure, found)
            return found, safe
    return [], False


def _check_nesting(reader: NetReader, structure: Any, units: Plain) -> None:
    """Refuse a place or unit in two units, and units in a circle."""
    for what, column in (("place", 1), ("unit", 2)):
        parts = Counter(part for unit in units for part in unit[column])
        if any(times > 1 for times in parts.values()):
            reader.refuse(structure, f"a {what} is in two units")
    inner = {part for unit in units for part in unit[2]}
    waiting = [k for k in range(len(units)) if k not in inner]
    for k in waiting:
        waiting += units[k][2]
    if len(waiting) < len(units):
        reader.refuse(structure, "units are inside one another in a circle")


def _check_tokens(reader: NetReader, structure: Any, units: Plain) -> None:
    """Refuse safe units whose places have several tokens initially."""
    tokens = list(reader.places.values())
    for own in Notes(units=_units(units)).exclusive:
        if sum(tokens[place] for place in own) > 1:
            name = next(unit[0] for unit in units if own[0] in unit[1])
            reader.refuse(structure, f"the unit {name!r} is said to be safe, but its "
                          "places and those around it have several tokens")  # fmt: skip


def _units(plain: Plain) -> tuple[Unit, ...]:
    return tuple(Unit(own, tuple(p), tuple(u)) for own, p, u in plain)


def _numbers(
    reader: NetReader, unit: Any, kind: str, number: Mapping[str, int]
) -> list[int]:
    """Return the numbers of the ids in an element of a unit."""
    numbers = []
    for child in unit.iter(f"{{*}}{kind}"):
        for own in (child.text or "").split():
            if own not in number:
                reader.refuse(child, f"{own!r} in <{kind}> of a unit is unknown")
            numbers.append(number[own])
    return numbers


SAME = "priority timed"
"""Labels and attributes in which transitions may not differ."""
TIMELESS_TRANSITION = (
    f"id name priority infiniteServer urgent player=0 distribution value {DRAWN}"
)
"""The attributes of a transition that say nothing but its id and name."""
_ANY_AGE = {"[0,inf)", "[0,inf]"}


class TimelessReader(NetReader):
    """Refuses times, and transitions that go before others."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._first: Any = None  # transition

    def check_order(self, node: Any) -> None:
        """Refuse a transition that differs from the first in what orders them."""
        if self._first is None:
            self._first = node
        for kind in SAME.split():
            said, first = (self.said(n, kind) for n in (node, self._first))
            if said != first:
                told = " and ".join(repr(text or "") for text in (first, said))
                self.unsupported(
                    node,
                    f"transitions that differ in <{kind}>, {told}: expected the same "
                    "for all, since some would go before others",
                )

    def said(self, node: Any, kind: str) -> str | None:
        """Return what a label or an attribute says, None if there is neither."""
        label, text = self.label_text(node, kind), node.get(kind)
        if label is not None and text is not None and label != text.strip():
            self.refuse(node, f"{kind}={text[:40]!r}, but <{kind}> is {label[:40]!r}")
        return label if text is None else text.strip()

    def check_invariant(self, node: Any) -> None:
        """Refuse a place whose tokens may not get older than they like."""
        text = "".join((node.get("invariant") or "< inf").split())
        if text not in ("<inf", "<=inf"):
            self.unsupported(
                node, f"the invariant {text[:40]!r}, expected '< inf': there is no time"
            )

    def is_interval(self, arc: Any) -> bool:
        """Whether the inscription of an arc is an interval of ages: that of all."""
        text = "".join((arc.get("inscription") or "").split())
        if not text.startswith(("[", "(")):
            return False
        ages = text.partition(":")[0]
        if ages not in _ANY_AGE:
            self.unsupported(
                arc,
                f"the interval {ages[:40]!r}, expected '[0,inf)': there is no time",
            )
        return True
