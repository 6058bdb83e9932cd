"""The certificate of a search that has found nothing: ranks of all of its states.

The format and the proof are in ``docs/certificates.md``; ranks are computed by
`ltlpipe.search.scc.ranks`.

Each block of states is sorted by itself: that is nearly as small as sorting all of
them, and takes a fraction of the time.

Property automata are written in HOA, with spelled-out labels.

The evidence of a component reduction, as certificates have it.

Forms come in such an order that each stands behind its parts, and those that are left
stand in the order of the components of the searched network.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from itertools import chain
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe._version import __version__
from ltlpipe.automata.conditions import Clause, generalised_buchi, marks_in, normal_form
from ltlpipe.automata.structure import cells_of
from ltlpipe.components.refinement import classes
from ltlpipe.components.transition_arrays import Steps
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.files import open_regular, replacing
from ltlpipe.runtime.jobs import Progress, StoppedError, imported
from ltlpipe.runtime.names import quoted
from ltlpipe.search.driver import advance
from ltlpipe.search.interning import rows_of
from ltlpipe.search.scc.ranks import RankedSearch, ranks_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ltlpipe.automata.letters import PropertyAutomaton
    from ltlpipe.certificates.invariants import Invariant
    from ltlpipe.components.groups import Group, Reduced
    from ltlpipe.runtime.jobs import Job
    from ltlpipe.search.exploring import Recording
    from ltlpipe.search.problem import Problem
    from ltlpipe.systems.networks.lts import LTS, Network
    from ltlpipe.systems.networks.packing import PackedSystem

WORDS, STEPS = "words", "steps"
"""What forms keep: words and divergences, or each step with its letter."""


class _Form(NamedTuple):
    parts: tuple[int, ...]
    labels: tuple[str, ...]  # observable ones
    lts: LTS
    image: np.ndarray | None  # int64[n], the state of the form for each of its part


@dataclass(frozen=True, eq=False)
class Reduction:
    """The forms from which a searched network is made."""

    keeps: str
    trimmed: bool
    forms: tuple[_Form, ...]
    kept: tuple[int, ...] | None = None  # components, if not all

    def to_dict(self) -> dict[str, Any]:
        """Return what the header says of it."""
        kept = {} if self.kept is None else {"kept": list(self.kept)}
        return kept | {
            "keeps": self.keeps,
            "trimmed": self.trimmed,
            "forms": [
                {
                    "parts": list(form.parts),
                    "states": form.lts.n_states,
                    "initial": form.lts.initial,
                    "labels": list(form.labels),
                    "transitions": form.lts.n_transitions,
                }
                for form in self.forms
            ],
        }

    def columns(self) -> Iterator[np.ndarray]:
        """Yield the columns of all forms; those without values are left out."""
        for form in self.forms:
            letters = np.array([*_letters(form.lts, form.labels), 0])
            columns = [form.lts.src, letters[form.lts.label], form.lts.dst]
            if form.image is not None:
                columns.append(form.image)
            yield from (column.astype(np.int64) for column in columns if len(column))


def _letters(lts: LTS, labels: Sequence[str]) -> list[int]:
    """Return the number of each label among `labels`; others are silent."""
    number = {name: k for k, name in enumerate(labels)}
    silent = len(labels)
    return [
        silent if name in lts.internal else number.get(name, silent)
        for name in lts.labels
    ]


def reduction_of(
    before: Network,
    reduced: Reduced,
    *,
    trimmed: bool,
    kept: tuple[int, ...] | None = None,
) -> Job[Reduction]:
    """Return the evidence that a network may take the place of another one.

    Parameters
    ----------
    before : Network
        What was reduced.
    reduced : Reduced
        Its groups by ``trace``, or each component by ``strong``.
    trimmed : bool
        Whether `before` is the system without what no run can take.
    kept : tuple of int, optional
        The components of the system that `before` has, beside one that idles, if not
        all.
    """
    forms: list[_Form] = []
    if reduced.visible is None:
        for i, group in enumerate(reduced.groups):
            image = yield from _image(before.components[i], group.lts)
            forms.append(_Form((i,), _observable(group.lts), group.lts, image))
        return Reduction(STEPS, trimmed, tuple(forms), kept)
    for group in reduced.groups:
        _enter(group, forms, len(before.components))
    return Reduction(WORDS, trimmed, tuple(forms), kept)


def _enter(group: Group, forms: list[_Form], n: int) -> int:
    """Enter a group behind its parts; return its number."""
    parts = tuple(_enter(part, forms, n) for part in group.parts)
    forms.append(
        _Form(parts or tuple(group.members), _observable(group.lts), group.lts, None)
    )
    return n + len(forms) - 1


def _observable(lts: LTS) -> tuple[str, ...]:
    return tuple(name for name in lts.labels if name not in lts.internal)


def _image(part: LTS, form: LTS) -> Job[np.ndarray]:
    """Return the state of a quotient for each state of a component, int64[n].

    Both are refined as one: bisimilar states come into one class.  States that no state
    of the quotient is bisimilar to are not reachable, and have its number of states.
    """
    labels = _observable(form)
    sides = []
    for lts in (part, form):
        letters = np.array([*_letters(lts, labels), 0], dtype=np.int32)
        sides.append((lts.src, letters[lts.label], lts.dst))
    (src, label, dst), (form_src, form_label, form_dst) = sides
    shift, n = part.n_states, part.n_states + form.n_states
    steps = Steps(
        n_states=n,
        initial=0,
        n_labels=len(labels) + 1,  # silent steps are steps like others
        src=np.concatenate([src, form_src + shift]).astype(np.int32),
        label=np.concatenate([label, form_label]).astype(np.int32),
        dst=np.concatenate([dst, form_dst + shift]).astype(np.int32),
        marked=np.zeros(n, dtype=np.bool_),
    )
    n_classes, known = yield from classes(steps)
    state = np.full(n_classes, form.n_states, dtype=np.int64)
    state[known[shift:]] = np.arange(form.n_states)
    image: np.ndarray = state[known[:shift]]
    return image


def hoa_of(
    table: PropertyAutomaton, propositions: Sequence[str], *, over_states: bool
) -> str:
    """Return a table in HOA.

    Each label is a disjunction of conjunctions, and each of these says of every
    proposition whether it holds.

    Parameters
    ----------
    table : PropertyAutomaton
        Its letters tell no marks of the system.
    propositions : sequence of str
        Those of its letters.
    over_states : bool
        Whether letter i is the set of the propositions k for all bits k of i; else
        letter k + 1 is proposition k alone, and letter 0 none.
    """
    condition = table.condition or generalised_buchi(table.n_marks)
    names = " ".join(quoted(name) for name in propositions)
    return "\n".join(
        [
            "HOA: v1",
            f"States: {table.n_states}",
            f"Start: {table.initial}",
            f"AP: {len(propositions)} {names}".rstrip(),
            f"Acceptance: {table.n_marks} {condition}",
            "properties: trans-labels explicit-labels trans-acc",
            "--BODY--",
            *_body(table, len(propositions), over_states=over_states),
            "--END--",
            "",
        ]
    )


def _body(
    table: PropertyAutomaton, n_propositions: int, *, over_states: bool
) -> Iterator[str]:
    cubes = [
        _cube(letter if over_states else 1 << letter >> 1, n_propositions)
        for letter in range(table.n_letters)
    ]
    cells = cells_of(table)
    for state in range(table.n_states):
        yield f"State: {state}"
        labels: dict[tuple[int, int], list[str]] = {}
        for letter, cube in enumerate(cubes):
            for edge in cells[state * table.n_letters + letter]:
                labels.setdefault(edge, []).append(cube)
        for (dst, marks), parts in labels.items():
            label = " | ".join(dict.fromkeys(parts))
            carried = " ".join(map(str, marks_in(marks)))
            yield f"[{label}] {dst}" + (f" {{{carried}}}" if marks else "")


def _cube(holding: int, n_propositions: int) -> str:
    literals = [f"{'' if holding >> k & 1 else '!'}{k}" for k in range(n_propositions)]
    return "&".join(literals) or "t"


MAGIC = b"ltlpipe certificate 2\n"
"""How a certificate begins."""

LINEAR_MAGIC = b"ltlpipe certificate 3\n"
"""How one begins that is a proof by linear algebra: a header, without states."""

TYPES = ("u1", "u2", "u4", "i8")
"""The types of columns: their numbers are those in the file."""

_RECORDING, _WRITING = "recording", "writing the certificate"
_BLOCK_VALUES = 1 << 20
_BLOCK_STATES = 1 << 16
_VALUE_WORK = 0.02  # microseconds of one value of a block
_LEVEL = 3  # of zstd


@dataclass(frozen=True)
class Certificate:
    """A certificate that `ltlpipe.check` has written.

    Parameters
    ----------
    path : str
        The file.
    states, transitions : int
        Size of the product that it is about.
    bytes : int
        Size of the file.
    seconds : float
        Time to compute and to write it.
    """

    path: str
    states: int
    transitions: int
    bytes: int
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints of it."""
        known: dict[str, Any] = dict(vars(self))
        return known | {"seconds": round(self.seconds, 6)}


@dataclass(eq=False)
class Evidence:
    """A search that has ended without an accepting run, as the writer needs it.

    Parameters
    ----------
    search : RankedSearch or Recording
        The search, which has ranked its states; or a recording of its transitions over
        the same product and store, which has not begun.
    packed : PackedSystem
        The system, as the rows of the store have it.
    automaton : str
        The property's automaton in HOA.
    columns : tuple of str
        What the entries of an unpacked state are called.
    reduction : Reduction or None
        What has made the system of its components smaller.
    invariant : Invariant or None
        Of the machine of a program.
    """

    search: RankedSearch | Recording
    packed: PackedSystem
    automaton: str
    columns: tuple[str, ...]
    reduction: Reduction | None = None
    invariant: Invariant | None = None


def written(path: str, claim: dict[str, Any], evidence: Evidence) -> Job[int]:
    """Write the certificate of a search; return the bytes of the file.

    Parameters
    ----------
    path : str
        A file that is there is replaced once all is written.
    claim : dict
        What the header says besides: system, formula, semantics.
    evidence : Evidence
        It is used up.

    Raises
    ------
    InputError
        The file cannot be written.
    UnsupportedError
        The acceptance condition has no small disjunctive normal form.
    StoppedError
        Memory does not suffice.
    """
    yield from imported("pyarrow")
    search = evidence.search
    ranks = yield from _ranks(search)
    held = search.memory_bytes + sum(own.nbytes for own in ranks)
    n, clauses = search.n_stored, clauses_of(search.problem)
    names = [*evidence.columns, "automaton"]
    names += [f"rank {k}" for k in range(1, len(clauses) + 1)]
    block = min(max(_BLOCK_VALUES // len(names), 1), _BLOCK_STATES)
    condition = search.problem.condition
    reduction, invariant = evidence.reduction, evidence.invariant
    header = {
        "written_by": f"ltlpipe {__version__}",
        **claim,
        **({} if invariant is None else {"machine": invariant.to_dict()}),
        "reduction": None if reduction is None else reduction.to_dict(),
        "automaton": evidence.automaton,
        "acceptance": None if condition is None else str(condition),
        "clauses": [
            {"fin": marks_in(c.fin), "inf": marks_in(c.inf), "lacks": marks_in(c.inf)}
            for c in clauses
        ],
        "states": n,
        "transitions": search.n_transitions,
        "block": block,
        "columns": names,
    }
    before = (own.columns() for own in (invariant, reduction) if own is not None)
    forms = ([part] for part in chain.from_iterable(before))
    parts = chain(forms, _parts(evidence, ranks, block))
    return (yield from _file_written(path, header, parts, held + block * 64))


def proof_written(path: str, claim: dict[str, Any], proof: dict[str, Any]) -> int:
    """Write a proof by linear algebra; return the bytes of the file.

    Parameters
    ----------
    path : str
        A file that is there is replaced once all is written.
    claim : dict
        What the header says of system, formula and semantics.
    proof : dict
        The fields `propositions`, `clauses`, `facts`, `inductive` of the header.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    header = {"written_by": f"ltlpipe {__version__}", **claim, **proof}
    head = LINEAR_MAGIC + json.dumps(header, ensure_ascii=True).encode() + b"\n"
    with replacing(path) as file:
        size = file.write(head)
        size += file.write(hashlib.sha256(head).hexdigest().encode() + b"\n")
    return size


def _ranks(search: RankedSearch | Recording) -> Job[list[np.ndarray]]:
    """Return the ranks of all states for each clause."""
    if isinstance(search, RankedSearch):
        return [search.ranks()]
    outcome = yield from advance(search, phase=_RECORDING)
    if outcome.reason is not None:
        raise StoppedError(outcome.reason)
    n, m, arrays = search.n_stored, search.n_transitions, search.arrays
    graph = arrays.ends[:n], arrays.dst[:m], arrays.marks[:m]
    ranks: list[np.ndarray] = []
    held = float(search.memory_bytes)
    for clause in clauses_of(search.problem):
        lacks = marks_in(clause.inf)
        ranks.append((yield from ranks_of(*graph, clause, lacks, held)))
        held += ranks[-1].nbytes
    return ranks


def clauses_of(problem: Problem) -> Sequence[Clause]:
    """Return the disjunctive normal form of what accepts a run of a product."""
    if problem.condition is None:
        return (Clause(0, (1 << problem.n_marks) - 1),)
    return normal_form(problem.condition)


def _file_written(
    path: str,
    header: dict[str, Any],
    parts: Iterator[list[np.ndarray]],
    held_bytes: float,
) -> Job[int]:
    """Write header and blocks to a new file that takes the place of an old one."""
    head = MAGIC + json.dumps(header, ensure_ascii=True).encode() + b"\n"
    digest = hashlib.sha256(head)
    work = _VALUE_WORK * header["block"] * len(header["columns"])
    size = 0
    with replacing(path) as file:
        size += file.write(head + digest.hexdigest().encode() + b"\n")
        for columns in parts:
            written = b"".join([_column_bytes(part, digest) for part in columns])
            size += file.write(written)
            yield Progress(_WRITING, work=work, memory_bytes=held_bytes)
        size += file.write(digest.digest())
    return size


def _parts(
    evidence: Evidence, ranks: Sequence[np.ndarray], block: int
) -> Iterator[list[np.ndarray]]:
    """Yield the columns of one block of states after the other."""
    packed, extra = evidence.packed, evidence.packed.extra
    store, n = evidence.search.store, evidence.search.n_stored
    for first in range(0, n, block):
        part = rows_of(store, np.arange(first, min(first + block, n)))
        order = np.lexsort(part.T[::-1])
        part = part[order]
        states: np.ndarray = packed.unpack(part)
        at = (part[:, extra.word] >> np.uint64(extra.shift)) & np.uint64(extra.mask)
        columns = [*states.T, at.astype(np.int64)]
        columns += [own[first : first + block][order] for own in ranks]
        yield columns


def _column_bytes(column: np.ndarray, digest: Any) -> bytes:
    """Return a column: its type, the bytes of what follows, and that in zstd.

    Type and numbers go into the checksum of the contents, `digest`, too.
    """
    import pyarrow as pa

    low, high = int(column.min()), int(column.max())
    code = len(TYPES) - 1
    if low >= 0:
        code = next(k for k, name in enumerate(TYPES) if high <= np.iinfo(name).max)
    plain = column.astype("<" + TYPES[code]).tobytes()
    digest.update(bytes([code]) + plain)
    codec = pa.Codec("zstd", compression_level=_LEVEL)
    data: bytes = codec.compress(plain, asbytes=True)
    return bytes([code]) + len(data).to_bytes(4, "little") + data


def digest_of(path: str) -> Job[str]:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    try:
        with open_regular(path) as file:
            return (yield from _digest(file))
    except OSError as error:
        raise InputError(error.strerror or str(error), file=path) from None


def _digest(file: IO[bytes]) -> Job[str]:
    found = hashlib.sha256()
    while chunk := file.read(1 << 20):
        found.update(chunk)
        yield Progress(_WRITING, work=1000)
    return found.hexdigest()
