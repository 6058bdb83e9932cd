"""Scaling families of nets, with numbers of markings that are known.

`dining` (n): n philosophers at a round table; philosopher i takes fork i, then fork
i+1, and gives both back.  Around the table, the right neighbour of an eating
philosopher thinks, and all other pairs are possible: there are trace([[1, 1, 1], [1, 1,
1], [1, 0, 0]]^n) markings (6 for n = 2, 14 for n = 3), one of them dead.

`token_ring` (n): n processes in a ring that pass a token on.  A process may request its
critical section at any time; with the token it enters if it has requested, and
otherwise passes the token on.  One process has the token and is in one of three states,
the others in one of two: 3 n 2^(n-1) markings.  A waiting process eventually enters,
since between two entries of a process every other one can request only once.

`kanban` (cells, cards): a production line.  A part takes a card of a cell to be
worked on there and gives it back when it moves on.  Each card of a cell is free, in use
or finished: C(cards+2, 2)^cells markings.  With a `batch` parts arrive so many at a
time, so that cards of the first cell are taken by an arc of that weight.

Symmetric nets:

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

Sources: the first three symmetric nets are the nets Philosophers, TokenRing and
SharedMemory of the Model Checking Contest (https://mcc.lip6.fr), built anew; E. W.
Dijkstra, "Self-stabilizing Systems in Spite of Distributed Control", CACM 17(11), 1974,
pp. 643-644, Sec. "Solution with K-state machines".

"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

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
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.propositions.letters import MAX_PROPOSITIONS

Sides = tuple[dict[str, int], dict[str, int]]
"""Tokens taken and put, by places."""

ColouredSides = tuple[Mapping[str, Multiset], Mapping[str, Multiset], Guard]


def _net(name: str, tokens: dict[str, int], moves: dict[str, Sides]) -> PetriNet:
    """Return a net, given its places by name."""
    numbers = {place: k for k, place in enumerate(tokens)}
    transitions = [
        Transition(move, move, *({numbers[p]: w for p, w in s.items()} for s in sides))
        for move, sides in moves.items()
    ]
    places = [Place(place, place, n) for place, n in tokens.items()]
    return PetriNet(places, transitions, name=name)


def dining(n: int) -> PetriNet:
    """Build the net of `n` dining philosophers.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    tokens: dict[str, int] = {}
    moves: dict[str, Sides] = {}
    for i in range(n):
        think, left, eat = f"think{i}", f"left{i}", f"eat{i}"
        first, second = f"fork{i}", f"fork{(i + 1) % n}"
        tokens |= {think: 1, left: 0, eat: 0, first: 1}
        moves[f"takeleft{i}"] = {think: 1, first: 1}, {left: 1}
        moves[f"takeright{i}"] = {left: 1, second: 1}, {eat: 1}
        moves[f"release{i}"] = {eat: 1}, {think: 1, first: 1, second: 1}
    return _net(f"dining-{n}", tokens, moves)


def token_ring(n: int) -> PetriNet:
    """Build the net of `n` processes that pass a token round.

    Raises
    ------
    UnsupportedError
        `n` is less than 2.
    """
    if n < 2:
        raise UnsupportedError(f"{n} processes make no ring: use n >= 2")
    tokens: dict[str, int] = {}
    moves: dict[str, Sides] = {}
    for i in range(n):
        idle, wait, critical, token = (
            f"{kind}{i}" for kind in ("idle", "wait", "critical", "token")
        )
        following = f"token{(i + 1) % n}"
        tokens |= {idle: 1, wait: 0, critical: 0, token: int(i == 0)}
        moves[f"ask{i}"] = {idle: 1}, {wait: 1}
        moves[f"enter{i}"] = {wait: 1, token: 1}, {critical: 1}
        moves[f"leave{i}"] = {critical: 1}, {idle: 1, following: 1}
        moves[f"pass{i}"] = {idle: 1, token: 1}, {idle: 1, following: 1}
    return _net(f"token-ring-{n}", tokens, moves)


def kanban(cells: int, cards: int, batch: int = 1) -> PetriNet:
    """Build the net of a line of `cells` with `cards` each.

    Parameters
    ----------
    cells, cards : int
        At least 1.
    batch : int
        Parts that arrive at a time, 1 to `cards`.

    Raises
    ------
    UnsupportedError
        A number is out of its range.
    """
    if cells < 1 or not 1 <= batch <= cards:
        raise UnsupportedError(
            f"{cells} cells with {cards} cards, {batch} parts at a time:"
            " use at least one cell and as many cards as parts"
        )
    tokens: dict[str, int] = {}
    for i in range(cells):
        tokens |= {f"free{i}": cards, f"work{i}": 0, f"done{i}": 0}
    moves: dict[str, Sides] = {"arrive": ({"free0": batch}, {"work0": batch})}
    for i in range(cells):
        moves[f"finish{i}"] = {f"work{i}": 1}, {f"done{i}": 1}
    for i in range(1, cells):
        taken = {f"done{i - 1}": 1, f"free{i}": 1}
        moves[f"move{i}"] = taken, {f"free{i - 1}": 1, f"work{i}": 1}
    moves["ship"] = {f"done{cells - 1}": 1}, {f"free{cells - 1}": 1}
    return _net(f"kanban-{cells}-{cards}", tokens, moves)


def coloured_dining(n: int) -> ColouredNet:
    """Build the symmetric net of `n` dining philosophers.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    x, right, all_ = _one(Bound(0, 0, n)), _one(Bound(0, 1, n)), _one(Every(n))
    return _coloured_net(
        f"coloured-dining-{n}",
        [_enumeration("philosopher", n, kind=CYCLIC)],
        {"x": 0},
        {
            "think": ((0,), all_),
            "left": ((0,), EMPTY),
            "right": ((0,), EMPTY),
            "eat": ((0,), EMPTY),
            "fork": ((0,), all_),
        },
        {
            "takeleft": ({"think": x, "fork": x}, {"left": x}, TRUE),
            "takeright": ({"think": x, "fork": right}, {"right": x}, TRUE),
            "thenright": ({"left": x, "fork": right}, {"eat": x}, TRUE),
            "thenleft": ({"right": x, "fork": x}, {"eat": x}, TRUE),
            "release": ({"eat": x}, {"think": x, "fork": Sum((x, right))}, TRUE),
        },
    )


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
    x, before = Bound(0, 0, size), Bound(0, n, size)
    own, other = Bound(1, 0, size), Bound(2, 0, size)
    first, last = Constant(0), _one(Constant(n), own)
    counted, previous = _one(first, Bound(1, 1, size)), _one(before, other)
    is_other = AllOf((Comparison("!=", x, first), Comparison("!=", own, other)))
    initial = Sum(tuple(_one(Constant(k), Constant(k)) for k in range(size)))
    return _coloured_net(
        f"coloured-token-ring-{n}",
        [_enumeration("machine", size, kind=CYCLIC, first=0)],
        {"x": 0, "own": 0, "other": 0},
        {"state": ((0, 0), initial)},
        {
            "count": (
                {"state": Sum((_one(first, own), last))},
                {"state": Sum((counted, last))},
                TRUE,
            ),
            "follow": (
                {"state": Sum((_one(x, own), previous))},
                {"state": Sum((_one(x, other), previous))},
                is_other,
            ),
        },
    )


def shared_memory(n: int) -> ColouredNet:
    """Build the symmetric net of `n` processors with memories, and a bus.

    Raises
    ------
    UnsupportedError
        `n` is less than 1.
    """
    if n < 1:
        raise UnsupportedError(f"{n} processors: use n >= 1")
    x, y = Bound(0, 0, n), Bound(1, 0, n)
    queue, both, bus = {"queue": _one(x)}, {"other": _one(x, y)}, _one(Constant(0))
    active, own = {"active": _one(x)}, {"own": _one(x)}
    memory: dict[str, Multiset] = {"memory": _one(y), "bus": bus}
    return _coloured_net(
        f"shared-memory-{n}",
        [_enumeration("processor", n), Sort("dot", "dot", DOT, ("dot",), ("dot",))],
        {"x": 0, "y": 0},
        {
            "active": ((0,), _one(Every(n))),
            "own": ((0,), EMPTY),
            "queue": ((0,), EMPTY),
            "other": ((0, 0), EMPTY),
            "memory": ((0,), _one(Every(n))),
            "bus": ((1,), bus),
        },
        {
            "begin_own": (active, own, TRUE),
            "end_own": (own | {"memory": _one(x)}, active | {"memory": _one(x)}, TRUE),
            "request": (active, queue, TRUE),
            "begin_other": (queue | memory, both, Comparison("!=", x, y)),
            "end_other": (both, active | memory, TRUE),
        },
    )


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
    client, server, both = _one(c), _one(s), _one(c, s)
    return _coloured_net(
        f"coloured-client-server-{n}-{m}",
        [_enumeration("client", n), _enumeration("server", m)],
        {"c": 0, "s": 1},
        {
            "idle": ((0,), _one(Every(n))),
            "waiting": ((0,), EMPTY),
            "served": ((0, 1), EMPTY),
            "free": ((1,), _one(Every(m))),
        },
        {
            "ask": ({"idle": client}, {"waiting": client}, TRUE),
            "serve": ({"waiting": client, "free": server}, {"served": both}, TRUE),
            "answer": ({"served": both}, {"idle": client, "free": server}, TRUE),
        },
    )


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
    one, other, both = _one(x), _one(y), _one(x, y)
    differ = Comparison("!=", x, y)
    return _coloured_net(
        f"coloured-peers-{n}",
        [_enumeration("peer", n)],
        {"x": 0, "y": 0},
        {
            "rest": ((0,), _one(Every(n))),
            "inviting": ((0, 0), EMPTY),
            "talking": ((0, 0), EMPTY),
        },
        {
            "invite": ({"rest": one}, {"inviting": both}, differ),
            "withdraw": ({"inviting": both}, {"rest": one}, TRUE),
            "accept": ({"inviting": both, "rest": other}, {"talking": both}, differ),
            "end": ({"talking": both}, {"rest": Sum((one, other))}, differ),
        },
    )


def _one(*entries: Bound | Constant | Every) -> Tokens:
    return Tokens(1, entries)


def _enumeration(name: str, n: int, *, kind: str = ENUMERATION, first: int = 1) -> Sort:
    """Return a sort whose colours are called by numbers."""
    names = tuple(str(k) for k in range(first, first + n))
    return Sort(name, name, kind, tuple(f"{name}{k}" for k in names), names)


def _coloured_net(
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
