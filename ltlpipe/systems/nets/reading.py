"""Reading Petri nets from PNML files (``.pnml``, ``.pnml.gz``).

A file has one net, on any number of nested pages, which reference nodes may connect.  A
place/transition net is read here, in the dialects of several tools, a symmetric net by
`ltlpipe.systems.nets.coloured.reading`.  Everything else could change what the net
does, so it is refused by name: other types of nets, times, priorities, and any element
or attribute that is not known.

Files are untrusted: `ltlpipe.runtime.files` opens them.

Places have initial markings, and maybe capacities; arcs have weights.  Both may be
labels or, as TAPAAL has them, attributes.  Parallel arcs between the same two nodes add
up, as multisets do.  Beside plain arcs there are, from places to transitions:

- inhibitor arcs: with at least so many tokens in the place the transition is disabled;
- read (or test) arcs: with fewer it is disabled, and none are taken;
- reset (or clear) arcs: the place is emptied, after tokens have been taken and before
  others are put.

Nets of TAPAAL that are coloured are called place/transition nets, too: the types of
their places tell them.  Where there are none, declarations of colours mean nothing.

A place of capacity K never holds more than K tokens after a transition that adds to it;
0 is no limit, as in PIPE.  What has no meaning without time is read where it says that
there is none, and refused by name otherwise: intervals and invariants other than "any",
priorities that differ.

A *sub-process* of WoPeD is a transition with a page of its own, which has a net.  It is
replaced by that net, whose places with ids of places outside are those places.

Sources: ISO/IEC 15909-2:2011, the format of place/transition nets; T. Murata, "Petri
Nets: Properties, Analysis and Applications", Proceedings of the IEEE 77(4), 1989, pp.
541-580 (capacities, inhibitor arcs, which have weights as those of G. Chiola, M. Ajmone
Marsan, G. Balbo and G. Conte, IEEE Transactions on Software Engineering 19(2), 1993);
C. Dufourd, A. Finkel and P. Schnoebelen, "Reset Nets Between Decidability and
Undecidability", ICALP 1998, LNCS 1443, pp. 103-115.

Differences from the sources: elements are known by their local names, whatever the
namespace; arcs and pages may lack an id, and those of arcs may repeat.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError, warn
from ltlpipe.runtime.files import local_name, xml_root
from ltlpipe.runtime.jobs import Progress, complete
from ltlpipe.systems.nets.coloured.net import from_plain
from ltlpipe.systems.nets.coloured.reading import ColouredReader
from ltlpipe.systems.nets.coloured.symmetric import symmetric_net
from ltlpipe.systems.nets.elements import (
    ARCS,
    DRAWN,
    NET_ELEMENTS,
    PLAIN_ARC,
    SAME,
    TIMELESS_TRANSITION,
    TimelessReader,
    is_invisible,
    noted,
    notes_of,
)
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.structure import (
    MAX_TOKENS,
    Place,
    SpecialTransition,
    Transition,
)
from ltlpipe.systems.plain import TURN, plain_texts, texts_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.skeleton import BareNet
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
    from ltlpipe.systems.nets.net import NetModel
    from ltlpipe.systems.plain import Plain

_TYPES = re.compile(
    r"(.*/)?(pt(-?netb?)?|p/t[ -]net|(inhibitor|reset|resetinhibitor)ptnet"
    r"|pnmlcore(model)?|epnml[-.0-9]*(/pnmllib)?|tpn)",
    re.IGNORECASE,
)
_COLOURED = re.compile(
    r"(.*/)?(symmetric-?net|pt-hlpng|high-?level-?net)", re.IGNORECASE
)


def parse_pnml(data: bytes, file: str) -> NetModel | SymmetricNet | BareNet:
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
        raise InputError("no net, expected one <net>", file=file, line=root.sourceline)
    if len(nets) > 1:
        place = f"{file}:{nets[1].sourceline}"
        raise UnsupportedError(f"{place}: {len(nets)} nets in one file, expected one")
    (net,) = nets
    kind = (net.get("type") or "").strip()
    of_places = not kind or _TYPES.fullmatch(kind)
    coloured = net.find(".//{*}place/{*}type/{*}structure") is not None
    if _COLOURED.fullmatch(kind) or (of_places and coloured):
        return ColouredReader(file).net(net)
    if of_places:  # without a type, what other nets have is refused by name
        return {**PlaceTransitionReader(file).net(net), "untyped": not kind}
    named = repr(kind.rsplit("/", 1)[-1])
    raise UnsupportedError(
        f"{file}:{net.sourceline}: a net of type {named}, expected a place/transition "
        "net ('ptnet') or a symmetric net ('symmetricnet')"
    )


def build(plain: Plain, file: str) -> Job[NetModel | SymmetricNet | BareNet]:
    """Build the net that `parse_plain` has returned."""
    if "coloured" in plain:
        return (yield from symmetric_net(from_plain(plain["coloured"]), file))
    if plain.get("untyped"):
        warn(f"{file}: the net has no type: read as a place/transition net")
    ids = yield from texts_of(plain["places"])
    names = yield from texts_of(plain["place_names"])
    places = list(map(Place, ids, names, plain["tokens"].tolist()))
    ids = yield from texts_of(plain["transitions"])
    names = yield from texts_of(plain["transition_names"])
    needs = yield from weights_of(plain["needs"])
    adds = yield from weights_of(plain["adds"])
    notes = notes_of(plain["notes"])
    net: NetModel
    transitions: list[Any]
    if "limits" in plain:
        net = ExtendedNet.__new__(ExtendedNet)
        limits = yield from weights_of(plain["limits"])
        resets = map(frozenset, (yield from weights_of(plain["resets"])))
        parts = (ids, names, needs, limits, resets, adds)
        transitions = list(map(SpecialTransition, *parts))
    else:
        net = PetriNet.__new__(PetriNet)
        transitions = list(map(Transition, ids, names, needs, adds))
    yield from net.fill(places, transitions, plain["name"], notes)
    return net


_DICT_BYTES = 300

INHIBITOR, READ, RESET = "inhibitor", "read", "reset"

_KINDS = {
    **dict.fromkeys((PLAIN_ARC, "regular", "timed", "transport"), PLAIN_ARC),
    **dict.fromkeys((INHIBITOR, "tapninhibitor"), INHIBITOR),
    **dict.fromkeys((READ, "test"), READ),
    **dict.fromkeys((RESET, "clear"), RESET),
}
"""What arcs are, by what tools call them."""

_NO_CAPACITY = {"0", "inf", "infinity", "infinite", "-1"}


class _Weights(NamedTuple):
    """The arcs of a transition, by the numbers of places."""

    takes: dict[int, int]
    puts: dict[int, int]
    reads: dict[int, int]
    limits: dict[int, int]
    resets: dict[int, int]


class PlaceTransitionReader(TimelessReader):
    """Reads a place/transition net: places are their tokens, transitions nothing."""

    known: ClassVar = NET_ELEMENTS | {
        "pnml": ("", "net shared-place shared-transition declaration"),
        "net": (
            "id type name active=true",
            f"{NET_ELEMENTS['net'][1]} declaration {' '.join(ARCS)}",
        ),
        "page": ("id name", f"{NET_ELEMENTS['page'][1]} net"),
        "place": (
            f"id name initialMarking invariant capacity {DRAWN}",
            "name initialMarking capacity",
        ),
        "transition": (
            TIMELESS_TRANSITION,
            "name priority timed rate infiniteServer",
        ),
        **dict.fromkeys(
            ARCS,
            (
                f"id source target type name inscription weight {DRAWN}",
                "name inscription type arctype",
            ),
        ),
        "shared-place": ("name initialMarking invariant", ""),
        "shared-transition": ("name urgent player=0", ""),
        **dict.fromkeys(
            ("initialMarking", "capacity", "inscription", *SAME.split()),
            ("", "text value"),
        ),
        **dict.fromkeys(("rate", "infiniteServer"), ("", "text value")),
    }

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.capacities: dict[str, int] = {}
        self.invisible: list[str] = []

    def place(self, node: Any, own: str) -> int:
        """Return the initial marking of a place, and note its capacity."""
        self.check_invariant(node)
        tokens = self.either(node, "initialMarking", 0, f"marking of place {own!r}")
        text = self.said(node, "capacity")
        if text is not None and text.lower() not in _NO_CAPACITY:
            what = f"capacity of place {own!r}"
            most = self.numeral(node, text, 0, what)
            if most:  # that of PIPE may be "Default,0"
                self.capacities[own] = most
                if tokens is not None and tokens > most:
                    self.refuse(node, f"{tokens} tokens in place {own!r}, which has "
                                f"the capacity {most}")  # fmt: skip
        return tokens or 0

    def transition(self, node: Any, own: str) -> None:
        """Note whether a transition is invisible; refuse what orders transitions."""
        if is_invisible(node, self.names[own]):
            self.invisible.append(own)
        self.check_order(node)

    def known_place(self, node: Any, own: str) -> bool:
        """Whether a place of a sub-process is one that was read before."""
        around = [local_name(part) for part in islice(node.iterancestors(), 2)]
        if own not in self.places or around != ["net", "page"]:
            return False
        tokens = self.place(node, own)
        if tokens not in (0, self.places[own]):
            held = self.places[own]
            self.refuse(node, f"{tokens} tokens in place {own!r}, which has {held}")
        return True

    def _replace_refined(self) -> None:
        """Leave out the transitions that the nets of sub-processes stand for."""
        for own, page in self.refined.items():
            if own not in self.transitions:
                self.refuse(page, f"a <net> in the page {own!r}, expected the id of a "
                            "transition that it is the sub-process of")  # fmt: skip
            del self.transitions[own]
        self.invisible = [own for own in self.invisible if own in self.transitions]

    def check_arc(self, arc: Any) -> None:
        """Refuse arcs of kinds that are not known."""
        kind = self.arc_kind(arc)
        if kind not in _KINDS:
            known = "a plain, inhibitor, read or reset arc"
            self.unsupported(arc, f"an arc of type {kind!r}, expected {known}")

    def either(self, node: Any, kind: str, least: int, what: str) -> int | None:
        """Return the number that a label or an attribute is; None if there is none."""
        text = self.said(node, kind)
        return None if text is None else self.numeral(node, text, least, what)

    def _weight(self, arc: Any) -> int:
        """Return the weight of an arc, which has no interval of ages."""
        what = "weight of an arc"
        label = self.label_text(arc, "inscription")
        weight, text = arc.get("weight"), arc.get("inscription")
        said = []
        if self.is_interval(arc):
            text = None
        if weight is not None and text is not None and text.strip() == "1":
            text = None  # that of TAPAAL, whose weights stand in `weight`
        for one in (label, weight, text):
            if one is not None:
                said.append(self.numeral(arc, one.strip(), 1, what))
        if len(set(said)) > 1:
            self.refuse(arc, f"{said[0]} and {said[1]} as weights of one arc")
        return said[0] if said else 1

    def _check_shared(self, root: Any) -> None:
        """Refuse places shared between nets that have another marking in the net."""
        for child in root:
            if local_name(child) != "shared-place":
                continue
            self.check_invariant(child)
            name = child.get("name") or ""
            tokens = self.either(child, "initialMarking", 0, f"marking of {name!r}")
            for own, held in self.places.items():
                if self.names[own] == name and held != (tokens or 0):
                    self.refuse(child, f"{tokens or 0} tokens in the shared place "
                                f"{name!r}, which has {held} in the net")  # fmt: skip

    def net(self, net: Any) -> Plain:
        """Return a net as plain data."""
        self.refuse_unknown(net)
        self.collect(net)
        self._replace_refined()
        self._check_shared(net.getparent())
        number = {own: k for k, own in enumerate(self.places)}
        every = {own: _Weights({}, {}, {}, {}, {}) for own in self.transitions}
        for arc in self.arcs():
            kind = _KINDS[self.arc_kind(arc.element)]
            self._enter_arc(arc.element, kind, every[arc.transition],
                            number[arc.place], takes=arc.takes)  # fmt: skip
        for own, most in self.capacities.items():
            for weights in every.values():
                _limit(weights, number[own], most)
        return {
            "name": net.get("id") or self.file,
            "places": plain_texts(self.places),
            "place_names": plain_texts(self.names[own] for own in self.places),
            "tokens": np.array(list(self.places.values()), dtype=np.int64),
            "transitions": plain_texts(self.transitions),
            "transition_names": plain_texts(self.names[t] for t in self.transitions),
            **_plain_arcs(list(every.values())),
            "notes": noted(self, net, number),
        }

    def _enter_arc(
        self, element: Any, kind: str, weights: _Weights, place: int, *, takes: bool
    ) -> None:
        """Note what an arc does."""
        weight = self._weight(element)
        if kind != PLAIN_ARC and not takes:
            self.refuse(element, f"an arc of type {kind!r} from a transition, expected "
                        "one from a place")  # fmt: skip
        if kind == RESET:
            if weight > 1:
                self.unsupported(element, f"a reset arc of weight {weight}")
            weights.resets[place] = 1
        elif kind == INHIBITOR:
            most = weights.limits.get(place, weight - 1)
            weights.limits[place] = min(most, weight - 1)
        elif kind == READ:
            weights.reads[place] = max(weights.reads.get(place, 0), weight)
        else:
            side = weights.takes if takes else weights.puts
            side[place] = side.get(place, 0) + weight
        put = weights.puts.get(place, 0) + weights.reads.get(place, 0)
        if max(put, weights.takes.get(place, 0)) > MAX_TOKENS:
            self.refuse(element, f"parallel arcs of more than {MAX_TOKENS} in all")
        if place in weights.reads and place in weights.takes:
            self.unsupported(
                element,
                "a read arc beside an arc that takes from the same place, whose tools "
                "disagree on what has to be there",
            )


def _limit(weights: _Weights, place: int, capacity: int) -> None:
    """Add the limit that the capacity of a place is for a transition."""
    put = weights.puts.get(place, 0)
    added = put if place in weights.resets else put - weights.takes.get(place, 0)
    if added <= 0 or (place in weights.resets and added <= capacity):
        return
    most = 0 if place in weights.resets else capacity - added
    if most < 0 or place in weights.resets:  # it is never enabled
        weights.reads[place] = max(weights.reads.get(place, 0), 1)
    most = max(most, 0)
    weights.limits[place] = min(weights.limits.get(place, most), most)


def _plain_arcs(every: list[_Weights]) -> Plain:
    """Return what transitions need and add, and limits and resets if there are any."""
    if not any(w.limits or w.resets for w in every):
        pre = [w.takes | w.reads for w in every]
        post = [_joined(w.puts, w.reads) for w in every]
        return {"needs": _plain_weights(pre), "adds": _plain_weights(post)}
    needs, adds = [], []
    for w in every:
        least = w.takes | w.reads
        needs.append({p: max(n, w.takes.get(p, 0)) for p, n in least.items()})
        taken = {p: n for p, n in w.takes.items() if p not in w.resets}
        added = {p: w.puts.get(p, 0) - taken.get(p, 0) for p in taken | w.puts}
        adds.append({p: n for p, n in added.items() if n})
    return {
        "needs": _plain_weights(needs),
        "adds": _plain_weights(adds),
        "limits": _plain_weights(w.limits for w in every),
        "resets": _plain_weights(w.resets for w in every),
    }


def _joined(puts: dict[int, int], reads: dict[int, int]) -> dict[int, int]:
    return puts | {place: n + puts.get(place, 0) for place, n in reads.items()}


def _plain_weights(weights: Iterable[dict[int, int]]) -> Plain:
    """Return weights by place, of each transition, as arrays."""
    every = list(weights)
    return {
        "sizes": np.array([len(w) for w in every], dtype=np.int64),
        "place": np.array([p for w in every for p in w], dtype=np.int64),
        "weight": np.array([x for w in every for x in w.values()], dtype=np.int64),
    }


def weights_of(plain: Plain) -> Job[list[dict[int, int]]]:
    """Return the weights by place, of each transition, that arrays hold."""
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
