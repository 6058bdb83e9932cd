"""Finding problems on disk: a system and the formulas beside it.

A problem is a folder with one ``system.*`` (or several ``system_*.aut``, the
components of one network) and at least one ``*.ltl``.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import InputError
from ltlpipe.systems.formats import READ_SUFFIXES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ltlpipe.runtime.files import StrPath

_SYSTEM = re.compile(
    rf"system([_-]?\d+)?({'|'.join(map(re.escape, READ_SUFFIXES))})(\.gz)?$",
    re.IGNORECASE,
)
_FORMULAS = re.compile(r".*\.ltl(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True)
class Problem:
    """A system and the files of the formulas that are asked of it.

    Parameters
    ----------
    system : tuple of str
        The files of its components, in order.
    formulas : tuple of str
        Formula files, sorted.
    """

    system: tuple[str, ...]
    formulas: tuple[str, ...]


def find_problems(paths: Iterable[StrPath]) -> list[Problem]:
    """Find the problems in folders, at any depth, in sorted order (2 before 10).

    Raises
    ------
    InputError
        A path is no folder that can be read, holds no problem, or a folder
        holds a system without formulas or two systems.
    """
    problems = []
    for path in map(Path, paths):
        if not path.is_dir():
            raise InputError("expected a folder of problems", file=str(path))
        found = []
        for folder, subfolders, files in os.walk(path, onerror=_unreadable):
            subfolders.sort(key=_natural)
            problem = _problem_in(Path(folder), files)
            if problem is not None:
                found.append(problem)
        if not found:
            raise InputError(
                "no problem found; expected folders with a system.* "
                f"({', '.join(READ_SUFFIXES)}) and formulas in *.ltl",
                file=str(path),
            )
        problems.extend(found)
    return problems


def _unreadable(error: OSError) -> None:
    message = f"cannot be read: {error.strerror}"
    raise InputError(message, file=str(error.filename)) from None


def _problem_in(folder: Path, files: list[str]) -> Problem | None:
    systems = sorted((f for f in files if _SYSTEM.match(f)), key=_natural)
    if not systems:
        return None
    numbers = {_number(f) for f in systems}
    if len(numbers) < len(systems) or (None in numbers and len(systems) > 1):
        listed = ", ".join(systems)
        raise InputError(f"two systems in one folder: {listed}", file=str(folder))
    formulas = sorted((f for f in files if _FORMULAS.match(f)), key=_natural)
    if not formulas:
        raise InputError("a system without *.ltl beside it", file=str(folder))
    return Problem(
        tuple(str(folder / f) for f in systems),
        tuple(str(folder / f) for f in formulas),
    )


def _number(file: str) -> int | None:
    """Return the number of the component that a system file holds, if any."""
    digits = re.search(r"\d+", file.split(".")[0])
    return None if digits is None else int(digits[0])


def _natural(name: str) -> tuple[list[tuple[bool, int, str]], str]:
    """Return a sort key in which 10 comes after 9."""
    parts = re.findall(r"\d+|\D+", name)
    numbers = [(p, p.isdecimal()) for p in parts]
    return [(not n, int(p) if n else 0, p) for p, n in numbers], name
