"""Scaling families of nets, with numbers of markings that can be counted by hand.

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
"""

from __future__ import annotations

from ltlpipe.runtime.errors import UnsupportedError
from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition

Sides = tuple[dict[str, int], dict[str, int]]  # tokens taken and put


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
