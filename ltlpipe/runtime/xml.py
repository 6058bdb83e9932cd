"""Untrusted XML, read by lxml.

Document type declarations are refused, and with them entities, external or
exponential; nothing is fetched, and what is not well-formed or nested hundreds of
levels deep ends in an error.
"""

from __future__ import annotations

from typing import Any

from ltlpipe.runtime.errors import InputError


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
