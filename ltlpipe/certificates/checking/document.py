"""A certificate as it is read: its header, and its states block by block.

Nothing that a file says is believed: each field has to be known and of its kind, and no
more memory is taken than the states need that are there.  Since format 2 there is a
checksum of the header behind it, and one of all contents behind the last state.

A header is a `Document`: the annotations of its fields, and of those of the objects in
it, say what JSON has to have there.  Of a reduction it says that the network that was
searched is made of *forms*: each takes the place of a component of the system, or of
two forms that came before it.  How forms are proved to be sound is in
``docs/certificates.md``.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import (
    IO,
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"ltlpipe certificate 2\n"
"""How a certificate of this format begins."""
LINEAR_MAGIC = b"ltlpipe certificate 3\n"
"""How one begins that is a proof by linear algebra: a header, without states."""
_FIRST = b"ltlpipe certificate 1\n"  # of version 0.2: no checksums, no constraint

READING = "reading the certificate"

_ANY_VERSION = b"ltlpipe certificate "
_TYPES = ("<u1", "<u2", "<u4", "<i8")
_MOST_HEADER = 1 << 28  # bytes
_MOST_VALUES = 1 << 26  # of a block
_MOST_OF_FORM = 1 << 26  # states or transitions

MAX_MARKS = 32
_VALUE_WORK = 0.005  # microseconds


class RefusedError(Exception):
    """A certificate does not prove what it claims, or is none.

    Parameters
    ----------
    reason : str
        The first thing that is wrong, for people.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


class File(NamedTuple):
    """A file of the system: its path, and its SHA-256."""

    path: str
    sha256: str


class About(NamedTuple):
    """The system, and how its files were read."""

    name: str = ""
    files: tuple[File, ...] = ()
    format: str | None = None
    alphabet: str | None = "used"
    initial: str | None = None
    mealy: str = "label"
    semantics: str | None = None
    define: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    processes: int | None = None

    @property
    def manner(self) -> dict[str, Any]:
        """What was not as by default when the files were read."""
        said = self._asdict()
        for name in ("name", "files"):
            del said[name]
        usual = self._field_defaults
        return {name: way for name, way in said.items() if way != usual[name]}


class Clause(NamedTuple):
    """A clause of the acceptance: marks, and what its ranks lack."""

    fin: tuple[int, ...]
    inf: tuple[int, ...]
    lacks: tuple[int, ...]  # rank r lacks the mark lacks[r % len(lacks)]


WORDS, STEPS = "words", "steps"
"""What forms keep: words and divergences, or each step with its letter."""


class Form(NamedTuple):
    """What takes the place of a component or of two forms."""

    parts: tuple[int, ...]  # components from 0 on, forms behind them
    states: int
    initial: int
    labels: tuple[str, ...]  # observable ones; the number behind them means silent
    transitions: int


class Reduction(NamedTuple):
    """The forms from which the searched network is made."""

    keeps: Literal["words", "steps"]
    trimmed: bool  # whether components lost the transitions that no run can take
    forms: tuple[Form, ...]
    kept: tuple[int, ...] | None = None
    """The components that were looked at, beside one that idles; None is all."""


class Machine(NamedTuple):
    """A component that does what a program does, and what proves that."""

    states: int  # of which 0 is the first
    labels: tuple[str, ...]
    transitions: int
    cells: int
    ranges: int  # of all sets of values
    told: tuple[int, ...]  # variables by whose values the cells of a class differ


class Document(NamedTuple):
    """The header of a certificate; see ``docs/certificates.md``."""

    formula: str | None
    asked: Literal["formula", "automaton", "empty"]
    constraint: str | None
    system: About
    letters: Literal["actions", "states"]
    never: tuple[str, ...]
    deadlock: Literal["ignore", "stutter"]
    fairness: Literal["weak", "strong"] | None
    fair_sets: tuple[str, ...]
    automaton: str
    clauses: tuple[Clause, ...]
    states: int
    block: int
    columns: tuple[str, ...]
    reduction: Reduction | None = None
    machine: Machine | None = None
    written_by: Any = None  # this and what follows is for people
    acceptance: Any = None
    transitions: Any = None

    @property
    def stutters(self) -> bool:
        """Whether a state of the system without steps repeats itself."""
        return self.deadlock == "stutter"

    @property
    def n_entries(self) -> int:
        """How many columns a state of the system takes."""
        return len(self.columns) - 1 - len(self.clauses)


class LinearDocument(NamedTuple):
    """A proof by linear algebra; see ``docs/certificates.md``."""

    formula: str
    system: About
    propositions: tuple[str, ...]
    clauses: Any  # checked by `ltlpipe.certificates.checking.linear`
    facts: Any
    never: tuple[str, ...]
    deadlock: Literal["ignore", "stutter"]
    fairness: Literal["weak", "strong"] | None
    fair_sets: tuple[str, ...]
    inductive: Any = ()
    asked: Literal["formula"] = "formula"
    letters: Literal["states"] = "states"
    constraint: None = None
    states: Literal[0] = 0
    written_by: Any = None  # this is for people

    @property
    def stutters(self) -> bool:
        """Whether a state of the system without steps repeats itself."""
        return self.deadlock == "stutter"


_hints_of = cache(get_type_hints)


def _read(told: Any, hint: Any, what: str) -> Any:
    """Return a JSON value as its annotation has it: objects are named tuples.

    Raises
    ------
    RefusedError
        `what` is of another kind, or has a field that is not known: it may carry
        meaning.
    """
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or (origin is Literal and told in parts) or type(told) is hint:
        return told
    if parts[1:] == (type(None),):
        return None if told is None else _read(told, parts[0], what)
    if origin is tuple and isinstance(told, list):
        return tuple([_read(entry, parts[0], what) for entry in told])
    if not hasattr(hint, "_fields") or not isinstance(told, dict):
        raise RefusedError(f"{what} is of no use")
    hints = _hints_of(hint)
    for name in told:
        if name not in hints:
            raise RefusedError(f"{what} has an unknown field {name[:40]!r}")
    for name in hints:
        if name not in told and name not in hint._field_defaults:
            raise RefusedError(f"{what} has no field {name!r}")
    return hint(
        **{
            name: _read(value, hints[name], f"the field {name!r} of {what}")
            for name, value in told.items()
        }
    )


def _document_of(header: Any) -> Document:
    """Return a header with its fields checked.

    Raises
    ------
    RefusedError
        A field is missing or makes no sense.
    """
    document: Document = _read(header, Document, "the header")
    clauses, size = document.clauses, document.block * len(document.columns)
    forms = () if document.reduction is None else document.reduction.forms
    marks = {mark for clause in clauses for mark in clause.fin + clause.inf}
    sizes = {n for form in forms for n in (form.states, form.transitions)}
    asked, has_formula = document.asked == "formula", document.formula is not None
    wrong = {
        "it is not said whether a formula is asked about": asked != has_formula,
        "there are no states": document.states < 1,
        "a block is empty or too large": not 0 < size <= _MOST_VALUES,
        "there are fewer columns than clauses": document.n_entries < 0,
        "a clause has other marks": not marks <= {*range(MAX_MARKS)},
        "a rank lacks another mark": any({*c.lacks} - {*c.inf} for c in clauses),
        "a form has no part, or too many": any(
            len(f.parts) not in (1, 2) for f in forms
        ),
        "a form has a label twice": any(
            len({*f.labels}) < len(f.labels) for f in forms
        ),
        "a form is too large": any(not 0 <= n <= _MOST_OF_FORM for n in sizes),
        "a form has no such state": any(not 0 <= f.initial < f.states for f in forms),
    }
    for reason, is_so in wrong.items():
        if is_so:
            raise RefusedError(reason)
    return document


class Contents:
    """What stands behind the header of an open certificate: its columns."""

    def __init__(self, file: IO[bytes], digest: Any | None) -> None:
        self._file = file
        self._digest = digest  # of all that has been read, None in format 1

    def column(self, n: int) -> np.ndarray:
        """Read a column of n numbers, as int64.

        Raises
        ------
        RefusedError
            The file ends early, or is damaged.
        """
        import pyarrow as pa

        head = self._file.read(5)
        if len(head) < 5:
            raise RefusedError("the file ends early")
        if head[0] >= len(_TYPES):
            raise RefusedError(f"a column is of the unknown type {head[0]}")
        size = int.from_bytes(head[1:], "little")
        if size > 16 * n + 1024:
            raise RefusedError("a column is longer than its values")
        data = self._file.read(size)
        if len(data) < size:
            raise RefusedError("the file ends early")
        kind = np.dtype(_TYPES[head[0]])
        expected = n * kind.itemsize
        codec = pa.Codec("zstd")
        try:
            plain = codec.decompress(data, decompressed_size=expected, asbytes=True)
        except (OSError, ValueError):
            raise RefusedError("a column cannot be decompressed") from None
        if len(plain) != expected:
            raise RefusedError("a column has too few or too many values")
        if self._digest is not None:
            self._digest.update(head[:1] + plain)
        return np.frombuffer(plain, kind).astype(np.int64)

    def columns(self, n_values: int, n_columns: int) -> list[np.ndarray]:
        """Read some columns; without values there are none in the file."""
        if not n_values:
            return [np.zeros(0, dtype=np.int64)] * n_columns
        return [self.column(n_values) for _ in range(n_columns)]

    def end(self) -> None:
        """Refuse a wrong checksum, and whatever follows it."""
        if self._digest is not None:
            known = self._digest.digest()
            found = self._file.read(len(known))
            if len(found) < len(known):
                raise RefusedError("the file ends early")
            if found != known:
                raise RefusedError("the checksum does not match the contents")
        if self._file.read(1):
            raise RefusedError("the file goes on behind its last state")


def opened(file: IO[bytes], name: str) -> tuple[Document | LinearDocument, Contents]:
    """Read magic and header from a file that has been opened.

    A proof by linear algebra ends behind them.

    Raises
    ------
    InputError
        It is no certificate, or one of another version.
    RefusedError
        It is damaged.
    """
    magic = file.read(len(MAGIC))
    if not magic.startswith(_ANY_VERSION[: len(magic)]) or not magic:
        raise InputError("expected a certificate of ltlpipe", file=name)
    if len(magic) < len(MAGIC):
        raise RefusedError("the file ends early")
    if magic not in (MAGIC, LINEAR_MAGIC, _FIRST):
        raise InputError("expected a certificate of format 1, 2 or 3", file=name)
    line = file.readline(_MOST_HEADER)
    if not line.endswith(b"\n"):
        raise RefusedError("the file ends within its header, or that is too long")
    digest = None if magic == _FIRST else hashlib.sha256(magic + line)
    if digest is not None and file.read(65) != digest.hexdigest().encode() + b"\n":
        raise RefusedError("the checksum does not match the header")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise RefusedError("the header is no JSON") from None
    if magic == LINEAR_MAGIC:
        proof: LinearDocument = _read(header, LinearDocument, "the header")
        Contents(file, None).end()
        return proof, Contents(file, None)
    if digest is None and isinstance(header, dict):
        if header.pop("constrained", True):
            raise RefusedError("the constraint is not in it, as it is since format 2")
        header["constraint"] = None
    return _document_of(header), Contents(file, digest)


def blocks_of(contents: Contents, document: Document) -> Iterator[list[np.ndarray]]:
    """Yield the columns of one block of states after the other, as int64 arrays.

    Raises
    ------
    RefusedError
        The file ends early or late, or is damaged.
    """
    for first in range(0, document.states, document.block):
        n = min(document.block, document.states - first)
        yield contents.columns(n, len(document.columns))
    contents.end()


def progress_of(document: Document, n_bytes: float) -> Progress:
    """Return what to say after a block, when so many bytes are held."""
    values = document.block * len(document.columns)
    return Progress(READING, work=values * _VALUE_WORK, memory_bytes=n_bytes)
