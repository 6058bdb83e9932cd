"""Random networks that are symmetric by construction, as tests use them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from ltlpipe.systems.networks.lts import LTS, Network

SHARED, LOCAL, TOGETHER = "a", "b", "all"


def client_labels(rng, n_shared, n_local):
    """Templates of the labels of one client."""
    return [f"{SHARED}{k}_" for k in range(n_shared)] + [
        f"{LOCAL}{k}_" for k in range(n_local)
    ]


def random_symmetric(rng, *, n_clients=3, most_states=3, accepting=False, lively=False):
    """A network of clients that can be interchanged, and a server.

    The server may remember one client, and is asked by labels of single clients and by
    one of all; a further class of two or three workers may meet clients one by one.
    Everything but the clients' number is drawn from `rng` (random.Random).  Clients of
    lively networks go round all their states, and the server lets them more often.
    """
    n_shared, n_local = rng.randint(1, 2), rng.randint(0, 2)
    templates = client_labels(rng, n_shared, n_local)
    shared = templates[:n_shared]
    together = [TOGETHER] if rng.random() < 0.3 else []
    n_workers = rng.choice([0, 0, 0, 2, 3])
    meets = ["m"] if n_workers else []
    n_states = rng.randint(2, most_states)
    clients = range(n_clients)
    workers = range(n_workers)
    steps = []
    for template in [*templates, *together, *meets]:
        for _ in range(rng.randint(1, 3)):
            steps.append((rng.randrange(n_states), template, rng.randrange(n_states)))
    if lively:
        steps += [
            (state, rng.choice(templates), (state + 1) % n_states)
            for state in range(n_states)
        ]
    goals = None
    if accepting:
        goals = [s for s in range(n_states) if rng.random() < 0.5] or [0]
    components = [_client(steps, i, workers, goals, f"client{i}") for i in clients]
    n_worker_states = rng.randint(1, 2)
    moves = [
        (rng.randrange(n_worker_states), rng.randrange(n_worker_states))
        for _ in range(rng.randint(1, 3))
    ]
    for w in workers:
        table = [(src, f"m{i}_{w}", dst) for src, dst in moves for i in clients]
        components.append(LTS.from_transitions(table, name=f"worker{w}"))
    components.append(_server(rng, shared, together, clients, lively=lively))
    return Network(components, name="symmetric")


def elsewhere(rng, network):
    """The same network, whose components begin in any local states.

    Clients that reach different states from there are no longer interchangeable.
    """
    parts = [
        replace(c, initial=rng.randrange(c.n_states)) if rng.random() < 0.7 else c
        for c in network.components
    ]
    return Network(parts, name=network.name)


def _client(steps, i, workers, goals, name):
    table = []
    for src, template, dst in steps:
        if template == TOGETHER:
            table.append((src, TOGETHER, dst))
        elif template == "m":
            table += [(src, f"m{i}_{w}", dst) for w in workers]
        else:
            table.append((src, f"{template}{i}", dst))
    return LTS.from_transitions(table, accepting=goals, name=name)


def _server(rng, shared, together, clients, *, lively):
    """A server whose states are plain, or one per client (or one per two of them)."""
    n_plain = rng.randint(1, 2)
    remembers = rng.choice([0, 1, 1, 1, 2])
    names = [("plain", k) for k in range(n_plain)]
    if remembers:
        names += [("one", i) for i in clients]
    if remembers == 2:
        names += [("two", pair) for pair in permutations(clients, 2)]
    number = {name: k for k, name in enumerate(names)}
    table = set()
    for template in shared:
        for _ in range(rng.randint(1, 3)):
            table |= _rule(rng, template, n_plain, remembers, clients)
        if lively and rng.random() < 0.7:
            stays = [("plain", k) for k in range(n_plain)]
            table |= {(p, f"{template}{i}", p) for p in stays for i in clients}
    for label in together:
        for _ in range(rng.randint(1, 2)):
            src, dst = (("plain", rng.randrange(n_plain)) for _ in range(2))
            table.add((src, label, dst))
    return LTS.from_transitions(
        sorted((number[s], a, number[d]) for s, a, d in table),
        n_states=len(names),
        name="server",
    )


def _rule(rng, template, n_plain, remembers, clients):
    """One kind of transition of the server, for all clients."""
    plain, other = (("plain", rng.randrange(n_plain)) for _ in range(2))
    kinds = ["stay"]
    if remembers:
        kinds += ["take", "take", "release", "release", "change", "others"]
    if remembers == 2:
        kinds += ["second", "forget", "swap"]
    kind = rng.choice(kinds)
    pairs = list(permutations(clients, 2))
    if kind == "stay":
        return {(plain, f"{template}{i}", other) for i in clients}
    if kind == "take":
        return {(plain, f"{template}{i}", ("one", i)) for i in clients}
    if kind == "release":
        return {(("one", i), f"{template}{i}", plain) for i in clients}
    if kind == "change":
        return {(("one", i), f"{template}{j}", ("one", j)) for i, j in pairs}
    if kind == "others":
        return {(("one", i), f"{template}{j}", ("one", i)) for i, j in pairs}
    if kind == "second":
        return {(("one", i), f"{template}{j}", ("two", (i, j))) for i, j in pairs}
    if kind == "forget":
        return {(("two", (i, j)), f"{template}{i}", ("one", j)) for i, j in pairs}
    return {(("two", (i, j)), f"{template}{j}", ("two", (j, i))) for i, j in pairs}


def random_formula(rng, network, *, size=6):
    """A formula about some actions of a network."""
    names = [a.name for a in network.actions]
    chosen = rng.sample(names, min(len(names), rng.randint(1, 3)))
    return _formula(rng, chosen, size)


def _formula(rng, names, size):
    if size <= 1:
        return f'"{rng.choice(names)}"'
    kind = rng.choice(["!", "X", "F", "G", "GF", "U", "R", "&", "|", "->", "W"])
    if kind in ("!", "X", "F", "G", "GF"):
        return f"{kind}({_formula(rng, names, size - 1)})"
    left = rng.randint(1, size - 1)
    first, second = _formula(rng, names, left), _formula(rng, names, size - left)
    return f"({first}) {kind} ({second})"


def personal_formula(rng, network, *, most=3):
    """A formula about what one or two clients do, one thing after another.

    Its automaton tells clients apart in some of its states only, so blocks are cut and
    grow together again: this is where sets come to include each other.
    """
    names = [a.name for a in network.actions]
    own = [name for name in names if name.endswith(("0", "1"))] or names
    x, y, z = (f'"{rng.choice(own)}"' for _ in range(3))
    some = " | ".join(f'"{name}"' for name in rng.sample(names, min(len(names), most)))
    return rng.choice(
        [
            f"G({x} -> X(!{x} W {y}))",
            f"G({x} -> F {y})",
            f"!F({x} & XF({y} & XF {z}))",
            f"G({x} -> X({some} R !{y}))",
            f"(GF {x} & GF {y}) -> GF {z}",
            f"!F({x} & X(!({some}) U ({y} & XG !{z})))",
            f"G({x} -> X G({y} -> X(!{z} U {x})))",
            f"!({x} & F({y} & XG({some} | F {z})))",
            f"FG !{x} | FG !{y} | F({z} & XG !{z})",
            f"(!{x} U {y}) | G(!{y} | X {z})",
        ]
    )
