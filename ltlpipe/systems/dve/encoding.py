"""The syntax tree of a DVE model as plain data: what a worker that parses sends.

A tree is the list of its nodes, children before their parents, in JSON: the kind of a
node and its fields, where ``[k]`` is node k, ``[line, column]`` a place, and ``{"t":
[...]}`` a tuple.  So no nesting is too deep, and the tree is built again in turns.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ltlpipe.runtime.jobs import Progress
from ltlpipe.systems.dve import syntax
from ltlpipe.systems.dve.grammar import parse
from ltlpipe.systems.dve.syntax import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.plain import Plain

_BLOCK = 250  # nodes that are built at once
_NODE_WORK = 10  # units
_NODE_BYTES = 500
_KINDS = {
    kind.__name__: kind
    for kind in vars(syntax).values()
    if isinstance(kind, type) and is_dataclass(kind)
}

_NAMES = {kind: [f.name for f in fields(cls)] for kind, cls in _KINDS.items()}


def parse_plain(text: str, file: str) -> Plain:
    """Parse a model; return its tree as plain data.

    Raises
    ------
    InputError
        As `ltlpipe.systems.dve.grammar.parse`.
    """
    blocks: list[bytes] = []
    block: list[Any] = []
    for record in _records(parse(text, file)):
        block.append(record)
        if len(block) == _BLOCK:
            blocks.append(json.dumps(block).encode())
            block = []
    blocks.append(json.dumps(block).encode())
    return {"nodes": b"".join(blocks), "ends": np.cumsum([len(b) for b in blocks])}


def tree_of(plain: Plain) -> Job[syntax.File]:
    """Build the tree that `parse_plain` has returned."""
    nodes: list[Any] = []

    def decoded(value: Any) -> Any:
        if isinstance(value, list):
            return nodes[value[0]] if len(value) == 1 else Place(*value)
        if isinstance(value, dict):
            return tuple(map(decoded, value["t"]))
        return value

    begin = 0
    for end in plain["ends"].tolist():
        for kind, *values in json.loads(bytes(plain["nodes"][begin:end])):
            nodes.append(_KINDS[kind](*map(decoded, values)))
        begin = end
        yield Progress("reading", _NODE_WORK * _BLOCK, _NODE_BYTES * len(nodes))
    return cast("syntax.File", nodes[-1])


def _records(tree: syntax.File) -> Iterator[list[Any]]:
    """Yield the nodes of a tree, the last ones first."""
    numbers: dict[int, int] = {}

    def encoded(value: Any) -> Any:
        if isinstance(value, Place):
            return list(value)
        if isinstance(value, tuple):
            return {"t": [encoded(item) for item in value]}
        number = numbers.get(id(value))
        return value if number is None else [number]

    waiting: list[tuple[Any, bool]] = [(tree, False)]
    while waiting:
        node, complete = waiting.pop()
        values = [getattr(node, name) for name in _NAMES[type(node).__name__]]
        if complete:
            yield [type(node).__name__, *map(encoded, values)]
            numbers[id(node)] = len(numbers)
            continue
        waiting.append((node, True))
        for value in reversed(values):
            children = value if isinstance(value, tuple) else (value,)
            waiting += [(c, False) for c in reversed(children) if is_dataclass(c)]
