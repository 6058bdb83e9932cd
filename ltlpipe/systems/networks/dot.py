r"""Graphviz files (``.dot``): the grammar, what a file draws, and writing.

A ``digraph`` with one ``subgraph`` per component, or a plain ``digraph`` as a single
one.  What its nodes and edges mean, in the dialects of several tools, is said in
`ltlpipe.systems.networks.drawings`.  What else Graphviz allows (ports, chains of edges,
nested groups, comments, ``strict``, and attributes that say how it looks) is read; of
looks, those that may mark the initial state are kept.  Other attributes may carry
meaning and are refused, as is a default ``edge [label="a"]``.

A file is read token by token, but an edge with one list of attributes, as tools write
them, by a single expression: a million take seconds (a grammar of lark takes ten times
as long).

Source: "DOT Language" in Graphviz's documentation.

Differences from the source: two subgraphs are two components even where they
name the same node; ``0_0`` is one name, where Graphviz takes it for two and warns;
``#`` begins a comment anywhere in a line; in a string ``\\`` is one backslash; a label
in HTML is its text, with blanks for tags.

A file that is written has one ``subgraph`` per component, with a start edge as in those
of RERS.
"""

from __future__ import annotations

import re
from itertools import count, pairwise
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.runtime.names import listed, quoted
from ltlpipe.systems.networks.drawings import (
    INTEGER,
    MARKS,
    NO_EDGE,
    UNLABELLED,
    Drawing,
    Part,
)
from ltlpipe.systems.networks.lts import LABEL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ltlpipe.runtime.errors import InputError
    from ltlpipe.systems.networks.lts import LTS

# A name consists of letters, digits, underscores and what is not ASCII; one of digits
# alone is a numeral.  At most 9,999
# escapes in a string: each costs the expression 800 bytes while it looks for the end,
# and in a file of garbage there may be none.
_TOKEN = re.compile(
    r"""
    (?P<name>[0-9]*[^\x00-@[-^`{-\x7f][^\x00-/:-@[-^`{-\x7f]*)
    | (?P<numeral>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?![.0-9]|[^\x00-@[-^`{-\x7f]))
    | (?P<string>"[^"\\]*(?:\\(?:.|\n)[^"\\]*){0,9999}")
    | (?P<mark>->|[][{}=:;,+])
    """,
    re.VERBOSE,
)
_BLANKS = re.compile(r"(?:\s+|//[^\n]*|\#[^\n]*|/\*(?s:.*?)\*/)*")
_ESCAPE = re.compile(r'\\(?:(["\\])|\r?\n)')

_ID = r'(?:[A-Za-z0-9_]+|-[0-9]+|"[^"\\]*")'
_ATTRIBUTE = re.compile(rf"({_ID})\s*=\s*({_ID})(?=[\s,;\]])\s*(?:[,;]\s*)?")
_EDGE = re.compile(
    rf"(?!(?i:graph|node|edge|subgraph)\b)({_ID})\s*->\s*(?!(?i:subgraph)\b)({_ID})\s*"
    rf"\[\s*((?:{_ATTRIBUTE.pattern.replace('(' + _ID, '(?:' + _ID)})*\])"
    r"\s*(?:;|(?=[\w\"}]|-[0-9]))"
)

_NAME, _END = "a name", "the end of the file"
_SHOWN = ("digraph", "{", "}", "->", "[", "]", "=", _NAME, _END)
"""What messages say was expected, in this order."""

# What is no token, as messages show it, and what was expected.
_UNFINISHED = [
    ("--", "undirected edge '--'", "'->'"),
    ("/*", "end of file in a comment", "'*/'"),
    ('"', "end of file in a string", "a closing quote"),
    ("<", "text in HTML", "a name"),
]
_ANGLE = re.compile("[<>]")
_TAG = re.compile("<[^<>]*>")
_GRAPHVIZ = """
    _background area arrowhead arrowsize arrowtail bb beautify bgcolor center
    charset class cluster clusterrank color colorscheme comment compound concentrate
    constraint Damping decorate defaultdist dim dimen diredgeconstraints distortion
    dpi epsilon esep fillcolor fixedsize fontcolor fontname fontnames fontpath
    fontsize forcelabels gradientangle group head_lp headclip headport height id
    image imagepath imagepos imagescale inputscale K label_scheme labelangle
    labeldistance labelfloat labelfontcolor labelfontname labelfontsize labeljust
    labelloc landscape layer layerlistsep layers layerselect layersep layout len
    levels levelsgap lheight linelength lp lwidth margin maxiter mclimit mindist
    minlen mode model newrank nodesep nojustify normalize notranslate nslimit
    nslimit1 oneblock ordering orientation outputorder overlap overlap_scaling
    overlap_shrink pack packmode pad page pagedir pencolor penwidth peripheries pin
    pos quadtree quantum radius rank rankdir ranksep ratio rects regular remincross
    repulsiveforce resolution root rotate rotation samehead sametail samplepoints
    scale searchsize sep shape shapefile showboxes sides size skew smoothing sortv
    splines start style stylesheet tail_lp tailclip tailport TBbalance truecolor
    vertices viewport voro_margin weight width xdotversion xlp z
"""
_LOOKS = re.compile(
    r"_[hlt]{0,2}draw_|(edge|head|tail|label)?(URL|href|target|tooltip)|"
    + "|".join(_GRAPHVIZ.split())
)
"""Graphviz's attributes of looks and notes.  Those that say from where to where an edge
leads (dir, lhead, ltail) or what it is called besides (headlabel, ...) are none.
"""
_FORWARD = "dir", "forward"
_EDGE_LIST, _NODE_LIST, _OTHERS, _DEFAULTS = "edge", "node", "graph", "defaults"
_KNOWN = {
    _EDGE_LIST: (LABEL, "key"),
    _NODE_LIST: (LABEL, "xlabel", "initial"),
    _OTHERS: (LABEL, "xlabel"),
    _DEFAULTS: (),
}
"""Attributes that are known besides: of edges (`key` tells those apart that lead
between the same nodes, as NetworkX has it), of nodes, of the graph and as defaults for
nodes, of defaults for edges.
"""


def read_dot(
    text: str, file: str, *, initial: str | None = None, mealy: str = LABEL
) -> list[LTS]:
    """Read the components of a network from the text of a Graphviz file.

    Parameters
    ----------
    text, file : str
        The text, and the file's name for messages.
    initial : str, optional
        The node that is the initial state of each component, whatever the file says.
    mealy : str
        How labels are read: one of `ltlpipe.systems.networks.lts.MEALY`.

    Raises
    ------
    InputError
        `text` is no directed graph or ends early, an edge has no label, or a
        component has no initial state or several; names file and line.
    """
    reader = _Reader(text, file)
    reader.read()
    return reader.drawing.components(initial, mealy)


class _Reader:
    """A file, and how far it has been read."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.drawing = Drawing(text, file)
        self._nodes = self.drawing.nodes
        self.rows = self.drawing.rows
        self._lists: dict[str, int] = {}  # labels by the text between two brackets
        self._defaults: dict[str, str] = {}  # for nodes: marks that are in force
        self._tried: set[str] = set()  # what could have stood at this place
        self._move(0)

    def _move(self, place: int) -> None:
        """Go on with the token behind a place and blanks."""
        blanks = _BLANKS.match(self.text, place)
        assert blanks is not None
        self.place = blanks.end()
        self._token = _TOKEN.match(self.text, self.place)
        self._tried.clear()

    def _take(self, kind: str) -> bool:
        """Go on if the token is a mark or a keyword; whether it is."""
        if self._token is not None and self._token[0].lower() == kind:
            self._move(self._token.end())
            return True
        self._tried.add(kind)
        return False

    def _take_name(self) -> str | None:
        """Go on behind a name and return it; None if there is none."""
        token = self._token
        if token is None or token.lastgroup == "mark":
            self._tried.add(_NAME)
            return None
        self._move(token.end())
        name = _unquoted(token[0])
        while token.lastgroup == "string" and self._take("+"):
            token = self._token
            if token is None or token.lastgroup != "string":
                raise self._unexpected()
            name += _unquoted(token[0])
            self._move(token.end())
        return name

    def _need(self, kind: str) -> None:
        if not self._take(kind):
            raise self._unexpected()

    def _need_name(self) -> str:
        name = self._take_name()
        if name is None:
            raise self._unexpected()
        return name

    def _take_value(self) -> str:
        """Go on behind the value of an attribute and return it."""
        if not self.text.startswith("<", self.place):
            return self._need_name()
        from html import unescape  # hardly a file has HTML

        depth = 0
        for angle in _ANGLE.finditer(self.text, self.place):
            depth += 1 if angle[0] == "<" else -1
            if depth == 0:
                inner = self.text[self.place + 1 : angle.start()]
                self._move(angle.end())
                return " ".join(unescape(_TAG.sub(" ", inner)).split())
        raise self._unexpected()

    def _unexpected(self) -> InputError:
        """Return an error about the token: what it is, and what was expected."""
        text, place = self.text, self.place
        if _NAME in self._tried:
            self._tried.discard("{")  # of a nested group: hardly what is missing
        known = [kind for kind in _SHOWN if kind in self._tried]
        shown = [kind if kind in (_NAME, _END) else repr(kind) for kind in known]
        expected = listed(shown or ["something else"])
        if self._token is not None:
            found = repr(self._token[0][:40])
        elif place == len(text):
            found, place = "end of file", len(text.rstrip())
        else:
            found = repr(text[place])
            for beginning, what, missing in _UNFINISHED:
                if text.startswith(beginning, place):
                    found, expected = what, missing
        return self.drawing.error(f"unexpected {found}, expected {expected}", place)

    def read(self) -> None:
        """Read the whole file."""
        self._take("strict")
        place = self.place
        self._need("digraph")
        name = self._take_name() or ""
        self._need("{")
        self._read_body()
        if self.place < len(self.text):
            self._tried.add(_END)
            raise self._unexpected()
        self.drawing.parts.append(Part(name, place, 0, len(self.rows) // 4))

    def _read_body(self) -> None:
        """Read statements and the closing brace, with all groups inside."""
        # The chain of nodes and groups at hand, as ranges of rows, and its arrows.
        ends: list[tuple[int, int]] = []
        arrows: list[int] = []
        outer: list[tuple[list[tuple[int, int]], list[int], str, int, int]] = []
        defaults: list[dict[str, str]] = []  # of the groups around
        while True:
            place, begin = self.place, len(self.rows)
            if len(ends) > len(arrows):
                if self._take("->"):
                    arrows.append(place)
                else:
                    self._read_chain(ends, arrows)
                    ends, arrows = [], []
            elif not ends and (edge := _EDGE.match(self.text, place)):
                self._read_edge(edge)
            elif (is_part := self._take("subgraph")) or self._take("{"):
                name = ""
                if is_part:
                    name = self._take_name() or ""
                    self._need("{")
                outer.append((ends, arrows, name, place if is_part else -1, begin))
                defaults.append(self._defaults)
                ends, arrows = [], []
            elif not ends and self._read_defaults(inside=bool(outer)):
                pass
            elif (node := self._take_name()) is not None:
                if not ends and self._take("="):
                    said = {node: self._take_value()}
                    self._check(said, _OTHERS, place)
                    self._note(said, inside=bool(outer))
                    continue
                if self._take(":"):
                    self._need_name()
                    if self._take(":"):
                        self._need_name()
                number = self._node(node)
                self.rows.extend((number, number, NO_EDGE, place))
                ends.append((begin, len(self.rows)))
            elif ends:
                raise self._unexpected()
            elif self._take(";"):
                pass
            elif not self._take("}"):
                raise self._unexpected()
            elif not outer:
                return
            else:
                ends, arrows, name, place, begin = outer.pop()
                self._defaults = defaults.pop()
                ends.append((begin, len(self.rows)))
                if not (outer or arrows or place < 0 or self._is_next("->")):
                    part = Part(name, place, begin // 4, len(self.rows) // 4)
                    self.drawing.parts.append(part)

    def _is_next(self, mark: str) -> bool:
        return self._token is not None and self._token[0] == mark

    def _node(self, name: str) -> int:
        """Return the number of a node; a new one has the defaults in force."""
        if self._defaults and name not in self._nodes:
            row = len(self.rows) // 4
            self.drawing.marks.append((row, len(self._nodes), self._defaults))
        return self._nodes.setdefault(name, len(self._nodes))

    def _note(self, said: Mapping[str, str], *, inside: bool, of: str = "") -> None:
        """Keep what is said of the whole graph, of which tool has drawn it."""
        if not inside:
            self.drawing.said |= {of + name: value for name, value in said.items()}

    def _read_edge(self, edge: re.Match[str]) -> None:
        label = self._lists.get(edge[3])
        if label is None:
            pairs = _ATTRIBUTE.findall(edge[3])
            found = {_unquoted(name): _unquoted(value) for name, value in pairs}
            self._check(found, _EDGE_LIST, self.text.index("[", edge.end(2)))
            label = self._lists[edge[3]] = self._label(found)
        source, target = (self._node(_unquoted(edge[k])) for k in (1, 2))
        self.rows.extend((source, target, label, edge.end(1)))
        self._move(edge.end())

    def _label(self, attributes: Mapping[str, str]) -> int:
        """Return the number of the label of an edge, without blanks around."""
        if LABEL not in attributes:
            return UNLABELLED
        labels = self.drawing.labels
        return labels.setdefault(attributes[LABEL].strip(), len(labels))

    def _read_defaults(self, *, inside: bool) -> bool:
        """Read what is said of all nodes or edges; whether it is."""
        for kind in ("graph", "node", "edge"):
            if self._take(kind):
                if not self._is_next("["):
                    self._need("[")
                said = self._read_lists(_DEFAULTS if kind == "edge" else _OTHERS)
                if kind == "node":
                    self._defaults = self._defaults | _marks(said)
                if kind != "edge":
                    of = "node " if kind == "node" else ""
                    self._note(said, inside=inside, of=of)
                return True
        return False

    def _read_lists(self, of: str) -> dict[str, str]:
        """Read lists of attributes and return what they say."""
        found: dict[str, str] = {}
        place = self.place
        while self._take("["):
            values = {}
            while not self._take("]"):
                name = self._need_name()
                self._need("=")
                values[name] = self._take_value()
                if not self._take(","):
                    self._take(";")
            self._check(values, of, place)
            found |= values
            place = self.place
        return found

    def _check(self, attributes: Mapping[str, str], of: str, place: int) -> None:
        """Refuse attributes that may carry meaning."""
        for name, value in attributes.items():
            known = _LOOKS.fullmatch(name) or name in _KNOWN[of]
            if not (known or (name, value) == _FORWARD):
                text = f"the attribute {name}={value[:40]!r}, which may carry meaning"
                raise self.drawing.error(text, place)

    def _read_chain(self, ends: list[tuple[int, int]], arrows: list[int]) -> None:
        """Read attributes of a chain, and add its edges behind what is in the ends."""
        attributes = self._read_lists(_EDGE_LIST if arrows else _NODE_LIST)
        if not arrows:
            if marks := _marks(attributes):
                for node in self._nodes_in(*ends[0]):
                    self.drawing.marks.append((ends[0][0] // 4, node, marks))
            return
        label = self._label(attributes)
        for (left, right), place in zip(pairwise(ends), arrows, strict=False):
            for source in self._nodes_in(*left):
                for target in self._nodes_in(*right):
                    self.rows.extend((source, target, label, place))

    def _nodes_in(self, begin: int, end: int) -> Iterable[int]:
        """Return the nodes in a range of rows, each once."""
        return dict.fromkeys(
            node for k in range(begin, end, 4) for node in self.rows[k : k + 2]
        )


def _unquoted(spelt: str) -> str:
    """Return a name without its quotes."""
    if spelt[0] != '"':
        return spelt
    text = spelt[1:-1]
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _marks(attributes: Mapping[str, str]) -> dict[str, str]:
    """Return the attributes that may mark a node."""
    return {name: attributes[name] for name in MARKS if name in attributes}


_KEYWORDS = {"strict", "digraph", "graph", "subgraph", "node", "edge"}
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+")


def write_dot(components: Sequence[LTS]) -> str:
    """Write components as a Graphviz file that `read_dot` reads back equal.

    Components and states keep their names, each of a file or of a component once (a
    second `idle` becomes `idle_2`).  Nodes of a component without names of states are
    integers, consecutive over the file, behind its artificial node.  Internal labels
    become ordinary ones (`ltlpipe.systems.writing` renames them apart before).

    Raises
    ------
    UnsupportedError
        Accepting states, an empty label, or one with blanks around it.
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
    for label in lts.labels:
        if label != label.strip():
            raise UnsupportedError(
                f"a .dot file cannot hold the blanks around {label!r}; write .aut"
            )
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
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS
    return name if is_plain else quoted(name)
