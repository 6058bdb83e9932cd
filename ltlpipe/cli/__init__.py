"""The command line: one module per command.

`program` is what the shell calls.  `main` turns errors of ltlpipe into one message and
exit code 2.  Spot, Numba and pandas are imported by the commands that need
them, when they run: ``ltlpipe --help`` loads none.

Exit codes beside those of the commands (0 to 3): 70 for a bug of ltlpipe, 130 for
Ctrl-C outside a search, 141 if the reader of standard output has gone.
"""

from __future__ import annotations

import atexit
import os
import re
import sys
import threading
import traceback
import warnings
from contextlib import suppress
from typing import Any

from ltlpipe.runtime.errors import (
    LtlpipeError,
    LtlpipeWarning,
    ReplayError,
    SystemWarning,
)
from ltlpipe.runtime.files import open_standard_streams
from ltlpipe.runtime.jobs import heed_ctrl_c, ignore_ctrl_c
from ltlpipe.runtime.memory import (
    address_space_mib,
    collect_seldom,
    is_out_of_memory,
)
from ltlpipe.runtime.names import FLAGS, name_as, visible_lines

_INVALID = re.compile(r"Invalid value(?: for '?([^':]+)'?)?: (.*)", re.DOTALL)
_EXPECTED = {
    r"(\S+) is not a valid int.*": r"\1, expected a whole number",
    r"(\S+) is not a valid float.*": r"\1, expected a number",
    r"(\S+) is not in the range x>=(\S+?)\.$": r"\1, expected \2 or more",
    r"(\S+) is not in the range x<=(\S+?)\.$": r"\1, expected \2 or less",
}
"""What typer says of numbers, and what ltlpipe says."""
_BAD_INPUT = 2
_BUG = 70  # EX_SOFTWARE of sysexits.h: never to be taken for a verdict
_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
_LEAST_MIB = 256  # of virtual memory
_READER_GONE = 141  # 128 + SIGPIPE


def program() -> None:
    """Run the command line and exit without tearing modules down.

    Tearing down would take longer than many checks, and wait for running imports.
    """
    _open_streams()
    collect_seldom()
    heed_ctrl_c()
    sys.unraisablehook = _unraisable
    try:
        try:
            main()
        except KeyboardInterrupt:  # between two of the places that expect it
            sys.exit(_INTERRUPTED)
        finally:
            ignore_ctrl_c()
    except SystemExit as end:
        if not isinstance(end.code, int | None) or any(
            not thread.daemon
            for thread in threading.enumerate()
            if thread is not threading.main_thread()
        ):
            raise
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(end.code or 0)


def _open_streams() -> None:
    """Open the null device for closed standard streams.

    `print` would write to standard output what is for a missing standard error.
    """
    open_standard_streams()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115


def _unraisable(about: Any) -> None:
    """Print an error from a callback; Ctrl-C there has been noted by `heed_ctrl_c`."""
    if not issubclass(about.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(about)


def main() -> None:
    """Run the command line and exit."""
    name_as(FLAGS)
    _SHOWN.clear()
    warnings.showwarning = _show_warning  # type: ignore[assignment]
    warnings.simplefilter("always", LtlpipeWarning)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a character
            stream.reconfigure(errors="backslashreplace")
    code = _run()
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = _output_failed(error)
    sys.exit(code)


def _run() -> int | str | None:
    """Run the command that the arguments name; return the exit code."""
    try:
        _refuse_small_space()
        from ltlpipe.cli.application import application

        app = application(sys.argv[1:])
        return app(prog_name="ltlpipe", standalone_mode=False) or 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer makes it a 1
            return _output_failed(end.__context__)
        return end.code
    except LtlpipeError as error:
        _say(f"error: {error}")
        return _BUG if isinstance(error, ReplayError) else _BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:
        if (usage := _usage_error(error)) is not None:
            if usage:
                _say(f"error: {usage}")
            return _BAD_INPUT
        if _is_interrupt(error):
            return _INTERRUPTED
        if is_out_of_memory(error):
            return _out_of_memory()
        if isinstance(error, OSError):
            return _system_failed(error)
        if _is_library(error):
            _say(f"error: a library cannot be loaded: {error}")
            return _BAD_INPUT
        told = traceback.format_exc()
        _say(f"{told}error: this is a bug of ltlpipe; please report it")
        return _BUG


def _usage_error(error: Exception) -> str | None:
    """Return what is wrong with the arguments, and where help is; None otherwise.

    Nothing where help has been printed.
    """
    import typer

    usage: Any = typer.BadParameter.__mro__[1]  # the base of all usage errors
    if not isinstance(error, usage):
        return None
    about: Any = error
    text: str = about.format_message()
    if not text:
        return ""
    found = _INVALID.match(text)
    if found is None:
        text = text[:1].lower() + text[1:]
    else:
        expected = found[2]
        for pattern, ours in _EXPECTED.items():
            expected = re.sub(pattern, ours, expected)
        text = f"{found[1]}: {expected}" if found[1] else expected
    context = about.ctx
    help_at = "" if context is None else f" (see {context.command_path} --help)"
    return text.rstrip(".") + help_at


def _say(text: str) -> None:
    """Print a message; where it cannot be written, the exit code is all there is."""
    with suppress(OSError):
        print(visible_lines(text), file=sys.stderr)


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error (class creation wraps it)."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _refuse_small_space() -> None:
    """Refuse to start if memory does not suffice to load libraries.

    OpenBLAS would end the process with exit code 1, which means a violation. It
    allocates memory for each thread, of which ltlpipe needs one.
    """
    limit = address_space_mib()
    if limit is None:
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if limit < _LEAST_MIB:
        raise LtlpipeError(
            f"out of memory: {limit:.0f} MiB of virtual memory are allowed (ulimit "
            f"-v), and ltlpipe needs {_LEAST_MIB}"
        )


def _out_of_memory() -> int:
    """Report that memory is exhausted, with the limit if there is one."""
    limit = address_space_mib()
    why = "" if limit is None else f": {limit:.0f} MiB are allowed (ulimit -v)"
    _say(f"error: out of memory{why}")
    return _BAD_INPUT


def _is_library(error: Exception) -> bool:
    """Return whether a third-party library cannot be imported."""
    own = (getattr(error, "name", None) or "").partition(".")[0] == "ltlpipe"
    return isinstance(error, ImportError) and not own


def _system_failed(error: OSError) -> int:
    """Report a system error; without a file it concerns standard output."""
    if error.filename is None and error.errno is not None:
        return _output_failed(error)
    name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
    _say(f"error: {name}{error.strerror or error}")
    return _BAD_INPUT


def _output_failed(error: OSError) -> int:
    """Report that standard output cannot be written, unless its reader has gone."""
    if sys.stdout is not None:  # the rest of its buffer is discarded
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(error, BrokenPipeError):
        return _READER_GONE
    _say(f"error: cannot be written: {error.strerror or error}")
    return _BAD_INPUT


_SHOWN: set[str] = set()  # of systems


def _show_warning(message: Warning | str, kind: type[Warning], *_: object) -> None:
    """Print a warning; one about a system that many formulas have in common once."""
    if str(message) in _SHOWN:
        return
    if issubclass(kind, SystemWarning):
        _SHOWN.add(str(message))
    _say(f"warning: {message}")
