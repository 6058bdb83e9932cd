"""The last counterexample of ``check``, which ``simulate --last`` walks along.

It is one file of the user, in the form that ``check --json`` prints.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ltlpipe.question.given_options import options_of
from ltlpipe.question.options import SIMULATE
from ltlpipe.runtime.errors import InputError, LtlpipeError
from ltlpipe.runtime.files import read_text, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ltlpipe.verdict.verdict import Verdict


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
