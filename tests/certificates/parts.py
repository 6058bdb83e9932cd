"""Certificates taken apart, changed and put together again; and what they prove.

`proves` decides by the definition whether ranks prove a claim: the steps are those of
the search in plain Python, the automaton is Spot's, and the acceptance is judged on
every set of marks.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ltlpipe.automata.conditions import Clause, fairness_to, generalised_buchi, marks_in
from ltlpipe.automata.fin_removal import condition_of, marks_of
from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.systems.plain_steps import NetworkSteps
from tests.certificates.reductions import searched_network

MAGIC = b"ltlpipe certificate 2\n"
TYPES = ("<u1", "<u2", "<u4", "<i8")


@dataclass
class Parts:
    """A header, and a row of numbers for each state: as the columns have them.

    `forms` has the transitions of each form, as triples, and the image or None;
    `machine` the columns of a program's machine: source, label and target of its
    transitions, the class of each cell, how many ranges each of its sets has, and the
    first and last value and the distance of each range.
    """

    header: dict
    states: list[list[int]]
    forms: list[tuple[list[list[int]], list[int] | None]]
    machine: list[list[int]] | None = None

    def write(self, path, **fields):
        """Write the certificate, in one block, its checksums right.

        `fields` take the place of those of the header, whatever they are.
        """
        header = copy.deepcopy(self.header)
        header["states"] = len(self.states)
        header["block"] = max(len(self.states), 1)
        columns = []
        if self.machine is not None:
            columns += map(np.array, self.machine)
            counts = [len(self.machine[at]) for at in (0, 3, 5)]
            names = "transitions", "cells", "ranges"
            header["machine"] |= dict(zip(names, counts, strict=True))
        for number, (steps, image) in enumerate(self.forms):
            header["reduction"]["forms"][number]["transitions"] = len(steps)
            columns += list(np.array(steps, dtype=np.int64).reshape(-1, 3).T)
            columns += [] if image is None else [np.array(image)]
        columns += list(np.array(self.states, dtype=np.int64).reshape(-1, self.width).T)
        plain = [column.astype("<i8").tobytes() for column in columns if len(column)]
        path.write_bytes(checked(header | fields, b"".join(map(_packed, plain)), plain))

    @property
    def width(self):
        return len(self.header["columns"])


def _packed(plain):
    packed = pa.Codec("zstd").compress(plain, asbytes=True)
    return bytes([3]) + len(packed).to_bytes(4, "little") + packed


def checked(header, contents, plain):
    """A certificate of a header and columns of int64, with its checksums."""
    head = MAGIC + json.dumps(header).encode() + b"\n"
    digest = hashlib.sha256(head)
    data = head + digest.hexdigest().encode() + b"\n" + contents
    for column in plain:
        digest.update(bytes([3]) + column)
    return data + digest.digest()


def parts_of(path, network=None):
    """Read a certificate, in the way that its documentation says.

    Where forms keep steps, `network` tells how many states an image has.
    """
    data = path.read_bytes()
    assert data.startswith(MAGIC)
    line, _, rest = data[len(MAGIC) :].partition(b"\n")
    header = json.loads(line)
    digest = hashlib.sha256(data[: len(MAGIC) + len(line) + 1])
    assert rest[:65] == digest.hexdigest().encode() + b"\n"
    rest = rest[65:]
    machine, told = None, header.get("machine")
    if told is not None:
        n_sets = told["cells"] * len(network.source.variables)
        sizes = [told["transitions"]] * 3 + [told["cells"], n_sets]
        machine = []
        for size in sizes + [told["ranges"]] * 3:
            column = []
            if size:
                column, rest = _column(rest, size, digest)
            machine.append(column)
    forms = []
    reduction = header["reduction"] or {"forms": []}
    for form in reduction["forms"]:
        columns = []
        for _ in range(3 if form["transitions"] else 0):
            column, rest = _column(rest, form["transitions"], digest)
            columns.append(column)
        image = None
        if reduction["keeps"] == "steps":
            n = network.components[form["parts"][0]].n_states
            image, rest = _column(rest, n, digest)
        forms.append(([list(step) for step in zip(*columns, strict=True)], image))
    left, rows = header["states"], []
    while left:
        n = min(left, header["block"])
        columns = []
        for _ in header["columns"]:
            column, rest = _column(rest, n, digest)
            columns.append(column)
        rows += [list(row) for row in zip(*columns, strict=True)]
        left -= n
    assert rest == digest.digest()
    return Parts(header, rows, forms, machine)


def _column(rest, n, digest):
    """The values of a column, which go into a checksum, and what stands behind it."""
    kind, size = np.dtype(TYPES[rest[0]]), int.from_bytes(rest[1:5], "little")
    plain = pa.Codec("zstd").decompress(
        rest[5 : 5 + size], n * kind.itemsize, asbytes=True
    )
    digest.update(rest[:1] + plain)
    return np.frombuffer(plain, kind).tolist(), rest[5 + size :]


def proves(network, parts):
    """Whether states, ranks and clauses prove that no run is accepted.

    Of a reduction, whether it is one by definition (`tests.certificates.reductions`).
    """
    header = parts.header
    if header["reduction"] is not None:
        network = searched_network(network, parts)
        if network is None:
            return False
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
    view = NetworkSteps(network, names, fairness=fairness)
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
