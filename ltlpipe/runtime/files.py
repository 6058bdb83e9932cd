"""Opening files as text, with errors that name file and line."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from pathlib import Path
from typing import BinaryIO, NamedTuple, TypeAlias, cast

from ltlpipe.runtime.errors import InputError, LtlpipeError

StrPath: TypeAlias = "str | os.PathLike[str]"

_HEAD = 1 << 16  # bytes, long enough for any comment that opens a file
_BLANK = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)


class Opening(NamedTuple):
    """How files of a format begin, blanks and comments apart."""

    pattern: re.Pattern[str]
    expected: str  # the same in words


def read_text(path: StrPath, *, opening: Opening | None = None) -> str:
    """Read a file as UTF-8 text, decompressed if its name ends in ``.gz``.

    Parameters
    ----------
    path : path
        A byte order mark at the file's beginning is dropped; line breaks are
        left as they are.
    opening : Opening, optional
        What the text has to begin with.  If it does not, only the beginning is
        read.

    Raises
    ------
    InputError
        The file cannot be opened or decompressed, is not text in UTF-8, or
        begins with something else; names file and line.
    """
    file = os.fspath(path)
    try:
        with _open(file) as stream:
            data = stream.read(_HEAD)
            if opening is not None:
                _check_opening(data, opening, file)
            data += stream.read()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise _unreadable(error, file) from None
    return _decoded(data, file)


def read_data(path: StrPath) -> bytes:
    """Read a file as it is, decompressed if its name ends in ``.gz``.

    Raises
    ------
    InputError
        The file cannot be opened or decompressed; names it.
    """
    file = os.fspath(path)
    try:
        with _open(file) as stream:
            return stream.read()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise _unreadable(error, file) from None


def write_text(path: StrPath, text: str) -> None:
    """Write a text file in UTF-8, compressed if its name ends in ``.gz``.

    Raises
    ------
    LtlpipeError
        It cannot be written; the message names it.
    """
    data = text.encode()
    if os.fspath(path).lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # the same bytes at any time
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        reason = error.strerror or error
        raise LtlpipeError(f"{path}: cannot be written: {reason}") from None


def _unreadable(error: Exception, file: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(f"cannot be read: {reason}", file=file)


def _open(file: str) -> BinaryIO:
    if file.lower().endswith(".gz"):
        return cast("BinaryIO", gzip.open(file))
    return Path(file).open("rb")


def _check_opening(data: bytes, opening: Opening, file: str) -> None:
    """Refuse text that surely begins with something else."""
    text = data.decode("utf-8-sig", errors="replace")
    position = 0
    while blank := _BLANK.match(text, position):
        position = blank.end()
    if position == 0 == len(text):
        raise InputError(f"the file is empty, expected {opening.expected}", file=file)
    undecided = position == len(text) or text.startswith("/*", position)
    if undecided or opening.pattern.match(text, position):
        return
    found = re.match(r"\w+|.", text[position : position + 20], re.DOTALL)
    assert found is not None
    raise InputError(
        f"expected {opening.expected}, found {found.group()!r}",
        file=file,
        line=1 + text.count("\n", 0, position),
    )


def _decoded(data: bytes, file: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        message = f"byte {data[error.start]:#04x}, expected text in UTF-8"
        raise InputError(message, file=file, line=line) from None
    nul = text.find("\0")
    if nul >= 0:
        line = 1 + text.count("\n", 0, nul)
        raise InputError("a NUL byte, expected text", file=file, line=line)
    return text
