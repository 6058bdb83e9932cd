"""A certificate as it is read: its header, and its states block by block.

Nothing that a file says is believed: each field has to be known and of its kind, and no
more memory is taken than the states need that are there.  Since format 2 there is a
checksum of the header behind it, and one of all contents behind the last state.

What the header of a certificate says of a reduction.

The network that was searched is made of *forms*: each takes the place of a component of
the system, or of two forms that came before it.  How forms are proved to be sound is in
``docs/certificates.md``.

`RefusedError` has the reasons to refuse a certificate.
"""

from __future__ import annotations

import hashlib
import json
from typing import IO, TYPE_CHECKING, Any, NamedTuple
import numpy as np
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Collection

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


def refuse_others(told: dict[str, Any], known: Collection[str], of: str) -> None:
    """Refuse a field that is not known: it may carry meaning."""
    for name in told:
        if name not in known:
            raise RefusedError(f"{of} has an unknown field {name[:40]!r}")


WORDS, STEPS = "words", "steps"
"""What forms keep: words and divergences, or each step with its letter."""

_OF_FORM = ("parts", "states", "initial", "labels", "transitions")
_MOST = 1 << 26  # states or transitions of a form


class Form(NamedTuple):
    """What takes the place of a component or of two forms."""

    parts: tuple[int, ...]  # components from 0 on, forms behind them
    n_states: int
    initial: int
    labels: tuple[str, ...]  # observable ones; the number behind them means silent
    n_transitions: int


class Reduction(NamedTuple):
    """The forms from which the searched network is made."""

    keeps: str  # WORDS or STEPS
    trimmed: bool  # whether components lost the transitions that no run can take
    forms: tuple[Form, ...]


def reduction_in(told: Any) -> Reduction | None:
    """Return what a header says of its reduction; None if there is none.

    Raises
    ------
    RefusedError
        It makes no sense.
    """
    if told is None:
        return None
    if not isinstance(told, dict) or not isinstance(told.get("forms"), list):
        raise RefusedError("the reduction has no list of forms")
    if told.get("keeps") not in (WORDS, STEPS):
        raise RefusedError(f"a reduction keeps {WORDS!r} or {STEPS!r}")
    if not isinstance(told.get("trimmed"), bool):
        raise RefusedError("it is not said whether components were trimmed")
    refuse_others(told, Reduction._fields, "the reduction")
    forms = tuple(_form(form) for form in told["forms"])
    return Reduction(told["keeps"], told["trimmed"], forms)


def _form(told: Any) -> Form:
    if not isinstance(told, dict):
        raise RefusedError("a form is no object")
    refuse_others(told, _OF_FORM, "a form")
    parts: list[int] = _listed(told, "parts", int)
    if len(parts) not in (1, 2):
        raise RefusedError("a form takes the place of one or two others")
    labels: list[str] = _listed(told, "labels", str)
    if len(set(labels)) != len(labels):
        raise RefusedError("a form has a label twice")
    n_states = _count(told, "states")
    initial = _count(told, "initial")
    if initial >= n_states:
        raise RefusedError("a form has no initial state")
    n_transitions = _count(told, "transitions")
    return Form(tuple(parts), n_states, initial, tuple(labels), n_transitions)


def _listed(told: dict[str, Any], name: str, kind: type) -> list[Any]:
    value = told.get(name)
    if not isinstance(value, list) or any(type(entry) is not kind for entry in value):
        raise RefusedError(f"{name} of a form are no list of what is expected")
    return value


def _count(told: dict[str, Any], name: str) -> int:
    value = told.get(name)
    if type(value) is not int or not 0 <= value <= _MOST:
        raise RefusedError(f"{name} of a form is no number, or too large")
    return value


MAGIC = b"ltlpipe certificate 2\n"
"""How a certificate of this format begins."""
_FIRST = b"ltlpipe certificate 1\n"  # of version 0.2: no checksums, no constraint

READING = "reading the certificate"

_ANY_VERSION = b"ltlpipe certificate "
_TYPES = ("<u1", "<u2", "<u4", "<i8")
_MOST_HEADER = 1 << 28  # bytes
_MOST_VALUES = 1 << 26  # of a block
_VALUE_WORK = 0.005  # microseconds

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "formula": (str, type(None)),
    "asked": str,
    "system": dict,
    "letters": str,
    "never": list,
    "deadlock": str,
    "fairness": (str, type(None)),
    "fair_sets": list,
    "automaton": str,
    "clauses": list,
    "states": int,
    "block": int,
    "columns": list,
}

_FOR_PEOPLE = ("written_by", "acceptance", "transitions")

_CHOICES = {
    "asked": ("formula", "automaton", "empty"),
    "letters": ("actions", "states"),
    "deadlock": ("ignore", "stutter"),
    "fairness": (None, "weak", "strong"),
}


class Clause(NamedTuple):
    """A clause of the acceptance with what its ranks lack; marks are bits."""

    fin: int
    inf: int
    lacks: tuple[int, ...]  # rank r lacks the mark lacks[r % len(lacks)]


class File(NamedTuple):
    """A file of the system: its path, and its SHA-256."""

    path: str
    sha256: str


class Document:
    """The header of a certificate, with its fields checked.

    Parameters
    ----------
    header : dict
        As it was parsed.
    constraint : str
        What the field about a constraint is called: in format 1 ``constrained``.

    Raises
    ------
    RefusedError
        A field is missing or makes no sense.
    """

    def __init__(self, header: Any, constraint: str = "constraint") -> None:
        if not isinstance(header, dict):
            raise RefusedError("the header is no JSON object")
        fields = _FIELDS | {constraint: (str, type(None), bool)}
        refuse_others(header, {*fields, *_FOR_PEOPLE, "reduction"}, "the header")
        for name, kind in fields.items():
            if name not in header:
                raise RefusedError(f"the header has no field {name!r}")
            value = header[name]
            if not isinstance(value, kind) or (kind is int and value is True):
                raise RefusedError(f"the field {name!r} of the header is of no use")
        for name, known in _CHOICES.items():
            if header[name] not in known:
                raise RefusedError(f"{name} is {header[name]!r}: expected {known}")
        self.header: dict[str, Any] = header
        self.formula: str | None = header["formula"]
        self.asked: str = header["asked"]
        if (self.asked == "formula") != (self.formula is not None):
            raise RefusedError("it is not said whether a formula is asked about")
        if header[constraint] is True:
            raise RefusedError("the constraint is not in it, as it is since format 2")
        self.constraint: str | None = header[constraint] or None
        self.letters: str = header["letters"]
        self.stutters = header["deadlock"] == "stutter"
        self.fairness: str | None = header["fairness"]
        self.fair_sets = _texts(header, "fair_sets")
        self.never = _texts(header, "never")
        self.automaton: str = header["automaton"]
        self.columns = _texts(header, "columns")
        self.n_states: int = header["states"]
        self.block: int = header["block"]
        self.clauses = [_clause(told) for told in header["clauses"]]
        self.files, self.manner, self.name = _system(header["system"])
        self.reduction = reduction_in(header.get("reduction"))
        n_columns = len(self.columns)
        if self.n_states < 1 or self.block < 1:
            raise RefusedError("there are no states, or no blocks of them")
        if n_columns < 1 + len(self.clauses):
            raise RefusedError("there are fewer columns than clauses")
        if self.block * n_columns > _MOST_VALUES:
            raise RefusedError("a block is too large")

    @property
    def n_entries(self) -> int:
        """How many columns a state of the system takes."""
        return len(self.columns) - 1 - len(self.clauses)


def _texts(header: dict[str, Any], name: str) -> list[str]:
    if not all(isinstance(text, str) for text in header[name]):
        raise RefusedError(f"the field {name!r} of the header is no list of texts")
    return list(header[name])


def _clause(told: Any) -> Clause:
    parts: dict[str, list[int]] = {}
    for name in ("fin", "inf", "lacks"):
        marks = told.get(name) if isinstance(told, dict) else None
        known = isinstance(marks, list) and all(
            type(mark) is int and 0 <= mark < 32 for mark in marks
        )
        if not known:
            raise RefusedError("a clause is no object with marks fin, inf and lacks")
        parts[name] = marks  # type: ignore[assignment]
    refuse_others(told, parts, "a clause")
    fin, inf = (sum(1 << m for m in set(parts[name])) for name in ("fin", "inf"))
    if not set(parts["lacks"]) <= set(parts["inf"]):
        raise RefusedError("a rank lacks a mark that its clause does not ask for")
    return Clause(fin, inf, tuple(parts["lacks"]))


def _system(told: dict[str, Any]) -> tuple[list[File], dict[str, Any], str]:
    refuse_others(told, ("name", "files", "format", "alphabet"), "the system")
    files = []
    for entry in told.get("files", ()):
        known = isinstance(entry, dict) and all(
            isinstance(entry.get(name), str) for name in ("path", "sha256")
        )
        if not known:
            raise RefusedError("a file of the system has no path or no SHA-256")
        refuse_others(entry, ("path", "sha256"), "a file of the system")
        files.append(File(entry["path"], entry["sha256"]))
    manner = {}
    for name, usual in (("format", None), ("alphabet", "used")):
        value = told.get(name, usual)
        if value is not None and not isinstance(value, str):
            raise RefusedError(f"the {name} of the system is no text")
        if value != usual:
            manner[name] = value
    return files, manner, str(told.get("name", ""))


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


def opened(file: IO[bytes], name: str) -> tuple[Document, Contents]:
    """Read magic and header from a file that has been opened.

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
    if magic not in (MAGIC, _FIRST):
        raise InputError("expected a certificate of format 1 or 2", file=name)
    line = file.readline(_MOST_HEADER)
    if not line.endswith(b"\n"):
        raise RefusedError("the file ends within its header, or that is too long")
    digest = hashlib.sha256(magic + line) if magic == MAGIC else None
    if digest is not None and file.read(65) != digest.hexdigest().encode() + b"\n":
        raise RefusedError("the checksum does not match the header")
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise RefusedError("the header is no JSON") from None
    field = "constrained" if digest is None else "constraint"
    return Document(header, field), Contents(file, digest)


def blocks_of(contents: Contents, document: Document) -> Iterator[list[np.ndarray]]:
    """Yield the columns of one block of states after the other, as int64 arrays.

    Raises
    ------
    RefusedError
        The file ends early or late, or is damaged.
    """
    for first in range(0, document.n_states, document.block):
        n = min(document.block, document.n_states - first)
        yield contents.columns(n, len(document.columns))
    contents.end()


def progress_of(document: Document, n_bytes: float, phase: str = READING) -> Progress:
    """Return what to say after a block, when so many bytes are held."""
    values = document.block * len(document.columns)
    return Progress(phase, work=values * _VALUE_WORK, memory_bytes=n_bytes)
