"""Populations of agents that meet two by two: systems that only symmetry makes small.

Any agent can meet any other one, and a meeting changes what both are in.  No step is
internal, every two agents have actions in common, and a group of agents that has been
composed still has to tell its members apart, since each of them can meet each of the
others.  So neither ample sets nor decoupling, factoring or composition make the system
smaller, while agents are interchangeable: what counts is how many are in which state.

`majority` (n): agents vote for A or for B.  Two that are sure and differ cancel each
other out, and are unsure of what they were; who is sure persuades who is unsure of the
opposite.  n // 2 + 1 agents begin as sure of A, the others as sure of B, so some agent
is sure at any time, and all are never unsure at once: `G !tie` holds.  With a agents
for A and b for B there are ::

    sum over k < b of C(a, k) C(b, k) 4^k, plus C(a, b) (4^b - 2^b)

states.

`remainder` (n): agents hold a number from 0 to 2, each 1 in the beginning.  One that
holds something gives it to another one that does, which adds it modulo 3.  So the sum
modulo 3 stays, and all hold 0 at last only if n is divisible by 3: `G !zero` holds iff
it is not.

`species` (n): three species, each of which feeds on the next one and turns what it
catches into its own kind; agent i begins as one of species i modulo 3.  A witness notes
that the third species has died out (``extinct``), which all agents take part in, and
whether it has caught somebody since (``revived``): `G !revived` holds.

Sources: M. Draief and M. Vojnovic, "Convergence Speed of Binary Interval Consensus",
SIAM Journal on Control and Optimization 50(3), 2012, pp. 1087-1109 (majority); D.
Angluin, J. Aspnes, Z. Diamadi, M. J. Fischer and R. Peralta, "Computation in Networks
of Passively Mobile Finite-State Sensors", Distributed Computing 18(4), 2006,
pp. 235-253 (remainders).

Differences from the sources: the global actions `tie`, `zero` and `extinct`, which only
serve to ask for what never happens; agents that agree do not meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.networks.lts import LTS, Network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Steps = Iterator[tuple[int, str, int]]

_SURE_A, _SURE_B, _UNSURE_A, _UNSURE_B = range(4)


def majority(n: int) -> Network:
    """Build `n` agents that find out what most of them want.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.

    Examples
    --------
    >>> majority(3).components[0].labels[:3]
    ('tie', 'cancel1_2', 'win1_2')
    """
    _check(n)

    def steps(i: int, others: Iterable[int]) -> Steps:
        yield _UNSURE_A, "tie", _UNSURE_A
        yield _UNSURE_B, "tie", _UNSURE_B
        for j in others:
            yield _SURE_A, f"cancel{i}_{j}", _UNSURE_A
            yield _SURE_B, f"cancel{j}_{i}", _UNSURE_B
            yield _SURE_A, f"win{i}_{j}", _SURE_A
            yield _UNSURE_B, f"win{j}_{i}", _UNSURE_A
            yield _SURE_B, f"sway{i}_{j}", _SURE_B
            yield _UNSURE_A, f"sway{j}_{i}", _UNSURE_B

    n_for_a = n // 2 + 1
    agents = [
        LTS.from_transitions(
            list(steps(i, _others(i, n))),
            initial=_SURE_A if i <= n_for_a else _SURE_B,
            name=f"agent{i}",
        )
        for i in range(1, n + 1)
    ]
    return Network(agents, name=f"majority-{n}")


def remainder(n: int) -> Network:
    """Build `n` agents that add up what they hold, modulo 3.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """
    _check(n)

    def steps(i: int, others: Iterable[int]) -> Steps:
        yield 0, "zero", 0
        for j in others:
            for given in (1, 2):
                yield given, f"give{given}_{i}_{j}", 0
                for held in (1, 2):
                    yield held, f"give{given}_{j}_{i}", (held + given) % 3

    agents = [
        LTS.from_transitions(list(steps(i, _others(i, n))), initial=1, name=f"agent{i}")
        for i in range(1, n + 1)
    ]
    return Network(agents, name=f"remainder-{n}")


def species(n: int) -> Network:
    """Build `n` agents of three species, and the witness.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """
    _check(n)
    last = 2

    def steps(i: int, others: Iterable[int]) -> Steps:
        for other in range(3):
            if other != last:
                yield other, "extinct", other
        for j in others:
            for own in range(3):
                yield own, f"catch{own}_{i}_{j}", own
                yield (own + 1) % 3, f"catch{own}_{j}_{i}", own

    agents = [
        LTS.from_transitions(
            list(steps(i, _others(i, n))), initial=i % 3, name=f"agent{i}"
        )
        for i in range(1, n + 1)
    ]
    seen, extinct, revived = range(3)
    notes = [(seen, "extinct", extinct), (extinct, "extinct", extinct)]
    notes.append((revived, "revived", revived))
    for i in range(1, n + 1):
        for j in _others(i, n):
            caught = f"catch{last}_{i}_{j}"
            notes += [(seen, caught, seen), (extinct, caught, revived)]
            notes.append((revived, caught, revived))
    witness = LTS.from_transitions(notes, name="witness")
    return Network([*agents, witness], name=f"species-{n}")


def _others(i: int, n: int) -> list[int]:
    return [j for j in range(1, n + 1) if j != i]


def _check(n: int) -> None:
    if n < 2:
        raise UnsupportedError(f"a population of {n} has no meetings: use n >= 2")
