"""Networks with known symmetry."""

from __future__ import annotations

from itertools import permutations

from ltlpipe.systems.networks.lts import LTS, Network


def lts(name, transitions, **rest):
    return LTS.from_transitions(transitions, name=name, **rest)


def client(i, extra=()):
    return lts(
        f"P{i}",
        [(0, f"ask{i}", 1), (1, f"get{i}", 2), (2, f"put{i}", 0), *extra],
    )


def server(n):
    """Remembers whom it serves: 0, or 1 + the client."""
    return lts(
        "server",
        [t for i in range(n) for t in [(0, f"get{i}", 1 + i), (1 + i, f"put{i}", 0)]],
    )


def clients_and_server(n):
    return Network([*(client(i) for i in range(n)), server(n)])


def clients_with_channels(n):
    """What client i sends lies in channel i until the server takes it."""
    parts = []
    for i in range(n):
        parts.append(lts(f"C{i}", [(0, f"send{i}", 1), (1, f"take{i}", 0)]))
        parts.append(lts(f"P{i}", [(0, f"think{i}", 1), (1, f"send{i}", 0)]))
    takes = [(0, f"take{i}", 1 + i) for i in range(n)]
    return Network(
        [lts("server", [*takes, *((1 + i, "done", 0) for i in range(n))]), *parts]
    )


def queue(n):
    """A server that holds up to two clients, in order."""
    states = [(), *((i,) for i in range(n)), *permutations(range(n), 2)]
    number = {state: k for k, state in enumerate(states)}
    steps = []
    for state in states:
        for i in range(n):
            if (*state, i) in number:
                steps.append((number[state], f"ask{i}", number[(*state, i)]))
        if state:
            steps.append((number[state], f"get{state[0]}", number[state[1:]]))
    return Network(
        [lts("queue", steps), *(client(i) for i in range(n))],
    )


def handshakes(n):
    """Each two clients talk with a label of their own, in both directions."""
    parts = []
    for i in range(n):
        steps = [(0, f"wake{i}", 1)]
        for j in range(n):
            if i != j:
                steps += [(1, f"talk_{i}_{j}", 2), (1, f"talk_{j}_{i}", 0)]
        parts.append(lts(f"P{i}", [*steps, (2, f"rest{i}", 0)]))
    return Network(parts)


def requests_and_workers(n_requests, n_workers):
    """Two classes; the dispatcher knows the last request and its worker."""
    requests = [
        lts(
            f"R{r}",
            [(0, f"new{r}", 1), *((1, f"do_{r}_{w}", 0) for w in range(n_workers))],
        )
        for r in range(n_requests)
    ]
    workers = [
        lts(
            f"W{w}",
            [*((0, f"do_{r}_{w}", 1) for r in range(n_requests)), (1, f"end{w}", 0)],
        )
        for w in range(n_workers)
    ]
    steps = []
    for r in range(n_requests):
        for w in range(n_workers):
            state = 1 + r * n_workers + w
            steps += [(0, f"do_{r}_{w}", state), (state, f"end{w}", 0)]
    return Network([*requests, *workers, lts("dispatcher", steps)])


def pairs_of_pairs():
    """A server whose states are the three ways to split four clients into pairs."""
    splits = [((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2))]
    steps = []
    for k, split in enumerate(splits):
        for pair in split:
            for i, j in (pair, pair[::-1]):
                steps += [(0, f"join_{i}_{j}", 1 + k), (1 + k, f"part_{i}_{j}", 0)]
    clients = []
    for i in range(4):
        others = [j for j in range(4) if j != i]
        clients.append(
            lts(
                f"P{i}",
                [
                    (0, f"{what}_{a}_{b}", 0)
                    for what in ("join", "part")
                    for j in others
                    for a, b in ((i, j), (j, i))
                ],
            )
        )
    return Network([*clients, lts("server", steps)])
