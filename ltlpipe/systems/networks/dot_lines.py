r"""Graphviz files as tools write them: one statement to a line.

`ltlpipe.systems.networks.dot` reads any directed graph by its grammar, in about 80
microseconds and a kilobyte per edge.  `read_lines` reads, in one or two, those files of
which every line is blank, a comment, an edge or a node with at most one list of
attributes, a default, a setting, the head of a graph or of a subgraph in it, or a
closing brace. Such a line begins and ends between two statements (nothing continues on
the next one), so the lines can be read one by one.  Everything else, errors included,
is left to the grammar: then the result is None.  Where there is a result, the grammar's
is the same.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.systems.networks.aut import blocks
from ltlpipe.systems.networks.lts import LTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ID = r'(?:[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+|"[^"\\\n]*")'
_VALUE = rf"({_ID})[ \t]*=[ \t]*({_ID})(?=[ \t,;\]])[ \t]*(?:[,;][ \t]*)?"
_ATTRIBUTES = rf"\[[ \t]*((?:{_VALUE})*)\]".replace("(" + _ID, "(?:" + _ID)
_ATTRIBUTE = re.compile(_VALUE)
_EDGE = re.compile(
    rf"^[ \t]*({_ID})[ \t]*->[ \t]*({_ID})[ \t]*"
    rf"\[[ \t]*label[ \t]*=[ \t]*({_ID})[ \t]*\][ \t]*;?[ \t\r]*$",
    re.MULTILINE,
)
_LINES = re.compile(
    rf"""[ ]*(?:
    (?P<open>(?:strict[ ]+)?digraph(?:[ ]+(?P<graph>{_ID}))?[ ]*\{{)
    | (?P<part>subgraph(?:[ ]+(?P<name>{_ID}))?[ ]*\{{)
    | (?P<close>\}}[ ]*(?P<semicolon>;?))
    | (?P<src>{_ID})[ ]*->[ ]*(?P<dst>{_ID})[ ]*(?P<label>{_ATTRIBUTES})[ ]*;?
    | (?P<setting>{_ID}[ ]*=[ ]*{_ID})[ ]*;?
    | (?P<node>{_ID})[ ]*(?P<attributes>{_ATTRIBUTES})?[ ]*;?
    | (?://|\#)[^\n]*
    )?[ \r]*""".replace("[ ", r"[ \t"),
    re.VERBOSE,
)
INTEGER = re.compile(r"-?[0-9]{1,18}")
INTERNAL = "tau"
"""What the internal action is called whose label is empty."""
KEYWORDS = {"strict", "digraph", "graph", "subgraph", "node", "edge"}
_DEFAULTS = {"graph", "node", "edge"}
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


class _IrregularError(Exception):
    """The file has to be read by the grammar."""


class MisplacedError(Exception):
    """The edges of a component do not say where it starts.

    `edge` is the number of the one that is wrong, None if one is missing.
    """

    def __init__(self, message: str, edge: int | None) -> None:
        super().__init__(message)
        self.message = message
        self.edge = edge


def read_lines(text: str) -> list[LTS] | None:
    """Read the components of a network; None if a line or the whole is irregular."""
    try:
        return _Lines().read(text)
    except _IrregularError:
        return None


def numbering(nodes: Iterable[str]) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the states' numbers by the names of nodes, and the names of the states.

    If all are integers the numbers are in order of their values, and no names.
    """
    names = list(nodes)
    if all(INTEGER.fullmatch(n) for n in names):
        names.sort(key=int)
        return {name: i for i, name in enumerate(names)}, None
    return {name: i for i, name in enumerate(names)}, tuple(names)


def unknown_attribute(attributes: Mapping[str, str], of: str) -> str | None:
    """Return the first attribute that is not known, in words; None if all are.

    They are those of an ``edge``, a ``node``, or of ``defaults`` for edges.
    """
    known = {"edge": ("label",), "node": ("label", "xlabel")}.get(of, ())
    for name, value in attributes.items():
        if not (_LOOKS.fullmatch(name) or name in known or (name, value) == _FORWARD):
            return f"the attribute {name}={value[:40]!r}, which may carry meaning"
    return None


class _Names:
    """Numbers of names in order of first appearance, however they are spelt."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self._of_spelt: dict[str, int] = {}

    def number(self, spelt: str) -> int:
        """Return the number of a name."""
        number = self._of_spelt.get(spelt)
        if number is None:
            number = self.index.setdefault(_name(spelt), len(self.index))
            self._of_spelt[spelt] = number
        return number


class _Part:
    """Nodes and edges between two braces."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes = _Names()
        self.labels = _Names()
        self.columns: list[np.ndarray] = []

    def add(self, rows: list[tuple[str, str, str]]) -> None:
        """Add edges: source, target and label."""
        node, label = self.nodes.number, self.labels.number
        flat = [n for s, d, a in rows for n in (node(s), node(d), label(a))]
        self.columns.append(np.array(flat, dtype=np.int32).reshape(-1, 3))

    def component(self) -> LTS:
        """Return the component, as the grammar's nodes and edges would give it."""
        if not self.columns:
            raise _IrregularError
        edges = np.concatenate(self.columns)
        nodes, labels = list(self.nodes.index), list(self.labels.index)
        try:
            return component(self.name, nodes, labels, edges)
        except MisplacedError:
            raise _IrregularError from None


def component(
    name: str, nodes: Sequence[str], labels: Sequence[str], edges: np.ndarray
) -> LTS:
    """Return the component that nodes and edges between them are.

    Parameters
    ----------
    name : str
        What it is called.
    nodes, labels : sequence of str
        Names, each once, in order of first appearance.
    edges : int32[m, 3]
        Source, target and label of each edge.

    Raises
    ------
    MisplacedError
        No edge is the start edge, or several can be, or its source has other edges.
    """
    src, dst, label = edges.T
    empty = label == (labels.index("") if "" in labels else -1)
    start = _start(name, nodes, src, dst, empty)
    artificial = int(src[start])
    states, state_names = numbering(n for n in nodes if n != nodes[artificial])
    state = np.array([states.get(n, -1) for n in nodes], dtype=np.int32)
    alphabet = {text: k for k, text in enumerate(text for text in labels if text)}
    internal: frozenset[str] = frozenset()
    if np.count_nonzero(empty) > 1:
        silent = _fresh(alphabet)
        internal = frozenset({silent})
        alphabet[silent] = alphabet[""] = len(alphabet)
    letter = np.array([alphabet.get(text, -1) for text in labels], dtype=np.int32)
    alphabet.pop("", None)
    steps = np.arange(len(edges)) != start
    return LTS(
        n_states=len(states),
        initial=int(state[dst[start]]),
        labels=tuple(alphabet),
        src=state[src[steps]],
        label=letter[label[steps]],
        dst=state[dst[steps]],
        internal=internal,
        name=name,
        state_names=state_names,
    )


def _start(
    name: str, nodes: Sequence[str], src: np.ndarray, dst: np.ndarray, empty: np.ndarray
) -> int:
    """Return the number of the start edge.

    Its label is empty and its source has no other edge.  Where that holds of several,
    as an internal action can leave a state that is not reachable, it is the one from
    node 0.  As a wrong start would be a wrong verdict, it is refused to be another one
    where node 0 is left by an empty label and nodes are numbers, or never entered.
    """
    (starts,) = np.nonzero(empty)
    if not len(starts):
        raise MisplacedError(
            f"{name} has no start edge (one with an empty label)", None
        )
    n_left = np.bincount(src, minlength=len(nodes))
    n_entered = np.bincount(dst, minlength=len(nodes))
    unentered = starts[n_entered[src[starts]] == 0].tolist()
    alone = [edge for edge in unentered if n_left[src[edge]] == 1]
    numbered = all(map(INTEGER.fullmatch, nodes))
    left = starts.tolist() if numbered else unentered
    from_zero = [edge for edge in left if nodes[src[edge]] == "0"]
    if from_zero or len(alone) <= 1:
        start = int((from_zero or alone or starts.tolist())[0])
        _refuse_others(name, nodes, src, dst, start)
        return start
    message = f"{name} has a second start edge (one with an empty label)"
    raise MisplacedError(message, alone[1])


def _refuse_others(
    name: str, nodes: Sequence[str], src: np.ndarray, dst: np.ndarray, start: int
) -> None:
    """Refuse what else leaves or enters the source of the start edge."""
    artificial = src[start]
    others = (src == artificial) | (dst == artificial)
    others[start] = dst[start] == artificial
    if others.any():
        message = f"{name} uses {nodes[artificial]}, where its start edge begins, again"
        raise MisplacedError(message, int(np.flatnonzero(others)[0]))


def _fresh(taken: Iterable[str]) -> str:
    """Return what the internal action is called: tau, or tau_2 where that is taken."""
    names = set(taken)
    candidates = itertools.chain(
        [INTERNAL], (f"{INTERNAL}_{k}" for k in itertools.count(2))
    )
    return next(name for name in candidates if name not in names)


class _Lines:
    """What is known while lines are read."""

    def __init__(self) -> None:
        self.depth = 0
        self.ended = False
        self.graph = _Part("")
        self.parts: list[_Part] = []

    def read(self, text: str) -> list[LTS]:
        for block in blocks(text, 0):
            rows = _EDGE.findall(block) if self.depth else []
            if rows and len(rows) == block.count("\n") + (block[-1] != "\n"):
                self._part().add(rows)
            else:
                self._read_lines(block)
        if not self.ended:
            raise _IrregularError
        if not self.parts:
            self.parts = [self.graph]
        elif self.graph.columns:
            raise _IrregularError
        return [part.component() for part in self.parts]

    def _part(self) -> _Part:
        if not self.depth:
            raise _IrregularError
        return self.graph if self.depth == 1 else self.parts[-1]

    def _read_lines(self, block: str) -> None:
        rows: list[tuple[str, str, str]] = []
        for line in block.split("\n"):
            edge = _EDGE.match(line)
            if edge is not None:
                rows.append(edge.group(1, 2, 3))  # type: ignore[arg-type]
                continue
            if rows:
                self._part().add(rows)
                rows = []
            found = _LINES.fullmatch(line)
            if found is None:
                raise _IrregularError
            self._read_line(found)
        if rows:
            self._part().add(rows)

    def _read_line(self, line: re.Match[str]) -> None:
        """Read a line that is no edge with only a label."""
        if line["open"]:
            if self.depth or self.ended:
                raise _IrregularError
            self.depth = 1
            self.graph = _Part(_name(line["graph"] or '""') or "component 1")
        elif line["part"]:
            if self.depth != 1:
                raise _IrregularError
            self.depth = 2
            name = _name(line["name"] or '""')
            self.parts.append(_Part(name or f"component {len(self.parts) + 1}"))
        elif line["close"]:
            if not self.depth or (self.depth == 1 and line["semicolon"]):
                raise _IrregularError
            self.depth -= 1
            self.ended = not self.depth
        elif line["src"]:
            label = _attributes(line["label"], "edge").get("label")
            if label is None:
                raise _IrregularError
            self._part().add([(line["src"], line["dst"], f'"{label}"')])
        elif line["setting"]:
            self._part()
            _attributes(line["setting"] + ";", "node")
        elif line["node"]:
            self._read_node(line)

    def _read_node(self, line: re.Match[str]) -> None:
        part = self._part()
        if line["attributes"]:
            is_edge = line["node"].lower() == "edge"
            _attributes(line["attributes"], "defaults" if is_edge else "node")
            if line["node"].lower() in _DEFAULTS:
                return
        part.nodes.number(line["node"])


def _attributes(text: str, of: str) -> dict[str, str]:
    """Return what a list of attributes says; see `unknown_attribute`."""
    found = {_name(key): _name(value) for key, value in _ATTRIBUTE.findall(text)}
    if unknown_attribute(found, of):
        raise _IrregularError
    return found


def _name(spelt: str) -> str:
    """Return a name without its quotes."""
    if spelt[0] == '"':
        return spelt[1:-1]
    if spelt.lower() in KEYWORDS:
        raise _IrregularError
    return spelt
