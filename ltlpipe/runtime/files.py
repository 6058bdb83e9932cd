"""Reading and writing files: jobs that read in chunks, errors that name file and line.

What is read is a path to a regular file, ``-`` for standard input, or an open file.
A path to anything else (a device, a FIFO, a socket) is refused before it is opened: it
may never end, and opening it may block.

Compressed files are expanded in chunks, up to `MAX_EXPANDED` bytes; with the memory
limit, which may stop the job before, this bounds what a small file can become.

Output files: written beside their place, and renamed when they are complete.

So a full disk, a crash or an error leaves what was there before.  What a rename would
destroy is written in place: a pipe or device, an open descriptor (``/dev/stdout``), a
file whose folder accepts no other.  Symbolic links and permissions are kept.

Untrusted XML is read by lxml: document type declarations are refused, and with them
entities, external or exponential; nothing is fetched, and what is not well-formed or
nested hundreds of levels deep ends in an error.  What a reader of such a document does
not know it refuses by name (`unknown_part`), for it may carry meaning.
"""

from __future__ import annotations

import codecs
import csv
import fcntl
import glob
import gzip
import io
import os
import re
import stat
import sys
import zlib
from collections import Counter
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from pathlib import Path, PurePath
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import Progress, complete, wait
from ltlpipe.runtime.names import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from ltlpipe.runtime.jobs import Job


_STANDARD_ERROR = 2  # the last of the descriptors that a process is given
_MOST_LINKS = 40  # as in Linux
_MOST_NAME = 200  # bytes of a file's name that the name beside it repeats


def open_standard_streams() -> None:
    """Open the null device for standard streams that are closed.

    Otherwise a file or a socket takes the number of one, and what is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STANDARD_ERROR:
        pass
    os.close(number)


class Output:
    """An output file that is not complete yet; OSError if it cannot be opened.

    It is locked, so that the ones of killed processes can be told from others: the next
    that is completed in their place removes them.

    Parameters
    ----------
    path : path
        The place of the file.
    buffering : int
        As for `open`.
    """

    def __init__(self, path: str | os.PathLike[str], buffering: int = -1) -> None:
        with _names():
            self._place = place = _place_of(Path(path))
        self._mode: int | None = None  # of the file that is replaced
        self.beside: Path | None = None
        """Where the contents are until they are complete; None if in place."""
        self.stream: IO[bytes]
        if place is not None:
            with suppress(FileNotFoundError):  # or the folder; then opening says so
                self._mode = stat.S_IMODE(place.stat().st_mode)
            name = os.fsdecode(os.fsencode(place.name)[:_MOST_NAME])
            beside = place.with_name(f".{name}.{os.urandom(4).hex()}.partial")
            try:
                self.stream = beside.open("xb", buffering)
                self.beside = beside
            except PermissionError:
                if self._mode is None:
                    raise
        if self.beside is None:
            self.stream = Path(path).open("wb", buffering)  # noqa: SIM115
            return
        self._lock()
        self._began = os.fstat(self.stream.fileno()).st_mtime
        if self._mode is not None:
            os.fchmod(self.stream.fileno(), self._mode)

    def _lock(self) -> None:
        with suppress(OSError):  # there are file systems without locks
            fcntl.flock(self.stream, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def renew(self) -> None:
        """Go on with the file that has been renamed to the place of this one."""
        if self.beside is not None:
            self.stream.close()
            self.stream = self.beside.open("r+b")
            self._lock()

    def complete(self) -> None:
        """Close the file, and put it in its place."""
        self.stream.close()
        if self.beside is not None:
            assert self._place is not None
            self.beside.replace(self._place)
            self._remove_leftovers(self.beside)
            self.beside = None

    def _remove_leftovers(self, own: Path) -> None:
        """Remove what killed processes have left beside this place."""
        name = own.name[: -len("XXXXXXXX.partial")]
        pattern = f"{glob.escape(name)}{'[0-9a-f]' * 8}.partial"
        for other in own.parent.glob(pattern):
            with suppress(OSError), other.open("rb") as stream:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(stream.fileno()).st_mtime < self._began:
                    other.unlink()

    def discard(self) -> None:
        """Close the file, and leave what was there before."""
        with suppress(OSError):  # the disk is full
            self.stream.close()
        if self.beside is not None:
            with suppress(OSError):
                self.beside.unlink(missing_ok=True)


@contextmanager
def _names() -> Iterator[None]:
    """Raise OSError where a text can be the name of no file: NUL, lone surrogates."""
    try:
        yield
    except ValueError as error:
        raise OSError(str(error)) from None


def _place_of(path: Path) -> Path | None:
    """Return where a rename replaces a file; None where that would destroy something.

    A link below ``/proc`` names an open file, which others may be writing to; so does
    one of ``/dev``.
    """
    for _ in range(_MOST_LINKS):
        path = Path(os.path.realpath(path.parent)) / path.name
        if path.is_relative_to("/proc") or path.parent == Path("/dev"):
            return None
        if not path.is_symlink():
            is_special = path.exists() and not path.is_file()
            return None if is_special else path
        path = path.parent / path.readlink()
    return None


@contextmanager
def rewriting(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write a file in a with statement; after an error the old one stays."""
    output = Output(path)
    try:
        yield output.stream
        output.complete()
    finally:
        output.discard()  # nothing after `complete`


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Do what `rewriting` does; InputError if the file cannot be written."""
    try:
        with rewriting(path) as stream:
            yield stream
    except OSError as error:
        message = f"cannot be written: {error.strerror or error}"
        raise InputError(message, file=os.fspath(path)) from None


def refuse_overwriting(
    outputs: Mapping[str, str | os.PathLike[str] | None],
    inputs: Iterable[str | os.PathLike[str] | None],
) -> None:
    """Refuse files to be written, by flags, that are inputs or one another.

    Raises
    ------
    UnsupportedError
        Names the flag.
    """
    read = {_identity(path) for path in inputs if path is not None} - {None}
    known: dict[Any, str] = {}
    for flag, path in outputs.items():
        place = None if path is None else _identity(path)
        if place is None:
            continue
        found = "an input" if place in read else known.get(place)
        if found is not None:
            raise UnsupportedError(
                f"{flag}={os.fspath(path)!r} is the file of {found}; name another one"  # type: ignore[arg-type]
            )
        known[place] = flag


def _identity(path: str | os.PathLike[str]) -> Any:
    """Return what is equal for equal files, be they there or not; None for devices."""
    if os.fspath(path) == "-":
        return None
    try:
        about = os.stat(path)  # noqa: PTH116
    except OSError:
        return os.path.realpath(path)
    except ValueError:  # a NUL byte
        return None
    return (about.st_dev, about.st_ino) if stat.S_ISREG(about.st_mode) else None


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file as a whole, as `replacing` does."""
    with replacing(path) as stream:
        stream.write(data)


StrPath: TypeAlias = "str | os.PathLike[str]"
Source: TypeAlias = "StrPath | IO[str] | IO[bytes]"
"""What can be read; ``-`` is standard input."""

MAX_EXPANDED = 1 << 32
"""Bytes that a compressed file may expand to."""

_HEAD = 1 << 16  # bytes, long enough for most comments that open a file
_MOST_HEAD = 1 << 24
_MOST_OPENING = 1 << 10  # characters, behind blanks and comments
_CHUNK = 1 << 20
_SLICE = 1 << 14  # of compressed data
_BYTES_PER_UNIT = 200  # read, expanded or decoded in a microsecond
_BLANK = re.compile(r"\s+|//[^\n]*|#[^\n]*|/\*.*?\*/", re.DOTALL)
_WIDE = re.compile(
    rb"(\xff\xfe\0\0|\0\0\xfe\xff)|\xff\xfe|\xfe\xff|(?:[^\0]\0){2}|(?:\0[^\0]){2}"
)
_GZIP = b"\x1f\x8b"
_KINDS = [
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
]


class Opening(NamedTuple):
    """How files of a format begin, blanks and comments apart."""

    pattern: re.Pattern[str]
    expected: str  # the same in words


class _Piece(NamedTuple):
    """Some bytes, or none before one of the descriptors is readable."""

    data: bytes
    waits: tuple[Any, ...] = ()


_Pieces: TypeAlias = Generator[_Piece, None, None]


def read(source: Source, *, opening: Opening | None = None) -> Job[str]:
    """Read UTF-8 text, decompressed if the name ends in ``.gz``.

    Parameters
    ----------
    source : path or file
        A byte order mark at the beginning is dropped; line breaks are left as they
        are.  An open file is read from where it stands, and not closed.
    opening : Opening, optional
        What the text has to begin with.  If it does not, only the beginning is
        read.

    Returns
    -------
    Job of str
        It holds the file twice at the end.

    Raises
    ------
    InputError
        The file cannot be read or decompressed, is not text in UTF-8, or
        begins with something else; names file and line.
    """
    chunks = yield from read_chunks(source, opening=opening)
    return (yield from decode(chunks, name_of(source)))


def read_bytes(source: Source) -> Job[bytes]:
    """Read a file as it is, decompressed if its name ends in ``.gz``."""
    return b"".join((yield from read_chunks(source)))


def read_text(source: Source) -> str:
    """Return what `read` reads, without limits."""
    return complete(read(source))


def csv_rows(text: str, file: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a table in CSV that are not blank, each with its first line."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = reader.line_num + 1  # a quoted cell may hold line breaks
    except csv.Error as error:
        raise InputError(f"not CSV: {error}", file=file, line=reader.line_num) from None


def check_titles(titles: list[str], file: str, line: int = 1) -> None:
    """Refuse the header of a table if one name is that of two columns.

    A header with another separator than a comma is one title.
    """
    separator = re.search("[;\t|]", titles[0]) if len(titles) == 1 else None
    if separator is not None:
        message = f"the separator seems to be {separator[0]!r}, expected a comma"
        raise InputError(message, file=file, line=line)
    for title, times in Counter(titles).items():
        if title.strip() and times > 1:
            raise InputError(f"two columns {title!r}", file=file, line=line)


def name_of(source: Source) -> str:
    """Return what messages call a source."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<file>"


def is_path(source: Source) -> bool:
    """Whether a source is a file's name: its format is that of the suffix."""
    return isinstance(source, (str, os.PathLike)) and os.fspath(source) != "-"


def split_suffix(path: StrPath) -> tuple[str, str]:
    """Split ``a/m.AUT.gz`` into the name's stem ``m`` and its suffix ``.aut``."""
    name = PurePath(path).name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    suffix = PurePath(name).suffix
    return name[: len(name) - len(suffix)], suffix.lower()


def read_chunks(source: Source, *, opening: Opening | None = None) -> Job[list[bytes]]:
    """Read the bytes of a file in chunks, for `decode` or to be joined."""
    file = name_of(source)
    chunks: list[bytes] = []
    held = 0
    try:
        with closing(_pieces(source)) as pieces:
            for data, waits in pieces:
                if data:
                    if not chunks and data.startswith(_GZIP):
                        message = "it is compressed by gzip, expected '.gz' at its name"
                        raise InputError(f"cannot be read: {message}", file=file)
                    chunks.append(data)
                    held += len(data)
                if opening is not None and held >= _HEAD:
                    _check_opening(b"".join(chunks)[:_HEAD], opening, file)
                    opening = None
                # It is held twice when the chunks are joined, or become text.
                yield Progress("reading", _work(data), 2 * held + _CHUNK, waits=waits)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise _unreadable(error, file) from None
    if opening is not None:
        _check_opening(b"".join(chunks), opening, file)
    return chunks


def decode(chunks: list[bytes], file: str, errors: str = "strict") -> Job[str]:
    """Decode chunks of UTF-8 text, and empty the list; refuse what is no text.

    With `errors` = `LATIN_1` bytes that are no UTF-8 are read as in Latin 1.
    """
    refuse_wide(chunks[0] if chunks else b"", file)
    decoder = codecs.getincrementaldecoder("utf-8-sig")(errors)
    left = sum(map(len, chunks))
    chunks.reverse()
    texts: list[str] = []
    line, held = 1, 0
    while chunks:
        data = chunks.pop()
        left -= len(data)
        try:
            text = decoder.decode(data, final=not chunks)
        except UnicodeDecodeError as error:
            line += error.object.count(b"\n", 0, error.start)
            message = f"byte {error.object[error.start]:#04x}, expected text in UTF-8"
            raise InputError(message, file=file, line=line) from None
        nul = text.find("\0")
        if nul >= 0:
            line += text.count("\n", 0, nul)
            raise InputError("a NUL byte, expected text", file=file, line=line)
        line += text.count("\n")
        texts.append(text)
        held += sys.getsizeof(text)
        yield Progress("reading", _work(data), left + 2 * held)
    return "".join(texts)


def refuse_wide(data: bytes, file: str) -> None:
    """Refuse a text whose characters have two or four bytes, by how it begins."""
    if found := _WIDE.match(data):
        message = f"the text is in UTF-{32 if found[1] else 16}, expected UTF-8"
        raise InputError(message, file=file, line=1)


def _in_latin_1(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


LATIN_1 = "ltlpipe-latin-1"
"""What to do with bytes that are no UTF-8: comments in old models have some."""

codecs.register_error(LATIN_1, _in_latin_1)


def starts_with(data: bytes, opening: Opening) -> bool:
    """Whether a text begins as files of a format do, blanks and comments apart."""
    size = _HEAD
    while True:
        text = data[:size].decode("utf-8-sig", errors="replace")
        position = _skip_blanks(text)
        if size >= min(len(data), _MOST_HEAD) or not _is_cut(text, position):
            return opening.pattern.match(text, position) is not None
        size *= 2


def write_text(path: StrPath, text: str) -> None:
    """Write a text file in UTF-8, compressed if its name ends in ``.gz``."""
    data = text.encode()
    if os.fspath(path).lower().endswith(".gz"):
        data = gzip.compress(data, mtime=0)  # the same bytes at any time
    write_bytes(path, data)


def _work(data: bytes) -> float:
    return 1 + len(data) / _BYTES_PER_UNIT


def _unreadable(error: Exception, file: str) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    if isinstance(error, zlib.error) and "incorrect header" in reason:
        reason = "it is not compressed by gzip, as '.gz' says"
    return InputError(f"cannot be read: {reason}", file=file)


def _pieces(source: Source) -> _Pieces:
    """Yield the bytes of a source, expanded."""
    if isinstance(source, (str, os.PathLike)):
        file = os.fspath(source)
        if file != "-":
            raw = _of_path(file)
            yield from _expanded(raw, file) if file.lower().endswith(".gz") else raw
            return
        source = sys.stdin if sys.stdin is not None else io.StringIO()
        source = getattr(source, "buffer", source)
    yield from _of_stream(source)


def open_regular(path: StrPath) -> IO[bytes]:
    """Open a regular file to read bytes; whatever data names is opened so.

    Raises
    ------
    InputError
        It is something else, which may block or never end.
    OSError
        It is a directory, or cannot be opened.
    """
    file = os.fspath(path)
    with _names():
        status = Path(file).stat()
    _refuse_special(status, file)  # opening a device can have effects

    def opened(name: str, flags: int) -> int:
        return os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)

    stream = open(file, "rb", opener=opened)  # noqa: SIM115
    try:
        _refuse_special(os.fstat(stream.fileno()), file)  # it may be another by now
    except InputError:
        stream.close()
        raise
    return stream


def _of_path(file: str) -> _Pieces:
    with open_regular(file) as stream:
        before = os.fstat(stream.fileno())
        size = 0
        while data := stream.read(_CHUNK if size else _HEAD):
            size += len(data)
            yield _Piece(data)
        after = os.fstat(stream.fileno())
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    # Files that the kernel makes up say that they are empty.
    if not same or size != after.st_size != 0:
        raise InputError("has changed while it was read", file=file)


def _refuse_special(status: os.stat_result, file: str) -> None:
    """Refuse what is no regular file; directories say so themselves."""
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise InputError(f"is not a regular file but {name}", file=file)


def _of_stream(stream: IO[str] | IO[bytes]) -> _Pieces:
    """Yield the bytes of an open file; expanded if they are compressed."""
    raw = _of_pipe(stream) if _is_pipe(stream) else _of_file(stream)
    first = b""
    for piece in raw:
        first += piece.data
        if len(first) >= len(_GZIP):
            break
        yield _Piece(b"", piece.waits)
    rest = _behind(first, raw)
    compressed = first.startswith(_GZIP)
    yield from _expanded(rest, name_of(stream)) if compressed else rest


def _behind(first: bytes, rest: _Pieces) -> _Pieces:
    if first:
        yield _Piece(first)
    yield from rest


def _is_pipe(stream: IO[str] | IO[bytes]) -> bool:
    """Whether reading from an open file can block."""
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, AttributeError):  # it has no descriptor
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _of_file(stream: IO[str] | IO[bytes]) -> _Pieces:
    while data := stream.read(_CHUNK):
        yield _Piece(data.encode() if isinstance(data, str) else data)


def _of_pipe(stream: IO[str] | IO[bytes]) -> _Pieces:
    """Yield what comes from a pipe, a terminal or a device, without blocking."""
    decoder = None
    binary: Any = stream
    if isinstance(stream, io.TextIOBase):
        binary = stream.buffer if hasattr(stream, "buffer") else stream
        decoder = codecs.getincrementaldecoder(stream.encoding or "utf-8")()
    take = getattr(binary, "read1", binary.read)
    while True:
        if not wait([stream.fileno()], 0):
            yield _Piece(b"", (stream.fileno(),))
            continue
        data: bytes | None = take(_CHUNK)
        if data == b"":
            break
        data = data or b""
        yield _Piece(data if decoder is None else decoder.decode(data).encode())
    if decoder is not None:
        yield _Piece(decoder.decode(b"", final=True).encode())


def _expanded(pieces: _Pieces, file: str) -> _Pieces:
    """Decompress members of gzip, one after the other; zeros may follow."""
    size, member, between = 0, None, False
    for left, waits in _sliced(pieces):
        if waits:
            yield _Piece(b"", waits)
        while left:
            if member is None:
                left = left.lstrip(b"\0") if between else left
                if not left:
                    break
                member = zlib.decompressobj(wbits=31)
            expanded = member.decompress(left, _CHUNK)
            left = member.unconsumed_tail
            if member.eof:
                left, member, between = member.unused_data, None, True
            size += len(expanded)
            if size > MAX_EXPANDED:
                message = f"expands to more than {MAX_EXPANDED >> 30} GiB"
                raise InputError(message, file=file)
            yield _Piece(expanded)
    while member is not None:  # what it has kept for itself
        expanded = member.decompress(b"", _CHUNK)
        if not expanded and not member.eof:
            raise EOFError("the compressed data ends early")
        yield _Piece(expanded)
        member = None if member.eof else member


def _sliced(pieces: _Pieces) -> _Pieces:
    """Cut pieces short: what a member leaves of its piece is copied."""
    for data, waits in pieces:
        if waits:
            yield _Piece(b"", waits)
        for begin in range(0, len(data), _SLICE):
            yield _Piece(data[begin : begin + _SLICE])


def _skip_blanks(text: str) -> int:
    position = 0
    while blank := _BLANK.match(text, position):
        position = blank.end()
    return position


def _is_cut(text: str, position: int) -> bool:
    """Whether what is behind blanks and comments may go on where a text was cut."""
    rest = len(text) - position
    return rest < _MOST_OPENING or text.startswith("/*", position)


def _check_opening(data: bytes, opening: Opening, file: str) -> None:
    """Refuse text that surely begins with something else."""
    refuse_wide(data, file)
    text = data.decode("utf-8-sig", errors="replace")
    position = _skip_blanks(text)
    if position == 0 == len(text):
        raise InputError(f"the file is empty, expected {opening.expected}", file=file)
    undecided = position == len(text) or text.startswith("/*", position)
    undecided |= len(data) >= _HEAD and _is_cut(text, position)
    if undecided or opening.pattern.match(text, position):
        return
    found = re.match(r"\w+|.", text[position : position + 20], re.DOTALL)
    assert found is not None
    raise InputError(
        f"expected {opening.expected}, found {found.group()!r}",
        file=file,
        line=1 + text.count("\n", 0, position),
    )


Known: TypeAlias = dict[str, tuple[str, str | None]]
"""The attributes and the children that elements may have, by their names.

An attribute ``a=v`` may have the value v only.  The child ``#text`` is text.  None as
children: the reader itself refuses those that it does not know, and text between them
means nothing.
"""

_HARMLESS = (
    "{http://www.w3.org/XML/1998/namespace}",  # the language, blanks that count
    "{http://www.w3.org/2001/XMLSchema-instance}",  # where a schema is
)
"""The namespaces of attributes that mean nothing here."""


def xml_root(data: bytes, file: str, expected: str) -> Any:
    """Return the root element of a document without declarations of its own.

    Raises
    ------
    InputError
        The bytes are no such document (`expected` says what is one); names the line
        where there is one.
    """
    from lxml import etree

    if not data.strip():
        raise InputError(f"the file is empty, expected {expected}", file=file)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        line = error.lineno or None
        raise InputError(f"no XML: {error.msg}", file=file, line=line) from None
    about: Any = root.getroottree().docinfo
    if about.doctype:
        at = data.find(b"<!DOCTYPE")
        raise InputError(
            "a document type declaration, expected none: it could define entities",
            file=file,
            line=1 + data.count(b"\n", 0, at) if at >= 0 else None,
        )
    return root


def local_name(element: Any) -> str:
    """Return what an element is called, whatever its namespace."""
    return _without_namespace(element.tag)


@lru_cache(maxsize=1024)  # documents have few tags and many elements
def _without_namespace(tag: Any) -> str:
    return str(tag).rpartition("}")[2]


@lru_cache(maxsize=1024)
def _words(text: str) -> list[str]:
    return text.split()


def unknown_part(
    root: Any, known: Known, harmless: Collection[str] = ()
) -> tuple[Any, str] | None:
    """Return the first element with an unknown part, and that in words; None if none.

    Elements in `harmless` are passed over with all that is in them, wherever they are.
    """
    waiting: list[Any] = [root]
    shapes: set[tuple[Any, ...]] = set()
    while waiting:
        element = waiting.pop()
        kind = local_name(element)
        if kind in harmless or kind not in known:  # its parent's reader refuses that
            continue
        attributes, children = known[kind]
        parts = list(element)
        # What has the shape of one before has no unknown part, but maybe a text.
        shape = element.tag, tuple(element.keys()), tuple([part.tag for part in parts])
        if shape in shapes and "=" not in attributes:
            found = None if children is None else _stray(element, parts, children)
        else:
            found = next(_unknown(element, attributes, children, harmless), None)
            shapes.add(shape)
        if found is not None:
            place, what, expected = found
            names = [n for n in expected if "=" not in n and n != "#text"]
            at_most = f"at most {listed(names)}" if names else "nothing"
            return place, f"{what}, expected {at_most}"
        waiting += reversed(parts)
    return None


def _unknown(
    element: Any, attributes: str, children: str | None, harmless: Collection[str]
) -> Iterator[tuple[Any, str, list[str]]]:
    """Yield what is not known of an element: where, what, and what could be there."""
    kind, known = local_name(element), _words(attributes)
    for name, value in element.attrib.items():
        is_known = name in known or f"{name}={value}" in known
        if not is_known and not name.startswith(_HARMLESS):
            told = f"{name.rpartition('}')[2]}={value[:40]!r}"
            yield element, f"the attribute {told} of <{kind}>", known
    if children is None:
        return
    known = _words(children)
    for child in element:
        inner = local_name(child)
        if inner not in known and inner not in harmless:
            yield child, f"<{inner}> in <{kind}>", known
    if (text := _stray(element, list(element), children)) is not None:
        yield text


def _stray(
    element: Any, parts: list[Any], children: str
) -> tuple[Any, str, list[str]] | None:
    """Return the text in an element that has none but in its parts."""
    known = _words(children)
    if "#text" in known:
        return None
    for text in (element.text, *[part.tail for part in parts]):
        if text and (found := text.strip()):
            told = f"the text {found[:40]!r} in <{local_name(element)}>"
            return element, told, known
    return None
