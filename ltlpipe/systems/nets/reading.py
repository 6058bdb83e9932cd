"""Reading Petri nets from PNML files (``.pnml``, ``.pnml.gz``).

What is read is what the nets of the Model Checking Contest use: one net of type
``ptnet`` or ``symmetricnet``, on any number of nested pages, which reference nodes may
connect.  A place/transition net has places with initial markings, transitions, and
arcs with weights; a symmetric net is read by `ltlpipe.systems.nets.coloured.reading`.
Everything else could change what the net does, so it is refused by name: other types
of nets, inhibitor, reset and read arcs, capacities, priorities, times, and any element
or attribute that is not known.

Parallel arcs between the same two nodes add up, as multisets do.

Files are untrusted: `ltlpipe.runtime.xml` opens them.

Source: ISO/IEC 15909-2:2011, the format of place/transition nets.

Differences from the source: elements are known by their local names, whatever the
namespace; arcs and pages may lack an id.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.runtime.xml import local_name, xml_root
from ltlpipe.systems.nets.coloured.net import from_plain
from ltlpipe.systems.nets.coloured.reading import ColouredReader
from ltlpipe.systems.nets.coloured.symmetric import symmetric_net
from ltlpipe.systems.nets.elements import NET_ELEMENTS, NetReader
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import MAX_TOKENS, Place, Transition
from ltlpipe.systems.plain import TURN, plain_texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
    from ltlpipe.systems.plain import Plain

_TYPES = re.compile(r"(.*/)?(pt-?netb?|p/t[ -]net)", re.IGNORECASE)
_COLOURED = re.compile(r"(.*/)?symmetric-?net", re.IGNORECASE)
_DICT_BYTES = 300


def parse_pnml(data: bytes, file: str) -> PetriNet | SymmetricNet:
    """Read the net in the bytes of a PNML file; errors say they are in `file`.

    Raises
    ------
    InputError
        The bytes are no PNML; names the line where there is one.
    UnsupportedError
        They hold several nets, one of another type, or one that has to be unfolded and
        is too large.
    """
    return complete(build(parse_plain(data, file), file))


def parse_plain(data: bytes, file: str) -> Plain:
    """Return the net in the bytes of a PNML file as plain data; see `parse_pnml`."""
    root = xml_root(data, file, "PNML")
    if local_name(root) != "pnml":
        message = f"found <{local_name(root)}>, expected <pnml>"
        raise InputError(message, file=file, line=root.sourceline)
    nets = [child for child in root if local_name(child) == "net"]
    if not nets:
        message = "no net, expected one <net>"
        raise InputError(message, file=file, line=root.sourceline)
    if len(nets) > 1:
        place = f"{file}:{nets[1].sourceline}"
        raise UnsupportedError(f"{place}: {len(nets)} nets in one file, expected one")
    (net,) = nets
    kind = (net.get("type") or "").strip()
    if _COLOURED.fullmatch(kind):
        return ColouredReader(file).net(net)
    if _TYPES.fullmatch(kind):
        return _Reader(file).net(net)
    named = repr(kind.rsplit("/", 1)[-1]) if kind else "no type"
    raise UnsupportedError(
        f"{file}:{net.sourceline}: a net of type {named}, expected a place/transition "
        "net ('ptnet') or a symmetric net ('symmetricnet')"
    )


def build(plain: Plain, file: str) -> Job[PetriNet | SymmetricNet]:
    """Build the net that `parse_plain` has returned."""
    if "coloured" in plain:
        return (yield from symmetric_net(from_plain(plain["coloured"]), file))
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


class _Reader(NetReader):
    """Reads a place/transition net: places are their tokens, transitions nothing."""

    known: ClassVar = NET_ELEMENTS | {
        "place": ("id name", "name initialMarking"),
        "arc": ("id source target type name", "name inscription type arctype"),
        "initialMarking": ("", "text"),
        "inscription": ("", "text"),
    }

    def place(self, node: Any, own: str) -> int:
        what = f"marking of place {own!r}"
        return self.number(node, "initialMarking", 0, what) or 0

    def transition(self, node: Any, own: str) -> None:
        del node, own

    def net(self, net: Any) -> Plain:
        """Return a net as plain data."""
        self.refuse_unknown(net)
        self.collect(net)
        number = {own: k for k, own in enumerate(self.places)}
        pre: dict[str, dict[int, int]] = {own: {} for own in self.transitions}
        post: dict[str, dict[int, int]] = {own: {} for own in self.transitions}
        for arc in self.arcs():
            weight = self.number(arc.element, "inscription", 1, "weight of an arc") or 1
            weights = (pre if arc.takes else post)[arc.transition]
            place = number[arc.place]
            weights[place] = weights.get(place, 0) + weight
            if weights[place] > MAX_TOKENS:
                self.refuse(
                    arc.element, f"parallel arcs of more than {MAX_TOKENS} in all"
                )
        return {
            "name": net.get("id") or self.file,
            "places": plain_texts(self.places),
            "place_names": plain_texts(self.names[own] for own in self.places),
            "tokens": np.array(list(self.places.values()), dtype=np.int64),
            "transitions": plain_texts(self.transitions),
            "transition_names": plain_texts(self.names[t] for t in self.transitions),
            "pre": _plain_weights(pre.values()),
            "post": _plain_weights(post.values()),
        }
