"""Messages between this process and its workers: JSON and raw bytes, no pickles.

A message is a value made of None, bool, int, float, str, list, dict with str keys,
bytes and NumPy arrays of numbers; a tuple arrives as a list.  Its form is a frame of
nine bytes and a body: the text in JSON, then bytes, long texts and the buffers of
arrays.  A body that is not small travels as a file in memory, of which the frame passes
the descriptor on, so that sending never blocks: `SMALL` bytes fit into the buffer of an
idle socket.

What is read from a message is data.  Reading it runs none of it.
"""

from __future__ import annotations

import json
import mmap
import os
import socket
import struct
import tempfile
import traceback
from typing import Any

from ltlpipe.runtime.errors import (
    FormulaError,
    InputError,
    LtlpipeError,
    ReplayError,
    UnsupportedError,
)
from ltlpipe.runtime.jobs import MEMORY, StoppedError
from ltlpipe.runtime.loading import is_loaded
from ltlpipe.runtime.memory import is_out_of_memory

SMALL = 1 << 16
"""Bytes of the largest body that is sent through the socket itself."""

_FRAME = struct.Struct("!BQQ")  # whether a file follows, bytes of the body, of the text
_CHUNK = 1 << 16
_LONG = 1 << 12  # characters of a text that travels beside the JSON
_ALIGNED = 16  # where buffers begin
_TAG = "$"  # the only key of a JSON object that stands for something else
_NUMBERS = "biufc"  # kinds of dtypes that are plain data

_ERRORS: dict[str, tuple[type[LtlpipeError], tuple[str, ...]]] = {
    "FormulaError": (FormulaError, ("formula", "position", "file", "line", "name")),
    "InputError": (InputError, ("file", "line")),
    "ReplayError": (ReplayError, ()),
    "UnsupportedError": (UnsupportedError, ()),
    "LtlpipeError": (LtlpipeError, ()),
}
"""Kinds of errors, special ones first, and what they are made of but the message."""

_NOTED = "number", "title", "alphabet"
"""What else is known of a `FormulaError`."""


# --- values -----------------------------------------------------------------


class _Encoder:
    """Turns values into what JSON has, and collects the bytes that it has not."""

    def __init__(self) -> None:
        self.buffers: list[Any] = []
        self.n_bytes = 0

    def plain(self, value: Any) -> Any:
        """Return what stands for a value in the text."""
        if isinstance(value, str) and len(value) > _LONG:  # JSON would look at each
            data = memoryview(value.encode("utf-8", "surrogatepass"))
            return {_TAG: ["text", self._kept(data), data.nbytes]}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        if isinstance(value, (list, tuple)):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, (bytes, bytearray, memoryview)):
            data = memoryview(value).cast("B")
            return {_TAG: ["bytes", self._kept(data), data.nbytes]}
        if is_loaded("numpy"):  # importing it takes longer than many a worker's answer
            import numpy as np

            if isinstance(value, np.ndarray):
                return self._array(value)
            if isinstance(value, np.generic):
                return self.plain(value.item())
        raise TypeError(f"a {type(value).__name__} cannot be sent")

    def _object(self, value: dict[str, Any]) -> Any:
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a dict is sent only if its keys are texts")
        parts = {key: self.plain(item) for key, item in value.items()}
        return {_TAG: ["dict", list(parts.items())]} if _TAG in parts else parts

    def _array(self, array: Any) -> Any:
        import numpy as np

        if array.dtype.kind not in _NUMBERS:
            raise TypeError(f"an array of {array.dtype} cannot be sent")
        shape, flat = list(array.shape), np.ascontiguousarray(array).reshape(-1)
        place = self._kept(flat.view(np.uint8).data)
        return {_TAG: ["array", array.dtype.str, shape, place]}

    def _kept(self, data: memoryview) -> int:
        """Keep a buffer; return where it begins behind the text."""
        gap = -self.n_bytes % _ALIGNED
        place = self.n_bytes + gap
        self.buffers += [bytes(gap), data]
        self.n_bytes = place + data.nbytes
        return place


def _decoded(value: Any, data: memoryview) -> Any:
    """Return what a part of the text stands for; buffers are in `data`."""
    if isinstance(value, list):
        return [_decoded(item, data) for item in value]
    if not isinstance(value, dict):
        return value
    if _TAG not in value:
        return {key: _decoded(item, data) for key, item in value.items()}
    kind, *about = value[_TAG]
    if kind == "dict":
        return {key: _decoded(item, data) for key, item in about[0]}
    if kind in ("bytes", "text"):
        part = data[about[0] : about[0] + about[1]]
        return bytes(part) if kind == "bytes" else str(part, "utf-8", "surrogatepass")
    import numpy as np

    dtype, shape, place = np.dtype(about[0]), tuple(about[1]), about[2]
    if dtype.kind not in _NUMBERS:
        raise ValueError(f"an array of {dtype}")
    count = int(np.prod(shape, dtype=np.int64))
    if not count:
        return np.zeros(shape, dtype)
    return np.frombuffer(data, dtype, count, place).reshape(shape)


# --- errors -----------------------------------------------------------------


def error_to_dict(error: BaseException) -> dict[str, Any]:
    """Return what `error_from_dict` makes the same error of."""
    if is_out_of_memory(error):
        error = StoppedError(MEMORY)
    if isinstance(error, StoppedError):
        return {"kind": "StoppedError", "message": error.reason, "attributes": {}}
    for kind, (of_kind, names) in _ERRORS.items():
        if isinstance(error, of_kind):
            attributes = {name: getattr(error, name) for name in names}
            message = getattr(error, "message", error.args[0])
            known = {n: value for n, value in vars(error).items() if n in _NOTED}
            told = {"kind": kind, "message": message, "attributes": attributes}
            return told | {"noted": known}
    text = "".join(traceback.format_exception(error))
    return {"kind": "RuntimeError", "message": text, "attributes": {}}


def error_from_dict(told: dict[str, Any]) -> Exception:
    """Return the error that `error_to_dict` was given.

    One that is no `LtlpipeError` and no `StoppedError` becomes a RuntimeError with the
    other process's traceback.
    """
    kind, message = told["kind"], told["message"]
    if kind == "StoppedError":
        return StoppedError(message)
    if kind in _ERRORS:
        error = _ERRORS[kind][0](message, **told["attributes"])
        vars(error).update(told["noted"])
        return error
    return RuntimeError(message)


# --- messages ---------------------------------------------------------------


class Message:
    """A message that is ready to be sent; TypeError if it cannot be."""

    def __init__(self, value: Any) -> None:
        encoder = _Encoder()
        text = json.dumps(encoder.plain(value), separators=(",", ":")).encode()
        self._n_text = len(text)
        padding = bytes(-len(text) % _ALIGNED)
        self._parts = [text, padding, *encoder.buffers]
        self._n_bytes = len(text) + len(padding) + encoder.n_bytes

    def __bytes__(self) -> bytes:
        """Return the message as it is without a socket, for `unpacked`."""
        frame = _FRAME.pack(False, self._n_bytes, self._n_text)
        return b"".join([frame, *self._parts])

    def send(self, connection: socket.socket) -> None:
        """Send the message through a socket; OSError if the other end is closed."""
        in_file = self._n_bytes > SMALL
        frame = _FRAME.pack(in_file, self._n_bytes, self._n_text)
        if not in_file:
            connection.sendall(bytes(self))
            return
        descriptor = _file_in_memory()
        try:
            with os.fdopen(descriptor, "wb", closefd=False) as stream:
                stream.writelines(self._parts)
            socket.send_fds(connection, [frame], [descriptor])
        finally:
            os.close(descriptor)


def packed(value: Any) -> bytes:
    """Return a value as bytes that `unpacked` takes; TypeError if it cannot be sent."""
    return bytes(Message(value))


def unpacked(data: bytes) -> Any:
    """Return the value that `packed` was given; its arrays can be written to."""
    _, n_bytes, n_text = _FRAME.unpack_from(data)
    return _value(memoryview(bytearray(data[_FRAME.size :])), n_bytes, n_text)


def _value(body: memoryview, n_bytes: int, n_text: int) -> Any:
    """Return what a body says: text, and buffers behind it."""
    behind = body[n_text + -n_text % _ALIGNED : n_bytes]
    return _decoded(json.loads(bytes(body[:n_text])), behind)


def _file_in_memory() -> int:
    """Return the descriptor of a new file without a name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("ltlpipe")
    with tempfile.TemporaryFile() as stream:  # where there is nothing better
        return os.dup(stream.fileno())


class Receiver:
    """Takes messages from a socket, as they come.

    If the socket does not block, neither does `receive`.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._data = bytearray()
        self._files: list[int] = []

    def receive(self) -> tuple[Any] | None:
        """Return a message, in a tuple; None if it has not all come yet.

        An EOFError says that the other end has gone.
        """
        while (message := self._message()) is None:
            try:
                data, files, _flags, _address = socket.recv_fds(
                    self._connection, _CHUNK, 1
                )
            except BlockingIOError:
                return None
            except ConnectionError:
                raise EOFError from None
            if not data:
                raise EOFError
            self._data += data
            self._files += files
        return message

    def _message(self) -> tuple[Any] | None:
        """Return the first message of what has come, if it is complete."""
        if len(self._data) < _FRAME.size:
            return None
        in_file, n_bytes, n_text = _FRAME.unpack_from(self._data)
        if in_file:
            body = self._mapped(n_bytes)
            del self._data[: _FRAME.size]
        else:
            end = _FRAME.size + n_bytes
            if len(self._data) < end:
                return None
            body = memoryview(bytearray(self._data[_FRAME.size : end]))
            del self._data[:end]
        return (_value(body, n_bytes, n_text),)

    def _mapped(self, n_bytes: int) -> memoryview:
        """Return what the next file holds; it may be changed here."""
        descriptor = self._files.pop(0)
        try:
            return memoryview(mmap.mmap(descriptor, n_bytes, access=mmap.ACCESS_COPY))
        finally:
            os.close(descriptor)

    def close(self) -> None:
        """Give back what has come and was not taken."""
        for descriptor in self._files:
            os.close(descriptor)
        self._files.clear()
        self._connection.close()
