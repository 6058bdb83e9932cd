"""Pictures of automata: Graphviz's language, and SVG where its ``dot`` is there.

Small ones only: `lts_graph` and `automaton_graph` return None for what would be no
picture but a knot.  Labels come from input files: they are quoted, cut, and without
control characters.

Source: "The DOT Language" and "escString" in Graphviz's documentation: in a quoted
string a backslash begins an escape, and ``&`` an entity of HTML.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.systems.lts import LTS

MOST_STATES = 24
MOST_ARROWS = 60

_SECONDS = 5.0  # for a drawing
_LABELS = 4  # on an arrow
_SHOWN = 30  # characters of a label

_HEAD = """digraph {
  rankdir=LR; bgcolor="transparent";
  node [shape=circle, fontname="sans-serif", fontsize=11, height=0.35, margin=0.03];
  edge [fontname="sans-serif", fontsize=10, arrowsize=0.7];
"""


def short(text: str, length: int = _SHOWN) -> str:
    """Return a text in one line, of at most so many characters."""
    shown = "".join(c if c.isprintable() else "?" for c in text)
    return shown if len(shown) <= length else shown[: length - 1] + "…"


def lts_graph(components: Sequence[LTS]) -> str | None:
    """Return components in Graphviz's language, or None if they are too large.

    Accepting states have two circles; several components are framed, with their names.
    """
    if sum(lts.n_states for lts in components) > MOST_STATES:
        return None
    if sum(lts.n_transitions for lts in components) > 10 * MOST_ARROWS:
        return None
    lines: list[str] = []
    n_arrows = base = 0
    for number, lts in enumerate(components):
        arrows = _arrows(lts)
        n_arrows += len(arrows)
        marks = () if lts.accepting is None else np.flatnonzero(lts.accepting).tolist()
        nodes = _nodes(lts.n_states, marks, lts.initial, base)
        body = [*nodes, *_drawn(arrows, base)]
        if len(components) > 1:
            name = short(lts.name) or f"component {number}"
            frame = (
                f'subgraph cluster_{number} {{ label={_quoted([name])}; color="gray"; '
            )
            body = [frame + 'fontname="sans-serif"; fontsize=11;', *body, "}"]
        lines = body + lines  # dot draws the last one on top
        base += lts.n_states
    return _graph(lines) if n_arrows <= MOST_ARROWS else None


def automaton_graph(automaton: PropertyAutomaton) -> str | None:
    """Return a property automaton in Graphviz's language, or None if it is too large.

    Arrows say letters, and marks in braces.
    """
    if automaton.n_states > MOST_STATES:
        return None
    arrows = automaton_arrows(automaton)
    if len(arrows) > MOST_ARROWS:
        return None
    lines = list(_nodes(automaton.n_states, (), automaton.initial))
    for (src, dst, marks), letters in arrows.items():
        label = f"{letters_text(automaton, letters)} {marks_text(marks)}".rstrip()
        lines.append(f"{src} -> {dst} [label={_quoted([short(label)])}];")
    return _graph(lines)


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
    """Return letters as they are shown: their numbers, or that it can be any."""
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


def _nodes(
    n_states: int, accepting: Iterable[int], initial: int, base: int = 0
) -> Iterator[str]:
    marked = frozenset(accepting)
    for state in range(n_states):
        look = ", shape=doublecircle" if state in marked else ""
        yield f'{base + state} [label="{state}"{look}];'
    start = f"start{base}"
    yield f'{start} [label="", shape=none, width=0, height=0];'
    yield f"{start} -> {base + initial};"


def _drawn(arrows: dict[tuple[int, int], list[str]], base: int) -> Iterator[str]:
    for (src, dst), labels in arrows.items():
        shown = [short(label) for label in labels[:_LABELS]]
        if len(labels) > _LABELS:
            shown.append(f"… {len(labels) - _LABELS} more")
        yield f"{base + src} -> {base + dst} [label={_quoted(shown)}];"


def _quoted(lines: Iterable[str]) -> str:
    """Return lines as a string that Graphviz shows as they are."""
    plain = (
        line.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
        for line in lines
    )
    return '"' + "\\n".join(plain) + '"'


def _graph(lines: Iterable[str]) -> str:
    return _HEAD + "".join(f"  {line}\n" for line in lines) + "}\n"


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
