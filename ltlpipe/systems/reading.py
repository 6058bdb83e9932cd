"""Reading systems from files, in the format that the suffix names.

`read_text` opens a file as text, `load` reads the components that one or
several files hold.  Nothing but an error of `ltlpipe` escapes, and what cannot
be of its format is refused by its beginning, however long it is.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeAlias, cast

from ltlpipe._errors import InputError, UnsupportedError
from ltlpipe.systems.aut import read_aut
from ltlpipe.systems.dot import read_dot
from ltlpipe.systems.hoa import read_hoa
from ltlpipe.systems.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

StrPath: TypeAlias = "str | os.PathLike[str]"


class Opening(NamedTuple):
    """How files of a format begin, blanks and comments apart."""

    pattern: re.Pattern[str]
    expected: str  # the same in words


class _Format(NamedTuple):
    read: Callable[[str, str], list[LTS]]  # from text and file name
    opening: Opening


HOA_OPENING = Opening(re.compile("HOA:"), "an automaton in HOA ('HOA: v1')")
_DOT = _Format(
    read_dot, Opening(re.compile(r"(?i:strict|digraph)\b"), "a Graphviz 'digraph'")
)
_FORMATS = {
    ".dot": _DOT,
    ".gv": _DOT,
    ".aut": _Format(
        read_aut,
        Opening(re.compile(r"des\b"), "'des (INITIAL, TRANSITIONS, STATES)'"),
    ),
    ".hoa": _Format(read_hoa, HOA_OPENING),
}
_PLANNED = {".dve", ".pnml"}
_KNOWN = ".dot, .aut or .hoa (or one of these with .gz)"

_HEAD = 1 << 16  # bytes, long enough for any comment that opens a file
_BLANK = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)


def load(paths: StrPath | Iterable[StrPath]) -> Network:
    """Read a network from a file, or from files that hold its components.

    Parameters
    ----------
    paths : path or paths
        ``.dot`` (or ``.gv``), ``.aut`` and ``.hoa`` files, also compressed with
        ``.gz`` behind the suffix.  Formats may be mixed; every file contributes
        its components in order.

    Returns
    -------
    Network
        Named after the files.

    Raises
    ------
    InputError
        A file cannot be opened or does not hold what its suffix promises;
        names file and, where there is one, line.
    UnsupportedError
        The format cannot be read, or says more than a network can hold.
    """
    if isinstance(paths, (str, os.PathLike)):
        paths = [paths]
    files = [os.fspath(path) for path in paths]
    if not files:
        raise InputError("expected at least one file", file="(no file)")
    components = [lts for file in files for lts in _load_components(file)]
    return Network(components, name=" ".join(files))


def _load_components(file: str) -> list[LTS]:
    suffix = split_suffix(file)[1]
    if suffix in _PLANNED:
        raise UnsupportedError(
            f"{file}: {suffix} files cannot be read yet, expected {_KNOWN}"
        )
    if suffix not in _FORMATS:
        message = f"unknown suffix {suffix!r}, expected {_KNOWN}"
        raise InputError(message, file=file)
    kind = _FORMATS[suffix]
    return kind.read(read_text(file, opening=kind.opening), file)


def split_suffix(path: StrPath) -> tuple[str, str]:
    """Split ``a/m.AUT.gz`` into the name's stem ``m`` and its suffix ``.aut``."""
    name = PurePath(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    suffix = PurePath(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower()


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
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"cannot be read: {reason}", file=file) from None
    return _decoded(data, file)


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
