"""Guards of all rules: which rules can follow each other, and which fire in a state.

Rule s can follow a rule if no literal of its guard is false for all that is known
behind it: the regions in which each variable can be.

`regions_before` carries regions from rule to rule until nothing grows.  It tells more
than what is known of all states: of a variable that a rule neither tests nor changes,
the regions in which the rules before it can have left it.

A decision tree tells which rules may fire in a state, by the values of few variables.
A node splits by the variable that leaves the fewest rules in a child, in the mean over
regions; a rule without a literal on it goes to all children.  Where no variable leaves
clearly fewer, or few rules are left, is a leaf.
"""

from __future__ import annotations

from collections import deque
from itertools import starmap
from typing import TYPE_CHECKING, NamedTuple

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
        literals = list(map(rules.masks, numbers))
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
        yield from ticks.worked(work)
        if known is not None:
            ranges.run(rules.rules[k].body, known)
            spread(masks_of(known))
    return before


_FEW = 3  # rules of a leaf that are not split
_GAIN = 0.8  # rules that a split may leave, as a part of those before it
_ROOM = 40  # times as many entries as rules that all leaves may have


class _Guarded(NamedTuple):
    """A rule that can fire, by its number, and its literals."""

    rule: int
    masks: dict[int, int]  # regions, by variable


def decision_tree(ranges: Ranges, numbers: Sequence[int]) -> Job[np.ndarray]:
    """Return the tree for rules in order, as the kernel reads it."""
    builder = _Builder(ranges, numbers)
    candidates = list(starmap(_Guarded, enumerate(map(ranges.rules.masks, numbers))))
    known = {v: k.mask for v, k in enumerate(ranges.always)}
    yield from builder.node(candidates, known)
    return np.array(builder.tree, dtype=np.int64)


class _Builder:
    """Writes a tree, nodes before their children."""

    def __init__(self, ranges: Ranges, numbers: Sequence[int]) -> None:
        self._rules = ranges.rules
        self._numbers = numbers
        self._left = _ROOM * (len(numbers) + 25)
        self._ticks = Ticks(ANALYSING, 0.5)
        self.tree: list[int] = []

    def node(self, candidates: list[_Guarded], known: dict[int, int]) -> Job[None]:
        """Write the node of the rules that are possible where values are known."""
        split = None
        if len(candidates) > _FEW and self._left > 0:
            split = self._best(candidates, known)
            yield from self._ticks.worked(len(candidates) * 8)
        if split is None:
            self._leaf(candidates, known)
            return
        cuts, groups = self._children(split, candidates, known)
        self.tree += [split, len(groups), *cuts]
        place = len(self.tree)
        self.tree += [0] * len(groups)
        for k, (mask, chosen) in enumerate(groups):
            self.tree[place + k] = len(self.tree)
            yield from self.node(chosen, {**known, split: mask})

    def _best(self, candidates: list[_Guarded], known: dict[int, int]) -> int | None:
        """Return the variable to split by, None if none is worth it."""
        counts: dict[int, int] = {}  # pairs of a rule and a region that it allows
        named: dict[int, int] = {}
        for candidate in candidates:
            for variable, mask in candidate.masks.items():
                allowed = (mask & known[variable]).bit_count()
                counts[variable] = counts.get(variable, 0) + allowed
                named[variable] = named.get(variable, 0) + 1
        best, fewest = None, _GAIN * len(candidates)
        for variable, count in counts.items():
            n_regions = known[variable].bit_count()
            mean = count / n_regions + len(candidates) - named[variable]
            if n_regions > 1 and mean < fewest:
                best, fewest = variable, mean
        return best

    def _children(
        self, variable: int, candidates: list[_Guarded], known: dict[int, int]
    ) -> tuple[list[int], list[tuple[int, list[_Guarded]]]]:
        """Return the cuts between children, and for each its regions and rules."""
        changes: set[int] = set()  # regions that begin another child
        for candidate in candidates:
            mask = candidate.masks.get(variable)
            if mask is not None:
                edges = (mask ^ mask << 1) & (
                    (2 << len(self._rules.cuts[variable])) - 1
                )
                while edges:
                    bit = edges & -edges
                    edges ^= bit
                    changes.add(bit.bit_length() - 1)
        starts = sorted(changes | {0})
        n_regions = 1 + len(self._rules.cuts[variable])
        cuts, groups = [], []
        for first, last in zip(starts, [*starts[1:], n_regions], strict=True):
            mask = ((1 << last) - (1 << first)) & known[variable]
            chosen = [
                c for c in candidates if mask and c.masks.get(variable, mask) & mask
            ]
            if first:
                cuts.append(self._rules.cuts[variable][first - 1])
            groups.append((mask, chosen))
        return cuts, groups

    def _leaf(self, candidates: list[_Guarded], known: dict[int, int]) -> None:
        self.tree += [-1, len(candidates)]
        self._left -= len(candidates)
        for rule, masks in candidates:
            literals: list[int] = []
            spans = dict(self._rules.rules[self._numbers[rule]].literals)
            for variable, mask in masks.items():
                if known[variable] & ~mask:
                    bounds = [x for span in spans[variable] for x in span]
                    literals += [variable, len(spans[variable]), *bounds]
            self.tree += [rule, len(literals), *literals]
