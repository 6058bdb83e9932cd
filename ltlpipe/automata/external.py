"""External translators: programs that print HOA.

A command such as ``ltl3tela -f %f`` is called with the formula for ``%f``, as one
argument and without a shell.  The propositions of the formula are called p0, p1 and so
on, and those of the automaton get their names back.  Tools agree on ``!``, ``&&``,
``||``, ``->``, ``<->``, ``X``, ``F``, ``G`` and ``U`` in parentheses; release, weak
until and others are called or parsed differently, or missing: they are written with U,
by their definitions.

Nothing here checks the translator.  A violation that it makes up is found by the
replay of the lasso; a word that it loses is a violation that is not found.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from contextlib import suppress
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from ltlpipe.automata.given_automata import parse_automata
from ltlpipe.automata.translating import PHASE
from ltlpipe.logic.formulas import fold
from ltlpipe.runtime.errors import InputError, UnsupportedError
from ltlpipe.runtime.jobs import Progress
from ltlpipe.runtime.worker_process import cpu_seconds_of
from ltlpipe.runtime.workers import remote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.logic.formulas import Formula
    from ltlpipe.runtime.jobs import Job

FORMULA = "%f"
"""What stands for the formula in a command."""

MAX_LENGTH = 100_000
"""Characters that a formula may have: an argument of a program ends at 128 KiB."""

_FORMS = {
    "tt": "true",
    "ff": "false",
    "Not": "!{0}",
    "X": "X {0}",
    "F": "F {0}",
    "G": "G {0}",
    "Implies": "{0} -> {1}",
    "Equiv": "{0} <-> {1}",
    "Xor": "!({0} <-> {1})",
    "U": "{0} U {1}",
    "R": "!(!{0} U !{1})",
    "W": "({0} U {1}) || (G {0})",
    "M": "{1} U ({0} && {1})",
}

_SHOWN = 300  # characters of what a program printed
_MOST_PRINTED = 64 << 20  # bytes of its output


def translate_externally(formula: Formula, command: str) -> Job[Any]:
    """Return the Spot automaton of the violations that another translator makes.

    It is over the propositions of `formula`, with any acceptance.  The program and all
    that it has started are killed when the job is closed.  What it has printed is first
    read in a worker process.

    Parameters
    ----------
    formula : Formula
        LTL over actions; its negation is translated.
    command : str
        The program and its arguments, quoted as in a shell.  ``%f`` in an argument
        becomes the formula, and ``%%`` a percent sign.

    Raises
    ------
    UnsupportedError
        The command cannot be run, fails, or prints something else than one
        automaton in HOA; names the command and shows what it printed.
    """
    import spot

    names = {name: f"p{i}" for i, name in enumerate(formula.propositions)}
    text = portable_text(spot.formula_Not(formula.spot), names)
    printed = yield from _printed(_arguments(command, text), command)
    automaton = yield from _only_automaton(printed, command)
    _rename(automaton, {short: name for name, short in names.items()}, command)
    return automaton


def portable_text(formula: Any, names: Mapping[str, str]) -> str:
    """Return a formula of Spot as any translator reads it, with names for propositions.

    Raises
    ------
    UnsupportedError
        The text would be longer than `MAX_LENGTH`, or the formula is no LTL.
    """

    def combine(node: Any, kind: str, parts: list[str]) -> str:
        if kind == "ap":
            return names[node.ap_name()]
        if kind in ("And", "Or"):
            text = (" && " if kind == "And" else " || ").join(parts)
        else:
            text = _FORMS[kind].format(*parts)
        if len(text) > MAX_LENGTH:
            raise UnsupportedError(
                f"the formula has more than {MAX_LENGTH:,} characters in the syntax of "
                "other translators: use Spot's translation"
            )
        return text if kind in ("tt", "ff") else f"({text})"

    return fold(formula, combine)


def _arguments(command: str, text: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise _failure(command, f"cannot be read: {error}") from None
    parts = [word.split("%%") for word in words]
    if not any(FORMULA in piece for word in parts for piece in word):
        raise _failure(command, f"does not say where the formula stands ({FORMULA})")
    return ["%".join(p.replace(FORMULA, text) for p in word) for word in parts]


def _printed(arguments: Sequence[str], command: str) -> Job[str]:
    """Run a program and return its standard output."""
    with TemporaryFile() as output, TemporaryFile() as errors:
        try:
            program = subprocess.Popen(
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,  # so that what it starts ends with it
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise _failure(command, f"cannot be run: {reason}") from None
        try:
            yield from _ended(program, (output, errors), command)
        finally:
            with suppress(OSError):  # it has ended, and all that it has started
                os.killpg(program.pid, signal.SIGKILL)
            program.wait()
        output.seek(0)
        errors.seek(0)
        shown, said = (
            file.read().decode(errors="replace") for file in (output, errors)
        )
    if program.returncode != 0:
        end = _end_of(program.returncode)
        raise _failure(command, f"{end} and printed {_quoted(said.strip() or shown)}")
    return shown


def _ended(
    program: subprocess.Popen[bytes], files: Sequence[IO[bytes]], command: str
) -> Job[None]:
    """Wait for the end of a program, and look at how much it prints."""
    cpu, waits = 0.0, []
    if hasattr(os, "pidfd_open"):
        waits.append(os.pidfd_open(program.pid))
    try:
        while True:
            ended = program.poll() is not None
            if any(os.fstat(f.fileno()).st_size > _MOST_PRINTED for f in files):
                raise _failure(command, f"printed more than {_MOST_PRINTED:,} bytes")
            if ended:
                return
            now = cpu_seconds_of(program.pid)
            work, cpu = max(now - cpu, 0.0) * 1e6, max(now, cpu)
            if not waits:
                time.sleep(0.01)
            yield Progress(PHASE, work, waits=tuple(waits))
    finally:
        for descriptor in waits:
            os.close(descriptor)


@remote(PHASE)
def _n_automata(text: str) -> int:
    """Return how many automata a text holds; a worker finds out whether it can be read.

    Raises
    ------
    InputError, UnsupportedError
        It holds something else.
    """
    return len(parse_automata(text, "output"))


def _only_automaton(printed: str, command: str) -> Job[Any]:
    try:
        n_automata = yield from _n_automata(printed)
    except InputError as error:
        reason = f"{error}; it printed {_quoted(printed)}"
        raise _failure(command, f"printed no HOA: {reason}") from None
    except UnsupportedError as error:
        raise _failure(command, f"printed what is not supported: {error}") from None
    if n_automata > 1:
        raise _failure(command, f"printed {n_automata} automata, expected one")
    return parse_automata(printed, "output")[0]


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
