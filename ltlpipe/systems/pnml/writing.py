"""Writing place/transition nets as PNML.

One net on one page, without graphics; `ltlpipe.systems.pnml.reading` gives it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lxml import etree

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.files import write_text

if TYPE_CHECKING:
    from ltlpipe.runtime.files import StrPath
    from ltlpipe.systems.pnml.net import PetriNet
    from ltlpipe.systems.pnml.structure import Node

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
    root = etree.Element("pnml", xmlns=f"{GRAMMAR}/pnml")
    try:
        _fill(etree.SubElement(root, "net", type=f"{GRAMMAR}/ptnet"), net)
    except ValueError as error:
        raise UnsupportedError(f"{net.name}: {error}, expected text for XML") from None
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _fill(element: Any, net: PetriNet) -> None:
    taken = {node.id for node in (*net.places, *net.transitions)}
    element.set("id", _fresh(net.name, taken))
    page = etree.SubElement(element, "page", id=_fresh("page", taken))
    for place in net.places:
        child = _add_node(page, "place", place)
        if place.tokens:
            _add_label(child, "initialMarking", str(place.tokens))
    for transition in net.transitions:
        _add_node(page, "transition", transition)
    for transition in net.transitions:
        for number, weight in transition.pre.items():
            _add_arc(page, net.places[number].id, transition.id, weight)
        for number, weight in transition.post.items():
            _add_arc(page, transition.id, net.places[number].id, weight)


def _fresh(text: str, taken: set[str]) -> str:
    """Return an id that no node has, and take it."""
    while text in taken:
        text += "_"
    taken.add(text)
    return text


def _add_node(page: Any, kind: str, node: Node) -> Any:
    child = etree.SubElement(page, kind, id=node.id)
    _add_label(child, "name", node.name)
    return child


def _add_arc(page: Any, source: str, target: str, weight: int) -> None:
    arc = etree.SubElement(page, "arc", source=source, target=target)
    if weight != 1:
        _add_label(arc, "inscription", str(weight))


def _add_label(element: Any, kind: str, text: str) -> None:
    label = etree.SubElement(element, kind)
    etree.SubElement(label, "text").text = text
