"""Writing networks to Graphviz files.

A file has one ``subgraph`` per component, with a start edge as in those of RERS.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.drawings import INTEGER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.systems.networks.lts import LTS

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


def quoted(text: str) -> str:
    """Return a string as it is written, in DOT and in HOA."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
