"""A net as the arrays that linear programs are made of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ltlpipe.systems.nets.concurrency import MOST_PLACES, concurrency, ended

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence


class Arcs(NamedTuple):
    """The arcs on one side of all transitions, as those of `systems.nets`."""

    first: np.ndarray  # int64[n_transitions + 1]
    place: np.ndarray  # int64[m]
    weight: np.ndarray  # int64[m], positive


class Structure:
    """A net as arrays: its initial marking and its arcs.

    `exclusive` are sets of places that might never have two tokens together;
    `excludes` says whether pairs that never have may be used without a proof.
    """

    def __init__(
        self,
        initial: Sequence[int],
        pre: Arcs,
        post: Arcs,
        exclusive: Sequence[Collection[int]] = (),
        *,
        excludes: bool = False,
    ) -> None:
        self.exclusive, self._excludes = exclusive, excludes
        self.initial = [int(tokens) for tokens in initial]
        self.pre, self.post = pre, post
        self.n_transitions = len(pre.first) - 1
        self.inputs = [_of(pre, t) for t in range(self.n_transitions)]
        self.effects = [self._effect(t) for t in range(self.n_transitions)]

    def without(self, transitions: Collection[int]) -> Structure:
        """Return the net without some transitions."""
        kept = np.ones(self.n_transitions, dtype=np.bool_)
        kept[list(transitions)] = False
        sides = []
        for arcs in (self.pre, self.post):
            sizes = np.diff(arcs.first)
            chosen = np.repeat(kept, sizes)
            first = np.concatenate([[0], np.cumsum(sizes[kept])])
            sides.append(Arcs(first, arcs.place[chosen], arcs.weight[chosen]))
        return Structure(self.initial, *sides, excludes=self._excludes)

    @cached_property
    def exclusive_pairs(self) -> np.ndarray | None:
        """bool[n_places, n_places], pairs with one token at most; None if not found."""
        if not self._excludes or len(self.initial) > MOST_PLACES:
            return None
        outputs = [_of(self.post, t) for t in range(self.n_transitions)]
        moves = list(zip(self.inputs, outputs, strict=True))
        found = ended(concurrency(self.initial, moves))
        return None if found is None else found.exclusive()

    @cached_property
    def arcs(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """The transitions and places of arcs that take, and of those that put."""
        numbers = np.arange(self.n_transitions)
        return tuple(
            (np.repeat(numbers, np.diff(arcs.first)), arcs.place)
            for arcs in (self.pre, self.post)
        )

    def _effect(self, transition: int) -> dict[int, int]:
        change = {place: -w for place, w in self.inputs[transition].items()}
        for place, weight in _of(self.post, transition).items():
            change[place] = change.get(place, 0) + weight
        return {place: by for place, by in change.items() if by}


def _of(arcs: Arcs, transition: int) -> dict[int, int]:
    own = slice(int(arcs.first[transition]), int(arcs.first[transition + 1]))
    return dict(zip(arcs.place[own].tolist(), arcs.weight[own].tolist(), strict=True))
