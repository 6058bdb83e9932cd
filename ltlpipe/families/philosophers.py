"""Dining philosophers who take and release their forks with one label each.

A scaling family: `philosophers` (n) has 2n components, n philosophers and n
forks in the order philosopher 0, fork 0, philosopher 1, fork 1, and so on, so
that components which share a label lie close together.  Fork i lies between
philosopher i, whose left fork it is, and philosopher i+1.

A philosopher's six states, with the step that leaves each:

====== ======= ===================
state  holds   step
====== ======= ===================
0      nothing ``lf<i>`` takes left
1      left    ``rf<i>`` takes right
2      both    ``eat<i>``, local
3      both    ``lf<i>`` releases left
4      right   ``rf<i>`` releases right
5      nothing ``think<i>``, local
====== ======= ===================

Every fork has its two philosophers' labels and is free (0), held by the
philosopher on whose left it lies (1), or held by the other one (2).

The local states of the philosophers decide those of the forks, and the
configurations in which no fork is held twice are counted by going round the
table: there are trace([[3, 3], [2, 1]]^n) of them, with a row or column for a
fork that is free for the next philosopher and one for a fork that is not.  All but one
are reachable: before all philosophers hold only the right fork (state 4), the last one
would hold two forks and the others one each, n+1 in total. That leaves 21 states for n
= 2, 216,993 for n = 8 and 4,683,381 for n = 10; one of them, all philosophers with just
their left forks, is a deadlock.

Acceptance: a philosopher accepts while it holds both forks and has eaten, a
fork while it is held.  All philosophers would need 2n forks, so no run is
accepting, though each component alone has accepting runs.

Source: D. Gnad, J. Eisenhut, A. Lluch Lafuente and J. Hoffmann, "Model
Checking omega-Regular Properties with Decoupled Search", CAV 2021, Sec. 6 and
Fig. 11, right.

Differences from the source: the text does not define the accepting states; the choice
above is ours.
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network


def philosophers(n: int) -> Network:
    """Build the network of `n` dining philosophers and their `n` forks.

    Parameters
    ----------
    n : int
        Number of philosophers, at least 2.

    Returns
    -------
    Network
        2n components with acceptance; no run of it is accepting.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.

    Examples
    --------
    >>> [component.name for component in philosophers(2).components]
    ['philosopher0', 'fork0', 'philosopher1', 'fork1']
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    components = []
    for i in range(n):
        components += [_philosopher(i), _fork(i, (i + 1) % n)]
    return Network(components, name=f"philosophers-{n}")


def _philosopher(i: int) -> LTS:
    left, right = f"lf{i}", f"rf{i}"
    steps = [left, right, f"eat{i}", left, right, f"think{i}"]
    return LTS.from_transitions(
        [(state, label, (state + 1) % 6) for state, label in enumerate(steps)],
        accepting=[3],
        name=f"philosopher{i}",
    )


def _fork(i: int, neighbour: int) -> LTS:
    """Build fork `i`: left fork of philosopher `i`, right one of `neighbour`."""
    left, right = f"lf{i}", f"rf{neighbour}"
    return LTS.from_transitions(
        [(0, left, 1), (1, left, 0), (0, right, 2), (2, right, 0)],
        accepting=[1, 2],
        name=f"fork{i}",
    )
