"""Components made of machines, of which neighbours in a chain share labels.

A machine is a closed walk, as in `ltlpipe.families.rers_networks`.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy as np

Rows = list[tuple[int, str, int]]
"""Transitions: source, label, target."""


def together(parts: list[Rows]) -> Rows:
    """Return the transitions of machines in parallel from 0 on, and back to it."""
    have = [{label for _, label, _ in rows} for rows in parts]
    steps: list[dict[int, list[tuple[str, int]]]] = []
    for rows in parts:
        steps.append({})
        for src, label, dst in rows:
            steps[-1].setdefault(src, []).append((label, dst))
    start = (0,) * len(parts)
    number, rows, left = {start: 0}, Rows(), [start]
    for state in left:  # which grows
        for label in sorted(set().union(*have)):
            options = [
                [d for name, d in steps[i][s] if name == label]
                if label in have[i]
                else [s]
                for i, s in enumerate(state)
            ]
            for after in product(*options):
                if after not in number:
                    number[after] = len(number)
                    left.append(after)
                rows.append((number[state], label, number[after]))
    back, before = {0}, 0
    while len(back) > before:
        before = len(back)
        back |= {src for src, _, dst in rows if dst in back}
    kept = {state: k for k, state in enumerate(sorted(back))}
    return [(kept[s], a, kept[d]) for s, a, d in rows if s in back and d in back]


def share_nearby(
    rng: np.random.Generator,
    room: list[int],
    owners: list[int],
    n_labels: int,
    reach: int,
) -> list[list[int]]:
    """Return the machines that share labels: `n_labels` common ones, and inner ones.

    Each machine of a component has an inner label in common with the next one.  The
    first common labels connect components with those before.
    """
    n, left = 1 + owners[-1], list(room)
    inner = [[k, k + 1] for k in range(len(owners) - 1) if owners[k] == owners[k + 1]]
    for pair in inner:
        for k in pair:
            left[k] -= 1
    pairs = [(i, i + 1) for i in range(n - 1)]
    shared: list[list[int]] = []
    failures = 0
    while len(shared) < n_labels:
        if pairs:
            i, j = pairs.pop(0)
        else:
            i = int(rng.integers(n))
            j = i + int(rng.integers(1, reach, endpoint=True))
        ends = [[k for k, o in enumerate(owners) if o == c and left[k]] for c in (i, j)]
        if all(ends):
            chosen = [some(rng, end, 1)[0] for end in ends]
            for k in chosen:
                left[k] -= 1
            shared.append(chosen)
        else:
            failures += 1
        if failures > 20 * (n + n_labels):
            raise UnsupportedError(
                f"{n_labels} synchronisations have no room on the {sum(room)}"
                f" transitions of these components: use at most {len(shared)}"
            )
    return [*shared, *inner]


def some(rng: np.random.Generator, components: list[int], size: int) -> list[int]:
    """Return so many of some components, in random order."""
    return [components[k] for k in rng.choice(len(components), size, replace=False)]
