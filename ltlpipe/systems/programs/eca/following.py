"""Which rules can follow each other, and what is known of regions on the way to each.

Rule s can follow a rule if no literal of its guard is false for all that is known
behind it: the regions in which each variable can be.

`regions_before` carries regions from rule to rule until nothing grows.  It tells more
than what is known of all states: of a variable that a rule neither tests nor changes,
the regions in which the rules before it can have left it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.ranges import ANALYSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.ranges import Known, Ranges
    from ltlpipe.systems.programs.eca.rules import Rules

_CLASSES = 64  # regions, or groups of neighbouring ones, that rules are told by

Key = tuple[int, ...]


class Following:
    """The guards of some rules as tables, in which those that can be next are found.

    Attributes
    ----------
    columns : list of int
        The variables with a literal, ascending.
    possible, full : uint64[n_rules, n_columns]
        Regions that a literal allows, and those of which it allows all.
    """

    def __init__(self, rules: Rules, numbers: Sequence[int]) -> None:
        self._rules = rules
        literals = [
            {v: rules.within(v, spans) for v, spans in rules.rules[k].literals}
            for k in numbers
        ]
        self.columns = sorted({variable for own in literals for variable in own})
        place = {variable: k for k, variable in enumerate(self.columns)}
        shape = len(literals), len(self.columns)
        every = (1 << _CLASSES) - 1
        self.possible = np.full(shape, every, dtype=np.uint64)
        self.full = np.full(shape, every, dtype=np.uint64)
        for row, own in enumerate(literals):
            for variable, mask in own.items():
                some, filled = self._classed(variable, mask)
                self.possible[row, place[variable]] = some
                self.full[row, place[variable]] = filled

    def key(self, masks: Sequence[int]) -> Key:
        """Return what tells the rules that can be next, of regions by variable."""
        return tuple(self._classed(v, masks[v])[0] for v in self.columns)

    def behind(self, key: Key) -> np.ndarray:
        """Return the rules that can be next, as indices."""
        masks = np.array(key, dtype=np.uint64)
        found: np.ndarray = ((self.possible & masks) != 0).all(axis=1)
        return np.flatnonzero(found)

    def undecided(self, key: Key, following: np.ndarray) -> np.ndarray:
        """Return the variables whose literals, in some rules, are not the same always.

        As indices.
        """
        masks = np.array(key, dtype=np.uint64)
        told: np.ndarray = ((~self.full[following] & masks) != 0).any(axis=0)
        columns = np.array(self.columns, dtype=np.int64)
        found: np.ndarray = columns[told]
        return found

    def _classed(self, variable: int, mask: int) -> tuple[int, int]:
        """Return the groups of regions that a set meets, and those that it contains."""
        n_regions = 1 + len(self._rules.cuts[variable])
        if n_regions <= _CLASSES:
            return mask, mask
        some, lacking = 0, 0
        for region in range(n_regions):
            bit = 1 << (region * _CLASSES // n_regions)
            if mask >> region & 1:
                some |= bit
            else:
                lacking |= bit
        return some, some & ~lacking


def masks_of(known: Sequence[Known]) -> list[int]:
    """Return the regions of what is known of each variable."""
    return [each.mask for each in known]


def regions_before(ranges: Ranges) -> Job[dict[int, list[int]]]:
    """Return the regions by variable in which a rule can begin, for each that can."""
    rules = ranges.rules
    following = Following(rules, range(len(rules.rules)))
    before: dict[int, list[int]] = {}
    behind: dict[Key, list[int]] = {}
    waiting: deque[int] = deque()
    queued: set[int] = set()
    ticks = Ticks(ANALYSING, 0.1)

    def spread(masks: list[int]) -> None:
        key = following.key(masks)
        if key not in behind:
            behind[key] = following.behind(key).tolist()
        for k in behind[key]:
            old = before.get(k)
            new = (
                masks
                if old is None
                else [a | b for a, b in zip(old, masks, strict=True)]
            )
            if new != old:
                before[k] = new
                if k not in queued:
                    queued.add(k)
                    waiting.append(k)

    spread(masks_of(ranges.initial))
    while waiting:
        k = waiting.popleft()
        queued.discard(k)
        known = ranges.before(k, before[k])
        work = 300 + 10 * len(rules.rules[k].body) + following.possible.size / 20
        if ticks.over(work):
            yield ticks.progress
        if known is not None:
            ranges.run(rules.rules[k].body, known)
            spread(masks_of(known))
    return before
