"""Untrusted XML, read by lxml.

Document type declarations are refused, and with them entities, external or
exponential; nothing is fetched, and what is not well-formed or nested hundreds of
levels deep ends in an error.  What a reader of such a document does not know it refuses
by name (`unknown_part`), for it may carry meaning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from ltlpipe.runtime.errors import InputError, listed

if TYPE_CHECKING:
    from collections.abc import Collection

Known: TypeAlias = dict[str, tuple[str, str | None]]
"""The attributes and the children that elements may have, by their names.

An attribute ``a=v`` may have the value v only.  The child ``#text`` is text.  None as
children: the reader itself refuses those that it does not know.
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
        attributes, children = known[kind]
        found = _unknown_attribute(element, kind, attributes.split())
        if found is None and children is not None:
            found = _unknown_content(element, kind, children.split(), harmless)
        if found is not None:
            return found
        waiting += reversed(element)
    return None


def _unknown_attribute(
    element: Any, kind: str, known: list[str]
) -> tuple[Any, str] | None:
    for name, value in element.attrib.items():
        is_known = name in known or f"{name}={value}" in known
        if not is_known and not name.startswith(_HARMLESS):
            spelt = name.rpartition("}")[2]
            return element, _but(
                f"the attribute {spelt}={value[:40]!r} of <{kind}>", known
            )
    return None


def _unknown_content(
    element: Any, kind: str, known: list[str], harmless: Collection[str]
) -> tuple[Any, str] | None:
    texts = [element.text]
    for child in element:
        inner = local_name(child)
        if inner not in known and inner not in harmless:
            return child, _but(f"<{inner}> in <{kind}>", known)
        texts.append(child.tail)
    if "#text" not in known:
        for text in filter(None, texts):
            if text.strip():
                told = f"the text {text.strip()[:40]!r} in <{kind}>"
                return element, _but(told, known)
    return None


def _but(found: str, expected: list[str]) -> str:
    """Return what was found, and what at most was expected."""
    names = [name for name in expected if "=" not in name and name != "#text"]
    return f"{found}, expected {f'at most {listed(names)}' if names else 'nothing'}"
