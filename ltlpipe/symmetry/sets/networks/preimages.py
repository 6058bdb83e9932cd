"""Which states before a step may be states of a set.

An action in which many components take part can have come from exponentially many
states.  Those of a set are alike: outside of the members all components are in the
states that its representative tells, and in each block of members as many are in each
state as there.  Sources are chosen member by member, and no further where the set has
no member left in such a state.

Components that remember members (`Symmetry.moved`) are not looked at: what comes out
may still be no state of the set, but it is one wherever there are none of them.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ltlpipe.symmetry.classes.group import Symmetry

Local = tuple[int, ...]


class Preimages:
    """Sources of steps into the states of a set, by what those have in common.

    `local` are the states of the network's components in one state of the set, `blocks`
    tells the block of each member.
    """

    def __init__(self, symmetry: Symmetry, local: Local, blocks: list[int]) -> None:
        self._symmetry = symmetry
        self._blocks = blocks
        inside = {c for member in symmetry.members for c in member}
        inside.update(symmetry.moved)
        self._fixed = {c: s for c, s in enumerate(local) if c not in inside}
        self._known = Counter(self._kind(m, local) for m in range(len(blocks)))

    def completed(
        self, after: Local, sources: Mapping[int, Sequence[int]]
    ) -> Iterator[Local | None]:
        """Yield the states from which a step leads to `after`.

        `sources` has the components that take part, with the states that they may come
        from.  None is yielded where the search for the next one may take long.
        """
        if not all(sources.values()) or any(
            s not in sources.get(c, (after[c],)) for c, s in self._fixed.items()
        ):
            return
        before = list(after)
        for component, state in self._fixed.items():
            before[component] = state
        left = self._known.copy()
        moving = []
        for member, components in enumerate(self._symmetry.members):
            if any(c in sources for c in components):
                moving.append(member)
            else:
                left[self._kind(member, after)] -= 1
        if min(left.values()) < 0:
            return
        others = [c for c in self._symmetry.moved if c in sources]
        for chosen in self._chosen(before, moving, sources, left):
            if not chosen:
                yield None
                continue
            for states in product(*(sources[c] for c in others)):
                for component, state in zip(others, states, strict=True):
                    before[component] = state
                yield tuple(before)

    def _kind(self, member: int, local: Sequence[int]) -> tuple[int, ...]:
        """Return a member's class, block, and what all call the states it is in."""
        canonical = self._symmetry.canonical
        components = self._symmetry.members[member]
        return (
            int(self._symmetry.class_of[member]),
            self._blocks[member],
            *(int(canonical[c][local[c]]) for c in components),
        )

    def _chosen(
        self,
        before: list[int],
        moving: list[int],
        sources: Mapping[int, Sequence[int]],
        left: Counter[tuple[int, ...]],
    ) -> Iterator[bool]:
        """Write sources of members to `before`, in each way that leaves no member over.

        Yields True for each, and False between two steps of the search for it.
        """
        options = [self._options(member, before, sources) for member in moving]
        order = sorted(range(len(moving)), key=lambda k: len(options[k]))
        trail = [iter(options[k]) for k in order[:1]]
        taken: list[tuple[int, ...]] = []
        if not order:
            yield True
            return
        while trail:
            yield False
            depth = len(trail) - 1
            if len(taken) > depth:
                left[taken.pop()] += 1
            option = next((o for o in trail[-1] if left[o[0]] > 0), None)
            if option is None:
                trail.pop()
                continue
            kind, states = option
            left[kind] -= 1
            taken.append(kind)
            for component, state in states:
                before[component] = state
            if depth + 1 < len(order):
                trail.append(iter(options[order[depth + 1]]))
            else:
                yield True

    def _options(
        self, member: int, before: list[int], sources: Mapping[int, Sequence[int]]
    ) -> list[tuple[tuple[int, ...], tuple[tuple[int, int], ...]]]:
        """Return what a member may come from: its kind there, and the states."""
        own = [c for c in self._symmetry.members[member] if c in sources]
        options = []
        local = before.copy()
        for states in product(*(sources[c] for c in own)):
            for component, state in zip(own, states, strict=True):
                local[component] = state
            kind = self._kind(member, local)
            if self._known[kind]:
                options.append((kind, tuple(zip(own, states, strict=True))))
        return options
