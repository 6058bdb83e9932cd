"""Certificates taken apart, changed and put together again; and what they prove.

`proves` decides by the definition whether ranks prove a claim: the steps are those of
the search in plain Python, the automaton is Spot's, and the acceptance is judged on
every set of marks.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ltlpipe.automata.conditions import Clause, generalised_buchi, marks_in
from ltlpipe.automata.fairness import fairness_to
from ltlpipe.automata.fin_removal import condition_of, marks_of
from ltlpipe.automata.hoa import parse_automata
from ltlpipe.systems.views import NetworkView

MAGIC = b"ltlpipe certificate 1\n"
TYPES = ("<u1", "<u2", "<u4", "<i8")


@dataclass
class Parts:
    """A header, and a row of numbers for each state: as the columns have them."""

    header: dict
    states: list[list[int]]

    def write(self, path):
        """Write the certificate, in one block."""
        header = dict(self.header)
        header["states"] = len(self.states)
        header["block"] = max(len(self.states), 1)
        data = MAGIC + json.dumps(header).encode() + b"\n"
        for column in np.array(self.states, dtype=np.int64).reshape(-1, self.width).T:
            plain = column.astype("<i8").tobytes()
            packed = pa.Codec("zstd").compress(plain, asbytes=True)
            data += bytes([3]) + len(packed).to_bytes(4, "little") + packed
        path.write_bytes(data)

    @property
    def width(self):
        return len(self.header["columns"])


def parts_of(path):
    """Read a certificate, in the way that its documentation says."""
    data = path.read_bytes()
    assert data.startswith(MAGIC)
    line, _, rest = data[len(MAGIC) :].partition(b"\n")
    header = json.loads(line)
    left, rows = header["states"], []
    while left:
        n = min(left, header["block"])
        columns = []
        for _ in header["columns"]:
            kind, size = np.dtype(TYPES[rest[0]]), int.from_bytes(rest[1:5], "little")
            plain = pa.Codec("zstd").decompress(
                rest[5 : 5 + size], n * kind.itemsize, asbytes=True
            )
            columns.append(np.frombuffer(plain, kind).tolist())
            rest = rest[5 + size :]
        rows += [list(row) for row in zip(*columns, strict=True)]
        left -= n
    assert not rest
    return Parts(header, rows)


def proves(network, parts):
    """Whether states, ranks and clauses prove that no run is accepted."""
    header = parts.header
    (automaton,) = parse_automata(header["automaton"], "automaton")
    names = [p.ap_name() for p in automaton.ap()]
    view, condition, n_marks = _system(network, header, automaton, names)
    clauses = [
        Clause(*(sum(1 << m for m in set(c[part])) for part in ("fin", "inf")))
        for c in header["clauses"]
    ]
    for marks in range(1 << n_marks):
        if condition.satisfied_by(marks) and not any(
            clause.satisfied_by(marks) for clause in clauses
        ):
            return False
    n = len(network.components)
    ranks = {tuple(row[: n + 1]): row[n + 1 :] for row in parts.states}
    if (*view.initial(), automaton.get_init_state_number()) not in ranks:
        return False
    for (*local, at), own in ranks.items():
        steps = view.steps(tuple(local))
        if not steps and header["deadlock"] == "stutter":
            steps = [view.repeated(tuple(local))]
        edges = [
            (step, *edge)
            for step in steps
            for edge in _edges(automaton, names, at, step.letter)
        ]
        for step, state, marks in edges:
            found = ranks.get((*step.state, state))
            carried = marks | step.marks << automaton.num_sets()
            if found is None or not all(
                _fits(told, clause, here, there, carried)
                for told, clause, here, there in zip(
                    header["clauses"], clauses, own, found, strict=True
                )
            ):
                return False
    return True


def _fits(told, clause, here, there, marks):
    if marks & clause.fin or there < here:
        return True
    lacks = told["lacks"]
    if there > here or not lacks:
        return False
    mark = lacks[here % len(lacks)]
    return mark in marks_in(clause.inf) and not marks >> mark & 1


def _system(network, header, automaton, names):
    """The network with its marks, and the acceptance of the product."""
    fairness = None
    if header["fairness"]:
        index = network.action_index
        sets = [
            {index[name.strip()] for name in text.split(",")}
            for text in header["fair_sets"]
        ] or [
            {k for k, a in enumerate(network.actions) if i in a.participants}
            for i in range(len(network.components))
        ]
        strong = header["fairness"] == "strong"
        fairness = fairness_to(sets, len(network.actions), strong=strong)
    view = NetworkView(network, names, fairness=fairness)
    own = view.condition or generalised_buchi(view.n_marks)
    shift = automaton.num_sets()
    given = condition_of(automaton) or generalised_buchi(shift)
    condition = given & own.renumbered(lambda mark: mark + shift)
    return view, condition, shift + view.n_marks


def _edges(automaton, names, state, letter):
    """Where a letter leads, and with which marks."""
    import spot  # noqa: F401 (the first: it says where buddy is)

    # isort: split
    import buddy

    cube = buddy.bddtrue
    for number, name in enumerate(names, start=1):
        variable = automaton.register_ap(name)
        cube &= (buddy.bdd_ithvar if number == letter else buddy.bdd_nithvar)(variable)
    for edge in automaton.out(state):
        if edge.cond & cube != buddy.bddfalse:
            yield edge.dst, marks_of(edge)


def product_states(network, parts):
    """All states of the product that can be reached, as a certificate has them."""
    header = parts.header
    (automaton,) = parse_automata(header["automaton"], "automaton")
    names = [p.ap_name() for p in automaton.ap()]
    view, _, _ = _system(network, header, automaton, names)
    start = (*view.initial(), automaton.get_init_state_number())
    known, waiting = {start}, [start]
    while waiting:
        *local, at = waiting.pop()
        steps = view.steps(tuple(local))
        if not steps and header["deadlock"] == "stutter":
            steps = [view.repeated(tuple(local))]
        for step in steps:
            for state, _ in _edges(automaton, names, at, step.letter):
                found = (*step.state, state)
                if found not in known:
                    known.add(found)
                    waiting.append(found)
    return sorted(known)
