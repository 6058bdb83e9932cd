"""Which files are problems of the RERS challenge, as it publishes them.

A folder holds any number of pairs: ``problemNNN.dot``, and beside it
``problemNNN-properties*.txt`` or ``problemNNN*.ltl``, each also ``.gz``.  NNN is the
problem's number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.runtime.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

_SYSTEM = re.compile(r"problem[-_]?(\d{1,9})\.dot(\.gz)?", re.IGNORECASE | re.ASCII)
_PROPERTIES = re.compile(
    r"problem[-_]?(\d{1,9})(?:(?P<text>[-_]properties.*\.txt)|(?:\D.*)?\.ltl)(\.gz)?",
    re.IGNORECASE | re.ASCII,
)


class Pair(NamedTuple):
    """The files of one problem."""

    system: str
    properties: tuple[str, ...]


def number_of(file: str) -> int | None:
    """Return the number of the problem whose system a file holds; None if of none."""
    found = _SYSTEM.fullmatch(PurePath(file).name)
    return None if found is None else int(found[1])


def pairs(folder: Path, files: Iterable[str]) -> list[Pair]:
    """Return the published problems among the files of a folder, by their numbers.

    Raises
    ------
    InputError
        A file of a pair lacks its counterpart, or two systems have one number.
    """
    systems: dict[int, str] = {}
    properties: dict[int, list[str]] = defaultdict(list)
    texts: dict[int, str] = {}  # one file for each problem, which has to be one
    for file in sorted(files):
        number = number_of(file)
        if number is not None:
            if number in systems:
                message = f"two systems of problem {number}: {systems[number]}, {file}"
                raise InputError(message, file=str(folder))
            systems[number] = file
        elif found := _PROPERTIES.fullmatch(file):
            properties[int(found[1])].append(file)
            if found["text"]:
                texts[int(found[1])] = file
    for number, file in texts.items():
        if number not in systems:
            message = f"properties without problem{number}.dot beside them"
            raise InputError(message, file=str(folder / file))
    for number, file in systems.items():
        if number not in properties:
            message = f"a problem without problem{number}-properties*.txt beside it"
            raise InputError(message, file=str(folder / file))
    return [Pair(systems[k], tuple(properties[k])) for k in sorted(systems)]
