"""Scaling families of symmetric nets, with numbers of markings that are known.

`coloured_dining` (n): n philosophers at a round table, who take their two forks one
after the other, in any order, and put both back.  Each fork is free, or held by the
philosopher to the left or to the right, and nothing else is ruled out: 3^n markings,
two of them dead.

`coloured_token_ring` (n): Dijkstra's self-stabilising ring of n + 1 machines with
numbers from 0 to n.  The first one may count on when it has the number of the last one;
every other one may take over the number of the one before, if it differs.  In the
beginning machine i has the number i, which is no stable state.

`shared_memory` (n): n processors with a memory each, and one bus.  A processor works,
accesses its own memory, waits for the bus, or accesses the memory of another one by the
bus: 3^n + n (n-1) 3^(n-1) markings.

`coloured_client_server` (n, m): n clients, each of which idles, waits for a server or
is served, by m servers that serve one client at a time: the sum over k of
C(n, k) m!/(m-k)! 2^(n-k) markings.

`coloured_peers` (n): n peers that talk in pairs.  A peer without a partner invites
another one, which may be busy itself; an invitation is withdrawn, or taken up by a peer
that is at rest, and a talk ends for both: the sum over k of n!/(k! (n-2k)!) n^(n-2k)
markings.  Peers remember whom they have invited.

Sources: the first three are the nets Philosophers, TokenRing and SharedMemory of the
Model Checking Contest (https://mcc.lip6.fr), built anew; E. W. Dijkstra,
"Self-stabilizing Systems in Spite of Distributed Control", CACM 17(11), 1974,
pp. 643-644, Sec. "Solution with K-state machines".
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    ENUMERATION,
    TRUE,
    AllOf,
    Bound,
    ColouredNet,
    ColouredPlace,
    ColouredTransition,
    Comparison,
    Constant,
    Every,
    Guard,
    Multiset,
    Sort,
    Sum,
    Tokens,
    Variable,
)

Entry = Bound | Constant | Every
Sides = tuple[dict[str, Multiset], dict[str, Multiset], Guard]

_DOT = Sort("dot", "dot", DOT, ("dot",), ("dot",))


def coloured_dining(n: int) -> ColouredNet:
    """Build the symmetric net of `n` dining philosophers.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    people = _enumeration("philosopher", n, kind=CYCLIC)
    x, right = _one(Bound(0, 0, n)), _one(Bound(0, 1, n))
    moves: dict[str, Sides] = {
        "takeleft": ({"think": x, "fork": x}, {"left": x}, TRUE),
        "takeright": ({"think": x, "fork": right}, {"right": x}, TRUE),
        "thenright": ({"left": x, "fork": right}, {"eat": x}, TRUE),
        "thenleft": ({"right": x, "fork": x}, {"eat": x}, TRUE),
        "release": (
            {"eat": x},
            {"think": x, "fork": Sum((x, right))},
            TRUE,
        ),
    }
    places: dict[str, tuple[tuple[int, ...], Multiset]] = {
        "think": ((0,), _one(Every(n))),
        "left": ((0,), EMPTY),
        "right": ((0,), EMPTY),
        "eat": ((0,), EMPTY),
        "fork": ((0,), _one(Every(n))),
    }
    return _net(f"coloured-dining-{n}", [people], {"x": 0}, places, moves)


def coloured_token_ring(n: int) -> ColouredNet:
    """Build the symmetric net of a ring of `n` + 1 machines.

    Raises
    ------
    UnsupportedError
        `n` is less than 1.
    """
    if n < 1:
        raise UnsupportedError(f"{n + 1} machines make no ring: use n >= 1")
    size = n + 1
    machines = _enumeration("machine", size, kind=CYCLIC, first=0)
    x, before = Bound(0, 0, size), Bound(0, n, size)
    own, other = Bound(1, 0, size), Bound(2, 0, size)
    first, last = Constant(0), Constant(n)
    is_other = AllOf((Comparison("!=", x, first), Comparison("!=", own, other)))
    moves: dict[str, Sides] = {
        "count": (
            {"state": Sum((_one(first, own), _one(last, own)))},
            {"state": Sum((_one(first, Bound(1, 1, size)), _one(last, own)))},
            TRUE,
        ),
        "follow": (
            {"state": Sum((_one(x, own), _one(before, other)))},
            {"state": Sum((_one(x, other), _one(before, other)))},
            is_other,
        ),
    }
    initial = Sum(tuple(_one(Constant(k), Constant(k)) for k in range(size)))
    places: dict[str, tuple[tuple[int, ...], Multiset]] = {"state": ((0, 0), initial)}
    name = f"coloured-token-ring-{n}"
    return _net(name, [machines], {"x": 0, "own": 0, "other": 0}, places, moves)


def shared_memory(n: int) -> ColouredNet:
    """Build the symmetric net of `n` processors with memories, and a bus.

    Raises
    ------
    UnsupportedError
        `n` is less than 1.
    """
    if n < 1:
        raise UnsupportedError(f"{n} processors: use n >= 1")
    processors = _enumeration("processor", n)
    x, y = Bound(0, 0, n), Bound(1, 0, n)
    one, memory, bus = _one(x), _one(y), _one(Constant(0))
    both = _one(x, y)
    differ = Comparison("!=", x, y)
    moves: dict[str, Sides] = {
        "begin_own": ({"active": one}, {"own": one}, TRUE),
        "end_own": ({"own": one, "memory": one}, {"active": one, "memory": one}, TRUE),
        "request": ({"active": one}, {"queue": one}, TRUE),
        "begin_other": (
            {"queue": one, "memory": memory, "bus": bus},
            {"other": both},
            differ,
        ),
        "end_other": (
            {"other": both},
            {"active": one, "memory": memory, "bus": bus},
            TRUE,
        ),
    }
    places: dict[str, tuple[tuple[int, ...], Multiset]] = {
        "active": ((0,), _one(Every(n))),
        "own": ((0,), EMPTY),
        "queue": ((0,), EMPTY),
        "other": ((0, 0), EMPTY),
        "memory": ((0,), _one(Every(n))),
        "bus": ((1,), bus),
    }
    name = f"shared-memory-{n}"
    return _net(name, [processors, _DOT], {"x": 0, "y": 0}, places, moves)


def coloured_client_server(n: int, m: int) -> ColouredNet:
    """Build the symmetric net of `n` clients and `m` servers.

    Raises
    ------
    UnsupportedError
        There is no client or no server.
    """
    if n < 1 or m < 1:
        raise UnsupportedError(f"{n} clients, {m} servers: use one of each at least")
    sorts = [_enumeration("client", n), _enumeration("server", m)]
    c, s = Bound(0, 0, n), Bound(1, 0, m)
    moves: dict[str, Sides] = {
        "ask": ({"idle": _one(c)}, {"waiting": _one(c)}, TRUE),
        "serve": (
            {"waiting": _one(c), "free": _one(s)},
            {"served": _one(c, s)},
            TRUE,
        ),
        "answer": ({"served": _one(c, s)}, {"idle": _one(c), "free": _one(s)}, TRUE),
    }
    places: dict[str, tuple[tuple[int, ...], Multiset]] = {
        "idle": ((0,), _one(Every(n))),
        "waiting": ((0,), EMPTY),
        "served": ((0, 1), EMPTY),
        "free": ((1,), _one(Every(m))),
    }
    name = f"coloured-client-server-{n}-{m}"
    return _net(name, sorts, {"c": 0, "s": 1}, places, moves)


def coloured_peers(n: int) -> ColouredNet:
    """Build the symmetric net of `n` peers.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """
    if n < 2:
        raise UnsupportedError(f"{n} peers: use n >= 2")
    x, y = Bound(0, 0, n), Bound(1, 0, n)
    both, differ = _one(x, y), Comparison("!=", x, y)
    moves: dict[str, Sides] = {
        "invite": ({"rest": _one(x)}, {"inviting": both}, differ),
        "withdraw": ({"inviting": both}, {"rest": _one(x)}, TRUE),
        "accept": ({"inviting": both, "rest": _one(y)}, {"talking": both}, differ),
        "end": ({"talking": both}, {"rest": Sum((_one(x), _one(y)))}, differ),
    }
    places: dict[str, tuple[tuple[int, ...], Multiset]] = {
        "rest": ((0,), _one(Every(n))),
        "inviting": ((0, 0), EMPTY),
        "talking": ((0, 0), EMPTY),
    }
    peer = _enumeration("peer", n)
    return _net(f"coloured-peers-{n}", [peer], {"x": 0, "y": 0}, places, moves)


def _one(*entries: Entry) -> Tokens:
    return Tokens(1, entries)


def _enumeration(name: str, n: int, *, kind: str = ENUMERATION, first: int = 1) -> Sort:
    """Return a sort whose colours are called by numbers."""
    names = tuple(str(k) for k in range(first, first + n))
    return Sort(name, name, kind, tuple(f"{name}{k}" for k in names), names)


def _net(
    name: str,
    sorts: list[Sort],
    variables: dict[str, int],
    places: dict[str, tuple[tuple[int, ...], Multiset]],
    moves: dict[str, Sides],
) -> ColouredNet:
    """Return a net whose nodes are known by their names."""
    numbers = {place: k for k, place in enumerate(places)}
    return ColouredNet(
        name,
        tuple(sorts),
        tuple(Variable(own, own, sort) for own, sort in variables.items()),
        tuple(ColouredPlace(own, own, *about) for own, about in places.items()),
        tuple(
            ColouredTransition(
                move,
                move,
                guard,
                *(
                    tuple((numbers[place], what) for place, what in side.items())
                    for side in sides
                ),
            )
            for move, (*sides, guard) in moves.items()
        ),
    )
