"""A certificate as it is read: its header, and its states block by block.

Nothing that a file says is believed: each field has to be of its kind, and no more
memory is taken than the states need that are there.
"""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ltlpipe.certificates.checking.evidence import reduction_in
from ltlpipe.certificates.checking.refusal import RefusedError
from ltlpipe.runtime.errors import InputError
from ltlpipe.runtime.jobs import Progress

if TYPE_CHECKING:
    from collections.abc import Iterator

MAGIC = b"ltlpipe certificate 1\n"
"""How a certificate of this format begins."""

READING = "reading the certificate"

_ANY_VERSION = b"ltlpipe certificate "
_TYPES = ("<u1", "<u2", "<u4", "<i8")
_MOST_HEADER = 1 << 28  # bytes
_MOST_VALUES = 1 << 26  # of a block
_VALUE_WORK = 0.005  # microseconds

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "formula": (str, type(None)),
    "asked": str,
    "constrained": bool,
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

    Raises
    ------
    RefusedError
        A field is missing or makes no sense.
    """

    def __init__(self, header: Any) -> None:
        if not isinstance(header, dict):
            raise RefusedError("the header is no JSON object")
        for name, kind in _FIELDS.items():
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
        self.constrained: bool = header["constrained"]
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
    fin, inf = (sum(1 << m for m in set(parts[name])) for name in ("fin", "inf"))
    if not set(parts["lacks"]) <= set(parts["inf"]):
        raise RefusedError("a rank lacks a mark that its clause does not ask for")
    return Clause(fin, inf, tuple(parts["lacks"]))


def _system(told: dict[str, Any]) -> tuple[list[File], dict[str, Any], str]:
    files = []
    for entry in told.get("files", ()):
        known = isinstance(entry, dict) and all(
            isinstance(entry.get(name), str) for name in ("path", "sha256")
        )
        if not known:
            raise RefusedError("a file of the system has no path or no SHA-256")
        files.append(File(entry["path"], entry["sha256"]))
    manner = {}
    for name, usual in (("format", None), ("alphabet", "used")):
        value = told.get(name, usual)
        if value is not None and not isinstance(value, str):
            raise RefusedError(f"the {name} of the system is no text")
        if value != usual:
            manner[name] = value
    return files, manner, str(told.get("name", ""))


def opened(file: IO[bytes], name: str) -> Document:
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
    if magic != MAGIC:
        raise InputError("expected a certificate of format 1", file=name)
    line = file.readline(_MOST_HEADER)
    if not line.endswith(b"\n"):
        raise RefusedError("the file ends within its header, or that is too long")
    try:
        return Document(json.loads(line))
    except (ValueError, RecursionError):
        raise RefusedError("the header is no JSON") from None


def blocks_of(file: IO[bytes], document: Document) -> Iterator[list[np.ndarray]]:
    """Yield the columns of one block of states after the other, as int64 arrays.

    Raises
    ------
    RefusedError
        The file ends early or late, or is damaged.
    """
    import pyarrow as pa

    codec = pa.Codec("zstd")
    for first in range(0, document.n_states, document.block):
        n = min(document.block, document.n_states - first)
        yield [_column(file, codec, n) for _ in document.columns]
    if file.read(1):
        raise RefusedError("the file goes on behind its last state")


def columns_of(file: IO[bytes], n_values: int, n_columns: int) -> list[np.ndarray]:
    """Read some columns of int64 numbers; without values there are none in the file.

    Raises
    ------
    RefusedError
        The file ends early, or is damaged.
    """
    import pyarrow as pa

    if not n_values:
        return [np.zeros(0, dtype=np.int64)] * n_columns
    return [_column(file, pa.Codec("zstd"), n_values) for _ in range(n_columns)]


def _column(file: IO[bytes], codec: Any, n: int) -> np.ndarray:
    head = file.read(5)
    if len(head) < 5:
        raise RefusedError("the file ends early")
    if head[0] >= len(_TYPES):
        raise RefusedError(f"a column is of the unknown type {head[0]}")
    size = int.from_bytes(head[1:], "little")
    if size > 16 * n + 1024:
        raise RefusedError("a column is longer than its values")
    data = file.read(size)
    if len(data) < size:
        raise RefusedError("the file ends early")
    kind = np.dtype(_TYPES[head[0]])
    expected = n * kind.itemsize
    try:
        plain = codec.decompress(data, decompressed_size=expected, asbytes=True)
    except (OSError, ValueError):
        raise RefusedError("a column cannot be decompressed") from None
    if len(plain) != expected:
        raise RefusedError("a column has too few or too many values")
    return np.frombuffer(plain, kind).astype(np.int64)


def progress_of(document: Document, n_bytes: float, phase: str = READING) -> Progress:
    """Return what to say after a block, when so many bytes are held."""
    values = document.block * len(document.columns)
    return Progress(phase, work=values * _VALUE_WORK, memory_bytes=n_bytes)
