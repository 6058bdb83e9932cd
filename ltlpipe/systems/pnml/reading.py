"""Reading place/transition nets from PNML files (``.pnml``, ``.pnml.gz``).

What is read is what the nets of the Model Checking Contest use: one net of type
``ptnet``, places with initial markings, transitions, and arcs with weights, on
any number of nested pages, which reference nodes may connect.  Graphics and what
tools add for themselves (``toolspecific``) are passed over.  Everything else could
change what the net does, so it is refused by name: other types of nets, inhibitor,
reset and read arcs, capacities, priorities, times.

Parallel arcs between the same two nodes add up, as multisets do.

Files come from strangers: `ltlpipe.runtime.xml` opens them.

Source: ISO/IEC 15909-2:2011, the format of place/transition nets.

Differences from the source: elements are known by their local names, whatever the
namespace; arcs and pages may lack an id.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.xml import local_name, xml_root
from ltlpipe.systems.plain import TURN, plain_texts, texts_of
from ltlpipe.systems.pnml.net import PetriNet
from ltlpipe.systems.pnml.structure import MAX_TOKENS, Place, Transition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain

_PASSED_OVER = {"graphics", "toolspecific"}
_LABELS = {
    "place": {"name", "initialMarking"},
    "transition": {"name"},
    "referencePlace": {"name"},
    "referenceTransition": {"name"},
    "arc": {"name", "inscription", "type", "arctype"},
}
_NODES = _LABELS.keys() - {"arc"}
_TYPES = re.compile(r"(.*/)?(pt-?netb?|p/t[ -]net)", re.IGNORECASE)
_PLAIN_ARCS = {"", "normal"}
_NUMBER = re.compile(r"[+-]?[0-9]+")
_DICT_BYTES = 300


def parse_pnml(data: bytes, file: str) -> PetriNet:
    """Read the net in the bytes of a PNML file; errors say they are in `file`.

    Raises
    ------
    InputError
        The bytes are no PNML; names the line where there is one.
    UnsupportedError
        They hold several nets, or more than a place/transition net with plain arcs.
    """
    return complete(build(parse_plain(data, file), file))


def parse_plain(data: bytes, file: str) -> Plain:
    """Return the net in the bytes of a PNML file as plain data; see `parse_pnml`."""
    return _Reader(file).net(xml_root(data, file, "PNML"))


def build(plain: Plain, _file: str) -> Job[PetriNet]:
    """Build the net that `parse_plain` has returned."""
    ids = yield from texts_of(plain["places"])
    names = yield from texts_of(plain["place_names"])
    places = list(map(Place, ids, names, plain["tokens"].tolist()))
    ids = yield from texts_of(plain["transitions"])
    names = yield from texts_of(plain["transition_names"])
    pre = yield from _weights_of(plain["pre"])
    post = yield from _weights_of(plain["post"])
    transitions = list(map(Transition, ids, names, pre, post))
    return (yield from PetriNet.building(places, transitions, plain["name"]))


def _plain_weights(weights: Iterable[dict[int, int]]) -> Plain:
    """Return weights by place, of each transition, as arrays."""
    every = list(weights)
    return {
        "sizes": np.array([len(w) for w in every], dtype=np.int64),
        "place": np.array([p for w in every for p in w], dtype=np.int64),
        "weight": np.array([x for w in every for x in w.values()], dtype=np.int64),
    }


def _weights_of(plain: Plain) -> Job[list[dict[int, int]]]:
    """Return what `_plain_weights` was given."""
    weights: list[dict[int, int]] = []
    begin = 0
    for first in range(0, len(plain["sizes"]), TURN):
        sizes = plain["sizes"][first : first + TURN]
        end = begin + int(sizes.sum())
        places = iter(plain["place"][begin:end].tolist())
        values = plain["weight"][begin:end].tolist()
        entries = iter(list(zip(places, values, strict=True)))
        weights += [dict(islice(entries, size)) for size in sizes.tolist()]
        begin = end
        yield Progress("reading", TURN + end, _DICT_BYTES * len(weights))
    return weights


class _Reader:
    """Collects the nodes and arcs of one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.ids: dict[str, Any] = {}  # of whatever has one
        self.names: dict[str, str] = {}
        self.tokens: dict[str, int] = {}  # places, in order
        self.arcs: list[Any] = []
        self.transitions: list[str] = []
        self.references: dict[str, str] = {}  # of reference nodes

    def net(self, root: Any) -> Plain:
        if local_name(root) != "pnml":
            self._refuse(root, f"found <{local_name(root)}>, expected <pnml>")
        nets = [child for child in root if local_name(child) == "net"]
        if not nets:
            self._refuse(root, "no net, expected one <net>")
        if len(nets) > 1:
            self._unsupported(nets[1], f"{len(nets)} nets in one file, expected one")
        self._check_type(nets[0])
        self._enter(nets[0])
        self._read_page(nets[0])
        return self._finished(nets[0].get("id") or self.file)

    def _check_type(self, net: Any) -> None:
        kind = (net.get("type") or "").strip()
        if not _TYPES.fullmatch(kind):
            named = repr(kind.rsplit("/", 1)[-1]) if kind else "no type"
            self._unsupported(
                net, f"a net of type {named}, expected a place/transition net ('ptnet')"
            )

    def _read_page(self, top: Any) -> None:
        """Read what a net or a page holds, the pages inside it included."""
        waiting = [iter(top)]
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                waiting.pop()
                continue
            kind = local_name(child)
            if kind == "page":
                self._enter(child)
                waiting.append(iter(child))
            elif kind in _NODES:
                self._read_node(child, kind)
            elif kind == "arc":
                self._enter(child)
                self._check_arc(child)
                self.arcs.append(child)
            elif kind not in _PASSED_OVER and kind != "name":
                self._unsupported(
                    child, f"<{kind}>, expected pages, places, transitions and arcs"
                )

    def _enter(self, element: Any) -> str:
        """Note an element's id, and return it."""
        own = element.get("id")
        if own is None:
            return ""
        if own in self.ids:
            first = self.ids[own].sourceline
            self._refuse(element, f"the id {own!r} again (first in line {first})")
        self.ids[own] = element
        return str(own)

    def _read_node(self, node: Any, kind: str) -> None:
        if not node.get("id"):
            self._refuse(node, f"a <{kind}> without id")
        own = self._enter(node)
        self._check_labels(node, kind)
        self.names[own] = self._label(node, "name") or own
        if kind == "place":
            what = f"marking of place {own!r}"
            self.tokens[own] = self._number(node, "initialMarking", 0, what) or 0
        elif kind == "transition":
            self.transitions.append(own)
        else:
            self.references[own] = node.get("ref") or ""

    def _check_labels(self, element: Any, kind: str) -> None:
        """Refuse labels that might change what the net does."""
        for child in element:
            label = local_name(child)
            if label not in _LABELS[kind] and label not in _PASSED_OVER:
                expected = " or ".join(sorted(_LABELS[kind] - {"arctype"}))
                self._unsupported(
                    child, f"<{label}> of a {kind}, expected at most {expected}"
                )

    def _check_arc(self, arc: Any) -> None:
        """Refuse arcs that do more than take and put tokens."""
        self._check_labels(arc, "arc")
        kinds = [arc.get("type") or ""]
        for child in arc:
            if local_name(child) in {"type", "arctype"}:
                kinds += [child.get("value") or "", self._text(child) or ""]
        for kind in kinds:
            if kind.strip().lower() not in _PLAIN_ARCS:
                self._unsupported(
                    arc, f"an arc of type {kind.strip()!r}, expected plain arcs"
                )

    def _label(self, element: Any, kind: str) -> str | None:
        """Return the text of a label; None if there is no such label."""
        labels = [child for child in element if local_name(child) == kind]
        if not labels:
            return None
        if len(labels) > 1:
            self._refuse(labels[1], f"a second <{kind}>")
        text = self._text(labels[0])
        if text is None and kind != "name":
            self._refuse(labels[0], f"a <{kind}> without <text>")
        return text

    def _text(self, label: Any) -> str | None:
        """Return what the <text> of a label says; None if there is none."""
        texts = [child for child in label if local_name(child) == "text"]
        if not texts:
            return None
        if len(texts) > 1 or len(texts[0]):
            self._refuse(label, "expected one <text> with nothing but text")
        return (texts[0].text or "").strip()

    def _number(self, element: Any, kind: str, least: int, what: str) -> int | None:
        """Return the number that a label is; None if there is no such label."""
        text = self._label(element, kind)
        if text is None:
            return None
        if not _NUMBER.fullmatch(text):
            self._refuse(element, f"{text[:40]!r} as {what}, expected a number")
        # Long texts would be slow to read as numbers, and are too large anyway.
        value = int(text) if len(text) < 40 else MAX_TOKENS + 1
        if not least <= value <= MAX_TOKENS:
            expected = f"expected {least} to {MAX_TOKENS}"
            self._refuse(element, f"{text[:40]} as {what}, {expected}")
        return value

    def _finished(self, name: str) -> Plain:
        """Connect the nodes by the arcs."""
        number = {own: k for k, own in enumerate(self.tokens)}
        pre: dict[str, dict[int, int]] = {own: {} for own in self.transitions}
        post: dict[str, dict[int, int]] = {own: {} for own in self.transitions}
        for arc in self.arcs:
            source, target = self._end(arc, "source"), self._end(arc, "target")
            if (source in number) == (target in number):
                kind = "places" if source in number else "transitions"
                self._refuse(arc, f"an arc between two {kind}")
            weight = self._number(arc, "inscription", 1, "weight of an arc") or 1
            if source in number:
                place, weights = number[source], pre[target]
            else:
                place, weights = number[target], post[source]
            weights[place] = weights.get(place, 0) + weight
            if weights[place] > MAX_TOKENS:
                self._refuse(arc, f"parallel arcs of more than {MAX_TOKENS} in all")
        return {
            "name": name,
            "places": plain_texts(self.tokens),
            "place_names": plain_texts(self.names[own] for own in self.tokens),
            "tokens": np.array(list(self.tokens.values()), dtype=np.int64),
            "transitions": plain_texts(self.transitions),
            "transition_names": plain_texts(self.names[t] for t in self.transitions),
            "pre": _plain_weights(pre.values()),
            "post": _plain_weights(post.values()),
        }

    def _end(self, arc: Any, side: str) -> str:
        """Return the place or transition where an arc begins or ends."""
        own = arc.get(side)
        if own is None:
            self._refuse(arc, f"an arc without {side}")
        passed = set()
        while own in self.references:
            if own in passed:
                self._refuse(self.ids[own], f"the reference {own!r} refers to itself")
            passed.add(own)
            own = self._referred(own)
        if own not in self.names:
            through = " through references" if passed else ""
            self._refuse(
                arc,
                f"the {side} of an arc is{through} {own!r}, expected the id of a place"
                " or a transition",
            )
        return str(own)

    def _referred(self, own: str) -> str:
        """Return what a reference node refers to."""
        target = self.references[own]
        if target in self.names:
            kinds = [
                local_name(self.ids[node]).removeprefix("reference").lower()
                for node in (own, target)
            ]
            if kinds[0] != kinds[1]:
                self._refuse(
                    self.ids[own],
                    f"the reference {own!r} to a {kinds[0]} is a {kinds[1]}'s",
                )
        return target

    def _refuse(self, element: Any, message: str) -> NoReturn:
        raise InputError(message, file=self.file, line=element.sourceline)

    def _unsupported(self, element: Any, message: str) -> NoReturn:
        raise UnsupportedError(f"{self.file}:{element.sourceline}: {message}")
