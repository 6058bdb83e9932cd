"""Untrusted XML, read by lxml.

Document type declarations are refused, and with them entities, external or
exponential; nothing is fetched, and what is not well-formed or nested hundreds of
levels deep ends in an error.  What a reader of such a document does not know it refuses
by name (`unknown_part`), for it may carry meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.names import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

Known: TypeAlias = dict[str, tuple[str, str | None]]
"""The attributes and the children that elements may have, by their names.

An attribute ``a=v`` may have the value v only.  The child ``#text`` is text.  None as
children: the reader itself refuses those that it does not know, and text between them
means nothing.
"""

_HARMLESS = (
    "{http://www.w3.org/XML/1998/namespace}",  # the language, blanks that count
    "{http://www.w3.org/2001/XMLSchema-instance}",  # where a schema is
)
"""The namespaces of attributes that mean nothing here."""


def xml_root(data: bytes, file: str, expected: str) -> Any:
    """Return the root element of a document without declarations of its own.

    Raises
    ------
    InputError
        The bytes are no such document (`expected` says what is one); names the line
        where there is one.
    """
    from lxml import etree

    if not data.strip():
        raise InputError(f"the file is empty, expected {expected}", file=file)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno or None
        raise InputError(f"no XML: {error.msg}", file=file, line=line) from None
    about: Any = root.getroottree().docinfo
    if about.doctype:
        at = data.find(b"<!DOCTYPE")
        raise InputError(
            "a document type declaration, expected none: it could define entities",
            file=file,
            line=1 + data.count(b"\n", 0, at) if at >= 0 else None,
        )
    return root


def local_name(element: Any) -> str:
    """Return what an element is called, whatever its namespace."""
    return str(element.tag).rpartition("}")[2]


def unknown_part(
    root: Any, known: Known, harmless: Collection[str] = ()
) -> tuple[Any, str] | None:
    """Return the first element with an unknown part, and that in words; None if none.

    Elements in `harmless` are passed over with all that is in them, wherever they are.
    """
    waiting = [root]
    while waiting:
        element = waiting.pop()
        kind = local_name(element)
        if kind in harmless or kind not in known:  # its parent's reader refuses that
            continue
        for place, found, expected in _unknown(element, *known[kind], harmless):
            names = [n for n in expected if "=" not in n and n != "#text"]
            at_most = f"at most {listed(names)}" if names else "nothing"
            return place, f"{found}, expected {at_most}"
        waiting += reversed(element)
    return None


def _unknown(
    element: Any, attributes: str, children: str | None, harmless: Collection[str]
) -> Iterator[tuple[Any, str, list[str]]]:
    """Yield what is not known of an element: where, what, and what could be there."""
    kind, known = local_name(element), attributes.split()
    for name, value in element.attrib.items():
        is_known = name in known or f"{name}={value}" in known
        if not is_known and not name.startswith(_HARMLESS):
            told = f"{name.rpartition('}')[2]}={value[:40]!r}"
            yield element, f"the attribute {told} of <{kind}>", known
    if children is None:
        return
    known = children.split()
    for child in element:
        inner = local_name(child)
        if inner not in known and inner not in harmless:
            yield child, f"<{inner}> in <{kind}>", known
    for text in (element.text, *(child.tail for child in element)):
        if "#text" not in known and text and text.strip():
            yield element, f"the text {text.strip()[:40]!r} in <{kind}>", known
