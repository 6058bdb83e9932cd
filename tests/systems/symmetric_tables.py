"""The tables of ``formulas/README.md``, and systems built from them by hand.

Shares no code with the families, nor with networks: components are dictionaries of
named states, composed by a breadth-first search of their own.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import NamedTuple

GUIDE = Path(__file__).parents[2] / "formulas" / "README.md"

_ROW = re.compile(r"^\| (.+?) \| `(.+?)` \| (.*?) ?\| (.+?) \|$")
_HEAD = "| state | label | with | next state |"
_ORDER = ["client", "server", "request", "worker", "dispatcher"]


class Row(NamedTuple):
    """One step of a component; its indices are variables."""

    state: str
    label: str
    partners: frozenset[str]
    target: str


def tables():
    """Map each kind of component to the rows of its table."""
    found = []
    for block in GUIDE.read_text(encoding="utf-8").split(_HEAD)[1:]:
        rows = []
        for line in block.splitlines()[2:]:
            match = _ROW.match(line)
            if match is None:
                break
            state, label, partners, target = match.groups()
            names = frozenset(partners.split(", ")) - {""}
            rows.append(Row(state, label, names, target))
        found.append(rows)
    return dict(zip(_ORDER, found, strict=True))


def _indexed(text, values):
    text = re.sub(r"<([ijrw])>", lambda m: str(values[m[1]]), text)
    return re.sub(r"_([ijrw])$", lambda m: f"_{values[m[1]]}", text)


def component(rows, **ranges):
    """Return the named transitions of a component: each row for all its indices.

    `ranges` say where i, r and w range; j is any i but the one in the same row.
    """
    transitions = []
    for row in rows:
        text = f"{row.state} {row.label} {row.target}"
        variables = sorted(set(re.findall(r"[<_]([ijrw])\b", text)))
        choices = [ranges["i" if v == "j" else v] for v in variables]
        for chosen in product(*choices):
            values = dict(zip(variables, chosen, strict=True))
            if "j" in values and values["j"] == values["i"]:
                continue
            transitions.append(
                tuple(_indexed(t, values) for t in (row.state, row.label, row.target))
            )
    return transitions


def client_server_tables(n):
    """Return the named transitions of each component, by its name."""
    rows = tables()
    clients = range(1, n + 1)
    found = {f"client{i}": component(rows["client"], i=[i]) for i in clients}
    return found | {"server": component(rows["server"], i=clients)}


def dispatcher_tables(n, m):
    """Return the named transitions of each component, by its name."""
    rows = tables()
    requests, workers = range(1, n + 1), range(1, m + 1)
    found = {
        f"request{r}": component(rows["request"], r=[r], w=workers) for r in requests
    }
    found |= {
        f"worker{w}": component(rows["worker"], r=requests, w=[w]) for w in workers
    }
    return found | {"dispatcher": component(rows["dispatcher"], r=requests, w=workers)}


def numbered(transitions):
    """Return (src, label, dst) with states by number, and the number of states.

    States are numbered in the order in which the table names them first as the source
    of a step, those of one row by their index.
    """
    order = {src: None for src, _, _ in transitions}
    number = {state: i for i, state in enumerate(sorted(order, key=_rank(transitions)))}
    return {(number[s], a, number[t]) for s, a, t in transitions}, len(number)


def _rank(transitions):
    first = {}
    for src, _, _ in transitions:
        first.setdefault(re.sub(r"\d+$", "", src), len(first))

    def key(state):
        index = re.search(r"\d+$", state)
        return first[re.sub(r"\d+$", "", state)], int(index[0]) if index else 0

    return key


def sizes(components):
    """Count reachable states, transitions and deadlocks of a system.

    A label happens if all components that have it can take it.
    """
    moves = []
    for transitions in components.values():
        table = {label: {} for _, label, _ in transitions}
        for src, label, dst in transitions:
            assert table[label].setdefault(src, dst) == dst  # deterministic
        moves.append(table)
    owners = {}
    for i, table in enumerate(moves):
        for label in table:
            owners.setdefault(label, []).append(i)
    first = tuple(transitions[0][0] for transitions in components.values())
    seen, level = {first}, [first]
    n_transitions = n_deadlocks = 0
    while level:
        following = []
        for state in level:
            steps = 0
            for label, who in owners.items():
                if all(state[i] in moves[i][label] for i in who):
                    target = list(state)
                    for i in who:
                        target[i] = moves[i][label][state[i]]
                    steps += 1
                    if tuple(target) not in seen:
                        seen.add(tuple(target))
                        following.append(tuple(target))
            n_transitions += steps
            n_deadlocks += steps == 0
        level = following
    return len(seen), n_transitions, n_deadlocks
