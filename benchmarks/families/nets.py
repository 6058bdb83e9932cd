"""Scaling families of nets that only measurements and tests need.

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

from ltlpipe.families.networks import coloured_net, enumeration, one
from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.coloured.net import (
    CYCLIC,
    DOT,
    EMPTY,
    TRUE,
    AllOf,
    Bound,
    ColouredNet,
    Comparison,
    Constant,
    Every,
    Multiset,
    Sort,
    Sum,
)
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition

Sides = tuple[dict[str, int], dict[str, int]]
"""Tokens taken and put, by places."""


def place_net(name: str, tokens: dict[str, int], moves: dict[str, Sides]) -> PetriNet:
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
    return place_net(f"dining-{n}", tokens, moves)


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
    return place_net(f"token-ring-{n}", tokens, moves)


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
    return place_net(f"kanban-{cells}-{cards}", tokens, moves)


def coloured_dining(n: int) -> ColouredNet:
    """Build the symmetric net of `n` dining philosophers.

    Raises
    ------
    UnsupportedError
        `n` is less than 2: one philosopher would need the same fork twice.
    """
    if n < 2:
        raise UnsupportedError(f"{n} philosophers cannot dine: use n >= 2")
    x, right, all_ = one(Bound(0, 0, n)), one(Bound(0, 1, n)), one(Every(n))
    return coloured_net(
        f"coloured-dining-{n}",
        [enumeration("philosopher", n, kind=CYCLIC)],
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
    first, last = Constant(0), one(Constant(n), own)
    counted, previous = one(first, Bound(1, 1, size)), one(before, other)
    is_other = AllOf((Comparison("!=", x, first), Comparison("!=", own, other)))
    initial = Sum(tuple(one(Constant(k), Constant(k)) for k in range(size)))
    return coloured_net(
        f"coloured-token-ring-{n}",
        [enumeration("machine", size, kind=CYCLIC, first=0)],
        {"x": 0, "own": 0, "other": 0},
        {"state": ((0, 0), initial)},
        {
            "count": (
                {"state": Sum((one(first, own), last))},
                {"state": Sum((counted, last))},
                TRUE,
            ),
            "follow": (
                {"state": Sum((one(x, own), previous))},
                {"state": Sum((one(x, other), previous))},
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
    queue, both, bus = {"queue": one(x)}, {"other": one(x, y)}, one(Constant(0))
    active, own = {"active": one(x)}, {"own": one(x)}
    memory: dict[str, Multiset] = {"memory": one(y), "bus": bus}
    return coloured_net(
        f"shared-memory-{n}",
        [enumeration("processor", n), Sort("dot", "dot", DOT, ("dot",), ("dot",))],
        {"x": 0, "y": 0},
        {
            "active": ((0,), one(Every(n))),
            "own": ((0,), EMPTY),
            "queue": ((0,), EMPTY),
            "other": ((0, 0), EMPTY),
            "memory": ((0,), one(Every(n))),
            "bus": ((1,), bus),
        },
        {
            "begin_own": (active, own, TRUE),
            "end_own": (own | {"memory": one(x)}, active | {"memory": one(x)}, TRUE),
            "request": (active, queue, TRUE),
            "begin_other": (queue | memory, both, Comparison("!=", x, y)),
            "end_other": (both, active | memory, TRUE),
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
    inviter, other, both = one(x), one(y), one(x, y)
    differ = Comparison("!=", x, y)
    return coloured_net(
        f"coloured-peers-{n}",
        [enumeration("peer", n)],
        {"x": 0, "y": 0},
        {
            "rest": ((0,), one(Every(n))),
            "inviting": ((0, 0), EMPTY),
            "talking": ((0, 0), EMPTY),
        },
        {
            "invite": ({"rest": inviter}, {"inviting": both}, differ),
            "withdraw": ({"inviting": both}, {"rest": inviter}, TRUE),
            "accept": ({"inviting": both, "rest": other}, {"talking": both}, differ),
            "end": ({"talking": both}, {"rest": Sum((inviter, other))}, differ),
        },
    )
