"""Property files of the Model Checking Contest (``LTLCardinality.xml``, ...).

A ``<property-set>`` has one ``<property>`` for each formula, with an ``<id>`` and a
``<formula>`` about all paths.  Each becomes a text in ltlpipe's own syntax: places are
summed and compared, ``fireable(t, u)`` says that one of some transitions can be taken.

Source: the files of the contest, https://mcc.lip6.fr (since 2015), and what
verifypn's reader of them takes (src/PetriParse/QueryXMLParser.cpp).

Differences from the source: elements are known by their local names.  What is no LTL
(``<exists-path>``, ``<all-paths>`` inside of a formula, bounds of places) is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ltlpipe.logic.propositions.syntax import (
    MAX_DIGITS,
    Call,
    Name,
    Number,
    Operation,
    compared,
    negative,
)
from ltlpipe.runtime.errors import FormulaError, InputError
from ltlpipe.runtime.files import (
    local_name,
    name_of,
    read_bytes,
    unknown_part,
    xml_root,
)
from ltlpipe.runtime.workers import call

if TYPE_CHECKING:
    from ltlpipe.logic.propositions.syntax import Expression
    from ltlpipe.runtime.files import Known, StrPath
    from ltlpipe.runtime.jobs import Job

_CONSTANTS = {"true": "true", "false": "false", "deadlock": "deadlock"}
_UNARY = {"negation": "!", "next": "X ", "finally": "F ", "globally": "G "}
_SEVERAL = {"conjunction": "&&", "disjunction": "||"}
_BINARY = {"implication": "->", "equivalence": "<->", "exclusive-disjunction": "xor"}
_RELATIONS = {"le": "<=", "lt": "<", "ge": ">=", "gt": ">", "eq": "==", "ne": "!="}
_HARMLESS = {"description", "tags"}
_ELEMENTS: Known = {
    "property": ("", "id formula"),
    **dict.fromkeys(_CONSTANTS, ("", "")),
    **dict.fromkeys(("id", "integer-constant", "place", "transition"), ("", "#text")),
    **dict.fromkeys((*_UNARY, *_SEVERAL, *_BINARY), ("", None)),
    **dict.fromkeys((f"integer-{name}" for name in _RELATIONS), ("", None)),
    **dict.fromkeys(("formula", "all-paths", "until", "before", "reach"), ("", None)),
    **dict.fromkeys(("is-fireable", "tokens-count"), ("", None)),
    **dict.fromkeys(("integer-sum", "integer-difference"), ("", None)),
}
"""Elements of properties; whoever reads them refuses children of another kind."""
_SMALL = 1 << 14  # bytes that are parsed in this process
_NUMBER = re.compile(rf"[+-]?[0-9]{{1,{MAX_DIGITS}}}")


class Property(NamedTuple):
    """One property of a file; plain data, as workers return it."""

    name: str  # its id
    line: int
    text: str  # the formula, or what is wrong with it
    is_formula: bool


def property_job(path: StrPath) -> Job[list[Property]]:
    """Return the job that reads a file; a worker parses what is large."""
    data, file = (yield from read_bytes(path)), name_of(path)
    if len(data) <= _SMALL:
        return parse_properties(data, file)
    asked: dict[str, Any] = {"data": data, "file": file}
    told = yield from call(
        "read properties", phase="reading", subject="the parser of .xml", **asked
    )
    return [Property(*about) for about in told]


def parse_properties(data: bytes, file: str) -> list[Property]:
    """Return the properties in the bytes of a file: an operation of workers.

    Raises
    ------
    InputError
        The bytes are no set of properties; names file and line.
    """
    root = xml_root(data, file, "a <property-set>")
    if local_name(root) != "property-set":
        message = f"found <{local_name(root)}>, expected <property-set>"
        raise InputError(message, file=file, line=root.sourceline)
    unknown = unknown_part(root, {"property-set": ("", "property")})
    if unknown is not None:
        raise InputError(unknown[1], file=file, line=unknown[0].sourceline)
    found = [_property(element, file) for element in root]
    if not found:
        raise InputError("no <property> in the set", file=file, line=root.sourceline)
    return found


def _property(element: Any, file: str) -> Property:
    line = element.sourceline
    name = _content(element, "id")
    if not name:
        raise InputError("a <property> without <id>", file=file, line=line)
    formulas = [child for child in element if local_name(child) == "formula"]
    try:
        if len(formulas) != 1:
            _refuse(f"{len(formulas)} times <formula>, expected one")
        unknown = unknown_part(element, _ELEMENTS, _HARMLESS)
        if unknown is not None:
            _refuse(unknown[1], unknown[0])
        return Property(name, line, _formula(_only(formulas[0])), is_formula=True)
    except FormulaError as error:
        return Property(name, line, error.message, is_formula=False)


def _content(element: Any, kind: str) -> str:
    texts = [child.text for child in element if local_name(child) == kind]
    return (texts[0] or "").strip() if texts else ""


def _formula(element: Any) -> str:
    """Return what holds on all paths."""
    if local_name(element) == "all-paths":
        return _translated(_only(element))
    return _translated(element)


def _translated(element: Any) -> str:
    """Return a formula as text; a path of lxml has at most 256 elements."""
    kind = local_name(element)
    if kind in _CONSTANTS:
        return _CONSTANTS[kind]
    if kind in _UNARY:
        return f"{_UNARY[kind]}({_translated(_only(element))})"
    if kind in _SEVERAL or kind in _BINARY:
        parts = [f"({_translated(child)})" for child in element]
        if len(parts) < 2 or (len(parts) > 2 and kind in _BINARY):
            _refuse(f"{len(parts)} operands of <{kind}>", element)
        return f" {(_SEVERAL | _BINARY)[kind]} ".join(parts)
    if kind == "until":
        if [local_name(child) for child in element] != ["before", "reach"]:
            _refuse("<until> without <before> and <reach>", element)
        before, reach = (_translated(_only(child)) for child in element)
        return f"({before}) U ({reach})"
    if kind == "is-fireable":
        names = map(Name, _names(element, "transition"))
        return str(Call("fireable", tuple(names)))
    relation = _RELATIONS.get(kind.removeprefix("integer-"))
    if relation is None or not kind.startswith("integer-"):
        _refuse(f"<{kind}>, expected LTL about places and transitions", element)
    if len(element) != 2:
        _refuse(f"{len(element)} operands of <{kind}>, expected two", element)
    return str(compared(relation, *map(_number, element)))


def _number(element: Any) -> Expression:
    """Return a sum of places, a constant, or what is made of such."""
    kind = local_name(element)
    if kind == "integer-constant":
        text = (element.text or "").strip()
        if not _NUMBER.fullmatch(text):
            _refuse(f"{text[:40]!r}, expected a number", element)
        return Number(int(text))
    if kind == "tokens-count":
        return _sum([Name(name) for name in _names(element, "place")])
    if kind not in ("integer-sum", "integer-difference") or not len(element):
        _refuse(f"<{kind}>, expected <tokens-count> or <integer-constant>", element)
    first, *others = map(_number, element)
    if kind == "integer-difference":
        others = list(map(negative, others))
    return _sum([first, *others])


def _sum(terms: list[Expression]) -> Expression:
    flat: list[Expression] = []
    for term in terms:
        is_sum = isinstance(term, Operation) and term.operator == "+"
        flat += term.operands if is_sum else [term]  # type: ignore[union-attr]
    return flat[0] if len(flat) == 1 else Operation("+", tuple(flat))


def _names(element: Any, kind: str) -> list[str]:
    """Return the ids of places or transitions that an element lists."""
    names = []
    for child in element:
        name = (child.text or "").strip()
        if local_name(child) != kind or len(child) or not name:
            _refuse(f"expected ids in <{kind}>", child)
        names.append(name)
    if not names:
        _refuse(f"<{local_name(element)}> of no <{kind}>", element)
    return names


def _only(element: Any) -> Any:
    if len(element) != 1:
        kind = local_name(element)
        _refuse(f"<{kind}> of {len(element)} formulas, expected one", element)
    return element[0]


def _refuse(message: str, element: Any = None) -> NoReturn:
    place = "" if element is None else f" (line {element.sourceline})"
    raise FormulaError(message + place, formula="")
