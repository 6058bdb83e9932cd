"""A ring of components that work alone and meet one neighbour at a time.

A scaling family in which most transitions are internal: component i of
`ring` (n) leaves its initial state for good by ``enter<i>``, then goes up or
down through a diamond (``up<i>``, ``down<i>``, ``upjoin<i>``, ``downjoin<i>``)
and begins again after a meeting with its left neighbour (label ``l<i>``, shared
with component i-1) or with its right one (``l<i+1>``).

Local transitions alone lead to every combination of the five local states, so
5^n states can be reached.  They have n 5^n local transitions (five in every
component, whatever the others do) and n 5^(n-2) meetings.

Acceptance: the initial state alone accepts, and no component comes back to it,
so no run is accepting.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6 and
Fig. 11, right.

Differences from the source: the text defines neither the diamond's states nor the
accepting states; the choices above are ours.
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network


def ring(n: int) -> Network:
    """Build a ring of `n` components.

    Parameters
    ----------
    n : int
        Number of components, at least 3.

    Returns
    -------
    Network
        n components with acceptance; no run of it is accepting.

    Raises
    ------
    UnsupportedError
        `n` is less than 3, so that the left and the right neighbour are one.

    Examples
    --------
    >>> ring(3).components[2].labels[-2:]
    ('l2', 'l0')
    """
    if n < 3:
        raise UnsupportedError(f"{n} components make no ring: use n >= 3")
    return Network([_component(i, (i + 1) % n) for i in range(n)], name=f"ring-{n}")


def _component(i: int, neighbour: int) -> LTS:
    return LTS.from_transitions(
        [
            (0, f"enter{i}", 1),
            (1, f"up{i}", 2),
            (1, f"down{i}", 3),
            (2, f"upjoin{i}", 4),
            (3, f"downjoin{i}", 4),
            (4, f"l{i}", 1),
            (4, f"l{neighbour}", 1),
        ],
        accepting=[0],
        name=f"component{i}",
    )
