"""Writing place/transition nets as PNML.

One net on one page, without graphics; `ltlpipe.systems.nets.reading` gives it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree
from lxml.builder import E

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.nets.net import PetriNet
    from ltlpipe.systems.nets.structure import Node

GRAMMAR = "http://www.pnml.org/version-2009/grammar"


def save_pnml(net: PetriNet, path: StrPath) -> None:
    """Write a net to a file, compressed if its name ends in ``.gz``.

    Raises
    ------
    UnsupportedError
        An id or a name has characters that XML does not allow.
    LtlpipeError
        The file cannot be written.
    """
    write_text(path, pnml_text(net))


def pnml_text(net: PetriNet) -> str:
    """Return what `save_pnml` writes.

    Raises
    ------
    UnsupportedError
        An id or a name has characters that XML does not allow.
    """
    taken = {node.id for node in (*net.places, *net.transitions)}
    own = _fresh(net.name, taken)
    try:
        page = E("page", *_elements(net), id=_fresh("page", taken))
        element = E("net", page, type=f"{GRAMMAR}/ptnet", id=own)
    except ValueError as error:
        raise UnsupportedError(f"{net.name}: {error}, expected text for XML") from None
    root = E("pnml", element, xmlns=f"{GRAMMAR}/pnml")
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _fresh(text: str, taken: set[str]) -> str:
    """Return an id that no node has, and take it."""
    while text in taken:
        text += "_"
    taken.add(text)
    return text


def _elements(net: PetriNet) -> Iterator[Any]:
    for place in net.places:
        labels = [_label("initialMarking", place.tokens)] if place.tokens else []
        yield E("place", _label("name", place.name), *labels, id=place.id)
    for transition in net.transitions:
        yield E("transition", _label("name", transition.name), id=transition.id)
    for transition in net.transitions:
        for number, weight in transition.pre.items():
            yield _arc(net.places[number], transition, weight)
        for number, weight in transition.post.items():
            yield _arc(transition, net.places[number], weight)


def _arc(source: Node, target: Node, weight: int) -> Any:
    labels = [] if weight == 1 else [_label("inscription", weight)]
    return E("arc", *labels, source=source.id, target=target.id)


def _label(kind: str, text: str | int) -> Any:
    return E(kind, E("text", str(text)))
