"""Decision trees: which rules may fire in a state, by the values of few variables.

A node splits by the variable that leaves the fewest rules in a child, in the mean over
regions; a rule without a literal on it goes to all children.  Where no variable leaves
clearly fewer, or few rules are left, is a leaf.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.runtime.ticks import Ticks
from ltlpipe.systems.programs.eca.ranges import ANALYSING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ltlpipe.runtime.jobs import Job
    from ltlpipe.systems.programs.eca.liveness import Behaviour
    from ltlpipe.systems.programs.eca.ranges import Ranges

_FEW = 3  # rules of a leaf that are not split
_GAIN = 0.8  # rules that a split may leave, as a part of those before it
_ROOM = 40  # times as many entries as rules that all leaves may have


class _Guarded(NamedTuple):
    """A rule that can fire, by its number, and its literals."""

    rule: int
    masks: dict[int, int]  # regions, by variable


def decision_tree(ranges: Ranges, behaviours: Sequence[Behaviour]) -> Job[np.ndarray]:
    """Return the tree for rules in order, as the kernel reads it."""
    builder = _Builder(ranges, behaviours)
    candidates = [
        _Guarded(
            k,
            {
                variable: ranges.rules.within(variable, spans)
                for variable, spans in ranges.rules.rules[b.number].literals
            },
        )
        for k, b in enumerate(behaviours)
    ]
    known = {v: k.mask for v, k in enumerate(ranges.always)}
    yield from builder.node(candidates, known)
    return np.array(builder.tree, dtype=np.int64)


class _Builder:
    """Writes a tree, nodes before their children."""

    def __init__(self, ranges: Ranges, behaviours: Sequence[Behaviour]) -> None:
        self._rules = ranges.rules
        self._behaviours = behaviours
        self._left = _ROOM * (len(behaviours) + 25)
        self._ticks = Ticks(ANALYSING, 0.5)
        self.tree: list[int] = []

    def node(self, candidates: list[_Guarded], known: dict[int, int]) -> Job[None]:
        """Write the node of the rules that are possible where values are known."""
        split = None
        if len(candidates) > _FEW and self._left > 0:
            split = self._best(candidates, known)
            if self._ticks.over(len(candidates) * 8):
                yield self._ticks.progress
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
            spans = dict(self._rules.rules[self._behaviours[rule].number].literals)
            for variable, mask in masks.items():
                if known[variable] & ~mask:
                    bounds = [x for span in spans[variable] for x in span]
                    literals += [variable, len(spans[variable]), *bounds]
            self.tree += [rule, len(literals), *literals]
