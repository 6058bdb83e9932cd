"""Random networks that are symmetric by construction, disguised."""

from __future__ import annotations

from itertools import permutations

from hypothesis import strategies as st

from ltlpipe.systems.networks.lts import LTS, Network

#: What a client does: alone, with the server, with its channel, or unseen.
KINDS = ["own", "ask", "get", "send", "tau"]

#: Over the variables x, y, z: which clients a step of the server is about.
VARIABLES = "xyz"


@st.composite
def symmetric_networks(draw, *, most_clients=4):
    """A network of clients, their channels (or none) and a server, and its clients.

    A server's local state is a mode and the clients that it remembers, up to two.
    Returns the network and, member by member, the names of the components.
    """
    n = draw(st.integers(3, most_clients))
    with_channels = draw(st.booleans())
    parts = []
    client = draw(st.lists(templates(KINDS, 3), max_size=6))
    talks = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=2))
    accepting = draw(st.none() | st.sets(st.integers(0, 2)))
    for i in range(n):
        steps = [(s, label(kind, i), d) for s, kind, d in client]
        for s, d in talks:  # with every other client, which goes the other way
            for j in range(n):
                if i != j:
                    steps += [(s, f"talk_{i}_{j}", d), (d, f"talk_{j}_{i}", s)]
        parts.append(component(f"P{i}", steps, accepting))
    if with_channels:
        channel = draw(st.lists(templates(["ask", "send", "lose"], 2), min_size=1))
        for i in range(n):
            steps = [(s, label(kind, i), d) for s, kind, d in channel]
            parts.append(component(f"C{i}", steps, None))
    parts.append(draw(servers(n)))
    members = [{f"P{i}", f"C{i}"} if with_channels else {f"P{i}"} for i in range(n)]
    return draw(disguised(parts)), members


def templates(kinds, n_states):
    states = st.integers(0, n_states - 1)
    return st.tuples(states, st.sampled_from(kinds), states)


def label(kind, i):
    return kind if kind == "tau" else f"{kind}{i}"


def component(name, steps, accepting):
    return LTS.from_transitions(
        steps,
        n_states=1 + max([2, *(s for s, _, d in steps for s in (s, d))]),
        internal=["tau"],
        accepting=accepting,
        name=name,
    )


@st.composite
def servers(draw, n):
    arities = [0, *draw(st.lists(st.sampled_from([1, 2, 0]), max_size=3))]
    modes = st.integers(0, len(arities) - 1)
    reaching = [(draw(st.integers(0, k - 1)), k) for k in range(1, len(arities))]
    others = draw(st.lists(st.tuples(modes, modes), max_size=3))
    steps = []
    for src, dst in [*reaching, *others]:
        known = VARIABLES[: arities[src]]
        subject = draw(st.sampled_from(VARIABLES[: arities[src] + 1]))
        kind = draw(st.sampled_from(["ask", "get", "tick"]))
        kept = draw(st.permutations(sorted({*known, subject, "x", "y"})))
        steps.append((src, dst, kind, subject, kept[: arities[dst]]))
    states = [
        (mode, who)
        for mode, arity in enumerate(arities)
        for who in permutations(range(n), arity)
    ]
    number = {state: k for k, state in enumerate(states)}
    triples = []
    for src, dst, kind, subject, kept in steps:
        for values in permutations(range(n), 3):
            value = dict(zip(VARIABLES, values, strict=True))
            before = tuple(value[v] for v in VARIABLES[: arities[src]])
            after = tuple(value[v] for v in kept)
            name = kind if kind == "tick" else label(kind, value[subject])
            triples.append((number[src, before], name, number[dst, after]))
    return LTS.from_transitions(
        sorted(set(triples)), n_states=len(states), name="server"
    )


@st.composite
def disguised(draw, parts):
    """Rename labels; number states, and order transitions and components, anew."""
    seen = sorted({x for part in parts for x in part.labels if x not in part.internal})
    names = draw(st.permutations([f"a{k}" for k in range(len(seen))]))
    renamed = dict(zip(seen, names, strict=True)) | {"tau": "tau"}
    return Network([draw(shuffled(p, renamed)) for p in draw(st.permutations(parts))])


@st.composite
def shuffled(draw, part, renamed):
    states = draw(st.permutations(range(part.n_states)))
    triples = [(states[s], renamed[x], states[d]) for s, x, d in part.transitions()]
    return LTS.from_transitions(
        draw(st.permutations(triples)),
        initial=states[part.initial],
        n_states=part.n_states,
        internal=part.internal,
        accepting=None
        if part.accepting is None
        else [states[s] for s in range(part.n_states) if part.accepting[s]],
        name=part.name,
    )
