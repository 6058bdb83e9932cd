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

A file is read token by token, but an edge with one list of attributes, as tools write
them, by a single expression: a million take seconds.

Source: "DOT Language" in Graphviz's documentation; the parallel problems of the
RERS challenges for what labels mean.

Differences from the source: two subgraphs are two components even where they
name the same node; ``#`` begins a comment anywhere in a line; in a string
``\\`` is one backslash.
"""

from __future__ import annotations

import re
from array import array
from itertools import chain, count, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.names import listed
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_KEYWORDS = {"strict", "digraph", "graph", "subgraph", "node", "edge"}

# A name consists of letters, digits, underscores and what is not ASCII.  At most 9,999
# escapes in a string: each costs the expression 800 bytes while it looks for the end,
# and in a file of garbage there may be none.
_TOKEN = re.compile(
    r"""
    (?P<name>[^\x00-@[-^`{-\x7f][^\x00-/:-@[-^`{-\x7f]*)
    | (?P<numeral>-?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?))
    | (?P<string>"[^"\\]*(?:\\(?:.|\n)[^"\\]*){0,9999}")
    | (?P<mark>->|[][{}=:;,+])
    """,
    re.VERBOSE,
)
_BLANKS = re.compile(r"(?:\s+|//[^\n]*|\#[^\n]*|/\*(?s:.*?)\*/)*")
_ESCAPE = re.compile(r'\\(?:(["\\])|\r?\n)')

_ID = r'(?:[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+|"[^"\\]*")'
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
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+")
_INTEGER = re.compile(r"-?[0-9]{1,18}")
INTERNAL = "tau"
"""What the internal action is called whose label is empty."""
_GRAPHVIZ = """
    _background area arrowhead arrowsize arrowtail bb beautify bgcolor center
    charset class cluster clusterrank color colorscheme comment concentrate
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
_KNOWN = {"edge": ("label",), "node": ("label", "xlabel"), "defaults": ()}
"""Attributes that are known besides: of edges, of nodes, of defaults for edges."""

_UNLABELLED, _NO_EDGE = -1, -2  # in the place of a label


def read_dot(text: str, file: str) -> list[LTS]:
    """Read the components of a network from the text of a Graphviz file.

    Raises
    ------
    InputError
        `text` is no directed graph or ends early, an edge has no label, or a
        component has no start edge or several; names file and line.
    """
    reader = _Reader(text, file)
    reader.read()
    return reader.components()


class _Reader:
    """A file, and what is known of it.

    A row is an edge: the numbers of source, target and label, and its place in the
    text.  A node that is named is a row with itself as its target, and `_NO_EDGE`.
    """

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        self.numbers: dict[str, int] = {}  # of nodes and labels, by their names
        self.names: list[str] = []  # by number, once all is read
        self.rows = array("q")
        # The name, place, first row and end of subgraphs that may be components, the
        # graph itself behind them.
        self.parts: list[tuple[str, int, int, int]] = []
        self._labels: dict[str, int] = {}  # by the text between two brackets
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

    def _error(self, message: str, place: int) -> InputError:
        line = 1 + self.text.count("\n", 0, place)
        return InputError(message, file=self.file, line=line)

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
        return self._error(f"unexpected {found}, expected {expected}", place)

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
        self.parts.append((name, place, 0, len(self.rows) // 4))

    def _read_body(self) -> None:
        """Read statements and the closing brace, with all groups inside."""
        # The chain of nodes and groups at hand, as ranges of rows, and its arrows.
        ends: list[tuple[int, int]] = []
        arrows: list[int] = []
        outer: list[tuple[list[tuple[int, int]], list[int], str, int, int]] = []
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
                ends, arrows = [], []
            elif not ends and self._read_defaults():
                pass
            elif (node := self._take_name()) is not None:
                if not ends and self._take("="):
                    self._check({node: self._need_name()}, "node", place)
                    continue
                if self._take(":"):
                    self._need_name()
                    if self._take(":"):
                        self._need_name()
                number = self._number(node)
                self.rows.extend((number, number, _NO_EDGE, place))
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
                ends.append((begin, len(self.rows)))
                if not (outer or arrows or place < 0 or self._is_next("->")):
                    self.parts.append((name, place, begin // 4, len(self.rows) // 4))

    def _is_next(self, mark: str) -> bool:
        return self._token is not None and self._token[0] == mark

    def _number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))

    def _read_edge(self, edge: re.Match[str]) -> None:
        label = self._labels.get(edge[3])
        if label is None:
            pairs = _ATTRIBUTE.findall(edge[3])
            found = {_unquoted(name): _unquoted(value) for name, value in pairs}
            self._check(found, "edge", self.text.index("[", edge.end(2)))
            label = self._number(found["label"]) if "label" in found else _UNLABELLED
            self._labels[edge[3]] = label
        source, target = (self._number(_unquoted(edge[k])) for k in (1, 2))
        self.rows.extend((source, target, label, edge.end(1)))
        self._move(edge.end())

    def _read_defaults(self) -> bool:
        """Read what is said of all nodes or edges; whether it is."""
        for kind in ("graph", "node", "edge"):
            if self._take(kind):
                if not self._is_next("["):
                    self._need("[")
                self._read_lists("defaults" if kind == "edge" else "node")
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
                values[name] = self._need_name()
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
                raise self._error(text, place)

    def _read_chain(self, ends: list[tuple[int, int]], arrows: list[int]) -> None:
        """Read attributes of a chain, and add its edges behind what is in the ends."""
        attributes = self._read_lists("edge" if arrows else "node")
        label = _UNLABELLED
        if arrows and "label" in attributes:
            label = self._number(attributes["label"])
        for (left, right), place in zip(pairwise(ends), arrows, strict=False):
            for source in self._nodes(*left):
                for target in self._nodes(*right):
                    self.rows.extend((source, target, label, place))

    def _nodes(self, begin: int, end: int) -> Iterable[int]:
        """Return the nodes in a range of rows, each once."""
        return dict.fromkeys(
            node for k in range(begin, end, 4) for node in self.rows[k : k + 2]
        )

    def components(self) -> list[LTS]:
        """Return the components: the subgraphs, or else the graph itself."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, 4)
        self.names = list(self.numbers)
        outside = table[:, 2] != _NO_EDGE
        *parts, graph = self.parts
        n_edges = np.count_nonzero(outside)
        for _, _, begin, end in parts:
            outside[begin:end] = False
        if np.count_nonzero(outside) == n_edges:
            parts = [graph]
        elif outside.any():
            message = "an edge outside of the subgraphs, expected it inside of one"
            raise self._error(message, int(table[outside, 3][0]))
        return [
            self._component(name or f"component {number}", place, table[begin:end])
            for number, (name, place, begin, end) in enumerate(parts, start=1)
        ]

    def _component(self, name: str, place: int, rows: np.ndarray) -> LTS:
        """Return the component that nodes and edges between them are."""
        numbers, local = _by_appearance(rows[:, :2].ravel())
        nodes = [self.names[n] for n in numbers.tolist()]
        is_edge = rows[:, 2] != _NO_EDGE
        src, dst = local.reshape(-1, 2)[is_edge].T
        edges = rows[is_edge]
        silent = edges[:, 2] == self.numbers.get("", _NO_EDGE)
        if not silent.any():
            message = f"{name} has no start edge (one with an empty label)"
            raise self._error(message, place)
        for source, target, _, at in edges[edges[:, 2] == _UNLABELLED][:1].tolist():
            edge = f"{self.names[source]} -> {self.names[target]}"
            raise self._error(f"the edge {edge} of {name} has no label", at)
        start = self._start(name, nodes, src, dst, edges, np.flatnonzero(silent))
        artificial = int(src[start])
        states, state_names = _numbering(n for n in nodes if n != nodes[artificial])
        state = np.array([states.get(n, -1) for n in nodes], dtype=np.int32)
        steps = np.arange(len(edges)) != start
        used, letter = _by_appearance(edges[:, 2])
        labels = [self.names[n] for n in used.tolist()]
        alphabet = [text for text in labels if text]
        internal: frozenset[str] = frozenset()
        if np.count_nonzero(silent) > 1:
            fresh = _fresh(alphabet)
            internal = frozenset({fresh})
            alphabet.append(fresh)
        place_of = {text: k for k, text in enumerate(alphabet)}
        letters = [place_of.get(text, len(alphabet) - 1) for text in labels]
        return LTS(
            n_states=len(states),
            initial=int(state[dst[start]]),
            labels=tuple(alphabet),
            src=state[src[steps]],
            label=np.array(letters, dtype=np.int32)[letter[steps]],
            dst=state[dst[steps]],
            internal=internal,
            name=name,
            state_names=state_names,
        )

    def _start(
        self,
        name: str,
        nodes: Sequence[str],
        src: np.ndarray,
        dst: np.ndarray,
        edges: np.ndarray,
        silent: np.ndarray,
    ) -> int:
        """Return the number of the start edge.

        Its label is empty and its source has no other edge.  Where that holds of
        several, as an internal action can leave a state that is not reachable, it is
        the one from node 0.  As a wrong start would be a wrong verdict, it is refused
        to be another one where node 0 is left by an empty label and nodes are numbers,
        or never entered.
        """
        n_left = np.bincount(src, minlength=len(nodes))
        n_entered = np.bincount(dst, minlength=len(nodes))
        unentered = silent[n_entered[src[silent]] == 0].tolist()
        alone = [edge for edge in unentered if n_left[src[edge]] == 1]
        numbered = all(map(_INTEGER.fullmatch, nodes))
        left = silent.tolist() if numbered else unentered
        from_zero = [edge for edge in left if nodes[src[edge]] == "0"]
        if not from_zero and len(alone) > 1:
            message = f"{name} has a second start edge (one with an empty label)"
            raise self._error(message, int(edges[alone[1], 3]))
        start = int((from_zero or alone or silent.tolist())[0])
        artificial = src[start]
        others = (src == artificial) | (dst == artificial)
        others[start] = dst[start] == artificial
        for at in edges[others, 3][:1].tolist():
            used = nodes[artificial]
            message = f"{name} uses {used}, where its start edge begins, again"
            raise self._error(message, at)
        return start


def _unquoted(spelt: str) -> str:
    """Return a name without its quotes."""
    if spelt[0] != '"':
        return spelt
    text = spelt[1:-1]
    return _ESCAPE.sub(r"\1", text) if "\\" in text else text


def _by_appearance(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct values in order of first appearance, and the place of each."""
    distinct, first, local = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order], np.argsort(order)[local]


def _numbering(nodes: Iterable[str]) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the states' numbers by the names of nodes, and the names of the states.

    If all are integers the numbers are in order of their values, and no names.
    """
    names = list(nodes)
    is_numbered = all(map(_INTEGER.fullmatch, names))
    if is_numbered:
        names.sort(key=int)
    states = {name: k for k, name in enumerate(names)}
    return states, None if is_numbered else tuple(names)


def _fresh(taken: Iterable[str]) -> str:
    """Return what the internal action is called: tau, or tau_2 where that is taken."""
    names = set(taken)
    candidates = chain([INTERNAL], (f"{INTERNAL}_{k}" for k in count(2)))
    return next(name for name in candidates if name not in names)


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
    if all(map(_INTEGER.fullmatch, names)):  # they would be read as numbers
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


def quoted(text: str) -> str:
    """Return a string as it is written, in DOT and in HOA."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
