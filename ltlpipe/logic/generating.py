"""Instances of the catalogue of specification patterns.

The catalogue is ``formulas/patterns.ltl``, where each formula stands below a comment
with its pattern and its scope, and names actions by the letters p, q, r, s, t and z.  A
wheel has the file beside this module.
"""

from __future__ import annotations

import random
import re
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

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
_MOST_ACTIONS = 4  # of a pattern
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_RESERVED = re.compile(
    r"[FGX]+\d*|[UVRWM]|WU|WR|xor|true|false|first_match", re.IGNORECASE
)


def quoted(action: str) -> str:
    """Return an action as it can stand in a formula."""
    reserved = action[:1] in "FGX" or _RESERVED.fullmatch(action)
    if _PLAIN.fullmatch(action) and not reserved:
        return action
    return '"' + re.sub(r'(["\\])', r"\\\1", action) + '"'


def formula_set(
    n: int, actions: Sequence[str], *, seed: int = 0, interruptible: bool = False
) -> list[str]:
    """Return n different instances; the seed decides which.

    Raises
    ------
    UnsupportedError
        There are not so many, or `n` is less than 0.
    """
    if n < 0:
        raise UnsupportedError(f"{n} formulas, expected 0 or more")
    every = instances(actions, seed=seed, interruptible=interruptible)
    found = list(islice(every, n))
    if len(found) < n:
        raise UnsupportedError(
            f"no {n} different formulas over {len(set(actions))} actions; use more "
            "actions"
        )
    return found


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
    actions: Sequence[str], *, seed: int, interruptible: bool = True
) -> Iterator[str]:
    """Yield different instances of patterns until there seem to be no more.

    All patterns have their turn, in random order, before one comes again.  They name
    two to four actions, as far as there are so many; the one that is not interruptible
    ("universality") is among them if that is allowed.  The seed decides all of them.

    Raises
    ------
    UnsupportedError
        There are fewer than two actions.
    """
    known = list(dict.fromkeys(actions))
    if len(known) < 2:
        raise UnsupportedError(
            f"{len(known)} actions, expected at least 2 to choose from"
        )
    patterns = [
        pattern
        for pattern in catalogue()
        if 2 <= len(pattern.letters) <= min(_MOST_ACTIONS, len(known))
        and not (interruptible and pattern.name == "universality")
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
