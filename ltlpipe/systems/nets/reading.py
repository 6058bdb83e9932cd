"""Reading Petri nets from PNML files (``.pnml``, ``.pnml.gz``).

A file has one net, on any number of nested pages, which reference nodes may connect.  A
place/transition net is read by `ltlpipe.systems.nets.place_transition`, in the dialects
of several tools, a symmetric net by `ltlpipe.systems.nets.coloured.reading`.
Everything else could change what the net does, so it is refused by name: other types
of nets, times, priorities, and any element or attribute that is not known.

Files are untrusted: `ltlpipe.runtime.files` opens them.

Source: ISO/IEC 15909-2:2011, the format of place/transition nets.

Differences from the source: elements are known by their local names, whatever the
namespace; arcs and pages may lack an id, and those of arcs may repeat.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.errors import InputError, UnsupportedError, warn
from ltlpipe.runtime.files import local_name, xml_root
from ltlpipe.runtime.jobs import complete
from ltlpipe.systems.nets.coloured.net import from_plain
from ltlpipe.systems.nets.coloured.reading import ColouredReader
from ltlpipe.systems.nets.coloured.symmetric import symmetric_net
from ltlpipe.systems.nets.net import ExtendedNet, PetriNet
from ltlpipe.systems.nets.notes import notes_of
from ltlpipe.systems.nets.place_transition import PlaceTransitionReader, weights_of
from ltlpipe.systems.nets.structure import Place, SpecialTransition, Transition
from ltlpipe.systems.plain import texts_of

if TYPE_CHECKING:
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.nets.coloured.skeleton import BareNet
    from ltlpipe.systems.nets.coloured.symmetric import SymmetricNet
    from ltlpipe.systems.nets.net import NetModel
    from ltlpipe.systems.plain import Plain

_TYPES = re.compile(
    r"(.*/)?(pt-?netb?|p/t[ -]net|(inhibitor|reset|resetinhibitor)ptnet"
    r"|pnmlcore(model)?|epnml[-.0-9]*(/pnmllib)?|tpn)",
    re.IGNORECASE,
)
_COLOURED = re.compile(r"(.*/)?symmetric-?net", re.IGNORECASE)


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
        return PlaceTransitionReader(file).net(net)
    if not kind:  # what other nets have is refused by name
        return {**PlaceTransitionReader(file).net(net), "untyped": True}
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
