"""Random DVE models and nets of which something can be reduced, by seed."""

from __future__ import annotations

from ltlpipe.systems.nets.net import PetriNet
from ltlpipe.systems.nets.structure import Place, Transition
from ltlpipe.systems.programs.model import read_dve_model


def random_dve(rng):
    """A model whose processes mostly keep to themselves; all of the language's traps.

    Shared variables, guards about other processes' states, channels of both kinds,
    committed states and steps that fail occur, each in some models only.
    """
    n_processes = rng.randint(2, 3)
    shared = rng.random() < 0.7
    channels = rng.random() < 0.5
    fails = rng.random() < 0.3
    commits = rng.random() < 0.3
    lines = ["byte a, b = 1; byte t[3];"]
    if channels:
        lines.append("channel c, d; channel {byte} e[1];")
    for p in range(n_processes):
        states = [f"s{i}" for i in range(rng.randint(2, 4))]
        lines.append(f"process P{p} {{ byte x = {rng.randint(0, 1)}, y; byte u[2];")
        lines.append(f"state {', '.join(states)}; init {rng.choice(states)};")
        if commits and rng.random() < 0.5:
            lines.append(f"commit {rng.choice(states)};")
        sources = list(range(len(states))) + [0] * rng.randint(0, 2)
        moves = [
            _transition(rng, states, source, p, n_processes, shared, channels, fails)
            for source in sources
        ]
        lines.append("trans " + ",\n ".join(moves) + "; }")
    lines.append("system async;")
    return read_dve_model("\n".join(lines), "random.dve")


def _transition(rng, states, source, p, n_processes, shared, channels, fails):
    other = (p + rng.randint(1, n_processes - 1)) % n_processes
    target = (source + 1) % len(states)
    if rng.random() < 0.3:
        target = rng.randrange(len(states))
    tests = ["x == 0", "x < 2", "u[x & 1] == 1", "u[1] == 0"]
    values = ["(x + 1) % 3", "1 - (x & 1)", "u[x & 1]", "b"]
    targets = ["x", "y", "u[0]", "u[x & 1]"]
    if shared and rng.random() < 0.5:
        tests = ["a == 0", "a == 1", f"P{other}.s{rng.randint(0, 1)}", "t[1] < 2"]
        tests += [f"P{other}->x == 1"]
        if rng.random() < 0.7:
            values = ["(a + 1) % 3", "t[0]", f"P{other}->x"]
        if rng.random() < 0.7:
            targets = ["a", "a", "t[1]", "t[a % 3]"]
    if fails and rng.random() < 0.3:
        tests = ["1 / x == 1", "t[3 * x] == 0"]
        values += ["3 / x", "t[x + 1]"]
        targets += ["u[x]", "u[2 * x]"]
    text = f"{states[source]} -> {states[target]} {{"
    if rng.random() < 0.6:
        text += f" guard {rng.choice(tests)};"
    if channels and rng.random() < 0.4:
        name, mark = rng.choice("cde"), rng.choice("!?")
        value = ""
        if name == "e":
            value = rng.choice(values) if mark == "!" else rng.choice(targets)
        text += f" sync {name}{mark}{value};"
    effects = [
        f"{rng.choice(targets)} = {rng.choice(values)}"
        for _ in range(rng.randint(0, 2))
    ]
    if effects:
        text += f" effect {', '.join(effects)};"
    return text + " }"


def random_net(rng):
    """A net of few arcs, so that many transitions share no place."""
    n_places = rng.randint(2, 7)
    numbers = range(n_places)

    def side(most):
        size = rng.choice([0, 1, 1, 1, 2, 2, most])
        chosen = rng.sample(numbers, min(size, n_places))
        return {p: rng.choice([1, 1, 1, 2]) for p in chosen}

    sides = []
    for _ in range(rng.randint(2, 7)):
        pre, post = side(2), side(2)
        if rng.random() < 0.1:
            pre = {}
        elif not pre:
            pre = {rng.choice(numbers): 1}
        if sides and rng.random() < 0.2:
            pre = dict(rng.choice(sides)[0])  # a choice that is free
        if rng.random() < 0.8:  # tokens are kept
            post = dict(zip(rng.sample(numbers, len(pre)), pre.values(), strict=True))
        sides.append((pre, post))
    return PetriNet(
        [Place(f"p{k}", f"p{k}", rng.choice([0, 1, 1, 2])) for k in numbers],
        [Transition(f"t{k}", f"t{k}", *pair) for k, pair in enumerate(sides)],
    )
