"""The entry point of worker processes (`ltlpipe.runtime.workers`).

A worker answers one request after the other: the name of an operation and its
arguments.  Operations are plain functions of any room, imported on first use, that take
and return what `ltlpipe.runtime.wire` can send.  One that is a generator function sends
what it yields as parts of its answer; one that has a parameter `tell` is given a
function that sends its argument as a part.
"""

from __future__ import annotations

import inspect
import os
import resource
import signal
import socket
import time
from contextlib import suppress
from functools import cache, partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from ltlpipe.runtime.memory import collect_seldom
from ltlpipe.runtime.names import AS_WRITTEN, name_as
from ltlpipe.runtime.wire import Message, Receiver, error_to_dict
from ltlpipe.runtime.worker_process import ENDING, end_with_parent, resident_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

OPERATIONS = {
    "analyse": "ltlpipe.batch.formula_columns:parts_of",
    "answer task": "ltlpipe.batch.answering:answer_task",
    "automorphisms": "ltlpipe.symmetry.groups.group:find_generators",
    "compile": "ltlpipe.runtime.kernels.compilation:compile_there",
    "read properties": "ltlpipe.logic.mcc:parse_properties",
    "read system": "ltlpipe.systems.reading:parse",
}
"""Where the function of an operation is: "module:function", as remote functions say."""


def main(descriptor: int, parent: int) -> None:
    """Answer requests until the socket is closed, and end this process.

    Parameters
    ----------
    descriptor : int
        Of the socket through which requests come.
    parent : int
        Process id of the client: the worker dies with it, whatever it is doing.
    """
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)  # held back until now
    end_with_parent()
    collect_seldom()
    name_as(AS_WRITTEN)  # the caller knows how
    if os.getppid() != parent:  # it has died before
        os._exit(0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a crash is reported in a message
    os.set_inheritable(descriptor, False)
    connection = socket.socket(fileno=descriptor)
    receiver = Receiver(connection)
    status = 0
    try:
        while (request := receiver.receive()) is not None:
            for module in request[0].get("import", ()):
                with suppress(ImportError):  # reported when it is needed
                    import_module(module)
            if "operation" in request[0]:
                _answer(connection, request[0])
    except (EOFError, OSError):
        pass  # the parent has gone, or wants no more
    except BaseException:
        status = 1
        raise
    finally:
        if not status:
            os._exit(0)  # without taking tables apart


def _answer(connection: socket.socket, request: dict[str, Any]) -> None:
    """Serve one request and send the reply."""

    def tell(kind: str, value: Any) -> None:
        Message({kind: value}).send(connection)

    try:
        if request["folder"] is not None:  # the worker may have begun in another one
            with suppress(OSError):  # the paths will be missed
                os.chdir(request["folder"])
        function, tells = _function(request["operation"])
        tell("begun", {"cpu": time.process_time(), "bytes": resident_bytes()})
        given = {"tell": partial(tell, "part")} if tells else {}
        answer = function(**request["arguments"], **given)
        if inspect.isgenerator(answer):
            for part in answer:
                tell("part", part)
            answer = None
        tell("result", answer)
    except ConnectionError:
        raise
    except Exception as error:
        tell("error", error_to_dict(error))


@cache
def _function(operation: str) -> tuple[Callable[..., Any], bool]:
    """Return the function of an operation, and whether it wants to tell parts."""
    module, _, name = OPERATIONS.get(operation, operation).partition(":")
    function: Callable[..., Any] = attrgetter(name)(import_module(module))
    return function, "tell" in inspect.signature(function).parameters
