"""Random DVE models and nets with a centre and leaves, by seed.

Leaves go round for ever or get stuck, exchange values with the centre, and fail; the
centre has steps of its own in some.
"""

from __future__ import annotations

from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model


def star_model(rng):
    """A DVE model: shared variables, perhaps a server, and two clients or three."""
    served = rng.random() < 0.6
    fails = rng.random() < 0.25
    lines = ["byte a, b = 1; byte t[2];", "channel {byte} c[0]; channel d;"]
    lines.append("channel {byte} e[1];")
    if served:
        lines.append(_process(rng, "S", _server_move, fails=False))
    for k in range(rng.choice([2, 2, 3])):
        lines.append(_process(rng, f"C{k}", _client_move, fails=fails))
    lines.append("system async;")
    return read_dve_model("\n".join(lines), "star.dve")


def star_atoms(rng, model):
    """Propositions that a star's centre can tell."""
    atoms = [f"a == {rng.randint(0, 2)}", f"b > {rng.randint(0, 1)}", "a < b"]
    atoms.append("t[0] == t[1]" if rng.random() < 0.5 else "t[b] == 1")
    if "S" in model.variables:
        atoms += ['S=="s0"', 'S=="s1"']
    return atoms


def _process(rng, name, move, *, fails):
    states = [f"s{i}" for i in range(rng.randint(2, 4))]
    sources = list(range(len(states))) + [0] * rng.randint(0, 2)
    if rng.random() < 0.5:
        sources.remove(rng.randrange(len(states)))  # a state to be stuck in
    moves = [move(rng, states, source, fails=fails) for source in sources]
    moves += [move(rng, states, 0, fails=fails)] * (not moves)
    return (
        f"process {name} {{ byte x = {rng.randint(0, 1)}; state {', '.join(states)}; "
        f"init {rng.choice(states)}; trans {', '.join(moves)}; }}"
    )


def _client_move(rng, states, source, *, fails):
    if rng.random() < 0.5:
        tests = ["x == 0", "x < 2"]
        values = ["(x + 1) % 3", "1 - (x & 1)"]
        if fails:
            tests.append("1 / x == 1")
        return _move(rng, states, source, tests, ["x"], values, ["", ""])
    tests = ["a == 0", "a == 1", "t[x & 1] < 2", "b == x"]
    values = ["(a + 1) % 3", "x", "t[0]", "1 - b % 2", "0"]
    if fails:
        values += ["3 / a", "t[x + 1]"]
    syncs = ["", "", "", "c!x", "c?x", "d!", "d?", "e!x", "e?x"]
    targets = ["a", "b", "t[0]", "t[x & 1]", "x"]
    return _move(rng, states, source, tests, targets, values, syncs)


def _server_move(rng, states, source, *, fails):
    del fails
    tests = ["a == 0", "x < 2", "t[0] == 1"]
    values = ["(a + 1) % 3", "x", "b", "1"]
    syncs = ["", "c!a", "c?b", "c?x", "d!", "d?", "e?a", "e!x"]
    return _move(rng, states, source, tests, ["a", "x", "t[1]"], values, syncs)


def _move(rng, states, source, tests, targets, values, syncs):
    target = (source + 1) % len(states)
    if rng.random() < 0.3:
        target = rng.randrange(len(states))
    text = f"{states[source]} -> {states[target]} {{"
    if rng.random() < 0.5:
        text += f" guard {rng.choice(tests)};"
    sync = rng.choice(syncs)
    if sync:
        text += f" sync {sync};"
    effects = [
        f"{rng.choice(targets)} = {rng.choice(values)}"
        for _ in range(rng.choice([0, 1, 1, 2]))
    ]
    if effects:
        text += f" effect {', '.join(effects)};"
    return text + " }"


def star_net(rng):
    """A net: centre places, and leaves, most of which keep their tokens."""
    places = [Place(f"z{k}", f"z{k}", rng.choice([0, 1, 1, 2])) for k in range(2)]
    transitions = [({0: 1}, {1: 1}), ({1: 1}, {0: 1})][: rng.choice([0, 1, 2])]
    for leaf in range(rng.choice([2, 2, 3])):
        own = range(len(places), len(places) + rng.randint(2, 3))
        first = rng.choice(own)
        places += [
            Place(f"l{leaf}_{p - own[0]}", f"l{leaf}_{p - own[0]}", int(p == first))
            for p in own
        ]
        for _ in range(rng.randint(2, 5)):
            transitions.append(_leaf_transition(rng, own))
    return PetriNet(
        places,
        [Transition(f"t{k}", f"t{k}", *pair) for k, pair in enumerate(transitions)],
    )


def _leaf_transition(rng, own):
    """Move a token of a leaf, as a step of its own or with some of the centre."""
    pre = {rng.choice(own): 1}
    post = {rng.choice(own): 1}
    if rng.random() < 0.15:
        post = {}
    if rng.random() < 0.5:
        return pre, post
    kind = rng.random()
    place, other = rng.randrange(2), rng.randrange(2)
    if kind < 0.35:
        pre[place] = rng.choice([1, 1, 2])
    elif kind < 0.6:
        post[place] = 1
    elif kind < 0.9:
        pre[place] = post[other] = 1
    else:
        pre[place] = post[place] = 1  # only looked at
    return pre, post


def net_star_atoms(rng, net):
    """Propositions about the places of the centre."""
    del net
    atoms = ["z0 >= 1", "z1 == 0", f"z0 + z1 <= {rng.randint(1, 2)}", "z0 < z1"]
    return [*atoms, f"z1 >= {rng.randint(1, 3)}"]
