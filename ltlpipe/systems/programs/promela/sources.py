"""A preprocessed text, and the places in the files where it comes from."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from ltlpipe.systems.programs.promela.syntax import Place

SEPARATOR = "\x02"
"""Stands between tokens that expansion has brought side by side."""


class Preprocessed(NamedTuple):
    """A text without directives and macros."""

    text: str
    starts: list[int]  # offsets where the pieces of the text begin
    places: list[Place]  # of these pieces
    macros: dict[str, str]  # what macros without parameters stand for at the end

    def place(self, offset: int) -> Place:
        """Return the place of a character."""
        piece = bisect_right(self.starts, offset) - 1
        file, line, column = self.places[piece]
        return Place(file, line, column + offset - self.starts[piece])
