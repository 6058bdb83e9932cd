"""Drawings of transition systems: what nodes and edges of a Graphviz file mean.

Every edge has a label, the action, without the blanks around it.  The initial state of
a component is, in this order,

1. the node that the caller names;
2. the node with ``initial=true``, or where an edge without a label leads that leaves a
   node that is not drawn: one that is invisible, a point or no shape at all, or is
   called ``__start0``, and is not entered (LearnLib and AutomataLib, the Automata Wiki,
   Spot, most drawings by hand);
3. the one node with two lines around, where mCRL2 has drawn it (``mclimit``), or with
   the colour magenta, where DiVinE has (``node [fontname=Courier]``);
4. the target of the one edge whose label is empty and whose source has no other edge
   (RERS).  If an internal action leaves such a node, too, the start edge has to leave
   the node ``0``.

Nodes that only mark the initial state are no states.  Every other edge with an empty
label is an internal action, called ``tau``, with which nothing synchronises (RERS
2016); so is ``tau`` of mCRL2.

States are numbered by their names if these are all integers, else in order of first
appearance; a state without edges needs a node statement.  The alphabet of a component
is its labels in order of first use.

Sources: the parallel problems of the RERS challenges; GraphDOT of AutomataLib; the
Automata Wiki of Radboud University; mCRL2, liblts_dot.cpp; DiVinE 3, draw.h; Spot's
output for Graphviz, whose labels are conditions: only those that name one proposition
are read.

Differences from the sources: an accepting state (two lines, but in mCRL2) is a state
like others, except in drawings by Spot and DiVinE, where it is refused.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.networks.lts import (
    JOINED,
    LABEL,
    LTS,
    mealy_in_steps,
    mealy_joined,
    mealy_obstacle,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

INTEGER = re.compile(r"-?[0-9]{1,18}")
INTERNAL = "tau"
"""What the internal action is called whose label is empty."""

UNLABELLED, NO_EDGE = -1, -2  # in the place of a label

MARKS = ("initial", "shape", "style", "peripheries", "fillcolor", "width")
"""Attributes of nodes that may tell initial states."""

_TRUE = {"true", "1", "yes"}
_NOT_DRAWN = {"point", "none", "plain", "plaintext"}
_START = re.compile(r"__start[0-9]*")
_PROPOSITION = re.compile(r"""[A-Za-z_.][\w.@]*|"[^"]*"|'[^']*'""")
_ALL = re.compile(r"(t(\\n|\s)*)?(\[all\])?")
_BY_SPOT = {("style", "invis"), ("width", "0")}  # looks of its node I
_CONSTANTS = {"t", "true", "f", "false"}


class Part(NamedTuple):
    """A subgraph, or the graph: its name and place, and its rows from begin to end."""

    name: str
    place: int
    begin: int
    end: int


@dataclass
class Drawing:
    """What is known of a file.

    A row is an edge: the numbers of source, target and label, and its place in the
    text.  A node that is named is a row with itself as its target, and `NO_EDGE`.
    """

    text: str
    file: str
    nodes: dict[str, int] = field(default_factory=dict)  # by their names
    labels: dict[str, int] = field(default_factory=dict)
    rows: array[int] = field(default_factory=lambda: array("q"))
    # Subgraphs that may be components, the graph itself behind them.
    parts: list[Part] = field(default_factory=list)
    # What is said of nodes: the row at which it is, the node, attributes of `MARKS`.
    marks: list[tuple[int, int, Mapping[str, str]]] = field(default_factory=list)
    said: dict[str, str] = field(default_factory=dict)  # attributes of the graph

    def error(self, message: str, place: int) -> InputError:
        """Return an error at a place of the text."""
        line = 1 + self.text.count("\n", 0, place)
        return InputError(message, file=self.file, line=line)

    def components(self, initial: str | None, mealy: str) -> list[LTS]:
        """Return the components: the subgraphs, or else the graph itself."""
        table = np.array(self.rows, dtype=np.int64).reshape(-1, 4)
        outside = table[:, 2] != NO_EDGE
        *parts, graph = self.parts
        n_edges = np.count_nonzero(outside)
        within = np.zeros(len(table) + 1, dtype=np.bool_)
        for part in parts:
            within[part.begin : part.end] = True
        outside &= ~within[:-1]
        if np.count_nonzero(outside) == n_edges:
            parts = [graph]
            within[:] = False
        elif outside.any():
            message = "an edge outside of the subgraphs, expected it inside of one"
            raise self.error(message, int(table[outside, 3][0]))
        names = list(self.nodes), list(self.labels)
        marks = sorted(self.marks, key=_row_of)
        outer = [mark for mark in marks if not within[mark[0]]]
        found = []
        for number, part in enumerate(parts, start=1):
            part = part._replace(name=part.name or f"component {number}")
            ends = (bisect_left(marks, k, key=_row_of) for k in (part.begin, part.end))
            inner = marks[slice(*ends)] if within[part.begin] else []
            looks: dict[int, dict[str, str]] = {}
            for _, node, said in sorted([*outer, *inner], key=_row_of):
                looks.setdefault(node, {}).update(said)
            rows = table[part.begin : part.end]
            component = _Component(self, part, rows, names, looks)
            found.append(component.lts(initial, mealy))
        return found


def _row_of(mark: tuple[int, int, Mapping[str, str]]) -> int:
    return mark[0]


class _Component:
    """The nodes of a component and the edges between them."""

    def __init__(
        self,
        drawing: Drawing,
        part: Part,
        rows: np.ndarray,
        names: tuple[list[str], list[str]],
        looks: Mapping[int, Mapping[str, str]],
    ) -> None:
        self.drawing, self.part, self.name = drawing, part, part.name
        numbers, local = _by_appearance(rows[:, :2].ravel())
        self.nodes = [names[0][n] for n in numbers.tolist()]
        self.texts = names[1]
        self.looks = [looks.get(n, {}) for n in numbers.tolist()]
        is_edge = rows[:, 2] != NO_EDGE
        self.src, self.dst = local.reshape(-1, 2)[is_edge].T
        self.edges = rows[is_edge]
        self.silent = self.edges[:, 2] == drawing.labels.get("", NO_EDGE)
        self.n_left = np.bincount(self.src, minlength=len(self.nodes))
        self.n_entered = np.bincount(self.dst, minlength=len(self.nodes))

    def _error(self, message: str, edge: int | None = None) -> InputError:
        place = self.part.place if edge is None else int(self.edges[edge, 3])
        return self.drawing.error(message, place)

    def lts(self, initial: str | None, mealy: str) -> LTS:
        """Return the component as an LTS."""
        markers = self._markers()
        state = self._initial(initial, markers)
        if state is None:
            start = self._start()
            markers[self.src[start]] = True
            state = int(self.dst[start])
        markers[state] = False
        steps = ~markers[self.src]
        for edge in np.flatnonzero(steps & (self.edges[:, 2] == UNLABELLED))[:1]:
            shown = f"{self.nodes[self.src[edge]]} -> {self.nodes[self.dst[edge]]}"
            raise self._error(f"the edge {shown} of {self.name} has no label", edge)
        self._refuse_conditions(markers, steps)
        return self._mealy(self._lts(state, markers, steps), steps, mealy)

    def _lts(self, initial: int, markers: np.ndarray, steps: np.ndarray) -> LTS:
        kept = [n for n, no in zip(self.nodes, markers.tolist(), strict=True) if not no]
        states, state_names = _numbering(kept)
        state = np.array([states.get(n, -1) for n in self.nodes], dtype=np.int32)
        used, letter = _by_appearance(self.edges[:, 2][steps])
        labels = [self.texts[n] for n in used.tolist()]
        alphabet = [text for text in labels if text]
        internal: frozenset[str] = frozenset()
        if "" in labels:
            parts = (part.strip() for text in alphabet for part in text.split("/"))
            fresh = _fresh([*alphabet, *parts])
            internal = frozenset({fresh})
            alphabet.append(fresh)
        elif self._by_mcrl2():
            internal = frozenset({INTERNAL}) & frozenset(alphabet)
        place_of = {text: k for k, text in enumerate(alphabet)}
        letters = [place_of.get(text, len(alphabet) - 1) for text in labels]
        return LTS(
            n_states=len(states),
            initial=int(state[initial]),
            labels=tuple(alphabet),
            src=state[self.src[steps]],
            label=np.array(letters, dtype=np.int32)[letter],
            dst=state[self.dst[steps]],
            internal=internal,
            name=self.name,
            state_names=state_names,
        )

    def _mealy(self, lts: LTS, steps: np.ndarray, mealy: str) -> LTS:
        """Read labels as inputs and outputs, if they are."""
        if mealy == LABEL:
            return lts
        for label in lts.labels:
            if label not in lts.internal and (why := mealy_obstacle(label)):
                same = self.edges[:, 2] == self.drawing.labels[label]
                raise self._error(
                    f"{why} (--mealy={mealy})", int(np.flatnonzero(steps & same)[0])
                )
        return mealy_joined(lts) if mealy == JOINED else mealy_in_steps(lts)

    def _by_mcrl2(self) -> bool:
        return "mclimit" in self.drawing.said

    def _by_divine(self) -> bool:
        return self.drawing.said.get("node fontname") == "Courier"

    def _markers(self) -> np.ndarray:
        """Return which nodes are not drawn and mark an initial state at most."""
        markers = np.zeros(len(self.nodes), dtype=np.bool_)
        for node, (name, looks) in enumerate(zip(self.nodes, self.looks, strict=True)):
            called = bool(self.n_left[node]) and _START.fullmatch(name) is not None
            markers[node] = called or (bool(looks) and _is_hidden(looks))
        markers &= self.n_entered == 0
        label = self.edges[:, 2]
        markers[self.src[(label != UNLABELLED) & ~self.silent]] = False
        return markers

    def _initial(self, named: str | None, markers: np.ndarray) -> int | None:
        """Return the initial state, if something else than a start edge tells it.

        Raises
        ------
        InputError
            There are several, or none of the name that the caller wants.
        """
        if named is not None:
            if named not in self.nodes:
                message = f"{self.name} has no node {named!r} (--initial={named})"
                raise self._error(message)
            return self.nodes.index(named)
        found = {
            node
            for node, looks in enumerate(self.looks)
            if looks.get("initial", "").lower() in _TRUE
        }
        found |= set(self.dst[markers[self.src]].tolist())
        if not found and self._by_mcrl2():
            found = self._with_look("peripheries", "2")
        if not found and self._by_divine():
            found = self._with_look("fillcolor", "magenta")
        if len(found) > 1:
            names = ", ".join(sorted(self.nodes[node] for node in found))
            message = f"{self.name} has several initial states: {names}"
            raise self._error(f"{message}; --initial=NODE names one")
        return next(iter(found), None)

    def _with_look(self, name: str, value: str) -> set[int]:
        return {n for n, looks in enumerate(self.looks) if looks.get(name) == value}

    def _refuse_conditions(self, markers: np.ndarray, steps: np.ndarray) -> None:
        """Refuse what drawings by Spot and DiVinE say that components cannot."""
        by_spot = any(
            self.nodes[node] == "I" and self.looks[node].items() >= _BY_SPOT
            for node in np.flatnonzero(markers)
        )
        if self._by_divine():
            if self._with_look("style", "dashed"):
                raise self._error(
                    f"{self.name} is drawn by DiVinE up to a distance, expected all"
                )
            if self._with_look("peripheries", "2"):
                raise self._error(f"{self.name} has accepting states; write .hoa")
        if not by_spot:
            return
        texts = {self.texts[n] for n in np.unique(self.edges[:, 2][steps]).tolist()}
        plain = all(_PROPOSITION.fullmatch(t) and t not in _CONSTANTS for t in texts)
        accepts = not _ALL.fullmatch(self.drawing.said.get("label", ""))
        if accepts or not plain or self._with_look("peripheries", "2"):
            raise self._error(
                f"{self.name} is an automaton drawn by Spot, with conditions and "
                "acceptance, expected actions; write it as .hoa (autfilt -H)"
            )

    def _start(self) -> int:
        """Return the number of the start edge.

        Its label is empty and its source has no other edge.  Where that holds of
        several, as an internal action can leave a state that is not reachable, it is
        the one from node 0.  As a wrong start would be a wrong verdict, it is refused
        to be another one where node 0 is left by an empty label and nodes are numbers,
        or never entered.
        """
        if not self.silent.any():
            raise self._error(
                f"{self.name} has no start edge (one with an empty label, or from a "
                "node that is not drawn); --initial=NODE names the initial state"
            )
        name, nodes, src, dst = self.name, self.nodes, self.src, self.dst
        silent = np.flatnonzero(self.silent)
        unentered = silent[self.n_entered[src[silent]] == 0].tolist()
        alone = [edge for edge in unentered if self.n_left[src[edge]] == 1]
        numbered = all(map(INTEGER.fullmatch, nodes))
        left = silent.tolist() if numbered else unentered
        from_zero = [edge for edge in left if nodes[src[edge]] == "0"]
        if not from_zero and len(alone) > 1:
            message = f"{name} has a second start edge (one with an empty label)"
            raise self._error(message, alone[1])
        start = int((from_zero or alone or silent.tolist())[0])
        artificial = src[start]
        others = (src == artificial) | (dst == artificial)
        others[start] = dst[start] == artificial
        for edge in np.flatnonzero(others)[:1].tolist():
            used = nodes[artificial]
            message = f"{name} uses {used}, where its start edge begins, again"
            raise self._error(message, edge)
        return start


def _is_hidden(looks: Mapping[str, str]) -> bool:
    """Whether a node is not drawn."""
    styles = [part.strip() for part in looks.get("style", "").split(",")]
    return looks.get("shape", "").lower() in _NOT_DRAWN or "invis" in styles


def _by_appearance(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct values in order of first appearance, and the place of each."""
    distinct, first, local = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order], np.argsort(order)[local]


def _numbering(names: Sequence[str]) -> tuple[dict[str, int], tuple[str, ...] | None]:
    """Return the states' numbers by the names of nodes, and the names of the states.

    If all are integers the numbers are in order of their values, and no names.
    """
    is_numbered = all(map(INTEGER.fullmatch, names))
    if is_numbered:
        names = sorted(names, key=int)
    states = {name: k for k, name in enumerate(names)}
    return states, None if is_numbered else tuple(names)


def _fresh(taken: Iterable[str]) -> str:
    """Return what the internal action is called: tau, or tau_2 where that is taken."""
    names = set(taken)
    candidates = chain([INTERNAL], (f"{INTERNAL}_{k}" for k in count(2)))
    return next(name for name in candidates if name not in names)
