"""A scaling family of symmetric nets, and priorities of its clients.

`coloured_client_server` (n, m): n clients, each of which idles, waits
for a server or is served, by m servers that serve one client at a time: the sum over k
of C(n, k) m!/(m-k)! 2^(n-k) markings.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    EMPTY,
    ENUMERATION,
    TRUE,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Constant,
    Every,
    Guard,
    Multiset,
    Sort,
    Tokens,
    Variable,
)
from ltlpipe.systems.propositions.letters import MAX_PROPOSITIONS

ColouredSides = tuple[Mapping[str, Multiset], Mapping[str, Multiset], Guard]


def coloured_client_server(n: int, m: int) -> ColouredNet:
    """Build the symmetric net of `n` clients and `m` servers.

    Raises
    ------
    UnsupportedError
        There is no client or no server.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    c, s = Bound(0, 0, n), Bound(1, 0, m)
    client, server, both = one(c), one(s), one(c, s)
    return coloured_net(
        f"coloured-client-server-{n}-{m}",
        [enumeration("client", n), enumeration("server", m)],
        {"c": 0, "s": 1},
        {
            "idle": ((0,), one(Every(n))),
            "waiting": ((0,), EMPTY),
            "served": ((0, 1), EMPTY),
            "free": ((1,), one(Every(m))),
        },
        {
            "ask": ({"idle": client}, {"waiting": client}, TRUE),
            "serve": ({"waiting": client, "free": server}, {"served": both}, TRUE),
            "answer": ({"served": both}, {"idle": client, "free": server}, TRUE),
        },
    )


def one(*entries: Bound | Constant | Every) -> Tokens:
    """Return one token of these colours."""
    return Tokens(1, entries)


def enumeration(name: str, n: int, *, kind: str = ENUMERATION, first: int = 1) -> Sort:
    """Return a sort whose colours are called by numbers."""
    names = tuple(str(k) for k in range(first, first + n))
    return Sort(name, name, kind, tuple(f"{name}{k}" for k in names), names)


def coloured_net(
    name: str,
    sorts: list[Sort],
    variables: dict[str, int],
    places: dict[str, tuple[tuple[int, ...], Multiset]],
    moves: dict[str, ColouredSides],
) -> ColouredNet:
    """Return a net whose nodes are known by their names."""
    numbers = {place: k for k, place in enumerate(places)}
    transitions = []
    for own, (*sides, guard) in moves.items():
        pre, post = (tuple((numbers[p], x) for p, x in s.items()) for s in sides)
        transitions.append(ColouredTransition(own, own, guard, pre, post))
    return ColouredNet(
        name,
        tuple(sorts),
        tuple(Variable(own, own, sort) for own, sort in variables.items()),
        tuple(ColouredPlace(own, own, *about) for own, about in places.items()),
        tuple(transitions),
    )


def priorities(n: int, m: int) -> str:
    """Return priorities of clients for `coloured_client_server` (n, m), as HOA.

    The net treats all clients alike.  The constraint says which of them goes first:
    client c is served only while no client before it waits.  So the asymmetry concerns
    one transition, and is on the side of the property.

    It has one state.  Its label has a proposition for each client that can be before
    another one, ``waiting.c==1``, and one for each client that can be behind another
    one and each server, ``action=="serve.c.s"``.

    Source: S. Baarir and A. Duret-Lutz, "Emptiness Check of Powerset Büchi Automata
    using Inclusion Tests", technical report 2006/003, LIP6, Sec. 6.4 (asymmetries as
    constraints) and its introduction (clients that differ in priority when they access
    the server).

    Raises
    ------
    UnsupportedError
        There is no client or no server, or so many that a property cannot name them.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    served = list(product(range(2, n + 1), range(1, m + 1)))
    n_propositions = n - 1 + len(served)
    if n_propositions > MAX_PROPOSITIONS:
        raise UnsupportedError(
            f"priorities of {n} clients and {m} servers have {n_propositions} "
            f"propositions, the limit is {MAX_PROPOSITIONS}: use fewer"
        )
    names = [f"waiting.{c}==1" for c in range(1, n)]
    names += [f'action==\\"serve.{c}.{s}\\"' for c, s in served]
    rules = []
    for client in range(2, n + 1):
        own = [n - 1 + k for k, (c, _) in enumerate(served) if c == client]
        sides = ("&".join(f"!{k}" for k in some) for some in (own, range(client - 1)))
        rules.append("(({})|({}))".format(*sides))
    propositions = " ".join([str(n_propositions), *(f'"{name}"' for name in names)])
    return f"""\
HOA: v1
name: "client c is served while none of 1 to c - 1 waits, {n} clients"
States: 1
Start: 0
AP: {propositions}
acc-name: all
Acceptance: 0 t
--BODY--
State: 0
[{"&".join(rules) or "t"}] 0
--END--
"""
