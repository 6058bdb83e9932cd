"""Answers beside published solutions: how many agree, and which do not.

Rows are those of the result table; their column `expected` is the published verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from ltlpipe.verdict.verdict import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Differing(NamedTuple):
    """An answer that is not the published one."""

    system: str
    formula_id: str
    verdict: str
    expected: str

    def __str__(self) -> str:
        """Name the property and both verdicts in a line."""
        system = " ".join(PurePath(file).name for file in self.system.split(" "))
        return (
            f"{system}, property {self.formula_id}: {self.verdict}, "
            f"published: {self.expected}"
        )


@dataclass
class Agreement:
    """Compares rows with their published verdicts."""

    n_published: int = 0  # rows with a published verdict
    n_agreeing: int = 0
    places: list[tuple[int, Differing]] = field(default_factory=list)  # in any order

    def add(self, row: Mapping[str, Any], number: int = 0) -> None:
        """Take a row; `number` is its place among those that differ."""
        expected, verdict = row.get("expected"), row["verdict"]
        if expected is None:
            return
        self.n_published += 1
        if verdict == expected:
            self.n_agreeing += 1
        elif verdict != UNKNOWN:
            about = Differing(row["system"], row["formula_id"], verdict, expected)
            self.places.append((number, about))

    @property
    def differing(self) -> list[Differing]:
        """The answers that are not the published ones, by their places."""
        return [about for _, about in sorted(self.places, key=lambda place: place[0])]

    @property
    def n_answers(self) -> int:
        """The number of rows with a published and a computed verdict."""
        return self.n_agreeing + len(self.places)

    def __str__(self) -> str:
        """Say how many answers agree, and how many are missing."""
        text = (
            f"{self.n_agreeing} of {self.n_answers} answers agree with the published "
            "solutions"
        )
        missing = self.n_published - self.n_answers
        return f"{text}; {missing} more not decided" if missing else text
