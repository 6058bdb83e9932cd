"""The catalogue of specification patterns, and formulas made from it.

The catalogue is ``formulas/patterns.ltl``, where each formula stands below a comment
with its pattern and its scope, and names actions by the letters p, q, r, s, t and z.
A wheel has the file beside this module.
"""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.logic.generating import quoted
from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HERE = Path(__file__).resolve()
_PLACES = (
    _HERE.with_name("patterns.ltl"),
    _HERE.parents[2] / "formulas" / "patterns.ltl",
)
_HEADING = re.compile(r"# ([^,]+), (.+)")
_LETTER = re.compile(r"\b[pqrstz]\b")
_MOST_REPEATS = 200  # known formulas in a row, before there seem to be no others


class Pattern(NamedTuple):
    """One pattern in one scope."""

    name: str
    scope: str
    template: str

    @property
    def letters(self) -> tuple[str, ...]:
        """The actions that it names, sorted."""
        return tuple(sorted(set(_LETTER.findall(self.template))))

    def instance(self, actions: Sequence[str]) -> str:
        """Return the formula with actions for the letters, in their order."""
        names = dict(zip(self.letters, map(quoted, actions), strict=True))
        return _LETTER.sub(lambda letter: names[letter[0]], self.template)


@cache
def catalogue() -> tuple[Pattern, ...]:
    """Return all patterns in all scopes, in the order of the file."""
    file = next(place for place in _PLACES if place.is_file())
    lines = file.read_text(encoding="utf-8").splitlines()
    return tuple(
        Pattern(heading[1], heading[2], line)
        for comment, line in pairwise(lines)
        if (heading := _HEADING.fullmatch(comment)) and not line.startswith("#")
    )


def instances(
    actions: Sequence[str],
    *,
    seed: int,
    n_actions: tuple[int, int] = (2, 4),
    leave_out: Sequence[str] = ("universality",),
) -> Iterator[str]:
    """Yield different instances of patterns until there seem to be no more.

    All patterns have their turn, in random order, before one comes again.

    Parameters
    ----------
    actions : sequence of str
        What they name.
    seed : int
        Decides all of them.
    n_actions : tuple of int
        Least and greatest number of different actions that a formula names, as far
        as there are so many.
    leave_out : sequence of str
        Patterns that are not used: by default the one that is not interruptible.

    Raises
    ------
    UnsupportedError
        There are fewer actions than a formula names at least.
    """
    least, most = n_actions
    known = list(dict.fromkeys(actions))
    if len(known) < least:
        raise UnsupportedError(
            f"{len(known)} actions, expected at least {least} to choose from"
        )
    patterns = [
        pattern
        for pattern in catalogue()
        if least <= len(pattern.letters) <= min(most, len(known))
        and pattern.name not in leave_out
    ]
    return _instances(patterns, known, random.Random(seed))


def _instances(
    patterns: list[Pattern], actions: list[str], rng: random.Random
) -> Iterator[str]:
    found: set[str] = set()
    repeats = 0
    while repeats < _MOST_REPEATS:
        for pattern in rng.sample(patterns, len(patterns)):
            text = pattern.instance(rng.sample(actions, len(pattern.letters)))
            repeats = 0 if text not in found else repeats + 1
            if text not in found:
                found.add(text)
                yield text
