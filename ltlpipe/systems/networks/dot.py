r"""Networks in Graphviz files (``.dot``), as the RERS challenges publish them.

A ``digraph`` with one ``subgraph`` per component, or a plain ``digraph`` as a
single one.  Every edge has a label, the action.  One edge per component has an
empty label: it is no transition, its target is the initial state, and the
artificial node that it leaves is no state, so no other edge may touch it.  A
further edge with an empty label is an internal action, called ``tau``, with which
nothing synchronises (RERS 2016); if its source has no other edge either, the start
edge has to leave the node ``0``.

States are numbered by their names if these are all integers, else in order of
first appearance; a state without edges needs a node statement.  The alphabet
of a component is its labels in order of first use.  What else Graphviz allows
(ports, chains of edges, nested groups, comments, ``strict``, and attributes that
say how it looks) is read and has no meaning here.  Other attributes may have one
and are refused, as are a default ``edge [label="a"]`` and text in HTML.

Source: "DOT Language" in Graphviz's documentation; the parallel problems of the
RERS challenges for what labels mean.

Differences from the source: two subgraphs are two components even where they
name the same node; ``#`` begins a comment anywhere in a line; in a string
``\\`` is one backslash.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import count, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError, listed
from ltlpipe.systems.networks.dot_lines import (
    INTEGER,
    KEYWORDS,
    MisplacedError,
    component,
    read_lines,
    unknown_attribute,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from lark import Lark, UnexpectedInput

    from ltlpipe.systems.networks.lts import LTS

# A name consists of letters, digits, underscores and what is not ASCII, written as what
# it does not have: a range up to the last character takes Python ten times as long.
# At most 9,999 escapes in a string: each costs the expression 800 bytes while it
# looks for the end, and in a file of garbage there may be none.
_GRAMMAR = r"""
start: STRICT? DIGRAPH id? body
body: "{" (chain | defaults | setting | ";")* "}"
chain: _end (ARROW _end)* attributes*
_end: node | group
node: id (":" id (":" id)?)?
group: body | SUBGRAPH id? body
defaults: (GRAPH | NODE | EDGE) attributes+
!setting: id "=" id
!attributes: "[" (id "=" id ("," | ";")?)* "]"
id: NAME | NUMERAL | STRING ("+" STRING)*

STRICT.2: /strict\b/i
DIGRAPH.2: /digraph\b/i
GRAPH.2: /graph\b/i
SUBGRAPH.2: /subgraph\b/i
NODE.2: /node\b/i
EDGE.2: /edge\b/i
ARROW: "->"
NAME: /[^\x00-@[-^`{-\x7f][^\x00-\/:-@[-^`{-\x7f]*/
NUMERAL: /-?(\.[0-9]+|[0-9]+(\.[0-9]*)?)/
STRING: /"[^"\\]*(\\(.|\n)[^"\\]*){0,9999}"/
BLANK: /\s+/
COMMENT: /\/\/[^\n]*|#[^\n]*|\/\*(?s:.*?)\*\//
%ignore BLANK
%ignore COMMENT
"""

_MAX_NESTING = 10_000  # of braces, for the same reason

# How messages name the terminals, in the order in which they list them.
_TERMINALS = {
    "DIGRAPH": "'digraph'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "ARROW": "'->'",
    "LSQB": "'['",
    "RSQB": "']'",
    "EQUAL": "'='",
    "NAME": "a name",
    "$END": "the end of the file",
}
# What no terminal matches, as messages show it, and what was expected.
_UNFINISHED = [
    ("--", "undirected edge '--'", "'->'"),
    ("/*", "end of file in a comment", "'*/'"),
    ('"', "end of file in a string", "a closing quote"),
    ("<", "text in HTML", "a name"),
]
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+")
_ESCAPE = re.compile(r'\\(?:(["\\])|\r?\n)')


class _Edge(NamedTuple):
    src: str
    dst: str
    label: str | None
    line: int


class _Attributes(NamedTuple):
    values: dict[str, str]
    line: int

    def of(self, what: str) -> dict[str, str]:
        """Return them, if they are known of such a thing."""
        unknown = unknown_attribute(self.values, what)
        if unknown is not None:
            raise _MeaningError(unknown, self.line)
        return self.values


class _MeaningError(Exception):
    """An attribute that may carry meaning is not known: what, and its line."""


class _Group(NamedTuple):
    """What stands between braces: names of nodes, edges, groups, in order."""

    items: list[str | _Edge | _Group]
    name: str = ""
    line: int | None = None  # of ``subgraph`` or ``digraph``; None for bare braces


def read_dot(text: str, file: str) -> list[LTS]:
    """Read the components of a network from the text of a Graphviz file.

    Raises
    ------
    InputError
        `text` is no directed graph or ends early, an edge has no label, or a
        component has no start edge or several; names file and line.
    """
    regular = read_lines(text)
    if regular is not None:
        return regular
    return read_by_grammar(text, file)


def read_by_grammar(text: str, file: str) -> list[LTS]:
    """Read any text; see `read_dot`."""
    from lark import UnexpectedInput

    try:
        graph = cast("_Group", _parser().parse(text))
    except UnexpectedInput as error:
        raise _syntax_error(error, text, file) from None
    except _MeaningError as error:
        message, line = error.args
        raise InputError(message, file=file, line=line) from None
    return [
        _component(group, group.name or f"component {number}", file)
        for number, group in enumerate(_groups(graph, file), start=1)
    ]


def _groups(graph: _Group, file: str) -> list[_Group]:
    """Return the groups that are components: subgraphs, or the graph itself."""
    subgraphs = [g for g in graph.items if isinstance(g, _Group) and g.line]
    if not any(_edges(g) for g in subgraphs):
        return [graph]
    outside = [i for i in graph.items if not (isinstance(i, _Group) and i.line)]
    for edge in _edges(_Group(outside)):
        message = "an edge outside of the subgraphs, expected it inside of one"
        raise InputError(message, file=file, line=edge.line)
    return subgraphs


def _component(group: _Group, name: str, file: str) -> LTS:
    edges = _edges(group)
    nodes = {node: number for number, node in enumerate(_nodes(group))}
    labels: dict[str, int] = {}
    rows = []
    has_start = any(edge.label == "" for edge in edges)
    for edge in edges:
        if edge.label is None and has_start:
            message = f"the edge {edge.src} -> {edge.dst} of {name} has no label"
            raise InputError(message, file=file, line=edge.line)
        label = labels.setdefault(str(edge.label), len(labels))
        rows.append((nodes[edge.src], nodes[edge.dst], label))
    table = np.array(rows, dtype=np.int32).reshape(-1, 3)
    try:
        return component(name, list(nodes), list(labels), table)
    except MisplacedError as error:
        line = group.line if error.edge is None else edges[error.edge].line
        raise InputError(error.message, file=file, line=line) from None


def _flat(group: _Group) -> Iterator[str | _Edge]:
    """Yield nodes and edges in order, those of groups inside included."""
    stack: list[Iterator[str | _Edge | _Group]] = [iter(group.items)]
    while stack:
        for item in stack[-1]:
            if isinstance(item, _Group):
                stack.append(iter(item.items))
                break
            yield item
        else:
            stack.pop()


def _edges(group: _Group) -> list[_Edge]:
    return [item for item in _flat(group) if isinstance(item, _Edge)]


def _nodes(group: _Group) -> list[str]:
    return list(dict.fromkeys(item for item in _flat(group) if isinstance(item, str)))


@cache
def _parser() -> Lark:
    """Build the parser once; its callbacks reduce a graph to a `_Group`."""
    from lark import Lark, Token, Transformer, UnexpectedToken

    class Reduce(Transformer[Token, _Group]):
        def start(self, children: list[Any]) -> _Group:
            line = next(c.line for c in children if getattr(c, "type", "") == "DIGRAPH")
            name = "" if isinstance(children[-2], Token) else children[-2]
            return _Group(children[-1], name, line)

        def body(self, children: list[Any]) -> list[str | _Edge | _Group]:
            return [item for items in children if items for item in items]

        def chain(self, children: list[Any]) -> list[str | _Edge | _Group]:
            return _chain(children)

        def node(self, children: list[str]) -> str:
            return children[0]

        def group(self, children: list[Any]) -> _Group:
            line = children[0].line if len(children) > 1 else None
            name = children[1] if len(children) > 2 else ""
            return _Group(children[-1], name, line)

        def defaults(self, children: list[Any]) -> None:
            kind, *lists = children
            for attributes in lists:
                attributes.of("defaults" if kind.type == "EDGE" else "node")

        def setting(self, children: list[Any]) -> None:
            self.attributes(children).of("node")

        def attributes(self, children: list[Any]) -> _Attributes:
            texts = [child for child in children if type(child) is str]
            values = dict(zip(texts[::2], texts[1::2], strict=True))
            line = next(c.line for c in children if type(c) is not str)
            return _Attributes(values, line)

        def id(self, children: list[Token]) -> str:
            if children[0].type == "STRING":
                return "".join(_ESCAPE.sub(r"\1", c[1:-1]) for c in children)
            return str(children[0])

    class LimitNesting:
        always_accept = ()

        def process(self, stream: Iterator[Token]) -> Iterator[Token]:
            depth = 0
            for token in stream:
                depth += (token.type == "LBRACE") - (token.type == "RBRACE")
                if depth > _MAX_NESTING:
                    raise UnexpectedToken(token, {"RBRACE"})  # type: ignore[no-untyped-call]
                yield token

    return Lark(
        _GRAMMAR,
        parser="lalr",
        lexer="contextual",
        postlex=LimitNesting(),
        transformer=Reduce(),
    )


def _chain(children: list[Any]) -> list[str | _Edge | _Group]:
    """Reduce nodes or groups, arrows, and attributes to nodes and edges."""
    from lark import Token

    ends: list[str | _Group] = []
    lines: list[int] = []
    attributes: dict[str, str] = {}
    of = "edge" if any(isinstance(child, Token) for child in children) else "node"
    for child in children:
        if isinstance(child, _Attributes):
            attributes |= child.of(of)
        elif type(child) is str or isinstance(child, _Group):
            ends.append(child)
        else:
            lines.append(child.line)
    if not lines:
        return list(ends)
    items: list[str | _Edge | _Group] = [
        end._replace(line=None) if isinstance(end, _Group) else end for end in ends
    ]
    label = attributes.get("label")
    for (left, right), line in zip(pairwise(ends), lines, strict=True):
        for src in _nodes(left) if isinstance(left, _Group) else [left]:
            for dst in _nodes(right) if isinstance(right, _Group) else [right]:
                items.append(_Edge(src, dst, label, line))
    return items


def _syntax_error(error: UnexpectedInput, text: str, file: str) -> InputError:
    """Report in the terms of a dot file what lark did not expect."""
    from lark import UnexpectedToken

    if isinstance(error, UnexpectedToken):
        line, found = error.line, repr(str(error.token)[:40])
        expected = _expected(error.accepts or error.expected)
        if error.token.type == "$END":
            line, found = 1 + text.rstrip().count("\n"), "end of file"
    else:
        position = error.pos_in_stream or 0
        line, found = error.line, repr(text[position])
        expected = _expected(getattr(error, "allowed", ()))
        for beginning, what, missing in _UNFINISHED:
            if text.startswith(beginning, position):
                found, expected = what, missing
    message = f"unexpected {found}, expected {expected}"
    return InputError(message, file=file, line=line)


def _expected(terminals: Iterable[str]) -> str:
    names = set(terminals)
    if "NAME" in names:
        names -= {"LBRACE"}  # of a nested group: possible, but hardly what is missing
    known = [text for name, text in _TERMINALS.items() if name in names]
    return listed(known or ["something else"])


def write_dot(components: Sequence[LTS]) -> str:
    """Write components as a Graphviz file that `read_dot` reads back equal.

    Components and states keep their names, each of a file or of a component once (a
    second `idle` becomes `idle_2`).  Nodes of a component without names of states are
    integers, consecutive over the file, behind its artificial node.  Internal labels
    become ordinary ones (`ltlpipe.systems.writing` renames them apart before).

    Raises
    ------
    UnsupportedError
        Accepting states, or an empty label.
    """
    lines = ["digraph G {"]
    names = _distinct([lts.name or f"cluster_{k}" for k, lts in enumerate(components)])
    artificial = 0
    for name, lts in zip(names, components, strict=True):
        lines.append(f"  subgraph {_id(name)} {{")
        lines += _lines(lts, artificial)
        lines.append("  }")
        artificial += 1 + lts.n_states
    return "\n".join([*lines, "}"]) + "\n"


def _lines(lts: LTS, artificial: int) -> Iterator[str]:
    if lts.accepting is not None:
        raise UnsupportedError("a .dot file cannot hold accepting states; write .hoa")
    if "" in lts.labels:
        raise UnsupportedError("a .dot file cannot hold an empty label; write .aut")
    src, dst = lts.src.tolist(), lts.dst.tolist()
    names = lts.state_names or ()
    if all(map(INTEGER.fullmatch, names)):  # they would be read as numbers
        first = artificial + 1
        nodes = [str(number) for number in range(first, first + lts.n_states)]
        start = str(artificial)
        for state in sorted({*range(lts.n_states)} - {lts.initial, *src, *dst}):
            yield f"    {nodes[state]};"
    else:
        distinct = _distinct(names)
        nodes = [_id(name) for name in distinct]
        start = _id(_distinct([*distinct, "start"])[-1])
        yield from (f"    {node};" for node in nodes)  # states in the order of numbers
    yield f'    {start} -> {nodes[lts.initial]} [label=""];'
    labels = [quoted(label) for label in lts.labels]
    for s, a, d in zip(src, lts.label.tolist(), dst, strict=True):
        yield f"    {nodes[s]} -> {nodes[d]} [label={labels[a]}];"


def _distinct(names: Sequence[str]) -> Sequence[str]:
    """Return names of which none stands twice: a second ``idle`` is ``idle_2``."""
    taken = set(names)
    if len(taken) == len(names):
        return names
    seen: set[str] = set()
    found = []
    for name in names:
        if name in seen:
            name = next(n for k in count(2) if (n := f"{name}_{k}") not in taken)
            taken.add(name)
        seen.add(name)
        found.append(name)
    return found


def _id(name: str) -> str:
    """Return a name as DOT has it, quoted only where it has to be."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in KEYWORDS
    return name if is_plain else quoted(name)


def quoted(text: str) -> str:
    """Return a string as it is written, in DOT and in HOA."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
