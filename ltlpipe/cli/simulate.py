"""``ltlpipe simulate``: step through a system, or along a lasso.

On a terminal it is an application; otherwise, and with ``--plain``, it reads a command
from each line of standard input.  The last counterexample of ``check``, for
``--last``, is one file of the user, in the form that ``check --json`` prints.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from ltlpipe.cli import options as shared
from ltlpipe.cli.options import run_within, search_progress
from ltlpipe.question.given_options import manner_of, of_question, options_of
from ltlpipe.question.options import SIMULATE
from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.runtime.files import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.simulation.session import Session
    from ltlpipe.simulation.simulation import Simulation
    from ltlpipe.verdict.verdict import Verdict


_PROMPT = "> "
_TERMINAL = "/dev/tty"


@shared.takes(SIMULATE)
def simulate(
    system: shared.SystemOrNone = None,
    formula: str | None = shared.question_option(
        None,
        "-f",
        "--formula",
        metavar="FORMULA",
        help="LTL formula whose remaining obligations are shown; by default the "
        "lasso's.",
    ),
    lasso: str | None = shared.lasso_option(
        None,
        metavar="FILE",
        help="A counterexample to walk along: what check --json prints, or a run "
        "that was saved.",
    ),
    last: bool = shared.lasso_option(
        False,
        "--last",
        help="Walk along the last counterexample that check has found on this "
        "machine; no SYSTEM is given then.",
    ),
    seed: int | None = shared.search_option(
        None, metavar="N", help="Seed of random walks.", min=0
    ),
    plain: bool = shared.output_option(
        False, "--plain", help="Lines of text instead of an application on a terminal."
    ),
    **chosen: Any,
) -> None:
    """Step through a system, or through a counterexample.

    On a terminal it is an application; otherwise commands are read from standard
    input, one per line (help lists them).  Exit code: 0, or 2 for bad input or usage.
    """
    from ltlpipe.simulation.simulation import Simulation
    from ltlpipe.systems.reading import load_job

    if last:
        if system or lasso:
            raise typer.BadParameter("--last has the system and the counterexample")
        lasso, known = last_run()
        system = known.files
        chosen |= known.options
    if not system:
        raise typer.BadParameter("missing argument 'SYSTEM'")
    is_free = _is_input_free([*system, *([lasso] if lasso else [])])
    with search_progress(quiet=False) as progress:
        progress.begin("reading")
        loaded = run_within(load_job(system, **manner_of(chosen)), progress=progress)
        progress.hide()
        simulation = Simulation(
            loaded, formula, lasso=lasso, seed=seed, **of_question(chosen)
        )
    if not is_free:
        _take_input_from_terminal()
    step_through(simulation, plain=plain)


def step_through(simulation: Simulation, *, plain: bool = False) -> None:
    """Let the user step through a simulation, on a terminal in an application."""
    from ltlpipe.simulation.session import Session

    session = Session(simulation)
    if plain or not _has_terminal():
        _converse(session)
        return
    try:
        from ltlpipe.simulation.screen import show
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        print("for an application: pip install textual", file=sys.stderr)
        _converse(session)
        return
    show(session)


def _has_terminal() -> bool:
    """Whether an application can be shown."""
    streams = (sys.stdin, sys.stdout)
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return all(stream is not None and stream.isatty() for stream in streams)


def _is_input_free(files: list[str]) -> bool:
    """Return whether standard input is free for commands, if that is possible."""
    n_read = files.count("-")
    if n_read > 1:
        raise typer.BadParameter("only one file can be -, which is standard input")
    if n_read and not (sys.stdout is not None and sys.stdout.isatty()):
        raise typer.BadParameter(
            "- is standard input, which holds the commands: name a file"
        )
    return not n_read


def _take_input_from_terminal() -> None:
    """Let standard input, which has been read, be the terminal."""
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR)
    except OSError as error:
        message = f"{_TERMINAL}: cannot be opened: {error.strerror}; name a file, not -"
        raise LtlpipeError(message) from None
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 (as long as the program)


def _converse(session: Session) -> None:
    """Read commands and print their results."""
    from ltlpipe.runtime.jobs import complete
    from ltlpipe.runtime.names import visible_lines
    from ltlpipe.simulation.session import overview

    simulation = session.simulation
    print("\n".join([*_heading(simulation), overview(simulation)]), flush=True)
    is_asked = sys.stdin is not None and sys.stdin.isatty()
    for number, line in enumerate(_lines(is_asked=is_asked), start=1):
        try:
            reply = complete(session.perform(line))
        except LtlpipeError as error:
            place = "" if is_asked else f"line {number}: "
            text = visible_lines(f"error: {place}{error}")
            print(text, file=sys.stderr, flush=True)
            continue
        if reply.note:
            print(reply.note)
        if reply.ends:
            break
        if reply.is_elsewhere:
            print(overview(simulation))
        sys.stdout.flush()


def _heading(simulation: Simulation) -> list[str]:
    """Return the simulation."""
    from ltlpipe.runtime.names import counted, quoted_name, visible

    lines = [f"system: {quoted_name(simulation.system.name)}"]
    if simulation.formula is not None:
        lines.append(f"formula: {visible(simulation.formula)}")
    if simulation.lasso_length is not None:
        prefix, cycle = simulation.lasso_length
        ever = f", then {cycle:,} for ever" if cycle else ""
        lines.append(f"lasso: {counted(prefix, 'step')}{ever} (next follows it)")
    if (bad := simulation.lasso_bad_prefix) is not None:
        lines.append(f"violated by the first {counted(bad, 'step')} of the lasso")
    return lines


def _lines(*, is_asked: bool) -> Iterator[str]:
    """Yield the lines of standard input; echo them unless they were typed."""
    if sys.stdin is None:
        return
    sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    while True:
        if is_asked:
            print(_PROMPT, end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            if is_asked:
                print()
            return
        if not is_asked and line.strip():
            from ltlpipe.runtime.names import visible

            print(_PROMPT + visible(line.strip()), flush=True)
        yield line


class LastRun(NamedTuple):
    """What a counterexample is about."""

    files: list[str]  # of the system
    options: dict[str, Any]  # those of `simulate`, as they were given


def keep_run(verdict: Verdict, files: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """Keep a violation that has a run, if the system can be read again."""
    place = _place()
    if place is None or "-" in files:
        return
    options = {
        name: chosen[name]
        for name, option in options_of(SIMULATE).items()
        if chosen.get(name, option.default) != option.default
    }
    paths = [os.path.abspath(file) for file in files]  # noqa: PTH100 (links stay)
    record = verdict.to_dict() | {"files": paths, "options": options}
    with suppress(OSError, LtlpipeError):  # it is a convenience
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_text(place, json.dumps(record) + "\n")


def last_run() -> tuple[str, LastRun]:
    """Return the file of the last counterexample, and what it is about.

    Raises
    ------
    InputError
        There is none, or it cannot be read.
    """
    place = _place()
    if place is None or not place.exists():
        raise LtlpipeError("--last: check has found no counterexample yet")
    file = str(place)
    try:
        record = json.loads(read_text(file))
        files, options = list(map(str, record["files"])), dict(record["options"])
        if options.keys() <= options_of(SIMULATE).keys():
            return file, LastRun(files, options)
        raise KeyError
    except (ValueError, KeyError, TypeError):
        raise InputError("expected what ltlpipe check has kept", file=file) from None


def _place() -> Path | None:
    """Return the file; None without a home."""
    home = os.environ.get("XDG_STATE_HOME")
    with suppress(RuntimeError):
        base = Path(home) if home else Path.home() / ".local" / "state"
        return base / "ltlpipe" / "last.json"
    return None
