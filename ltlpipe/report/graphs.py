"""Pictures of automata: Graphviz's language, and SVG if its ``dot`` is installed.

Small ones only: `lts_graph` and `automaton_graph` return None for what would be no
picture but a knot, and without the package ``graphviz``, which writes the language.
Labels come from input files: they are quoted, cut, and without control characters.

The package would run ``dot``, too, but cannot end it after some seconds: that is done
here.

Source: "The DOT Language" and "escString" in Graphviz's documentation: in a quoted
string a backslash begins an escape, and ``&`` an entity of HTML.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.systems.networks.lts import LTS

MOST_STATES = 24
MOST_ARROWS = 60

_SECONDS = 5.0  # for a drawing
_LABELS = 4  # on an arrow
_SHOWN = 30  # characters of a label

_FONT = {"fontname": "sans-serif"}
_GRAPH = {"rankdir": "LR", "bgcolor": "transparent"}
_NODE = {"shape": "circle", "fontsize": "11", "height": "0.35", "margin": "0.03"}
_NAMED = {"shape": "box", "style": "rounded", "margin": "0.08,0.03"}
_EDGE = {"fontsize": "10", "arrowsize": "0.7"}
_FRAME = {"color": "gray", "fontsize": "11"}


def short(text: str, length: int = _SHOWN) -> str:
    """Return a text in one line, of at most so many characters."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def lts_graph(components: Sequence[LTS]) -> str | None:
    """Return components in Graphviz's language, or None if they are too large.

    States have their names, or numbers; accepting ones have two lines around them.
    Several components are framed, with their names.
    """
    if sum(lts.n_states for lts in components) > MOST_STATES:
        return None
    if sum(lts.n_transitions for lts in components) > 10 * MOST_ARROWS:
        return None
    arrows = [_arrows(lts) for lts in components]
    graph = _graph()
    if graph is None or sum(map(len, arrows)) > MOST_ARROWS:
        return None
    bases = np.cumsum([0, *(lts.n_states for lts in components)]).tolist()
    parts = list(zip(components, arrows, bases, strict=False))
    for number, (lts, labels, base) in reversed([*enumerate(parts)]):
        if len(components) == 1:  # dot draws the last part on top
            _draw(graph, lts, labels, base)
            continue
        name = short(lts.name) or f"component {number + 1}"
        with graph.subgraph(name=f"cluster_{number}") as frame:
            frame.attr(label=_label([name]), **_FRAME, **_FONT)
            _draw(frame, lts, labels, base)
    return str(graph.source)


def automaton_graph(automaton: PropertyAutomaton) -> str | None:
    """Return a property automaton in Graphviz's language, or None if it is too large.

    Arrows are labelled with letters, and with marks in braces.
    """
    if automaton.n_states > MOST_STATES:
        return None
    arrows = automaton_arrows(automaton)
    graph = _graph()
    if graph is None or len(arrows) > MOST_ARROWS:
        return None
    for state in range(automaton.n_states):
        graph.node(str(state))
    _begin(graph, automaton.initial)
    for (src, dst, marks), letters in arrows.items():
        label = f"{letters_text(automaton, letters)} {marks_text(marks)}".rstrip()
        graph.edge(str(src), str(dst), label=_label([short(label)]))
    return str(graph.source)


def automaton_arrows(
    automaton: PropertyAutomaton,
) -> dict[tuple[int, int, int], list[int]]:
    """Return the letters of transitions with the same source, target and marks."""
    counts = np.diff(automaton.first_edge)
    cells = np.repeat(np.arange(len(counts)), counts)
    found: dict[tuple[int, int, int], list[int]] = {}
    for cell, dst, marks in zip(
        cells.tolist(),
        automaton.edge_dst.tolist(),
        automaton.edge_marks.tolist(),
        strict=True,
    ):
        src, letter = divmod(cell, automaton.n_letters)
        found.setdefault((src, dst, marks), []).append(letter)
    return found


def letters_text(automaton: PropertyAutomaton, letters: Sequence[int]) -> str:
    """Return the text for letters: their numbers, or "any"."""
    if len(letters) == automaton.n_letters:
        return "any"
    return ",".join(map(str, letters))


def marks_text(marks: int) -> str:
    """Return a set of marks as HOA writes it; nothing for none."""
    numbers = [str(k) for k in range(32) if marks >> k & 1]
    return f"{{{' '.join(numbers)}}}" if numbers else ""


def _arrows(lts: LTS) -> dict[tuple[int, int], list[str]]:
    """Return the labels of all transitions between two states."""
    found: dict[tuple[int, int], dict[str, None]] = {}
    for src, label, dst in lts.transitions():
        found.setdefault((src, dst), {})[label] = None
    return {ends: [*labels] for ends, labels in found.items()}


def _graph() -> Any:
    """Return an empty graph; None without the package."""
    try:
        import graphviz
    except ImportError:
        return None
    return graphviz.Digraph(
        graph_attr=_GRAPH, node_attr=_NODE | _FONT, edge_attr=_EDGE | _FONT
    )


def _draw(
    graph: Any, lts: LTS, arrows: dict[tuple[int, int], list[str]], base: int
) -> None:
    """Draw a component, whose states are numbered from `base`."""
    marked = () if lts.accepting is None else np.flatnonzero(lts.accepting).tolist()
    for state in range(lts.n_states):
        look = {} if lts.state_names is None else dict(_NAMED)
        if state in marked:
            look["peripheries"] = "2"
        name = _label([short(lts.state_name(state))])
        graph.node(str(base + state), name, **look)
    _begin(graph, base + lts.initial)
    for (src, dst), labels in arrows.items():
        shown = [short(label) for label in labels[:_LABELS]]
        if len(labels) > _LABELS:
            shown.append(f"… {len(labels) - _LABELS} more")
        graph.edge(str(base + src), str(base + dst), label=_label(shown))


def _begin(graph: Any, initial: int) -> None:
    """Draw the arrow that comes from nowhere."""
    nowhere = f"start{initial}"
    graph.node(nowhere, "", shape="none", width="0", height="0")
    graph.edge(nowhere, str(initial))


def _label(lines: Iterable[str]) -> str:
    """Return lines as a label that Graphviz shows verbatim."""
    import graphviz

    plain = (graphviz.escape(line.replace("&", "&amp;")) for line in lines)
    label: str = graphviz.nohtml("\\n".join(plain))
    return label


def svg_of_graph(graph: str) -> str | None:
    """Return a graph as SVG, from ``<svg`` on; None without the program ``dot``.

    None also if it fails, or does not end within seconds.
    """
    program = shutil.which("dot")
    return None if program is None else _svg(program, graph)


@lru_cache(maxsize=32)  # Jupyter asks twice for every picture
def _svg(program: str, graph: str) -> str | None:
    try:
        done = subprocess.run(
            [program, "-Tsvg"],
            input=graph.encode("utf-8", errors="replace"),
            capture_output=True,
            timeout=_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    _, begin, rest = done.stdout.decode("utf-8", errors="replace").partition("<svg")
    return begin + rest if begin else None
