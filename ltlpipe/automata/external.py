"""Translators of other people, run as programs that print HOA.

A command such as ``ltl3tela -f %f`` is called with the formula for ``%f``, as one
argument and without a shell.  The formula is written in what all translators read
(`ltlpipe.logic.printing`), over propositions p0, p1 and so on, and the propositions
of the automaton get their names back.

Nothing here checks the translator.  A violation that it makes up is found by the
replay of the lasso; a word that it loses is a violation that nobody finds.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ltlpipe.automata.hoa import parse_automata
from ltlpipe.logic.printing import portable_text
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import StoppedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ltlpipe.logic.formulas import Formula

FORMULA = "%f"
"""What stands for the formula in a command."""

_LOOK_SECONDS = 0.05  # how often the caller's wish to stop is looked at
_SHOWN = 300  # characters of what a program printed


def translate_externally(
    formula: Formula,
    command: str,
    *,
    deadline: float | None,
    stopped: Callable[[], bool] = lambda: False,
) -> Any:
    """Return the automaton of the violations that another translator makes.

    Parameters
    ----------
    formula : Formula
        LTL over actions; its negation is translated.
    command : str
        The program and its arguments, quoted as in a shell.  ``%f`` in an argument
        becomes the formula, and ``%%`` a percent sign.
    deadline : float, optional
        Value of `time.monotonic` at which to give up.
    stopped : callable
        Asked now and then; True ends the program.

    Returns
    -------
    spot.twa_graph
        Over the propositions of `formula`, with any acceptance: what `--automaton`
        reads, and `ltlpipe.automata.translation.from_automaton` takes.

    Raises
    ------
    UnsupportedError
        The command cannot be run, fails, or prints something else than one
        automaton in HOA; names the command and shows what it printed.
    StoppedError
        The deadline passed, or `stopped` said so.
    """
    import spot

    names = {name: f"p{i}" for i, name in enumerate(formula.propositions)}
    text = portable_text(spot.formula_Not(formula.spot), names)
    printed = _printed(_arguments(command, text), command, deadline, stopped)
    automaton = _only_automaton(printed, command)
    _rename(automaton, {short: name for name, short in names.items()}, command)
    return automaton


def _arguments(command: str, text: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _failure(command, f"cannot be read: {error}") from None
    parts = [word.split("%%") for word in words]
    if not any(FORMULA in piece for word in parts for piece in word):
        raise _failure(command, f"does not say where the formula stands ({FORMULA})")
    return ["%".join(p.replace(FORMULA, text) for p in word) for word in parts]


def _printed(
    arguments: Sequence[str],
    command: str,
    deadline: float | None,
    stopped: Callable[[], bool],
) -> str:
    """Run a program and return its standard output."""
    try:
        program = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # so that what it starts ends with it
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise _failure(command, f"cannot be run: {reason}") from None
    try:
        output, errors = _communicate(program, deadline, stopped)
    finally:
        _end(program)
    shown = output.decode(errors="replace")
    if program.returncode != 0:
        said = errors.decode(errors="replace").strip() or shown
        end = _end_of(program.returncode)
        raise _failure(command, f"{end} and printed {_quoted(said)}")
    return shown


def _communicate(
    program: subprocess.Popen[bytes],
    deadline: float | None,
    stopped: Callable[[], bool],
) -> tuple[bytes, bytes]:
    while True:
        if stopped():
            raise StoppedError("interrupted")
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise StoppedError("timeout")
        wait = _LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS)
        with suppress(subprocess.TimeoutExpired):
            return program.communicate(timeout=wait)


def _end(program: subprocess.Popen[bytes]) -> None:
    """Kill a program that has not ended, and all that it has started."""
    with suppress(OSError):  # nobody is left
        os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    for stream in (program.stdout, program.stderr):
        if stream is not None:
            stream.close()


def _only_automaton(printed: str, command: str) -> Any:
    try:
        automata = parse_automata(printed, "output")
    except InputError as error:
        reason = f"{error}; it printed {_quoted(printed)}"
        raise _failure(command, f"printed no HOA: {reason}") from None
    except UnsupportedError as error:
        raise _failure(command, f"printed what is not supported: {error}") from None
    if len(automata) > 1:
        raise _failure(command, f"printed {len(automata)} automata, expected one")
    return automata[0]


def _rename(automaton: Any, names: dict[str, str], command: str) -> None:
    """Give the propositions of an automaton the names that they stand for."""
    import spot

    meaning = spot.relabeling_map()
    for proposition in automaton.ap():
        short = proposition.ap_name()
        if short not in names:
            known = ", ".join(names) or "none"
            raise _failure(
                command,
                f"printed an automaton over {short!r}, which is no proposition of its "
                f"formula ({known})",
            )
        meaning[proposition] = spot.formula_ap(names[short])
    spot.relabel_here(automaton, meaning)


def _end_of(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"failed ({status})"


def _quoted(text: str) -> str:
    """Return the beginning of what a program printed, on one line."""
    line = " ".join(text.split())
    if not line:
        return "nothing"
    return repr(line if len(line) <= _SHOWN else line[:_SHOWN] + " ...")


def _failure(command: str, what: str) -> UnsupportedError:
    return UnsupportedError(f"the translator {command!r} {what}")
